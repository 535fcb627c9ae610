"""Pairs and vocabulary → `data/model`, with the loss and selection curves."""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
from pydantic import BaseModel

from paraphrastic import models
from paraphrastic.encoding.scorer import Scorer
from paraphrastic.errors import ParameterError
from paraphrastic.evaluation import Benchmarks, selection_score
from paraphrastic.tables import PAIRS, SENTENCES, read_table, replacing, replacing_folder
from paraphrastic.text.mixed import with_words
from paraphrastic.text.vocabulary import NGRAMS, WORDS
from pipeline.params import Params, checked, load_params
from pipeline.stage import CHECKPOINT_SECONDS, CHECKPOINTS, fingerprint, progress, run

if TYPE_CHECKING:  # models that need no training do without torch
    import torch

    from paraphrastic.encoding.trained import TrainedModel
    from paraphrastic.training.checkpoint import Checkpoint
    from paraphrastic.training.loop import Pairs

CORPUS, VOCABULARY, BENCHMARKS, MODEL = (Path("data") / n for n in ("corpus", "vocabulary", "benchmarks", "model"))
LOSS, SELECTION = Path("metrics/loss.csv"), Path("metrics/selection.csv")
STOPS = {"epoch": 1, "quarter": 4}  # per epoch
TRAINING_CODE = tuple(Path("src/paraphrastic") / name for name in ("encoding", "models", "training"))

Curve = Sequence[tuple[float, float]]
Select = Callable[[Scorer], float] | None


def main() -> None:
    """Train the chosen model on the paraphrase pairs."""
    params = load_params()
    config = checked(models.options(params.model), params.models[params.model], "models", params.model)
    select = _selection(params)
    sentences = read_table(CORPUS / "sentences.parquet", SENTENCES)["text"].combine_chunks()
    cls = models.implementation(params.model)
    if hasattr(cls, "units"):
        scorer, loss, selection = _train(params, config, sentences, select)
    else:
        scorer, loss = cls.fit(config, sentences), ()
        selection = [(0, select(scorer))] if select else ()
    with replacing_folder(MODEL) as part:
        models.save(scorer, params.model, config, part)
    _write_curve(LOSS, ("step", "loss"), loss, 6)
    _write_curve(SELECTION, ("epoch", "score"), selection, 2)


def _selection(params: Params) -> Select:
    if params.train.select == "none":
        return None
    benchmarks = Benchmarks.load(BENCHMARKS)
    sets = params.train.select
    if sets == "test":
        sets = (BENCHMARKS / "select.txt").read_text(encoding="utf-8").strip()
    return lambda scorer: selection_score(benchmarks, sets, scorer)


def _train(params: Params, config: BaseModel, sentences: pa.StringArray, select: Select) -> tuple[Scorer, Curve, Curve]:
    import torch

    from paraphrastic.encoding.trained import as_scorer
    from paraphrastic.training.initial import initial_table
    from paraphrastic.training.loop import Training

    torch.set_num_threads(config.threads)
    device, generator = _device(params.train.device), torch.Generator().manual_seed(params.seed)
    encoder = models.implementation(params.model)(config, generator)
    texts, table = initial_table(encoder, config, _vocabulary(encoder.units), len(sentences), generator)
    model = as_scorer(type(encoder))(encoder, table, texts).to(device)
    stops = STOPS[params.train.select_every]
    training = Training(model, _pairs(model, sentences), config, params.seed, select, stops)
    checkpoint = _checkpoint(params, device)
    with progress() as bar:
        task = bar.add_task(params.model, total=training.steps)
        curves = training.run(checkpoint, CHECKPOINT_SECONDS, lambda step: bar.update(task, completed=step))
    checkpoint.remove()
    return model, curves.loss, curves.selection


def _checkpoint(params: Params, device: torch.device) -> Checkpoint:
    """Where this training goes on; a GPU's optimisers keep other numbers than those of the CPU."""
    from paraphrastic.training.checkpoint import Checkpoint

    settings = params.seed, params.train, params.model, params.models[params.model], device.type
    return Checkpoint(CHECKPOINTS / fingerprint(settings, CORPUS, VOCABULARY, BENCHMARKS, *TRAINING_CODE))


def _device(name: str) -> torch.device:
    import torch

    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        torch.empty(0, device=name)
    except (RuntimeError, AssertionError) as error:
        raise ParameterError(f"params.yaml: train.device = '{name}': not on this machine; auto and cpu work") from error
    return torch.device(name)


def _vocabulary(units: str) -> pa.Table:
    if units == "words+ngrams":
        return with_words(_vocabulary("ngrams"), _vocabulary("words"))
    return read_table(VOCABULARY / f"{units}.parquet", WORDS if units == "words" else NGRAMS)


def _pairs(model: TrainedModel, sentences: pa.StringArray) -> Pairs:
    from paraphrastic.encoding.encoder import PairEncoder
    from paraphrastic.training.labelled import MatchedPairs
    from paraphrastic.training.loop import Pairs

    kind = MatchedPairs if isinstance(model.encoder, PairEncoder) else Pairs
    table = read_table(CORPUS / "pairs.parquet", PAIRS)
    sources = pc.dictionary_encode(table["source"]).combine_chunks().indices
    columns = (table[name].to_numpy() for name in ("left", "right"))
    return kind(model.units.bags(sentences), *columns, sources.to_numpy(), table["group"].to_numpy())


def _write_curve(path: Path, header: tuple[str, str], points: Curve, digits: int) -> None:
    with replacing(path) as part, part.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows((f"{x:.12g}", f"{y:.{digits}f}") for x, y in points)


if __name__ == "__main__":
    run(main)
