"""The tokenizer, vocabularies and files of word vectors on hard text and damaged files."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import strategies as st

from paraphrastic.text.tokenizer import normalize, tokenize
from paraphrastic.vocabulary.counting import count_ngrams, count_words
from paraphrastic.vocabulary.kinds import CharacterVocabulary, NgramVocabulary, WordVocabulary
from paraphrastic.vocabulary.pretrained import read_vectors
from tests.helpers.odd_input import WORDS, damaged, files, texts
from tests.helpers.raw_files import write_archive, write_file

pytestmark = [pytest.mark.faults, pytest.mark.slow]

LONG = 1_000_000  # bytes of a line; with `--tries 10`, 10 MB


def test_tokenizer(tries):
    def check(rows):
        tokens = tokenize(pa.array(rows, pa.string()))
        tokens.validate(full=True)
        assert tokens.to_pylist() == [token for row in rows for token in tokenize(pa.array([row])).to_pylist()]
        assert tokens.null_count == 0
        assert not pc.any(pc.match_substring(tokens, "  ")).as_py()
        return len(rows)

    tries.fuzz(150, check, st.lists(texts(), min_size=1, max_size=6))


@pytest.mark.parametrize(
    "part", ["a", "a ", "a.", "'", "\u0301", "😀", "\u2028", "\x85", "שלום ", '"a', "1,", "a\0"], ids=ascii
)
def test_long_line(tries, part):
    line = part * (min(tries.count(LONG), 10 * LONG) // len(part.encode()))
    (tokens,) = tokenize(pa.array([line])).to_pylist()
    assert len(tokens) > 0 or not line.strip()
    tries.report(lines=1, bytes=len(line.encode()))


def test_vocabularies(tries):
    def check(rows):
        sentences = normalize(tokenize(pa.array(rows, pa.string())))
        for table, vocabulary in (
            (count_words(sentences, 1), WordVocabulary),
            (count_ngrams(sentences, [2, 3, 4], 1), NgramVocabulary),
            (count_ngrams(sentences, [1], 1), CharacterVocabulary),
        ):
            if len(table):
                entries = vocabulary(table["text"].combine_chunks())
                found = entries.lookup(sentences)
                assert len(found) == len(rows)
                assert 0 <= found.ids.min(initial=0) <= found.ids.max(initial=0) <= len(table)
                assert np.isfinite(entries.oov_share(sentences)).all()
        return len(rows)

    tries.fuzz(80, check, st.lists(texts(), min_size=1, max_size=6))


VECTORS = b"3 2\nthe 1 2\n. . . 3 -4e-3\nUUUNKKK .5 6\n"


@pytest.mark.parametrize("ending", ["txt", "zip"])
def test_files_of_vectors(tries, tmp_path, ending):
    value = st.sampled_from(["1", "-0.5", "nan", "inf", "-inf", "1e400", "1e39", "1e-400", "0x1", "1_0", "", "½", "٣"])
    row = st.tuples(st.sampled_from(WORDS), value, value).map(" ".join)
    rows = st.lists(row, max_size=5).map(lambda lines: "".join(f"{line}\n" for line in lines).encode())

    def check(content, data):
        path = tmp_path / f"vectors.{ending}"
        if ending == "zip":
            path.write_bytes(data.draw(damaged(write_archive(path, {"a.txt": content}, "zip").read_bytes())))
        else:
            write_file(path, content)
        words, table = read_vectors(path, 2)
        assert table.shape == (len(words) + 1, 2)
        assert np.isfinite(table).all()

    tries.fuzz(150, check, st.one_of(rows, files(["the", "2", "3 2"]), damaged(VECTORS)), st.data())
