"""Copies of this repository, in which tests run git, dvc and stages as a person does."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
DVC = [sys.executable, "-m", "dvc"]
_CONFIGURATION = "PARAPHRASTIC_", "GIT_", "DVC_", "GITHUB_"  # prefixes of variables that change how commands behave


def isolated_environment(cache: Path | None = None) -> dict[str, str]:
    """Return environment variables that do not depend on the settings of the person who runs the tests.

    Git reads no global configuration, `python` is this interpreter, there is no mirror of the real data, and `cache` is
    the folder for downloads.
    """
    identity = {f"GIT_{role}_{key}": "test@test" for role in ("AUTHOR", "COMMITTER") for key in ("NAME", "EMAIL")}
    inherited = {key: value for key, value in os.environ.items() if not key.startswith(_CONFIGURATION)}
    return {
        **inherited,
        **identity,
        "GIT_CONFIG_GLOBAL": os.devnull,
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        **({"PARAPHRASTIC_CACHE": str(cache)} if cache else {}),
    }


def run(*command: str | Path, check: bool = False, **options: Any) -> "subprocess.CompletedProcess[str]":
    """Run a command, and return its status and what it printed; with `check`, the status must be 0."""
    done = subprocess.run(command, capture_output=True, text=True, **options)
    assert not (check and done.returncode), f"{command}\n{done.stdout[-1000:]}\n{done.stderr[-2000:]}"
    return done


def run_python(*arguments: str | Path, **options: Any) -> "subprocess.CompletedProcess[str]":
    """Run this interpreter, and return its status and what it printed."""
    return run(sys.executable, *arguments, **options)


def run_git(folder: Path, *arguments: str) -> str:
    """Run git in `folder` and return its output without surrounding whitespace."""
    return run("git", *arguments, cwd=folder, env=isolated_environment(), check=True).stdout.strip()


def copy_repository(folder: Path) -> None:
    """Copy the files of this repository to `folder` as they are now, and commit them on the branch `main`.

    Functions that numba has compiled are copied too. Their modification times are kept, because numba compares them.
    """
    listed = subprocess.check_output(["git", "ls-files", "-coz", "--exclude-standard"], cwd=ROOT, text=True)
    compiled = (file.relative_to(ROOT) for file in (ROOT / "src").rglob("__pycache__/*.nb?"))
    for name in (*filter(None, listed.split("\0")), *compiled):
        if (ROOT / name).is_file():  # git also lists deleted files
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    run_git(folder, "init", "--quiet", "--initial-branch=main")
    run_git(folder, "add", "--all")
    run_git(folder, "commit", "--quiet", "--message=all files")
