"""The stage `tokenize`: its tables and its report, on small files of two formats and on real data."""

import csv
import os
import re
from types import SimpleNamespace

import numpy as np
import pytest

import pipeline.tokenize as stage
from paraphrastic.base.errors import DataError, ParameterError
from paraphrastic.base.parameters import Tokenize
from paraphrastic.base.tables import PAIRS, RAW, SENTENCES, indexed_schema, read_table
from paraphrastic.corpus.filtering import REASONS
from paraphrastic.sources.catalogue import corpus, suite
from paraphrastic.sources.source import File, Suite
from tests.helpers.documented_corpora import number, table
from tests.helpers.faulty_server import make_source
from tests.helpers.raw_files import write_file

ALIGNED = {"reader": "aligned", "options": {"groups": [["a", "b"]]}, "pairs": True}
TRAIN = make_source([File("a", "", None), File("b", "", None)], name="train", **ALIGNED)
STS = {"reader": "sts-tsv", "options": {"year": "2012", "split": "test"}, "rows": {"sts.2012.x/test": 2}}
TEST = make_source([File("x.test.tsv", "", None)], name="test", **STS)
FILES = {
    "train/a": b"A cat.\nA dog.\n",
    "train/b": b"One cat\nOne dog\n",
    "test/x.test.tsv": b"3\tIt is.\tYes\n0\tNo.\tYes\n",
}
GROUPS = {"groups": [["a", "b", "c"]], "all": True}
NO_LIMITS = dict.fromkeys(("min_score", "max_score", "max_group_pairs", "max_pairs", "max_tokens"))
SETTINGS = {"drop_overlap": True, "max_bad_rows": 0.1, "feature": "PPDB2.0Score", "relations": []} | NO_LIMITS
NO_SCORES = (
    r"^params\.yaml: tokenize\.min_score, max_score or relations is set, but no source of the corpus has scores or "
    r"relations; empty them, or choose PPDB, ParaNMT or ParaBank$"
)
SETTINGS |= {"licences": [], "take_share": 1.0, "take_by": "order", "exchange": 0}


def use(monkeypatch, training, evaluation):
    """Replace the sources of the catalogue."""
    monkeypatch.setattr(stage, "corpus", lambda *_: tuple(training))
    monkeypatch.setattr(stage, "suite", lambda _: Suite(tuple(evaluation), "sts.2012"))


def report():
    return list(csv.DictReader(stage.REPORT.open()))


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Runs the stage on FILES, some of them replaced, in a folder of its own; returns the rows of its report."""
    monkeypatch.chdir(tmp_path)
    use(monkeypatch, [TRAIN], [TEST])

    def run(changes=None, seed=1, **parameters):
        settings = Tokenize(**(SETTINGS | parameters))
        params = SimpleNamespace(corpus=0, benchmarks=0, seed=seed, tokenize=settings)
        monkeypatch.setattr(stage, "load_params", lambda: params)
        for path, content in (FILES | (changes or {})).items():
            write_file(stage.RAW_FOLDER / path, content)
        stage.main()
        return report()

    return run


LISTS = {"reader": "sentences", "options": {"lists": [{"files": ["a"], "format": "lines"}]}, "single": True}


def test_single_sentence_without_a_neighbour(run, monkeypatch):
    use(monkeypatch, [make_source([File("a", "", None)], name="sentences", **LISTS)], [TEST])
    (row,) = run({"sentences/a": b"one dog\n"})
    assert (row["read"], row["kept"]) == ("1", "1")


def test_copies_with_other_words_are_a_source(run, monkeypatch):
    sentences = make_source([File("a", "", None)], name="sentences", **LISTS)
    words = make_source([File("a", "", None)], name="words", words=True, **LISTS)
    use(monkeypatch, [sentences, words], [TEST])
    lines = "".join(f"it is yes {word} rained inside\n" for word in "abcdefgh")
    listed = "\n".join(chr(97 + i // 26) + chr(97 + i % 26) + "le" for i in range(300))
    files = {"sentences/a": lines.encode(), "words/a": listed.encode()}
    rows = {row["source"]: row for row in run(files, exchange=40)}
    assert rows.keys() == {"sentences", "words", "exchanged"}
    assert 40 < int(rows["exchanged"]["kept"]) <= 40 * (4 + 1)
    assert len(read_table(stage.CORPUS / "pairs.parquet", PAIRS)) == sum(int(row["kept"]) for row in rows.values())


def test_report_and_tables(run, shown, capsys):
    (row,) = run()
    assert capsys.readouterr().err == "corpus: 2 pairs with 10 tokens\n"
    zeros = dict.fromkeys(REASONS[:-1], "0")  # without `capped`
    assert row == {"source": "train", "read": "2", "bad": "0", "kept": "2"} | zeros
    assert shown() == [("evaluation sets", 1, 1), ("pairs", 2, None), ("sources of pairs", 1, 1)]
    texts = read_table(stage.CORPUS / "sentences.parquet", SENTENCES)["text"].to_pylist()
    assert texts == ["a cat .", "a dog .", "one cat", "one dog"]
    pairs = read_table(stage.CORPUS / "pairs.parquet", PAIRS)
    assert (pairs["left"].to_pylist(), pairs["right"].to_pylist()) == ([0, 1], [2, 3])
    texts = read_table(stage.BENCHMARKS / "sentences.parquet", SENTENCES)["text"].to_pylist()
    assert texts == ["it is .", "no .", "yes"]
    kinds = [kind for kind in RAW if kind != "pairs"]
    sizes = {kind: len(read_table(stage.BENCHMARKS / f"{kind}.parquet", indexed_schema(kind))) for kind in kinds}
    assert sizes == dict.fromkeys(kinds, 0) | {"similarity": 2}
    assert {path.stem for path in stage.BENCHMARKS.iterdir()} == {"sentences", "select", *kinds}
    assert (stage.BENCHMARKS / "select.txt").read_text() == "sts.2012\n"


def test_bytes_of_a_second_run(run, tmp_path):
    run()
    before = {path: path.read_bytes() for path in tmp_path.glob("[dm]*/*/*.parquet")}
    run()
    assert {path: path.read_bytes() for path in before} == before
    assert len(before) == 2 + len(RAW)


@pytest.mark.parametrize("folder", [stage.CORPUS, stage.BENCHMARKS], ids=str)
def test_files_left_in_the_folders_are_removed(run, tmp_path, folder):
    run()
    names = sorted(path.name for path in folder.iterdir())
    for name in ("words.parquet", f".sentences.parquet.{os.getppid()}@other.part"):
        (folder / name).write_bytes(b"left by another run")
    run()
    assert sorted(path.name for path in folder.iterdir()) == names
    assert not list((tmp_path / "data").glob(".*"))


def test_drop_overlap_on_and_off(run):
    changes = {"train/a": b"It is!\nA dog.\n"}
    (on,), (off,) = run(changes), run(changes, drop_overlap=False)
    assert (on["overlap"], on["kept"]) == ("1", "1")
    assert (off["overlap"], off["kept"]) == ("0", "2")


def test_pairs_of_a_group_beyond_those_that_are_kept(run, monkeypatch):
    grouped = TRAIN.model_copy(update={"options": GROUPS, "max_group_pairs": 2})
    monkeypatch.setattr(stage, "corpus", lambda *_: [grouped])
    changes = {"train/c": b"The cat.\nThe dog.\n"}
    (of_catalogue,), (of_parameter,) = run(changes), run(changes, max_group_pairs=1)
    assert (of_catalogue["read"], of_catalogue["capped"], of_catalogue["kept"]) == ("6", "2", "4")
    assert (of_parameter["capped"], of_parameter["kept"]) == ("4", "2")


def test_few_and_many_bad_rows(run, capsys):
    changes = {"train/a": b"a\n" * 9 + b"\xff\n", "train/b": b"".join(b"b%d\n" % i for i in range(10))}
    (row,) = run(changes, max_bad_rows=0.2)
    assert (row["read"], row["bad"]) == ("9", "1")
    message = "data/raw/train/a, line 10: not UTF-8 (1 bad rows beside 9 pairs): left out"
    assert message in capsys.readouterr().err.replace("\n", "")
    with pytest.raises(DataError, match=r"line 10: not UTF-8.*tokenize\.max_bad_rows = 0\.05"):
        run(changes, max_bad_rows=0.05)


def test_part_of_the_pairs(run, capsys):
    changes = {side: "".join(f"{side[-1]}{n} {n}\n" for n in range(10)).encode() for side in ("train/a", "train/b")}
    (row,) = run(changes)
    assert "corpus: 10 pairs with 40 tokens" in capsys.readouterr().err
    assert "taken" not in row
    (row,) = run(changes, take_share=0.3)
    assert (row["kept"], row["taken"]) == ("10", "3")
    assert "corpus: 3 pairs with 12 tokens" in capsys.readouterr().err
    texts = read_table(stage.CORPUS / "sentences.parquet", SENTENCES)["text"].to_pylist()
    assert texts == ["a0 0", "a1 1", "a2 2", "b0 0", "b1 1", "b2 2"]


def test_seed_of_random_pairs(run):
    changes = {side: "".join(f"{side[-1]}{n}\n" for n in range(50)).encode() for side in ("train/a", "train/b")}
    taken = []
    for seed in (1, 1, 2):
        run(changes, seed=seed, max_pairs=20, take_by="random")
        taken.append((stage.CORPUS / "sentences.parquet").read_bytes())
    assert taken[0] == taken[1] != taken[2]


def test_source_of_which_no_pair_is_taken(run, monkeypatch):
    options = {"reader": "aligned", "options": {"groups": [["c", "c"]]}, "pairs": True}
    other = make_source([File("c", "", None)], name="other", **options)
    use(monkeypatch, [TRAIN, other], [TEST])
    rows = run({"other/c": b"x\n"}, max_pairs=1)
    assert [(row["source"], row["kept"], row["taken"]) for row in rows] == [("train", "2", "1"), ("other", "0", "0")]


def test_files_that_a_person_has_yet_to_bring(run, monkeypatch):
    absent = make_source([File("c", "", None)], name="absent", reader="sts-tsv", manual="licensed", pairs=True)
    use(monkeypatch, [TRAIN], [absent, TEST])
    assert run()[0]["kept"] == "2"
    use(monkeypatch, [absent], [TEST])
    remedy = "`paraphrastic data fetch absent` says where to put them; then run `dvc repro -f download`"
    with pytest.raises(DataError, match=f"^corpus: no files of absent; {re.escape(remedy)}$"):
        run()


@pytest.fixture
def run_on_real_data(mirror, tmp_path, monkeypatch):
    """Runs the stage on real corpora and the suite `open`; returns the numbers of pairs by reason for each source."""
    monkeypatch.chdir(tmp_path)

    def run(names):
        for source in (*corpus(names), *suite("open").sources):
            for file in source.files:
                link = stage.RAW_FOLDER / source.name / file.path
                link.parent.mkdir(parents=True, exist_ok=True)
                link.symlink_to(mirror / file.url.split("://")[1])
        settings = Tokenize(**(SETTINGS | {"max_bad_rows": 0.001}))
        params = SimpleNamespace(corpus=names, benchmarks="open", seed=1, tokenize=settings)
        monkeypatch.setattr(stage, "load_params", lambda: params)
        stage.main()
        return {row["source"]: [int(row[column]) for column in ("read", *REASONS, "kept")] for row in report()}

    return run


@pytest.mark.slow
@pytest.mark.real_data
def test_report_of_open_corpora(run_on_real_data):
    single = ["mlqe-pe-sentences", "tatoeba-sentences", "coco-sentences"]  # the list of words is fetched by hand
    names = ["wide", "wide-captions", "phrases", *single]
    rows = run_on_real_data(names)
    assert {name: row[-1] for name, row in rows.items()} == {
        name: number(row["kept"]) for name, row in table("source").items() if name != "glove-words"
    }
    counted = corpus(["wide", "wide-captions"])
    assert {each.name: rows[each.name] for each in counted} == {
        "turkcorpus": [18872, 0, 3567, 486, 18, 0, 0, 14801],
        "asset": [23590, 0, 199, 818, 37, 0, 0, 22536],
        "twitterurl": [12987, 0, 210, 2161, 0, 0, 0, 10616],
        "wikisplit": [15000, 0, 1430, 8, 2, 0, 0, 13560],
        "parasci": [33981, 0, 89, 640, 2, 0, 0, 33250],
        "onestop": [5994, 0, 10, 1731, 0, 0, 0, 4253],
        "googlecomp": [2000, 0, 0, 0, 0, 0, 0, 2000],
        "shakespeare": [28239, 0, 3311, 541, 30, 0, 0, 24357],
        "ppdb-lexicon": [187276, 28, 6055, 2917, 1826, 0, 0, 176450],
        "multi30k": [300140, 0, 46, 136, 11298, 5362, 0, 283298],
        "quora": [242562, 0, 1226, 121344, 13, 47, 11488, 108444],
        "twitterurl-large": [114000, 0, 339, 25298, 0, 0, 3161, 85202],
        "wmt21": [152907, 0, 0, 14, 23, 3, 121249, 31618],
        "wmt22": [204923, 0, 0, 878, 86, 196, 157758, 46005],
        "wmt23": [183650, 0, 0, 680, 108, 223, 143638, 39001],
        "human-parity": [18718, 0, 0, 3, 0, 0, 0, 18715],
        "mlqe-pe": [20750, 0, 0, 4, 0, 2, 0, 20744],
        "tatoeba": [55969, 0, 0, 18788, 128, 198, 0, 36855],
        "parabank2-sample": [28000, 0, 252, 14189, 0, 15, 0, 13544],
        "wikianswers-sample": [28000, 0, 20, 14012, 0, 10, 0, 13958],
        "nli-paraphrases": [11140, 0, 1, 86, 0, 0, 0, 11053],
        "perspectrum": [12184, 0, 0, 3991, 0, 6, 0, 8187],
        "mqr": [4225, 0, 25, 2, 1, 2, 0, 4195],
        "claims": [9289, 0, 30, 157, 1, 2, 0, 9099],
        "reuters": [12374, 0, 0, 406, 0, 0, 0, 11968],
        "msrvtt": [142521, 0, 0, 4502, 24622, 11666, 72005, 29726],
        "coco": [138021, 0, 0, 11, 140, 882, 0, 136988],
    }
    pairs = read_table(stage.CORPUS / "pairs.parquet", PAIRS)
    groups, sources = pairs["group"].to_numpy(), pairs["source"].dictionary_encode().combine_chunks()
    boundaries = np.flatnonzero(np.diff(sources.indices.to_numpy())) + 1
    assert len(boundaries) == len(corpus(names)) - 1
    assert all(groups[:boundary].max() < groups[boundary:].min() for boundary in boundaries)
    largest = pairs.group_by(["source", "group"]).aggregate([([], "count_all")]).group_by("source")
    sizes = {row["source"]: row["count_all_max"] for row in largest.aggregate([("count_all", "max")]).to_pylist()}
    assert all(sizes[each.name] <= each.max_group_pairs for each in counted if each.max_group_pairs)


def test_filter_of_a_corpus_without_scores(run):
    with pytest.raises(ParameterError, match=NO_SCORES):
        run(min_score=1.0)
