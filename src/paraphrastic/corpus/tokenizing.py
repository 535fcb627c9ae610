"""The stage `tokenize`: raw files → tokenized pairs and evaluation sets."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from paraphrastic.base.console import message, progress
from paraphrastic.base.errors import DataError
from paraphrastic.base.files import atomic_folder, scratch_folder, write_text
from paraphrastic.base.parameters import Tokenize
from paraphrastic.base.tables import PAIRS, RAW, SENTENCES, SIDES, indexed_schema, write_parts, write_table
from paraphrastic.corpus.exchanging import exchanged_copies
from paraphrastic.corpus.filtering import EvaluationText, filter_pairs
from paraphrastic.corpus.phrases import phrases
from paraphrastic.corpus.tokenized_pairs import Pairs
from paraphrastic.corpus.training_corpus import merge_sources, take_pairs
from paraphrastic.readers.lines import BadRow
from paraphrastic.readers.reading import PASS_ALL, PairFilter, Reading
from paraphrastic.readers.registry import read
from paraphrastic.sources.catalogue import check_choice
from paraphrastic.sources.source import EXCHANGED, Source, Suite
from paraphrastic.text.columns import Hashes, hash_texts
from paraphrastic.text.tokenizer import tokenize_tables

_ReportRow = dict[str, str | int]  # of the report, by column


def tokenize_sources(
    training: Sequence[Source],
    benchmarks: Suite,
    raw: Path,
    corpus_out: Path,
    benchmarks_out: Path,
    options: Tokenize,
    seed: int,
    check: Callable[[Path], object] = lambda tables: None,
) -> list[_ReportRow]:
    """Tokenize all text once, and drop training pairs that contain evaluation sentences.

    Args:
        training: sources of training pairs; those that nobody has provided are left out.
        benchmarks: evaluation data; sources that nobody has provided, and optional ones without files, are left out.
        raw: contains the files of each source in a folder of its name.
        corpus_out: folder of tables of sentences and pairs, which appears whole or not at all.
        benchmarks_out: folder of evaluation tables, in the same way.
        options: parameters of the stage `tokenize`.
        seed: seed of the choice of pairs.
        check: called with the folder of evaluation tables before the training pairs are read; may refuse them.

    Returns:
        A row for each training source: pairs read, unusable rows, pairs dropped by reason, and kept; `capped` if groups
        have more pairs than are kept; `taken` if not all pairs that were kept are taken.

    Raises:
        DataError: no source of training pairs is there, a file is damaged, or no pair is left.
        ParameterError: pairs are limited or copied by what no source has.
    """
    evaluation, pairs_of = _present(benchmarks.sources, raw), _training_sources(training, raw)
    check_choice(pairs_of, options)
    wanted = _pair_filter(options, pairs_of)
    with (
        progress() as bar,
        atomic_folder(corpus_out) as corpus,
        atomic_folder(benchmarks_out) as tables,
        scratch_folder(corpus / "texts") as scratch,
    ):
        visibly = bar.track(evaluation, description="evaluation sets")
        readings = [reading for source in visibly for reading in read_evaluation(source, raw / source.name)]
        text = _write_benchmarks(readings, benchmarks.select, tables)
        check(tables)
        excluded = text if options.drop_overlap else None
        advance = partial(bar.advance, bar.add_task("pairs", total=None))
        keep = partial(_keep, wanted, excluded, options, scratch, advance)
        kept = [keep(source, raw / source.name) for source in bar.track(pairs_of, description="sources of pairs")]
        if options.exchange:
            kept.append(_exchanged(pairs_of, [pairs for pairs, _ in kept], excluded, options.exchange, scratch, seed))
        limits = options.take_share, options.max_pairs, options.max_tokens
        merged = merge_sources({str(row["source"]): pairs for pairs, row in kept})
        taken = take_pairs(merged, *limits, seed if options.take_by == "random" else None)
        message(f"corpus: {len(taken.pairs)} pairs with {taken.tokens_of_pairs.sum()} tokens")
        sentences = (pa.table([texts], schema=SENTENCES) for texts in taken.sentences)
        write_parts(sentences, corpus / "sentences.parquet", SENTENCES)
        write_table(taken.pairs, corpus / "pairs.parquet", PAIRS)
    return _report([row for _, row in kept], taken.pairs)


def _keep(
    wanted: PairFilter,
    evaluation: EvaluationText | None,
    options: Tokenize,
    scratch: Path,
    on_progress: Callable[[int], object],
    source: Source,
    folder: Path,
) -> tuple[Pairs, _ReportRow]:
    """Return the pairs of a source that are trained on, and its row of the report."""
    counts = Counter[str]()

    def tables() -> Iterator[pa.Table]:
        for table in read_pairs(source, folder, options.max_bad_rows, counts, wanted):
            yield table
            on_progress(len(table))

    limit = options.max_group_pairs or source.max_group_pairs
    options_of_source = {"near": source.near_copies, "words": source.words, "single": source.single}
    kept, dropped = filter_pairs(tables(), evaluation, scratch, **options_of_source, max_group_pairs=limit)
    if source.phrases:
        limit = options.max_group_pairs  # that of the source concerns its sentences
        kept, _ = filter_pairs([phrases(kept)], evaluation, scratch, near=False, words=False, max_group_pairs=limit)
    row: _ReportRow = {"source": source.name, "read": counts["read"], "bad": counts["bad"]}
    return kept, row | dropped | {"kept": len(kept.left)}


def _exchanged(
    sources: Sequence[Source],
    kept: Sequence[Pairs],
    evaluation: EvaluationText | None,
    copies: int,
    scratch: Path,
    seed: int,
) -> tuple[Pairs, _ReportRow]:
    """Return what `_keep` returns, of copies of the single sentences with other words."""
    single = [(source, pairs) for source, pairs in zip(sources, kept, strict=True) if source.single]
    sentences, words = ([pairs for source, pairs in single if source.words == wanted] for wanted in (False, True))
    tables = list(exchanged_copies(sentences, words, copies, np.random.default_rng(seed)))
    pairs, dropped = filter_pairs(tables, evaluation, scratch, near=True, words=False)
    row: _ReportRow = {"source": EXCHANGED, "read": sum(map(len, tables)), "bad": 0}
    return pairs, row | dropped | {"kept": len(pairs.left)}


def read_pairs(
    source: Source, folder: Path, max_bad_rows: float, counts: Counter[str], wanted: PairFilter = PASS_ALL
) -> Iterator[pa.Table]:
    """Yield the raw pairs of a source in parts, in schema `RAW["pairs"]`, and print how many rows were left out.

    Args:
        source: a source of pairs; if the papers count its distinct pairs, their number is printed too.
        folder: where its files are.
        max_bad_rows: number of unusable rows per pair read above which the source is refused.
        counts: to which the pairs `read`, and the rows left out because they are `bad` or `unjudged`, are added.
        wanted: limits of pairs; with limits, pairs are not counted.

    Raises:
        DataError: more rows are unusable than allowed, a file is damaged, or the source does not have the number of
            pairs that the catalogue states.
    """
    first_bad, hashes = list[BadRow](), list[Hashes]()
    for reading in (reading for reading in read(source, folder, wanted) if reading.kind == "pairs"):
        counts.update(read=len(reading.table), bad=len(reading.bad), unjudged=reading.unjudged)
        first_bad = first_bad or [*reading.bad[:1]]
        if "distinct" in source.rows and not wanted.is_active:
            hashes.append(unordered_hashes(reading.table))
        yield reading.table
    if first_bad:
        summary = f"{first_bad[0]} ({counts['bad']} bad rows beside {counts['read']} pairs)"
        if counts["bad"] > max_bad_rows * counts["read"]:
            limit = f"more than tokenize.max_bad_rows = {max_bad_rows} allows"
            raise DataError(f"{summary}: {limit}; {_remedy(source, folder)}")
        message(f"{summary}: left out")
    if counts["unjudged"]:
        message(f"{source.name}: {counts['unjudged']} rows are not judged: left out")
    expected = source.rows.get("pairs")
    # a bad row can be one pair that is missing
    if expected and not (wanted.is_active or counts["read"] <= expected <= counts["read"] + counts["bad"]):
        mismatch = f"{counts['read']} pairs, expected {expected}"
        raise DataError(f"{folder}: {mismatch}; remove the folder and run `dvc repro`")
    if hashes:
        distinct = pc.count_distinct(pa.chunked_array(hashes)).as_py()
        message(f"{source.name}: {distinct} distinct pairs; the papers count {source.rows['distinct']}")


def unordered_hashes(pairs: pa.Table) -> Hashes:
    """Return a hash of each pair of texts, (n,), the same in either order.

    The papers count "unique" phrase pairs of PPDB so (iclr2016 §4.2): two pairs are equal if both texts are, as strings
    without surrounding spaces. This differs from what training leaves out, because `corpus.filtering` compares tokens
    in lower case without punctuation. Two of 10 million distinct pairs have the same hash with p < 10⁻⁵.
    """
    left, right = (hash_texts(pc.utf8_trim_whitespace(pairs[side]).combine_chunks()) for side in SIDES)
    return np.minimum(left, right) * np.uint64(0x9E3779B97F4A7C15) ^ np.maximum(left, right)  # wraps around


def read_evaluation(source: Source, folder: Path) -> list[Reading]:
    """Read the evaluation tables of a source.

    An incomplete set is refused, because its scores cannot be compared with published scores.

    Raises:
        DataError: a row is unusable, or a set does not have the number of rows that the catalogue states.
    """
    readings = [reading for reading in read(source, folder) if reading.kind != "pairs"]
    if unjudged := sum(reading.unjudged for reading in readings):
        message(f"{source.name}: {unjudged} rows are not judged: left out")
    for bad in (bad for reading in readings for bad in reading.bad):
        raise DataError(f"{bad}; an evaluation set must be complete: {_remedy(source, folder)}")
    rows = Counter[str]()
    for table in (reading.table for reading in readings):
        counts = pc.value_counts(pc.binary_join_element_wise(table["set"], table["split"], "/")).to_pylist()
        rows.update({count["values"]: count["counts"] for count in counts})
    for name, expected in source.rows.items():
        if rows[name] != expected:
            mismatch = f"{rows[name]} rows of {name}, expected {expected}"
            raise DataError(f"{folder}: {mismatch}; remove the folder and run `dvc repro`")
    return readings


def _remedy(source: Source, folder: Path) -> str:
    own = source.options.get("own")
    return f"`paraphrastic data inspect {own.path}` lists them" if own else f"remove {folder} and run `dvc repro`"


def index_readings(
    readings: Sequence[Reading], as_given: str | None = None
) -> tuple[pa.StringArray, dict[str, pa.Table]]:
    """Return what `tokenize_tables` returns for evaluation readings: a table for each kind."""
    tables = {kind: [schema.empty_table()] for kind, schema in RAW.items() if kind != "pairs"}
    for reading in readings:
        tables[reading.kind].append(reading.table)
    return tokenize_tables({kind: pa.concat_tables(parts) for kind, parts in tables.items()}, as_given)


def _present(sources: Sequence[Source], raw: Path) -> list[Source]:
    """Leave out sources that nobody has provided, and optional ones without files; the stage `download` names them."""
    needed = {source.name for source in sources if not (source.manual or source.optional)}
    return [source for source in sources if source.name in needed or (raw / source.name).is_dir()]


def _training_sources(sources: Sequence[Source], raw: Path) -> list[Source]:
    """Return the sources whose files are there."""
    if present := _present(sources, raw):
        return present
    names = [source.name for source in sources]
    remedy = f"`paraphrastic data fetch {' '.join(names)}` says where to put them; then run `dvc repro -f download`"
    raise DataError(f"corpus: no files of {', '.join(names)}; {remedy}")


def _pair_filter(options: Tokenize, sources: Sequence[Source]) -> PairFilter:
    """Return the filter of training pairs."""
    wanted = PairFilter(options.feature, options.min_score, options.max_score, tuple(options.relations))
    if wanted.is_active and (others := [source.name for source in sources if not source.has_scores]):
        message(f"tokenize.min_score, max_score and relations do not limit {', '.join(others)}: no pair has a score")
    return wanted


def _report(report: list[_ReportRow], pairs: pa.Table) -> list[_ReportRow]:
    """Return the rows of sources, with `capped` and `taken` only where they say something."""
    if not any(row["capped"] for row in report):
        report = [{name: value for name, value in row.items() if name != "capped"} for row in report]
    taken = {each["values"]: each["counts"] for each in pairs["source"].value_counts().to_pylist()}
    if all(row["kept"] == taken.get(row["source"], 0) for row in report):
        return report
    return [row | {"taken": taken.get(row["source"], 0)} for row in report]


def _write_benchmarks(readings: Sequence[Reading], select: str, out: Path) -> EvaluationText:
    """Write all evaluation tables, their sentences, and the selection sets; return the text to keep out of training."""
    sentences, sets = index_readings(readings)
    write_table(pa.table([sentences], schema=SENTENCES), out / "sentences.parquet", SENTENCES)
    for kind, table in sets.items():
        write_table(table, out / f"{kind}.parquet", indexed_schema(kind))
    write_text(out / "select.txt", f"{select}\n")
    return EvaluationText.of(sentences, sets)
