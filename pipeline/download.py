"""Stage `download`: the files of the chosen corpus and benchmarks → data/raw/SOURCE/."""

from pathlib import Path

from paraphrastic.base.files import write_rows
from paraphrastic.base.parameters import load_params
from paraphrastic.sources.catalogue import corpus, suite
from paraphrastic.sources.fetching import download, prune
from pipeline.stage import run

RAW_FOLDER = Path("data/raw")
LIST = RAW_FOLDER / "sources.csv"
COLUMNS = ("source", "title", "licence", "citation")


def main() -> None:
    """Fetch missing files, from PARAPHRASTIC_MIRROR first, and remove files that are no longer needed."""
    params = load_params()
    sources = (*corpus(params.corpus, params.tokenize.licences), *suite(params.benchmarks).sources)
    present = download(sources, RAW_FOLDER, "`dvc repro -f download`")
    prune(present, RAW_FOLDER)
    rows = {each.name: (each.name, each.title, each.licence, each.citation) for each in present}
    write_rows(COLUMNS, [dict(zip(COLUMNS, row, strict=True)) for row in rows.values()], LIST)


if __name__ == "__main__":
    run(main)
