"""The tables of results: run experiments, store what they measure, and write the pages that show it.

    python -m docs.results run avg charagram   run the experiments of two rows of docs/results/rows.toml
    python -m docs.results write               write docs/results.md and the table in README.md from the stored results

An experiment is `dvc exp run --temp` with the options of its row, so that the workspace is left as it is. Its metrics
are stored in docs/results/ROW.json. A row runs once for each of its seeds; seeds that are stored already are skipped.
"""

import json
import math
import statistics
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer
from dvc.api import DVCFileSystem
from dvc.scm import RevError
from safetensors import safe_open

from paraphrastic.base.console import report_errors
from paraphrastic.base.errors import ParameterError, unknown_name
from paraphrastic.base.parameters import load_params

ROOT = Path(__file__).parents[1]
RESULTS, PAGE, README = ROOT / "docs/results", ROOT / "docs/results.md", ROOT / "README.md"
COLUMNS = {"STS 2012–2015": ("sts", "mean"), "STS 2016": ("sts", "2016"), "SICK": ("sick", "pearson")}
TASKS = {  # supervised tasks with the metrics that the page shows
    "sick-relatedness": ("pearson",),
    "sick-entailment": ("accuracy",),
    "sst": ("accuracy",),
    "sts": ("pearson",),
    "paraphrase-msrp": ("accuracy", "f1"),
    "qa-qasent": ("map", "mrr"),
    "qa-wikiqa": ("map", "mrr"),
    "tags-ewt": ("accuracy",),
    "tags-wsj": ("accuracy",),
}
LABELS = {"pearson": "Pearson", "f1": "F1", "map": "MAP", "mrr": "MRR"}
BEGIN, END = "<!-- results: python -m docs.results write -->", "<!-- end of results -->"

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)


def rows() -> dict[str, dict[str, Any]]:
    """Return the rows by name, in the order of the page."""
    content: dict[str, dict[str, Any]] = tomllib.loads((RESULTS / "rows.toml").read_text(encoding="utf-8"))
    return content


def stored(name: str) -> dict[str, Any]:
    """Return the stored results of a row; empty if there are none."""
    path = RESULTS / f"{name}.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {"seeds": {}}


@app.command()
@report_errors("interrupted; run the same command again to continue")
def run(
    names: Annotated[list[str], typer.Argument(metavar="ROW", help="Rows of docs/results/rows.toml.")],
    path: Annotated[str, typer.Option(help="Folder of the encoder of the row `external`.")] = "",
    minutes: Annotated[bool, typer.Option(help="Store the time; not if the machine has other work.")] = True,
) -> None:
    """Run the experiments of some rows and store their results."""
    for name in names:
        if name not in rows():
            raise ParameterError(unknown_name("row", name, rows()))
        for seed in rows()[name].get("seeds", [1]):
            if str(seed) not in stored(name)["seeds"]:
                _run(name, seed, path, minutes)


def _run(name: str, seed: int, path: str, minutes: bool) -> None:
    row, experiment = rows()[name], f"{name}-{seed}"
    options = [*_options(row), f"seed={seed}", *([f"models.yaml:external.path={path}"] if path else [])]
    with tempfile.TemporaryDirectory() as folder:
        if "vectors_of" in row:
            options.append(f"models.yaml:{row['model']}.vectors={_export_vectors(row['vectors_of'], Path(folder))}")
        settings = [argument for option in options for argument in ("-S", option)]
        target = ["finetune/dvc.yaml"] if "tasks" in row else []
        command = ["dvc", "exp", "run", *target, "--temp", "--force", "-n", experiment, *settings]
        start = time.monotonic()
        subprocess.run(command, check=True, cwd=ROOT)
    _store(name, seed, experiment, round((time.monotonic() - start) / 60, 1) if minutes else None)


def _options(row: dict[str, Any]) -> list[str]:
    """Return the options of a row as `-S` takes them; every model gets one thread, so that minutes are comparable."""
    model, corpus = row["model"], "corpus=[open,captions]" if row.get("captions") else "corpus=open"
    has_threads = "num_threads" in load_params(ROOT / "params.yaml").models[model]
    threads = [f"models.yaml:{model}.num_threads=1"] if has_threads else []
    tasks = [f"finetune/params.yaml:tasks=[{','.join(row['tasks'])}]"] if "tasks" in row else []
    return [f"model={model}", corpus, "benchmarks=open", *threads, *tasks, *row.get("options", [])]


def _export_vectors(experiment: str, folder: Path) -> Path:
    """Write the word embeddings of a stored experiment as word2vec text.

    Raises:
        ParameterError: there is no such experiment.
    """
    import paraphrastic
    from paraphrastic.export import Format, export

    try:
        DVCFileSystem(rev=experiment).get("data/model", str(folder / "model"), recursive=True)
    except RevError as error:
        row = experiment.rpartition("-")[0]
        raise ParameterError(f"no experiment '{experiment}': run `python -m docs.results run {row}` first") from error
    export(paraphrastic.load(folder / "model"), folder / "vectors.txt", Format.WORD2VEC)
    return folder / "vectors.txt"


def _store(name: str, seed: int, experiment: str, minutes: float | None) -> None:
    files = DVCFileSystem(rev=experiment)
    result, metrics = stored(name), _metrics(files, rows()[name].get("tasks"))
    if "tasks" not in rows()[name]:  # a head or a tagger is trained, whose weights are not kept
        result["parameters"] = _count_parameters(files)
    result["seeds"][str(seed)] = {"minutes": minutes, "metrics": metrics}
    result["seeds"] = dict(sorted(result["seeds"].items()))
    (RESULTS / f"{name}.json").write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8", newline="\n")


def _metrics(files: DVCFileSystem, tasks: list[str] | None) -> dict[str, Any]:
    """Return the metrics of an experiment; of its supervised tasks, the metrics on the test sets, if it has any."""
    if tasks is None:
        metrics: dict[str, Any] = json.loads(files.read_text("metrics/evaluate.json"))
        return metrics
    outcomes = {task: json.loads(files.read_text(f"metrics/finetune/{task}.json")) for task in tasks}
    return {"finetune": {task: outcome["finetune"][task]["test"] for task, outcome in outcomes.items()}}


def _count_parameters(files: DVCFileSystem) -> int:
    """Return the number of weights of the model of an experiment."""
    if not files.exists("data/model/weights.safetensors"):
        return 0
    with tempfile.TemporaryDirectory() as folder:
        weights = Path(folder) / "weights.safetensors"
        files.get_file("data/model/weights.safetensors", str(weights))
        with safe_open(weights, framework="numpy") as file:
            return sum(math.prod(file.get_slice(key).get_shape()) for key in file.keys())  # noqa: SIM118


@app.command()
def write() -> None:
    """Write docs/results.md and the table in README.md from the stored results."""
    PAGE.write_text(page(), encoding="utf-8", newline="\n")
    README.write_text(readme(README.read_text(encoding="utf-8")), encoding="utf-8", newline="\n")


def page() -> str:
    """Return docs/results.md."""
    text = (RESULTS / "page.md").read_text(encoding="utf-8")
    parts = {
        "open": _table(name for name, row in rows().items() if not row.get("captions") and "tasks" not in row),
        "captions": _table(name for name, row in rows().items() if row.get("captions")),
        "tasks": _task_table(name for name, row in rows().items() if "tasks" in row or row.get("beside_tasks")),
    }
    for part, lines in parts.items():
        text = text.replace(f"{{{part}}}", "\n".join(lines))
    return text


def readme(text: str) -> str:
    """Return the README with its table of results replaced."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{chr(10).join(_readme_table())}\n{END}{after}"


def _readme_table() -> Iterator[str]:
    yield f"| model | {' | '.join(COLUMNS)} | paper, 22 sets |"
    yield "|---|--:|--:|--:|--:|"
    for name, row in rows().items():
        if "readme" in row:
            metrics = _cells(name)[: len(COLUMNS)]
            yield f"| {row['readme']}{_star(name)} | {' | '.join(metrics)} | {row.get('published', '–')} |"


def _table(names: Iterator[str]) -> Iterator[str]:
    yield f"| model | options | {' | '.join(COLUMNS)} | parameters, M | minutes |"
    yield "|---|---|--:|--:|--:|--:|--:|"
    for name in names:
        yield f"| {_label(name)} | {' | '.join(_cells(name))} |"


def _task_table(names: Iterator[str]) -> Iterator[str]:
    columns = [f"`{task}`: {', '.join(LABELS.get(name, name) for name in metrics)}" for task, metrics in TASKS.items()]
    yield f"| model | options | {' | '.join(columns)} |"
    yield f"|---|---|{'--:|' * len(columns)}"
    for name in names:
        yield f"| {_label(name)} | {' | '.join(_task_cells(name))} |"


def _label(name: str) -> str:
    """Return the cells `model` and `options` of a row."""
    row = rows()[name]
    options = [f"`-S {option}`" for option in row.get("options", [])]
    options += [f"vectors of `{row['vectors_of']}`"] if "vectors_of" in row else []
    return f"`{row['model']}`{_star(name)} | {' '.join([*options, row.get('note', '')]).strip()}"


def _is_stored(name: str) -> bool:
    """Return whether the results of all seeds of a row are stored."""
    return {str(seed) for seed in rows()[name].get("seeds", [1])} <= stored(name)["seeds"].keys()


def _star(name: str) -> str:
    """Return the mark of rows that were measured with an earlier version."""
    return "" if _is_stored(name) or "earlier" not in rows()[name] else " \\*"


def _cells(name: str) -> list[str]:
    """Return the metrics of a row, its parameters in millions, and its minutes.

    – stands for numbers that are not known, and for less than 50,000 parameters.
    """
    row, result = rows()[name], stored(name)
    if not _is_stored(name):
        return row.get("earlier", ["–"] * (len(COLUMNS) + 2))
    seeds = result["seeds"].values()
    metrics = [_cell([seed["metrics"][section][key] for seed in seeds]) for section, key in COLUMNS.values()]
    millions = f"{row.get('parameters', result['parameters']) / 1e6:.1f}"
    minutes = [seed["minutes"] for seed in seeds if seed["minutes"] is not None]
    return [
        *metrics,
        millions if millions != "0.0" else "–",
        f"{statistics.mean(minutes):.0f}" if minutes else "–",
    ]


def _task_cells(name: str) -> list[str]:
    """Return the metrics of a row on each task; – for tasks that it was not evaluated on."""
    if not _is_stored(name):
        row = rows()[name]
        return row["earlier"] if "tasks" in row and "earlier" in row else ["–"] * len(TASKS)
    seeds = [seed["metrics"] for seed in stored(name)["seeds"].values()]
    return [_task_cell([_metrics_of_task(metrics, task) for metrics in seeds], TASKS[task]) for task in TASKS]


def _metrics_of_task(metrics: dict[str, Any], task: str) -> dict[str, float]:
    """Return the test metrics of a task: of training on it, or, if the model was not, of evaluation on the same set."""
    group, _, subset = task.partition("-")
    trained: dict[str, float] = metrics.get("finetune", {}).get(task, {})
    return trained or metrics.get(group, {}).get(subset, {})


def _task_cell(seeds: list[dict[str, float]], names: tuple[str, ...]) -> str:
    return ", ".join(_cell([metrics[name] for metrics in seeds]) for name in names) if all(seeds) else "–"


def _cell(values: list[float]) -> str:
    """Return the mean ± standard deviation over seeds."""
    deviation = f" ± {statistics.stdev(values):.1f}" if len(values) > 1 else ""
    return f"{statistics.mean(values):.1f}{deviation}"


if __name__ == "__main__":
    sys.exit(app())
