"""The tokenizer as `tokenizer.json`: the same tokens as `tokenize`."""

import ast
import json
import random

import pyarrow as pa
import pytest
from tokenizers import Tokenizer

from paraphrastic.export.tokenizer_json import boundary_steps, tokenizer_json, word_level
from paraphrastic.text.tokenizer import tokenize
from paraphrastic.vocabulary.kinds import WordVocabulary
from tests.helpers.hard_text import hard_sentences
from tests.helpers.repository import ROOT

WITHOUT_SPACE = r"""
" ' ` `` '' ... ? ! * - -- . , : ; ( ) [ ] { } < > | $ # % & _ \/ £ … “ ” ’ – &amp; &quot; &#39; -lrb- :) ;-(
a Z x 5 90 can not cannot gonna lemme wanna n't 's 't 'tis 'twas 'n' '90s Mr. u.s. e.g. 3,000 10:30 c# c++
@user me@ex.com http://a.b/c?d=`e` www.x.org. İ é 日本 grey colour labelled organise analysed centre defence programme
"""
WITH_SPACE = [" ", "  ", ". . .", "\n", "\t", "\x02", "\x05", "\x06", "\u00a0", "no. 5", "fig. 3", "e\u0301"]
FRAGMENTS = [*WITH_SPACE, *WITHOUT_SPACE.split()]


def exported_tokens(texts):
    """Return the tokens that `tokenizers` makes, joined by spaces."""
    tokenizer = Tokenizer.from_str(json.dumps(tokenizer_json(word_level(pa.array([], pa.string())))))
    normalized = [tokenizer.normalizer.normalize_str(text) for text in texts]
    return [" ".join(word for word, _ in tokenizer.pre_tokenizer.pre_tokenize_str(text)) for text in normalized]


def assert_equal_tokens(texts):
    expected = tokenize(pa.array(texts, pa.string()), "NFKC").to_pylist()
    assert dict(zip(texts, exported_tokens(texts), strict=True)) == dict(zip(texts, expected, strict=True))


def test_texts_of_the_tests_of_the_tokenizer():
    source = ast.parse((ROOT / "tests/text/test_tokenizer.py").read_text(encoding="utf-8"))
    texts = [node.value for node in ast.walk(source) if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    assert len(texts) > 200
    assert_equal_tokens(texts)


@pytest.mark.parametrize("parts", [FRAGMENTS, "\"'`. a.)(", "\"'`. ab-,:()n't\\&;!*@/wc#5\n", '" a(`:)'])
def test_random_fragments_and_characters(parts):
    generator, most, count = random.Random(1), *((14, 4000) if parts is FRAGMENTS else (25, 2000))
    assert_equal_tokens(["".join(generator.choices(parts, k=generator.randint(1, most))) for _ in range(count)])


def test_hard_sentences_and_documentation():
    lines = [line for name in ("README.md", "CHANGELOG.md") for line in (ROOT / name).read_text("utf-8").splitlines()]
    assert_equal_tokens([*hard_sentences(500, seed=3).to_pylist(), *lines])


@pytest.mark.parametrize("text", ['the dog\'s "bone" ', '" ', ". ", "no. 5 http://a.b/`c "])
def test_long_text(text):
    assert_equal_tokens([text * (30_000 // len(text))])


@pytest.mark.parametrize("boundary_tokens", ["none", "start", "end", "both"])
def test_ids_of_words_in_boundary_tokens(boundary_tokens):
    words, texts = pa.array(["a", "</s>", "[UNK]", "b", "<s>", "."]), ["A b.", "", "  ", "x", "Mr. B [unk]"]
    content = tokenizer_json(word_level(words), boundary_steps(boundary_tokens))
    encodings = Tokenizer.from_str(json.dumps(content)).encode_batch(texts)
    ragged = WordVocabulary(words, boundary_tokens).lookup(tokenize(pa.array(texts), "NFKC"))
    expected = [ragged.ids[start:end].tolist() for start, end in zip(ragged.offsets, ragged.offsets[1:], strict=False)]
    assert [encoding.ids for encoding in encodings] == expected
