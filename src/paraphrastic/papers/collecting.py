"""Gather the results of runs: stored ones, and those in DVC's records."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from paraphrastic.papers.parameters import differences, expected
from paraphrastic.papers.plan import Run
from paraphrastic.papers.records import Record
from paraphrastic.papers.results import Result, Store


def collect(
    runs: Iterable[Run], store: Store, records: Sequence[Record], params: Mapping[str, Any], version: str
) -> list[str]:
    """Add to `store` the results in `records` of runs that it lacks or has from an earlier version.

    Records that have the name of a stored result are those that were stored; they are read again only for runs whose
    stored result is outdated.

    Args:
        runs: the runs.
        store: the stored results.
        records: of the repository.
        params: content of params.yaml.
        version: of the package.

    Returns:
        Warnings: runs with two results, and stored results that do not count any more.
    """
    runs = list(runs)
    unknown = [each for each in records if not store.has(each.name)]
    warnings = []
    for run in runs:
        own = [each for each in records if each.name == run.name and store.has(run.name)]
        candidates = unknown if is_stored(run, store, version) else own + unknown
        warnings += _add(run, store, list(matching(run, candidates, params)), version)
    return [*warnings, *_outdated(runs, store, version)]


def matching(run: Run, records: Iterable[Record], params: Mapping[str, Any]) -> Iterator[tuple[Record, Result]]:
    """Yield the records with results of the parameters of `run`, the experiment that has its name first."""
    wanted = expected(params, run)
    for record in sorted(records, key=lambda each: each.name != run.name):
        if record.parameters and not differences(record.parameters, wanted) and (result := record.result(run)):
            yield record, result


def missing(runs: Iterable[Run], store: Store, version: str) -> list[Run]:
    """Return the runs without a stored result of this version and these parameters."""
    return [run for run in runs if not is_stored(run, store, version)]


def is_stored(run: Run, store: Store, version: str) -> bool:
    """Return whether there is a stored result of `run`, of this version and these parameters."""
    result = store.result(run)
    return result is not None and result.version == version and not store.changed(run)


def _add(run: Run, store: Store, found: list[tuple[Record, Result]], version: str) -> list[str]:
    """Store the first result of this version, or of any, unless one is stored; return a warning if others differ."""
    if not found:
        return []
    name, chosen = "the stored result", store.result(run)
    if chosen is None or not is_stored(run, store, version):
        record, chosen = min(found, key=lambda each: each[1].version != version)
        name = f"'{record.name}'"
        store.add(run, chosen, record.parameters)
    other = [each.name for each, result in found if result.version == chosen.version and chosen.contradicts(result)]
    if not other:
        return []
    return [f"{run.name}: {name} and '{other[0]}' have different results; {name} counts, remove the wrong one"]


def _outdated(runs: Iterable[Run], store: Store, version: str) -> list[str]:
    """Return one line for each reason why stored results do not count."""
    names: dict[str, list[str]] = {}
    for run in runs:
        result, changed = store.result(run), store.changed(run)
        if result is not None and changed:
            names.setdefault(f"stored with another {changed[0]}", []).append(run.name)
        elif result is not None and result.version != version:
            names.setdefault(f"stored by version {result.version}, this is {version}", []).append(run.name)
    return [f"{_several(each)}: {reason}; `paraphrastic papers run` runs it again" for reason, each in names.items()]


def _several(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more"
