"""Plots as one HTML file that needs no network."""

import re
import shutil
from unittest.mock import ANY

import pytest

from paraphrastic.analysis.comparison.plots import plots_page
from paraphrastic.base.errors import DataError, ParameterError
from tests.helpers.recorded_results import commit, make_repository
from tests.helpers.repository import ROOT, run_git


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
    page = plots_page(revisions, {})
    assert page.count("<svg") == page.count('<figure role="img" aria-label="loss.csv">') == 1
    assert "Loss &amp; more" in page
    assert page.count(f">Plots: {', '.join(revisions) or 'workspace'}<") == 2
    assert all(f">{name}<" in page for name in revisions)
    assert set(re.findall(r"https?://[^\s\"']+", page)) <= {
        "http://www.w3.org/2000/svg",
        "http://www.w3.org/1999/xlink",
    }
    assert "<script" not in page


@pytest.mark.parametrize(
    ("template", "fields", "mean", "spread"),
    [
        ("curve", "x: step\n      y: loss", "step: 2; Mean of loss: 0.1875; rev: avg dim=50", "errorband"),
        ("bars", "x: loss\n      y: step", "loss: 0.1875; step: 2; rev: avg dim=50", "errorbar"),
    ],
)
def test_revisions_of_one_name_are_drawn_as_their_mean_with_deviation(clone, template, fields, mean, spread):
    shutil.copytree(ROOT / ".dvc/plots", clone / ".dvc/plots")
    (clone / "dvc.yaml").write_text(f"plots:\n  - loss.csv:\n      template: {template}\n      {fields}\n")
    run_git(clone, "branch", "--force", "other", commit(clone))
    (clone / "loss.csv").write_text("step,loss\n1,0.5\n2,0.25\n")
    commit(clone)
    page = plots_page(["other", "main"], {"other": "avg dim=50", "main": "avg dim=50"})
    assert f'aria-label="{mean}"' in page
    assert f'aria-roledescription="{spread}' in page
    assert page.count(">avg dim=50<") == 1  # in the legend
    assert ">Plots: avg dim=50<" in page
    apart = plots_page(["other", "main"], {})
    assert apart.count("loss: 0.25;") == apart.count("loss: 0.125;") == 1
    assert ">1.2<" not in apart  # steps and epochs are integers


def test_page_in_a_subfolder(clone, monkeypatch):
    def page():
        return re.sub(r"clip\d+", "clip", plots_page([], {})).replace("../loss.csv", "loss.csv")  # clips are numbered

    whole = page()
    (clone / "sub").mkdir()
    monkeypatch.chdir(clone / "sub")
    assert page() == whole


def test_whole_page_of_two_plots(clone, monkeypatch):
    (clone / "acc.csv").write_text("step,acc\n1,0.5\n")
    (clone / "dvc.yaml").write_text("plots:\n  - acc.csv:\n      y: acc\n  - loss.csv:\n      y: loss\n")
    monkeypatch.setattr("vl_convert.vegalite_to_svg", lambda content: "picture")
    figures = [
        f'<figure role="img" aria-label="{name}"><figcaption>{name}</figcaption>picture</figure>'
        for name in ("acc.csv", "loss.csv")
    ]
    assert plots_page([], {}).split("<main>\n") == [ANY, "\n".join([*figures, "</main>", "</html>", ""])]


def test_unknown_revision(clone):
    with pytest.raises(ParameterError, match="`dvc plots diff nope --json` failed: unknown Git revision 'nope'"):
        plots_page(["nope"], {})


def test_folder_without_plots(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DataError, match=r"^Plots: workspace: no data; run `dvc repro` in a clone first$"):
        plots_page([], {})
