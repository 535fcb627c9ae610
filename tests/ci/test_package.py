"""The sdist and the wheel: their metadata, their content, and an installation outside of the repository."""

import re
import sysconfig
import tarfile
import tomllib
import zipfile
from email.parser import HeaderParser

import pytest
from ruamel.yaml import YAML

from tests.helpers.encoder_variants import WORD
from tests.helpers.repository import ROOT, copy_repository, isolated_environment, run, run_python
from tests.helpers.small_models import save_encoder

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
CITATION = YAML(typ="safe").load(ROOT / "CITATION.cff")
DATA_FILES = (
    *("py.typed", "__init__.pyi", "sources/catalogue.toml"),
    *("analysis/published/acl2017.csv", "readers/sample/README.md", "readers/sample/pairs.parquet"),
)
LOAD_AND_ENCODE = """
import sys
import paraphrastic
from paraphrastic.base.parameters import default_params, load_params

assert paraphrastic.__file__.startswith(sys.prefix), paraphrastic.__file__
assert default_params().is_relative_to(sys.prefix), default_params()
load_params(default_params())
print(paraphrastic.load("avg").encode(["A dog runs."]).shape)
"""


def test_metadata_and_classifiers():
    assert PROJECT["version"] == CITATION["version"]
    assert PROJECT["authors"] == CITATION["authors"]
    assert list(PROJECT["urls"].values()) == [paper["url"] for paper in CITATION["references"]]
    (base,) = [line for line in (ROOT / ".ci/base").read_text().splitlines() if line.startswith("for version in")]
    named = re.findall(r"Python :: (3\.\d+)", "\n".join(PROJECT["classifiers"]))
    assert named == re.findall(r"3\.\d+", base)


@pytest.fixture(scope="module")
def packages(tmp_path_factory):
    """The sdist and the wheel of a copy of the repository, in which modules of another version lie in build/."""
    copy, dist = tmp_path_factory.mktemp("copy"), tmp_path_factory.mktemp("dist")
    copy_repository(copy)
    (copy / "build/lib/paraphrastic").mkdir(parents=True)
    (copy / "build/lib/paraphrastic/removed.py").touch()
    run(copy / ".ci/package", dist, env=isolated_environment(), check=True)
    return sorted(dist.iterdir())


@pytest.mark.slow
def test_metadata_of_the_wheel(packages):
    wheel, _ = packages
    with zipfile.ZipFile(wheel) as archive:
        (path,) = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        metadata = HeaderParser().parsestr(archive.read(path).decode())
    assert (metadata["Author"], metadata["License-Expression"]) == ("The Paraphrastic developers", "MIT")
    assert len(metadata.get_all("Project-URL")) == len(PROJECT["urls"])
    assert metadata.get_all("Classifier") == PROJECT["classifiers"]


@pytest.mark.slow
def test_content(packages):
    wheel, sdist = packages
    with zipfile.ZipFile(wheel) as archive:
        in_wheel = set(archive.namelist())
    with tarfile.open(sdist) as archive:
        in_sdist = {name.partition("/")[2] for name in archive.getnames()}
    assert {f"paraphrastic/{name}" for name in DATA_FILES} <= in_wheel
    assert {f"src/paraphrastic/{name}" for name in DATA_FILES} | {"params.yaml", "models.yaml", "LICENSE"} <= in_sdist
    top = {name.partition("/")[0] for name in in_wheel}
    assert top == {"paraphrastic"} | {f"paraphrastic-{PROJECT['version']}.{part}" for part in ("data", "dist-info")}
    assert {name.partition("/")[0] for name in in_sdist if "/" in name} == {"src"}


def without_repository():
    """Return environment variables with which Python does not import from the repository."""
    return {name: value for name, value in isolated_environment().items() if name != "PYTHONPATH"}


@pytest.fixture(scope="module")
def environment(packages, tmp_path_factory):
    """A virtual environment with the wheel, which imports all other packages from this environment."""
    folder = tmp_path_factory.mktemp("environment")
    run_python("-m", "venv", folder, check=True)
    install = folder / "bin/pip", "install", "--quiet", "--no-deps", "--no-index", packages[0]
    run(*install, env=without_repository(), check=True)
    (site_packages,) = folder.glob("lib/python3*/site-packages")
    # path files in a folder that a path file names are not read, so that an editable installation stays hidden
    (site_packages / "dependencies.pth").write_text(sysconfig.get_path("purelib"))
    return folder


@pytest.mark.slow
def test_installation_outside_of_the_repository(environment, tmp_path):
    save_encoder(tmp_path / "avg", "avg", WORD)
    variables = without_repository()

    def printed(command, *arguments):
        return run(environment / "bin" / command, *arguments, cwd=tmp_path, env=variables, check=True).stdout

    version = f"paraphrastic {PROJECT['version']}\n"
    assert printed("paraphrastic", "--version") == printed("python", "-m", "paraphrastic", "--version") == version
    assert "turkcorpus" in printed("paraphrastic", "data", "list")
    assert printed("python", "-c", LOAD_AND_ENCODE) == "(1, 8)\n"
