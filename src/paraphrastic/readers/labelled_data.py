"""Readers of labelled pairs, of labelled sentences, and of questions with candidate answers."""

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from paraphrastic.base.errors import DataError
from paraphrastic.readers.files import REMEDY
from paraphrastic.readers.lines import Lines, read_lines
from paraphrastic.readers.reading import Columns, Options, Reading, make_reading


def msrp(folder: Path, options: Options) -> Iterator[Reading]:
    """Read files with the columns label, two numbers, sentence, sentence, and a header.

    Args:
        folder: contains the files.
        options: `splits` maps a file to its split.

    Yields:
        Set `paraphrase.msrp`, one reading per file.
    """
    for name, split in options["splits"].items():
        lines = Lines.read(folder / name)
        lines.skip_header("Quality", "#1 ID", "#2 ID", "#1 String", "#2 String")
        label, _, _, first, second = lines.fields(5)
        columns = {"text1": first, "text2": second, "label": lines.labels(label, ["0", "1"])}
        yield _labelled_reading("labelled_pairs", lines, "paraphrase.msrp", split, columns)


def sst(folder: Path, options: Options) -> Iterator[Reading]:
    """Read files with the columns sentence and label.

    Args:
        folder: contains the files.
        options: `splits` maps a file to its split.

    Yields:
        Set `sst`, one reading per file.
    """
    for name, split in options["splits"].items():
        lines = Lines.read(folder / name)
        text, label = lines.fields(2)
        columns = {"text1": text, "label": lines.labels(label, ["0", "1"])}
        yield _labelled_reading("labelled_sentences", lines, "sst", split, columns)


def wikiqa(folder: Path, options: Options) -> Iterator[Reading]:
    """Read files with the columns question, candidate and label.

    Args:
        folder: contains the files.
        options: `splits` maps a file to its split.

    Yields:
        Set `qa.wikiqa`, one reading per file, including questions without a correct answer. Rows with equal text in
        the first column belong to one question.
    """
    for name, split in options["splits"].items():
        lines = Lines.read(folder / name)
        question, candidate, label = lines.fields(3)
        number = question.dictionary_encode().indices
        columns = {"question": number, "text1": question, "text2": candidate}
        columns["label"] = lines.labels(label, ["0", "1"])
        yield _labelled_reading("ranking", lines, "qa.wikiqa", split, columns)


def wikiqa_corpus(folder: Path, options: Options) -> Iterator[Reading]:
    """Read the columns question id, question, document id, document title, sentence id, sentence, label, and a header.

    Args:
        folder: contains the archive.
        options: `archive`, and `splits`, which maps a file to its split.

    Yields:
        Set `qa.wikiqa`, one reading per file, including questions without a correct answer. Rows with one question id
        belong to one question. Sentence ids are DOCUMENT-NUMBER and in order, as `evaluation.metrics` assumes for ties.
    """
    splits = options["splits"]
    for lines, split in zip(read_lines(folder, splits, options["archive"]), splits.values(), strict=True):
        lines.skip_header("QuestionID", "Question", "DocumentID", "DocumentTitle", "SentenceID", "Sentence", "Label")
        question_id, question, document, _, candidate_id, candidate, label = lines.fields(7)
        foreign = pc.not_equal(pc.replace_substring_regex(candidate_id, r"-\d+$", ""), document)
        candidate_id = lines.reject(candidate_id, foreign, "the sentence id does not begin with the document id")
        columns = {"question": question_id.dictionary_encode().indices, "text1": question, "text2": candidate}
        columns |= {"label": lines.labels(label, ["0", "1"]), "id": candidate_id}
        yield _labelled_reading("ranking", lines, "qa.wikiqa", split, columns)


def trecqa(folder: Path, options: Options) -> Iterator[Reading]:
    r"""Read questions and candidates between tags.

    An element `<QApairs>` contains one `<question>`, then a `<positive>` or `<negative>` for each candidate. A tag is
    alone on its line. The next line contains the tokens, separated by tabs. The format is not XML: `&` and `<` are not
    escaped.

    Args:
        folder: contains the files, or the archive.
        options: `splits` maps a file to its split; `archive` if the files are in one.

    Yields:
        Set `qa.qasent`, one reading per file: in the split `train` the candidates of all questions, in other splits
        the candidates of questions with both a correct and a wrong answer.
    """
    splits = options["splits"]
    for lines, split in zip(read_lines(folder, splits, options.get("archive")), splits.values(), strict=True):
        _check_tags(lines)
        candidates = _candidates(lines)
        if split != "train":
            candidates = _with_both_labels(candidates)
        columns = dict(zip(candidates.column_names, candidates.columns, strict=True))
        yield _labelled_reading("ranking", lines, "qa.qasent", split, columns)


_TAGS = ["negative", "positive", "question"]  # the index of a candidate's tag is its label
_QUESTION = 2
_TAG_LINE = r"^</?(QApairs|question|positive|negative)[ >]"
_TAG_ORDER = re.compile("(<QApairs><question></question>(<positive></positive>|<negative></negative>)*</QApairs>)*")


def _candidates(lines: Lines) -> pa.Table:
    """Return question number, question, candidate and label, one row per candidate without a bad row."""
    tag = pc.index_in(lines.text, pa.array([f"<{tag}>" for tag in _TAGS]))
    tag_lines = np.flatnonzero(tag.is_valid())  # (questions + candidates,)
    tag = tag.take(pa.array(tag_lines)).to_numpy()
    number = np.cumsum(tag == _QUESTION) - 1
    text = pc.replace_substring(_next_lines(lines, tag_lines), "\t", " ")
    question = text.filter(pa.array(tag == _QUESTION)).take(pa.array(number))
    columns = {"question": pa.array(number), "text1": question, "text2": text, "label": pa.array(tag)}
    return pa.table(columns).filter(pa.array(tag != _QUESTION)).drop_null()


def _next_lines(lines: Lines, rows: NDArray[np.int64]) -> pa.StringArray:
    """Return the lines that follow the lines `rows`, (len(rows),); a closing tag in their place makes a bad row."""
    follows = np.isin(np.arange(len(lines)), rows + 1)
    closing = pc.and_(pa.array(follows), pc.starts_with(lines.text, "</"))
    return lines.reject(lines.text, closing, "no tokens below the tag").take(pa.array(rows + 1))


def _with_both_labels(candidates: pa.Table) -> pa.Table:
    """Return the candidates of questions with both a correct and a wrong answer."""
    question, label = candidates["question"].to_numpy(), candidates["label"].to_numpy()
    correct, total = np.bincount(question, label), np.bincount(question)
    return candidates.filter(pa.array(((correct > 0) & (correct < total))[question]))


def _check_tags(lines: Lines) -> None:
    """Check that each `<QApairs>` contains one question and then candidates, and that every element is closed.

    Raises:
        DataError: the check fails, for example because the file is truncated.
    """
    tags = lines.text.filter(pc.match_substring_regex(lines.text, _TAG_LINE))
    order = "".join(pc.replace_substring_regex(tags, "^<QApairs .*", "<QApairs>").to_pylist())
    if re.search("<QApairs><(positive|negative)>", order):
        raise DataError(f"{lines.file}: a candidate precedes its question; {REMEDY}")
    if not _TAG_ORDER.fullmatch(order):
        raise DataError(f"{lines.file}: a tag is not closed, or a <QApairs> does not contain one question; {REMEDY}")


def _labelled_reading(kind: str, lines: Lines, name: str, split: str, columns: Columns) -> Reading:
    return make_reading(kind, [lines], {**columns, "set": name, "split": split})
