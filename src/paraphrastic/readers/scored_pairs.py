"""Pairs of sentences, phrases or words with a score that people gave them."""

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from paraphrastic.errors import DataError
from paraphrastic.readers.files import AGAIN, every, members, single
from paraphrastic.readers.lines import Lines, correspond
from paraphrastic.readers.reading import Columns, Options, Reading, reading

_GOLD_ONLY = {"ALL", "SMT"}  # all gold lines once more; sentences that only the LDC may hand out


def sts_archive(folder: Path, options: Options) -> Iterator[Reading]:
    """`STS.input.SET.txt` and `STS.gs.SET.txt` in a tar archive, as in STS 2012 and 2013.

    Yields:
        `sts.YEAR.SET` of `options["year"]` in split `options["split"]`, sets in alphabetical order.
    """
    path = single(folder, "*.tgz")
    archive = members(path)
    names = {name.removeprefix("STS.gs.") for name in archive if name.startswith("STS.gs.")}
    if not names:
        raise DataError(f"{path}: the archive holds no STS.gs.SET.txt; {AGAIN}")
    for name in sorted(names):
        part = name.removesuffix(".txt").rpartition(".")[2]  # surprise.OnWN → OnWN
        if part in _GOLD_ONLY and f"STS.input.{name}" not in archive:
            continue
        texts, gold = (Lines.member(path, archive, f"STS.{side}.{name}") for side in ("input", "gs"))
        correspond(texts, gold)
        first, second = texts.fields(2)
        columns = {"text1": first, "text2": second, "score": _given(gold, gold.text, 0, 5)}
        yield _scored([texts, gold], f"sts.{options['year']}.{part}", options["split"], columns)


def sts_tsv(folder: Path, options: Options) -> Iterator[Reading]:
    """Score, sentence, sentence; a blank score means that the pair was not scored.

    Yields:
        For each file `SET.….tsv`, `sts.YEAR.SET` of `options["year"]` in split `options["split"]`.
    """
    for path in every(folder, "*.tsv"):
        lines = Lines.read(path)
        score, first, second = lines.fields(3)
        columns = {"text1": first, "text2": second, "score": _given(lines, score, 0, 5)}
        yield _scored([lines], f"sts.{options['year']}.{path.name.split('.')[0]}", options["split"], columns)


def sick(folder: Path, options: Options) -> Iterator[Reading]:
    """Number, sentence, sentence, relatedness, entailment, below a header; `options["splits"]`: file → split.

    Yields:
        `sick.relatedness` and `sick.entailment` for each file.
    """
    for name, split in options["splits"].items():
        lines = Lines.read(folder / name)
        lines.header("pair_ID", "sentence_A", "sentence_B", "relatedness_score", "entailment_judgment")
        _, first, second, score, judgment = lines.fields(5)
        texts = {"text1": first, "text2": second, "split": split}
        score = lines.numbers(score, 1, 5)
        label = lines.labels(judgment, ["CONTRADICTION", "NEUTRAL", "ENTAILMENT"])
        for kind, columns in (
            ("similarity", {"set": "sick.relatedness", "score": score}),
            ("labelled_pairs", {"set": "sick.entailment", "label": label}),
        ):
            yield reading(kind, [lines], texts | columns)


def pit2015(folder: Path, options: Options) -> Iterator[Reading]:
    """`test.data` (topic number, topic, sentence, sentence, …) and `test.label` (class, score) in a zip archive.

    Yields:
        `pit2015`, split test, with scores from 0 to 1; a score of 0.6 stands for the undecided class `----`.
    """
    path = single(folder, "*.zip")
    archive = members(path)
    texts, gold = (Lines.member(path, archive, f"test.{side}") for side in ("data", "label"))
    correspond(texts, gold)
    _, _, first, second = texts.fields(4)
    verdict, score = gold.fields(2)
    columns = {"text1": first, "text2": second, "score": gold.numbers(score, 0, 1)}
    columns["class"] = gold.labels(verdict, ["false", "true", "----"])
    yield _scored([texts, gold], "pit2015", "test", columns)


def word_pairs(folder: Path, options: Options) -> Iterator[Reading]:
    """Word, word, score from 0 to 10; `options["sets"]`: file → set, all in split test."""
    for name, title in options["sets"].items():
        lines = Lines.read(folder / name)
        first, second, score = lines.fields(3)
        columns = {"text1": first, "text2": second, "score": lines.numbers(score, 0, 10)}
        yield _scored([lines], title, "test", columns)


def ppdb_judgements(folder: Path, options: Options) -> Iterator[Reading]:
    """Score from 1 to 5, tag, phrase, phrase, single ratings: set `paraphrase.ppdb`, split test."""
    lines = Lines.read(single(folder, "*.tsv"))
    score, _, first, second = lines.fields(4)
    columns = {"text1": first, "text2": second, "score": lines.numbers(score, 1, 5)}
    yield _scored([lines], "paraphrase.ppdb", "test", columns)


def _given(lines: Lines, score: pa.StringArray, low: float, high: float) -> pa.DoubleArray:
    """`score` as numbers, null where it is blank, which is no damage."""
    blank = pc.equal(pc.utf8_trim_whitespace(score), "")
    return lines.numbers(pc.if_else(blank, None, score), low, high)


def _scored(files: list[Lines], title: str, split: str, columns: Columns) -> Reading:
    return reading("similarity", files, {**columns, "set": title, "split": split})
