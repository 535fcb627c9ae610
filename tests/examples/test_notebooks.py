"""The notebooks of examples/, run cell by cell: those in Python in one namespace, those of `%%bash` in a shell."""

import json
import runpy
from itertools import zip_longest

import pytest

from tests.helpers.parameter_files import change_parameters
from tests.helpers.repository import ROOT, copy_repository, isolated_environment, run, run_git

OUTPUTS = runpy.run_path(str(ROOT / ".ci/outputs.py"))
NOTEBOOKS = sorted(path.name for path in ROOT.glob("examples/*.ipynb"))


def cells(name):
    """Return the source and the stored output of each cell with code."""
    found = json.loads((ROOT / "examples" / name).read_text(encoding="utf-8"))["cells"]
    code = [cell for cell in found if cell["cell_type"] == "code"]
    return [("".join(cell["source"]), "".join("".join(each["text"]) for each in cell["outputs"])) for cell in code]


def test_notebooks_hold_no_state_of_a_person():
    assert NOTEBOOKS == ["own_model.ipynb", "reviews.ipynb"]
    for name in NOTEBOOKS:
        notebook = json.loads((ROOT / "examples" / name).read_text(encoding="utf-8"))
        assert notebook["metadata"].keys() == {"kernelspec", "language_info"}
        assert not any(cell.get("execution_count") or cell["metadata"] for cell in notebook["cells"])


def test_reviews(capsys):
    namespace = {}
    for source, stored in cells("reviews.ipynb"):
        exec(source, namespace)
        lines = list(zip_longest(stored.splitlines(), capsys.readouterr().out.splitlines(), fillvalue=""))
        assert all(OUTPUTS["matches"](*pair) for pair in lines), lines


@pytest.mark.slow
@pytest.mark.nightly
def test_own_model(tmp_path):
    copy_repository(tmp_path)
    change_parameters(tmp_path, dim=16, epochs=1, batch_size=500, num_threads=1)
    environment = {**isolated_environment(tmp_path / "cache"), "PYTHONPATH": str(tmp_path / "src")}
    printed = []
    for source, _ in cells("own_model.ipynb"):
        script = source.removeprefix("%%bash\n")
        command = ["python", "-c", source] if script == source else ["bash", "-e", "-c", script]
        printed.append(run(*command, cwd=tmp_path, env=environment, check=True).stdout)
    written, experiments, compared, errors, used = printed
    assert not written
    assert {"unweighted", "weighted"} <= {line.split()[0] for line in experiments.splitlines()}
    assert "mean of 5 sets" in compared
    assert {line.split()[0] for line in errors.splitlines()[1:]} == {"a", "b"}
    assert used.startswith("weighted [[")
    changed = {line.split()[-1] for line in run_git(tmp_path, "status", "--short").splitlines()}
    assert {"models.yaml", "src/paraphrastic/models/weighted.py"} <= changed
