"""A choice among the pairs of sources that score their pairs: PPDB, ParaNMT and ParaBank."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from paraphrastic.base.errors import DataError


@dataclass(frozen=True)
class PairFilter:
    """Limits that a pair must keep.

    Attributes:
        feature: the feature of PPDB that is compared; sources with one score per pair do not need it.
        min_score: smallest value; None for no limit.
        max_score: largest value; None for no limit.
        relations: entailment relations of PPDB 2.0; an empty tuple accepts all.
    """

    feature: str = "PPDB2.0Score"
    min_score: float | None = None
    max_score: float | None = None
    relations: tuple[str, ...] = ()

    @property
    def limits_scores(self) -> bool:
        """Whether scores are compared."""
        return self.min_score is not None or self.max_score is not None

    @property
    def is_active(self) -> bool:
        """Whether any pair could be refused."""
        return self.limits_scores or bool(self.relations)

    def accepts_scores(self, scores: pa.DoubleArray) -> pa.BooleanArray:
        """Return which scores (n,) are within the limits; one that is null or NaN, as `NA` in PPDB, is not."""
        low = -np.inf if self.min_score is None else self.min_score
        high = np.inf if self.max_score is None else self.max_score
        within = pc.and_(pc.greater_equal(scores, low), pc.less_equal(scores, high))
        return pc.fill_null(within, not self.limits_scores)

    def check_source_without_relations(self, name: object) -> None:
        """Check that no relation is asked for.

        Raises:
            DataError: a relation is asked for.
        """
        if self.relations:
            raise DataError(f"{name}: has no entailment relations, only PPDB 2.0 has; empty tokenize.relations")


PASS_ALL = PairFilter()
