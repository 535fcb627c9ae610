"""What is exported, read by those that it is for."""

from json import dumps

import numpy as np
import pyarrow as pa
import pytest
from safetensors.numpy import load_file
from tokenizers import Tokenizer

import paraphrastic
from paraphrastic import models
from paraphrastic.errors import ModelError
from paraphrastic.inference.export import to_sentence_transformers, to_word2vec, tokenizer_json
from paraphrastic.text.tokenizer import tokenize
from paraphrastic.vocabulary.pretrained import read_vectors
from tests.test_encoders import LSTM, TRAINED, WORD
from tests.test_training import SENTENCES, prepare

RAW = ["The abc isn't here -- it's 3,000 AT&T fans!", "Twenty-one `` quoted '' words , unknown ...", "again"]


def saved(folder, name, block, **changes):
    model, _, config = prepare(name, block, **changes)
    models.save(model, name, config, folder)
    return paraphrastic.load(folder)


@pytest.fixture
def averages(tmp_path):
    return saved(tmp_path / "model", "avg", WORD)


def test_sentence_transformers_gives_the_same_vectors(averages, tmp_path):
    library = pytest.importorskip("sentence_transformers", reason="needs the extra `external`")
    to_sentence_transformers(averages, tmp_path / "out")
    texts = [*SENTENCES.to_pylist(), "again unknown words", "xyzzy"]
    theirs = library.SentenceTransformer(str(tmp_path / "out"), device="cpu").encode(texts)
    np.testing.assert_allclose(theirs, averages.scorer.encode(pa.array(texts)), atol=1e-5)


def test_means_of_the_rows_that_its_tokenizer_names_are_the_same_vectors(averages, tmp_path):
    # what sentence-transformers does with the folder, where it is not installed
    to_sentence_transformers(averages, tmp_path / "out")
    rows = load_file(tmp_path / "out/model.safetensors")["embedding.weight"]
    texts = [*SENTENCES.to_pylist(), "again unknown words", "xyzzy"]
    cut = Tokenizer.from_file(str(tmp_path / "out/tokenizer.json")).encode_batch(texts)
    theirs = [rows[each.ids].mean(axis=0) for each in cut]
    np.testing.assert_allclose(theirs, averages.scorer.encode(pa.array(texts)), atol=1e-5)


def test_an_export_that_fails_leaves_nothing(averages, tmp_path, monkeypatch):
    monkeypatch.setattr("paraphrastic.inference.export.save_file", full_disk)
    with pytest.raises(OSError, match="No space"):
        to_sentence_transformers(averages, tmp_path / "out")
    assert [file.name for file in tmp_path.iterdir()] == ["model"]


def full_disk(*arguments):
    raise OSError(28, "No space left on device")


def test_its_tokenizer_cuts_as_ours_where_one_pattern_can():
    ours = tokenize(pa.array(RAW)).to_pylist()
    words = sorted({word for text in ours for word in text.split()})
    theirs = Tokenizer.from_str(dumps(tokenizer_json({"[UNK]": 0} | {w: i for i, w in enumerate(words, 1)}, "[UNK]")))
    assert [" ".join(each.tokens) for each in theirs.encode_batch(RAW)] == ours


def test_word2vec_text_is_read_back(averages, tmp_path):
    to_word2vec(averages, tmp_path / "v.txt")
    words, vectors = read_vectors(tmp_path / "v.txt", 8)
    assert words.equals(averages.scorer.texts)
    np.testing.assert_array_equal(vectors, averages.scorer.table[1:].numpy())


@pytest.mark.parametrize(
    ("name", "block", "changes"),
    [("lstmavg", LSTM, {}), ("avg", WORD, {"tags": "both"})],
)
def test_what_is_no_average_is_refused(tmp_path, name, block, changes):
    with pytest.raises(ModelError, match="no plain average of word vectors"):
        to_sentence_transformers(saved(tmp_path / "model", name, block, **changes), tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_model_of_characters_has_no_word_vectors(tmp_path):
    block = TRAINED | {"words": False, "counts": "sqrt", "layers": 1, "activation": "linear"}
    with pytest.raises(ModelError, match="has no word vectors"):
        to_word2vec(saved(tmp_path / "model", "charagram", block), tmp_path / "v.txt")


def test_nothing_is_overwritten(averages, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine").touch()
    with pytest.raises(ModelError, match="holds something already"):
        to_sentence_transformers(averages, tmp_path / "out")
