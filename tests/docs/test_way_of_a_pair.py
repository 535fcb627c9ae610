"""The page that a newcomer reads first names the files that a pair enters, all of them and no other."""

import re

import pytest

from tests.helpers.parameter_files import copy_parameters
from tests.helpers.repository import ROOT, isolated_environment, run_python

PAGE = ROOT / "docs/explanation/way-of-a-pair.md"
FOLLOW = """
import importlib, sys, threading
entered = set()

def enter(frame, event, argument):
    if event == "call" and frame.f_code.co_name != "<module>":
        entered.add(frame.f_code.co_filename)

stages = ["download", "tokenize", "vocabulary", "teach", "train"]
mains = {stage: importlib.import_module(f"pipeline.{stage}").main for stage in stages}
for stage, main in mains.items():
    profile = None if stage == "teach" else enter
    threading.setprofile(profile)
    sys.setprofile(profile)
    main()
sys.setprofile(None)
print(*entered, sep="\\n")
"""


@pytest.mark.slow
def test_files_that_a_pair_enters(tmp_path):
    copy_parameters(tmp_path)
    environment = isolated_environment(tmp_path / "cache") | {"PYTHONPATH": f"{ROOT / 'src'}:{ROOT}"}
    run_python("-m", "pipeline.inputs", cwd=tmp_path, env=environment, check=True)
    printed = run_python("-c", FOLLOW, cwd=tmp_path, env=environment, check=True).stdout
    entered = {name.removeprefix(f"{ROOT}/") for name in printed.splitlines() if name.startswith(f"{ROOT}/")}
    page = PAGE.read_text()
    named = re.findall(r"^\* `([\w/.]+)`", page, re.M)
    assert {name if name.startswith("pipeline/") else f"src/paraphrastic/{name}" for name in named} == entered
    assert page.startswith(f"# The way of a pair, in {len(named)} files\n")
