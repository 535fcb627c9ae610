"""Readers of tagged tokens, on small files in the format of each source."""

from collections import defaultdict
from pathlib import Path

import pytest

from paraphrastic.base.errors import DataError
from paraphrastic.readers.reading import Reading
from paraphrastic.readers.registry import read
from paraphrastic.sources.catalogue import source
from tests.helpers.raw_files import bad_rows, read_files, rows, write_archive, write_file


def read_tagged(reader: str, folder: Path, **options) -> list[Reading]:
    readings = read_files(reader, folder, set="tags", **options)
    assert all(reading.kind == "tagged_tokens" for reading in readings)
    return readings


def tokens(reading: Reading) -> list[tuple]:
    """Return the columns after set and split."""
    return [row[2:] for row in rows([reading])]


def sentences(reading: Reading) -> list[str]:
    """Return sentences like `It/PRP rained/VBD`, which must be numbered from 0."""
    words = defaultdict(list)
    for number, token, tag, *_ in tokens(reading):
        words[number].append(f"{token}/{tag}")
    assert list(words) == list(range(len(words)))
    return [" ".join(each) for each in words.values()]


def node(number: str, token: str, tag: str = "NN", head: str = "0", relation: str = "root") -> str:
    """Return a line in CoNLL-U format."""
    return f"{number}\t{token}\t_\tX\t{tag}\t_\t{head}\t{relation}\t_\t_\n"


def read_conllu(folder: Path, *sentences: str) -> Reading:
    write_file(folder / "a.conllu", "".join(f"{sentence}\n" for sentence in sentences))
    (reading,) = read_tagged("conllu", folder, splits={"a.conllu": "dev"})
    return reading


IT_RAINED = node("1", "It", "PRP", "2", "nsubj") + node("2", "rained", "VBD") + node("3", ".", ".", "2", "punct")
MULTIWORD_TOKEN = (
    "# sent_id = 1\n# text = do n't\n"
    + node("1-2", "don't", "_", "_", "_")
    + node("1", "do", "VBP")
    + node("2", "n't", "RB", "1", "advmod")
    + node("2.1", "gone", "VB", "_", "_")
)


def test_conllu_with_multiword_token_and_empty_node(tmp_path: Path):
    reading = read_conllu(tmp_path, MULTIWORD_TOKEN, IT_RAINED)
    assert tokens(reading) == [
        (0, "do", "VBP", 0, "root"),
        (0, "n't", "RB", 1, "advmod"),
        (1, "It", "PRP", 2, "nsubj"),
        (1, "rained", "VBD", 0, "root"),
        (1, ".", ".", 2, "punct"),
    ]
    assert set(reading.table["set"].to_pylist()) == {"tags"}
    assert set(reading.table["split"].to_pylist()) == {"dev"}
    assert reading.bad == ()


def test_conllu_with_unusual_tokens(tmp_path: Path):
    texts = ["#", "_", "a\xa0b", '"', "1-2"]
    sentence = "".join(node(str(i), text, "SYM", "0") for i, text in enumerate(texts, 1))
    assert [row[1] for row in tokens(read_conllu(tmp_path, sentence))] == texts


def test_conllu_without_heads_and_relations(tmp_path: Path):
    assert tokens(read_conllu(tmp_path, node("1", "Hm", "UH", "_", "_"))) == [(0, "Hm", "UH", None, None)]


BAD_LINES = ["2\tcut\t_\n", node("two", "x"), node("4", "x"), node("2", "x\0"), node("2", "x", tag="_")]
BAD_LINES += [node("2", "x", head=head) for head in ("two", "-1", "3")]


@pytest.mark.parametrize("bad_line", BAD_LINES)
def test_conllu_sentence_with_a_bad_row(tmp_path: Path, bad_line: str):
    reading = read_conllu(tmp_path, MULTIWORD_TOKEN, node("1", "y", head="2") + bad_line, IT_RAINED)
    assert [row[:2] for row in tokens(reading)] == [(0, "do"), (0, "n't"), (1, "It"), (1, "rained"), (1, ".")]
    assert bad_rows([reading]) == [("a.conllu", 9)]


def test_conllu_file_of_another_format(tmp_path: Path):
    with pytest.raises(DataError, match=r"a\.conllu, line 1: fewer than 10 fields: not one usable row"):
        read_conllu(tmp_path, "<html>")


TREES = r"""
( (S
    (NP-SBJ (NNP Mr.) (NNP Roe) )
    (VP (VBZ owes)
      (NP (CD 1\/2) (NN cent) (-NONE- *U*) ))
    (. .) ))
( (S
    (NP-SBJ (-NONE- *-1) )
    (-LRB- -LRB-)
    (VP (VB See) )
    (-RRB- -RRB-) ))
"""


def read_treebank(folder: Path, trees: dict[int, str | bytes], **splits: list[int]) -> list[Reading]:
    """Read an archive with a README and files of trees, given by their numbers."""
    members = {f"treebank/combined/wsj_{number:04}.mrg": data for number, data in trees.items()}
    write_archive(folder / "treebank.zip", {"treebank/combined/README": "(unbalanced", **members}, "zip")
    return read_tagged("treebank", folder, splits=splits)


def test_treebank_with_escapes_and_traces(tmp_path: Path):
    train, test = read_treebank(tmp_path, {1: TREES, 2: "((NP (NN end) ))\n", 3: TREES}, train=[1, 2], test=[3, 3])
    texts = ["Mr./NNP Roe/NNP owes/VBZ 1/2/CD cent/NN ./.", "(/-LRB- See/VB )/-RRB-", "end/NN"]
    assert sentences(train) == texts
    assert {row[3:] for row in tokens(train)} == {(None, None)}
    assert tokens(test) == tokens(train)[:-1]
    assert test.table["split"].to_pylist() == ["test"] * 9


def test_treebank_sentence_with_a_bad_row(tmp_path: Path):
    (reading,) = read_treebank(tmp_path, {1: TREES.encode().replace(b"owes", b"ow\xffs")}, train=[1, 1])
    assert [row[:2] for row in tokens(reading)] == [(0, "("), (0, "See"), (0, ")")]
    assert bad_rows([reading]) == [("treebank.zip!wsj_0001.mrg", 4)]


def test_treebank_without_one_file(tmp_path: Path):
    with pytest.raises(DataError, match=r"treebank\.zip: the archive contains no wsj_0002\.mrg; remove it"):
        read_treebank(tmp_path, {1: TREES}, train=[1, 2])


def test_treebank_with_a_truncated_file(tmp_path: Path):
    with pytest.raises(DataError, match=r"wsj_0001\.mrg: 20 brackets are opened and 19 closed; remove it"):
        read_treebank(tmp_path, {1: TREES.rstrip()[:-1]}, train=[1, 1])


POS = r"""

[ Mr./NNP Roe/NNP ]
owes/VBZ 1\/2/CD
[ cent/NN|NNS ]
./. ''/''
[ No/DT ]
</SYM ./.
======================================

[ Headline/NN ]
======================================

(/( See/VB )/) !/.
"""


def wsj(tmp_path: Path, text: str, sections: range) -> Path:
    members = {f"wsj/{section:02}/wsj_{section:02}{file:02}.pos": text for section in sections for file in (0, 1)}
    return write_archive(tmp_path / "wsj-tagged.zip", members, "zip")


def test_tagged_wall_street_journal(tmp_path: Path):
    wsj(tmp_path, POS, range(25))
    train, dev, test = read(source("wsj"), tmp_path)
    first = "Mr./NNP Roe/NNP owes/VBZ 1/2/CD cent/NN ./. ''/''"
    assert sentences(dev)[:4] == [first, "No/DT </SYM ./.", "Headline/NN", "(/( See/VB )/) !/."]
    assert [len(set(each.table["sentence"].to_pylist())) for each in (train, dev, test)] == [4 * 36, 4 * 6, 4 * 6]
    assert {each.table["set"][0].as_py() for each in (train, dev, test)} == {"tags.wsj"}


def test_tagged_wall_street_journal_without_a_section(tmp_path: Path):
    wsj(tmp_path, POS, range(24))
    with pytest.raises(DataError, match=r"wsj-tagged\.zip: the archive contains no wsj_24\*\.pos"):
        list(read(source("wsj"), tmp_path))


def test_tagged_word_without_a_tag(tmp_path: Path):
    wsj(tmp_path, POS.replace("owes/VBZ", "owes"), range(25))
    assert ("wsj-tagged.zip!wsj_1900.pos", 4) in bad_rows(read(source("wsj"), tmp_path))
