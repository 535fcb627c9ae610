"""Readers of pairs whose sentences form groups, on small files in the format of each source."""

import gzip
import json
from collections import Counter
from itertools import combinations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from paraphrastic.base.errors import DataError, SourceError
from paraphrastic.readers.paraphrase_groups import components, pairs_within, round_robin
from tests.helpers.raw_files import bad_rows, read_files, rows


def texts(readings):
    return [(first, second) for first, second, _ in rows(readings)]


def unordered(readings):
    return {(*sorted([first, second]), group) for first, second, group in rows(readings)}


def field(content):
    """Return field 1 of a protocol-buffer message, whose length can need two bytes."""
    size = bytes([len(content)]) if len(content) < 128 else bytes([len(content) & 127 | 128, len(content) >> 7])
    return b"\n" + size + content


def tf_example(**features):
    texts = ((key.encode(), field(field(field(value.encode())))) for key, value in features.items())
    record = field(b"".join(field(field(key) + b"\x12" + text[1:]) for key, text in texts))
    return len(record).to_bytes(8, "little") + record


def test_tf_example_is_that_of_its_library():
    serialized = b"\n\x2c\n\x14\n\x07article\x12\t\n\x07\n\x05a cat\n\x14\n\x08abstract\x12\x08\n\x06\n\x04cats"
    assert tf_example(article="a cat", abstract="cats")[8:] == serialized


CHUNKS = {"files": ["*.bin"], "format": "tf-examples", "columns": ["article", "abstract"]}


def test_tf_examples(tmp_path):
    long = "very " * 50 + "long"
    two = tf_example(abstract="what's up", article="hi"), tf_example(article="ü", abstract="u")
    files = {"c/b.bin": tf_example(article="Is it ?", abstract=long), "c/a.bin": b"".join(two)}
    readings = read_files("pair-lists", tmp_path, files, lists=[CHUNKS])
    assert rows(readings) == [("hi", "what's up", 0), ("ü", "u", 1), ("Is it ?", long, 2)]


def test_components_of_normal_forms_across_lists(tmp_path):
    files = {
        "a.bin": tf_example(article="why do n't i -lrb- sleep -rrb- ?", abstract="no sleep"),
        "b.json": json.dumps([{"q": "Why don't I (sleep)?", "r": "Sleepless", "id": 3}]),
        "c.csv": 'id,one,two,same\n1,"SLEEPLESS!","a ""b"", c",1\n2,x,y,0\n3,p,q,1\n',
    }
    lists = [
        CHUNKS,
        {"files": ["b.json"], "format": "json", "columns": ["q", "r"]},
        {"files": ["c.csv"], "format": "csv", "columns": ["one", "two"], "keep": ["same", "1"]},
    ]
    assert rows(read_files("pair-lists", tmp_path, files, lists=lists)) == [
        ("why do n't i -lrb- sleep -rrb- ?", "no sleep", 0),
        ("Why don't I (sleep)?", "Sleepless", 0),
        ("SLEEPLESS!", 'a "b", c', 0),
        ("p", "q", 1),
    ]


CELLS = {"files": ["x.tsv"], "format": "csv", "delimiter": "\t", "columns": [1, 2], "keep": [0, "1"]}


def test_lists_of_lines_and_of_cells_without_header(tmp_path):
    files = {"in.txt": "a\nb\n", "out.txt": "A 1\nB 1", "x.tsv": '1\t"c ""d"""\te\n0\tno\tnot\n1\tf\tg'}
    lists = [{"files": ["in.txt", "out.txt"], "format": "lines"}, CELLS]
    expected = [("a", "A 1"), ("b", "B 1"), ('c "d"', "e"), ("f", "g")]
    assert texts(read_files("pair-lists", tmp_path, files, lists=lists)) == expected


def test_bad_records(tmp_path):
    files = {
        "x.tsv": b"1\ta\tb\n0\t\xff\tx\n1\tc\xe2\x80\td\n1\te\t\0\n",
        "y.json": '[{"q": "f"}, {"q": "g", "r": "h"}, {"q": "i", "r": "\\ud83d"}]',
    }
    readings = read_files("pair-lists", tmp_path, files, lists=[CELLS, JSON | {"files": ["y.json"]}])
    assert texts(readings) == [("a", "b"), ("g", "h")]
    assert bad_rows(readings) == [("x.tsv", 3), ("x.tsv", 4), ("y.json", 1), ("y.json", 3)]
    assert str(readings[0].bad[2]).endswith("y.json, record 1: 'r' is no text in UTF-8")


REUTERS = """<!DOCTYPE lewis SYSTEM "lewis.dtd">
<REUTERS NEWID="1"><TEXT>&#2;
<TITLE>GRAIN &lt;GRN> PRICES RISE</TITLE>
<DATELINE>    ROME, Feb 26 - </DATELINE><BODY>Prices of grain rose at
U.S. ports. More
    And more.
 Reuter
&#3;</BODY></TEXT>
</REUTERS>
<REUTERS NEWID="2"><TEXT TYPE="BRIEF"><TITLE>NO BODY</TITLE></TEXT></REUTERS>
<REUTERS NEWID="3"><TEXT><TITLE>OTHER WORDS</TITLE><BODY>Nothing of it.</BODY></TEXT></REUTERS>
"""


NEWS = "title,fact\nBig Cat found,A cat is big.\nBig Cat Found,A cat\n,nothing\n"


@pytest.mark.parametrize(
    ("text", "form", "columns", "pair"),
    [
        (REUTERS, "reuters", ["title", "body"], ("GRAIN <GRN> PRICES RISE", "Prices of grain rose at U.S. ports.")),
        (NEWS, "csv", ["title", "fact"], ("Big Cat found", "A cat is big.")),
    ],
)
def test_pairs_whose_second_text_holds_words_of_the_first(tmp_path, text, form, columns, pair):
    listing = {"files": ["x"], "format": form, "columns": columns, "held": 0.5}
    assert texts(read_files("pair-lists", tmp_path, {"x": text}, lists=[listing])) == [pair]


NLI = {
    "1": [
        {"original_example": {"hyp1": "A", "hyp2": "B"}, "hyp1_paraphrase": "a1", "hyp2_paraphrase": "b1"},
        {"original_example": {"hyp1": "A", "hyp2": "B"}, "hyp1_paraphrase": "a2", "hyp2_paraphrase": None, "hyp1": "C"},
    ]
}


JSON = {"files": ["x"], "format": "json", "columns": ["q", "r"]}
CSV = JSON | {"format": "csv"}
NLI_LIST = {"files": ["x"], "format": "nli-paraphrases", "columns": ["X", "X_paraphrase"]}


def test_nli_paraphrases(tmp_path):
    readings = read_files("pair-lists", tmp_path, {"x": json.dumps(NLI)}, lists=[NLI_LIST])
    assert rows(readings) == [("A", "a1", 0), ("B", "b1", 1), ("A", "a2", 0)]


EXAMPLE = tf_example(article="a", abstract="b")
NO_VALUE = b"\x11" + bytes(7) + b"\n\x0f\n\x0d\n\x07article\x12\x02\n\0"  # a feature whose list is empty


@pytest.mark.parametrize(
    ("listing", "data", "message"),
    [
        (CHUNKS | {"files": ["x"]}, EXAMPLE[:-2], "no tf.Example record at byte 0, or truncated"),
        (CHUNKS | {"files": ["x"]}, EXAMPLE + b"\1\0", f"no tf.Example record at byte {len(EXAMPLE)}, or truncated"),
        (CHUNKS | {"files": ["x"]}, b"\2" + bytes(7) + b"\x08\1", "no tf.Example record at byte 0"),
        (CHUNKS | {"files": ["x"]}, NO_VALUE, "no tf.Example record at byte 0, or truncated"),
        (CHUNKS | {"files": ["x"]}, b"", "not one record"),
        (JSON, '[{"q": "a", "r"', "not JSON, or truncated"),
        (JSON, '{"q": "a"}', "no list of JSON objects at the top"),
        (JSON | {"records": "sentences"}, '{"q": "a"}', "no list of JSON objects under 'sentences'"),
        (JSON, "[]", "not one record"),
        (JSON, '[{"a": "b"}]', "record 1: 'q' is no text in UTF-8: not one usable row"),
        (CSV, "p,r\n1,2\n", "line 1 has no column 'q'"),
        (CSV, "q,r\na\n", "line 2: 1 cells, too few"),
        (CSV, 'q,r\n"a,b\n', "not CSV"),
        (CSV, "q,r\n", "not one record"),
        (NLI_LIST, '{"1": [{"hyp1_paraphrase": "a"}]}', "an annotation without `original_example`"),
        (NLI_LIST, "[1]", "an annotation without `original_example`"),
        ({"files": ["x"], "format": "reuters", "columns": ["t", "b"]}, REUTERS[:300], "a <REUTERS> is not closed"),
        ({"files": ["x", "x"], "format": "lines"}, b"", "the file is empty"),
    ],
)
def test_damaged_lists(tmp_path, listing, data, message):
    with pytest.raises(DataError) as error:
        read_files("pair-lists", tmp_path, {"x": data}, lists=[listing])
    assert str(error.value).startswith(str(tmp_path / "x"))
    assert message in str(error.value)
    assert "\n" not in str(error.value)
    assert "remove it and run `dvc repro`" in str(error.value)


def test_missing_files(tmp_path):
    with pytest.raises(SourceError, match=r"contains no \*\.bin; run `dvc repro` to download it"):
        read_files("pair-lists", tmp_path, lists=[CHUNKS])
    listing = JSON | {"archive": "a.zip", "files": ["y.txt"]}
    with pytest.raises(DataError, match=r"a\.zip: the archive contains no y\.txt; remove it"):
        read_files("pair-lists", tmp_path, {"a.zip": {"x.txt": "1"}}, lists=[listing])


def test_compressed_csv(tmp_path):
    listing, text = CSV | {"files": ["*.csv.gz"]}, "q,r\na,b\n"
    assert texts(read_files("pair-lists", tmp_path, {"x.csv.gz": text}, lists=[listing])) == [("a", "b")]
    with pytest.raises(DataError, match=r"x\.csv\.gz: damaged or truncated .*; remove it"):
        read_files("pair-lists", tmp_path, {"x.csv.gz": gzip.compress(text.encode())[:-3]}, lists=[listing])


LINES = {"files": ["*.txt"], "format": "lines"}


def test_parallel_groups(tmp_path):
    files = {
        "deep/t.ref.A": "One\n\nthree",
        "deep/t.hyp.x": b"1\n2\n\xff",
        "deep/t.hyp.y": "ONE\nii\niii",
        "v.tar.gz": {"d/v.mt": "four\nfive\n", "d/v.pe": "4\nfive .\n", "d/v.src": "x\n"},
    }
    sets = [LINES | {"files": ["t.*"]}, LINES | {"archive": "v.tar.gz", "files": ["*.mt", "*.pe"]}]
    readings = read_files("parallel-groups", tmp_path, files, sets=sets, pairs=20)
    assert unordered(readings) == {("1", "ONE", 0), ("2", "ii", 1), ("iii", "three", 2), ("4", "four", 3)}
    assert bad_rows(readings) == [("t.hyp.x", 3)]


def test_pairs_of_a_parallel_line(tmp_path):
    files = {f"{i}.txt": f"a{i}\n" for i in range(6)}
    assert len(rows(read_files("parallel-groups", tmp_path, files, sets=[LINES], pairs=20))) == 15
    three = texts(read_files("parallel-groups", tmp_path, sets=[LINES], pairs=3))
    assert {text for pair in three for text in pair} == {f"a{i}" for i in range(6)}


def test_parallel_files_of_different_length(tmp_path):
    with pytest.raises(DataError, match=r"/a\.txt has 2 lines and \S+/b\.txt has 1, .*remove both"):
        read_files("parallel-groups", tmp_path, {"a.txt": "1\n2\n", "b.txt": "1\n"}, sets=[LINES], pairs=20)


def test_captions_of_images_in_two_formats(tmp_path):
    image = {"image": "v/COCO_2014_0012.jpg", "caption": ["a cat", "A cat.", "cats"]}
    annotations = [{"image_id": n, "caption": text} for n, text in ((12, "a cat"), (7, "x"), (7, "y"))]
    files = {"a.json": json.dumps([image]), "b.json": json.dumps({"annotations": annotations})}
    lists = [
        {"files": ["a.json"], "format": "json", "columns": ["image", "caption"]},
        {"files": ["b.json"], "format": "json", "records": "annotations", "columns": ["image_id", "caption"]},
    ]
    readings = read_files("keyed-groups", tmp_path, files, lists=lists, pairs=20, key=r"(?P<key>[1-9]\d*)(?:\.jpg)?$")
    assert unordered(readings) == {("a cat", "cats", 0), ("x", "y", 1)}


def test_sentences_of_a_key_that_share_content_words(tmp_path):
    sentences = ["a man is cooking", "the man cooking rice", "the dog is in a box", "a kitten"]
    text = json.dumps({"sentences": [{"video_id": "v1", "caption": sentence} for sentence in sentences]})
    listing = {"archive": "v.zip", "files": ["*.json"], "format": "json", "records": "sentences"}
    options = {"lists": [listing | {"columns": ["video_id", "caption"]}], "pairs": 190, "shared": 1 / 2}
    readings = read_files("keyed-groups", tmp_path, {"v.zip": {"v.json": text}}, **options)
    assert unordered(readings) == {("a man is cooking", "the man cooking rice", 0)}


def test_sentences_with_the_same_translation(tmp_path):
    text = 'Hi.\tHallo!\tCC\nHello.\tHallo!\tCC\n"So\tAlso\tCC\nYes.\tJa.\n'
    files = {"deu-eng.zip": {"deu.txt": text, "_about.txt": "x"}}
    cells = {"format": "csv", "delimiter": "\t", "quotes": False, "columns": [1, 0]}
    lists = [cells | {"archive": "deu-eng.zip", "files": ["deu.txt"]}]
    assert unordered(read_files("keyed-groups", tmp_path, files, lists=lists, pairs=20)) == {("Hello.", "Hi.", 0)}


POOL = [{"pId": 1, "text": "It helps."}, {"pId": 4, "text": "This is of help"}, {"pId": 5, "text": "it hurts"}]


def read_perspectrum(folder, pool, *clusters):
    claims = [{"perspectives": [{"pids": ids} for ids in claim]} for claim in clusters]
    files = {"pool.json": json.dumps(pool), "claims.json": json.dumps(claims)}
    return read_files("perspectrum", folder, files, pool="pool.json", claims="claims.json", pairs=20)


def test_perspectrum(tmp_path):
    assert unordered(read_perspectrum(tmp_path, POOL, [[5], [1, 4]])) == {("It helps.", "This is of help", 1)}
    with pytest.raises(DataError, match=r"claims\.json: not the clusters of pool\.json \(no 6\); remove it"):
        read_perspectrum(tmp_path, POOL, [[1, 6]])


def test_perspectrum_with_a_text_of_another_type(tmp_path):
    readings = read_perspectrum(tmp_path, [*POOL, {"pId": 7, "text": None}], [[5, 4], [1, 7, 4]])
    assert unordered(readings) == {("This is of help", "it hurts", 0), ("It helps.", "This is of help", 1)}
    (bad,) = readings[0].bad
    assert str(bad) == f"{tmp_path / 'claims.json'}, record 2: 'text' is no text in UTF-8"


@pytest.mark.parametrize("name", ["pool.json", "claims.json"])
def test_perspectrum_with_a_truncated_file(tmp_path, name):
    files = {"pool.json": json.dumps(POOL), "claims.json": json.dumps(POOL), name: "[{"}
    with pytest.raises(DataError, match=rf"/{name}: not JSON, or truncated"):
        read_files("perspectrum", tmp_path, files, pool="pool.json", claims="claims.json", pairs=20)


def test_components():
    component = components(np.array([[0, 4, 2, 5, 7], [1, 5, 0, 6, 7]]).ravel())
    assert component[0] == component[2]
    assert component[1] == component[3]
    assert len(set(component)) == 3


@pytest.mark.parametrize("size", range(9))
def test_round_robin_has_all_pairs_in_rounds(size):
    pairs = [tuple(pair) for pair in round_robin(size).tolist()]
    assert sorted(pairs) == list(combinations(range(size), 2))
    for start in range(0, len(pairs), max(size // 2, 1)):
        met = Counter(player for pair in pairs[start : start + size // 2] for player in pair)
        assert set(met.values()) <= {1}


def test_pairs_within_groups():
    texts = pa.array(["A cat.", "b", "a cat", "c", "", "x", "y", "alone", "x"])
    group = np.array([3, 3, 3, 3, 3, 1, 1, 0, 9])
    left, right = pairs_within(group, texts, 100)
    pairs = [(group[i], *sorted((texts[i].as_py(), texts[j].as_py()))) for i, j in zip(left, right, strict=True)]
    assert pairs[0] == (1, "x", "y")
    assert sorted(pairs[1:]) == [(3, "A cat.", "b"), (3, "A cat.", "c"), (3, "b", "c")]


def test_few_pairs_of_a_group_have_many_sentences():
    texts = pa.array([f"{group} {i}" for group in range(3) for i in range(20)])
    group = np.repeat(np.arange(3), 20)
    left, right = pairs_within(group, texts, 10)
    assert sorted([*left, *right]) == list(range(60))
    assert len({tuple(left[group[left] == i] % 20) for i in range(3)}) == 3  # another order in each group


def test_no_pairs_within_groups():
    left, right = pairs_within(np.zeros(2, int), pa.array(["a", "A"]), 5)
    assert len(left) == len(right) == 0


def test_single_sentences_stand_side_by_side_once(tmp_path):
    files = {"a.txt": "A dog runs.\nIt rains.\na dog runs\n", "b.txt": "\u00fc\nIt rains!\nCats sleep.\nNo.\n"}
    expected = [("A dog runs.", "It rains.", 0), ("\u00fc", "Cats sleep.", 1), ("No.", "A dog runs.", 2)]
    readings = read_files("sentences", tmp_path, files, lists=[LINES | {"files": [name]} for name in files])
    assert rows(readings) == expected


OPTIONS = {"file": "words.parquet", "column": "index", "pattern": "[a-z.]+", "count": 4}


def test_words_of_a_list_in_its_order(tmp_path):
    words = ["the", ",", "of", "2nd", "a.m.", "two words", "cat", "dog"]
    pq.write_table(pa.table({"index": words}), tmp_path / "words.parquet")
    assert rows(read_files("word-list", tmp_path, **OPTIONS)) == [("the", "of", 0), ("a.m.", "cat", 1)]


@pytest.mark.parametrize("content", [b"no parquet", None])
def test_list_of_words_without_its_column(tmp_path, content):
    pq.write_table(pa.table({"word": ["the"]}), tmp_path / "words.parquet")
    if content:
        (tmp_path / "words.parquet").write_bytes(content)
    with pytest.raises(DataError, match=r"words\.parquet: no parquet file with a column 'index'"):
        read_files("word-list", tmp_path, **OPTIONS)
