"""Dependency trees: nodes, tokens, text, and misspellings of words.

Tags are those of the Penn Treebank, relations those of Universal Dependencies.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple


class Token(NamedTuple):
    """A token of a sentence.

    Attributes:
        form: its text.
        tag: its part of speech.
        head: 1-based position of its head, 0 for the root.
        relation: its relation to the head.
    """

    form: str
    tag: str
    head: int
    relation: str


@dataclass(slots=True)
class Node:
    """A word of a dependency tree.

    Attributes:
        form: its text.
        tag: its part of speech.
        relation: its relation to its head.
        left: the dependents before it.
        right: the dependents after it.
    """

    form: str
    tag: str
    relation: str
    left: list["Node"] = field(default_factory=list)
    right: list["Node"] = field(default_factory=list)

    def walk(self, head: "Node | None" = None) -> Iterator[tuple["Node", "Node | None"]]:
        """Yield all nodes of the tree in reading order, each with its head."""
        for dependent in self.left:
            yield from dependent.walk(self)
        yield self, head
        for dependent in self.right:
            yield from dependent.walk(self)


_CLOSED_CLASS_TAGS = {
    **dict.fromkeys(("on", "at", "in", "by", "with", "for", "from", "of", "about"), "IN"),
    **dict.fromkeys(("the", "a", "every", "each", "this"), "DT"),
    **dict.fromkeys(("daily", "weekly"), "RB"),
    "to": "TO",
    "last": "JJ",
}
_RELATIONS = {"IN": "case", "TO": "case", "DT": "det", "JJ": "amod"}


def closed_class_node(form: str) -> Node:
    """Return a node for a preposition, determiner or adjective that stands before a noun."""
    tag = _CLOSED_CLASS_TAGS[form]
    return Node(form, tag, _RELATIONS[tag])


def comma() -> Node:
    """Return a comma."""
    return Node(",", ",", "punct")


def phrase(words: Sequence[str], relation: str) -> Node:
    """Return a phrase: its last word, a noun, name or adverb, with the closed-class words before it as dependents."""
    last = words[-1]
    tag = _CLOSED_CLASS_TAGS.get(last) or ("NNP" if last[0].isupper() else "NN")
    return Node(last, tag, relation, [closed_class_node(form) for form in words[:-1]])


def adverbial(words: Sequence[str]) -> Node:
    """Return a phrase of place or time that modifies a verb; its relation depends on its first and last words."""
    node = phrase(words, "advmod")
    if node.tag != "RB":
        node.relation = "obl" if _CLOSED_CLASS_TAGS.get(words[0]) == "IN" else "obl:tmod"
    return node


def linearize(root: Node) -> list[Token]:
    """Return the tokens of a tree in reading order."""
    nodes = list(root.walk())
    positions = {id(node): position for position, (node, _) in enumerate(nodes, start=1)}
    return [Token(node.form, node.tag, positions.get(id(head), 0), node.relation) for node, head in nodes]


def detokenize(sentence: Sequence[Token]) -> str:
    """Return the text of a sentence, without spaces before punctuation, n't and 's."""
    return re.sub(r" (?=[,.?]|n't\b|'s\b)", "", " ".join(token.form for token in sentence))


def misspellings(form: str) -> list[str]:
    """Return the word with two letters exchanged, one omitted or one doubled, each result once.

    The first and the last letter stay in place.
    """
    exchanged = [form[:i] + form[i + 1] + form[i] + form[i + 2 :] for i in range(1, len(form) - 2)]
    omitted = [form[:i] + form[i + 1 :] for i in range(1, len(form) - 1)]
    doubled = [form[: i + 1] + form[i:] for i in range(1, len(form) - 1)]
    return [misspelled for misspelled in dict.fromkeys(exchanged + omitted + doubled) if misspelled != form]
