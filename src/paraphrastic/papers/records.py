"""Read results from DVC's own records: experiments, the last commit, and the workspace."""

import csv
import hashlib
import io
import posixpath
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache, partial
from pathlib import Path
from typing import Any, NamedTuple

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from paraphrastic.analysis.comparison.repository import dvc_repository, experiments, path_in
from paraphrastic.base.errors import ParameterError, did_you_mean
from paraphrastic.base.files import flat
from paraphrastic.base.parameters import FILES
from paraphrastic.base.reading import parse_json
from paraphrastic.evaluation.suite import uses_spearman
from paraphrastic.papers.plan import Flat, Run, corpus_text, determining, differences, read_all
from paraphrastic.papers.results import Result

LOCKS = ("dvc.lock", "finetune/dvc.lock", "analyze/dvc.lock")
METRICS, SETS, SELECTION = "metrics/evaluate.json", "metrics/sets.csv", "metrics/selection.csv"
MAIN_METRICS = ("pearson", "map", "accuracy")  # the first that a set has is its value
COLUMNS = {
    "STS": "sts.mean",
    "STS 2016": "sts.2016",
    "SICK": "sick.pearson",
    "transfer": "transfer.mean",
    "sample": "sample.sts.mean",
}
_OWN_COLUMN = ("model", "corpus", "benchmarks")  # shown in a column, or by which metrics there are
_NUMBER = r"-?[0-9]+(\.[0-9]*)?(e[+-]?[0-9]+)?"
# raised by files that were edited by hand, or that have the form of another version
_MALFORMED = YAMLError, csv.Error, ValueError, LookupError, TypeError, AttributeError, RecursionError


@dataclass(frozen=True)
class Record:
    """The results of one revision."""

    name: str  # name of the experiment or branch, `HEAD` or `workspace`
    rev: str | None  # its commit; None for the workspace
    read: Callable[[str], str]  # returns the text of one of its files; an empty string if it is missing

    @cached_property
    def parameters(self) -> Flat:
        """The parameters that determine its metrics; none if its params.yaml is not one of this package."""
        try:
            return determining(self.params, with_tasks=True)
        except _MALFORMED:
            return {}

    @property
    def values(self) -> Mapping[str, float]:
        """Its metrics of sets and of tasks, as far as they are of its parameters, by key as in `Result`."""
        has_sets = all(map(self._is_current, (METRICS, SETS)))  # a run of a task alone has those of another commit
        result = self.result(Run("", {}, 0, self._current_tasks, sets=has_sets)) if self.parameters else None
        return result.values if result else {}

    @property
    def _current_tasks(self) -> tuple[str, ...]:
        try:
            tasks = self.params["finetune"]["tasks"]
            return tuple(task for task in tasks if self._is_current(f"metrics/finetune/{task}.json"))
        except _MALFORMED:
            return ()

    def result(self, run: Run) -> Result | None:
        """Return its metrics, with the tasks and analyses of `run`; None if they are not those of its parameters."""
        try:
            return self._result(run)
        except _MALFORMED:
            return None

    def _result(self, run: Run) -> Result | None:
        tasks = [f"metrics/finetune/{task}.json" for task in run.tasks]
        analyses = {name: f"metrics/analysis/{name}.csv" for name in run.analyses}
        sets = [METRICS, SETS] if run.sets else []
        if not all(map(self._is_current, [*sets, *tasks, *analyses.values()])):
            return None
        values = dict(_of_sets(_rows(self.read(SETS)))) if run.sets else {}
        for path in (*sets[:1], *tasks):
            values |= flat(parse_json(self.read(path)))
        tables = {name: _rows(self.read(path)) for name, path in analyses.items()}
        curves = {"selection": SELECTION} | {task: f"metrics/finetune/{task}.csv" for task in run.tasks}
        points = {name: _rows(self.read(path))[1:] for name, path in curves.items() if self._is_current(path)}
        version = tomllib.loads(self.read("pyproject.toml"))["project"]["version"]
        return Result(version, values, tables, {name: rows for name, rows in points.items() if rows})

    @cached_property
    def params(self) -> Mapping[str, Any]:
        """Content of all parameter files; none if one is damaged."""
        try:
            return read_all(lambda path: parse_yaml(self.read(path)))
        except _MALFORMED:
            return {}

    @cached_property
    def _outputs(self) -> dict[str, tuple[Mapping[str, Any], str]]:
        """The stage that writes each output, and the digest of the output, from DVC's lock files."""
        contents = [parse_yaml(text) for path in LOCKS if (text := self.read(path))]
        stages = [stage for content in contents for stage in content.get("stages", {}).values()]
        return {out["path"]: (stage, out["md5"]) for stage in stages for out in stage.get("outs", [])}

    def _is_current(self, path: str) -> bool:
        """Return whether a file is the output of its stage for these parameters and for current inputs."""
        text = self.read(path)
        return bool(text) and self._is_made(path, _md5(text))

    def _is_made(self, path: str, digest: str) -> bool:
        """Return whether a stage wrote this output, with these parameters and on inputs of which the same holds."""
        stage, known = self._outputs.get(path, ({}, None))
        if known != digest:
            return False
        deps = {dep["path"]: dep["md5"] for dep in stage.get("deps", [])}
        params = [(file, *each) for file, values in stage.get("params", {}).items() for each in values.items()]
        return (
            all(self._value(file, key) == value for file, key, value in params)
            and all(_md5(self.read(file)) == deps[file] for file in deps.keys() & FILES.values())
            and all(self._is_made(path, md5) for path, md5 in deps.items() if path.startswith("data/"))
        )

    def _value(self, file: str, key: str) -> Any:
        """Return a value of a parameter file; None if there is none."""
        value: Any = self.params
        for name in [*(name for name, path in FILES.items() if path == file), *key.split(".")]:
            value = value.get(name) if isinstance(value, Mapping) else None
        return value


def _md5(text: str) -> str:
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()


@contextmanager
def records(root: Path) -> Iterator[list[Record]]:
    """Yield the records of a repository: its workspace, its last commit, its branches, and its experiments.

    Raises:
        ParameterError: `root` has no commit or no DVC, or git or DVC cannot read it, with the reason that they give.
    """
    with dvc_repository(root) as repo:
        tree, folder = cache(repo.scm.get_fs), path_in(repo.scm.root_dir, root)  # `get_fs` reads all of a commit
        revisions = _revisions(repo.scm).items()

        def of_commit(rev: str, path: str) -> bytes:
            content: bytes = tree(rev).cat_file(posixpath.join("/", folder, path))
            return content

        commits = [Record(name, rev, partial(_text, partial(of_commit, rev))) for name, rev in revisions]
        yield [Record("workspace", None, partial(_text, lambda path: (root / path).read_bytes())), *commits]


def _revisions(scm: Any) -> dict[str, str]:
    """Return commits by name: the last one, those of branches, and experiments; of equal names the latest."""
    head = scm.get_rev()
    branches = {ref.removeprefix("refs/heads/"): scm.get_ref(ref) for ref in scm.iter_refs("refs/heads")}
    other = {name: rev for name, rev in branches.items() if rev != head}
    return {"HEAD": head, **other, **dict(sorted(dict(experiments(scm)).items()))}


def _text(read_bytes: Callable[[str], bytes], path: str) -> str:
    """Return the text of a file; an empty string if it is missing."""
    try:
        return read_bytes(path).decode("utf-8", errors="replace")
    except FileNotFoundError:
        return ""


@lru_cache(maxsize=16)  # most experiments have the same lock files of tasks and analyses
def parse_yaml(text: str) -> Any:
    """Return the content of a text in YAML, which callers share; an empty mapping if there is none."""
    return YAML(typ="safe", pure=True).load(text) or {}  # YAML 1.2, in which 1e-5 is a number


def _rows(text: str) -> list[list[Any]]:
    """Return the rows of a CSV file; cells are numbers in columns that have no other text than the column's name."""
    header, *rows = csv.reader(io.StringIO(text)) if text else [[]]
    columns: list[Sequence[Any]] = list(zip(*rows, strict=True))
    for place, cells in enumerate(columns):
        if all(re.fullmatch(_NUMBER, cell) for cell in cells if cell):  # the word `nan` is text
            columns[place] = [cell and (int(cell) if cell.lstrip("-").isdecimal() else float(cell)) for cell in cells]
    return [list(header), *map(list, zip(*columns, strict=True))]


def _of_sets(rows: list[list[Any]]) -> Iterator[tuple[str, float]]:
    """Yield the metrics of each set: `sts.2012.MSRpar` is its main metric, `sts.2012.MSRpar.oov` another column."""
    for row in rows[1:]:
        values = {key: value for key, value in zip(rows[0], row, strict=True) if isinstance(value, int | float)}
        wanted = ("spearman",) if uses_spearman(row[0]) else MAIN_METRICS
        main = next((key for key in wanted if key in values), "")
        yield from ((f"{row[0]}.{key}", value) for key, value in values.items())
        if main:
            yield row[0], values[main]


class Entry(NamedTuple):
    """A record with metrics: its name, its corpora with `+` between them, and its metrics by dotted key.

    `changed` are other parameters with another value than in the last commit, as `KEY=VALUE`; those of its model's
    block are without the block's name.
    """

    name: str
    model: str
    corpus: str
    changed: str
    metrics: Mapping[str, float]


def entries(records: Iterable[Record], by: str | None = None) -> list[Entry]:
    """Return the records whose metrics are those of their parameters, the largest first and those without `by` last.

    Args:
        records: of the repository.
        by: dotted key of a metric; by default the first of `COLUMNS` that a record has.

    Raises:
        ParameterError: no record has this metric.
    """
    records = list(records)
    defaults = next((record.params for record in records if record.name == "HEAD" and record.parameters), {})
    found = [_entry(record, values, defaults) for record in records if (values := record.values)]
    known = dict.fromkeys(key for entry in found for key in entry.metrics)
    by = by or next((key for key in COLUMNS.values() if key in known), None)
    if by and found and by not in known:
        hint = did_you_mean(by, known).rstrip() or "metrics/evaluate.json and metrics/sets.csv have them"
        raise ParameterError(f"no experiment has the metric '{by}': {hint}")
    return sorted(found, key=lambda entry: -entry.metrics.get(by or "", float("-inf")))


def table(found: Sequence[Entry], by: str | None = None) -> tuple[list[str], list[list[str]]]:
    """Return the header and the rows: `COLUMNS` without metrics that no entry has, and `by` if it is another one."""
    keys = COLUMNS if by is None or by in COLUMNS.values() else {by: by, **COLUMNS}
    shown = {title: key for title, key in keys.items() if any(key in entry.metrics for entry in found)}
    rows = [
        [*texts, *(f"{metrics[key]:.2f}" if key in metrics else "" for key in shown.values())]
        for *texts, metrics in found
    ]
    return ["experiment", "model", "corpus", "changed", *shown], rows


def _entry(record: Record, values: Mapping[str, float], defaults: Mapping[str, Any]) -> Entry:
    own, model = record.parameters, str(record.parameters["model"])
    usual = determining({**defaults, "model": model}, with_tasks=True) if model in defaults.get("models", ()) else {}
    changed = [key for key in differences(own, usual) if key not in _OWN_COLUMN]
    values_of = {key: "null" if own[key] is None else str(own[key]).replace(" ", "") for key in changed}
    texts = [f"{key.removeprefix(f'models.{model}.')}={value}" for key, value in values_of.items()]
    return Entry(record.name, model, corpus_text(own["corpus"]), " ".join(texts), values)
