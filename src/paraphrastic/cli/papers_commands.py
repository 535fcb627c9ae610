"""Commands for the tables, figures and claims of the papers: list, run, report, claims."""

import re
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from typer import Argument, BadParameter, Option, Typer

from paraphrastic.base.console import message, print_rows, progress
from paraphrastic.base.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paraphrastic.papers.comparing import Comparison
    from paraphrastic.papers.experiments import Data, Experiment
    from paraphrastic.papers.plan import Run
    from paraphrastic.papers.project import Project
    from paraphrastic.papers.running import Runner
    from paraphrastic.papers.tuning import Search

papers = Typer(help="Tables, figures and claims of the papers.", no_args_is_help=True)

_ID = Argument(metavar="ID", help="Experiments, as `paraphrastic papers list` prints them.")
_Kind = Literal["open", "replica", "paper"]
_DATA = Option("--data", help="Data: open, a replica of the papers', theirs.")


@papers.command("list")
def list_(data: Annotated[_Kind | None, _DATA] = None) -> None:
    """Print the runs, minutes and data of experiments.

    Without --data, those of the replica for the papers' tables, and of open data for others. Runs: how many are stored.
    Minutes: of the others, estimated from stored runs of the same models, on the same corpora if there are any. Here:
    how many sources are on this computer; the pipeline fetches the others, except for those to bring.
    """
    from paraphrastic.papers.project import find_project

    project = find_project()
    header = "experiment", "runs", "minutes", "data", "here", "to bring", "title"
    usual: Data = "replica" if project.experiments.replica else "open"
    shown = [(each, data or (usual if each.paper else "open")) for each in project.experiments.by_id.values()]
    print_rows(header, [_summary(project, each, kind) for each, kind in shown])


@papers.command()
def run(
    ids: Annotated[list[str], _ID],
    data: Annotated[_Kind, _DATA] = "open",
    seeds: Annotated[str, Option(help="Seeds with commas between them, in place of the declared ones.")] = "",
    jobs: Annotated[int, Option(min=1, help="Runs at the same time; several have one thread each.")] = 1,
    vectors: Annotated[
        Path | None, Option(exists=True, dir_okay=False, help="Word vectors that the papers' data start from.")
    ] = None,
    dry: Annotated[bool, Option("--dry", help="Print commands; of a search, how many runs.")] = False,
    tune: Annotated[bool, Option("--tune", help="First search the grids of the papers.")] = False,
    over: Annotated[str, Option(help="Axes to search, with commas, in place of all.")] = "",
) -> None:
    """Run what is missing of experiments through DVC's queue.

    After an interruption the same command goes on.
    """
    from paraphrastic.papers.project import find_project
    from paraphrastic.papers.queue import QueueError
    from paraphrastic.papers.running import Runner

    project = find_project(read_only=dry)
    runner = Runner(project, jobs, vectors)
    experiments = project.experiments.select(ids)
    if tune:
        _tune(runner, experiments, data, over, _seeds(seeds), dry)
    elif over:
        raise BadParameter("names axes of a search; add --tune", param_hint="--over")
    if tune and dry:
        return
    runs = project.plan(experiments, data, _seeds(seeds))
    for warning in project.collect(runs):
        message(warning)
    project.compare_runs(runs)  # what cannot be compared, because scores are not here, is run again
    if dry:
        sys.stdout.writelines(f"{shlex.join(runner.command(each))}\n" for each in runner.needed(runs))
        return
    failures = _run_missing(runner, runs)
    for warning in project.compare_runs(runs):
        message(warning)
    if failures:
        raise QueueError(failures)


def _tune(
    runner: "Runner", experiments: "Sequence[Experiment]", data: "Data", over: str, seeds: "Sequence[int]", dry: bool
) -> None:
    """Search the grids of experiments and store the choices; print how many runs they need if `dry`."""
    from paraphrastic.papers.plan import merge
    from paraphrastic.papers.tuning import searches

    project, axes = runner.project, [axis.strip() for axis in over.split(",")] if over else []
    found = [(each, searches(each, project.experiments, data, axes, seeds)) for each in experiments]
    runs = [[run for search in part for _, group in search.runs for run in group] for _, part in found]
    distinct = merge(run for part in runs for each in part for run in (each.start, each) if run)
    for warning in project.collect(distinct):
        message(warning)
    if dry:
        header = "experiment", "row", "selected by", "settings", "runs", "to run", "axes"
        print_rows(header, [_counts(project, each, search) for each, part in found for search in part])
        message(f"{len(distinct)} distinct runs, of which {len(runner.needed(distinct))} are to run")
        return
    if failures := _run_missing(runner, distinct):
        message(failures)  # a point of a grid may be one at which training does not converge
    for experiment, part in found:
        project.choices.add(experiment, data, [best for search in part if (best := search.best(project.store))])


def _counts(project: "Project", experiment: "Experiment", search: "Search") -> tuple[str, ...]:
    """Return the line of a search in the list of a dry run."""
    runs = [run for _, group in search.runs for run in group]
    axes = ", ".join(f"{axis} ({len(values)})" for axis, values in search.axes.items())
    counts = len(search.runs), len(runs), len(project.missing(runs))
    return experiment.id, search.row.all_labels[0], search.key, *map(str, counts), axes


def _run_missing(runner: "Runner", runs: "Sequence[Run]") -> str:
    """Run what is missing of `runs`; return which failed, as text."""
    from paraphrastic.papers.project import DataNeeds
    from paraphrastic.sources.locations import DataLocations

    project, needed, locations = runner.project, runner.needed(runs), DataLocations.from_environment()
    if needed:
        DataNeeds.of(needed, locations).check(locations)
    _check_vectors(project, needed, runner.vectors)
    message(f"{len(runs) - len(project.to_run(runs))} of {len(runs)} runs are here; {len(needed)} to run")
    try:
        with progress() as bar:
            task = bar.add_task("runs", total=len(needed))
            failed = runner.run(needed, lambda _: bar.advance(task))
    except KeyboardInterrupt:
        if commands := runner.queue.how_to_stop():
            message("experiments wait or run in the background; the same command follows them, this one stops them:")
            message(commands)
        raise
    names = f"{', '.join(failed[:3])}{' and others' if len(failed) > 3 else ''}"
    return f"{len(failed)} of {len(needed)} failed: {names}; `dvc queue logs {failed[0]}` shows why" if failed else ""


@papers.command()
def report(
    ids: Annotated[list[str] | None, _ID] = None,
    data: Annotated[_Kind | None, _DATA] = None,
    docs: Annotated[bool, Option("--docs", help="Write docs/papers in place of printing; all experiments.")] = False,
) -> None:
    """Print the published tables beside ours.

    Ours are stored results and those in DVC's records, without --data those of the replica of the papers' data if a
    table has any, otherwise those of open data. What is missing is a gap.
    """
    from paraphrastic.papers.claims_page import section
    from paraphrastic.papers.pages import PAPERS, links, write_docs
    from paraphrastic.papers.project import find_project

    project = find_project(read_only=True)
    if docs and ids:
        raise BadParameter("--docs writes all experiments; leave out the names", param_hint="ID")
    experiments = project.experiments.select(ids or [])
    kinds: list[Data] = [data] if data else ["open", "replica"] if project.experiments.replica else ["open"]
    for warning in project.collect([run for each in kinds for run in project.plan(experiments, each)]):
        message(warning)
    comparisons = [project.compare(each, data) if data else project.shown(each) for each in experiments]
    if docs:
        claims_of_papers = section(project.decide(), project.claims, PAPERS, links(comparisons))
        write_docs(comparisons, project.root / "docs/papers", claims_of_papers)
    else:
        for comparison in comparisons:
            _print(comparison)


@papers.command()
def claims() -> None:
    """Print the claims of the papers with their tests and verdicts.

    The verdicts are those of stored results.
    """
    from paraphrastic.papers.claims_page import HEADER, cells, summary
    from paraphrastic.papers.project import find_project

    decisions = find_project(read_only=True).decide()
    print_rows(HEADER, map(cells, decisions))
    message(summary(decisions))


def _print(comparison: "Comparison") -> None:
    """Print a comparison: on a terminal between heading and facts, otherwise as rows that begin with its id."""
    from paraphrastic.papers.facts import details
    from paraphrastic.papers.pages import analysis_tables

    names, first = ([], []) if sys.stdout.isatty() else (["experiment"], [comparison.experiment.id])
    rows = [
        (
            *first,
            line.label,
            column,
            cell.theirs,
            cell.shown_mean,
            cell.shown_spread,
            cell.shown_difference or (f"without {', '.join(cell.lacks)}" if cell.partial else ""),
            details(line),
        )
        for line in comparison.lines
        for column, cell in line.cells.items()
        if cell.theirs or cell.shown_mean
    ]
    _print_on_terminal(_heading(comparison))
    if rows:
        print_rows((*names, "row", "column", "theirs", "ours", "±", "difference", "data"), rows)
    for title, header, cells in analysis_tables(comparison):
        _print_on_terminal(["", title if cells else f"{title}: no results yet"])
        if cells:
            print_rows((*names, *header), [(*first, *each) for each in cells])
    _print_on_terminal(_notes(comparison))


def _heading(comparison: "Comparison") -> "list[str]":
    from paraphrastic.papers.figures import description
    from paraphrastic.papers.pages import heading

    experiment = comparison.experiment
    figure = [description(comparison)] if experiment.figure else []
    return ["", f"{experiment.id}  {heading(comparison)}", experiment.caption, *figure]


def _notes(comparison: "Comparison") -> "list[str]":
    from paraphrastic.papers.facts import facts

    finding = comparison.experiment.finding
    found = [*([("finding", [" ".join(finding)])] if finding else []), *facts(comparison)]
    return [f"{term}: {'; '.join(texts)}" for term, texts in found]


def _print_on_terminal(lines: "Sequence[str]") -> None:
    if sys.stdout.isatty():
        sys.stdout.writelines(f"{line}\n" for line in lines)


def _summary(project: "Project", experiment: "Experiment", data: "Data") -> tuple[str, ...]:
    """Return the line of an experiment in the list."""
    from paraphrastic.papers.plan import needs_vectors
    from paraphrastic.papers.project import DataNeeds
    from paraphrastic.sources.locations import DataLocations

    runs = project.plan([experiment], data)
    missing, needs = project.to_run(runs), DataNeeds.of(runs, DataLocations.from_environment())
    vectors = ["--vectors"] if any(needs_vectors(project.params, run) for run in runs) else []
    to_bring = [*(source.name for source in needs.manual), *vectors]
    stored, here = len(runs) - len(missing), len(needs.sources) - len(needs.absent)
    known = project.store.minutes()  # of stored runs of the same models, and on the same corpora if there are any
    keys = [((run.model, str(run.settings["benchmarks"])), run.settings["corpus"]) for run in missing]
    minutes = [known.get((*key, *corpus), known.get(key)) for key, corpus in keys]
    return (
        experiment.id,
        f"{stored}/{len(runs)}",
        "?" if None in minutes else f"{sum(filter(None, minutes)):.0f}",
        ", ".join(needs.names),
        f"{here}/{len(needs.sources)}",
        ", ".join(to_bring) or "–",
        experiment.title,
    )


def _seeds(text: str) -> list[int]:
    parts = text.split(",") if text else []
    seeds = [int(part) for part in parts if re.fullmatch(r" *[0-9]{1,18} *", part)]
    if len({*seeds} - {0}) < len(parts):
        raise BadParameter(
            f"'{text}' should be numbers with commas between them, from 1 and each once", param_hint="--seeds"
        )
    return seeds


def _check_vectors(project: "Project", runs: "Sequence[Run]", vectors: Path | None) -> None:
    from paraphrastic.papers.plan import needs_vectors

    needing = [run.name for run in runs if needs_vectors(project.params, run)]
    if needing and vectors is None:
        raise ParameterError(
            f"{needing[0]}: the papers start from word vectors, PARAGRAM-SL999; name a file with --vectors"
        )
    if vectors is not None and runs and not needing:
        raise ParameterError("--vectors has no effect on these runs; models of words start from it with --data paper")
