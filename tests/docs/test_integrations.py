"""The examples of docs/how-to/integrations.md, run with the real packages, print what the page shows."""

import re
import runpy
import tomllib
from itertools import zip_longest

import pyarrow as pa
import pytest

import paraphrastic
from paraphrastic.export import Format, export
from paraphrastic.readers.registry import read
from paraphrastic.sources.catalogue import source
from tests.helpers.repository import ROOT
from tests.helpers.small_models import save_word_vectors

PAGE = (ROOT / "docs/how-to/integrations.md").read_text(encoding="utf-8")
OUTPUTS = runpy.run_path(str(ROOT / ".ci/outputs.py"))
SECTIONS = [text.partition("\n") for text in re.split("^##+ ", PAGE, flags=re.M)]
BLOCKS = {title: dict(OUTPUTS["BLOCK"].findall(text)) for title, _, text in SECTIONS}
EXAMPLES = {title: (blocks["py"], blocks["text"]) for title, blocks in BLOCKS.items() if "py" in blocks}
EXPORTS = re.findall(r"^paraphrastic export (\S+) (\S+) --to (\S+)$", PAGE, re.M)
PACKAGES = {"faiss": "faiss-cpu", "sklearn": "scikit-learn"}  # of modules with another name
HEAVY = {"gensim", "model2vec", "mteb", "sentence-transformers"}  # of the extra `external` only


def packages_of(example):
    """Return the module and the package of each import of an example."""
    modules = set(re.findall(r"^(?:from|import) (\w+)", example, re.M)) - {"csv", "paraphrastic"}
    return {module: PACKAGES.get(module, module.replace("_", "-")) for module in modules}


def test_packages_and_formats_of_the_page():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    for_tests = {re.match(r"[\w.-]+", each)[0] for name in ("dev", "pipeline", "search") for each in extras[name]}
    used = {package for example, _ in EXAMPLES.values() for package in packages_of(example).values()}
    assert used - for_tests - {"numpy"} == HEAVY
    assert {to for _, _, to in EXPORTS} == {*Format}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder with an average of the words of the page as data/model, and the exports that the page makes."""
    folder = tmp_path_factory.mktemp("examples")
    words = sorted({*re.findall(r"\w+|[.]", EXAMPLES["ONNX"][0].lower())})
    average = save_word_vectors(folder / "data/model", "vectors", words=words)
    for name, out, to in EXPORTS:
        export(paraphrastic.load() if name == "small" else average, folder / out, Format(to))
    return folder


@pytest.fixture
def rows_of_sts12(mirror, tmp_path, monkeypatch):
    """Give `mteb` the rows of STS 2012 from the folder of real data, which it would download."""
    mteb, datasets = pytest.importorskip("mteb"), pytest.importorskip("datasets")
    for file in source("mteb-sts12").files:
        (tmp_path / file.path).symlink_to(mirror / file.url.partition("://")[2])
    table = pa.concat_tables(reading.table for reading in read(source("mteb-sts12"), tmp_path))
    columns = {"sentence1": "text1", "sentence2": "text2", "score": "score"}
    rows = datasets.Dataset.from_dict({name: table[column].to_pylist() for name, column in columns.items()})

    def load_data(task, **options):
        task.dataset, task.data_loaded = datasets.DatasetDict(test=rows), True

    monkeypatch.setattr(type(mteb.get_task("STS12")), "load_data", load_data)


@pytest.mark.parametrize("title", EXAMPLES)
def test_example(title, folder, monkeypatch, capsys, request):
    example, shown = EXAMPLES[title]
    for module, package in packages_of(example).items():
        pytest.importorskip(module, reason=f"{package} is not installed; `pip install '.[dev,external]'` has it")
    if title == "MTEB":
        request.getfixturevalue("rows_of_sts12")
    monkeypatch.chdir(folder)
    capsys.readouterr()
    exec(example, {})
    lines = list(zip_longest(shown.splitlines(), capsys.readouterr().out.splitlines(), fillvalue=""))
    assert all(OUTPUTS["matches"](*pair) for pair in lines), lines
