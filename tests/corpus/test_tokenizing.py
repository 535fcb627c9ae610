"""The stages `tokenize` and `vocabulary` write the same bytes with any number of threads."""

import pytest

from paraphrastic.base.parameters import load_params
from paraphrastic.corpus import tokenized_pairs
from paraphrastic.corpus.filtering import REASONS
from paraphrastic.corpus.tokenizing import tokenize_sources
from paraphrastic.readers import large_corpora, sample
from paraphrastic.sources.catalogue import source, suite
from paraphrastic.sources.source import File
from paraphrastic.vocabulary import counting
from paraphrastic.vocabulary.corpus_counts import count_vocabulary
from tests.helpers.faulty_server import make_source
from tests.helpers.random_sentences import ALPHABETS, random_sentences
from tests.helpers.raw_files import write_file
from tests.helpers.repository import ROOT
from tests.helpers.threads import threads

PARANMT = {"reader": "paranmt", "options": {"file": "pairs.txt"}, "pairs": True, "near_copies": True}
LARGE = make_source([File("pairs.txt", "", None)], name="large", **PARANMT)


def lines():
    """Yield lines in the format of ParaNMT: evaluation text and near copies, odd text, damaged lines."""
    for row in sample.table("similarity").to_pylist():
        yield f"{row['text1']}\t\u201c{row['text2']}\u201d\t1"
        yield f"{row['text1']} Indeed!\t{row['text2']} &amp; so on\t{row['score']}"
        yield "No\tscore"
    texts = random_sentences(ALPHABETS["planes"].replace("\0", ""), 2000)
    yield from (f"{a}\t{b}\t0.5" for a, b in zip(texts[::2], texts[1::2], strict=True))


@pytest.fixture
def contents(tmp_path):
    """Runs both stages with some threads; returns the bytes of their files by name, and the report."""
    raw, params = tmp_path / "raw", load_params(ROOT / "params.yaml")
    write_file(raw / "large/pairs.txt", "\n".join(lines()))
    options = params.tokenize.model_copy(update={"max_bad_rows": 1.0})

    def run(number):
        folders = [tmp_path / str(number) / name for name in ("corpus", "benchmarks", "vocabulary")]
        with threads(number):
            sources = [source("sample"), LARGE], suite("sample")
            report = tokenize_sources(*sources, raw, folders[0], folders[1], options, params.seed)
            count_vocabulary(folders[0], folders[2], params.vocabulary)
        paths = [path for each in folders for path in each.iterdir()]
        return {f"{path.parent.name}/{path.name}": path.read_bytes() for path in paths}, report

    return run


@pytest.mark.parametrize("size", [None, 20_000])
def test_bytes_with_several_threads(contents, monkeypatch, size):
    if size is not None:
        for module in (tokenized_pairs, large_corpora, counting):
            monkeypatch.setattr(module, "CHUNK", size)
        monkeypatch.setattr(counting, "WORDS_CHUNK", size)
    one, report = contents(1)
    assert len(one) == 2 + 7 + 3
    large = report[[row["source"] for row in report].index("large")]
    assert all(large[column] > 0 for column in ("bad", *REASONS[:-1], "kept"))
    for number in (2, 3):
        assert contents(number)[0] == one
