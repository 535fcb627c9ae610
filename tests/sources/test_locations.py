"""The folders of the cache and of the mirror."""

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from paraphrastic.base.errors import SourceError
from paraphrastic.sources.catalogue import catalogue
from paraphrastic.sources.locations import DataLocations, cache_folder, mirror_folder, url_key
from tests.helpers.faulty_server import source_error


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have other cache folders")
def test_cache_folder_of_the_user(monkeypatch, tmp_path):
    monkeypatch.delenv("PARAPHRASTIC_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "paraphrastic"
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert cache_folder() == Path.home() / ".cache/paraphrastic"


def test_cache_folder_of_the_environment(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("PARAPHRASTIC_CACHE", str(tmp_path / "own"))
    assert cache_folder() == tmp_path / "own"
    monkeypatch.setenv("PARAPHRASTIC_CACHE", "~/own")
    assert cache_folder() == Path.home() / "own"


@pytest.mark.parametrize("variable", ["PARAPHRASTIC_CACHE", "PARAPHRASTIC_MIRROR"])
def test_folder_below_the_home_of_an_unknown_user(monkeypatch, variable):
    monkeypatch.setenv(variable, "~no-such-user/files")
    message = source_error(DataLocations.from_environment)
    assert message == f"{variable}: no home folder for '~no-such-user/files'; name an absolute path"


def test_relative_mirror_of_a_queued_experiment(tmp_path, monkeypatch):
    (tmp_path / "shared/mirror").mkdir(parents=True)
    experiment = tmp_path / "repository/.dvc/tmp/exps/copy"
    experiment.mkdir(parents=True)
    monkeypatch.chdir(experiment)
    assert mirror_folder("../shared/mirror") == (tmp_path / "shared/mirror").resolve()
    assert mirror_folder(f"file://{tmp_path}/shared") == (tmp_path / "shared").resolve()
    with pytest.raises(SourceError, match=r"no folder '\.\./shared/mirrors'"):
        mirror_folder("../shared/mirrors")


def test_locations_from_the_environment(monkeypatch, tmp_path):
    monkeypatch.setenv("PARAPHRASTIC_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("PARAPHRASTIC_MIRROR", raising=False)
    assert DataLocations.from_environment() == DataLocations(tmp_path / "cache")
    monkeypatch.setenv("PARAPHRASTIC_MIRROR", f"file://{tmp_path}")
    assert DataLocations.from_environment().mirror == tmp_path.resolve()


def test_link_to_the_next_version_of_a_file(tmp_path):
    locations = DataLocations(cache=tmp_path, mirror=None)
    asset = catalogue().sources["asset"]
    (file, *_) = asset.files
    source = asset.model_copy(update={"files": (replace(file, sha256=None),)})
    for folder in ("urls", "files"):
        (tmp_path / folder).mkdir()
    for version in ("a" * 64, "b" * 64):
        (tmp_path / "files" / version).write_text(version)
        (tmp_path / "files" / version).chmod(0o444)
        (tmp_path / "urls" / url_key(file)).write_text(version)
        (path,) = locations.paths(source)
        assert path.read_text() == version
    for damaged in (b"\xff\xfe", b"../../victim", b""):
        (tmp_path / "urls" / url_key(file)).write_bytes(damaged)
        assert locations.cached(source.files[0]) is None
