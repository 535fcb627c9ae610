"""A clone of the repository: names in declarations, needed data, and what these do together."""

from dataclasses import replace

import pandas as pd
import pytest

from paraphrastic.base.errors import DataError, ParameterError
from paraphrastic.papers import project as module
from paraphrastic.papers.experiments import Experiments
from paraphrastic.papers.plan import expected
from paraphrastic.papers.project import DataNeeds, Project, check
from paraphrastic.papers.results import Result
from paraphrastic.papers.running import Runner
from paraphrastic.sources.catalogue import suite
from paraphrastic.sources.locations import DataLocations
from tests.helpers.paper_comparisons import make_comparison, make_line
from tests.helpers.recorded_results import PARAMS, RUN, add_experiment, changed
from tests.helpers.small_project import PARAMS as SMALL
from tests.helpers.small_project import declare, make_project

OTHER = replace(RUN, model="charcnn", settings={**RUN.settings, "model": "charcnn"})
COMPARED = replace(RUN, against=OTHER)


@pytest.fixture
def project(tmp_path):
    return Project(make_project(tmp_path / "clone"))


@pytest.fixture
def comparisons(monkeypatch):
    """Return the pairs of experiments that are compared, in place of reading their scores."""
    found = []

    def pairs(first, second):
        if "broken" in found:
            raise DataError("no scores")
        found.append((first, second))
        return pd.DataFrame({"agree": [len(found)]}), []

    monkeypatch.setattr(module, "pairs_of_two_runs", pairs)
    monkeypatch.setattr(module, "OF_TWO_RUNS", {"agreement": lambda pairs: pairs})
    return found


def store_score(project, run, score):
    project.store.add(run, Result("0.3.0", {"sts.mean": score}), expected(project.params, run))


def test_runs_are_compared_once_and_again_when_the_other_one_has_another_result(project, comparisons):
    assert project.compare_runs([COMPARED, OTHER]) == []
    store_score(project, RUN, 1.0)
    assert project.compare_runs([COMPARED, OTHER]) == []
    assert comparisons == []  # the other run has no result yet
    store_score(project, OTHER, 2.0)
    assert project.compare_runs([COMPARED, OTHER]) == []
    assert project.compare_runs([COMPARED, OTHER]) == []
    assert comparisons == [(RUN.name, OTHER.name)]
    assert project.store.result(RUN).tables["agreement"] == [["agree"], [1]]
    store_score(project, RUN, 1.0)
    store_score(project, OTHER, 2.0)
    project.compare_runs([COMPARED])
    store_score(project, OTHER, 3.0)
    project.compare_runs([COMPARED])
    assert project.store.result(RUN).tables["agreement"] == [["agree"], [2]]


@pytest.mark.parametrize(
    ("finished", "cells", "data"),
    [(1, {}, "replica"), (1, {"a": ("1.0", [2.0])}, "replica"), (1, {"a": ("1.0", [])}, "open"), (0, {}, "open")],
)
def test_pages_show_the_replica_where_it_has_numbers_or_curves(finished, cells, data, project, monkeypatch):
    by_data = {
        "replica": make_comparison(make_line("avg", cells, seeds=2, finished=finished), data="replica"),
        "open": make_comparison(make_line("avg", {}), data="open"),
    }
    monkeypatch.setattr(Project, "compare", lambda _, experiment, data: by_data[data])
    monkeypatch.setattr(Project, "experiments", Experiments({}, {}, replica=object()))
    assert project.shown(by_data["open"].experiment).data == data
    assert project.shown(by_data["open"].experiment.model_copy(update={"paper": None})).data == "open"


def test_scores_that_are_not_here(project, comparisons):
    store_score(project, RUN, 1.0)
    store_score(project, OTHER, 2.0)
    comparisons.append("broken")
    assert project.compare_runs([COMPARED]) == [f"{RUN.name} is not compared with {OTHER.name}: no scores"]
    assert project.missing([COMPARED, OTHER]) == []
    assert project.to_run([COMPARED, OTHER]) == [OTHER, COMPARED]
    assert Runner(project, 1, None).needed([COMPARED, OTHER]) == [OTHER, COMPARED]
    comparisons.clear()
    project.compare_runs([COMPARED])
    assert project.to_run([COMPARED, OTHER]) == []


def test_results_that_are_collected_by_a_read_only_project_are_not_written(project):
    add_experiment(project.root, "by-hand", SMALL)
    reader = Project(project.root, read_only=True)
    assert reader.collect([RUN]) == []
    assert reader.missing([RUN]) == []
    assert not (project.root / "experiments/results").exists()
    project.collect([RUN])
    assert len(list((project.root / "experiments/results").iterdir())) == 1
    (project.root / "pyproject.toml").write_text('[project]\nversion = "9.8.7"\n')
    assert Project(project.root).version == "9.8.7"


AVG = 'label = "avg", model = "avg"'


@pytest.fixture
def check_rows(tmp_path):
    """Return a function that declares rows and checks them."""
    (tmp_path / "experiments").mkdir()
    (tmp_path / "experiments/presets.toml").write_text('[small]\nmodel = "avg"\noptions = { dims = 10 }\n')

    def check_declared(*rows: str, params=PARAMS, **header: str) -> None:
        declare(tmp_path, "acl2017-t1", *rows, **header)
        check(Experiments.load(tmp_path / "experiments", params))

    return check_declared


def test_everything_exists(check_rows):
    check_rows(
        f'{{ {AVG}, options = {{ dim = 10 }}, set = {{ "train.select" = "none" }}, analyses = ["length"] }}',
        '{ label = "charcnn", model = "charcnn", options = { filters = { 9 = 1 } } }',
        f'{{ {AVG.replace("avg", "avg2", 1)}, start = "avg" }}',
    )


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ('label = "x", model = "av"', "row 'x': unknown model 'av': did you mean 'avg'?"),
        (f"{AVG}, options = {{ dims = 1 }}", "'models.yaml:avg.dims': unknown key 'dims': did you mean 'dim'?"),
        (f"{AVG}, open_options = {{ dims = 1 }}", "no parameter 'models.yaml:avg.dims'"),
        (f'{AVG}, preset = "small"', "no parameter 'models.yaml:avg.dims'"),
        (f'{AVG}, set = {{ "train.selects" = 1 }}', "no parameter 'train.selects'"),
        (f'{AVG}, set = {{ "train.select.x" = 1 }}', "no parameter 'train.select.x'"),
        (f'{AVG}, set = {{ train.select = "test" }}', "'train' is a section of parameters; quote the whole key"),
        (f'{AVG}, set = {{ benchmarks = "opn" }}', "unknown suite of benchmarks 'opn': did you mean 'open'?"),
        (f'{AVG}, corpus = {{ open = ["sample"], paper = ["smple"] }}', "'smple'"),
        (f'{AVG}, analyses = ["lenght"]', "unknown analysis 'lenght': did you mean 'length'?"),
        (f'{AVG} }}, {{ label = "o", model = "overlap", start = "avg"', "no parameter 'models.yaml:overlap.vectors'"),
    ],
)  # fmt: skip
def test_unknown_names(check_rows, row, message):
    with pytest.raises(DataError) as caught:
        check_rows(f"{{ {row} }}")
    assert message in str(caught.value)
    assert str(caught.value).startswith("experiments/acl2017-t1.toml: row '")
    assert "\n" not in str(caught.value)


def test_unknown_analysis_that_a_column_reads(check_rows):
    check_rows(f"{{ {AVG}, columns = ['a'], key = 'length[length=5].pearson' }}")
    with pytest.raises(DataError, match=r"^experiments/acl2017-t1\.toml: unknown analysis 'lenght': did you mean 'len"):
        check_rows(f"{{ {AVG}, columns = ['a'], key = 'lenght[length=5].pearson' }}")


REPLICA = """
seeds = [1]
vectors = "glove-6b-50d"
corpora = {}
words = {}
presets = { PRESET = {} }
start = { model = "START", options = {} }
start_corpus = { corpus = ["sample"] }
"""


@pytest.mark.parametrize(
    ("preset", "start", "row", "message"),
    [
        ("small", "avg", 'label = "b", model = "avg"', "replica.toml: start: unknown source 'glov'"),
        ("small", "avg", 'label = "b", model = "agv"', "row 'b': unknown model 'agv': did you mean 'avg'?"),
        ("small", "agv", 'label = "b", model = "avg"', "experiments/replica.toml: start: unknown model 'agv': did you"),
        (
            "smal",
            "avg",
            'label = "b", model = "avg"',
            "replica.toml: presets: unknown preset 'smal': did you mean 'small'?",
        ),
    ],
)
def test_unknown_names_of_the_replica(check_rows, tmp_path, preset, start, row, message):
    text = REPLICA.replace("PRESET", preset).replace("START", start)
    text = text.replace("glove-6b-50d", "glov") if "glov" in message else text
    (tmp_path / "experiments/replica.toml").write_text(text)
    with pytest.raises(DataError) as caught:
        check_rows(f'{{ {AVG}, against = "b" }}, {{ {row} }}')
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_corpus_of_the_experiment(check_rows):
    with pytest.raises(DataError, match="'ppdb'"):
        check_rows(f"{{ {AVG} }}", corpus='{ open = ["ppdb"], paper = ["sample"] }')
    check_rows('{ label = "o", model = "overlap" }', params=changed(PARAMS, "models.overlap", None))


SAMPLE = replace(RUN, settings={"corpus": ["sample"], "benchmarks": "sample"})
FULL = replace(RUN, settings={"corpus": ["sample"], "benchmarks": "full"})


@pytest.fixture
def locations(tmp_path):
    return DataLocations(tmp_path / "cache")


def test_generated_data_are_here(locations):
    needs = DataNeeds.of([SAMPLE, SAMPLE], locations)
    assert (needs.names, needs.absent, needs.manual) == (["sample", "suite sample"], [], [])
    needs.check(locations)


def test_sources_that_are_fetched_and_sources_to_bring(locations):
    needs = DataNeeds.of([SAMPLE, FULL], locations)
    assert needs.names == ["sample", "suite full", "suite sample"]
    assert {each.name for each in needs.sources} >= {each.name for each in suite("full").sources}
    assert len({each.name for each in needs.sources}) == len(needs.sources)
    assert {each.name for each in needs.absent} == {each.name for each in suite("full").sources if each.files}
    assert [each.name for each in needs.manual] == ["sts2013-smt"]
    with pytest.raises(ParameterError, match=r"sts2013-smt is not here: .* LDC; .* Put it at ") as caught:
        needs.check(locations)
    assert str(locations.manual / "sts2013-smt") in str(caught.value)


def test_several_suites(locations):
    both = replace(RUN, settings={"corpus": ["sample"], "benchmarks": ["sample", "full"]})
    assert DataNeeds.of([both, FULL], locations).names == ["sample", "suite full", "suite sample"]


def test_source_that_was_brought(locations):
    (source,) = DataNeeds.of([FULL], locations).manual
    for file in source.files:
        path = locations.manual / source.name / file.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    needs = DataNeeds.of([FULL], locations)
    assert needs.manual == []
    needs.check(locations)
