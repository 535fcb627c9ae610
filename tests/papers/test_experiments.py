"""Declarations of experiments and presets."""

import pytest

from paraphrastic.base.errors import DataError, ParameterError
from paraphrastic.papers.experiments import Experiments
from tests.helpers.small_project import declare

AVG = 'label = "avg", model = "avg"'


@pytest.fixture
def folder(tmp_path):
    """Return a folder of declarations without experiments."""
    (tmp_path / "experiments").mkdir()
    (tmp_path / "experiments/presets.toml").write_text('[small]\nmodel = "avg"\noptions = { dim = 10 }\n')
    return tmp_path


def load(folder):
    return Experiments.load(folder / "experiments", {})


def test_rows_presets_and_defaults(folder):
    declare(folder, "acl2017-t1", f'{{ {AVG}, preset = "small" }}', '{ labels = ["a", "b"], model = "proj" }')
    declared = load(folder)
    experiment = declared.by_id["acl2017-t1"]
    assert [row.all_labels for row in experiment.rows] == [["avg"], ["a", "b"]]
    assert experiment.seeds == [1]
    assert experiment.row("b").model == "proj"
    assert experiment.corpus.paper == ["sample"]
    assert declared.presets["small"].options == {"dim": 10}


def test_order_is_by_paper_then_tables_before_figures_then_number(folder):
    tables = {"acl2017": ["T10", "F1", "T2"], "iclr2016": ["S6", "S5.1"]}
    for paper, table in [(paper, table) for paper, names in tables.items() for table in names]:
        declare(folder, f"{paper}-{table.lower()}", paper=f'"{paper}"', table=f'"{table}"')
    declare(folder, "mine", paper="")
    ordered = ["iclr2016-s5.1", "iclr2016-s6", "acl2017-t2", "acl2017-t10", "acl2017-f1", "mine"]
    assert list(load(folder).by_id) == ordered


def test_experiments_of_one_table_are_in_alphabetical_order(folder):
    for name in "gbdface":
        declare(folder, f"acl2017-t1-{name}")
    assert "".join(name[-1] for name in load(folder).by_id) == "abcdefg"


def test_selection(folder):
    declare(folder, "acl2017-t1")
    declare(folder, "acl2017-t2", table='"T2"')
    declared = load(folder)
    assert [each.id for each in declared.select([])] == ["acl2017-t1", "acl2017-t2"]
    assert [each.id for each in declared.select(["acl2017-t2", "acl2017-t2"])] == ["acl2017-t2"]
    with pytest.raises(ParameterError, match="unknown experiment 'acl2017-t3': did you mean 'acl2017-t2'"):
        declared.select(["acl2017-t1", "acl2017-t3"])


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (f"{AVG}, optoins = {{}}", "rows.0.optoins: Extra inputs are not permitted"),
        ('label = "avg"', "rows.0.model: Field required"),
        ('model = "avg"', "rows.0: a row has either `label` or `labels`"),
        (f'{AVG}, labels = ["a"]', "rows.0: a row has either `label` or `labels`"),
        (f'{AVG}, seeds = ["1"]', "rows.0.seeds.0: Input should be a valid integer"),
        (f"{AVG}, seeds = [0]", "rows.0.seeds.0: Input should be greater than 0"),
        (f"{AVG}, seeds = [2, 1, 2]", "rows.0.seeds: a seed is named twice"),
        (f'{AVG}, columns = ["sick"]', "a row names the unknown column 'sick'"),
        (f'{AVG}, start = "lstm"', "`start`, `against` or `reference` names no row: 'lstm'"),
        (f'{AVG}, start = "avg"', "`start` of 'avg' names a row that has `start` or `against` itself"),
        (f'{AVG}, against = "avg"', "`against` of 'avg' names a row that has `against` itself"),
        (f'{AVG} }}, {{ label = "lstm", model = "lstm", start = "avg", against = "avg" }}, {{ label = "gran",'
         ' model = "gran", start = "lstm"', "`start` of 'gran' names a row that has `start` or `against` itself"),
        (f"{AVG} }}, {{ {AVG}", "two rows are labelled 'avg' and have the column 'sts'"),
        (f'{AVG}, preset = "smal"', "unknown preset 'smal': did you mean 'small'?"),
        ('label = "lstm", model = "lstm", preset = "small"', "preset 'small' is not for the model lstm"),
        (f"{AVG}, options = {{ date = 2020-01-01 }}", "rows.0.options.date: input was not a valid JSON value"),
        (f"{AVG}, set = {{ seed = 3 }}", "rows.0.set: 'seed' is no key of `set`; a row has a key of its own for it"),
        (f'{AVG}, set = {{ "models.avg.dim" = 3 }}', "rows.0.set: 'models.avg.dim' is no key of `set`"),
        (f'{AVG}, set = {{ "finetune.tasks" = [] }}', "rows.0.set: 'finetune.tasks' is no key of `set`"),
    ],
)  # fmt: skip
def test_wrong_row(folder, row, message):
    declare(folder, "acl2017-t1", f"{{ {row} }}")
    with pytest.raises(DataError) as caught:
        load(folder)
    assert message in str(caught.value)
    assert str(folder / "experiments/acl2017-t1.toml") in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ({"paper": '"acl2018"'}, "paper: Input should be 'iclr2016'"),
        ({"title": '""'}, "title: String should have at least 1 character"),
        ({"corpus": '{ open = ["sample"] }'}, "corpus.paper: Field required"),
        ({"corpus": '{ open = ["sample"], paper = [] }'}, "corpus.paper: List should have at least 1 item"),
        ({"seeds": "[1, 1]"}, "seeds: a seed is named twice"),
        ({"seeds": "[]"}, "seeds: Value should have at least 1 item"),
        ({"scale": "0"}, "scale: Input should be greater than 0"),
        ({"rows_": "[]"}, "rows_: Extra inputs are not permitted"),
        ({"title": "= 1"}, "not valid TOML: "),
    ],
)
def test_wrong_header(folder, header, message):
    declare(folder, "acl2017-t1", **header)
    with pytest.raises(DataError) as caught:
        load(folder)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_id_is_the_name_of_the_file(folder):
    declare(folder, "acl2017-t1", id='"other"')
    assert list(load(folder).by_id) == ["acl2017-t1"]
    (folder / "experiments/acl2017-t1.toml").write_bytes(b"\xff")
    with pytest.raises(DataError, match=r"acl2017-t1.toml: not valid TOML: "):
        load(folder)


def test_presets_are_missing_or_wrong(folder):
    file = folder / "experiments/presets.toml"
    file.write_text('[small]\nmodel = "avg"\noptions = {}\nset = { model = "lstm" }\n')
    with pytest.raises(DataError, match=r"presets.toml: presets.small.set: 'model' is no key of `set`"):
        load(folder)
    file.unlink()
    with pytest.raises(DataError, match=r"presets.toml: no such file; restore it with `git checkout"):
        load(folder)
    with pytest.raises(DataError, match="no such folder; run this in the root of the repository"):
        Experiments.load(folder / "other", {})
