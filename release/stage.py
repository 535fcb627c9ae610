"""Run a stage of the repository on this folder: `python stage.py NAME`."""

import runpy
import shutil
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import pipeline  # noqa: F401  so that the package is that of the repository
from paraphrastic.base.files import atomic_write
from paraphrastic.sources.catalogue import source
from paraphrastic.sources.locations import DataLocations

WORDS = source("glove-words")


def provide_words() -> None:
    """Put the list of words, which has no address, where the stage `download` finds it."""
    for file in WORDS.files:
        with atomic_write(DataLocations.from_environment().manual / WORDS.name / file.path) as part:
            shutil.copyfile(Path("data/words") / file.path, part)


if __name__ == "__main__":
    name = sys.argv.pop()
    if name == "download":
        provide_words()
    runpy.run_module(f"pipeline.{name}", run_name="__main__", alter_sys=True)
