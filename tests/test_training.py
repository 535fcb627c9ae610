"""Training as a whole: it learns, repeats itself, and survives being killed."""

import itertools

import numpy as np
import pyarrow as pa
import pytest
import torch
from paraphrastic.training.pair_trainer import Pairs, Training

from paraphrastic import models
from paraphrastic.errors import ModelError
from paraphrastic.nn.encoder import EncoderConfig
from paraphrastic.scoring.neural import TrainedEncoder
from paraphrastic.training.checkpoint import Checkpoint
from paraphrastic.training.initial_embeddings import initial_embeddings
from paraphrastic.vocabulary.counting import count_ngrams, count_words
from paraphrastic.vocabulary.words_and_ngrams import with_words
from tests.test_encoders import NAMES, VARIANTS

# Twenty meanings, each said with words of its own; what all share says nothing.
LETTERS = np.random.default_rng(1).choice(list("abcdefghijklmnopqrstuvwxyz"), (40, 5))
MADE_UP = ["".join(row) for row in LETTERS]
SENTENCES = pa.array([f"again {MADE_UP[n % 6]} was the {word}" for n, word in enumerate(MADE_UP)])

COUNTED = {
    "words": count_words(SENTENCES),
    "ngrams": count_ngrams(SENTENCES, [2, 3]),
    "words+ngrams": with_words(count_ngrams(SENTENCES, [2, 3]), count_words(SENTENCES)),
    "characters": count_ngrams(SENTENCES, [1]),
}

NOISE = {"curriculum": True, "tags": "both", "scramble": 0.5, "dropout": 0.2, "word_dropout": 0.1}


def prepare(name, block, folder=None, **changes):
    """A model at its start and the pairs that it is to learn from."""
    block = block | {"dim": 8, "epochs": 6, "batch_size": 4, "rate": 0.02} | changes
    config = models.options(name)(**block)
    generator = torch.Generator().manual_seed(7)
    encoder = models.implementation(name)(config, generator)
    texts, table = initial_embeddings(encoder, config, COUNTED[encoder.units], len(SENTENCES), generator)
    model = TrainedEncoder(encoder, table, texts)
    rows = np.arange(20)
    pairs = Pairs(model.units.lookup(SENTENCES), 2 * rows, 2 * rows + 1, rows % 2, rows)
    return model, pairs, config


def train(name, block, folder, select=None, every=1e9, on_step=lambda step: None, **changes):
    model, pairs, config = prepare(name, block, **changes)
    training = Training(model, pairs, config, 11, select)
    return model, training.run(Checkpoint(folder), every, on_step)


def found(model):
    """Share of sentences whose nearest other sentence is their paraphrase."""
    vectors = torch.nn.functional.normalize(torch.from_numpy(model.encode(SENTENCES)))
    return float(((vectors @ vectors.T).fill_diagonal_(-1).argmax(1) == torch.arange(40).bitwise_xor(1)).float().mean())


def saved(model, name, folder):
    models.save(model, name, EncoderConfig.model_construct(), folder)
    return content(folder)


def content(folder):
    return {file.name: file.read_bytes() for file in folder.iterdir()}


def killed_at(limit):
    def on_step(step):
        if step == limit:
            raise KeyboardInterrupt

    return on_step


@pytest.mark.parametrize(("name", "block"), VARIANTS, ids=NAMES)
class TestEveryEncoder:
    def test_learns_the_pairs(self, name, block, tmp_path):
        before, _, _ = prepare(name, block)
        more = {"filters": {2: 50, 3: 50}} if "filters" in block else {}
        if name == "charlstm":  # with the hardest negatives alone all vectors may become one, as params.yaml says
            more = {"negatives": "mix"}
        after, _ = train(name, block, tmp_path, epochs=80, dim=32, rate=0.005, clip=1.0, **more)
        assert found(before) < 0.5
        assert found(after) > 0.6

    def test_same_seed_gives_the_same_bytes(self, name, block, tmp_path):
        both = [saved(train(name, block, tmp_path / "c")[0], name, tmp_path / n) for n in "ab"]
        assert both[0] == both[1]

    @pytest.mark.parametrize("optimizer", ["adam", "adagrad"])
    def test_killed_and_resumed_ends_with_the_bytes_of_an_unbroken_run(self, name, block, optimizer, tmp_path):
        noise = {key: value for key, value in NOISE.items() if key in block}
        options = {"optimizer": optimizer, "negatives": "mix", "lambda_c": 1e-4, "select": fickle} | noise
        unbroken, curves = train(name, block, tmp_path / "1", **options)
        for limit in (9, 23):
            with pytest.raises(KeyboardInterrupt):
                train(name, block, tmp_path / "2", every=0, on_step=killed_at(limit), **options)
        steps = []
        resumed, again = train(name, block, tmp_path / "2", on_step=steps.append, **options)
        assert steps[0] > 20
        assert again == curves
        assert saved(unbroken, name, tmp_path / "a") == saved(resumed, name, tmp_path / "b")

    def test_save_and_load_give_the_same_vectors_and_bytes(self, name, block, tmp_path):
        model, _, config = prepare(name, block)
        models.save(model, name, config, tmp_path / "a")
        loaded = models.load(tmp_path / "a")
        np.testing.assert_array_equal(model.encode(SENTENCES), loaded.encode(SENTENCES))
        models.save(loaded, name, config, tmp_path / "b")
        assert content(tmp_path / "a") == content(tmp_path / "b")
        assert len({file.stat().st_mode for file in (tmp_path / "a").iterdir()}) == 1

    def test_unknown_and_empty_text_scores_zero_and_never_nan(self, name, block):
        model, _, _ = prepare(name, block)
        scores = model.score(pa.array(["", "日本", SENTENCES[9].as_py()]), np.array([0, 1, 2]), np.array([2, 0, 2]))
        assert np.isfinite(scores).all()
        assert scores[2] == pytest.approx(1, abs=1e-5)
        assert model.unknown(pa.array(["", "日本", SENTENCES[9].as_py()])).tolist() == [0, 1, 0]


def test_a_point_of_the_loss_curve_may_hold_steps_before_and_after_a_kill(tmp_path):
    name, block = VARIANTS[0]
    _, unbroken = train(name, block, tmp_path / "1", epochs=90)
    assert unbroken.loss[0][0] == 3  # steps in a point
    with pytest.raises(KeyboardInterrupt):
        train(name, block, tmp_path / "2", epochs=90, every=0, on_step=killed_at(9))  # after 8 whole ones
    assert train(name, block, tmp_path / "2", epochs=90)[1] == unbroken


def fickle(model):
    """A score that goes up and down from epoch to epoch."""
    return float(1e4 * model.table.abs().sum() % 10)


def score():
    """A selection that prefers the third of six epochs."""
    scores = itertools.chain([1.0, 2.0, 9.0, 9.0], itertools.repeat(3.0))
    return lambda model: next(scores)


def test_best_quarter_is_kept(tmp_path):
    name, block = VARIANTS[0]
    model, pairs, config = prepare(name, block, epochs=2, schedule="constant")
    tables, scores = [], iter([1.0, 2.0, 3.0, 1.0, 9.0, 1.0, 1.0, 1.0])

    def select(model):
        tables.append(model.table.clone())
        return next(scores)

    training = Training(model, pairs, config, 11, select, 4)
    curves = training.run(Checkpoint(tmp_path), 1e9, lambda step: None)
    assert [point for point, _ in curves.selection] == [0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 1.75, 2.0]
    assert curves.best == 1.25
    assert torch.equal(model.table, tables[4])


def test_best_epoch_is_kept(tmp_path):
    name, block = VARIANTS[0]
    selected, curves = train(name, block, tmp_path, select=score(), schedule="constant")
    three_epochs, _ = train(name, block, tmp_path, epochs=3, schedule="constant")
    assert curves.selection == [(1, 1.0), (2, 2.0), (3, 9.0), (4, 9.0), (5, 3.0), (6, 3.0)]
    assert curves.best == 3
    assert torch.equal(selected.table, three_epochs.table)


def test_a_damaged_checkpoint_is_not_gone_on_with(tmp_path):
    name, block = VARIANTS[0]
    with pytest.raises(KeyboardInterrupt):
        train(name, block, tmp_path, every=0, on_step=killed_at(23))
    (state,) = tmp_path.glob("state-*.pt")
    content = bytearray(state.read_bytes())
    content[len(content) // 2] ^= 1
    state.write_bytes(content)
    steps = []
    train(name, block, tmp_path, on_step=steps.append)
    assert steps[0] == 1


def test_a_run_that_diverges_says_so(tmp_path):
    name, block = VARIANTS[0]
    with pytest.raises(ModelError, match=r"the loss is nan at step \d+: lower `rate`"):
        train(name, block, tmp_path, rate=1e38)


def test_clipping_bounds_what_a_step_can_do(tmp_path):
    name, block = VARIANTS[1]
    model, pairs, config = prepare(name, block, clip=1e-3, epochs=1)
    training = Training(model, pairs, config, 11, None)
    norms = []
    training.table.update = lambda step: norms.append(
        float(torch.cat([p.grad.flatten() for p in (training.table._leaf, *training.network.parameters())]).norm())
    )
    training.run(Checkpoint(tmp_path), 1e9, lambda step: None)
    assert max(norms) <= 1.01e-3


def test_idf_scales_the_start(tmp_path):
    name, block = VARIANTS[0]
    model, _, _ = prepare(name, block, init="idf", dim=200)
    length = dict(zip(model.texts.to_pylist(), model.table[1:].norm(dim=1).tolist(), strict=True))
    assert not model.table[0].any()
    assert length["the"] == pytest.approx(np.log(41 / 40), rel=0.3)
    assert length[MADE_UP[30]] == pytest.approx(np.log(41 / 1), rel=0.3)


def test_words_of_a_vector_file_start_there_and_extend_the_vocabulary(tmp_path):
    (tmp_path / "v.txt").write_text("again 1 2 3\nnew 4 5 6\n")
    name, block = VARIANTS[0]
    model, _, _ = prepare(name, block, dim=3, vectors=str(tmp_path / "v.txt"))
    rows = {text: n + 1 for n, text in enumerate(model.texts.to_pylist())}
    assert model.table[rows["again"]].tolist() == [1, 2, 3]
    assert model.table[rows["new"]].tolist() == [4, 5, 6]


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda f: (f / "config.json").unlink(), "no model here; `dvc repro train`"),
        (lambda f: (f / "config.json").write_text("{"), r"config\.json: damaged"),
        (lambda f: (f / "config.json").write_text("[]"), "not the config of a model"),
        (lambda f: replace(f / "config.json", '"format": 1', '"format": 2'), "model format 2, this version reads 1"),
        (lambda f: replace(f / "config.json", '"avg"', '"avgg"'), "unknown model 'avgg': did you mean 'avg'"),
        (lambda f: replace(f / "config.json", '"dim": 8', '"dim": "x"'), r"config\.json: .*; train the model again"),
        (lambda f: (f / "weights.safetensors").unlink(), r"weights\.safetensors: missing or damaged"),
        (lambda f: (f / "weights.safetensors").write_bytes(b"x" * 99), r"weights\.safetensors: missing or damaged"),
        (lambda f: (f / "vocabulary.parquet").write_bytes(b""), "do not belong together"),
    ],
)
def test_damaged_model_folders_are_named_in_one_line(tmp_path, damage, message):
    name, block = VARIANTS[0]
    model, _, config = prepare(name, block)
    models.save(model, name, config, tmp_path)
    damage(tmp_path)
    with pytest.raises(ModelError, match=message) as caught:
        models.load(tmp_path)
    assert "\n" not in str(caught.value)


def replace(path, old, new):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
