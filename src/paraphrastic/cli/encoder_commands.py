"""Commands that train and evaluate without the pipeline."""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

import paraphrastic
from paraphrastic.base import devices
from paraphrastic.base.console import message, print_rows
from paraphrastic.base.errors import ParameterError
from paraphrastic.cli.arguments import AsJson, Device, Md, data_entry, refuse_new_folder, refuse_several, yaml_value

if TYPE_CHECKING:
    from paraphrastic.evaluation.suite import Results

_MODEL = "Folder of this package, sentence-transformers or model2vec; or the packaged `small`."
_EVALUATED = "Files, folders of files, or suites such as `open`."
_PAIRS = "File or folder of training pairs, also {path: …, columns: …}, or the name of a corpus; can be repeated."
_TRAINED_ON = f"In place of `train.device` of params.yaml: {devices.NAMES}."
_SETTING = "A value of params.yaml, or of models.yaml as in models.yaml:avg.dim=100; can be repeated."
_INTERVAL = ("main", "low", "high")  # columns of `evaluate`
_FEW = 50  # pairs or questions; the interval of a smaller set is wide, and itself uncertain
_SETS = "File or folder of evaluation sets, or the name of a suite; selects the epoch. Can be repeated."


def train(
    corpus: Annotated[list[str], Option(metavar="FILE|NAME", help=_PAIRS)],
    out: Annotated[Path, Option(metavar="FOLDER", help="Folder of the model; one that is there is replaced.")],
    model: Annotated[str, Option(help="An entry of models.yaml.")] = "avg",
    benchmarks: Annotated[list[str] | None, Option(metavar="FILE|NAME", help=_SETS)] = None,
    settings: Annotated[list[str] | None, Option("--set", "-S", metavar="KEY=VALUE", help=_SETTING)] = None,
    params: Annotated[
        Path | None,
        Option(
            metavar="FILE", help="In place of params.yaml of this folder, or of the package; with models.yaml beside."
        ),
    ] = None,
    device: Annotated[str | None, Option(metavar="DEVICE", help=_TRAINED_ON)] = None,
) -> None:
    """Train an encoder on pairs of paraphrases, without DVC.

    After an interruption the same command goes on.
    """
    refuse_new_folder(out)
    changes: dict[str, Any] = {}
    for text in settings or []:
        key, equals, value = text.partition("=")
        if not (key and equals):
            raise ParameterError(f"--set {text}: not KEY=VALUE, such as models.yaml:avg.dim=100")
        changes[key] = yaml_value(value, f"--set {text}")
    changes |= {} if device is None else {"train.device": device}
    pairs, sets = (list(map(data_entry, entries or [])) for entries in (corpus, benchmarks))
    trained = _imported("train")(pairs, out, model, sets, changes, params)
    size = trained.summary()["bytes"] / 1e6
    message(f"{out}: {trained.name}, {len(trained.vocabulary)} entries, {size:.1f} MB")


def evaluate(
    model: Annotated[str, Argument(metavar="MODEL", help=_MODEL)],
    sets: Annotated[list[str], Argument(metavar="FILE|SUITE", help=_EVALUATED)],
    as_json: AsJson = False,
    md: Md = False,
    device: Device = devices.AUTO,
) -> None:
    """Score MODEL on sets, without DVC.

    `low` and `high` are the 95 % interval of the metric `main` over the pairs or questions of the set.
    """
    from paraphrastic.analysis.comparison.formats import markdown_table
    from paraphrastic.evaluation.suite import COLUMNS

    refuse_several(json=as_json, md=md)
    results = _imported("evaluate")(model, *map(data_entry, sets), device=device)
    rows = _with_intervals(results)
    if as_json:
        sys.stdout.write(json.dumps({"metrics": results.metrics, "sets": rows}, indent=2, allow_nan=False) + "\n")
        return
    header = [name for name in (*COLUMNS, *_INTERVAL, "not_defined") if any(name in row for row in rows)]
    cells = [[str(row.get(name, "")) for name in header] for row in rows]
    if md:
        sys.stdout.write(markdown_table(header, cells, texts=2))
    else:
        print_rows(header, cells)


def _with_intervals(results: "Results") -> list[dict[str, Any]]:
    """Return the row of each set with its main metric and the interval of it; name small sets in a message."""
    from paraphrastic.analysis.comparison.by_set import main_metrics
    from paraphrastic.evaluation.metrics import percent

    found = main_metrics(results.scores)
    if small := [f"{name} ({each.n})" for name, each in found.items() if each.n < _FEW]:
        message(f"fewer than {_FEW} pairs or questions, too few to compare models by: {', '.join(small)}")
    cells = {
        name: dict(zip(_INTERVAL, (each.name, percent(each.estimate.low), percent(each.estimate.high)), strict=True))
        for name, each in found.items()
    }
    return [row | cells.get(row["set"], {}) for row in results.sets]


def _imported(name: str) -> Any:
    """Return a function of the package, when its modules are imported and `skip_slow_imports` has been called."""
    function = getattr(paraphrastic, name)
    from paraphrastic.base.parallel import skip_slow_imports  # imports pyarrow, which `--help` does not need

    skip_slow_imports()
    return function
