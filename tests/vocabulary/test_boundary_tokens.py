"""Boundary tokens around sentences of words: acl2017 §4.1.2, note 4."""

import pyarrow as pa
import pytest

from paraphrastic.vocabulary.words import END, START, WordVocabulary, add_boundary_tokens, boundary_widths

SENTENCES = pa.array(["a b", "", "c"])


@pytest.mark.parametrize(
    ("boundary_tokens", "enclosed", "widths"),
    [
        ("none", ["a b", "", "c"], (0, 0)),
        ("start", [f"{START} a b", "", f"{START} c"], (1, 0)),
        ("end", [f"a b {END}", "", f"c {END}"], (0, 1)),
        ("both", [f"{START} a b {END}", "", f"{START} c {END}"], (1, 1)),
    ],
)
def test_enclosed_sentences(boundary_tokens, enclosed, widths):
    assert add_boundary_tokens(SENTENCES, boundary_tokens).to_pylist() == enclosed
    assert boundary_widths(boundary_tokens) == widths


def test_ids_and_oov_share_with_end_token():
    vocabulary = WordVocabulary(pa.array(["a", "b", END]), "end")
    assert vocabulary.lookup(SENTENCES).ids.tolist() == [1, 2, 3, 0, 3]
    assert vocabulary.oov_share(SENTENCES).tolist() == [0, 0, 1]
