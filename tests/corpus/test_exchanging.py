"""Copies of single sentences with other words."""

from collections import Counter
from itertools import product

import numpy as np
import pytest

from paraphrastic.base.errors import ParameterError
from paraphrastic.base.parameters import load_params
from paraphrastic.corpus.exchanging import exchanged_copies, text_of_rows
from paraphrastic.corpus.filtering import filter_pairs
from paraphrastic.sources.catalogue import check_choice, sources_of
from tests.corpus.test_filtering import raw_pairs
from tests.helpers.repository import ROOT

COMMON = [
    f"the{'aeiou'[i % 5]}{'bcdfg'[i // 5 % 5]}{'hjklmn'[i // 25]}" for i in range(150)
]  # of which none is exchanged
RARE = ["quark", "zebra", "violin", "harpoon", "tundra", "of", "x1"]
LONG = f"{COMMON[0]} horse jumped over {COMMON[1]} wooden fence ."
SENTENCES = [*(LONG.replace("horse", f"{c}orse") for c in "abcdefgh"), "short old sentence", "a b c d e"]


def source(tmp_path, texts, words=False):
    rows = zip(texts[::2], [*texts[1::2], texts[0]][: len(texts[::2])], strict=True)
    return filter_pairs([raw_pairs(*rows)], None, tmp_path, near=False, words=words)[0]


def copies(tmp_path, sentences, number, seed=0):
    words = source(tmp_path, COMMON + RARE, words=True)
    assert text_of_rows(words).to_pylist()[:152] == [*COMMON, *RARE[:2]]
    tables = exchanged_copies([source(tmp_path, sentences)], [words], number, np.random.default_rng(seed))
    return [text for table in tables for side in ("text1", "text2") for text in table[side].to_pylist()]


def test_some_words_are_those_of_the_list(tmp_path):
    found = copies(tmp_path, SENTENCES, 50)
    assert 200 < len(found) <= 50 * (8 + 2)
    originals = LONG.split()
    exchanged = set()
    for text in found:
        words = text.split()
        assert len(words) == len(originals)
        changed = [place for place in range(len(words)) if words[place] != originals[place]]
        assert set(changed) <= {1, 2, 3, 5, 6}  # neither function words, nor the full stop
        exchanged |= {words[place] for place in changed if not words[place].endswith("orse")}
    assert exchanged <= {*COMMON, *RARE} - {"of", "x1"}
    assert len(exchanged) > 50


def test_frequent_words_are_drawn_more_often(tmp_path):
    listed = ["".join(letters) for letters in product("bcdfghjklmnp", repeat=4)][:1500]
    words, drawn = source(tmp_path, listed, words=True), Counter()
    for table in exchanged_copies([source(tmp_path, SENTENCES)], [words], 400, np.random.default_rng(0)):
        drawn.update(" ".join([*table["text1"].to_pylist(), *table["text2"].to_pylist()]).split())
    first, last = (sum(drawn[word] for word in part) for part in (listed[:500], listed[1000:]))
    # the integral of (500 + i)^−0.7 from 0 to 500, divided by that from 1000 to 1500
    assert first / last == pytest.approx(1.84, rel=0.15)
    assert last > 1000


def test_copies_depend_on_the_seed_alone(tmp_path):
    first, second, other = (copies(tmp_path, SENTENCES, 9, seed) for seed in (1, 1, 2))
    assert first == second != other


def test_each_pair_of_copies_is_a_group_of_its_own(tmp_path):
    words = source(tmp_path, COMMON + RARE, words=True)
    tables = exchanged_copies([source(tmp_path, SENTENCES)] * 2, [words], 9, np.random.default_rng(0))
    groups = [group for table in tables for group in table["group"].to_pylist()]
    assert groups == [*range(len(groups))]
    assert len(groups) > 9


def test_corpus_without_a_list_of_words():
    reason = "needs sources of single sentences .*, as those of the corpus permissive; set it to 0, or name them"
    options = load_params(ROOT / "params.yaml").tokenize.model_copy(update={"exchange": 1})
    for name in ("tatoeba-sentences", "glove-words"):
        with pytest.raises(ParameterError, match=rf"^params.yaml: tokenize.exchange = 1: {reason}$"):
            check_choice(sources_of([name]), options)
    check_choice(sources_of(["permissive"]), options)
