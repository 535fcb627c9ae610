"""Raw files → tokenized pairs and evaluation sets."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import pyarrow as pa

from paraphrastic.base.console import message, progress
from paraphrastic.base.errors import DataError, ParameterError
from paraphrastic.base.files import atomic_folder, scratch_folder, write_text
from paraphrastic.base.parameters import Tokenize
from paraphrastic.base.tables import PAIRS, RAW, SENTENCES, indexed_schema, write_parts, write_table
from paraphrastic.corpus.filtering import EvaluationText, FilteredSource, filter_pairs
from paraphrastic.corpus.raw_sources import RawPairs, read_evaluation
from paraphrastic.corpus.training_corpus import merge_sources, take_pairs
from paraphrastic.readers.reading import PairFilter, Reading
from paraphrastic.readers.registry import FILTERED
from paraphrastic.sources.source import Source, Suite
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

    Returns:
        A row for each training source: pairs read, unusable rows, pairs dropped by reason, and kept; `capped` if groups
        have more pairs than are kept; `taken` if not all pairs that were kept are taken.

    Raises:
        DataError: no source of training pairs is there, a file is damaged, or no pair is left.
        ParameterError: pairs are limited by scores that no source has.
    """
    evaluation, pairs_of = _present(benchmarks.sources, raw), _training_sources(training, raw)
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
        excluded = text if options.drop_overlap else None
        advance = partial(bar.advance, bar.add_task("pairs", total=None))
        keep = partial(_keep, wanted, excluded, options, scratch, advance)
        kept = [keep(source, raw / source.name) for source in bar.track(pairs_of, description="sources of pairs")]
        limits = options.take_share, options.max_pairs, options.max_tokens
        merged = merge_sources([pairs for pairs, _ in kept])
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
) -> tuple[FilteredSource, _ReportRow]:
    """Return the pairs of a source that are trained on, and its row of the report."""
    pairs = RawPairs(source, folder, options.max_bad_rows, message, wanted)

    def tables() -> Iterator[pa.Table]:
        for table in pairs:
            yield table
            on_progress(len(table))

    kept = filter_pairs(
        source.name,
        tables(),
        evaluation,
        scratch,
        near=source.near_copies,
        words=source.words,
        max_group_pairs=options.max_group_pairs or source.max_group_pairs,
    )
    row: _ReportRow = {"source": source.name, "read": pairs.read, "bad": len(pairs.bad)}
    return kept, row | dict(kept.counts) | {"kept": len(kept.left)}


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
    """Return the sources whose files are there.

    Raises:
        DataError: there are none.
    """
    if present := _present(sources, raw):
        return present
    names = [source.name for source in sources]
    remedy = f"`paraphrastic data fetch {' '.join(names)}` says where to put them; then run `dvc repro -f download`"
    raise DataError(f"corpus: no files of {', '.join(names)}; {remedy}")


def _pair_filter(options: Tokenize, sources: Sequence[Source]) -> PairFilter:
    """Return the filter of training pairs.

    Raises:
        ParameterError: there is a limit, but no source of the corpus has what it limits.
    """
    wanted = PairFilter(options.feature, options.min_score, options.max_score, tuple(options.relations))
    if wanted.is_active and not any(source.reader in FILTERED for source in sources):
        raise ParameterError(
            "params.yaml: tokenize.min_score, max_score or relations is set, but no source of the corpus has scores or "
            "relations; empty them, or choose PPDB, ParaNMT or ParaBank"
        )
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
