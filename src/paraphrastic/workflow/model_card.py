"""The card of a model: a README.md as hubs of models expect it, from its folder, the catalogue and its figures."""

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from io import StringIO
from pathlib import Path
from typing import Any

import pandas as pd
from ruamel.yaml import YAML

from paraphrastic.base.errors import DataError
from paraphrastic.inference.model import Model, load
from paraphrastic.inference.model_folder import ModelInfo, read_info
from paraphrastic.sources.catalogue import catalogue

_STRICTNESS = (  # the strictest first
    "unstated",
    "research|agreement|licen[cs]e terms|shared source",
    "own",
    "NC|non-commercial",
    "GPL",
    "SA",
    "CC BY",
    "MIT|Apache|BSD",
    "CC0",
)
_HUB_NAMES = {  # of licences as the front matter has them
    "Apache-2.0": "apache-2.0",
    "CC BY 4.0": "cc-by-4.0",
    "CC BY-NC-SA 3.0": "cc-by-nc-sa-3.0",
    "CC BY-SA 3.0": "cc-by-sa-3.0",
    "CC BY-SA 4.0": "cc-by-sa-4.0",
    "CC0": "cc0-1.0",
    "GPL-3.0": "gpl-3.0",
    "MIT": "mit",
    "unstated": "unknown",
}
_NORMAL_QUANTILE = 1.96  # of an interval of 95 %


def model_card(folder: Path, sets: Path | None = None, corpus: Path | None = None) -> str:
    """Return the card of a model as Markdown with front matter in YAML.

    Args:
        folder: of the model.
        sets: the table that the stage `evaluate` wrote for it, metrics/sets.csv; None for no figures.
        corpus: the table of pairs read and dropped that the stage `tokenize` wrote, metrics/corpus.csv; None for none.

    Raises:
        ModelError: the model is missing or damaged.
        DataError: a table is missing or damaged.
    """
    model, info = load(folder), read_info(folder)
    figures = None if sets is None else _read(sets, ["set", "kind", "n", "pearson"])
    dropped = None if corpus is None else _read(corpus, ["source", "read", "kept"])
    licences = _licences(info.sources)
    sections = (
        _front_matter(info, licences, figures),
        *_description(model, info),
        *_training_data(info, licences, dropped),
        *_figures(info, figures),
        *_limits(info),
    )
    return "\n".join(sections) + "\n"


def strictest(licences: Iterable[str]) -> str | None:
    """Return the licence that allows least; None of no licence. One that no rule knows counts as unstated."""
    return min(licences, key=_strictness, default=None)


def _strictness(licence: str) -> int:
    ranks = (rank for rank, pattern in enumerate(_STRICTNESS) if re.search(rf"\b({pattern})\b", licence))
    return next(ranks, 0)


def _licences(sources: Iterable[str]) -> dict[str, str]:
    """Return the licence of each source; that of a file of the user is `own`."""
    known = catalogue().sources
    return {name: known[name].licence if name in known else "own" for name in sources}


def _read(path: Path, columns: list[str]) -> pd.DataFrame:
    try:
        table = pd.read_csv(path)
    except FileNotFoundError as error:
        raise DataError(f"{path}: no such file; run `dvc repro` to create it") from error
    except ValueError as error:
        raise DataError(f"{path}: not a CSV table; run `dvc repro` to create it") from error
    if missing := [name for name in columns if name not in table]:
        raise DataError(f"{path}: no column {missing[0]}; run `dvc repro` to create it")
    return table


def _front_matter(info: ModelInfo, licences: Mapping[str, str], figures: pd.DataFrame | None) -> str:
    licence = strictest(licences.values()) or "unstated"
    content: dict[str, Any] = {"license": _HUB_NAMES.get(licence, "other")}
    if content["license"] == "other":
        content["license_name"] = licence
    content |= {"language": "en", "library_name": "paraphrastic", "pipeline_tag": "sentence-similarity"}
    content["tags"] = ["sentence-similarity", "sentence-embeddings", "paraphrastic", info.model]
    if info.teacher:
        content["tags"].append("distilled")
    if figures is not None:
        content["model-index"] = [{"name": info.model, "results": [*_results(figures)]}]
    stream = StringIO()
    YAML().dump(content, stream)
    return f"---\n{stream.getvalue()}---\n"


def _results(figures: pd.DataFrame) -> Iterator[dict[str, Any]]:
    for row in _similarity(figures).to_dict("records"):
        yield {
            "task": {"type": "sentence-similarity"},
            "dataset": {"name": row["set"], "type": row["set"]},
            "metrics": [{"type": "pearson", "value": row["pearson"]}],
        }


def _description(model: Model, info: ModelInfo) -> Iterator[str]:
    summary = model.summary()
    yield f"# {info.model}\n"
    yield f"A sentence encoder of the package paraphrastic: `{info.model}`, {summary['dimension']} dimensions,"
    yield f"{summary['vocabulary']:,} entries in its vocabulary, {int(summary['bytes']) / 1e6:.1f} MB.\n"
    if info.teacher:
        yield f"It is distilled: it learned the vectors of {info.teacher}, whose licence and training data count too.\n"
    if info.members > 1:
        yield f"It is merged: its vectors are the principal components of those of {info.members} models.\n"
    yield "```python\nimport paraphrastic\n"
    yield 'model = paraphrastic.load("FOLDER")  # the folder of this file'
    yield 'model.encode(["A dog runs.", "A cat sleeps."])'
    yield 'model.similarity(["A dog runs."], ["A dog is running."])\n```\n'
    options = ", ".join(f"{name} = {'' if value is None else value}" for name, value in info.options.items())
    yield f"Options: {options}.\n"


def _training_data(info: ModelInfo, licences: Mapping[str, str], dropped: pd.DataFrame | None) -> Iterator[str]:
    yield "## Training data\n"
    if not info.sources:
        yield "The folder of the model does not name its sources.\n"
        return
    count = sum(info.sources.values())
    yield f"{count:,} pairs of sentences. The strictest licence: **{strictest(licences.values())}**.\n"
    known, losses = catalogue().sources, _losses(dropped)
    yield "| source | pairs | dropped | licence |\n|---|--:|---|---|"
    for name, count in info.sources.items():
        title = known[name].title if name in known else "a file"
        yield f"| {name}: {title} | {count:,} | {losses.get(name, '')} | {licences[name]} |"
    yield ""


def _losses(dropped: pd.DataFrame | None) -> dict[str, str]:
    """Return for each source how many pairs were dropped, by reason."""
    if dropped is None:
        return {}
    reasons = [name for name in dropped if name not in ("source", "read", "kept", "taken")]
    rows = dropped.to_dict("records")
    return {str(row["source"]): ", ".join(f"{row[name]:,} {name}" for name in reasons if row[name]) for row in rows}


def _figures(info: ModelInfo, figures: pd.DataFrame | None) -> Iterator[str]:
    yield "## Figures\n"
    if figures is None:
        yield "Not measured.\n"
        return
    table = _similarity(figures)
    yield "Pearson's r × 100 between cosine and judgement, with intervals of 95 % by the normal approximation.\n"
    yield "| set | pairs | r |\n|---|--:|--:|"
    for row in table.to_dict("records"):
        chosen = " (selected the epoch)" if row["set"] in info.selection else ""
        yield f"| {row['set']}{chosen} | {row['n']:,} | {row['pearson']:.1f} ± {row['half']:.1f} |"
    if len(table):
        half = math.sqrt((table["half"] ** 2).sum()) / len(table)
        yield f"| mean of {len(table)} sets | {table['n'].sum():,} | {table['pearson'].mean():.1f} ± {half:.1f} |"
    yield ""


def _similarity(figures: pd.DataFrame) -> pd.DataFrame:
    """Return the sets of similarity that have a correlation, with half the length of its interval, `half`."""
    table = figures[(figures["kind"] == "similarity") & figures["pearson"].notna()]
    r, n = table["pearson"] / 100, table["n"].clip(lower=2)
    return table.assign(half=100 * _NORMAL_QUANTILE * (1 - r**2) / (n - 1) ** 0.5)


def _limits(info: ModelInfo) -> Iterator[str]:
    yield "## Limits\n"
    yield "* English. Text is tokenized and lower-cased; the encoder does not see capital letters."
    yield "* A sentence of which the vocabulary has nothing gets the vector zero and the similarity 0."
    if info.selection:
        yield f"* The epoch was selected on {', '.join(info.selection)}: figures on these sets are not those of a test."
    yield "* Sentences that differ in a number, a name or a negation alone can have a high similarity."
