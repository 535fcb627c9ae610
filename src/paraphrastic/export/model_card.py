"""The card of a model: a README.md as hubs of models expect it, from its folder, the catalogue and its figures."""

import math
from collections.abc import Iterator
from importlib import resources
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from jinja2 import Environment
from pandas.api.types import is_numeric_dtype
from ruamel.yaml import YAML

from paraphrastic.base.errors import DataError
from paraphrastic.evaluation.headline import FEATURES
from paraphrastic.evaluation.suite import uses_spearman
from paraphrastic.export.merge import teachers_of
from paraphrastic.inference.model import Model
from paraphrastic.inference.model_folder import load
from paraphrastic.sources.catalogue import catalogue
from paraphrastic.sources.licences import strictest
from paraphrastic.sources.source import EXCHANGED

_HUB_NAMES = {  # of licences as the front matter has them
    "Apache-2.0": "apache-2.0",
    "CC BY 2.0 FR": "cc-by-2.0",
    "CC BY 4.0": "cc-by-4.0",
    "CC BY-NC-SA 3.0": "cc-by-nc-sa-3.0",
    "CC BY-SA 3.0": "cc-by-sa-3.0",
    "CC BY-SA 4.0": "cc-by-sa-4.0",
    "CC0": "cc0-1.0",
    "GPL-3.0": "gpl-3.0",
    "MIT": "mit",
    "unstated": "unknown",
}
_UNKNOWN = {EXCHANGED: ("copies of the sentences above in which words are exchanged", "as the sentences above")}
_TEACHERS = {"all-MiniLM-L6-v2": "Apache-2.0", "all-mpnet-base-v2": "Apache-2.0"}  # licences of weights
_TEXTS = {"source", "set", "kind", "main", "not_defined"}  # columns of text in a table of figures
_NORMAL_QUANTILE = 1.96  # of an interval of 95 %


def model_card(folder: Path, sets: Path | None = None, corpus: Path | None = None) -> str:
    """Return the card of a model as Markdown with front matter in YAML: its README.md, or model_card.md, filled in.

    Args:
        folder: of the model.
        sets: the table that the stage `evaluate` wrote for it, metrics/sets.csv, or a .tsv that `paraphrastic evaluate`
            printed; None for no figures.
        corpus: the table of pairs read and dropped that the stage `tokenize` wrote, metrics/corpus.csv; None for none.

    Raises:
        ModelError: the model is missing or damaged.
        DataError: a table is missing or damaged.
    """
    model = load(folder)
    teachers = teachers_of(model)
    figures = None if sets is None else _figures(_read(sets, ["set", "kind", "n"]))
    accuracies = None if figures is None else figures.loc[figures["metric"] == "accuracy", "set"]
    sources = [*_sources(model, None if corpus is None else _read(corpus, ["source", "read", "kept"]))]
    licence = strictest(source["licence"] for source in sources if source["name"] != EXCHANGED)
    english = all(source["licence"] != "own" for source in sources)  # of files of the user nobody knows
    environment = Environment(trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True, autoescape=False)
    template = resources.files(__package__).joinpath("model_card.md").read_text(encoding="utf-8")
    return environment.from_string(template).render(
        model=model,
        summary=model.summary(),
        sources=sources,
        english=english,
        thresholds=accuracies is not None and not accuracies.str.startswith(FEATURES).all(),
        licence=licence,
        teachers=teachers,
        licences=", ".join(dict.fromkeys(_TEACHERS.get(name, "see its own card") for name in teachers)),
        single=any(name in model.sources and source.single for name, source in catalogue().sources.items()),
        front_matter=_front_matter(model, licence or "unstated", figures, english),
        figures=None if figures is None else [*_with_means(model, figures)],
    )


def _read(path: Path, columns: list[str]) -> pd.DataFrame:
    try:
        table = pd.read_csv(path, sep="\t" if path.suffix == ".tsv" else ",", dtype=dict.fromkeys(_TEXTS, str))
    except FileNotFoundError as error:
        raise DataError(f"{path}: no such file; run `dvc repro` to create it") from error
    except ValueError as error:
        raise DataError(f"{path}: not a table; run `dvc repro` to create it") from error
    if missing := [name for name in columns if name not in table]:
        raise DataError(f"{path}: no column {missing[0]}; run `dvc repro` to create it")
    if texts := [name for name in table if name not in _TEXTS and not is_numeric_dtype(table[name])]:
        raise DataError(f"{path}: column {texts[0]} has text in place of numbers; run `dvc repro` to create it")
    if blank := [name for name in columns if table[name].isna().any()]:
        raise DataError(f"{path}: column {blank[0]} has a row without a value; run `dvc repro` to create it")
    return table


def _front_matter(model: Model, licence: str, figures: pd.DataFrame | None, english: bool) -> str:
    content: dict[str, Any] = {"license": _HUB_NAMES.get(licence, "other")}
    if content["license"] == "other":
        content["license_name"] = licence
    content |= {"language": "en"} if english else {}
    content |= {"library_name": "paraphrastic", "pipeline_tag": "sentence-similarity"}
    content["tags"] = ["sentence-similarity", "sentence-embeddings", "paraphrastic", model.name]
    if model.teacher:
        content["tags"].append("distilled")
    if figures is not None:
        results = [
            {
                "task": {"type": "text-classification" if row["metric"] == "accuracy" else "sentence-similarity"},
                "dataset": {"name": row["set"], "type": row["set"]},
                "metrics": [{"type": row["metric"], "value": row["value"]}],
            }
            for row in figures.to_dict("records")
        ]
        content["model-index"] = [{"name": model.name, "results": results}]
    stream = StringIO()
    YAML().dump(content, stream)
    return stream.getvalue()


def _sources(model: Model, corpus: pd.DataFrame | None) -> Iterator[dict[str, Any]]:
    """Yield the sources of the training data; the licence of a file of the user is `own`."""
    known, dropped = catalogue().sources, {}
    for row in [] if corpus is None else corpus.to_dict("records"):
        reasons = {name: pairs for name, pairs in row.items() if name not in ("source", "read", "kept", "taken")}
        dropped[str(row["source"])] = ", ".join(f"{pairs:,} {name}" for name, pairs in reasons.items() if pairs)
    for name, pairs in model.sources.items():
        source = known.get(name)
        title, licence = (source.title, source.licence) if source else _UNKNOWN.get(name, ("a file", "own"))
        yield {"name": name, "title": title, "pairs": pairs, "dropped": dropped.get(name, ""), "licence": licence}


def _figures(sets: pd.DataFrame) -> pd.DataFrame:
    """Return the `metric` of sets of similarity and of classes, its `value`, and half the length of its interval."""
    table = sets[sets["kind"].isin(["similarity", "labelled_sentences", "labelled_pairs"])].copy()
    by_rank = table["set"].map(uses_spearman)
    table["metric"] = np.where(table["kind"] != "similarity", "accuracy", np.where(by_rank, "spearman", "pearson"))
    table["value"] = [row.get(row["metric"], math.nan) for row in table.to_dict("records")]
    share, n = table["value"] / 100, table["n"].clip(lower=2)
    spread = np.where(table["metric"] == "accuracy", (share * (1 - share) / n) ** 0.5, (1 - share**2) / (n - 1) ** 0.5)
    return table.assign(half=100 * _NORMAL_QUANTILE * spread).dropna(subset="value")


def _with_means(model: Model, figures: pd.DataFrame) -> Iterator[dict[Any, Any]]:
    """Yield the figures of each set, and of the mean of each metric."""
    for metric, rows in figures.groupby("metric"):
        for row in rows.to_dict("records"):
            chosen = " (selected the epoch)" if row["set"] in model.selection else ""
            yield {**row, "set": f"{row['set']}{chosen}"}
        half = math.sqrt((rows["half"] ** 2).sum()) / len(rows)
        means = {"n": rows["n"].sum(), "metric": metric, "value": rows["value"].mean(), "half": half}
        yield {"set": f"mean of {len(rows)} sets", **means}
