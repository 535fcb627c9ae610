"""Stage `tokenize`: raw files → tokenized pairs in data/corpus and evaluation sets in data/benchmarks."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd
import pyarrow as pa

from paraphrastic.atomic import write_text
from paraphrastic.console import message, progress
from paraphrastic.corpus.filtering import REASONS, EvaluationText, filter_pairs, merge_sources
from paraphrastic.corpus.raw_sources import RawPairs, read_evaluation
from paraphrastic.corpus.sampling import count_tokens, take_pairs
from paraphrastic.errors import DataError, ParameterError
from paraphrastic.readers.pair_filter import PairFilter
from paraphrastic.readers.reading import Reading
from paraphrastic.readers.registry import FILTERED
from paraphrastic.sources.catalogue import Source, corpus, suite
from paraphrastic.tables import PAIRS, RAW, SENTENCES, indexed_schema, write_table
from paraphrastic.text.deduplicate import tokenize_tables
from pipeline.params import Params, Tokenize, load_params
from pipeline.stage import run, write_csv

RAW_FOLDER, CORPUS, BENCHMARKS = Path("data/raw"), Path("data/corpus"), Path("data/benchmarks")
REPORT = Path("metrics/corpus.csv")


def main() -> None:
    """Tokenize all text once, and drop training pairs that contain evaluation sentences."""
    params = load_params()
    benchmarks = suite(params.benchmarks)
    evaluation_sources, training_sources = _present(benchmarks.sources), _training_sources(corpus(params.corpus))
    wanted, filtered, report = _pair_filter(params.tokenize, training_sources), [], []
    with progress() as bar:
        task = bar.add_task("tokenize", total=len(evaluation_sources) + len(training_sources))
        readings = [
            reading
            for source in bar.track(evaluation_sources, task_id=task)
            for reading in read_evaluation(source, RAW_FOLDER / source.name)
        ]
        evaluation_text = _write_benchmarks(readings, benchmarks.select)
        excluded = evaluation_text if params.tokenize.drop_overlap else None
        for source in bar.track(training_sources, task_id=task):
            raw = RawPairs(source, RAW_FOLDER / source.name, params.tokenize.max_bad_rows, message, wanted)
            kept = filter_pairs(source.name, raw, excluded, near=source.near_copies, words=source.words)
            filtered.append(kept)
            report.append((source.name, raw.read, len(raw.bad), *kept.counts.values(), len(kept.left)))
    sentences, pairs = _take(*merge_sources(filtered), params)
    write_table(sentences, CORPUS / "sentences.parquet", SENTENCES)
    write_table(pairs, CORPUS / "pairs.parquet", PAIRS)
    _write_report(pd.DataFrame(report, columns=["source", "read", "bad", *REASONS, "kept"]), pairs)


def _present(sources: Sequence[Source]) -> list[Source]:
    """Leave out sources that nobody has provided, and optional ones without files; the stage `download` names them."""
    needed = {source.name for source in sources if not (source.manual or source.optional)}
    return [source for source in sources if source.name in needed or (RAW_FOLDER / source.name).is_dir()]


def _training_sources(sources: Sequence[Source]) -> list[Source]:
    """Return the sources whose files are there.

    Raises:
        DataError: there are none.
    """
    if present := _present(sources):
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


def _take(sentences: pa.Table, pairs: pa.Table, params: Params) -> tuple[pa.Table, pa.Table]:
    """Return the part of the corpus to train on, and print its size."""
    options, seed = params.tokenize, params.seed
    limits = options.take_share, options.max_pairs, options.max_tokens
    sentences, pairs = take_pairs(sentences, pairs, *limits, seed if options.take_by == "random" else None)
    message(f"corpus: {len(pairs)} pairs with {count_tokens(sentences, pairs).sum()} tokens")
    return sentences, pairs


def _write_report(report: pd.DataFrame, pairs: pa.Table) -> None:
    """Write a row per source; the column `taken` is there if not all pairs that were kept are taken."""
    if len(pairs) < report["kept"].sum():
        taken = {each["values"]: each["counts"] for each in pairs["source"].value_counts().to_pylist()}
        report["taken"] = report["source"].map(taken).fillna(0).astype(int)
    write_csv(report, REPORT)


def _write_benchmarks(readings: Sequence[Reading], select: str) -> EvaluationText:
    """Write all evaluation tables, their sentences, and the selection sets; return the text to keep out of training."""
    tables = {kind: [schema.empty_table()] for kind, schema in RAW.items() if kind != "pairs"}
    for reading in readings:
        tables[reading.kind].append(reading.table)
    sentences, sets = tokenize_tables({kind: pa.concat_tables(parts) for kind, parts in tables.items()})
    write_table(pa.table([sentences], schema=SENTENCES), BENCHMARKS / "sentences.parquet", SENTENCES)
    for kind, table in sets.items():
        write_table(table, BENCHMARKS / f"{kind}.parquet", indexed_schema(kind))
    write_text(BENCHMARKS / "select.txt", f"{select}\n")
    return EvaluationText.of(sentences, sets)


if __name__ == "__main__":
    run(main)
