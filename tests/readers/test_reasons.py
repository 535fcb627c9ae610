"""The reason why a row is left out, for each reason that a reader gives, beside a row that is usable."""

import pytest

from tests.helpers.raw_files import read_files

NODE = "{}\t{}\t_\tX\t{}\t_\t{}\troot\t_\t_\n"
IT = NODE.format(1, "It", "PRP", 0) + "\n"
TAGS = {"set": "tags", "splits": {"a.txt": "dev"}}
WORDS = {"kind": "similarity", "columns": ["text1", "text2", "score"], "scale": [0, 10], "sets": {"a.txt": "words.x"}}
LABELLED = {"kind": "labelled_sentences", "columns": ["text1", "label"], "set": "sst", "splits": {"a.txt": "dev"}}
QUESTIONS = {"set": "trec", "classes": ["HUM"], "splits": {"a.txt": "train"}}
WIKIQA = "QuestionID\tQuestion\tDocumentID\tDocumentTitle\tSentenceID\tSentence\tLabel\n"
WIKIQA += "Q\tq\tD1\tT\tD1-0\ta\t0\nQ\tq\tD1\tT\tD7-1\tb\t1\n"
SIMPWIKI = {"normal.aligned": "T\ta\nb\n", "simple.aligned": "T\tc\nT\td\n"}
WSJ = {"archive": "w.zip", "set": "tags", "splits": {"train": [0, 0]}}
TREC = "<QApairs id='1'>\n<question>\nq\n</question>\n<positive>\na\n</positive>\n{}</QApairs>\n"

CASES = [
    ("lexicon", {}, "a b\nc \x1d d\n", "a word is blank"),
    ("lexicon", {}, "a b\nalone\n", "a word without neighbours"),
    ("onestop", {}, "a\nb\n***\nc\n***\n", "not two sentences and a line of asterisks"),
    ("conllu", TAGS, IT + NODE.format("two", "x", "NN", 0), "not a whole number"),
    ("conllu", TAGS, IT + NODE.format(1, "x", "_", 0), "no tag"),
    ("conllu", TAGS, IT + NODE.format(2, "x", "NN", 0), "tokens are not numbered 1, 2, …"),
    ("conllu", TAGS, IT + NODE.format(1, "x", "NN", 2), "a head outside the sentence"),
    ("trecqa", {"splits": {"a.txt": "train"}}, TREC.format("<negative>\n</negative>\n"), "no tokens below the tag"),
    ("columns", WORDS, "a\tb\t1\na\tb\tx\n", "not a number"),
    ("columns", WORDS, "a\tb\t10\na\tb\t10.5\n", "a number outside 0 to 10"),
    ("columns", LABELLED, "a\t0\nb\t2\n", "a label other than 0, 1"),
    ("trec", QUESTIONS, "HUM:ind Who ?\nWho ?\n", "no CLASS:subclass before a text"),
    ("wikisplit", {}, {"a.tsv": "A\tA . <::::> B .\nA\tno mark\n"}, "no <::::>"),
    ("simpwiki", {}, {"s.tar.gz": SIMPWIKI}, "fewer than 2 fields"),
    ("treebank-tagged", WSJ, {"w.zip": {"wsj_0000.pos": "a/DT ./.\n\nb ./.\n"}}, "a word without a tag"),
    (
        "wikiqa-corpus",
        {"archive": "q.zip", "splits": {"q.tsv": "dev"}},
        {"q.zip": {"q.tsv": WIKIQA}},
        "the sentence id does not begin with the document id",
    ),
]


@pytest.mark.parametrize(
    ("reader", "options", "text", "reason"), CASES, ids=[f"{case[0]}-{n}" for n, case in enumerate(CASES)]
)
def test_reason(tmp_path, reader, options, text, reason):
    readings = read_files(reader, tmp_path, text if isinstance(text, dict) else {"a.txt": text}, **options)
    assert {row.why for reading in readings for row in reading.bad} == {reason}
