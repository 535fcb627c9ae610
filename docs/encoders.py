"""Measure encoders, store the figures in docs/encoders.json, and make tables and a picture of them.

    python -m docs.encoders small=small all-MiniLM-L6-v2=FOLDER …
    python -m docs.tables

The first command names encoders of the file by their label, each with a folder that this package,
sentence-transformers or model2vec wrote. The second one puts tables and the picture into the pages. An encoder of the
file has a `label`, the licence of its `data`, and its `source`: what the folder is, or who published the figures.
`size` is the one in MB of the encoder's own files, if the
folder has others. `ours` marks encoders of this package, `readme` those in the table of README.md, and a circle of
the picture has its label on the side that is its `place`, or none.

Figures of quality that are stored are kept while the files are the same. Speeds are comparable within one run alone, so
that a run removes those of encoders that it is not given. They are those of raw text to vectors on one thread, in a
process of its own, by processor time, for which other programs of the machine count less: the median over rounds in
which the encoders take turns. TF-IDF has no vectors; its speed is that of texts to similarities.
"""

import json
import os
from collections.abc import Callable, Mapping, Sequence
from math import pi
from pathlib import Path
from statistics import fmean, median
from tempfile import TemporaryDirectory
from time import process_time
from typing import Annotated, Any

import typer

from paraphrastic.analysis.comparison.formats import markdown_table
from paraphrastic.base.console import message, report_errors
from paraphrastic.base.errors import ParameterError, unknown_name
from paraphrastic.base.files import digests, write_json
from paraphrastic.inference.model_folder import folder_of
from paraphrastic.inference.places import is_model_folder
from paraphrastic.papers.comparing import GAP
from paraphrastic.papers.figures import FONT
from tests.benchmarks.measuring import in_own_process

STORED = Path(__file__).with_suffix(".json")
SECTIONS = "mteb", "features", "clustering"  # of metrics that are stored
SPEED, LATENCY, SIZE = "sentences per second", "milliseconds", "megabytes"
SENTENCES, SECONDS, CALLS = 20_000, 1.0, 3  # of a measurement: sentences at most, time of a call at least, calls
SENTENCE, LATENCY_CALLS = "The zipper is broken.", 50

Row = dict[str, Any]

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)


@app.command()
@report_errors("interrupted")
def run(
    folders: Annotated[list[str], typer.Argument(metavar="LABEL=FOLDER", help="Encoders of docs/encoders.json.")],
    rounds: Annotated[int, typer.Option(help="Measurements of speed of each encoder; 0 keeps the speeds.")] = 5,
    suite: Annotated[list[str], typer.Option(help="Suites that measure quality.")] = ["mteb-sts", "features"],  # noqa: B006
) -> None:
    """Measure encoders and store the figures."""
    rows = _stored()
    given = dict(_named(argument, rows) for argument in folders)
    for row in rows:
        if folder := given.get(row["label"]):
            _measure_missing(row, folder, suite)
            write_json(STORED, rows)
    if rounds:
        texts = _texts()
        found = [[in_own_process(measure_speed, folder, texts) for folder in given.values()] for _ in range(rounds)]
        speeds = dict(zip(given, zip(*found, strict=True), strict=True))
        write_json(STORED, [_with_speeds(row, speeds.get(row["label"], ())) for row in rows])


def _measure_missing(row: Row, folder: Path, suites: Sequence[str]) -> None:
    """Add the size of an encoder and the metrics of suites that it lacks; those of other files are removed."""
    files = digests(None, {"files": folder})["files"][:16]
    if row.get("files") not in (None, files):
        for name in SECTIONS:
            row.pop(name, None)
    row |= {"files": files, SIZE: _megabytes(folder)}
    if missing := [name for name in suites if name.removesuffix("-sts") not in row]:
        message(f"{row['label']}: {', '.join(missing)}")
        row |= in_own_process(measure_quality, folder, missing)


def _stored() -> list[Row]:
    rows: list[Row] = json.loads(STORED.read_text(encoding="utf-8"))
    return rows


def _named(argument: str, rows: Sequence[Row]) -> tuple[str, Path]:
    label, is_given, name = argument.partition("=")
    if not is_given or not (folder := folder_of(name)).is_dir():
        raise ParameterError(f"{argument}: not a label and the folder of an encoder, with `=` between them")
    labels = [row["label"] for row in rows]
    if label not in labels:
        raise ParameterError(f"{STORED.name}: {unknown_name('encoder', label, labels)}")
    return label, folder


def _with_speeds(row: Row, speeds: Sequence[tuple[float, float]]) -> Row:
    kept = {name: value for name, value in row.items() if name not in (SPEED, LATENCY)}
    if not speeds:
        return kept
    speed, latency = (median(values) for values in zip(*speeds, strict=True))
    return kept | {SPEED: round(speed), LATENCY: float(f"{latency:.3g}")}


def _texts() -> list[str]:
    """Return sentences of the suite mteb-sts."""
    from paraphrastic.corpus.tokenizing import read_evaluation
    from paraphrastic.sources.catalogue import suite
    from paraphrastic.sources.fetching import download

    with TemporaryDirectory() as folder:
        sources = download(suite(["mteb-sts"]).sources, Path(folder), "the same command again")
        readings = [each for source in sources for each in read_evaluation(source, Path(folder) / source.name)]
    texts = dict.fromkeys(text for each in readings for text in each.table["text1"].to_pylist())
    return list(texts)[:SENTENCES]


def measure_quality(folder: Path, suites: Sequence[str]) -> Row:
    """Return the metrics of suites on the CPU."""
    from paraphrastic.training.standalone import evaluate

    metrics = evaluate(folder, *suites, device="cpu").metrics
    return {name: metrics[name] for name in SECTIONS if name in metrics}


def measure_speed(folder: Path, texts: list[str]) -> tuple[float, float]:
    """Return sentences per second of the fastest of several calls, and milliseconds of one sentence, on one thread."""
    os.environ |= {f"{name}_NUM_THREADS": "1" for name in ("RAYON", "OMP", "NUMBA")}
    import pyarrow as pa

    pa.set_cpu_count(1)
    encode = _encode(folder)
    encode(texts[:64])  # compiles
    count = min(len(texts), max(64, round(64 / _seconds(encode, texts[:64]) * SECONDS)))
    speed = count / min(_seconds(encode, texts[:count]) for _ in range(CALLS))
    return speed, 1000 * median(_seconds(encode, [SENTENCE]) for _ in range(LATENCY_CALLS))


def _seconds(encode: Callable[[list[str]], Any], texts: list[str]) -> float:
    start = process_time()
    encode(texts)
    return process_time() - start


def _encode(folder: Path) -> Callable[[list[str]], Any]:
    if is_model_folder(folder):
        import paraphrastic

        model, half = paraphrastic.load(folder), lambda texts: (len(texts) + 1) // 2
        if model.name.startswith("tfidf"):
            return lambda texts: model.similarity_pairwise(texts[: half(texts)], texts[-half(texts) :])
        return lambda texts: model.encode(texts, show_progress_bar=False)
    if (folder / "modules.json").is_file():
        from sentence_transformers import SentenceTransformer

        encoder = SentenceTransformer(str(folder), device="cpu")
        return lambda texts: encoder.encode(texts, show_progress_bar=False)
    from model2vec import StaticModel

    static = StaticModel.from_pretrained(str(folder))
    return lambda texts: static.encode(texts, use_multiprocessing=False)


def _megabytes(folder: Path) -> float:
    """Return the size of an encoder's files that are not documentation."""
    files = [path for path in folder.rglob("*") if path.is_file() and path.suffix != ".md"]
    return round(sum(path.stat().st_size for path in files) / 1e6, 2)


def table() -> str:
    """Return the table of all encoders as Markdown."""
    header = ["encoder", "licence of its data", "STS", "features", "sentences/s", "ms", "MB"]
    rows = [[_label(row), row["data"], *_figures(row), _number(row, LATENCY, ".3g"), _size(row)] for row in _stored()]
    return markdown_table(header, rows, texts=2)


def short_table() -> str:
    """Return the table of the README as Markdown."""
    rows = [[_label(row), *_figures(row), _size(row)] for row in _stored() if row.get("readme")]
    return markdown_table(["encoder", "STS", "features", "sentences/s", "MB"], rows, texts=1)


def _label(row: Row) -> str:
    return f"{row['label']} \\*" if row.get("published") else row["label"]


def _figures(row: Row) -> list[str]:
    return [_mean(row, "mteb", 6), _mean(row, "features", 8), _number(row, SPEED, ",")]


def _mean(row: Row, section: str, sets: int) -> str:
    """Return the mean over the sets that have a figure, and their number if some have none."""
    scores = _scores(row, section)
    if not scores:
        return GAP
    return f"{fmean(scores):.1f}{'' if len(scores) == sets else f' of {len(scores)}'}"


def _scores(row: Row, section: str) -> list[float]:
    return [value for name, value in row.get(section, {}).items() if name not in ("mean", "sets")]


def _number(row: Row, name: str, form: str) -> str:
    return format(row[name], form) if name in row else GAP


def _size(row: Row) -> str:
    size = row.get("size", row.get(SIZE))
    return GAP if size is None else f"{size:.{1 if size < 100 else 0}f}"


def picture() -> str:
    """Return the picture of the README as HTML, with a description for those who do not see it."""
    points = "; ".join(f"{each['text']}: {each['y']:.1f}, {each['x']:,} sentences/s" for each in _points())
    return (
        '<picture><source media="(prefers-color-scheme: dark)" srcset="docs/images/encoders-dark.svg">\n'
        '<img src="docs/images/encoders-light.svg" '
        f'alt="Mean of six sets of STS by sentences per second. {points}."></picture>\n'
    )


def drawings() -> dict[str, str]:
    """Return the SVG of the picture on a light and on a dark page, by the name of the file."""
    return {f"encoders-{name}.svg": _svg(colours) for name, colours in COLOURS.items()}


COLOURS = {
    "light": {"text": "#1f2328", "grid": "#d8dee4", "ours": "#0060a8", "others": "#b84700"},
    "dark": {"text": "#e6edf3", "grid": "#3d444d", "ours": "#58a6ff", "others": "#f0883e"},
}
PLACES = {"right": ("left", 1, 0), "left": ("right", -1, 0), "above": ("center", 0, -1), "below": ("center", 0, 1)}
_AREA = 4.0  # square pixels of a megabyte
_WIDTH, _HEIGHT = 680, 330


def _points() -> list[Row]:
    """Return the encoders whose quality on all sets and speed are known."""
    return [
        {
            "text": row["label"] if "MB" in row["label"] else f"{row['label']}, {_size(row)} MB",
            "x": row[SPEED],
            "y": fmean(_scores(row, "mteb")),
            "area": _AREA * row.get("size", row[SIZE]),
            "kind": "ours" if row.get("ours") else "others",
            "place": row.get("place"),
        }
        for row in _stored()
        if SPEED in row and len(_scores(row, "mteb")) == 6
    ]


def _svg(colours: Mapping[str, str]) -> str:
    import vl_convert

    points = _points()
    axis = dict.fromkeys(("gridColor", "domainColor", "tickColor"), colours["grid"])
    texts = {"labelColor": colours["text"], "titleColor": colours["text"], "titleFontWeight": "normal"}
    scale = {"type": "log", "nice": False, "padding": 30}
    x = {
        "title": "sentences per second on one thread",
        "scale": scale,
        "axis": {"values": [10**n for n in range(1, 7)]},
    }
    y = {"title": "mean of six sets of STS", "scale": {"zero": False}}
    kinds = {"domain": ["ours", "others"], "range": [colours["ours"], colours["others"]]}
    legend = {"orient": "top", "title": "area: MB", "titleOrient": "right", "symbolType": "circle"}
    circles = {
        "mark": {"type": "circle", "opacity": 0.8},
        "encoding": {
            "color": {"field": "kind", "type": "nominal", "scale": kinds, "legend": legend},
            "size": {"field": "area", "type": "quantitative", "scale": None},
        },
    }
    content = {
        "width": _WIDTH,
        "height": _HEIGHT,
        "background": None,
        "config": {"font": FONT, "view": {"stroke": None}, "axis": axis | texts, "legend": texts},
        "data": {"values": points},
        "encoding": {"x": {"field": "x", "type": "quantitative"} | x, "y": {"field": "y", "type": "quantitative"} | y},
        "layer": [circles, *(_text(point, colours["text"]) for point in points if point["place"])],
    }
    svg: str = vl_convert.vegalite_to_svg(json.dumps(content))
    return svg


def _text(point: Row, colour: str) -> Row:
    """Return the text beside the circle of a point, on the side that is its place."""
    align, x, y = PLACES[point["place"]]
    distance = (point["area"] / pi) ** 0.5 + (4 if x else 9)
    mark = {"align": align, "baseline": "middle", "dx": x * distance, "dy": y * distance, "color": colour}
    return {
        "transform": [{"filter": f"datum.text == {json.dumps(point['text'])}"}],
        "mark": {"type": "text", "fontSize": 11} | mark,
        "encoding": {"text": {"field": "text"}},
    }


if __name__ == "__main__":
    app()
