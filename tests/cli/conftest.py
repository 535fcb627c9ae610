"""A folder with models, texts and sources, in which commands run."""

import hashlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner, Result

from paraphrastic.analysis.comparison.revisions import SCORES_FILE
from paraphrastic.base.tables import SCORES, write_table
from paraphrastic.cli.main import app
from paraphrastic.sources import catalogue
from paraphrastic.sources.source import Catalogue, File
from tests.helpers.faulty_server import make_source
from tests.helpers.score_tables import score_table
from tests.helpers.small_models import ENCODERS, save_baseline, save_encoder, save_word_vectors
from tests.helpers.toy_training import SENTENCES

CONTENT = b"content of the pinned file"


@pytest.fixture(scope="session")
def model_folders(tmp_path_factory) -> Path:
    """Return a folder with model folders by name."""
    folder = tmp_path_factory.mktemp("models")
    for name, block in ENCODERS.items():
        save_encoder(folder / name, name, block)
    save_baseline(folder / "overlap", "overlap")
    save_word_vectors(folder / "vectors", "vectors")
    return folder


@pytest.fixture
def lines() -> list[str]:
    """Return the lines of lines.txt."""
    return SENTENCES.to_pylist()[:5]


@pytest.fixture
def run(model_folders, lines, tmp_path, monkeypatch) -> Callable[..., Result]:
    """Return a function that runs a command where the models, `lines.txt`, `pairs.tsv` and scores are.

    There are two sources: `texts` with two files in the mirror, and `licensed`, whose file the user must provide.
    """
    for folder in model_folders.iterdir():
        (tmp_path / folder.name).symlink_to(folder)
    scores = score_table("sts.2012.MSRpar", "similarity", np.arange(9.0), np.arange(9.0))
    write_table(scores, tmp_path / SCORES_FILE, SCORES)
    (tmp_path / "lines.txt").write_text("".join(f"{line}\n" for line in lines))
    (tmp_path / "pairs.tsv").write_text(f"{lines[0]}\t{lines[1]}\n{lines[2]}\t{lines[2]}\n")
    (tmp_path / "mirror/host/b").mkdir(parents=True)
    (tmp_path / "mirror/host/a.txt").write_bytes(CONTENT)
    (tmp_path / "mirror/host/b/c.txt").write_bytes(b"any content")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PARAPHRASTIC_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PARAPHRASTIC_MIRROR", str(tmp_path / "mirror"))
    monkeypatch.setattr(catalogue, "catalogue", _two_sources)
    return lambda *command, **options: CliRunner().invoke(app, command, **options)


def _two_sources() -> Catalogue:
    pinned = File("a.txt", "http://host/a.txt", hashlib.sha256(CONTENT).hexdigest())
    texts = make_source([pinned, File("b/c.txt", "http://host/b/c.txt", None)])
    licensed = make_source([File("d.txt", "", None)], name="licensed", manual="needs a licence")
    sources = {source.name: source for source in (texts, licensed)}
    return Catalogue(sources, {}, {})
