"""Copies of this repository, in which tests run dvc and git."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
DVC = [sys.executable, "-m", "dvc"]


def settings(cache):
    """No mirror, downloads in `cache`, no settings of git but these, and this interpreter as `python`."""
    who = {f"GIT_{role}_{what}": "test@test" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    place = {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "GIT_CONFIG_GLOBAL": os.devnull}
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("PARAPHRASTIC_", "GIT_", "DVC_"))}
    return kept | who | place | {"PARAPHRASTIC_CACHE": str(cache)}


def commit_copy(folder, environment):
    """One commit on `main`: the files of this repository as they are now, with what numba compiled of them."""
    listed = subprocess.check_output(["git", "ls-files", "-coz", "--exclude-standard"], cwd=ROOT, text=True)
    compiled = (file.relative_to(ROOT) for file in (ROOT / "src").rglob("__pycache__/*.nb?"))
    for name in (*filter(None, listed.split("\0")), *compiled):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)  # with its time, by which numba knows that it is the same
    for command in (["init", "--quiet", "--initial-branch=main"], ["add", "--all"], ["commit", "--quiet", "-m", "all"]):
        subprocess.run(["git", *command], cwd=folder, env=environment, check=True)
