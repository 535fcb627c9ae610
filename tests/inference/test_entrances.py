"""Everything that takes texts or vectors of users refuses the same ones."""

import pytest

from paraphrastic.analysis.explain import explain
from paraphrastic.base.errors import ParameterError
from tests.helpers.toy_training import SENTENCES

LINES = SENTENCES.to_pylist()[:3]

ENTRANCES = {
    "encode": lambda model, texts: model.encode(texts),
    "encode_query": lambda model, texts: model.encode_query(texts),
    "encode_document": lambda model, texts: model.encode_document(texts),
    "unknown": lambda model, texts: model.unknown(texts),
    "similarity": lambda model, texts: model.similarity(LINES, texts),
    "similarity of pairs": lambda model, texts: model.similarity_pairwise(texts, LINES),
    "transform": lambda model, texts: model.transform(texts),
    "explain": lambda model, texts: explain(model, LINES[0], texts),
}


@pytest.mark.parametrize("texts", [{"text": LINES}, [None], [{"text": "a"}], None], ids=repr)
@pytest.mark.parametrize("entrance", ENTRANCES)
def test_texts_that_are_none(avg, entrance, texts):
    with pytest.raises(ParameterError, match=r"expected str|where texts are expected") as caught:
        ENTRANCES[entrance](avg, texts)
    assert "\n" not in str(caught.value)


def test_texts_of_sentence_transformers(avg):
    pytest.importorskip("sentence_transformers", reason="needs the extra `external`")
    from paraphrastic.export.sentence_transformers import load

    with pytest.raises(ParameterError, match=r"is of type int, expected str"):
        load(avg.folder)[0].preprocess(["a", 1], "query: ")


def test_batches_of_texts_of_mteb(avg):
    batches = [{"text": LINES[:2], "title": ["", ""]}, {"text": LINES[2:]}]
    assert avg.encode(batches, task_metadata="Toy").tolist() == avg.encode(LINES).tolist()
    with pytest.raises(ParameterError, match=r"sentences\[0\] is of type dict"):
        avg.encode(batches)
