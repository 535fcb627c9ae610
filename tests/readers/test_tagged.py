"""Readers of tagged tokens, on small files in the format of each source."""

from collections import defaultdict

import pytest

from paraphrastic.base.errors import DataError
from tests.helpers.raw_files import bad_rows, read_files, read_source, rows


def tokens(reading):
    """Return the columns after set and split."""
    return [row[2:] for row in rows([reading])]


def sentences(reading):
    """Return sentences like `It/PRP rained/VBD`, which must be numbered from 0."""
    words = defaultdict(list)
    for number, token, tag, *_ in tokens(reading):
        words[number].append(f"{token}/{tag}")
    assert list(words) == list(range(len(words)))
    return [" ".join(each) for each in words.values()]


def node(number, token, tag="NN", head="0", relation="root"):
    """Return a line in CoNLL-U format."""
    return f"{number}\t{token}\t_\tX\t{tag}\t_\t{head}\t{relation}\t_\t_\n"


def read_conllu(folder, *sentences):
    text = "".join(f"{sentence}\n" for sentence in sentences)
    (reading,) = read_files("conllu", folder, {"a.conllu": text}, set="tags", splits={"a.conllu": "dev"})
    assert reading.kind == "tagged_tokens"
    return reading


IT_RAINED = node("1", "It", "PRP", "2", "nsubj") + node("2", "rained", "VBD") + node("3", ".", ".", "2", "punct")
MULTIWORD_TOKEN = (
    "# sent_id = 1\n# text = do n't\n"
    + node("1-2", "don't", "_", "_", "_")
    + node("1", "do", "VBP")
    + node("2", "n't", "RB", "1", "advmod")
    + node("2.1", "gone", "VB", "_", "_")
)


def test_conllu_with_multiword_token_and_empty_node(tmp_path):
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


def test_conllu_with_unusual_tokens_and_without_heads(tmp_path):
    texts = ["#", "_", "a\xa0b", '"', "1-2"]
    sentence = "".join(node(str(i), text, "SYM", "_", "_") for i, text in enumerate(texts, 1))
    assert tokens(read_conllu(tmp_path, sentence)) == [(0, text, "SYM", None, None) for text in texts]


BAD_LINES = ["2\tcut\t_\n", node("two", "x"), node("4", "x"), node("2", "x\0"), node("2", "x", tag="_")]
BAD_LINES += [node("2", "x", head=head) for head in ("two", "-1", "3")]


@pytest.mark.parametrize("bad_line", BAD_LINES)
def test_conllu_sentence_with_a_bad_row(tmp_path, bad_line):
    reading = read_conllu(tmp_path, MULTIWORD_TOKEN, node("1", "y", head="2") + bad_line, IT_RAINED)
    assert [row[:2] for row in tokens(reading)] == [(0, "do"), (0, "n't"), (1, "It"), (1, "rained"), (1, ".")]
    assert bad_rows([reading]) == [("a.conllu", 9)]


def test_conllu_file_of_another_format(tmp_path):
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


def read_treebank(folder, trees, **splits):
    """Read an archive with a README and files of trees, given by their numbers."""
    members = {f"treebank/combined/wsj_{number:04}.mrg": data for number, data in trees.items()}
    files = {"treebank.zip": {"treebank/combined/README": "(unbalanced", **members}}
    readings = read_files("treebank", folder, files, set="tags", splits=splits)
    assert all(reading.kind == "tagged_tokens" for reading in readings)
    return readings


def test_treebank_with_escapes_and_traces(tmp_path):
    train, test = read_treebank(tmp_path, {1: TREES, 2: "((NP (NN end) ))\n", 3: TREES}, train=[1, 2], test=[3, 3])
    texts = ["Mr./NNP Roe/NNP owes/VBZ 1/2/CD cent/NN ./.", "(/-LRB- See/VB )/-RRB-", "end/NN"]
    assert sentences(train) == texts
    assert {row[3:] for row in tokens(train)} == {(None, None)}
    assert tokens(test) == tokens(train)[:-1]
    assert test.table["split"].to_pylist() == ["test"] * 9


def test_treebank_sentence_with_a_bad_row(tmp_path):
    (reading,) = read_treebank(tmp_path, {1: TREES.encode().replace(b"owes", b"ow\xffs")}, train=[1, 1])
    assert [row[:2] for row in tokens(reading)] == [(0, "("), (0, "See"), (0, ")")]
    assert bad_rows([reading]) == [("treebank.zip!wsj_0001.mrg", 4)]


@pytest.mark.parametrize(
    ("text", "last", "message"),
    [
        (TREES, 2, r"treebank\.zip: the archive contains no wsj_0002\.mrg; remove it"),
        (TREES.rstrip()[:-1], 1, r"wsj_0001\.mrg: 20 brackets are opened and 19 closed; remove it"),
    ],
)
def test_treebank_without_one_file_or_bracket(tmp_path, text, last, message):
    with pytest.raises(DataError, match=message):
        read_treebank(tmp_path, {1: text}, train=[1, last])


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


def read_wsj(folder, text, sections):
    members = {f"wsj/{section:02}/wsj_{section:02}{file:02}.pos": text for section in sections for file in (0, 1)}
    return read_source("wsj", folder, {"wsj-tagged.zip": members})


def test_tagged_wall_street_journal(tmp_path):
    train, dev, test = read_wsj(tmp_path, POS, range(25))
    first = "Mr./NNP Roe/NNP owes/VBZ 1/2/CD cent/NN ./. ''/''"
    assert sentences(dev)[:4] == [first, "No/DT </SYM ./.", "Headline/NN", "(/( See/VB )/) !/."]
    assert [len(set(each.table["sentence"].to_pylist())) for each in (train, dev, test)] == [4 * 36, 4 * 6, 4 * 6]
    assert {each.table["set"][0].as_py() for each in (train, dev, test)} == {"tags.wsj"}


def test_tagged_wall_street_journal_without_a_section_or_a_tag(tmp_path):
    with pytest.raises(DataError, match=r"wsj-tagged\.zip: the archive contains no wsj_24\*\.pos"):
        read_wsj(tmp_path, POS, range(24))
    assert ("wsj-tagged.zip!wsj_1900.pos", 4) in bad_rows(read_wsj(tmp_path, POS.replace("s/VBZ", "s"), range(25)))
