"""Static encoders against their equation in plain NumPy, and against the torch models that they replace."""

import itertools
from itertools import product
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from paraphrastic.base.errors import ModelError
from paraphrastic.inference import model_folder
from paraphrastic.nn.static_form import StaticForm
from paraphrastic.scoring import TABLE_FORMATS, static
from paraphrastic.scoring.scorer import EmbeddingScorer, VectorScorer
from paraphrastic.scoring.static import EmbeddingTable, StaticEncoder
from tests.helpers.encoder_variants import CHARAGRAM, WORD
from tests.helpers.pair_scores import all_pairs, cosines
from tests.helpers.toy_training import SENTENCES as TOY_SENTENCES
from tests.helpers.toy_training import prepare

DIM = 3
SENTENCES = pa.array(["a b a", "", "c", "a unknown b b", "ab a"])
TEXTS = {"words": ["a", "b"], "ngrams": ["a", " b", "b "], "words+ngrams": ["a", " b", " b ", "b "]}
ACTIVATIONS = {"linear": lambda x: x, "tanh": np.tanh, "relu": lambda x: np.maximum(x, 0)}


def random_arrays(rows: int, *names: str) -> dict[str, np.ndarray]:
    """Return `embeddings` (rows, DIM) and the arrays `names` of random numbers."""
    rng = np.random.default_rng(0)
    shapes = {"bias": (DIM,), "dense.W": (DIM, DIM), "dense.b": (DIM,)}
    arrays = {name: rng.normal(size=shapes[name]).astype(np.float32) for name in names}
    return {"embeddings": rng.normal(size=(rows, DIM)).astype(np.float32), **arrays}


def static_encoder(form: StaticForm, *names: str) -> StaticEncoder:
    """Return an encoder with random weights for the vocabulary TEXTS of its kind."""
    texts = TEXTS[form.vocabulary]
    return StaticEncoder(form, pa.array(texts), random_arrays(len(texts) + (form.vocabulary == "words"), *names))


def entries(kind: str, boundary_tokens: str, sentence: str) -> list[str | None]:
    """Return the entries of TEXTS in a sentence, with repetitions; None for an unknown word."""
    words = sentence.split()
    if words and boundary_tokens in ("start", "both"):
        words = ["<s>", *words]
    if words and boundary_tokens in ("end", "both"):
        words = [*words, "</s>"]
    if kind == "words":
        return [word if word in TEXTS[kind] else None for word in words]
    padded = f" {sentence} "
    windows = [padded[i : i + n] for n in (1, 2) for i in range(len(padded) - n + 1)]
    spaced = [f" {word} " for word in words] if kind == "words+ngrams" else []
    return [text for text in windows + spaced if text in TEXTS[kind]]


def naive_vector(encoder: StaticEncoder, sentence: str) -> np.ndarray:
    """Return the vector of a sentence, entry by entry."""
    form, arrays = encoder.form, {name: array.astype(np.float64) for name, array in encoder.arrays.items()}
    rows = {None: 0} if form.vocabulary == "words" else {}
    rows |= {text: row for row, text in enumerate(TEXTS[form.vocabulary], len(rows))}
    tokens = entries(form.vocabulary, form.boundary_tokens, sentence)
    weight = {text: tokens.count(text) for text in tokens}
    if form.counts == "sqrt":
        weight = {text: count**0.5 for text, count in weight.items()}
    total = sum((count * arrays["embeddings"][rows[text]] for text, count in weight.items()), np.zeros(DIM))
    vector = total / max(len(tokens), 1) if form.pooling == "mean" else total
    if "bias" in arrays:
        vector = ACTIVATIONS[form.activation](vector + arrays["bias"])
    if "dense.W" in arrays:
        vector = ACTIVATIONS[form.activation](vector @ arrays["dense.W"] + arrays["dense.b"])
    for direction in arrays.get("directions", ()):
        vector = vector - (vector @ direction) * direction
    return vector


def assert_equals_equation(encoder: StaticEncoder) -> None:
    expected = np.array([naive_vector(encoder, sentence) for sentence in SENTENCES.to_pylist()])
    vectors = encoder.encode(SENTENCES)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(vectors, expected, atol=1e-5)
    scores = encoder.score(SENTENCES, *all_pairs(SENTENCES))
    np.testing.assert_allclose(scores, cosines(expected), atol=1e-5)


@pytest.mark.parametrize("boundary_tokens", ["none", "start", "end", "both"])
def test_mean_of_words(boundary_tokens):
    assert_equals_equation(static_encoder(StaticForm("words", "mean", boundary_tokens)))


@pytest.mark.parametrize(
    ("kind", "counts", "activation"),
    list(product(["ngrams", "words+ngrams"], ["linear", "sqrt"], ["linear", "tanh", "relu"])),
)
@pytest.mark.parametrize("layers", [1, 2])
def test_sum_of_ngrams(kind, counts, activation, layers):
    form = StaticForm(kind, "sum", counts=counts, activation=activation)
    assert_equals_equation(static_encoder(form, *["bias", "dense.W", "dense.b"][: 2 * layers - 1]))


@pytest.mark.parametrize("count", [0, 1, 2])
def test_removed_directions(count):
    encoder = static_encoder(StaticForm("words", "mean"))
    directions = np.linalg.qr(np.random.default_rng(1).normal(size=(DIM, DIM)))[0][:count].astype(np.float32)
    reduced = StaticEncoder(encoder.form, encoder.texts, encoder.arrays | {"directions": directions})
    assert_equals_equation(reduced)
    np.testing.assert_allclose(reduced.encode(SENTENCES) @ directions.T, 0, atol=1e-6)


def test_protocols_and_shares():
    words = static_encoder(StaticForm("words", "mean"))
    assert words.encode(pa.array([], pa.string())).shape == (0, DIM)
    assert words.oov_share(SENTENCES).tolist() == [0, 0, 1, 0.25, 0.5]
    encoder = static_encoder(StaticForm("ngrams", "sum"))
    assert isinstance(encoder, VectorScorer)
    assert isinstance(encoder, EmbeddingScorer)
    assert encoder.vocabulary_kind == "ngrams"
    assert encoder.embedding_array() is encoder.arrays["embeddings"]
    assert len(encoder.table) == len(encoder.texts)


@pytest.mark.parametrize(
    ("name", "block"),
    [
        ("avg", WORD),
        ("avg", WORD | {"boundary_tokens": "both"}),
        ("charagram", CHARAGRAM),
        ("charagram", CHARAGRAM | {"num_layers": 2, "counts": "linear", "activation": "relu"}),
        ("charagram", CHARAGRAM | {"words": True}),
    ],
)
def test_vectors_against_torch_model(tmp_path, name, block):
    trained, _, config = prepare(name, block)
    for parameter in trained.module.parameters():  # biases start at zero, which would hide their terms
        parameter.data.normal_()
    model_folder.write_model(trained, model_folder.ModelInfo(name, config.model_dump()), tmp_path)
    static = model_folder.load_scorer(tmp_path)
    assert isinstance(static, StaticEncoder)
    sentences = pa.concat_arrays([TOY_SENTENCES, pa.array(["", "日本", "again again again xyzzy"])])
    np.testing.assert_allclose(static.encode(sentences), trained.encode(sentences), atol=1e-5)
    np.testing.assert_allclose(static.oov_share(sentences), trained.oov_share(sentences))
    np.testing.assert_array_equal(static.embedding_array(), trained.embedding_array())


def load(encoder: StaticEncoder, folder: Path, **change: object) -> StaticEncoder:
    """Return an encoder after it was saved, with a change of its form."""
    form = encoder.save(folder)["scorer"] | change
    return StaticEncoder.load(folder, {key: value for key, value in form.items() if key != "kind"})


@pytest.mark.parametrize(
    ("arrays", "form"),
    [({}, {}), ({"embeddings": random_arrays(2)["embeddings"]}, {}), (random_arrays(3), {"vocabulary": "ngrams"})],
    ids=["no-embeddings", "too-few-embeddings", "other-kind-of-vocabulary"],
)
def test_weights_of_another_model(tmp_path: Path, arrays, form):
    encoder = static_encoder(StaticForm("words", "mean"))
    encoder.arrays = arrays
    with pytest.raises(ModelError, match=r"weights\.safetensors: not the weights of this model; train it again"):
        load(encoder, tmp_path, **form)


@pytest.mark.parametrize("change", [{"layers": 3}, {"pooling": "max"}, {"vocabulary": "letters"}])
def test_configuration_of_another_model(tmp_path: Path, change):
    with pytest.raises(ModelError, match=r"config\.json: not the configuration of a model; train the model again"):
        load(static_encoder(StaticForm("words", "mean")), tmp_path, **change)


@pytest.mark.parametrize("kind", TEXTS)
def test_vectors_of_parts_that_threads_encode(monkeypatch, kind):
    encoder = static_encoder(StaticForm(kind, "sum"), "bias")
    sentences = pa.concat_arrays([SENTENCES] * 20)
    vectors, known = encoder.encode_known(sentences)
    monkeypatch.setattr(static, "_PART", 16)
    parts = encoder.encode_known(sentences)
    np.testing.assert_array_equal(parts[0], vectors)
    np.testing.assert_array_equal(parts[1], known)


RANDOM = np.random.default_rng(1)
VALUES = RANDOM.normal(size=(50, 17)).astype(np.float32) * 10.0 ** RANDOM.integers(-3, 3, (50, 1)).astype(np.float32)
IDS, OFFSETS = RANDOM.integers(0, 50, 200), np.array([0, 0, 7, 7, 120, 200])
WEIGHTS = RANDOM.random(200).astype(np.float32)


@pytest.mark.parametrize("table_format", TABLE_FORMATS)
def test_sums_of_rows(table_format):
    table = EmbeddingTable(VALUES).in_format(table_format)
    rows = table.values.astype(np.float64)[IDS] * WEIGHTS[:, None]
    if table.scales is not None:
        rows *= table.scales.astype(np.float64)[IDS, None]
    wanted = [rows[start:end].sum(0) for start, end in itertools.pairwise(OFFSETS)]
    found = table.sums(IDS, OFFSETS, WEIGHTS)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-3)


def test_every_finite_half_number():
    halves = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    halves = halves[np.isfinite(halves)].reshape(-1, 2)
    sums = EmbeddingTable(halves).sums(np.arange(len(halves)), np.arange(len(halves) + 1), np.ones(len(halves), "f4"))
    np.testing.assert_array_equal(sums, halves.astype(np.float32))


@pytest.mark.parametrize(("table_format", "largest"), [("int8", 127), ("int4", 7)])
def test_integers_are_within_half_a_step_of_each_number(table_format, largest):
    table = EmbeddingTable(VALUES).in_format(table_format)
    step = np.abs(VALUES).max(1, keepdims=True) / largest
    assert (np.abs(table.array() - VALUES) <= 0.5001 * step).all()
    assert np.abs(table.values.astype(int)).max(1).tolist() == [largest] * 50


@pytest.mark.parametrize("dim", [16, 17])
def test_int4_takes_half_a_byte_per_number(dim):
    table = EmbeddingTable(VALUES[:, :dim]).in_format("int4")
    arrays = table.arrays()
    assert (arrays["embeddings"].dtype, arrays["embeddings"].shape) == (np.uint8, (50, (dim + 1) // 2))
    read = EmbeddingTable.of(arrays)
    assert read.format == "int4"
    np.testing.assert_array_equal(read.values, table.values)


@pytest.mark.parametrize(("table_format", "bits", "error"), [("int3", 3, 0.0374), ("int2", 2, 0.1188)])
@pytest.mark.parametrize("dim", [16, 17])
def test_odd_integers_of_few_bits(table_format, bits, error, dim):
    table = EmbeddingTable(VALUES[:, :dim]).in_format(table_format)
    arrays = table.arrays()
    assert set(np.unique(table.values)) == set(range(1 - 2**bits, 2**bits, 2))
    assert (arrays["embeddings"].dtype, arrays["embeddings"].shape) == (np.uint8, (bits, 50, -(-dim // 8)))
    read = EmbeddingTable.of(arrays)
    assert (read.format, read.arrays().keys()) == (table_format, arrays.keys())
    np.testing.assert_array_equal(read.values, table.values)
    normal = np.random.default_rng(2).normal(size=(20, 3000)).astype(np.float32)
    errors = EmbeddingTable(normal).in_format(table_format).array() - normal
    assert np.square(errors).mean() == pytest.approx(error, rel=0.02)  # Max (1960), Table II


def test_numbers_of_few_bits_that_are_no_table():
    arrays = EmbeddingTable(VALUES).in_format("int3").arrays()
    for dim in (16, 25, -1):
        with pytest.raises(ValueError, match="no embedding table"):
            EmbeddingTable.of(arrays | {"embeddings.dim": np.array([dim], np.int32)})
    with pytest.raises(ValueError, match="no embedding table"):
        EmbeddingTable.of(arrays | {"embeddings": arrays["embeddings"][:1]})


@pytest.mark.parametrize("table_format", ["int3", "int2"])
def test_few_bits_of_numbers_whose_squares_leave_float32(table_format):
    table, large = (EmbeddingTable(VALUES * factor).in_format(table_format) for factor in np.float32([1, 2.0**110]))
    np.testing.assert_array_equal(large.values, table.values)
    np.testing.assert_array_equal(large.scales, table.scales * np.float32(2.0**110))


def test_numbers_that_a_format_cannot_hold():
    with pytest.raises(OverflowError, match=r"^float16 cannot hold numbers up to 1e\+05; choose another table$"):
        EmbeddingTable(np.float32([[1, -1e5]])).in_format("float16")


@pytest.mark.parametrize("table_format", TABLE_FORMATS)
def test_rows_of_zeros(table_format):
    assert not EmbeddingTable(np.zeros((3, 4), np.float32)).in_format(table_format).array().any()


def test_array_and_some_rows():
    table = EmbeddingTable(VALUES)
    assert table.array() is VALUES
    assert table.in_format("float32") is table
    packed = table.in_format("int8")
    np.testing.assert_array_equal(packed.take(np.array([4, 1])), packed.array()[[4, 1]])
    assert packed.in_format("float32").format == "float32"


@pytest.mark.parametrize(
    ("values", "scales"),
    [
        (np.zeros((2, 3), np.int8), None),
        (np.zeros((2, 3), np.int8), np.zeros(3, np.float32)),
        (np.zeros((2, 3), np.float32), np.zeros(2, np.float32)),
        (np.zeros((2, 3), np.float64), None),
        (np.zeros(3, np.float32), None),
    ],
)
def test_arrays_that_are_no_table(values, scales):
    with pytest.raises(ValueError, match="no embedding table"):
        EmbeddingTable(values, scales)
