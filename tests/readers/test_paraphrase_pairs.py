"""Readers of training pairs, on small files in the format of each source."""

import pytest

from paraphrastic.base.errors import DataError
from tests.helpers.raw_files import content, read_files, rows


def test_lexicon(tmp_path):
    text = "b a c\na b\nc d b\ne e f\n1,800 1.8\nalone\n\n\x1d \x16\nx \x1e\na\xa0b c\x85d\n"
    pairs = [("b", "a", 0), ("b", "c", 1), ("c", "d", 2), ("e", "f", 3), ("1,800", "1.8", 4), ("a\xa0b", "c\x85d", 5)]
    bad = [("words.txt", line) for line in (6, 7, 8, 9)]
    assert content(read_files("lexicon", tmp_path, {"words.txt": text})) == (pairs, bad)


def test_references(tmp_path):
    files = {"t.src": "A\nB\nC\n", "t.0": b"a0\nb\xff0\nc0\n", "t.1": b"a1\nb1\nc\x001\n", "v.src": "D", "v.0": "d0\n"}
    groups = [[f"{x}.src", f"{x}.[0-9]"] for x in "tv"]
    expected = [("A", "a0", 0), ("A", "a1", 0), ("B", "b1", 1), ("C", "c0", 2), ("D", "d0", 3)]
    readings = read_files("aligned", tmp_path, files, groups=groups)
    assert content(readings) == (expected, [("t.0", 2), ("t.1", 3)])


def test_aligned_files(tmp_path):
    files = {"a.src": "1\n\n3\n", "a.tgt": b"I\nII\n\xff\n", "b.src": "4\r\n", "b.tgt": "IV"}
    readings = read_files("aligned", tmp_path, files, groups=[["a.src", "a.tgt"], ["b.src", "b.tgt"]])
    assert content(readings) == ([("1", "I", 0), ("", "II", 1), ("4", "IV", 3)], [("a.tgt", 3)])


def test_captions(tmp_path):
    groups = [[f"train.{name}.gz" for name in "abc"], [f"val.{name}.gz" for name in "xyz"]]
    files = {name: f"{name[-4]}1\n{name[-4]}2" for group in groups for name in group}
    pairs = rows(read_files("aligned", tmp_path, files, groups=groups, all=True))
    assert pairs[:6] == [(f"{x}{n}", f"{y}{n}", n - 1) for n in (1, 2) for x, y in ("ab", "ac", "bc")]
    assert pairs[6:9] == [("x1", "y1", 2), ("x1", "z1", 2), ("y1", "z1", 2)]
    assert len(pairs) == 12


def test_labelled_tokens(tmp_path):
    texts = {"train": ("p\np\nq\nr\n", "1\n2\n3\n4\n", "1\n1\n0\n0.5\n"), "test": ("s\np\n", "5\n6\n", "1\n1\n")}
    names = ("a.toks", "b.toks", "sim.txt")
    files = {f"{folder}/{name}": text for folder in texts for name, text in zip(names, texts[folder], strict=True)}
    readings = read_files("labelled-tokens", tmp_path, files, folders=["train", "test"])
    assert content(readings) == ([("p", "1", 0), ("p", "2", 0), ("s", "5", 1), ("p", "6", 0)], [("sim.txt", 4)])


def test_wikisplit(tmp_path):
    files = {
        "a.tsv": "A , b .\tA . <::::> B .\nno tab\nA\tno mark\n",
        "b.tsv": "C '' d '' .\tC . <::::> '' D '' .\n",
        "c.tsv": "E f .\tE . <::::> F .\n",
    }
    expected = [("A , b .", "A . B .", 0), ("C '' d '' .", "C . '' D '' .", 3), ("E f .", "E . F .", 4)]
    assert content(read_files("wikisplit", tmp_path, files)) == (expected, [("a.tsv", 2), ("a.tsv", 3)])


def test_onestop_with_a_sentence_in_several_files(tmp_path):
    files = {
        "ADV-ELE.txt": "hard\neasy\n*******\nother\nthing\n*******\n",
        "ADV-INT.txt": "hard\nmiddle\n*******\n",
        "ELE-INT.txt": "easy\nmiddle\n*******\nnew\nnews\n*****",
    }
    first, second, group = zip(*rows(read_files("onestop", tmp_path, files)), strict=True)
    assert first == ("hard", "other", "hard", "easy", "new")
    assert second == ("easy", "thing", "middle", "middle", "news")
    assert group[0] == group[2] == group[3]
    assert len({group[0], group[1], group[4]}) == 3


def test_onestop_with_blocks_of_other_length(tmp_path):
    text = b"1\n2\n***\n3\n***\n4\n5\n6\n***\n7\n\xff\n***\n***\n8\n9\n***\nx\ny"
    found, bad = content(read_files("onestop", tmp_path, {"a.txt": text}))
    assert [(first, second) for first, second, _ in found] == [("1", "2"), ("8", "9")]
    assert bad == [("a.txt", line) for line in (5, 9, 11, 13, 18)]


def test_simpwiki(tmp_path):
    normal, simple = "T\t0\tA b .\nT\t1\tC d .\nno tabs\n", "T\t0\tA .\nT\t1\tC\t.\nT\t2\tE .\n"
    members = {"in/normal.aligned": normal, "in/simple.aligned": simple, "in/README": "x"}
    readings = read_files("simpwiki", tmp_path, {"data.tar.gz": members})
    assert content(readings) == ([("A b .", "A .", 0), ("C d .", ".", 1)], [("data.tar.gz!normal.aligned", 3)])


@pytest.mark.parametrize(
    ("reader", "files", "options", "message"),
    [
        (
            "aligned",
            {"a": "1\n2\n3\n", "b": "1\n2\n"},
            {"groups": [["a", "b"]]},
            r"/a has 3 lines and \S+/b has 2, .*remove both",
        ),
        (
            "simpwiki",
            {"data.tar.gz": {"normal.aligned": "T\tA\nT\tB\n", "simple.aligned": "T\ta\n"}},
            {},
            r"normal\.aligned has 2 lines and \S+simple\.aligned has 1, .*remove both",
        ),
        ("simpwiki", {"x.tar.gz": {"normal.aligned": "T\tA\n"}}, {}, r"x\.tar\.gz: .* contains no simple\.aligned"),
        ("onestop", {"a.txt": "1\n2\n***\n", "b.txt": "<html>\n"}, {}, r"b\.txt: no block of two sentences"),
    ],
)
def test_files_that_do_not_match(tmp_path, reader, files, options, message):
    with pytest.raises(DataError, match=message):
        read_files(reader, tmp_path, files, **options)


@pytest.mark.parametrize(
    ("reader", "name", "message"),
    [
        ("lexicon", "a.txt", "line 1: a word without neighbours: not one usable row"),
        ("wikisplit", "a.tsv", "line 1: fewer than 2 fields: not one usable row"),
        ("onestop", "a.txt", "no block of two sentences and asterisks"),
    ],
)
def test_file_of_another_format(tmp_path, reader, name, message):
    with pytest.raises(DataError, match=rf"/{name}(:|,) {message}; is it the right file\? remove it and run"):
        read_files(reader, tmp_path, {name: "<html>\n\n</html>\n"})
