"""Pages that are generated, and links, options and files that pages name."""

import re
import tomllib

import pytest
from dvc.utils.hydra import apply_overrides
from ruamel.yaml import YAML

from docs import encoders, tables
from paraphrastic import models
from paraphrastic.base.parameters import load_params
from paraphrastic.papers.claims_page import section
from paraphrastic.papers.pages import PAPERS, docs_files, links
from paraphrastic.papers.project import Project
from tests.helpers.parameter_files import copy_parameters
from tests.helpers.repository import ROOT, run_python

DOCS = sorted(ROOT.glob("docs/**/*.md"))
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *DOCS]
TEXTS = {page: page.read_text(encoding="utf-8") for page in PAGES}
OPTION = re.compile(r"-S (?:'([^'$]+)'|([\w./:-]+=[^\s`$]+))|`(models\.yaml:[\w.-]+=[^`]+)`")
EXAMPLES = {"KEY=VALUE", "model=NAME", "corpus=[sample,mine]", "benchmarks=own"}
EXAMPLES |= {"model=attention", "models.yaml:attention.heads=1"}  # of a model that the page makes
NEEDED = {"models.yaml:charagram.bigrams": ["charagram.words=true"]}  # option → others that it needs


@pytest.mark.parametrize("page", tables.PAGES, ids=lambda page: page.name)
def test_tables_of_results_are_current(page):
    assert "python -m docs.tables -->" in TEXTS[page]
    assert TEXTS[page] == tables.with_tables(TEXTS[page], Project(ROOT, read_only=True)), "run `python -m docs.tables`"


def test_picture_of_encoders_is_current():
    committed = {path.name: path.read_text(encoding="utf-8") for path in tables.IMAGES.glob("encoders-*.svg")}
    assert _data(committed) == _data(encoders.drawings()), "run `python -m docs.tables`"


def test_pages_of_the_papers_are_current():
    project = Project(ROOT)
    comparisons = list(map(project.shown, project.experiments.by_id.values()))
    files = docs_files(comparisons, section(project.decide(), project.claims, PAPERS, links(comparisons)))
    committed = {path.name: path.read_text(encoding="utf-8") for path in (ROOT / "docs/papers").iterdir()}
    del committed["differences.md"]  # the only one that is written by hand
    assert _data(committed) == _data(files), "run `paraphrastic papers report --docs`"


def _data(files):
    """Return pages as they are, and of drawings the texts and numbers, whose places depend on the version of Vega."""
    kept = re.compile(r'>[^<]+</text>|aria-label="[^"]*"')
    return {name: sorted(kept.findall(text)) if name.endswith(".svg") else text for name, text in files.items()}


def test_page_of_the_command_line_is_current(tmp_path):
    options, page = ["--name", "paraphrastic", "--title", "Command line"], tmp_path / "cli.md"
    run_python("-m", "typer", "paraphrastic.cli.main", "utils", "docs", *options, "--output", page, check=True)
    assert page.read_text() == (ROOT / "docs/reference/cli.md").read_text(), "see CONTRIBUTING.md, How to add"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_files_that_a_page_names_or_links_to(page):
    for target in re.findall(r"\]\((?!https?://|#)([^)#]+)", TEXTS[page]):
        assert (page.parent / target).exists(), target
    named = re.findall(r"`((?:src|pipeline|tests|docs|metrics|\.ci|\.github)/[\w./-]+\.\w+)`", TEXTS[page])
    missing = [name for name in named if not (ROOT / name).exists() and "NAME" not in name and "TASK" not in name]
    assert missing in ([], ["metrics/finetune/TASK.json"])


def options():
    found = (option for text in TEXTS.values() for groups in OPTION.findall(text) for option in groups if option)
    return [option for option in dict.fromkeys(found) if option not in EXAMPLES and not {"%", "…"} & set(option)]


@pytest.mark.parametrize("option", options())
def test_option_of_a_page_is_a_parameter(tmp_path, option):
    setting, _, value = option.replace("models.yaml:NAME.", "models.yaml:lstm.").partition("=")
    file, _, key = setting.rpartition(":")
    copy_parameters(tmp_path)
    for choice in [value] if {"[", "{"} & set(value) else value.split(","):
        apply_overrides(tmp_path / (file or "params.yaml"), [f"{key}={choice}", *NEEDED.get(setting, [])])
        params = load_params(tmp_path / "params.yaml")
        model = key.split(".")[0] if file == "models.yaml" else params.model
        models.config_class(model)(**params.models[model])


def test_pages_share_no_name_of_an_experiment():
    """DVC refuses a second experiment of a name, so that another page would stop in the same clone."""
    names = re.findall(r"\bdvc exp run .*(?:-n|--name) ([\w-]+)", "\n".join(TEXTS.values()))
    assert len(names) > 15
    assert [name for name in dict.fromkeys(names) if names.count(name) > 1] == []


@pytest.mark.parametrize(
    ("file", "schema"),
    [
        (".github/ISSUE_TEMPLATE/bug.yaml", "vendor.github-issue-forms"),
        (".github/ISSUE_TEMPLATE/idea.yaml", "vendor.github-issue-forms"),
        (".github/dependabot.yml", "vendor.dependabot"),
        ("CITATION.cff", "vendor.citation-file-format"),
        (".github/workflows/*.yaml", "vendor.github-workflows"),
    ],
)
def test_file_follows_its_schema(file, schema):
    run_python("-m", "check_jsonschema", "--builtin-schema", schema, *ROOT.glob(file), check=True)


def test_gitlab_example(tmp_path):
    (example,) = re.findall(r"^```yaml\n(report:\n.*?)^```$", TEXTS[ROOT / "docs/how-to/pull-requests.md"], re.M | re.S)
    (tmp_path / "gitlab.yaml").write_text(example)
    command = "-m", "check_jsonschema", "--builtin-schema", "vendor.gitlab-ci", tmp_path / "gitlab.yaml"
    run_python(*command, check=True)
    assert YAML(typ="safe", pure=True).load(example)["test"]["script"] == [".ci/run"]


def test_licences_of_every_direct_dependency():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = {"–": project["dependencies"]} | project["optional-dependencies"]
    required = [(extra, re.match(r"[\w.-]+", each)[0]) for extra in extras for each in extras[extra] if extra != "dev"]
    listed = re.findall(r"^\| `?(–|\w+)`? \| (\S+) \| .+ \|$", TEXTS[ROOT / "docs/reference/licences.md"], re.M)
    assert listed[1:] == [row for row in required if row[1] != project["name"]]


def test_extras_that_can_be_installed():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    page = TEXTS[ROOT / "docs/how-to/install.md"]
    assert re.findall(r"^\| `(\w+)` \|", page, re.M) == list(extras)
    assert re.findall(r"^pip install '(torch.*)' --index-url", page, re.M) == extras["torch"][1:]


def test_navigation_and_first_page_have_every_page():
    pages = {str(page.relative_to(ROOT / "docs")) for page in DOCS}
    assert set(re.findall(r": ([\w/-]+\.md)$", (ROOT / "mkdocs.yml").read_text(), re.M)) == pages
    assert set(re.findall(r"\]\(([\w/-]+\.md)\)", TEXTS[ROOT / "docs/index.md"])) == pages - {"index.md"}
