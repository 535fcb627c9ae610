"""Plots as one HTML file that needs no network."""

import re
from unittest.mock import ANY

import pytest

from paraphrastic.analysis.comparison.plots import plots_page
from paraphrastic.base.errors import DataError, ParameterError
from tests.helpers.recorded_results import commit, make_repository
from tests.helpers.repository import run_git


@pytest.fixture
def clone(tmp_path, monkeypatch):
    """Return a repository with a branch `other`, and a plot of two points in each of its revisions."""
    folder = make_repository(tmp_path / "clone")
    (folder / "dvc.yaml").write_text("plots:\n  - loss.csv:\n      x: step\n      y: loss\n      title: Loss & more\n")
    (folder / "loss.csv").write_text("step,loss\n1,0.5\n2,0.25\n")
    commit(folder)
    run_git(folder, "branch", "other")
    (folder / "loss.csv").write_text("step,loss\n1,0.75\n2,0.125\n")
    commit(folder)
    monkeypatch.chdir(folder)
    return folder


@pytest.mark.parametrize("revisions", [[], ["other", "main"]])
def test_page_has_a_picture_of_each_plot_and_fetches_nothing(clone, revisions):
    page = plots_page(revisions)
    assert page.count("<svg") == page.count('<figure role="img" aria-label="loss.csv">') == 1
    assert "Loss &amp; more" in page
    assert page.count(f">Plots: {', '.join(revisions) or 'workspace'}<") == 2
    assert all(f">{name}<" in page for name in revisions)
    assert set(re.findall(r"https?://[^\s\"']+", page)) <= {
        "http://www.w3.org/2000/svg",
        "http://www.w3.org/1999/xlink",
    }
    assert "<script" not in page


def test_page_in_a_subfolder(clone, monkeypatch):
    def page():
        return re.sub(r"clip\d+", "clip", plots_page([])).replace("../loss.csv", "loss.csv")  # clips are numbered

    whole = page()
    (clone / "sub").mkdir()
    monkeypatch.chdir(clone / "sub")
    assert page() == whole


def test_whole_page_of_two_plots(clone, monkeypatch):
    (clone / "acc.csv").write_text("step,acc\n1,0.5\n")
    (clone / "dvc.yaml").write_text("plots:\n  - acc.csv:\n      y: acc\n  - loss.csv:\n      y: loss\n")
    monkeypatch.setattr("vl_convert.vegalite_to_svg", lambda content: content["title"]["text"])
    figures = [f'<figure role="img" aria-label="{name}.csv">{name}.csv</figure>' for name in ("acc", "loss")]
    assert plots_page([]).split("</h1>\n") == [ANY, "\n".join([*figures, "</html>", ""])]


def test_unknown_revision(clone):
    with pytest.raises(ParameterError, match="`dvc plots diff nope --json` failed: unknown Git revision 'nope'"):
        plots_page(["nope"])


def test_folder_without_plots(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DataError, match=r"^Plots: workspace: no data; run `dvc repro` in a clone first$"):
        plots_page([])
