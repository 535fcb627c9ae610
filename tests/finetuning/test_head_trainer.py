"""Supervised tasks: what is fitted, how it is split, and that learning works."""

from typing import get_args

import numpy as np
import pyarrow as pa
import pytest
import torch

from paraphrastic import models
from paraphrastic.errors import DataError, ParameterError
from paraphrastic.evaluation.correlation import pearson
from paraphrastic.finetuning import tasks
from paraphrastic.finetuning.head_trainer import HeadTrainer, HeadTrainerConfig
from paraphrastic.finetuning.heads import PairHead, SentenceHead
from paraphrastic.finetuning.initial_state import frozen, learned, scratch, with_new_words
from paraphrastic.finetuning.objectives import divergence, expected, likelihood, target
from paraphrastic.finetuning.pair_model import learn_pairs
from paraphrastic.finetuning.tasks import Rows, Task
from paraphrastic.scoring.neural import TrainedEncoder
from paraphrastic.tables import SENTENCES, indexed_schema, write_table
from paraphrastic.training.checkpoint import Checkpoint
from tests.test_encoders import VARIANTS
from tests.test_ldc import LDC

WORDS = [f"word{n}" for n in range(60)]
OPTIONS = {
    "hidden_dim": 20,
    "epochs": 40,
    "batch_size": 10,
    "optimizer": "adam",
    "learning_rate": 0.02,
    "schedule": "constant",
    "max_grad_norm": None,
    "lambda_s": 0.0,
    "lambda_c": 0.0,
    "lambda_w": 0.0,
}


class TestTarget:
    def test_is_that_of_tai_et_al_by_hand(self):
        wanted = [[0, 0, 0.75, 0.25, 0], [1, 0, 0, 0, 0], [0, 0, 0, 0, 1], [0, 0.5, 0.5, 0, 0]]
        torch.testing.assert_close(target(torch.tensor([3.25, 1, 5, 2.5]), 5), torch.tensor(wanted))

    def test_has_the_score_as_its_mean(self):
        scores = torch.linspace(1, 5, 41, dtype=torch.float64)
        p = target(scores, 5)
        torch.testing.assert_close(p.sum(1), torch.ones(41, dtype=torch.float64))
        torch.testing.assert_close(p @ torch.arange(1, 6, dtype=torch.float64), scores)

    def test_divergence_by_hand(self):
        uniform = torch.full((1, 5), 0.2).log()
        # 0.75 ln(0.75 / 0.2) + 0.25 ln(0.25 / 0.2) = 0.9913 + 0.0558
        assert float(divergence(uniform, target(torch.tensor([3.25]), 5))) == pytest.approx(1.04710, abs=1e-5)
        assert float(likelihood(uniform, torch.tensor([2]))) == pytest.approx(np.log(5))

    def test_divergence_is_zero_for_the_target_itself_and_its_gradient_finite(self):
        p = target(torch.tensor([3.25, 1.0]), 5)
        log_p = (p + 1e-9).log().requires_grad_()
        loss = divergence(log_p, p)
        loss.backward()
        assert float(loss.detach()) == pytest.approx(0, abs=1e-6)
        assert log_p.grad.isfinite().all()

    def test_a_perfect_predictor_correlates_fully(self):
        scores = torch.linspace(1, 5, 30, dtype=torch.float64)
        assert pearson(scores.numpy(), expected((target(scores, 5) + 1e-12).log()).numpy()) == pytest.approx(
            1, abs=1e-6
        )

    def test_what_is_expected_lies_on_the_scale(self):
        log_p = torch.log_softmax(50 * torch.randn(200, 5, generator=torch.Generator().manual_seed(1)), 1)
        assert expected(log_p).min() >= 1
        assert expected(log_p).max() <= 5


@pytest.mark.parametrize("paired", [True, False])
def test_heads_are_their_equations(paired):
    generator = torch.Generator().manual_seed(2)
    u, v = torch.randn(2, 6, 4, generator=generator).double()
    head = (PairHead if paired else SentenceHead)(4, 3, 5, generator).double()
    w = {name: value.numpy() for name, value in head.state_dict().items()}
    features = np.concatenate([(u * v).numpy(), (u - v).abs().numpy()], 1) if paired else u.numpy()
    hidden = 1 / (1 + np.exp(-(features @ w["features.W"] + w["features.b"])))
    p = np.exp(hidden @ w["classes.W"] + w["classes.b"])
    ours = head(u, v) if paired else head(u)
    np.testing.assert_allclose(ours.detach().exp(), p / p.sum(1, keepdims=True), atol=1e-12)


def written(folder, **kinds):
    """Tables of a suite; a kind's rows have row numbers of 60 sentences."""
    write_table(pa.table({"text": WORDS}), folder / "sentences.parquet", SENTENCES)
    for kind in get_args(tasks.Kind):
        schema = indexed_schema(kind)
        columns = zip(*kinds.get(kind, []), strict=True)
        filled = [pa.array(c) for c in columns] or [pa.array([], f.type) for f in schema]
        write_table(pa.table(dict(zip(schema.names, filled, strict=True))), folder / f"{kind}.parquet", schema)
    return folder


def load(folder, name):
    return tasks.load(folder, tasks.find(folder, name))


class TestSplits:
    def test_sts_takes_two_fifths_and_a_tenth_of_each_set(self, tmp_path):
        rows = [
            (f"sts.2012.{name}", "test", n % 60, 1, 2.5) for name, size in (("a", 19), ("b", 27)) for n in range(size)
        ]
        rows += [("sts.2016.c", "test", 1, 2, 5.0), ("sts.2012.a", "train", 3, 4, 0.0)]
        task = load(written(tmp_path, similarity=rows), "sts")
        assert {name: len(split) for name, split in task.splits.items()} == {
            "train": 7 + 10,
            "dev": 1 + 2,
            "test": 11 + 15,
        }

    @pytest.mark.parametrize(("smt", "counts"), [(750, (4841, 1207, 6060)), (0, (4541, 1132, 5685))])
    def test_sts_has_the_counts_of_acl2017(self, tmp_path, smt, counts):
        # the pairs of the 20 sets of 2012 to 2015, the SMT set of 2013 being licensed
        sizes = [750, 750, 459, 750, 399, 189, 561, 750, 750, 450, 300, 750, 750, 750, 375, 750, 375, 750, 750, smt]
        rows = [(f"sts.2015.{name}", "test", n % 60, 1, 2.5) for name, size in enumerate(sizes) for n in range(size)]
        splits = load(written(tmp_path, similarity=rows), "sts").splits
        assert tuple(len(splits[name]) for name in tasks.SPLITS) == counts

    def test_sts_is_split_the_same_way_each_time_and_without_overlap(self, tmp_path):
        rows = [("sts.2012.a", "test", n, (n + 1) % 60, 1.0) for n in range(60)]
        first, second = (load(written(tmp_path / name, similarity=rows), "sts").splits for name in "ab")
        assert all((first[split].left == second[split].left).all() for split in first)
        assert sorted(np.concatenate([split.left for split in first.values()])) == list(range(60))

    def test_scores_are_put_on_one_to_five(self, tmp_path):
        rows = [("sts.2012.a", "test", n, n + 1, n / 4) for n in range(21)]
        golds = np.concatenate(
            [split.gold for split in load(written(tmp_path, similarity=rows), "sts").splits.values()]
        )
        np.testing.assert_allclose(np.sort(golds), np.linspace(1, 5, 21))

    def test_pairs_without_development_set_give_100_of_each_label(self, tmp_path):
        rows = [("paraphrase.msrp", "train", n % 60, 1, int(n % 3 > 0)) for n in range(1800)]
        rows += [("paraphrase.msrp", "test", 1, 2, 1)]
        splits = load(written(tmp_path, labelled_pairs=rows), "paraphrase-msrp").splits
        assert np.bincount(splits["dev"].gold).tolist() == [100, 100]
        assert np.bincount(splits["train"].gold).tolist() == [500, 1100]

    def test_unknown_task_is_refused_with_the_nearest(self, tmp_path):
        rows = [("sick.relatedness", split, 1, 2, 3.0) for split in tasks.SPLITS]
        with pytest.raises(ParameterError, match="did you mean 'sick-relatedness'") as caught:
            load(written(tmp_path, similarity=rows), "sick-relatednes")
        assert "\n" not in str(caught.value)

    def test_a_task_without_test_rows_is_refused(self, tmp_path):
        rows = [("sst", split, 1, 1) for split in ("train", "dev")]
        with pytest.raises(DataError, match="sst: no rows for test"):
            load(written(tmp_path, labelled_sentences=rows), "sst")


def made_up(kind, rows=50, shuffled=False):
    """Sentences of two words; what is said of them hangs on the first one, or on nothing."""
    chance = np.random.default_rng(5)
    sentences = pa.array([f"{chance.choice(WORDS[:8])} {chance.choice(WORDS[20:])}" for _ in range(160)])
    about = np.array([int(text[4]) % 2 for text in sentences.to_pylist()])
    left, right = chance.integers(0, 160, (2, 3 * rows))
    same = (about[left] == about[right]).astype(np.int64)
    gold = {"similarity": 1.0 + 4 * same, "labelled_sentences": about[left]}.get(kind, same)
    if shuffled:
        gold = chance.permutation(gold)
    whole = Rows(left, left[:0] if kind == "labelled_sentences" else right, gold, left % 5)
    splits = {name: whole.take(np.arange(n * rows, (n + 1) * rows)) for n, name in enumerate(tasks.SPLITS)}
    return Task(kind, kind, sentences, splits, 5 if kind == "similarity" else 2)


def tuning(task, name="avg", seed=1, init="scratch", model=None, **changes):
    config = HeadTrainerConfig(**OPTIONS | changes)
    block = next(block for variant, block in VARIANTS if variant == name) | {"dim": 16}
    generator = torch.Generator().manual_seed(seed)
    if init == "frozen":
        start = frozen(torch.randn(len(task.sentences), 8, generator=generator), 24, 0.0, generator)
    else:
        options = models.config_class(name)(**block)
        model = model or scratch(models.model_class(name), options, task.sentences, [2, 3], generator)
        start = learned(model, task.sentences, config.lambda_c, config.lambda_w, init == "universal")
    head = PairHead if task.splits["train"].paired else SentenceHead
    return HeadTrainer(start, head(start.module.out_dim, config.hidden, task.classes, generator), task, config, seed)


def run(fit, folder, every=1e9, on_step=lambda step, steps: None):
    return fit.learn(Checkpoint(folder), every, on_step)


def as_train(task):
    """The task with its training rows in every split."""
    return Task(task.name, task.kind, task.sentences, dict.fromkeys(tasks.SPLITS, task.splits["train"]), task.classes)


def learned_by_ldc(task, folder, **changes):
    block = LDC | {"epochs": 30, "batch_size": 10, "learning_rate": 0.01} | changes
    options = models.config_class("ldc")(**block)
    generator = torch.Generator().manual_seed(1)
    model = scratch(models.model_class("ldc"), options, task.sentences, [2], generator)
    return learn_pairs(model, options, task, 1, False, Checkpoint(folder), 1e9, lambda step, steps: None)


@pytest.mark.parametrize("kind", ["ranking", "labelled_pairs"])
def test_a_pair_model_learns_50_pairs_by_heart(kind, tmp_path):
    task = as_train(made_up(kind))
    assert learned_by_ldc(task, tmp_path).test[task.metric] >= 99


@pytest.mark.parametrize("universal", [True, False])
def test_a_pair_model_is_pulled_back_to_what_it_was_trained_to(universal, tmp_path):
    task = as_train(made_up("labelled_pairs"))
    options = models.config_class("ldc")(**LDC | {"batch_size": 10, "lambda_c": 1e9})
    model = scratch(models.model_class("ldc"), options, task.sentences, [2], torch.Generator().manual_seed(1))
    before = model.module.similarity.W.detach().clone()
    learn_pairs(model, options, task, 1, universal, Checkpoint(tmp_path), 1e9, lambda step, steps: None)
    home = before if universal else torch.zeros_like(before)
    torch.testing.assert_close(model.module.similarity.W.detach(), home, atol=1e-5, rtol=0)


KINDS = ["similarity", "ranking", "labelled_pairs", "labelled_sentences"]


@pytest.mark.parametrize("kind", KINDS)
def test_learns_50_rows_by_heart(kind, tmp_path):
    task = as_train(made_up(kind))
    assert run(tuning(task, epochs=120), tmp_path).test[task.metric] >= 99


@pytest.mark.parametrize("name", ["lstmavg", "charagram", "charcnn"])
def test_learns_with_other_encoders(name, tmp_path):
    assert run(tuning(as_train(made_up("labelled_pairs")), name), tmp_path).test["accuracy"] >= 99


@pytest.mark.parametrize("kind", ["labelled_pairs", "labelled_sentences"])
def test_what_is_learned_holds_for_new_rows_but_shuffled_labels_give_chance(kind, tmp_path):
    assert run(tuning(made_up(kind, 200), epochs=15), tmp_path / "true").test["accuracy"] > 80
    assert run(tuning(made_up(kind, 200, shuffled=True), epochs=15), tmp_path / "no").test["accuracy"] < 62


@pytest.mark.parametrize("init", ["scratch", "frozen"])
def test_interrupted_and_resumed_is_unbroken(init, tmp_path):
    def killed(step, _):
        if step == 17:
            raise KeyboardInterrupt

    task = made_up("similarity")
    unbroken = tuning(task, init=init)
    outcome = run(unbroken, tmp_path / "a")
    with pytest.raises(KeyboardInterrupt):
        run(tuning(task, init=init), tmp_path / "b", every=0, on_step=killed)
    resumed = tuning(task, init=init)
    assert run(resumed, tmp_path / "b") == outcome
    for one, other in zip(unbroken.network.parameters(), resumed.network.parameters(), strict=True):
        assert torch.equal(one, other)


def test_an_infinite_pull_keeps_a_trained_start(tmp_path):
    task = made_up("similarity")
    options = models.config_class("lstmavg")(**next(block for name, block in VARIANTS if name == "lstmavg") | {"dim": 16})
    model = scratch(models.model_class("lstmavg"), options, task.sentences, [2], torch.Generator().manual_seed(3))
    start = [t.clone() for t in (model.embeddings, *model.module.parameters())]
    run(tuning(task, "lstmavg", init="universal", model=model, lambda_c=1e9, lambda_w=1e9, epochs=2), tmp_path)
    for now, before in zip((model.embeddings, *model.module.parameters()), start, strict=True):
        torch.testing.assert_close(now.detach(), before, atol=1e-6, rtol=0)


def test_frozen_vectors_stay_and_their_projection_learns(tmp_path):
    task = as_train(made_up("labelled_sentences"))
    fit = tuning(task, init="frozen")
    before = fit.table.weights.clone()
    assert run(fit, tmp_path).test["accuracy"] > 90
    assert torch.equal(fit.table.weights, before)
    assert fit.network[0].out_dim == 24


def test_a_trained_model_is_given_the_new_words_of_a_task_and_keeps_its_own():
    block = next(block for name, block in VARIANTS if name == "avg")
    options = models.config_class("avg")(**block)
    known = TrainedEncoder(
        models.model_class("avg")(options, torch.Generator()), torch.randn(3, options.dim), pa.array(["a", "b"])
    )
    more = with_new_words(known, options, pa.array(["b c", "c d"]), torch.Generator().manual_seed(1))
    assert more.texts.to_pylist() == ["a", "b", "c", "d"]
    assert torch.equal(more.table[:3], known.table)
    assert (more.table[3:].norm(dim=1) > 0).all()
