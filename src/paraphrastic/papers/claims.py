"""The claims of the papers, which `experiments/claims.toml` declares with their tests.

A test is a list of comparisons of rows of the declared experiments, run on the data `replica`. `papers.verdicts`
decides on them.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, permutations
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, FiniteFloat, NonNegativeInt, model_validator

from paraphrastic.base.errors import DataError, unknown_name
from paraphrastic.papers.experiments import Experiment, PaperName, Text, read_toml, validated
from paraphrastic.papers.results import check_key

Kind = Literal["greater", "order", "level", "at least", "at most", "reaches"]


class _Table(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class Side(_Table):
    """A row of an experiment, and what is read of it."""

    row: Text  # its label
    experiment: str = ""  # id of its experiment; empty: that of the claim
    key: str = ""  # in place of those of the claim
    minus: str = ""  # label of a row of the same experiment whose values are subtracted, seed by seed


_Row = Annotated[Side, BeforeValidator(lambda row: {"row": row} if isinstance(row, str) else row)]  # a text is a label


class Claim(_Table):
    """A claim of a paper."""

    id: Text
    paper: PaperName
    place: Text  # where the paper says it
    says: Text  # in one sentence
    # `greater`: the first row of a list is above each other one by more than `bound`; `order`: each row is above the
    # next one by more than it; `level`: any two differ by less; `at least`, `at most`: each row is so; `reaches`: each
    # is at least `bound`, a published number, which other data than the paper's cannot refute
    kind: Kind = "greater"
    bound: FiniteFloat = 0.0
    experiment: str = ""  # id of the experiment of rows that name none
    rows: list[Annotated[list[_Row], Field(min_length=1)]] = []  # lists of rows to compare
    # columns of the experiment, or keys as in `Result.value`; `epochs[CURVE,95]` is the number of epochs until a curve
    # has 95 % of its best score, and `A + B` is the mean of both
    keys: list[Text] = []
    items: NonNegativeInt = 0  # number of test items, where results have neither replicates nor this number
    undecidable: str = ""  # reason why open data cannot decide, whatever the numbers are; empty if they can
    tested: str = ""  # the test in words, in place of those that are made of `rows` and `keys`
    note: str = ""  # how the test differs from the paper's

    @model_validator(mode="after")
    def _check_test(self) -> Self:
        if not self.undecidable and not self.rows:
            raise ValueError("a claim has `rows` or `undecidable`")
        if self.kind == "level" and self.bound <= 0:
            raise ValueError("`level` needs a bound above 0")
        if self.kind in ("greater", "order", "level") and any(len(chain) < 2 for chain in self.rows):
            raise ValueError("one row is compared with nothing")
        return self

    def comparisons(self) -> "Iterator[Comparison]":
        """Yield what has to be true for the claim to hold."""
        for chain in self.rows:
            for key in self.keys or [""]:
                yield from self._of_chain([self._side(row, key) for row in chain])

    def _side(self, side: Side, key: str) -> Side:
        return side.model_copy(update={"experiment": side.experiment or self.experiment, "key": side.key or key})

    def _of_chain(self, sides: Sequence[Side]) -> "Iterator[Comparison]":
        match self.kind:
            case "greater":
                yield from (Comparison(sides[0], other, self.bound) for other in sides[1:])
            case "order":
                yield from (Comparison(first, second, self.bound) for first, second in pairwise(sides))
            case "level":
                yield from (Comparison(first, second, -self.bound) for first, second in permutations(sides, 2))
            case "at most":
                yield from (Comparison(None, side, -self.bound) for side in sides)
            case _:
                yield from (Comparison(side, None, self.bound) for side in sides)


@dataclass(frozen=True)
class Comparison:
    """`first − second > bound`, where None stands for 0."""

    first: Side | None
    second: Side | None
    bound: float

    @property
    def sides(self) -> list[Side]:
        """The sides that are rows."""
        return [side for side in (self.first, self.second) if side]

    @property
    def sign(self) -> int:
        """−1 if the difference is that of 0 and a row, so that the row's value is its negative; otherwise 1."""
        return 1 if self.first else -1


class Claims(_Table):
    """The file of claims."""

    rules: list[Text] = []  # what the verdicts of `papers.verdicts` mean
    looks: Annotated[int, Field(ge=1)] = 1  # times that verdicts were taken while runs were added (Bonferroni)
    claims: list[Claim]
    deviations: dict[PaperName, list[Text]] = {}  # how our runs differ from those of each paper

    @classmethod
    def load(cls, file: Path, experiments: Mapping[str, Experiment]) -> Self:
        """Read the claims in `file`; raise a DataError if a key or id is wrong, or names what is not declared."""
        found = validated(cls, read_toml(file), file)
        ids = [claim.id for claim in found.claims]
        if repeated := next((name for name in ids if ids.count(name) > 1), None):
            raise DataError(f"{file}: two claims have the id '{repeated}'")
        for claim in found.claims:
            for side in (side for each in claim.comparisons() for side in each.sides):
                _check_side(side, experiments, f"{file}: {claim.id}")
        return found


def _check_side(side: Side, experiments: Mapping[str, Experiment], where: str) -> None:
    if side.experiment not in experiments:
        raise DataError(f"{where}: {unknown_name('experiment', side.experiment, experiments)}")
    experiment = experiments[side.experiment]
    labels = [label for row in experiment.rows for label in row.all_labels]
    for label in {side.row, side.minus or side.row}.difference(labels):
        raise DataError(f"{where}: {unknown_name('row', label, labels)}")
    if not side.key:
        raise DataError(f"{where}: '{side.row}' has no key; name one in `keys`")
    columns = {column for row in experiment.rows for column in experiment.keys_of(row)}
    for name in side.key.split(" + "):
        if name not in columns and not {*".["} & {*name}:  # keys of metrics and of analyses have one of both
            raise DataError(f"{where}: {unknown_name('column', name, columns)}")
        if name not in columns and not name.startswith("epochs["):  # of a curve, see `verdicts.epochs`
            check_key(name, where)
