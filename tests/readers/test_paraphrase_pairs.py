"""Readers of training pairs, on small files in the format of each source."""

import gzip
from pathlib import Path

import pytest

from paraphrastic.base.errors import DataError
from paraphrastic.readers.reading import Reading
from tests.helpers.raw_files import bad_rows, read_files, rows, write_archive, write_file


def read_pairs(reader: str, folder: Path, **options) -> list[Reading]:
    readings = read_files(reader, folder, **options)
    assert all(reading.kind == "pairs" for reading in readings)
    return readings


def test_lexicon(tmp_path: Path):
    write_file(tmp_path / "words.txt", "b a c\na b\nc d b\ne e f\n1,800 1.8\n")
    readings = read_pairs("lexicon", tmp_path)
    assert rows(readings) == [("b", "a", 0), ("b", "c", 1), ("c", "d", 2), ("e", "f", 3), ("1,800", "1.8", 4)]
    assert bad_rows(readings) == []


def test_lexicon_with_bad_rows(tmp_path: Path):
    write_file(tmp_path / "words.txt", "a b\nalone\n\n\x1d \x16\nx \x1e\na\xa0b c\x85d\n")
    readings = read_pairs("lexicon", tmp_path)
    assert rows(readings) == [("a", "b", 0), ("a\xa0b", "c\x85d", 1)]
    assert bad_rows(readings) == [("words.txt", line) for line in (2, 3, 4, 5)]


def test_references(tmp_path: Path):
    for name, data in {"t.src": "A\nB", "t.0": "a0\nb0", "t.1": "a1\nb1", "v.src": "C\n", "v.0": "c0\n"}.items():
        write_file(tmp_path / name, data)
    groups = [{"source": f"{x}.src", "references": x + ".{n}", "count": n} for x, n in (("t", 2), ("v", 1))]
    expected = [("A", "a0", 0), ("A", "a1", 0), ("B", "b0", 1), ("B", "b1", 1), ("C", "c0", 2)]
    assert rows(read_pairs("references", tmp_path, groups=groups)) == expected


def test_references_with_bad_rows(tmp_path: Path):
    write_file(tmp_path / "s", "A\nB\nC\n")
    write_file(tmp_path / "r0", b"a0\nb\xff0\nc0\n")
    write_file(tmp_path / "r1", b"a1\nb1\nc\x001\n")
    readings = read_pairs("references", tmp_path, groups=[{"source": "s", "references": "r{n}", "count": 2}])
    assert rows(readings) == [("A", "a0", 0), ("A", "a1", 0), ("B", "b1", 1), ("C", "c0", 2)]
    assert bad_rows(readings) == [("r0", 2), ("r1", 3)]


def test_aligned_files(tmp_path: Path):
    for name, data in {"a.src": "1\n\n3\n", "a.tgt": b"I\nII\n\xff\n", "b.src": "4\r\n", "b.tgt": "IV"}.items():
        write_file(tmp_path / name, data)
    readings = read_pairs("aligned", tmp_path, pairs=[["a.src", "a.tgt"], ["b.src", "b.tgt"]])
    assert rows(readings) == [("1", "I", 0), ("", "II", 1), ("4", "IV", 3)]
    assert bad_rows(readings) == [("a.tgt", 3)]


@pytest.mark.parametrize(
    ("reader", "options"),
    [
        ("aligned", {"pairs": [["a", "b"]]}),
        ("references", {"groups": [{"source": "a", "references": "b", "count": 1}]}),
        ("captions", {"groups": [["a", "b"]]}),
    ],
)
def test_parallel_files_of_different_length(tmp_path: Path, reader: str, options: dict):
    write_file(tmp_path / "a", "1\n2\n3\n")
    write_file(tmp_path / "b", "1\n2\n")
    with pytest.raises(DataError, match=r"/a has 3 lines and \S+/b has 2, .*remove both"):
        read_pairs(reader, tmp_path, **options)


def test_captions(tmp_path: Path):
    for split, names in {"train": "abc", "val": "xyz"}.items():
        for name in names:
            write_file(tmp_path / f"{split}.{name}.gz", gzip.compress(f"{name}1\n{name}2".encode()))
    groups = [[f"train.{name}.gz" for name in "abc"], [f"val.{name}.gz" for name in "xyz"]]
    pairs = rows(read_pairs("captions", tmp_path, groups=groups))
    assert pairs[:6] == [(f"{x}{n}", f"{y}{n}", n - 1) for n in (1, 2) for x, y in ("ab", "ac", "bc")]
    assert pairs[6:9] == [("x1", "y1", 2), ("x1", "z1", 2), ("y1", "z1", 2)]
    assert len(pairs) == 12


def test_labelled_tokens(tmp_path: Path):
    write_file(tmp_path / "train" / "a.toks", "p\np\nq\nr\n")
    write_file(tmp_path / "train" / "b.toks", "1\n2\n3\n4\n")
    write_file(tmp_path / "train" / "sim.txt", "1\n1\n0\n0.5\n")
    write_file(tmp_path / "test" / "a.toks", "s\np\n")
    write_file(tmp_path / "test" / "b.toks", "5\n6\n")
    write_file(tmp_path / "test" / "sim.txt", "1\n1\n")
    readings = read_pairs("labelled-tokens", tmp_path, folders=["train", "test"])
    assert rows(readings) == [("p", "1", 0), ("p", "2", 0), ("s", "5", 1), ("p", "6", 0)]
    assert bad_rows(readings) == [("sim.txt", 4)]


def test_wikisplit(tmp_path: Path):
    write_file(tmp_path / "a.tsv", "A , b .\tA . <::::> B .\nno tab\nA\tno mark\n")
    write_file(tmp_path / "b.tsv", "C '' d '' .\tC . <::::> '' D '' .\n")
    write_file(tmp_path / "c.tsv", "E f .\tE . <::::> F .\n")
    readings = read_pairs("wikisplit", tmp_path)
    pairs = [("A , b .", "A . B .", 0), ("C '' d '' .", "C . '' D '' .", 3), ("E f .", "E . F .", 4)]
    assert rows(readings) == pairs
    assert bad_rows(readings) == [("a.tsv", 2), ("a.tsv", 3)]


def test_onestop_with_a_sentence_in_several_files(tmp_path: Path):
    write_file(tmp_path / "ADV-ELE.txt", "hard\neasy\n*******\nother\nthing\n*******\n")
    write_file(tmp_path / "ADV-INT.txt", "hard\nmiddle\n*******\n")
    write_file(tmp_path / "ELE-INT.txt", "easy\nmiddle\n*******\nnew\nnews\n*****")
    pairs = rows(read_pairs("onestop", tmp_path))
    texts = [(first, second) for first, second, _ in pairs]
    assert texts == [("hard", "easy"), ("other", "thing"), ("hard", "middle"), ("easy", "middle"), ("new", "news")]
    first, second, third, fourth, fifth = (group for _, _, group in pairs)
    assert first == third == fourth
    assert len({first, second, fifth}) == 3


def test_onestop_with_blocks_of_other_length(tmp_path: Path):
    write_file(tmp_path / "a.txt", b"1\n2\n***\n3\n***\n4\n5\n6\n***\n7\n\xff\n***\n***\n8\n9\n***\nx\ny")
    readings = read_pairs("onestop", tmp_path)
    assert [(first, second) for first, second, _ in rows(readings)] == [("1", "2"), ("8", "9")]
    assert bad_rows(readings) == [("a.txt", line) for line in (5, 9, 11, 13, 18)]


def test_onestop_with_one_file_of_another_format(tmp_path: Path):
    write_file(tmp_path / "a.txt", "1\n2\n***\n")
    write_file(tmp_path / "b.txt", "<html>\n")
    with pytest.raises(DataError, match=r"b\.txt: no block of two sentences"):
        read_pairs("onestop", tmp_path)


def test_simpwiki(tmp_path: Path):
    normal, simple = "T\t0\tA b .\nT\t1\tC d .\nno tabs\n", "T\t0\tA .\nT\t1\tC\t.\nT\t2\tE .\n"
    members = {"in/normal.aligned": normal, "in/simple.aligned": simple, "in/README": "x"}
    write_archive(tmp_path / "data.tar.gz", members, "gztar")
    readings = read_pairs("simpwiki", tmp_path)
    assert rows(readings) == [("A b .", "A .", 0), ("C d .", ".", 1)]
    assert bad_rows(readings) == [("data.tar.gz!normal.aligned", 3)]


def test_simpwiki_without_one_side(tmp_path: Path):
    write_archive(tmp_path / "data.tar.gz", {"in/normal.aligned": "T\t0\tA\n"}, "gztar")
    with pytest.raises(DataError, match=r"data\.tar\.gz: the archive contains no simple\.aligned"):
        read_pairs("simpwiki", tmp_path)


def test_simpwiki_with_files_of_different_length(tmp_path: Path):
    write_archive(tmp_path / "data.tar.gz", {"normal.aligned": "T\tA\nT\tB\n", "simple.aligned": "T\ta\n"}, "gztar")
    with pytest.raises(DataError, match=r"normal\.aligned has 2 lines and \S+simple\.aligned has 1, .*remove both"):
        read_pairs("simpwiki", tmp_path)


@pytest.mark.parametrize(
    ("reader", "name", "message"),
    [
        ("lexicon", "a.txt", "line 1: a word without neighbours: not one usable row"),
        ("wikisplit", "a.tsv", "line 1: fewer than 2 fields: not one usable row"),
        ("onestop", "a.txt", "no block of two sentences and asterisks"),
    ],
)
def test_file_of_another_format(tmp_path: Path, reader: str, name: str, message: str):
    write_file(tmp_path / name, "<html>\n\n</html>\n")
    with pytest.raises(DataError, match=rf"/{name}(:|,) {message}; is it the right file\? remove it and run"):
        read_pairs(reader, tmp_path)
