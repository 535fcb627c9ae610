import pyarrow as pa
import pytest

from paraphrastic.vocabulary.characters import CharacterVocabulary
from paraphrastic.vocabulary.kinds import build_vocabulary
from paraphrastic.vocabulary.ngrams import NgramVocabulary
from paraphrastic.vocabulary.words import WordVocabulary
from paraphrastic.vocabulary.words_and_ngrams import WordNgramVocabulary
from tests.helpers.ragged_lists import id_lists


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("words", WordVocabulary),
        ("ngrams", NgramVocabulary),
        ("words+ngrams", WordNgramVocabulary),
        ("characters", CharacterVocabulary),
    ],
)
def test_vocabulary_of_each_kind(kind, expected):
    vocabulary = build_vocabulary(kind, pa.array(["a", "b"]))
    assert type(vocabulary) is expected
    assert len(vocabulary) == 2


def test_vocabulary_of_words_with_boundary_tokens():
    vocabulary = build_vocabulary("words", pa.array(["a", "<s>"]), "start")
    assert id_lists(vocabulary.lookup(pa.array(["a"]))) == [[2, 1]]
