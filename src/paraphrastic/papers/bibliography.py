"""The papers: authors, title, venue and address."""

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Paper:
    """A paper.

    Attributes:
        authors: their last names.
        title: its title.
        venue: where and when it appeared.
        url: its address.
    """

    authors: str
    title: str
    venue: str
    url: str


_KINDS = {"T": "Table", "F": "Figure", "S": "Section"}

PAPERS = {
    "iclr2016": Paper(
        "Wieting, Bansal, Gimpel and Livescu",
        "Towards Universal Paraphrastic Sentence Embeddings",
        "ICLR 2016",
        "https://arxiv.org/abs/1511.08198",
    ),
    "charagram2016": Paper(
        "Wieting, Bansal, Gimpel and Livescu",
        "Charagram: Embedding Words and Sentences via Character n-grams",
        "EMNLP 2016",
        "https://arxiv.org/abs/1607.02789",
    ),
    "acl2017": Paper(
        "Wieting and Gimpel",
        "Revisiting Recurrent Networks for Paraphrastic Sentence Embeddings",
        "ACL 2017",
        "https://arxiv.org/abs/1705.00364",
    ),
    "ldc2016": Paper(
        "Wang, Mi and Ittycheriah",
        "Sentence Similarity Learning by Lexical Decomposition and Composition",
        "COLING 2016",
        "https://arxiv.org/abs/1602.07019",
    ),
}


def place(table: str) -> str:
    """Return the name of a part of a paper: `Table 2` for `T2`, `Figure 1` for `F1`, `Section 5.1`, `Appendix B`.

    Tables that are not of a paper keep their name.
    """
    kind, number = table[0], table[1:]
    if re.fullmatch("S[A-Z]", table):
        return f"Appendix {number}"
    return f"{_KINDS[kind]} {number}" if re.fullmatch(r"[TFS]\d[\d.]*", table) else table
