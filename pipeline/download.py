"""Stage `download`: the files of the chosen corpus and benchmarks → data/raw/SOURCE/."""

import csv
import os
from collections.abc import Sequence
from pathlib import Path

from paraphrastic.sources.catalogue import Source, corpus, suite
from paraphrastic.sources.display import arrivals, terms
from paraphrastic.sources.download import cache_folder, fetch, licensed_folder, prune
from paraphrastic.sources.held import missing
from paraphrastic.tables import replacing
from pipeline.params import load_params
from pipeline.stage import console, progress, run

RAW = Path("data/raw")
LIST = RAW / "sources.csv"


def main() -> None:
    """Bring what is missing, from PARAPHRASTIC_MIRROR first, and remove what is no longer asked for."""
    params = load_params()
    sources = (*corpus(params.corpus), *suite(params.benchmarks).sources)
    RAW.mkdir(parents=True, exist_ok=True)
    with progress() as bar:
        absent = fetch(
            sources,
            RAW,
            mirror=os.environ.get("PARAPHRASTIC_MIRROR"),
            cache=cache_folder(),
            brought=licensed_folder(),
            on_progress=arrivals(bar, len({file for source in sources for file in source.files})),
            on_licence=lambda source: _say(terms(source)),
        )
    present = [source for source in sources if source not in absent]
    prune(present, RAW)
    _write_list(present)
    for source in absent:
        _say(f"{source.name} is left out: {missing(source, licensed_folder())} and run `dvc repro -f download`")


def _write_list(sources: Sequence[Source]) -> None:
    """What `data/raw` holds, on whose terms, and whom to cite for it."""
    with replacing(LIST) as part, part.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("source", "title", "licence", "citation"))
        distinct = {source.name: source for source in sources}.values()
        writer.writerows((s.name, s.title, s.licence, s.citation) for s in distinct)


def _say(line: str) -> None:
    console.print(line, markup=False, highlight=False, soft_wrap=True)


if __name__ == "__main__":
    run(main)
