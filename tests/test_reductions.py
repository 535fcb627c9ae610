"""What the papers say an encoder becomes in the limit, and what the noise of training may and may not do."""

import numpy as np
import pyarrow as pa
import pytest
import torch
from paraphrastic.training.pair_trainer import Training

from paraphrastic import models
from paraphrastic.training.batches import epoch_batches, scrambled
from paraphrastic.training.dense_optimizer import DenseOptimizer
from paraphrastic.vocabulary.words import END, START, WordVocabulary, tag_counts, tagged
from tests.equations import avg, lstmavg
from tests.test_encoders import BOTH, DIM, LSTM, RECURRENT, SENTENCES, WORD, bags_of, batch_of, build
from tests.test_training import prepare, train


def vectors(encoder, table):
    return encoder(table, batch_of(SENTENCES, encoder)).detach().numpy()


def averages(table, how=avg, **given):
    return [how(s, table.numpy(), *given.values()) for s in SENTENCES]


def open_gates(encoder, *values):
    """Make each gate of `encoder` the same everywhere."""
    gran = encoder.gran
    for weights in (gran.Wx, gran.Wh):
        weights.data.zero_()
    gran.b.data = torch.tensor([50.0 if value else -50.0 for value in values]).repeat_interleave(DIM).double()


def test_gran_with_open_gates_is_avg():
    encoder, table = build("gran", LSTM | {"variant": 1})
    open_gates(encoder, 1)
    np.testing.assert_allclose(vectors(encoder, table), averages(table, weights={}, block={}), atol=1e-9)


@pytest.mark.parametrize("gates", [(1, 0), (0, 1)])
def test_gran_5_is_avg_or_lstmavg_as_its_gates_say(gates):
    encoder, table = build("gran", LSTM | {"variant": 5})
    open_gates(encoder, *gates)
    weights = {name.removeprefix("gran."): w.numpy() for name, w in encoder.state_dict().items()}
    expected = averages(table, lstmavg if gates == (0, 1) else avg, weights=weights, block=LSTM)
    np.testing.assert_allclose(vectors(encoder, table), expected, atol=1e-9)


def test_running_gran_with_open_gates_is_avg():
    encoder, table = build("gran", LSTM | {"variant": 3})
    open_gates(encoder, 1, 1)
    np.testing.assert_allclose(vectors(encoder, table), averages(table, weights={}, block={}), atol=1e-9)


def fresh(name, block):
    """An encoder as it is before the first step."""
    encoder = models.implementation(name)(models.options(name)(**block), torch.Generator().manual_seed(0))
    return encoder.double(), torch.randn(11, DIM, dtype=torch.float64)


def test_irnn_before_the_first_step_is_avg():
    encoder, table = fresh("irnn", RECURRENT)
    np.testing.assert_allclose(vectors(encoder, table), averages(table, weights={}, block={}), atol=1e-9)


@pytest.mark.parametrize("optimizer", ["adam", "adagrad"])
def test_an_infinite_pull_keeps_irnn_an_average(optimizer, tmp_path):
    model, _ = train("irnn", RECURRENT, tmp_path, lambda_c=1e9, optimizer=optimizer)
    weights = dict(model.encoder.named_parameters())
    for name in ("rnn.W", "rnn.U"):
        torch.testing.assert_close(weights[name].detach(), torch.eye(8), atol=1e-5, rtol=0)


@pytest.mark.parametrize("optimizer", ["adam", "adagrad", "sgd"])
@pytest.mark.parametrize(("to_start", "home"), [(True, 1.0), (False, 0.0)])
def test_lambda_c_pulls_to_the_start_or_to_zero(optimizer, to_start, home):
    weight = torch.ones(3, requires_grad=True)
    steps = DenseOptimizer([weight], optimizer, 1e9, to_start)
    for step in range(1, 5):
        (weight * torch.tensor([1.0, -2.0, 3.0])).sum().backward()
        steps.update(step, 0.1)
    torch.testing.assert_close(weight.detach(), torch.full((3,), home), atol=1e-5, rtol=0)


def test_gradient_descent_has_the_momentum_of_charagram2016():
    weight = torch.ones(1, requires_grad=True)
    steps, found = DenseOptimizer([weight], "sgd", 0.0, False), []
    for step in range(1, 4):
        (2 * weight).sum().backward()
        steps.update(step, 0.1)
        found.append(weight.item())
    assert found == pytest.approx([1 - 0.2, 0.8 - 0.2 * 1.95, 0.41 - 0.2 * (1 + 0.95 * 1.95)])


def test_scrambling_changes_nothing_for_avg(tmp_path):
    plain, _ = train("avg", WORD, tmp_path / "a")
    scrambled, _ = train("avg", WORD, tmp_path / "b", scramble=1.0)
    torch.testing.assert_close(plain.table, scrambled.table, atol=1e-5, rtol=0)


@pytest.mark.parametrize("noise", [{"scramble": 0.5}, {"dropout": 0.3}, {"word_dropout": 0.3}, {"tags": "both"}])
def test_noise_and_tags_change_what_an_lstm_learns(noise, tmp_path):
    plain, _ = train("lstmavg", LSTM, tmp_path / "a")
    other, _ = train("lstmavg", LSTM, tmp_path / "b", **noise)
    assert not torch.allclose(plain.table, other.table[: len(plain.table)], atol=1e-3)


@pytest.mark.parametrize("tags", ["none", "start", "end", "both"])
def test_scrambled_sentences_keep_their_words_and_their_tags(tags):
    before, behind = tag_counts(tags)
    sentences = [[8] * before + s + [9] * behind for s in ([1, 2, 3, 4, 5, 6, 7], [1, 2, 3], [], [4])]
    chosen = np.array([True, False, True, True])
    bags = bags_of(sentences, counted=False)
    words = bags.ids[scrambled(bags.offsets, chosen, (before, behind), np.random.default_rng(0))]
    rows = [words[a:b].tolist() for a, b in zip(bags.offsets[:-1], bags.offsets[1:], strict=True)]
    assert [sorted(row) for row in rows] == [sorted(s) for s in sentences]
    assert rows[1] == sentences[1]
    assert rows[0] != sentences[0]
    assert [row[:before] for row in rows] == [[8] * before] * 4
    assert [row[len(row) - behind :] for row in rows] == [[9] * behind] * 4


def test_every_order_is_as_likely_when_scrambled():
    bags, rng = bags_of([[1, 2, 3]] * 6000, counted=False), np.random.default_rng(0)
    out = bags.ids[scrambled(bags.offsets, np.ones(6000, bool), (0, 0), rng)].reshape(-1, 3)
    _, counts = np.unique(out, axis=0, return_counts=True)
    assert len(counts) == 6
    assert counts.min() > 850


def test_dropped_words_are_whole_and_the_rest_is_scaled_up():
    encoder, _ = fresh("avg", WORD | {"word_dropout": 0.25})
    torch.manual_seed(0)
    kept = encoder.inputs(torch.ones(1, DIM), torch.zeros(4000, dtype=torch.long))
    assert kept.unique().tolist() == pytest.approx([0, 4 / 3])
    assert (kept.min(1).values == kept.max(1).values).all()
    assert (kept[:, 0] == 0).double().mean() == pytest.approx(0.25, abs=0.03)
    encoder, _ = fresh("avg", WORD | {"dropout": 0.5})
    single = encoder.inputs(torch.ones(1, DIM), torch.zeros(4000, dtype=torch.long))
    assert (single == 0).double().mean() == pytest.approx(0.5, abs=0.03)
    assert (single.min(1).values != single.max(1).values).any()


@pytest.mark.parametrize(("name", "block"), [("avg", WORD), ("bigran", BOTH[0] | {"variant": 1})])
def test_nothing_is_dropped_when_training_is_over(name, block):
    encoder, table = fresh(name, block | {"dropout": 0.5, "word_dropout": 0.5})
    encoder.eval()
    np.testing.assert_array_equal(vectors(encoder, table), vectors(encoder, table))


def test_tags_stand_around_what_is_not_empty():

    texts = pa.array(["a b", "", "c"])
    assert tagged(texts, "both").to_pylist() == [f"{START} a b {END}", "", f"{START} c {END}"]
    assert tagged(texts, "start").to_pylist() == [f"{START} a b", "", f"{START} c"]
    words = WordVocabulary(pa.array(["a", "b", END]), "end")
    assert words.lookup(texts).ids.tolist() == [1, 2, 3, 0, 3]
    assert words.unknown(texts).tolist() == [0, 0, 1]


@pytest.mark.parametrize("how", ["mixed", "source"])
def test_a_curriculum_takes_the_first_epoch_in_file_order(how):
    batches = epoch_batches(np.repeat([0, 1], 25), 10, how, np.random.default_rng(0), in_order=True)
    assert np.concatenate(batches).tolist() == list(range(50))


def test_curriculum_is_for_the_first_epoch_only():
    orders = {}
    for curriculum in (True, False):
        training = Training(*prepare("avg", WORD, curriculum=curriculum), 11, None)
        orders[curriculum] = [np.concatenate(training.batches(epoch)).tolist() for epoch in range(3)]
    assert orders[True][0] == list(range(20))
    assert orders[False][0] != list(range(20))
    assert orders[True][1:] == orders[False][1:]
    assert orders[True][1] != orders[True][2]
