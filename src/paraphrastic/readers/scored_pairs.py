"""Readers of pairs of sentences, phrases or words with human scores."""

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from paraphrastic.errors import DataError
from paraphrastic.readers.files import REMEDY, find_file, find_files, read_archive
from paraphrastic.readers.lines import Lines, check_parallel
from paraphrastic.readers.reading import Columns, Options, Reading, make_reading

# Gold files without sentences: ALL repeats the other gold files, and the sentences of SMT are distributed by the LDC.
_WITHOUT_SENTENCES = {"ALL", "SMT"}


def sts_archive(folder: Path, options: Options) -> Iterator[Reading]:
    """Read `STS.input.SET.txt` and `STS.gs.SET.txt` of a tar archive, the format of STS 2012 and 2013.

    Args:
        folder: contains the archive.
        options: `year`, and `split` of all sets.

    Yields:
        `sts.YEAR.SET`, one reading per set, sorted by set.
    """
    path = find_file(folder, "*.tgz")
    archive = read_archive(path)
    names = {name.removeprefix("STS.gs.") for name in archive if name.startswith("STS.gs.")}
    if not names:
        raise DataError(f"{path}: the archive contains no STS.gs.SET.txt; {REMEDY}")
    for name in sorted(names):
        set_name = name.removesuffix(".txt").rpartition(".")[2]  # surprise.OnWN → OnWN
        if set_name in _WITHOUT_SENTENCES and f"STS.input.{name}" not in archive:
            continue
        texts, gold = (Lines.of_member(path, archive, f"STS.{kind}.{name}") for kind in ("input", "gs"))
        check_parallel(texts, gold)
        first, second = texts.fields(2)
        columns = {"text1": first, "text2": second, "score": _optional_numbers(gold, gold.text, 0, 5)}
        yield _scored_reading([texts, gold], f"sts.{options['year']}.{set_name}", options["split"], columns)


def sts_tsv(folder: Path, options: Options) -> Iterator[Reading]:
    """Read files `SET.….tsv` with the columns score, sentence, sentence; a pair with a blank score is skipped.

    Args:
        folder: contains the files.
        options: `year`, and `split` of all sets.

    Yields:
        `sts.YEAR.SET`, one reading per file.
    """
    for path in find_files(folder, "*.tsv"):
        lines = Lines.read(path)
        score, first, second = lines.fields(3)
        columns = {"text1": first, "text2": second, "score": _optional_numbers(lines, score, 0, 5)}
        yield _scored_reading([lines], f"sts.{options['year']}.{path.name.split('.')[0]}", options["split"], columns)


def sick(folder: Path, options: Options) -> Iterator[Reading]:
    """Read files with the columns number, sentence, sentence, relatedness, entailment, and a header.

    Args:
        folder: contains the files.
        options: `splits` maps a file to its split.

    Yields:
        `sick.relatedness` and `sick.entailment` for each file.
    """
    for name, split in options["splits"].items():
        lines = Lines.read(folder / name)
        lines.skip_header("pair_ID", "sentence_A", "sentence_B", "relatedness_score", "entailment_judgment")
        _, first, second, score, judgment = lines.fields(5)
        common = {"text1": first, "text2": second, "split": split}
        score = lines.numbers(score, 1, 5)
        label = lines.labels(judgment, ["CONTRADICTION", "NEUTRAL", "ENTAILMENT"])
        yield make_reading("similarity", [lines], common | {"set": "sick.relatedness", "score": score})
        yield make_reading("labelled_pairs", [lines], common | {"set": "sick.entailment", "label": label})


def pit2015(folder: Path, options: Options) -> Iterator[Reading]:
    """Read the parallel files `test.data` and `test.label` of a zip archive.

    The columns are topic number, topic, sentence, sentence, …, and class, score.

    Yields:
        Set `pit2015`, split `test`, with scores from 0 to 1. It includes the pairs of the undecided class `----`, whose
        score is 0.6.
    """
    path = find_file(folder, "*.zip")
    archive = read_archive(path)
    texts, gold = (Lines.of_member(path, archive, f"test.{kind}") for kind in ("data", "label"))
    check_parallel(texts, gold)
    _, _, first, second = texts.fields(4)
    label, score = gold.fields(2)
    columns = {"text1": first, "text2": second, "score": gold.numbers(score, 0, 1)}
    columns["class"] = gold.labels(label, ["false", "true", "----"])  # an unknown class makes the row unusable
    yield _scored_reading([texts, gold], "pit2015", "test", columns)


def word_pairs(folder: Path, options: Options) -> Iterator[Reading]:
    """Read files with the columns word, word, score from 0 to 10.

    Args:
        folder: contains the files.
        options: `sets` maps a file to its set.

    Yields:
        One reading per file, in split `test`.
    """
    for name, set_name in options["sets"].items():
        lines = Lines.read(folder / name)
        first, second, score = lines.fields(3)
        columns = {"text1": first, "text2": second, "score": lines.numbers(score, 0, 10)}
        yield _scored_reading([lines], set_name, "test", columns)


def ppdb_judgements(folder: Path, options: Options) -> Iterator[Reading]:
    """Read the columns mean score from 1 to 5, tag, phrase, phrase, single ratings.

    Yields:
        Set `paraphrase.ppdb`, split `test`.
    """
    lines = Lines.read(find_file(folder, "*.tsv"))
    score, _, first, second = lines.fields(4)
    columns = {"text1": first, "text2": second, "score": lines.numbers(score, 1, 5)}
    yield _scored_reading([lines], "paraphrase.ppdb", "test", columns)


def _optional_numbers(lines: Lines, column: pa.StringArray, low: float, high: float) -> pa.DoubleArray:
    """Return `lines.numbers` of a column in which a blank value is null, not a bad row."""
    blank = pc.equal(pc.utf8_trim_whitespace(column), "")
    return lines.numbers(pc.if_else(blank, None, column), low, high)


def _scored_reading(files: list[Lines], name: str, split: str, columns: Columns) -> Reading:
    return make_reading("similarity", files, {**columns, "set": name, "split": split})
