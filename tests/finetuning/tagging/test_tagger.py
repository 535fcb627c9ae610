"""Taggers: their equations, what they learn, and that nothing but the sentence decides its tags."""

from collections import Counter

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
import torch
from pydantic import ValidationError
from tests.character_equations import EQUATIONS as OF_CHARACTERS
from tests.equations import EQUATIONS, lstm_states, within

from paraphrastic.errors import DataError, ModelError, ParameterError
from paraphrastic.finetuning.tagging.config import options
from paraphrastic.finetuning.tagging.tag_trainer import fit, untrained
from paraphrastic.finetuning.tagging.tagged_sentences import Sentences
from paraphrastic.finetuning.tagging.tagger import Tagger
from paraphrastic.sample import tables
from paraphrastic.training.checkpoint import Checkpoint

COMMON = {
    "dim": 6,
    "init": "random",
    "matmul_dtype": "float32",
    "hidden_dim": 5,
    "lstm_dropout": 0.2,
    "epochs": 4,
    "batch_size": 2,
    "optimizer": "adam",
    "learning_rate": 0.01,
    "schedule": "linear",
    "max_grad_norm": 5.0,
    "num_threads": 1,
}
NGRAM_COUNTS = {"words": False, "counts": "linear", "activation": "tanh", "orders": [2, 3], "min_count": 1, "ngrams_per_order": None}
FILTERS = {"filters": {2: 4, 3: 3}, "filter_activation": "tanh", "dropout": 0.1}
VARIANTS = [
    ("charagram", COMMON | NGRAM_COUNTS | {"num_layers": 1}),
    ("charagram", COMMON | NGRAM_COUNTS | {"num_layers": 2, "activation": "relu", "counts": "sqrt"}),
    ("charcnn", COMMON | FILTERS | {"character_dim": 3, "activation": "relu"}),
    ("charlstm", COMMON | {"character_dim": 3, "output_gate": True}),
]
every_variant = pytest.mark.parametrize(
    ("name", "block"), VARIANTS, ids=["charagram", "2-layer", "charcnn", "charlstm"]
)

WIDER = {"dim": 40, "hidden_dim": 30, "batch_size": 10, "lstm_dropout": 0.0}
OWN = {"charcnn": {"filters": {2: 20, 3: 20}, "character_dim": 15, "dropout": 0.0}, "charlstm": {"character_dim": 15}}

TEXTS = [
    "The/DT dog/NN sees/VBZ a/DT Dog/NNP ./.",
    "Run/VB",
    "a/DT cat/NN ran/VBD to/TO the/DT IBM/NNP cats/NNS ,/, they/PRP say/VBP ./.",
    "dogs/NNS bark/VBP",
]
NEW = ["Ωμέγα/FW dog/NN zzz/NN", "日本/FW", "the/DT unseen/JJ dogs/NNS bark/VBP ./."]


def tagged(texts):
    """A table `tagged_tokens` of sentences like `The/DT dog/NN`."""
    rows = [(s, *token.rsplit("/", 1)) for s, text in enumerate(texts) for token in text.split()]
    return pa.table(dict(zip(("sentence", "token", "tag"), zip(*rows, strict=True), strict=True)))


def start(name, block, train, dtype=torch.float32):
    """An untrained tagger in which every term has a say: biases and peepholes start at zero."""
    generator = torch.Generator().manual_seed(3)
    tagger = untrained(options(name)(**block), train, generator)
    for parameter in tagger.network.parameters():
        parameter.data.normal_(0, 0.7, generator=generator)
    tagger.network.to(dtype)
    tagger.table = torch.randn(tagger.table.shape, generator=generator).to(dtype)
    return tagger


def scores(tagger, table):
    tagger.network.eval()
    return tagger.network(tagger.table, *tagger.inputs(Sentences.of(table, tagger.units)))


def train(name, block, folder, rows, dev=None, on_step=lambda step, steps: None, seed=5, every=1e9, **changes):
    config = options(name)(**(block | changes))
    return fit(config, rows, rows if dev is None else dev, seed, Checkpoint(folder), every, on_step)


def saved(tagger, folder):
    tagger.save(folder)
    return {file.name: file.read_bytes() for file in folder.iterdir()}


@pytest.fixture(scope="module")
def sample():
    """The splits of the generated tagged sentences."""
    table = pa.concat_tables([rows for kind, rows in tables() if kind == "tagged_tokens"])
    return {split: table.filter(pc.equal(table["split"], split)) for split in ("train", "dev", "test")}


def first(table, sentences):
    return table.filter(pc.less(table["sentence"], sentences))


def units_of(word, texts, ngrams):
    """Rows of the table, found window by window."""
    row = {text: n for n, text in enumerate(texts)}
    word = f" {word.lower()} "
    if not ngrams:
        return [1 + row[character] if character in row else 0 for character in word]
    windows = [word[i : i + n] for n in (2, 3) for i in range(len(word) - n + 1)]
    return [row[window] for window in windows if window in row]


def naive(tagger, name, block, tokens):
    """The scores of one sentence, (tokens, tags)."""
    weights = {key: value.double().numpy() for key, value in tagger.network.state_dict().items()}
    table, texts = tagger.table.double().numpy(), tagger.texts.to_pylist()
    compose = (EQUATIONS | OF_CHARACTERS)[name]
    words = []
    for token in tokens:
        vector = compose(units_of(token, texts, name == "charagram"), table, within(weights, "encoder."), block)
        words.append([*vector, any(character.isupper() for character in token)])
    ahead = lstm_states(np.array(words), within(weights, "ahead."), True)
    back = lstm_states(np.array(words[::-1]), within(weights, "back."), True)[::-1]
    return np.hstack([ahead, back]) @ weights["output.W"] + weights["output.b"]


@every_variant
class TestEveryTagger:
    def test_is_its_equation(self, name, block):
        tagger = start(name, block, tagged(TEXTS))
        ours = scores(tagger, tagged(TEXTS + NEW)).detach().numpy()
        sentences = [[token.rsplit("/", 1)[0] for token in text.split()] for text in TEXTS + NEW]
        expected = np.vstack([naive(tagger, name, block, sentence) for sentence in sentences])
        assert np.isfinite(expected).all()
        np.testing.assert_allclose(ours, expected, atol=1e-5)

    def test_reaches_every_parameter(self, name, block):
        tagger = start(name, block, tagged(TEXTS), torch.float64)
        tagger.table.requires_grad_()
        (scores(tagger, tagged(TEXTS + NEW)) ** 2).sum().backward()
        assert all(p.grad.abs().max() > 0 for p in tagger.network.parameters())
        assert (tagger.table.grad != 0).any(1).float().mean() > 0.8  # the rest is no filter's maximum

    def test_scores_do_not_depend_on_the_batch(self, name, block):
        tagger = start(name, block, tagged(TEXTS), torch.float64)
        together = scores(tagger, tagged(TEXTS + NEW))
        alone = torch.cat([scores(tagger, tagged([text])) for text in TEXTS + NEW])
        torch.testing.assert_close(together, alone)
        assert (
            tagger.tag(tagged(TEXTS + NEW)).to_pylist()
            == tagger.tags.take(pa.array(alone.argmax(1).numpy())).to_pylist()
        )

    def test_save_and_load_give_the_same_tags_and_bytes(self, name, block, tmp_path):
        tagger = start(name, block, tagged(TEXTS))
        content = saved(tagger, tmp_path / "a")
        loaded = Tagger.load(tmp_path / "a")
        assert loaded.tag(tagged(TEXTS + NEW)) == tagger.tag(tagged(TEXTS + NEW))
        assert saved(loaded, tmp_path / "b") == content

    def test_same_seed_gives_the_same_bytes_and_another_seed_others(self, name, block, tmp_path):
        runs = [train(name, block, tmp_path / "c", tagged(TEXTS), seed=seed)[0] for seed in (5, 5, 6)]
        first, second, other = (saved(tagger, tmp_path / str(n)) for n, tagger in enumerate(runs))
        assert first == second
        assert first["weights.safetensors"] != other["weights.safetensors"]

    @pytest.mark.parametrize("optimizer", ["adam", "sgd"])
    def test_killed_and_resumed_ends_with_the_bytes_of_an_unbroken_run(self, name, block, optimizer, tmp_path):
        rows, steps = tagged(TEXTS), []

        def on_step(step, total):
            assert total == 8
            steps.append(step)
            if step == 5 and steps.count(5) == 1:
                raise KeyboardInterrupt

        unbroken, curves = train(name, block, tmp_path / "1", rows, optimizer=optimizer)
        with pytest.raises(KeyboardInterrupt):
            train(name, block, tmp_path / "2", rows, optimizer=optimizer, on_step=on_step, every=0)
        resumed, again = train(name, block, tmp_path / "2", rows, optimizer=optimizer, on_step=on_step)
        assert steps == [1, 2, 3, 4, 5, 5, 6, 7, 8]
        assert again == curves
        assert saved(unbroken, tmp_path / "a") == saved(resumed, tmp_path / "b")

    def test_overfits_fifty_sentences(self, name, block, sample, tmp_path):
        rows = first(sample["train"], 50)
        tagger, _ = train(name, block | WIDER | OWN.get(name, {}), tmp_path, rows, epochs=20, batch_size=5, learning_rate=0.02)
        assert tagger.accuracy(rows) >= 99


@pytest.mark.parametrize(
    "optimizer", [{}, {"optimizer": "sgd", "learning_rate": 0.2, "schedule": "constant"}], ids=["adam", "sgd"]
)
def test_tags_the_sample(sample, tmp_path, optimizer):
    name, block = VARIANTS[0]
    tagger, curves = train(name, block | WIDER, tmp_path, sample["train"], sample["dev"], epochs=3, **optimizer)
    assert tagger.accuracy(sample["test"]) >= 97
    assert tagger.accuracy(sample["dev"]) == max(score for _, score in curves.selection)


def test_shuffled_tags_teach_nothing_but_their_frequency(sample, tmp_path):
    shuffled = sample["train"]["tag"].take(pa.array(np.random.default_rng(1).permutation(len(sample["train"]))))
    rows = sample["train"].set_column(sample["train"].column_names.index("tag"), "tag", shuffled)
    tagger, _ = train(*VARIANTS[0], tmp_path, rows, sample["dev"], batch_size=20, dim=40, hidden_dim=30)
    majority = 100 * max(Counter(sample["test"]["tag"].to_pylist()).values()) / len(sample["test"])
    assert tagger.accuracy(sample["test"]) <= majority + 3


def test_capitals_tell_names_from_nouns(tmp_path):
    words = [f"{a}{b}{c}" for a in "bdg" for b in "aeiou" for c in "lmn"]
    rows = tagged([f"{word}/NN {word.title()}/NNP {word.upper()}/NNP {word}/NN" for word in words])
    tagger, _ = train(*VARIANTS[0], tmp_path, rows, epochs=10, lstm_dropout=0.0)
    held_out = tagged(["rust/NN", "Rust/NNP", "élan/NN", "Élan/NNP", "iPod/NNP", "42/NN"])
    assert tagger.accuracy(rows) == 100
    assert tagger.accuracy(held_out) == 100


def test_the_first_best_epoch_is_kept(tmp_path):
    rows = tagged(TEXTS)
    tagger, curves = train(*VARIANTS[0], tmp_path / "1", rows, epochs=30, learning_rate=0.02, schedule="constant")
    best = int(curves.best)
    assert [point for point, _ in curves.selection] == list(range(1, 31))
    assert dict(curves.selection)[best] == max(score for _, score in curves.selection)
    short, _ = train(*VARIANTS[0], tmp_path / "2", rows, epochs=best, learning_rate=0.02, schedule="constant")
    assert best < 30
    assert torch.equal(tagger.table, short.table)


def test_table_five_keeps_the_most_frequent_of_each_order():
    name, block = VARIANTS[0]
    tagger = start(name, block | {"ngrams_per_order": 5}, tagged(TEXTS))
    assert sorted(map(len, tagger.texts.to_pylist())) == [2] * 5 + [3] * 5
    assert {" d", "do", "og"} <= set(tagger.texts.to_pylist())


def test_a_tag_that_training_lacks_counts_as_an_error():
    tagger = start(*VARIANTS[0], tagged(TEXTS))
    given = tagger.tag(tagged(TEXTS)).to_pylist()
    assert tagger.accuracy(tagged(TEXTS).set_column(2, "tag", pa.array(given))) == 100
    assert tagger.accuracy(tagged(TEXTS).set_column(2, "tag", pa.array(["XX", *given[1:]]))) == pytest.approx(95)


def test_no_tokens_have_no_tags():
    assert start(*VARIANTS[0], tagged(TEXTS)).tag(tagged(TEXTS).slice(0, 0)).to_pylist() == []


def test_sentences_end_where_their_number_changes():
    table = tagged(["a/DT b/NN", "c/NN", "d/NN e/NN"]).append_column("n", pa.array([7, 7, 9, 0, 0]))
    units = start(*VARIANTS[0], tagged(TEXTS)).units
    sentences = Sentences.of(table.drop(["sentence"]).rename_columns({"n": "sentence"}), units)
    assert sentences.tokens.offsets.tolist() == [0, 2, 3, 5]


@pytest.mark.parametrize(("rows", "dev"), [([], TEXTS), (TEXTS, [])])
def test_empty_splits_are_refused(tmp_path, rows, dev):
    empty = tagged(TEXTS).slice(0, 0)
    rows, dev = (tagged(texts) if texts else empty for texts in (rows, dev))
    with pytest.raises(DataError, match=r"^tagging, (training|development) split: no tagged tokens; check"):
        train(*VARIANTS[0], tmp_path, rows, dev)


def test_a_rate_that_diverges_is_named(tmp_path):
    with pytest.raises(ModelError, match=r"the loss is \w+ at step \d+: lower `rate`"):
        train(*VARIANTS[1], tmp_path, tagged(TEXTS), optimizer="sgd", learning_rate=1e30, max_grad_norm=None, epochs=20)


def test_an_unknown_word_model_has_its_nearest_match_named():
    with pytest.raises(ParameterError, match=r"unknown tagger 'chargram': did you mean 'charagram'\?"):
        options("chargram")


@pytest.mark.parametrize(
    "change", [{"epoch": 1}, {"orders": [3, 2]}, {"orders": []}, {"learning_rate": 0.0}, {"lstm_dropout": 1.0}, {"num_layers": 3}]
)
def test_bad_options_are_refused(change):
    name, block = VARIANTS[0]
    with pytest.raises(ValidationError):
        options(name)(**(block | change))


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda f: (f / "config.json").unlink(), "no tagger here"),
        (lambda f: (f / "config.json").write_text("{"), r"config\.json: damaged"),
        (lambda f: (f / "config.json").write_text("[]"), r"config\.json: damaged"),
        (lambda f: replace(f / "config.json", '"format": 1', '"format": 2'), "tagger format 2, this version reads 1"),
        (lambda f: replace(f / "config.json", '"hidden_dim": 5', '"hidden_dim": 6'), "not the weights of this tagger"),
        (lambda f: (f / "weights.safetensors").write_bytes(b"x" * 99), r"weights\.safetensors: missing or damaged"),
    ],
)
def test_damaged_folders_are_named_in_one_line(tmp_path, damage, message):
    start(*VARIANTS[0], tagged(TEXTS)).save(tmp_path)
    damage(tmp_path)
    with pytest.raises(ModelError, match=message) as caught:
        Tagger.load(tmp_path)
    assert "\n" not in str(caught.value)


def replace(path, old, new):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
