"""Nearest neighbours of the papers' examples, against a search by brute force."""

import numpy as np
import pyarrow as pa
import pytest
import torch

from paraphrastic.analysis import nearest_words
from paraphrastic.analysis.artifacts import Artifacts
from paraphrastic.inference import model_folder
from paraphrastic.models import config_class, model_class
from paraphrastic.scoring.neural import TrainedEncoder
from paraphrastic.vocabulary.counting import count_entries
from tests.helpers.encoder_variants import LSTM, WORD
from tests.helpers.run_artifacts import write_corpus
from tests.helpers.small_models import CHARAGRAM_WORDS

SENTENCES = [
    "huge not unlike 2 disagree vehicles large able huge enormous possible contrary die 2nd growth growths",
    *("huge not unlike", "huge not", "died food speed not"),
]
FREQUENT = ["not", "huge", "unlike"]  # by count


def run(folder, name, block):
    """Write a corpus and a model with random weights on it."""
    write_corpus(folder, SENTENCES)
    config, generator = config_class(name)(**block | {"dim": 8}), torch.Generator().manual_seed(2)
    module = model_class(name)(config, generator)
    texts = count_entries(module.vocabulary, pa.array(SENTENCES), [2, 3])["text"].combine_chunks()
    embeddings = torch.randn(len(texts) + (module.vocabulary == "words"), 8, generator=generator)
    model_folder.write_model(
        TrainedEncoder(module, embeddings, texts), model_folder.ModelInfo(name, config.model_dump()), folder / "model"
    )
    return Artifacts(folder)


def lists(table, name):
    """Return the neighbours by query of one table."""
    return {query: part["neighbor"].tolist() for query, part in table[table["table"] == name].groupby("query")}


def naive_neighbors(vectors, query, texts, count):
    """Return (text, cosine) of the nearest texts, one text at a time."""
    cosine = {text: vectors[text] @ query / np.linalg.norm(vectors[text]) / np.linalg.norm(query) for text in texts}
    return sorted(cosine.items(), key=lambda item: -item[1])[:count]


@pytest.mark.parametrize(("name", "block"), [("avg", WORD), ("lstmavg", LSTM), ("charagram", CHARAGRAM_WORDS)])
def test_words_nearest_to_words_and_bigrams(tmp_path, name, block):
    artifacts = run(tmp_path, name, block)
    words = artifacts.word_counts["text"].tolist()
    vectors = dict(zip(words, artifacts.model.encode(words).astype(float), strict=True))
    table = nearest_words.neighbors(artifacts)
    for query, count in (("huge", 15), ("not able", 3), ("growths", 15)):
        own = "T8" if " " in query else "T9"
        rows = table[(table["table"] == f"charagram2016 {own}") & (table["query"] == query)]
        others = [word for word in words if word != query]
        expected = naive_neighbors(vectors, artifacts.model.encode([query])[0].astype(float), others, count)
        assert rows["neighbor"].tolist() == [text for text, _ in expected]
        assert rows["cosine"].tolist() == pytest.approx([cosine for _, cosine in expected], abs=0.00011)
        assert rows["rank"].tolist() == list(range(1, count + 1))


def test_queries_of_a_word_model(tmp_path):
    table = nearest_words.neighbors(run(tmp_path, "avg", WORD))
    assert list(table) == ["table", "query", "rank", "neighbor", "cosine"]
    assert {name: set(lists(table, name)) for name in table["table"]} == {
        "iclr2016 T8": {"unlike", "2", "disagree"},
        "charagram2016 T8": {"not able", "not possible"},
        "charagram2016 T9": {"huge", "growths"},
    }


def test_unknown_words_of_a_model_that_reads_ngrams(tmp_path):
    found = lists(nearest_words.neighbors(run(tmp_path, "charagram", CHARAGRAM_WORDS)), "charagram2016 T9")
    assert {"vehicals", "babyyyyyy", "serious-looking"} <= set(found)
    assert len(found) == 11
    artifacts = run(tmp_path, "avg", WORD)
    write_corpus(tmp_path, [*SENTENCES, "unread words"])
    neighbor = set(nearest_words.neighbors(artifacts)["neighbor"])
    assert {"huge", "enormous"} <= neighbor
    assert neighbor.isdisjoint({"unread", "words"})


def test_most_frequent_words_only(tmp_path, monkeypatch):
    assert nearest_words.AMONG_WORDS["iclr2016", "T8"] == 10_000
    monkeypatch.setitem(nearest_words.AMONG_WORDS, ("iclr2016", "T8"), 3)
    table = nearest_words.neighbors(run(tmp_path, "avg", WORD))
    found = lists(table, "iclr2016 T8")
    assert set(found["2"]) == set(FREQUENT)
    assert set(found["unlike"]) == {"not", "huge"}
    assert len(lists(table, "charagram2016 T9")["huge"]) == 15


@pytest.mark.parametrize("words", [True, False])
def test_ngrams_nearest_to_ngrams(tmp_path, words):
    artifacts = run(tmp_path, "charagram", CHARAGRAM_WORDS | {"words": words, "bigrams": 2 if words else None})
    table = nearest_words.neighbors(artifacts)
    vectors = dict(zip(artifacts.model.vocabulary.to_pylist(), artifacts.model.embeddings().astype(float), strict=True))
    found = lists(table, "charagram2016 T10")
    assert set(found) == {"die", "foo", "pee", "_2"}  # `aiv` and `ngu` are no n-grams of the corpus
    entries_of_words = {f" {word} " for text in SENTENCES for word in text.split()} if words else set()
    for query, nearest in found.items():
        text = query.replace("_", " ")
        others = set(vectors) - entries_of_words - {text}
        expected = [each.replace(" ", "_") for each, _ in naive_neighbors(vectors, vectors[text], others, 10)]
        assert nearest == expected
