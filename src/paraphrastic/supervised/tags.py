"""Tagging as a supervised task (charagram2016 §4.2): `tags-ewt`, `tags-wsj`, `sample-tags`."""

from collections.abc import Callable

import pyarrow.compute as pc

from paraphrastic.evaluation.headline import percent
from paraphrastic.supervised.tasks import SPLITS, Found
from paraphrastic.supervised.tuning import Outcome
from paraphrastic.tagging.options import TaggerConfig
from paraphrastic.tagging.training import fit
from paraphrastic.training.checkpoint import Checkpoint


def learn(
    config: TaggerConfig,
    found: Found,
    seed: int,
    checkpoint: Checkpoint,
    every: float,
    on_step: Callable[[int, int], None],
) -> Outcome:
    """Train a tagger on a task, and measure the epoch that is best on its development set.

    Args:
        config: options of the tagger.
        found: rows of the task, of kind `tagged_tokens`.
        seed: of everything random.
        checkpoint: where an interrupted run goes on; the caller removes it.
        every: seconds between two checkpoints.
        on_step: called with the number of each finished step and that of all steps.

    Raises:
        DataError: a split is empty.
        ModelError: the loss is no longer a number.
    """
    train, dev, test = (found.table.filter(pc.equal(found.table["split"], split)) for split in SPLITS)
    tagger, curves = fit(config, train, dev, seed, checkpoint, every, on_step)
    figures = ({"accuracy": percent(tagger.accuracy(part) / 100)} for part in (dev, test))
    return Outcome(int(curves.best or 0), *figures)
