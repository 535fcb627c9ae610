"""Stage `download`: the files of the chosen corpus and benchmarks → data/raw/SOURCE/."""

import os
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from paraphrastic.console import message, progress
from paraphrastic.parameters import load_params
from paraphrastic.sources.catalogue import Source, corpus, suite
from paraphrastic.sources.display import licence_line, progress_callback
from paraphrastic.sources.fetching import fetch, prune
from paraphrastic.sources.locations import cache_folder, how_to_provide, manual_folder
from pipeline.stage import run, write_csv

RAW_FOLDER = Path("data/raw")
LIST = RAW_FOLDER / "sources.csv"


def main() -> None:
    """Fetch missing files, from PARAPHRASTIC_MIRROR first, and remove files that are no longer needed."""
    params = load_params()
    sources = (*corpus(params.corpus), *suite(params.benchmarks).sources)
    RAW_FOLDER.mkdir(parents=True, exist_ok=True)
    with progress() as bar:
        absent = fetch(
            sources,
            RAW_FOLDER,
            mirror=os.environ.get("PARAPHRASTIC_MIRROR"),
            cache=cache_folder(),
            manual=manual_folder(),
            on_progress=progress_callback(bar, len({file for source in sources for file in source.files})),
            on_licence=lambda source: message(licence_line(source)),
            on_failure=lambda source, error: message(f"{source.name} is left out: {error}"),
        )
    present = [source for source in sources if source not in absent]
    prune(present, RAW_FOLDER)
    _write_list(present)
    for source in (source for source in absent if source.manual):
        remedy = f"{how_to_provide(source, manual_folder())} and run `dvc repro -f download`"
        message(f"{source.name} is left out: {remedy}")


def _write_list(sources: Sequence[Source]) -> None:
    """List the sources in data/raw with licence and citation."""
    distinct = {source.name: source for source in sources}.values()
    columns = ["source", "title", "licence", "citation"]
    rows = [(source.name, source.title, source.licence, source.citation) for source in distinct]
    write_csv(pd.DataFrame(rows, columns=columns), LIST)


if __name__ == "__main__":
    run(main)
