"""Compare lines that an encoder reads today with the text that it was trained on: `python drift.py LINES TRAINING`.

LINES and TRAINING are files of lines, or tables with a column `text`, such as data/corpus/sentences.parquet. Three
numbers of the lines are compared with those of training sentences: the share of words or n-grams that the encoder does
not know, tokens, and the cosine to the nearest of other training sentences. The drift of each is the statistic of
Kolmogorov and Smirnov, the largest distance between both curves in the plot: 0 for equal distributions, 1 for disjoint
ones. The packages are those of the extra `pipeline`.
"""

import argparse
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import vl_convert
from numpy.typing import NDArray
from scipy.stats import ks_2samp

import paraphrastic
from paraphrastic.base.files import write_json, write_text
from paraphrastic.cli.text_input import read_sentences
from paraphrastic.text.tokenizer import tokenize

SAMPLE = 2000  # texts of each kind, at most
SHARES = np.linspace(0, 1, 101)
Measures = dict[str, NDArray[np.float64]]


def sample(file: str, parts: int) -> list[pa.StringArray]:
    """Return distinct texts of a file in parts of equal size, drawn at random, the same ones in each run."""
    texts = pa.chunked_array(read_sentences(file), pa.string()).unique()
    texts = texts.filter(pc.match_substring_regex(texts, r"\S"))
    if len(texts) < parts:
        raise paraphrastic.DataError(f"{file}: {len(texts)} different lines with text; needs {parts} or more")
    rows = np.random.default_rng(1).permutation(len(texts))[: parts * min(SAMPLE, len(texts) // parts)]
    return [texts.take(pa.array(part)) for part in np.split(rows, parts)]


def measures(model: paraphrastic.Model, texts: pa.StringArray, others: pa.StringArray) -> Measures:
    """Return three numbers for each text."""
    tokens = pc.list_value_length(pc.utf8_split_whitespace(tokenize(texts)))
    nearest = model.similarity(texts, others).max(axis=1)  # (n, m) cosines
    return {"unknown": model.unknown(texts), "tokens": np.float64(tokens), "similarity": np.float64(nearest)}


def report(lines: Measures, training: Measures) -> dict[str, Any]:
    """Return drift, means and quartiles by measure."""
    content = dict[str, Any]()
    for name in lines:
        content[name] = {"drift": round(float(ks_2samp(lines[name], training[name]).statistic), 4)}
        for side, values in (("lines", lines[name]), ("training", training[name])):
            quartiles = np.quantile(values, [0.25, 0.5, 0.75]).round(4).tolist()
            content[name][side] = {"mean": round(values.mean(), 4), "quartiles": quartiles}
    return content


def plot(lines: Measures, training: Measures) -> str:
    """Return the cumulative distributions of each measure as SVG."""
    rows = [
        {"measure": name, "text": side, "value": value, "share": share}
        for side, both in (("lines", lines), ("training", training))
        for name, values in both.items()
        for value, share in zip(np.quantile(values, SHARES).tolist(), SHARES.tolist(), strict=True)
    ]
    encoding = {
        "x": {"field": "value", "type": "quantitative", "title": None},
        "y": {"field": "share", "type": "quantitative", "title": "share of texts up to the value"},
        "color": {"field": "text", "title": None},
        "order": {"field": "share"},
        "facet": {"field": "measure", "title": None, "sort": [*lines]},
    }
    independent = {"scale": {"x": "independent"}}
    chart = {"data": {"values": rows}, "mark": "line", "encoding": encoding, "resolve": independent, "width": 220}
    svg: str = vl_convert.vegalite_to_svg(chart | {"height": 180})
    return svg


def main() -> None:
    """Write the report and the plot."""
    parser = argparse.ArgumentParser(description="Compare lines with the training text of an encoder.")
    parser.add_argument("lines", metavar="LINES")
    parser.add_argument("training", metavar="TRAINING")
    parser.add_argument("--model", metavar="MODEL", help="folder; by default the encoder of the package")
    parser.add_argument("--out", metavar="FILE", type=Path, default=Path("drift.json"), help="FILE.json, with FILE.svg")
    given = parser.parse_args()
    if given.out.suffix != ".json":
        parser.error(f"--out {given.out}: should end in .json")
    try:
        model = paraphrastic.load(given.model)
        (texts,), (apart, others) = sample(given.lines, 1), sample(given.training, 2)
        lines, training = (measures(model, each, others) for each in (texts, apart))
        content = report(lines, training)
        write_json(given.out, {"n": {"lines": len(texts), "training": len(apart)}, **content})
        write_text(given.out.with_suffix(".svg"), plot(lines, training))
    except (paraphrastic.ParaphrasticError, OSError) as error:
        sys.exit(f"error: {error}")
    print(", ".join(f"{name} {values['drift']:.2f}" for name, values in content.items()))
    if lines["unknown"].min() == 1:
        print(f"{given.lines}: the encoder knows nothing of these lines", file=sys.stderr)


if __name__ == "__main__":
    main()
