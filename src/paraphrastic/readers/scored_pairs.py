"""Readers of pairs of sentences, phrases or words with human scores."""

import re
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from paraphrastic.base.errors import DataError
from paraphrastic.readers.files import REMEDY, find_file, find_files, read_archive
from paraphrastic.readers.lines import Lines, check_parallel, read_lines
from paraphrastic.readers.reading import Columns, Options, Reading, make_reading


def sts_archive(folder: Path, options: Options) -> Iterator[Reading]:
    """Read `STS.input.SET.txt` and `STS.gs.SET.txt` of an archive; in that of 2016 their names begin with `STS2016`.

    Fields after the two sentences, which name their origins, are ignored. A pair with a blank score is skipped.

    Args:
        folder: contains the archive.
        options: `year`, and `split` of all sets.

    Yields:
        `sts.YEAR.SET`, one reading per set, sorted by set.
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
        texts, gold = (Lines.of_member(path, archive, member) for member in (input_name, name))
        yield _sts_reading(texts, gold, f"sts.{options['year']}.{set_name}", options["split"])


def sts_files(folder: Path, options: Options) -> Iterator[Reading]:
    """Read the files of `STS.input.SET.txt` and `STS.gs.SET.txt` of one set, the form in which the LDC has SMT of 2013.

    Args:
        folder: contains the files.
        options: `set`, its `year` and its `split`.

    Yields:
        `sts.YEAR.SET`.
    """
    texts, gold = (Lines.read(folder / f"STS.{kind}.{options['set']}.txt") for kind in ("input", "gs"))
    yield _sts_reading(texts, gold, f"sts.{options['year']}.{options['set']}", options["split"])


def _sts_reading(texts: Lines, gold: Lines, name: str, split: str) -> Reading:
    check_parallel(texts, gold)
    first, second = texts.fields(2)
    columns = {"text1": first, "text2": second, "score": _optional_numbers(gold, gold.text, 0, 5)}
    return _scored_reading([texts, gold], name, split, columns)


def sts_benchmark(folder: Path, options: Options) -> Iterator[Reading]:
    """Read files with the columns genre, file, year, number, score, sentence, sentence and, in some lines, origins.

    The files are named `.csv`, but their separator is the tab, and quotes have no special meaning.

    Args:
        folder: contains the archive.
        options: `archive`, and `splits`, which maps a file to its split.

    Yields:
        Set `stsbenchmark`, one reading per file.
    """
    splits = options["splits"]
    for lines, split in zip(read_lines(folder, splits, options["archive"]), splits.values(), strict=True):
        *_, score, first, second = lines.fields(7)
        columns = {"text1": first, "text2": second, "score": lines.numbers(score, 0, 5)}
        yield _scored_reading([lines], "stsbenchmark", split, columns)


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
        yield from _sick_readings(lines, {"text1": first, "text2": second, "split": split}, score, judgment)


def sick_archive(folder: Path, options: Options) -> Iterator[Reading]:
    """Read `SICK.txt` of the zip archive of SICK 1.0, whose last column is the split.

    Args:
        folder: contains the archive.
        options: `archive`; `splits` maps a value of the last column to the split.

    Yields:
        `sick.relatedness` and `sick.entailment`, with the rows of all splits in the order of the file.
    """
    (lines,) = read_lines(folder, ["SICK.txt"], options["archive"])
    lines.skip_header("pair_ID", "sentence_A", "sentence_B", "entailment_label", "relatedness_score")
    _, first, second, judgment, score, *_, part = lines.fields(12)
    number = lines.labels(part, list(options["splits"]))
    split = pa.array(list(options["splits"].values())).take(number)
    yield from _sick_readings(lines, {"text1": first, "text2": second, "split": split}, score, judgment)


def _sick_readings(lines: Lines, common: Columns, score: pa.StringArray, judgment: pa.StringArray) -> Iterator[Reading]:
    score = lines.numbers(score, 1, 5)
    label = lines.labels(judgment, ["CONTRADICTION", "NEUTRAL", "ENTAILMENT"])
    yield make_reading("similarity", [lines], {**common, "set": "sick.relatedness", "score": score})
    yield make_reading("labelled_pairs", [lines], {**common, "set": "sick.entailment", "label": label})


def pit2015(folder: Path, options: Options) -> Iterator[Reading]:
    """Read the parallel files `test.data` and `test.label` of a zip archive.

    The columns are topic number, topic, sentence, sentence, …, and class, score.

    Yields:
        Set `pit2015`, split `test`, with scores from 0 to 1. It includes the pairs of the undecided class `----`, whose
        score is 0.6. Then set `paraphrase.pit2015`, without these pairs, as the task computes F1 (Xu et al. 2015, §5).
    """
    path = find_file(folder, "*.zip")
    archive = read_archive(path)
    texts, gold = (Lines.of_member(path, archive, f"test.{kind}") for kind in ("data", "label"))
    check_parallel(texts, gold)
    _, _, first, second = texts.fields(4)
    label, score = gold.fields(2)
    columns = {"text1": first, "text2": second, "score": gold.numbers(score, 0, 1)}
    columns["label"] = gold.labels(label, ["false", "true", "----"])  # an unknown class makes the row unusable
    yield _scored_reading([texts, gold], "pit2015", "test", columns)
    decided = pc.less(columns["label"], 2)
    columns = {name: column.filter(decided) for name, column in columns.items()}
    yield make_reading("labelled_pairs", [texts, gold], {**columns, "set": "paraphrase.pit2015", "split": "test"})


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


def annotated_ppdb(folder: Path, options: Options) -> Iterator[Reading]:
    """Read phrase, phrase and mean score from 1 to 5.

    The separator is ` ||| ` in the data of Wieting et al. (TACL 2015) and a tab in the demo archive of charagram2016.

    Args:
        folder: contains the files, or the archive.
        options: `splits` maps a file to its split; `separator`; `archive` if the files are in one.

    Yields:
        Set `paraphrase.annotated-ppdb`, one reading per file.
    """
    splits = options["splits"]
    for lines, split in zip(read_lines(folder, splits, options.get("archive")), splits.values(), strict=True):
        first, second, score = lines.fields(3, options["separator"])
        columns = {"text1": first, "text2": second, "score": lines.numbers(score, 1, 5)}
        yield _scored_reading([lines], "paraphrase.annotated-ppdb", split, columns)


def _optional_numbers(lines: Lines, column: pa.StringArray, low: float, high: float) -> pa.DoubleArray:
    """Return `lines.numbers` of a column in which a blank value is null, not a bad row."""
    blank = pc.equal(pc.utf8_trim_whitespace(column), "")
    return lines.numbers(pc.if_else(blank, None, column), low, high)


def _scored_reading(files: list[Lines], name: str, split: str, columns: Columns) -> Reading:
    return make_reading("similarity", files, {**columns, "set": name, "split": split})
