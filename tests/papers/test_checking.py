"""Names in declarations that do not exist."""

import pytest

from paraphrastic.base.errors import DataError
from paraphrastic.papers.experiments import Experiments
from paraphrastic.papers.project import Project, check
from tests.helpers.recorded_results import PARAMS, changed
from tests.helpers.repository import ROOT
from tests.helpers.small_project import declare

AVG = 'label = "avg", model = "avg"'


@pytest.fixture
def check_rows(tmp_path):
    """Return a function that declares rows and checks them."""
    (tmp_path / "experiments").mkdir()
    (tmp_path / "experiments/presets.toml").write_text('[small]\nmodel = "avg"\noptions = { dims = 10 }\n')

    def check_declared(*rows: str, params=PARAMS, **header: str) -> None:
        declare(tmp_path, "acl2017-t1", *rows, **header)
        check(Experiments.load(tmp_path / "experiments"), params)

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


def test_corpus_of_the_experiment(check_rows):
    with pytest.raises(DataError, match="'ppdb'"):
        check_rows(f"{{ {AVG} }}", corpus='{ open = ["ppdb"], paper = ["sample"] }')


def test_model_without_options(check_rows):
    check_rows('{ label = "o", model = "overlap" }', params=changed(PARAMS, "models.overlap", None))


def test_declarations_of_this_repository():
    assert Project(ROOT).experiments.by_id
