"""Sources are read whole, or refused; the stages `tokenize` and `vocabulary` write the same bytes with any threads."""

from collections import Counter
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest

from paraphrastic.base.errors import DataError
from paraphrastic.base.parameters import load_params
from paraphrastic.corpus import tokenized_pairs
from paraphrastic.corpus.filtering import REASONS
from paraphrastic.corpus.tokenizing import read_evaluation, read_pairs, tokenize_sources, unordered_hashes
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


BOTH = [File("a", "", None), File("b", "", None)]
ALIGNED = make_source(BOTH, reader="aligned", options={"groups": [["a", "b"]]}, pairs=True)
STS_2012 = {"options": {"year": "2012", "split": "test"}, "rows": {"sts.2012.x/test": 2}}
STS = make_source([File("x.test.tsv", "", None)], reader="sts-tsv", **STS_2012)


def pairs_of(folder, max_bad_rows=0.0, **changes):
    """Return the texts of second sides of each part, and the counts of rows."""
    counts = Counter()
    tables = read_pairs(ALIGNED.model_copy(update=changes), folder, max_bad_rows, counts)
    return [table["text2"].to_pylist() for table in tables], counts


@pytest.fixture
def aligned_files(tmp_path):
    """Two aligned files of ten lines, of which one line is damaged."""
    write_file(tmp_path / "a", b"a\n" * 9 + b"\xff\n")
    write_file(tmp_path / "b", "".join(f"b{n}\n" for n in range(10)))
    return tmp_path


@pytest.mark.parametrize("rows", [{}, {"pairs": 10}])  # a bad row can be the pair that is missing
@pytest.mark.parametrize("limit", [0.2, 1 / 9])
def test_pairs_beside_a_few_bad_rows(aligned_files, capsys, rows, limit):
    texts = [f"b{n}" for n in range(9)]
    assert pairs_of(aligned_files, limit, rows=rows) == ([texts], {"read": 9, "bad": 1, "unjudged": 0})
    message = f"{aligned_files}/a, line 10: not UTF-8 (1 bad rows beside 9 pairs): left out\n"
    assert capsys.readouterr().err == message
    parts, counts = pairs_of(aligned_files, limit, options={"groups": [["a", "b"], ["a", "b"]]})
    assert (parts, counts["read"], counts["bad"]) == ([texts, texts], 18, 2)


def test_pairs_beside_too_many_bad_rows(aligned_files):
    message = r"a, line 10: not UTF-8.*: more than tokenize\.max_bad_rows = 0\.05 allows; remove .* and run `dvc repro`"
    with pytest.raises(DataError, match=message) as error:
        pairs_of(aligned_files, 0.05)
    assert "\n" not in str(error.value)


def test_pairs_of_another_number(tmp_path, capsys):
    write_file(tmp_path / "a", "a\nc\n")
    write_file(tmp_path / "b", "b\nd\n")
    for expected in (1, 3):
        with pytest.raises(DataError, match=rf": 2 pairs, expected {expected}; remove the folder and run `dvc repro`"):
            pairs_of(tmp_path, rows={"pairs": expected})
    assert pairs_of(tmp_path, rows={"pairs": 2})[0] == [["b", "d"]]
    assert capsys.readouterr().err == ""
    assert read_evaluation(ALIGNED, tmp_path) == []  # pairs are no evaluation set


@pytest.mark.parametrize(
    ("text", "own", "error"),
    [
        (
            "3\tIt is.\tYes\n0\tNo.\n1\ta\tb\n",
            {},
            r"x\.test\.tsv, line 2: .*; an evaluation set must be complete: remove",
        ),
        ("3\tIt is.\tYes\n" * 3, {}, r": 3 rows of sts\.2012\.x/test, expected 2; remove the folder and run"),
        (
            "3\tIt is.\tYes\n0\tNo.\n",
            {"own": SimpleNamespace(path="mine.tsv")},
            r"must be complete: `paraphrastic data inspect mine\.tsv` lists them$",
        ),
    ],
)
def test_evaluation_set_is_complete(tmp_path, text, own, error):
    write_file(tmp_path / "x.test.tsv", "3\tIt is.\tYes\n0\tNo.\tYes\n")
    (reading,) = read_evaluation(STS, tmp_path)
    assert (reading.kind, reading.table["score"].to_pylist()) == ("similarity", [3.0, 0.0])
    write_file(tmp_path / "x.test.tsv", text)
    with pytest.raises(DataError, match=error):
        read_evaluation(STS.model_copy(update={"options": STS.options | own}), tmp_path)


def test_limit_of_a_group_concerns_its_phrases(tmp_path):
    (tmp_path / "raw/large").mkdir(parents=True)
    (tmp_path / "raw/large/pairs.txt").write_text("a b c one two d e f three four g\ta b c uno d e f tres g\t1\n")
    options, phrases = load_params(ROOT / "params.yaml").tokenize, LARGE.model_copy(update={"phrases": True})
    for limit, expected in ((None, 2), (1, 1)):
        folders, limited = [tmp_path / f"{limit}" / name for name in "cb"], {"max_group_pairs": limit}
        (row,) = tokenize_sources(
            [phrases], suite("sample"), tmp_path / "raw", *folders, options.model_copy(update=limited), 1
        )
        assert row["kept"] == expected


def test_distinct_pairs_as_the_papers_count_them(tmp_path, capsys):
    write_file(tmp_path / "a", "the car\n an auto\nthe car\nThe car\nx\n")
    write_file(tmp_path / "b", "an auto\nthe car \nthe car .\nan auto\nx\n")
    parts = {"groups": [["a", "b"], ["b", "a"]]}  # the second part has no other pairs
    pairs_of(tmp_path, rows={"distinct": 9}, options=parts)
    assert capsys.readouterr().err == "texts: 4 distinct pairs; the papers count 9\n"


def test_hashes_of_pairs_in_either_order():
    rows = np.random.default_rng(0).integers(60, size=(2000, 2))
    pairs = [(f"text {left}", f"text {right}") for left, right in rows]
    hashes = unordered_hashes(pa.table([*map(list, zip(*pairs, strict=True))], ["text1", "text2"]))
    numbers = {tuple(sorted(pair)): number for pair, number in zip(pairs, hashes.tolist(), strict=True)}
    assert [numbers[tuple(sorted(pair))] for pair in pairs] == hashes.tolist()
    assert len(set(hashes.tolist())) == len(numbers)
