"""DVC's records as a table: the workspace, commits and experiments, with what they changed and measured."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from paraphrastic.base.errors import ParameterError, did_you_mean
from paraphrastic.papers.parameters import determining, differences
from paraphrastic.papers.records import Record

COLUMNS = {
    "STS": "sts.mean",
    "STS 2016": "sts.2016",
    "SICK": "sick.pearson",
    "transfer": "transfer.mean",
    "sample": "sample.sts.mean",
}
_OWN_COLUMN = ("model", "corpus", "benchmarks")  # shown in a column, or by which metrics there are


@dataclass(frozen=True)
class Entry:
    """A record with metrics.

    Attributes:
        name: of the experiment or branch, `HEAD` or `workspace`.
        model: name of its model.
        corpus: names of its corpora, with `+` between them.
        changed: other parameters with another value than in the last commit, as `KEY=VALUE`; those of its model's block
            without the block's name.
        metrics: numbers by dotted key.
    """

    name: str
    model: str
    corpus: str
    changed: Sequence[str]
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
        [entry.name, entry.model, entry.corpus, " ".join(entry.changed), *_numbers(entry, shown.values())]
        for entry in found
    ]
    return ["experiment", "model", "corpus", "changed", *shown], rows


def _numbers(entry: Entry, keys: Iterable[str]) -> list[str]:
    return [f"{entry.metrics[key]:.2f}" if key in entry.metrics else "" for key in keys]


def _entry(record: Record, values: Mapping[str, float], defaults: Mapping[str, Any]) -> Entry:
    own, model = record.parameters, str(record.parameters["model"])
    usual = determining({**defaults, "model": model}, with_tasks=True) if model in defaults.get("models", ()) else {}
    changed = [key for key in differences(own, usual) if key not in _OWN_COLUMN]
    texts = [f"{key.removeprefix(f'models.{model}.')}={_text(own[key])}" for key in changed]
    return Entry(record.name, model, "+".join(own["corpus"]), texts, values)


def _text(value: Any) -> str:
    return "null" if value is None else str(value).replace(" ", "")
