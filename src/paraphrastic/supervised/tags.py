"""Tagging as a supervised task (charagram2016 §4.2): `tags-ewt`, `tags-wsj`, `sample-tags`."""

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from paraphrastic.errors import ParameterError, unknown
from paraphrastic.evaluation.headline import percent
from paraphrastic.supervised.tasks import SPLITS
from paraphrastic.supervised.tuning import Outcome
from paraphrastic.tables import indexed_schema, read_table
from paraphrastic.tagging.options import TaggerConfig
from paraphrastic.tagging.training import fit
from paraphrastic.training.checkpoint import Checkpoint

_WORD = "tags"


def is_task(name: str) -> bool:
    """Whether the task `name` is one of tagging."""
    return _WORD in name.split("-")


def learn(
    config: TaggerConfig,
    folder: Path,
    name: str,
    seed: int,
    checkpoint: Checkpoint,
    every: float,
    on_step: Callable[[int, int], None],
) -> Outcome:
    """Train a tagger on the task `name`, and measure the epoch that is best on its development set.

    Args:
        config: options of the tagger.
        folder: of the tables that the stage `tokenize` wrote.
        name: of the task: its set with `-` for the first dot.
        seed: of everything random.
        checkpoint: where an interrupted run goes on; the caller removes it.
        every: seconds between two checkpoints.
        on_step: called with the number of each finished step and that of all steps.

    Raises:
        ParameterError: there is no such task.
        DataError: a file is missing or damaged, or a split is empty.
    """
    table = read_table(folder / "tagged_tokens.parquet", indexed_schema("tagged_tokens"))
    found = {each.replace(".", "-", 1): each for each in pc.unique(table["set"]).to_pylist()}
    if name not in found:
        raise ParameterError(unknown("supervised task", name, found) + "; other suites of `benchmarks` have others")
    train, dev, test = (_split(table, found[name], split) for split in SPLITS)
    tagger, curves = fit(config, train, dev, seed, checkpoint, every, on_step)
    figures = ({"accuracy": percent(tagger.accuracy(part) / 100)} for part in (dev, test))
    return Outcome(int(curves.best or 0), *figures)


def _split(table: pa.Table, title: str, split: str) -> pa.Table:
    return table.filter(pc.and_(pc.equal(table["set"], title), pc.equal(table["split"], split))).combine_chunks()
