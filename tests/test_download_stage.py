"""The stage `download`, and where its files come from and go to when no server is asked."""

from pathlib import Path

import pytest

import pipeline.download as stage
from paraphrastic.errors import SourceError
from paraphrastic.sources.catalogue import File, source
from paraphrastic.sources.fetching import cache_folder, fetch, mirror_folder, prune
from tests.faulty_server import made


def test_a_relative_mirror_is_found_from_deep_inside_the_repository(tmp_path, monkeypatch):
    (tmp_path / "shared/mirror").mkdir(parents=True)
    deep = tmp_path / "repository/.dvc/tmp/exps/copy"
    deep.mkdir(parents=True)
    monkeypatch.chdir(deep)
    assert mirror_folder("../shared/mirror") == (tmp_path / "shared/mirror").resolve()
    with pytest.raises(SourceError, match=r"no folder '\.\./shared/mirrors'"):
        mirror_folder("../shared/mirrors")


def test_a_manual_source_is_taken_from_where_a_person_puts_it(tmp_path):
    def bring(texts):
        settings = {"mirror": None, "cache": tmp_path / "cache", "brought": tmp_path / "licensed"}
        return fetch([texts], tmp_path / "raw", **settings)

    texts = made([File("a.tsv", "", None)], manual="licensed")
    assert bring(texts) == (texts,)
    assert not (tmp_path / "raw").exists()
    (tmp_path / "licensed/texts").mkdir(parents=True)
    (tmp_path / "licensed/texts/a.tsv").write_bytes(b"brought")
    assert bring(texts) == ()
    assert (tmp_path / "raw/texts/a.tsv").read_bytes() == b"brought"


def test_pruning_leaves_exactly_the_files_of_the_sources(tmp_path):
    texts = made([File("a/b.txt", "", None)])
    for path in ("texts/a/b.txt", "texts/a/c.txt", "texts/d/e.txt", "other/f.txt", "g.txt"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).touch()
    prune([texts], tmp_path)
    assert sorted(path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*")) == [
        "texts",
        "texts/a",
        "texts/a/b.txt",
    ]


def test_the_cache_is_where_the_environment_says(monkeypatch, tmp_path):
    monkeypatch.delenv("PARAPHRASTIC_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "paraphrastic"
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert cache_folder() == Path.home() / ".cache/paraphrastic"
    monkeypatch.setenv("PARAPHRASTIC_CACHE", str(tmp_path / "own"))
    assert cache_folder() == tmp_path / "own"


@pytest.fixture
def repository(tmp_path, monkeypatch):
    """A working directory in which `choose` sets the corpus of an otherwise offline stage."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PARAPHRASTIC_CACHE", str(tmp_path / "cache"))

    def choose(corpus, benchmarks="sample"):
        chosen = type("Params", (), {"corpus": corpus, "benchmarks": benchmarks})
        monkeypatch.setattr(stage, "load_params", lambda: chosen)

    return choose


def listed(folder):
    """The first column of the list of sources; nothing else but their folders is there."""
    raw = folder / "data/raw"
    names = [line.split(",")[0] for line in (raw / "sources.csv").read_text().splitlines()]
    assert {path.name for path in raw.iterdir()} <= {*names, "sources.csv"}
    return names


def test_the_stage_makes_its_output_when_there_is_nothing_to_download(repository, monkeypatch, tmp_path):
    monkeypatch.delenv("PARAPHRASTIC_MIRROR", raising=False)
    repository("sample")
    stage.main()
    assert listed(tmp_path) == ["source", "sample"]
    assert not (tmp_path / "cache").exists()


def test_the_stage_says_where_to_put_what_it_leaves_out(repository, monkeypatch, tmp_path, capsys):
    repository("sample", "full")
    monkeypatch.setattr(stage, "fetch", lambda *args, **options: (source("sts2013-smt"),))
    (tmp_path / "data/raw/sts2013-smt").mkdir(parents=True)
    (tmp_path / "data/raw/sts2013-smt/SMT.test.tsv").touch()
    stage.main()
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("sts2013-smt is left out: licensed by the LDC; ")
    assert line.endswith("cache/licensed/sts2013-smt/SMT.test.tsv and run `dvc repro -f download`")
    assert "sts2013-smt" not in listed(tmp_path)


@pytest.mark.real_data
def test_the_stage_brings_real_sources_and_tells_their_licences(mirror, repository, monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("PARAPHRASTIC_MIRROR", str(mirror))
    repository(["onestop", "googlecomp"])
    stage.main()
    assert "onestop: OneStopEnglish" in capsys.readouterr().err
    repository(["onestop"])
    stage.main()
    assert capsys.readouterr().err == ""
    assert sorted(path.name for path in (tmp_path / "data/raw/onestop").iterdir()) == [
        "ADV-ELE.txt",
        "ADV-INT.txt",
        "ELE-INT.txt",
    ]
    assert listed(tmp_path) == ["source", "onestop", "sample"]
