"""Readers of evaluation sets: pairs with human scores or labels, labelled sentences, questions with candidates."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from paraphrastic.base.compressed import REMEDY
from paraphrastic.base.errors import DataError
from paraphrastic.readers.lines import SourceLines, read_lines, read_parallel, read_splits
from paraphrastic.readers.raw_files import find_file, read_archive
from paraphrastic.readers.reading import ReaderOptions, Reading, make_reading


def columns(folder: Path, options: ReaderOptions) -> Iterator[Reading]:
    """Read files with a row in each line, whose fields are the columns of a table.

    Options: `kind`, a key of `tables.RAW`; `columns`, which column each field is, or an empty text if it is not read,
        further fields being ignored; `splits` maps a file to its split, `set` being the set, or `sets` maps it to its
        set, of the split `test`. Where needed: `archive` if the files are in one; `separator`, a tab unless stated;
        `header`, the first fields of line 1; `scale`, the lowest and the highest score; `single_words`, to skip pairs
        in which a text has a space.
    Yields: One reading per file. Of a ranking, rows with equal questions belong to one question.
    """
    kind, names = options["kind"], options["columns"]
    is_split = "splits" in options
    for lines, value in read_splits(folder, options["splits" if is_split else "sets"], options.get("archive")):
        if "header" in options:
            lines.skip_header(*options["header"])
        fields = lines.fields(len(names), options.get("separator", "\t"))
        read: dict[str, Any] = {name: field for name, field in zip(names, fields, strict=True) if name}
        if "score" in read:
            read["score"] = lines.numbers(read["score"], *options["scale"])
        if options.get("single_words"):
            spaced = pc.or_(*(pc.match_substring(read[name], " ") for name in ("text1", "text2")))
            read["score"] = pc.if_else(spaced, None, read["score"])
        if "label" in read:
            read["label"] = lines.labels(read["label"], ["0", "1"])
        if kind == "ranking":
            read["question"] = read["text1"].dictionary_encode().indices
        read |= {"set": options["set"], "split": value} if is_split else {"set": value, "split": "test"}
        yield make_reading(kind, [lines], **read)


def sts_archive(folder: Path, options: ReaderOptions) -> Iterator[Reading]:
    """Read `STS.input.SET.txt` and `STS.gs.SET.txt` of an archive; in that of 2016 their names begin with `STS2016`.

    Fields after the two sentences, which name their origins, are ignored. A pair with a blank score is skipped.

    Options: `year`, and `split` of all sets; `set` if all pairs are one set.
    Yields: `sts.YEAR.SET` or the set, one reading per set of the year, sorted by set.
    """
    path = find_file(folder, "*.[tz]*")
    archive = read_archive(path)
    names = sorted(found[0] for name in archive if (found := re.fullmatch(r"STS(\d{4})?\.gs\..*", name)))
    if not names:
        raise DataError(f"{path}: the archive contains no STS.gs.SET.txt; {REMEDY}")
    for name in names:
        input_name = name.replace(".gs.", ".input.", 1)
        set_name = name.removesuffix(".txt").rpartition(".")[2]  # surprise.OnWN → OnWN
        if set_name == "ALL" or (set_name == "SMT" and input_name not in archive):
            continue  # ALL repeats the other sets, and the sentences of SMT are distributed by the LDC
        texts, gold = read_parallel(folder, input_name, name, archive=path.name)
        name = options.get("set", f"sts.{options['year']}.{set_name}")
        yield _sts_reading(texts, gold, name, options["split"])


def sts_files(folder: Path, options: ReaderOptions) -> Iterator[Reading]:
    """Read the files of `STS.input.SET.txt` and `STS.gs.SET.txt` of one set, the form in which the LDC has SMT of 2013.

    Options: `set`, its `year` and its `split`.
    Yields: `sts.YEAR.SET`.
    """
    texts, gold = read_parallel(folder, *(f"STS.{kind}.{options['set']}.txt" for kind in ("input", "gs")))
    yield _sts_reading(texts, gold, f"sts.{options['year']}.{options['set']}", options["split"])


def _sts_reading(texts: SourceLines, gold: SourceLines, name: str, split: str) -> Reading:
    first, second = texts.fields(2)
    score = gold.numbers(gold.text, 0, 5, may_be_blank=True)
    return make_reading("similarity", [texts, gold], set=name, split=split, text1=first, text2=second, score=score)


def sts_tsv(folder: Path, options: ReaderOptions) -> Iterator[Reading]:
    """Read files `SET.….tsv` with the columns score, sentence, sentence; a pair with a blank score is skipped.

    Options: `year`, and `split` of all sets; `set` if all pairs are one set.
    Yields: `sts.YEAR.SET` or the set, one reading per file.
    """
    for lines in read_lines(folder, "*.tsv"):
        score, first, second = lines.fields(3)
        score = lines.numbers(score, 0, 5, may_be_blank=True)
        name = options.get("set", f"sts.{options['year']}.{Path(lines.file).name.split('.')[0]}")
        of_set = {"set": name, "split": options["split"]}
        yield make_reading("similarity", [lines], **of_set, text1=first, text2=second, score=score)


def sick(folder: Path, options: ReaderOptions) -> Iterator[Reading]:
    """Read files with the columns number, sentence, sentence, relatedness, entailment, and a header.

    Options: `splits` maps a file to its split.
    Yields: `sick.relatedness` and `sick.entailment` for each file.
    """
    for lines, split in read_splits(folder, options["splits"]):
        lines.skip_header("pair_ID", "sentence_A", "sentence_B", "relatedness_score", "entailment_judgment")
        _, first, second, score, judgment = lines.fields(5)
        yield from _sick_readings(lines, score, judgment, text1=first, text2=second, split=split)


def sick_archive(folder: Path, options: ReaderOptions) -> Iterator[Reading]:
    """Read `SICK.txt` of the zip archive of SICK 1.0, whose last column is the split.

    Options: `archive`; `splits` maps a value of the last column to the split.
    Yields: `sick.relatedness` and `sick.entailment`, with the rows of all splits in the order of the file.
    """
    (lines,) = read_lines(folder, "SICK.txt", archive=options["archive"])
    lines.skip_header("pair_ID", "sentence_A", "sentence_B", "entailment_label", "relatedness_score")
    _, first, second, judgment, score, *_, part = lines.fields(12)
    number = lines.labels(part, list(options["splits"]))
    split = pa.array(list(options["splits"].values())).take(number)
    yield from _sick_readings(lines, score, judgment, text1=first, text2=second, split=split)


def _sick_readings(
    lines: SourceLines, score: pa.StringArray, judgment: pa.StringArray, **common: Any
) -> Iterator[Reading]:
    score = lines.numbers(score, 1, 5)
    label = lines.labels(judgment, ["CONTRADICTION", "NEUTRAL", "ENTAILMENT"])
    yield make_reading("similarity", [lines], **common, set="sick.relatedness", score=score)
    yield make_reading("labelled_pairs", [lines], **common, set="sick.entailment", label=label)


def pit2015(folder: Path, options: ReaderOptions) -> Iterator[Reading]:
    """Read the parallel files `test.data` and `test.label` of a zip archive.

    The columns are topic number, topic, sentence, sentence, …, and class, score.

    Yields: Set `pit2015`, split `test`, with scores from 0 to 1. It includes the pairs of the undecided class `----`,
        whose score is 0.6. Then set `paraphrase.pit2015`, without these pairs, as the task computes F1 (Xu et al.
        2015, §5).
    """
    texts, gold = read_parallel(folder, "test.data", "test.label", archive="*.zip")
    _, _, first, second = texts.fields(4)
    label, score = gold.fields(2)
    read = {"text1": first, "text2": second, "score": gold.numbers(score, 0, 1)}
    read["label"] = gold.labels(label, ["false", "true", "----"])  # an unknown class makes the row unusable
    yield make_reading("similarity", [texts, gold], **read, set="pit2015", split="test")
    decided = pc.less(read["label"], 2)
    read = {name: column.filter(decided) for name, column in read.items()}
    yield make_reading("labelled_pairs", [texts, gold], **read, set="paraphrase.pit2015", split="test")


def wikiqa_corpus(folder: Path, options: ReaderOptions) -> Iterator[Reading]:
    """Read the columns question id, question, document id, document title, sentence id, sentence, label, and a header.

    Options: `archive`, and `splits`, which maps a file to its split.
    Yields: Set `qa.wikiqa`, one reading per file, including questions without a correct answer. Rows with one
        question id belong to one question. Sentence ids are DOCUMENT-NUMBER and in order, as `evaluation.metrics`
        assumes for ties.
    """
    for lines, split in read_splits(folder, options["splits"], options["archive"]):
        lines.skip_header("QuestionID", "Question", "DocumentID", "DocumentTitle", "SentenceID", "Sentence", "Label")
        question_id, question, document, _, candidate_id, candidate, label = lines.fields(7)
        foreign = pc.not_equal(pc.replace_substring_regex(candidate_id, r"-\d+$", ""), document)
        candidate_id = lines.reject(candidate_id, foreign, "the sentence id does not begin with the document id")
        read = {"question": question_id.dictionary_encode().indices, "text1": question, "text2": candidate}
        read |= {"label": lines.labels(label, ["0", "1"]), "id": candidate_id}
        yield make_reading("ranking", [lines], **read, set="qa.wikiqa", split=split)


def trecqa(folder: Path, options: ReaderOptions) -> Iterator[Reading]:
    r"""Read questions and candidates between tags.

    An element `<QApairs>` contains one `<question>`, then a `<positive>` or `<negative>` for each candidate. A tag is
    alone on its line. The next line contains the tokens, separated by tabs. The format is not XML: `&` and `<` are not
    escaped.

    Options: `splits` maps a file to its split; `archive` if the files are in one.
    Yields: Set `qa.qasent`, one reading per file: in the split `train` the candidates of all questions, in other
        splits the candidates of questions with both a correct and a wrong answer.
    """
    for lines, split in read_splits(folder, options["splits"], options.get("archive")):
        _check_tags(lines)
        candidates = _candidates(lines)
        if split != "train":
            question, label = candidates["question"].to_numpy(), candidates["label"].to_numpy()
            correct, total = np.bincount(question, label), np.bincount(question)
            candidates = candidates.filter(((correct > 0) & (correct < total))[question])
        read = dict(zip(candidates.column_names, candidates.columns, strict=True))
        yield make_reading("ranking", [lines], **read, set="qa.qasent", split=split)


_TAGS = ["negative", "positive", "question"]  # the index of a candidate's tag is its label
_QUESTION = 2
_TAG_LINE = r"^</?(QApairs|question|positive|negative)[ >]"
_TAG_ORDER = re.compile("(<QApairs><question></question>(<positive></positive>|<negative></negative>)*</QApairs>)*")


def _candidates(lines: SourceLines) -> pa.Table:
    """Return question number, question, candidate and label, one row per candidate without a bad row."""
    tag = pc.index_in(lines.text, pa.array([f"<{tag}>" for tag in _TAGS]))
    tag_lines = np.flatnonzero(tag.is_valid())  # (questions + candidates,)
    tag = tag.take(tag_lines).to_numpy()
    number = np.cumsum(tag == _QUESTION) - 1
    follows = np.isin(np.arange(len(lines)), tag_lines + 1)  # (lines,)
    closing = pc.and_(pa.array(follows), pc.starts_with(lines.text, "</"))
    tokens = lines.reject(lines.text, closing, "no tokens below the tag").take(tag_lines + 1)
    text = pc.replace_substring(tokens, "\t", " ")
    question = text.filter(tag == _QUESTION).take(number)
    columns = {"question": pa.array(number), "text1": question, "text2": text, "label": pa.array(tag)}
    return pa.table(columns).filter(tag != _QUESTION).drop_null()


def _check_tags(lines: SourceLines) -> None:
    """Check that each `<QApairs>` contains one question and then candidates, and that every element is closed."""
    tags = lines.text.filter(pc.match_substring_regex(lines.text, _TAG_LINE))
    order = "".join(pc.replace_substring_regex(tags, "^<QApairs .*", "<QApairs>").to_pylist())
    if re.search("<QApairs><(positive|negative)>", order):
        raise DataError(f"{lines.file}: a candidate precedes its question; {REMEDY}")
    if not _TAG_ORDER.fullmatch(order):
        raise DataError(f"{lines.file}: a tag is not closed, or a <QApairs> does not contain one question; {REMEDY}")
