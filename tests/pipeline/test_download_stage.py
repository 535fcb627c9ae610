"""The stage `download`: files, list of sources, licences, and instructions for missing files."""

from types import SimpleNamespace

import pytest

import pipeline.download as stage
from paraphrastic.base.errors import ParameterError, SourceError
from paraphrastic.sources import fetching
from paraphrastic.sources.catalogue import source


@pytest.fixture
def choose(tmp_path, monkeypatch):
    """Sets the corpus and benchmarks of a stage that runs in tmp_path with an empty cache."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PARAPHRASTIC_CACHE", str(tmp_path / "cache"))

    def choose(corpus, benchmarks="sample", licences=()):
        params = SimpleNamespace(corpus=corpus, benchmarks=benchmarks, tokenize=SimpleNamespace(licences=licences))
        monkeypatch.setattr(stage, "load_params", lambda: params)

    return choose


def listed_sources(folder):
    """Return the first column of sources.csv; data/raw must contain only it and folders of these sources."""
    raw = folder / "data/raw"
    names = [line.split(",")[0] for line in (raw / "sources.csv").read_text().splitlines()]
    assert {path.name for path in raw.iterdir()} <= {*names, "sources.csv"}
    return names


def test_stage_without_files_to_download(choose, monkeypatch, tmp_path):
    monkeypatch.setenv("PARAPHRASTIC_MIRROR", "absent")  # not needed
    choose("sample")
    stage.main()
    assert listed_sources(tmp_path) == ["source", "sample"]
    assert not (tmp_path / "cache").exists()


def test_stage_with_a_missing_manual_source(choose, monkeypatch, tmp_path, capsys):
    choose("sample", "full")
    monkeypatch.setattr(fetching, "fetch", lambda *args, **options: (source("sts2013-smt"),))
    (tmp_path / "data/raw/sts2013-smt").mkdir(parents=True)
    (tmp_path / "data/raw/sts2013-smt/STS.input.SMT.txt").touch()
    stage.main()
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("sts2013-smt is left out: the sentences are licensed by the LDC; ")
    assert line.endswith("cache/licensed/sts2013-smt/STS.gs.SMT.txt and run `dvc repro -f download`")
    assert "sts2013-smt" not in listed_sources(tmp_path)


def test_stage_with_an_optional_source_that_failed(choose, monkeypatch, tmp_path, capsys):
    choose("sample", "full")
    failed = source("pit2015")

    def fetch(*args, on_failure, **options):
        on_failure(failed, SourceError("https://example.org: 404; try later"))
        return (failed,)

    monkeypatch.setattr(fetching, "fetch", fetch)
    stage.main()
    assert capsys.readouterr().err == (
        "pit2015 is left out: https://example.org: 404; try later; run `dvc repro -f download` to have it\n"
    )
    assert "pit2015" not in listed_sources(tmp_path)


@pytest.mark.real_data
def test_stage_with_real_sources(mirror, choose, monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("PARAPHRASTIC_MIRROR", str(mirror))
    choose(["onestop", "googlecomp"])
    stage.main()
    assert "onestop: OneStopEnglish" in capsys.readouterr().err
    choose(["onestop"])
    stage.main()
    assert capsys.readouterr().err == ""
    files = {path.name for path in (tmp_path / "data/raw/onestop").iterdir()}
    assert files == {"ADV-ELE.txt", "ADV-INT.txt", "ELE-INT.txt"}
    assert listed_sources(tmp_path) == ["source", "onestop", "sample"]


def test_sources_without_an_allowed_licence_are_not_downloaded(choose, tmp_path):
    choose(["sample", "turkcorpus", "ppdb-lexicon"], licences=["MIT"])
    stage.main()
    assert listed_sources(tmp_path)[1:] == ["sample"]
    choose("sample", licences=["CC0"])
    with pytest.raises(ParameterError, match="no source of corpus has CC0"):
        stage.main()
