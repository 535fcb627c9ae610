"""Labelled pairs, labelled sentences, and questions with candidate answers."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from paraphrastic.errors import DataError
from paraphrastic.readers.files import AGAIN
from paraphrastic.readers.lines import Lines
from paraphrastic.readers.reading import Columns, Options, Reading, reading


def msrp(folder: Path, options: Options) -> Iterator[Reading]:
    """Label, two numbers, sentence, sentence, below a header; `options["splits"]`: file → split.

    Yields:
        `paraphrase.msrp` for each file.
    """
    for name, split in options["splits"].items():
        lines = Lines.read(folder / name)
        lines.header("Quality", "#1 ID", "#2 ID", "#1 String", "#2 String")
        label, _, _, first, second = lines.fields(5)
        columns = {"text1": first, "text2": second, "label": lines.labels(label, ["0", "1"])}
        yield _labelled("labelled_pairs", lines, "paraphrase.msrp", split, columns)


def sst(folder: Path, options: Options) -> Iterator[Reading]:
    """Sentence and label; `options["splits"]`: file → split of set `sst`."""
    for name, split in options["splits"].items():
        lines = Lines.read(folder / name)
        text, label = lines.fields(2)
        columns = {"text1": text, "label": lines.labels(label, ["0", "1"])}
        yield _labelled("labelled_sentences", lines, "sst", split, columns)


def wikiqa(folder: Path, options: Options) -> Iterator[Reading]:
    """Question, candidate, label; `options["splits"]`: file → split of set `qa.wikiqa`.

    Yields:
        All pairs, also of questions that have no answer; equal questions are one.
    """
    for name, split in options["splits"].items():
        lines = Lines.read(folder / name)
        question, candidate, label = lines.fields(3)
        number = question.dictionary_encode().indices
        columns = {"question": number, "text1": question, "text2": candidate}
        columns["label"] = lines.labels(label, ["0", "1"])
        yield _labelled("ranking", lines, "qa.wikiqa", split, columns)


def trecqa(folder: Path, options: Options) -> Iterator[Reading]:
    r"""Questions and candidates between tags; `options["splits"]`: file → split of set `qa.qasent`.

    `<QApairs>` holds a `<question>` and then a `<positive>` or `<negative>` for each candidate. A tag stands alone
    on its line; the line below it has the tokens, with tabs between them. `&` and `<` are not escaped.

    Yields:
        The candidates of all questions in train; of questions with both an answer and a wrong one elsewhere.
    """
    for name, split in options["splits"].items():
        lines = Lines.read(folder / name)
        _balanced(lines)
        candidates = _candidates(lines)
        if split != "train":
            candidates = _contested(candidates)
        columns = dict(zip(candidates.column_names, candidates.columns, strict=True))
        yield _labelled("ranking", lines, "qa.qasent", split, columns)


_TAGS = ["negative", "positive", "question"]  # the place of a candidate's tag is its label


def _candidates(lines: Lines) -> pa.Table:
    """Question number, question, candidate and label, one row per candidate whose lines are all usable.

    Raises:
        DataError: a candidate stands before the first question.
    """
    tag = pc.index_in(lines.text, pa.array([f"<{tag}>" for tag in _TAGS]))
    opening = np.flatnonzero(tag.is_valid())
    tag = tag.take(pa.array(opening)).to_numpy()
    number = np.cumsum(tag == 2) - 1
    if number.min(initial=0) < 0:
        raise DataError(f"{lines.file}: a candidate stands before its question; {AGAIN}")
    text = pc.replace_substring(_below(lines, opening), "\t", " ")
    question = text.filter(pa.array(tag == 2)).take(pa.array(number))
    columns = {"question": pa.array(number), "text1": question, "text2": text, "label": pa.array(tag)}
    return pa.table(columns).filter(pa.array(tag != 2)).drop_null()


def _below(lines: Lines, opening: NDArray[np.int64]) -> pa.StringArray:
    """The lines below the lines `opening`; a closing tag there makes a bad row."""
    below = np.isin(np.arange(len(lines)), opening + 1)
    closing = pc.and_(pa.array(below), pc.starts_with(lines.text, "</"))
    return lines.reject(lines.text, closing, "no tokens below the tag").take(pa.array(opening + 1))


def _contested(candidates: pa.Table) -> pa.Table:
    """The candidates of questions with both labels."""
    question, label = candidates["question"].to_numpy(), candidates["label"].to_numpy()
    right, count = np.bincount(question, label), np.bincount(question)
    return candidates.filter(pa.array(((right > 0) & (right < count))[question]))


def _balanced(lines: Lines) -> None:
    """Check that every question and candidate is closed, and that each `<QApairs>` has one question.

    Raises:
        DataError: that is not so, as when the file is cut short.
    """

    def count(start: str) -> int:
        return pc.sum(pc.starts_with(lines.text, start)).as_py() or 0

    opened = {tag: count(f"<{tag}>") for tag in _TAGS} | {"QApairs": count("<QApairs ")}
    closed = {tag: count(f"</{tag}>") for tag in opened}
    if opened != closed or opened["question"] != opened["QApairs"]:
        raise DataError(f"{lines.file}: tags are not closed, or a <QApairs> has not one question; {AGAIN}")


def _labelled(kind: str, lines: Lines, title: str, split: str, columns: Columns) -> Reading:
    return reading(kind, [lines], {**columns, "set": title, "split": split})
