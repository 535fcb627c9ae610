"""The declarations in `experiments/`: one file for each table or figure, of a paper or our own, and presets of options.

`experiments/acl2017-t2.toml` declares the experiment `acl2017-t2`. `experiments/presets.toml` holds the hyperparameters
of the papers by name, and in `grids` those that they searched; `experiments/replica.toml` holds what stands for the
papers' data. The value "null" of an option stands for an empty one.
"""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal, Self, TypeVar, get_args

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    JsonValue,
    PositiveInt,
    ValidationError,
    model_validator,
)

from paraphrastic.base.errors import DataError, ParameterError, first_problem, unknown_name
from paraphrastic.base.reading import SMALL, regular

Data = Literal["open", "replica", "paper"]
PaperName = Literal["iclr2016", "charagram2016", "acl2017", "ldc2016"]
PRESETS, REPLICA = "presets.toml", "replica.toml"
CLAIMS = "claims.toml"  # see `papers.claims`
TASKS = "finetune."  # the keys of metrics of supervised tasks start so


def _check_distinct(seeds: list[int]) -> list[int]:
    if len(set(seeds)) < len(seeds):
        raise ValueError("a seed is named twice")
    return seeds


def _check_keys(settings: dict[str, Any]) -> dict[str, Any]:
    for key in settings:
        if key in _OF_ROWS or key.startswith("models."):
            raise ValueError(f"'{key}' is no key of `set`; a row has a key of its own for it")
    return settings


Text = Annotated[str, Field(min_length=1)]
_OF_ROWS = ("model", "corpus", "seed", "finetune.tasks", "analyses")  # keys of params.yaml
Seeds = Annotated[list[PositiveInt], AfterValidator(_check_distinct)]
Settings = Annotated[dict[str, JsonValue], AfterValidator(_check_keys)]
_T = TypeVar("_T", bound=BaseModel)


class Declaration(BaseModel):
    """A table of a file of declarations."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class Corpus(Declaration):
    """Names of corpora of training pairs on each kind of data."""

    open: Annotated[list[Text], Field(min_length=1)]  # on open data
    paper: Annotated[list[Text], Field(min_length=1)]  # on the papers' data
    replica: list[Text] = []  # in the replica, in place of what stands for the papers' data


# axes of a grid: the values to try of an option of the model's block, or of another key of params.yaml by dotted key; a
# mapping in place of a value sets the options that it names
Axes = dict[Text, Annotated[list[JsonValue], Field(min_length=1)]]


class Grid(Declaration):
    """Hyperparameters that a paper searched, see `papers.tuning`."""

    source: Text  # where the paper says so
    over: Axes = {}
    options: dict[str, JsonValue] = {}  # values of the model's block during the search, such as fewer epochs
    set: Settings = {}  # values of other keys of params.yaml during the search, by dotted key
    paper_corpus: list[Text] = []  # training pairs during the search on the papers' data; empty: those of the row


class Preset(Declaration):
    """Hyperparameters of a paper for one model."""

    model: Text  # name of the model
    options: dict[str, JsonValue]  # values of its block in models.yaml
    set: Settings = {}  # values of other keys of params.yaml, by dotted key
    grid: str | None = None  # name of the grid from which the paper chose them
    over: Axes = {}  # axes of the grid for this model, beside those of the grid or in place of them


class OpenPairs(Declaration):
    """Open data in place of a corpus of the papers."""

    corpus: Annotated[list[Text], Field(min_length=1)]
    set: Settings = {}  # values of keys of params.yaml, by dotted key


class Replica(Declaration):
    """The closest to the papers' data and settings that open data allow: presets hold, apart from what is here."""

    seeds: Annotated[Seeds, Field(min_length=1)]  # of each row
    corpora: dict[str, OpenPairs]  # by name of a corpus of the papers
    vectors: Text  # source of the word vectors that `start` starts from
    start: Preset  # the run whose word vectors are the initial ones, in place of PARAGRAM-SL999
    start_corpus: OpenPairs  # its pairs
    words: dict[str, JsonValue]  # options of all models that start from word vectors, in place of those of rows
    presets: dict[str, dict[str, JsonValue]]  # options in place of those of a preset, by its name

    def pairs(self, corpus: Corpus) -> OpenPairs:
        """Return what stands for corpora of the papers; a corpus that is not declared stands for itself."""
        found = [self.corpora.get(name) or OpenPairs(corpus=[name]) for name in corpus.replica or corpus.paper]
        settings = {key: value for each in found for key, value in each.set.items()}
        return OpenPairs(corpus=[name for each in found for name in each.corpus], set=settings)


class Row(Declaration):
    """One configuration of an experiment."""

    label: str = ""  # the row in the published table; a new one is a configuration that the paper does not have
    labels: list[Text] = []  # rows in the published table that one configuration fills, in place of `label`
    # columns that the configuration fills; all if empty. Several can share a label if their columns differ.
    columns: list[Text] = []
    key: str = ""  # key of a value for each of `columns`, in place of those of the experiment; `{column}` is the column
    model: Text  # name of the model
    preset: str | None = None  # hyperparameters on the paper's data; on open data those of params.yaml hold
    options: dict[str, JsonValue] = {}  # values of the model's block in models.yaml, on all data
    open_options: dict[str, JsonValue] = {}  # values of the model's block on open data only
    paper_options: dict[str, JsonValue] = {}  # on the papers' data only, and in their replica
    replica_options: dict[str, JsonValue] = {}  # in the replica only
    set: Settings = {}  # values of other keys of params.yaml, by dotted key, on all data
    paper_set: Settings = {}  # on the papers' data only, and in their replica
    replica_set: Settings = {}  # in the replica only
    corpus: Corpus | None = None  # training pairs, in place of those of the experiment
    seeds: Seeds = []  # in place of those of the experiment
    replica_seeds: Seeds = []  # in place of those of the replica
    tasks: list[Text] = []  # supervised tasks to train on
    paper_tasks: list[Text] = []  # in place of them on the papers' data
    analyses: list[Text] = []  # analyses to compute
    # label of the row of this experiment whose word embeddings are the initial vectors on open data; in the replica
    # those of its own are, and on the papers' data a person names the file
    start: str | None = None
    against: str | None = None  # label of the row with whose scores the analyses of two runs compare those of this row
    grid: str | None = None  # name of a grid in place of that of the preset, whose `over` does not count then
    over: Axes = {}  # axes beside those of the grid or in place of them
    # values that a search chose, by option of the model's block or by dotted key, in place of all others
    tuned: dict[str, JsonValue] = {}
    hidden: bool = False  # not shown, because other rows only start from it or are compared with it
    x: float | str | None = None  # position on the horizontal axis of a figure
    series: str | None = None  # line of a figure that the row belongs to
    note: str = ""  # text beside the row
    # texts by column that `docs/tables.py` shows where a run fills none: numbers that no run measures, and results of
    # an earlier version until the row is run again
    cells: dict[str, Text] = {}

    @model_validator(mode="after")
    def _check_labels(self) -> Self:
        if bool(self.label) == bool(self.labels):
            raise ValueError("a row has either `label` or `labels`")
        return self

    @property
    def all_labels(self) -> list[str]:
        """The published rows that this configuration fills."""
        return self.labels or [self.label]


class Figure(Declaration):
    """How the results of an experiment are drawn."""

    # `line` through the rows of a series, `bar` for each row, or `curve`: a line for each row through its scores during
    # training
    kind: Literal["line", "bar", "curve"]
    x: str  # label of the horizontal axis
    y: str  # label of the vertical axis
    column: str  # the column that is drawn; for `curve`, the name of the curve, `{task}` being the first task
    log: bool = False  # whether the horizontal axis is logarithmic


class Experiment(Declaration):
    """A table or figure, of a paper or our own."""

    id: str  # name of the file without its ending
    # short name of the paper; None for a table of our own, which has no published numbers
    paper: PaperName | None = None
    table: Text  # `T2`, `F1`, or `S5.1` for numbers of a section, as in the published figures
    title: Text  # one line
    caption: Text  # what is measured, and how ours differs
    corpus: Corpus  # training pairs on each kind of data
    # published column → key of a value of a run; `{label}` stands for the row's label, `{query}` for the label without
    # its first word, `{task}` for the first task
    columns: dict[str, Text] = {}
    paper_set: Settings = {}  # values of keys of params.yaml for all rows on the papers' data
    grid: str | None = None  # name of a grid for all rows that name none, in place of that of their presets
    seeds: Annotated[Seeds, Field(min_length=1)] = [1]  # seeds of each row
    rows: list[Row] = []  # the configurations
    figure: Figure | None = None  # how the results are drawn; None for a table
    finding: list[Text] = []  # the paper's finding, and whether it holds on open data; the first text leads
    missing: str = ""  # reason why rows of the paper are not here
    scale: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 1.0  # factor from the published unit to ours
    # label of the row from which the differences of the other rows are shown too, where the paper's mean has sets that
    # ours lacks
    reference: str | None = None
    shows: list[Text] = []  # analyses whose tables are shown whole, for the first seed of each row that computes them

    @model_validator(mode="after")
    def _check_rows(self) -> Self:
        labels = [label for row in self.rows for label in row.all_labels]
        if unknown := {each for row in self.rows if not row.key for each in row.columns} - set(self.columns):
            raise ValueError(f"a row names the unknown column '{min(unknown)}'")
        cells = [(label, each) for row in self.rows for label in row.all_labels for each in self.keys_of(row)]
        if repeated := {cell for cell in cells if cells.count(cell) > 1}:
            raise ValueError("two rows are labelled '{}' and have the column '{}'".format(*min(repeated)))
        named = {name for row in self.rows for name in (row.start, row.against) if name}
        if unknown := (named | ({self.reference} if self.reference else set())) - set(labels):
            raise ValueError(f"`start`, `against` or `reference` names no row: '{min(unknown)}'")
        for row in self.rows:  # `papers run` works in two rounds, so that rows that are referred to refer to none
            if row.start and (self.row(row.start).start or self.row(row.start).against):
                raise ValueError(f"`start` of '{row.all_labels[0]}' names a row that has `start` or `against` itself")
            if row.against and self.row(row.against).against:
                raise ValueError(f"`against` of '{row.all_labels[0]}' names a row that has `against` itself")
        return self

    @model_validator(mode="after")
    def _check_figure(self) -> Self:
        figure = self.figure
        filled = {column for row in self.rows for column in self.keys_of(row)}
        if figure and figure.kind != "curve" and figure.column not in filled:
            raise ValueError(f"the figure draws the unknown column '{figure.column}'")
        if figure and figure.kind == "line" and any(row.x is None for row in self.rows):
            raise ValueError("each row of a figure of lines needs `x`")
        places = [row.x for row in self.rows if row.x is not None]
        if len({isinstance(x, str) for x in places}) > 1:
            raise ValueError("`x` is a number in some rows and text in others")
        if figure and figure.log and any(isinstance(x, str) or x <= 0 for x in places):
            raise ValueError("a logarithmic axis needs numbers above 0 as `x`")
        return self

    def keys_of(self, row: Row) -> Mapping[str, str]:
        """Return the columns that a row fills, with their keys."""
        if row.key:
            return {column: row.key.replace("{column}", column) for column in row.columns}
        return {column: self.columns[column] for column in row.columns or self.columns}

    def needs_sets(self, row: Row) -> bool:
        """Return whether a row needs metrics on evaluation sets, not of supervised tasks alone."""
        other = any(not key.startswith(TASKS) for key in self.keys_of(row).values())
        return other or bool(row.analyses) or not row.tasks

    def row(self, label: str) -> Row:
        """Return the row with a label."""
        return next(row for row in self.rows if label in row.all_labels)


@dataclass(frozen=True)
class Experiments:
    """All declarations."""

    by_id: Mapping[str, Experiment]  # the experiments, by paper and then by number; those without a paper are last
    presets: Mapping[str, Preset]  # the presets by name
    # content of all parameter files, whose values the settings of a row replace
    params: Mapping[str, Any] = field(default_factory=dict)
    grids: Mapping[str, Grid] = field(default_factory=dict)  # the grids by name
    replica: Replica | None = None  # what stands for the papers' data; None in a project without the papers

    @classmethod
    def load(cls, folder: Path, params: Mapping[str, Any]) -> Self:
        """Read and check the declarations in `folder`.

        Raises:
            DataError: the folder is missing, a file is not TOML, has an unknown, missing or wrong key, or a row names
                an unknown preset or one of another model.
        """
        if not folder.is_dir():
            raise DataError(f"{folder}: no such folder; run this in the root of the repository")
        content, replica = read_toml(folder / PRESETS), folder / REPLICA
        presets = validated(_Presets, {"grids": content.pop("grids", {}), "presets": content}, folder / PRESETS)
        replaced = validated(Replica, read_toml(replica), replica) if replica.exists() else None
        if unknown := replaced and replaced.presets.keys() - presets.presets:
            raise DataError(f"{replica}: presets: {unknown_name('preset', min(unknown), presets.presets)}")
        files = [file for file in folder.glob("*.toml") if file.name not in (PRESETS, REPLICA, CLAIMS)]
        experiments = [validated(Experiment, read_toml(file) | {"id": file.stem}, file) for file in files]
        for experiment in experiments:
            _check_presets(experiment, presets, folder)
        ordered = sorted(experiments, key=_order)
        return cls({each.id: each for each in ordered}, presets.presets, params, presets.grids, replaced)

    def select(self, ids: list[str]) -> list[Experiment]:
        """Return the experiments with these ids; all if there are none.

        Raises:
            ParameterError: there is no such experiment.
        """
        for name in ids:
            if name not in self.by_id:
                raise ParameterError(unknown_name("experiment", name, self.by_id))
        return [self.by_id[name] for name in dict.fromkeys(ids)] or list(self.by_id.values())


class _Presets(Declaration):
    grids: dict[str, Grid]
    presets: dict[str, Preset]

    @model_validator(mode="after")
    def _check_grids(self) -> Self:
        for preset in self.presets.values():
            if preset.grid is not None and preset.grid not in self.grids:
                raise ValueError(unknown_name("grid", preset.grid, self.grids))
        return self


_KINDS = "TFS"  # tables, figures, sections; then tables that are not of a paper


def _order(experiment: Experiment) -> tuple[int, int, list[int], str]:
    numbers = [int(number) for number in re.findall(r"\d+", experiment.table)]  # of a section several: S5.1
    kind = f"{_KINDS}{experiment.table[0]}".index(experiment.table[0])
    return [*get_args(PaperName), None].index(experiment.paper), kind, numbers, experiment.id


def read_toml(file: Path) -> dict[str, Any]:
    """Return the content of a file of declarations; raise a DataError if it is missing or not TOML."""
    try:
        return tomllib.loads(regular(file, SMALL).read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise DataError(f"{file}: no such file; restore it with `git checkout {file}`") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise DataError(f"{file}: not valid TOML: {error}") from error


def validated(section: type[_T], content: dict[str, Any], file: Path) -> _T:
    """Return the checked content of such a file; raise a DataError if a key is unknown, missing or wrong."""
    try:
        return section.model_validate(content)
    except ValidationError as error:
        raise DataError(f"{file}: {first_problem(error)}") from error


def _check_presets(experiment: Experiment, declared: _Presets, folder: Path) -> None:
    file, presets = f"{folder / experiment.id}.toml", declared.presets
    for row in experiment.rows:
        if row.preset is not None and row.preset not in presets:
            raise DataError(f"{file}: {unknown_name('preset', row.preset, presets)}")
        if row.preset is not None and presets[row.preset].model != row.model:
            raise DataError(f"{file}: preset '{row.preset}' is not for the model {row.model}")
    for name in {experiment.grid, *(row.grid for row in experiment.rows)} - {None, *declared.grids}:
        raise DataError(f"{file}: {unknown_name('grid', str(name), declared.grids)}")
