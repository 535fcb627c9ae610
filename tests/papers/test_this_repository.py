"""The claims and findings of this repository, and its tables that are trained for more epochs than the replica has."""

import re

import pytest

from paraphrastic.papers.pages import PAPERS
from paraphrastic.papers.plan import expected, runs_of_row
from paraphrastic.papers.project import Project
from paraphrastic.papers.results import Store
from tests.helpers.repository import ROOT

PROJECT = Project(ROOT, read_only=True)
OF_OTHER_TABLES = {  # label → table and label of the row that it repeats
    "gran dropout scrambling": ("acl2017-t3", "gran dropout scrambling"),
    "lstmavg none, negatives mix": ("acl2017-t1", "lstmavg simpwiki, negatives mix"),
    "lstmavg word-dropout scrambling": ("acl2017-t2", "lstmavg dropout scrambling, tuned"),
}


def test_claims_of_this_repository_are_of_declared_rows():
    claims = PROJECT.claims.claims
    assert {each.paper for each in claims} == set(PAPERS)
    assert [each.id.rpartition("-")[0] for each in claims] == [each.paper for each in claims]
    assert len(PROJECT.decide()) == len(claims)


def test_rule_names_the_claims_that_three_seeds_decide_otherwise():
    class FirstThree(Store):
        def result(self, run):
            return super().result(run) if run.seed <= 3 else None

    limited = Project(ROOT, read_only=True)
    vars(limited)["store"] = FirstThree(ROOT / "experiments/results", PROJECT.params, read_only=True)
    other = [a.claim.id for a, b in zip(PROJECT.decide(), limited.decide(), strict=True) if a.verdict != b.verdict]
    (rule,) = (each for each in PROJECT.claims.rules if each.startswith("Three seeds decide"))
    assert sorted(re.findall(r"[a-z]+\d{4}-\d+", rule)) == sorted(other)


def test_findings_leave_p_and_intervals_to_the_claims():
    """Those of the page of claims are computed; they change with the results of other claims (Holm)."""
    findings = {each.id: " ".join(each.finding) for each in PROJECT.experiments.by_id.values()}
    assert {name for name, text in findings.items() if re.search(r"\bp (is|[=<])|\[[−\d]|interval", text)} == set()


@pytest.mark.parametrize(
    ("name", "epochs"),
    [
        ("iclr2016-t2", {(5, 10)}),
        ("acl2017-t1", {(5, 15), (10, 30)}),
        ("acl2017-t2", {(10, 30)}),
        ("acl2017-t3", {(10, 30)}),
    ],
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
