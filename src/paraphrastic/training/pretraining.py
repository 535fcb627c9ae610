"""Train a model on a corpus of paraphrases: everything between the tables of a corpus and a trained model."""

from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pyarrow as pa
import torch

from paraphrastic.base.tables import NGRAM_COUNTS, WORD_COUNTS, TrainingSentences, read_table
from paraphrastic.models import model_class
from paraphrastic.nn.encoder import TrainableModel
from paraphrastic.nn.options import TrainingConfig
from paraphrastic.scoring.neural import TrainedEncoder, TrainedPairModel, trained_model
from paraphrastic.scoring.scorer import Scorer
from paraphrastic.training.batches import Paraphrases
from paraphrastic.training.distillation import Distillation, DistillationTrainer
from paraphrastic.training.initial_embeddings import initial_embeddings
from paraphrastic.training.pair_trainers import EncoderTrainer, MatchTrainer, PairTrainer
from paraphrastic.training.processes import Processes
from paraphrastic.vocabulary.counting import count_bigrams, merge_counts
from paraphrastic.vocabulary.kinds import VocabularyKind


def initial_model(
    name: str,
    config: TrainingConfig,
    vocabulary: Path,
    sentences: TrainingSentences,
    seed: int,
    device: torch.device,
    distillation: Distillation | None = None,
) -> TrainedEncoder | TrainedPairModel:
    """Return the untrained model `name` with its initial embeddings.

    Args:
        name: of a model that is trained.
        config: its options.
        vocabulary: folder with the tables that the stage `vocabulary` wrote.
        sentences: the tokenized sentences that were counted.
        seed: seed of the initial weights.
        device: where the model is trained.
        distillation: whose teacher may give words their initial embeddings; None without a teacher.
    """
    generator = torch.Generator().manual_seed(seed)
    cls: Any = model_class(name)
    module: TrainableModel = cls(config, generator)
    counts = _counts(vocabulary, module, sentences)
    teacher = distillation.teacher if distillation and distillation.options.initial_words else None
    texts, embeddings = initial_embeddings(module, config, counts, sentences, generator, teacher)
    return trained_model(module, embeddings, texts).to(device)


def _counts(folder: Path, module: TrainableModel, sentences: TrainingSentences) -> pa.Table:
    """Return the entries of the module's vocabulary; pairs of words are counted now, the others are in `folder`."""
    if module.vocabulary != "words+ngrams":
        return _read_counts(folder, module.vocabulary)
    words, least = _read_counts(folder, "words"), module.bigram_min_count
    bigrams = count_bigrams(sentences, words["text"], least) if least else None
    return merge_counts(_read_counts(folder, "ngrams"), words, bigrams)


def _read_counts(folder: Path, kind: VocabularyKind) -> pa.Table:
    return read_table(folder / f"{kind}.parquet", WORD_COUNTS if kind == "words" else NGRAM_COUNTS)


def paraphrase_trainer(
    model: TrainedEncoder | TrainedPairModel,
    pairs: pa.Table,
    sentences: TrainingSentences,
    config: Any,
    seed: int,
    select: Callable[[Scorer], float] | None,
    selections_per_epoch: int,
    distillation: Distillation | None = None,
    processes: Processes | None = None,
    source_weights: Mapping[str, float] = MappingProxyType({}),
) -> PairTrainer:
    """Return the trainer of `model` on a corpus.

    Args:
        model: the model at its start; holds the result when `run` returns.
        pairs: table in schema `tables.PAIRS`.
        sentences: the distinct tokenized sentences that `pairs` numbers.
        config: options of the model.
        seed: seed of the order of the pairs, of random negatives and of noise.
        select: scores the current model; None for no selection.
        selections_per_epoch: how many times per epoch `select` is called.
        distillation: what an encoder learns beside the margin loss, or instead of it; None without a teacher.
        processes: those that divide the mini-batches of an encoder; None for this one alone.
        source_weights: how often an epoch has each pair of a source, by its name; once if it is not named.
    """
    examples = Paraphrases.of(pairs, sentences, model.vocabulary, source_weights)
    if isinstance(model, TrainedPairModel):
        return MatchTrainer(model, examples, config, seed, select, selections_per_epoch, processes=processes)
    arguments = model, examples, config, seed, select, selections_per_epoch
    if distillation:
        return DistillationTrainer(*arguments, distillation=distillation, processes=processes)
    return EncoderTrainer(*arguments, processes=processes)
