"""Stage `download`: the files of the chosen corpus and benchmarks → data/raw/SOURCE/."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from paraphrastic.base.files import write_csv
from paraphrastic.base.parameters import load_params
from paraphrastic.sources.catalogue import corpus, suite
from paraphrastic.sources.fetching import download, prune
from paraphrastic.sources.source import Source
from pipeline.stage import run

RAW_FOLDER = Path("data/raw")
LIST = RAW_FOLDER / "sources.csv"


def main() -> None:
    """Fetch missing files, from PARAPHRASTIC_MIRROR first, and remove files that are no longer needed."""
    params = load_params()
    sources = (*corpus(params.corpus), *suite(params.benchmarks).sources)
    present = download(sources, RAW_FOLDER, "dvc repro -f download")
    prune(present, RAW_FOLDER)
    _write_list(present)


def _write_list(sources: Sequence[Source]) -> None:
    """List the sources in data/raw with licence and citation."""
    distinct = {source.name: source for source in sources}.values()
    columns = ["source", "title", "licence", "citation"]
    rows = [(source.name, source.title, source.licence, source.citation) for source in distinct]
    write_csv(pd.DataFrame(rows, columns=columns), LIST)


if __name__ == "__main__":
    run(main)
