"""Stage `tokenize`: raw files → tokenized pairs in data/corpus and evaluation sets in data/benchmarks."""

from pathlib import Path

from paraphrastic.base.files import write_rows
from paraphrastic.base.parameters import load_params
from paraphrastic.corpus.tokenizing import tokenize_sources
from paraphrastic.sources.catalogue import corpus, suite
from pipeline.stage import run

RAW_FOLDER, CORPUS, BENCHMARKS = Path("data/raw"), Path("data/corpus"), Path("data/benchmarks")
REPORT = Path("metrics/corpus.csv")


def main() -> None:
    """Tokenize all text once, and drop training pairs that contain evaluation sentences."""
    params = load_params()
    sources, benchmarks = corpus(params.corpus, params.tokenize.licences), suite(params.benchmarks)
    folders = RAW_FOLDER, CORPUS, BENCHMARKS
    report = tokenize_sources(sources, benchmarks, *folders, params.tokenize, params.seed)
    write_rows(list(report[0]), report, REPORT)


if __name__ == "__main__":
    run(main)
