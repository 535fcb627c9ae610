import csv
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest

import pipeline.tokenize as stage
from paraphrastic.corpus.filtering import REASONS, Evaluated, assemble, part_of
from paraphrastic.errors import DataError
from paraphrastic.sources.catalogue import File, Suite, corpus, suite
from paraphrastic.tables import PAIRS, RAW, SENTENCES, indexed_schema, read_table
from paraphrastic.text.deduplicate import indexed
from tests.faulty_server import made


def pairs(*rows):
    """A raw table; a row is two texts and perhaps a group, which otherwise is the pair's own."""
    left, right, groups = zip(*((row[0], row[1], (*row, -1 - i)[2]) for i, row in enumerate(rows)), strict=True)
    return pa.table([left, right, groups], schema=RAW["pairs"])


def evaluated(**sets):
    """What evaluation sets of these names (`__` for a dot) and pairs of texts hold."""
    rows = [(name.replace("__", "."), "test", *texts, 1.0) for name, held in sets.items() for texts in held]
    tables = {kind: RAW[kind].empty_table() for kind in RAW if kind != "pairs"}
    tables["similarity"] = pa.Table.from_pylist(
        [dict(zip(RAW["similarity"].names, row, strict=True)) for row in rows], RAW["similarity"]
    )
    return Evaluated.of(*indexed(tables))


def built(*tables, test=None, near=False, words=False):
    part = part_of("texts", tables, test, near=near, words=words)
    texts = part.texts.to_pylist()
    assert set(part.counts) == set(REASONS)
    kept = [(texts[left], texts[right]) for left, right in zip(part.left, part.right, strict=True)]
    return kept, {reason: count for reason, count in part.counts.items() if count}


def test_pairs_are_tokenized_and_keep_their_order():
    assert built(pairs(("It's A.", "B, b"), ("a", "It's a."))) == ([("it 's a .", "b , b"), ("a", "it 's a .")], {})


def test_a_side_without_a_token_makes_the_pair_empty():
    assert built(pairs(("a", ""), (" \u200b", "b"), ("", ""), ("c", "?"))) == ([("c", "?")], {"empty": 3})


def test_sides_that_say_the_same_are_identical():
    kept, counts = built(pairs(("The cat!", "the cat."), ("grey", "GRAY"), ("the cat", "the cats")))
    assert (kept, counts) == ([("the cat", "the cats")], {"identical": 2})


def test_a_pair_is_repeated_in_either_order_and_across_tables():
    first, second = pairs(("a", "b"), ("b", "A."), ("b", "c")), pairs(("c", "b"), ("c", "a"))
    assert built(first, second) == ([("a", "b"), ("b", "c"), ("c", "a")], {"repeated": 2})


def test_a_sentence_of_an_evaluation_set_drops_its_group():
    test = evaluated(sts__2012__x=[("A dog runs.", "x")])
    table = pairs(("a", "b", 1), ("c", "a dog runs", 1), ("d", "e", 2), ("x!", "f", 3))
    assert built(table, test=test) == ([("d", "e")], {"overlap": 3})
    assert built(table) == ([("a", "b"), ("c", "a dog runs"), ("d", "e"), ("x !", "f")], {})


def test_a_pair_that_is_dropped_anyway_still_drops_its_group():
    test = evaluated(sts__2012__x=[("A dog runs.", "x")])
    assert built(pairs(("a dog runs", "A dog runs!", 1), ("b", "c", 1)), test=test)[1] == {"identical": 1, "overlap": 1}


def test_near_copies_drop_their_group_where_that_is_asked():
    test = evaluated(sts__2012__x=[("one two three four five", "x")])
    table = pairs(("one two three four", "b", 1), ("c", "d", 1), ("five six seven eight", "e", 2))
    assert built(table, test=test, near=True) == ([("five six seven eight", "e")], {"near": 2})
    assert len(built(table, test=test)[0]) == 3


@pytest.mark.parametrize("name", ["words__simlex", "paraphrase__ppdb", "sample__words"])
def test_words_and_phrases_drop_only_the_evaluated_pair(name):
    test = evaluated(**{name: [("Old", "new"), ("x", "y")]})
    table = pairs(("new", "old", 1), ("old", "young", 1), ("x", "new", 2))
    for words in (False, True):
        assert built(table, test=test, words=words) == ([("old", "young"), ("x", "new")], {"overlap": 1})


def test_a_lexicon_may_hold_evaluated_sentences():
    test = evaluated(sts__2012__x=[("no", "yes")])
    assert built(pairs(("no", "not")), test=test, words=True) == ([("no", "not")], {})
    assert built(pairs(("no", "not")), test=test) == ([], {"overlap": 1})


def test_evaluated_text_comes_from_tables_about_pairs():
    tables = {kind: RAW[kind].empty_table() for kind in RAW if kind != "pairs"}
    for kind, rest in (("ranking", {"question": 0, "label": 1}), ("labelled_sentences", {"label": 1})):
        row = {"set": "s", "split": "train", "text1": kind, "text2": "candidate", **rest}
        tables[kind] = pa.Table.from_pylist([row], RAW[kind])
    assert Evaluated.of(*indexed(tables)).sentences.to_pylist() == ["ranking", "candidate"]


def test_a_part_holds_the_sentences_it_uses_and_groups_without_gaps():
    part = part_of(
        "texts", [pairs(("a", "a", 9), ("c", "b", 7), ("b", "d", 7), ("e", "c", 9))], None, near=False, words=False
    )
    assert sorted(part.texts.to_pylist()) == ["b", "c", "d", "e"]
    assert part.groups.tolist() == [0, 0, 1]


def parts(**tables):
    return [part_of(name, [table], None, near=False, words=False) for name, table in tables.items()]


def test_a_corpus_is_its_sources_in_order_with_each_sentence_once_and_no_group_in_two():
    three = parts(
        one=pairs(("a", "b", 5), ("a", "c", 5)), none=pairs(("a", "a", 0)), two=pairs(("b", "a", 0), ("d", "b", 3))
    )
    sentences, table = assemble(three)
    assert (sentences.schema, table.schema) == (SENTENCES, PAIRS)
    texts = sentences["text"].to_pylist()
    assert len(texts) == len(set(texts)) == 4
    rows = table.to_pylist()
    assert [(texts[row["left"]], texts[row["right"]]) for row in rows] == [
        ("a", "b"),
        ("a", "c"),
        ("b", "a"),
        ("d", "b"),
    ]
    assert [row["source"] for row in rows] == ["one", "one", "two", "two"]
    assert [row["group"] for row in rows] == [0, 0, 1, 2]


def test_a_corpus_without_a_pair_is_refused():
    with pytest.raises(DataError, match="no usable pair: none is left of one, two; choose"):
        assemble(parts(one=pairs(("a", "a")), two=pairs(("", "b"))))
    with pytest.raises(DataError, match="no usable pair"):
        assemble([])


# The stage, on small files of two formats.

TRAIN = made(
    [File("a", "", None), File("b", "", None)],
    name="train",
    reader="aligned",
    options={"pairs": [["a", "b"]]},
    pairs=True,
)
TEST = made(
    [File("x.test.tsv", "", None)],
    name="test",
    reader="sts-tsv",
    options={"year": "2012", "split": "test"},
    rows={"sts.2012.x/test": 2},
)


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Run the stage on the files that it is given as bytes; what it says and the rows of its report."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data/raw/train").mkdir(parents=True)
    (tmp_path / "data/raw/test").mkdir()

    def call(
        left=b"A cat.\nA dog.\n", right=b"One cat\nOne dog\n", test=b"3\tIt is.\tYes\n0\tNo.\tYes\n", **parameters
    ):
        settings = SimpleNamespace(**({"drop_overlap": True, "bad_rows": 0.1} | parameters))
        monkeypatch.setattr(stage, "load_params", lambda: SimpleNamespace(corpus=0, benchmarks=0, tokenize=settings))
        for path, content in (("train/a", left), ("train/b", right), ("test/x.test.tsv", test)):
            (tmp_path / "data/raw" / path).write_bytes(content)
        stage.main()
        return list(csv.DictReader((tmp_path / "metrics/corpus.csv").open()))

    use(monkeypatch, [TRAIN], [TEST])
    return call


def use(monkeypatch, training, tests):
    monkeypatch.setattr(stage, "corpus", lambda _: tuple(training))
    monkeypatch.setattr(stage, "suite", lambda _: Suite("any", tuple(tests), "sts.2012"))


def test_what_the_stage_writes(run, tmp_path):
    (row,) = run()
    assert row == {"source": "train", "read": "2", "bad": "0", "kept": "2"} | dict.fromkeys(REASONS, "0")
    assert read_table(tmp_path / "data/corpus/sentences.parquet", SENTENCES)["text"].to_pylist() == [
        "a cat .",
        "a dog .",
        "one cat",
        "one dog",
    ]
    assert read_table(tmp_path / "data/corpus/pairs.parquet", PAIRS)["right"].to_pylist() == [2, 3]
    folder = tmp_path / "data/benchmarks"
    texts = read_table(folder / "sentences.parquet", SENTENCES)["text"].to_pylist()
    assert texts == ["it is .", "no .", "yes"]
    kinds = [kind for kind in RAW if kind != "pairs"]
    sizes = {kind: len(read_table(folder / f"{kind}.parquet", indexed_schema(kind))) for kind in kinds}
    assert sizes == dict.fromkeys(kinds, 0) | {"similarity": 2}
    assert {path.stem for path in folder.iterdir()} == {"sentences", "select", *kinds}
    assert (folder / "select.txt").read_text() == "sts.2012\n"


def test_the_same_input_gives_the_same_bytes(run, tmp_path):
    def written():
        run()
        return {path: path.read_bytes() for path in tmp_path.glob("[dm]*/*/*.parquet")}

    assert written() == written()


def test_dropping_can_be_switched_off(run):
    files = {"left": b"It is!\nA dog.\n"}
    assert run(**files)[0]["overlap"] == "1"
    assert run(**files, drop_overlap=False)[0]["kept"] == "2"


def test_a_few_bad_rows_are_told_and_many_refused(run, capsys):
    left = b"a\n" * 9 + b"\xff\n"
    right = b"".join(b"b%d\n" % i for i in range(10))
    (row,) = run(left, right, bad_rows=0.2)
    assert (row["read"], row["bad"]) == ("9", "1")
    said = capsys.readouterr().err
    assert "data/raw/train/a, line 10: not UTF-8 (1 bad rows beside 9 pairs): left out" in said.replace("\n", "")
    with pytest.raises(DataError, match=r"line 10: not UTF-8.* more than tokenize.bad_rows = 0.05 allows; remove"):
        run(left, right, bad_rows=0.05)


def test_an_evaluation_set_must_be_whole(run):
    with pytest.raises(DataError, match=r"x\.test\.tsv, line 2: .*; an evaluation set must be whole"):
        run(test=b"3\tIt is.\tYes\n0\tNo.\n1\ta\tb\n")
    with pytest.raises(DataError, match=r"data/raw/test: 3 rows of sts\.2012\.x/test, expected 2; remove"):
        run(test=b"3\tIt is.\tYes\n" * 3)


def test_what_a_person_has_yet_to_bring_is_left_out(run, monkeypatch):
    absent = made([File("c", "", None)], name="absent", reader="sts-tsv", manual="licensed")
    use(monkeypatch, [TRAIN], [absent, TEST])
    assert run()[0]["kept"] == "2"


@pytest.mark.real_data
def test_the_open_corpus_and_the_captions(mirror, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names, tests = ["open", "captions"], "open"
    for source in (*corpus(names), *suite(tests).sources):
        for file in source.files:
            link = tmp_path / "data/raw" / source.name / file.path
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(mirror / file.url.split("://")[1])
    settings = SimpleNamespace(drop_overlap=True, bad_rows=0.001)
    monkeypatch.setattr(
        stage, "load_params", lambda: SimpleNamespace(corpus=names, benchmarks=tests, tokenize=settings)
    )
    stage.main()
    report = {row.pop("source"): row for row in csv.DictReader((tmp_path / "metrics/corpus.csv").open())}
    assert {source: [int(row[reason]) for reason in ("read", *REASONS, "kept")] for source, row in report.items()} == {
        "turkcorpus": [18872, 0, 3567, 486, 18, 0, 14801],
        "asset": [23590, 0, 199, 818, 37, 0, 22536],
        "twitterurl": [12987, 0, 210, 2161, 0, 0, 10616],
        "wikisplit": [15000, 0, 1430, 8, 2, 0, 13560],
        "parasci": [33981, 0, 89, 640, 2, 0, 33250],
        "onestop": [5994, 0, 10, 1731, 0, 0, 4253],
        "googlecomp": [2000, 0, 0, 0, 0, 0, 2000],
        "shakespeare": [28239, 0, 3311, 541, 30, 0, 24357],
        "ppdb-lexicon": [187276, 28, 6055, 2917, 1826, 0, 176450],
        "multi30k": [300140, 0, 46, 136, 11298, 5362, 283298],
    }
    table = read_table(tmp_path / "data/corpus/pairs.parquet", PAIRS)
    group = table["group"].to_numpy()
    change = np.flatnonzero(np.diff(table["source"].dictionary_encode().combine_chunks().indices.to_numpy()))
    assert len(change) == 9
    assert all(group[: at + 1].max() < group[at + 1 :].min() for at in change)
