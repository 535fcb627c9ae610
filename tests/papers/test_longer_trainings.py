"""Tables that are trained for more epochs than the replica has: all else is as in the tables that they repeat."""

import pytest

from paraphrastic.papers.plan import expected, runs_of_row
from paraphrastic.papers.project import Project
from tests.helpers.repository import ROOT

PROJECT = Project(ROOT, read_only=True)
OF_OTHER_TABLES = {  # label → table and label of the row that it repeats
    "gran dropout scrambling": ("acl2017-t3", "gran dropout scrambling"),
    "lstmavg none, negatives mix": ("acl2017-t1", "lstmavg simpwiki, negatives mix"),
    "lstmavg word-dropout scrambling": ("acl2017-t2", "lstmavg dropout scrambling, tuned"),
}


@pytest.mark.parametrize(
    ("name", "epochs"),
    [("iclr2016-t2", {(5, 10)}), ("acl2017-t1", {(5, 15), (5, 5), (10, 30)}), ("acl2017-t2", {(10, 30)})],
)
def test_rows_differ_in_their_epochs_alone(name, epochs):
    longer = PROJECT.experiments.by_id[f"{name}-epochs"]
    repeated = [OF_OTHER_TABLES.get(row.label, (name, row.label)) for row in longer.rows]
    assert {epochs_of(longer, row, *each) for row, each in zip(longer.rows, repeated, strict=True)} == epochs


def epochs_of(longer, row, name, label):
    """Return the epochs in the replica of a row that is repeated and of the one that repeats it.

    All else is the same, and on the papers' data the epochs too.
    """
    table = PROJECT.choices.applied(PROJECT.experiments.by_id[name], "replica")
    untuned = table.row(label.removesuffix(", tuned"))
    on_paper = [first_run(table, untuned, "paper"), first_run(longer, row, "paper")]
    assert on_paper[0].configuration == on_paper[1].configuration
    usual = first_run(table, table.row(label), "replica")
    before, after = (expected(PROJECT.params, each) for each in (usual, first_run(longer, row, "replica")))
    key = f"models.{usual.model}.epochs"
    assert after == before | {key: after[key]}
    return before[key], after[key]


def first_run(experiment, row, data):
    """Return the first run of a row."""
    return runs_of_row(experiment, row, PROJECT.experiments, data)[0]
