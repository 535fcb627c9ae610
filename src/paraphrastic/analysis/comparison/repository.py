"""The folder of a project, and what git and DVC know of it; their errors have their own reasons.

The project may be a subfolder of its git repository, with the folder `.dvc` in it (`dvc init --subdir`) or above it.
DVC is imported or started where it is used, because it takes a while.
"""

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

from paraphrastic.base.errors import ParameterError

DVC = sys.executable, "-m", "dvc"


class UnknownRevisionError(ParameterError):
    """There is no such revision or experiment."""


def project_root() -> Path:
    """Return the project that contains the working directory; the working directory if none does.

    It is the nearest folder with a folder `.dvc`, or with dvc.yaml and models.yaml.
    """
    for folder in (Path.cwd(), *Path.cwd().parents):
        # `finetune` and `analyze` have a dvc.yaml too
        if (folder / ".dvc").is_dir() or all((folder / name).is_file() for name in ("dvc.yaml", "models.yaml")):
            return folder
    return Path.cwd()


def dvc_folder(root: Path) -> Path:
    """Return the folder `.dvc` of the project `root`, in it or above it; where it would be if there is none."""
    folders = [folder / ".dvc" for folder in (root, *root.parents)]
    return next((folder for folder in folders if folder.is_dir()), folders[0])


def git(root: Path, *arguments: str) -> str:
    """Return what a command of git prints in the folder `root`.

    Raises:
        ParameterError: git refuses it, with the reason that it gives, or is missing.
    """
    command = ["git", *arguments]
    try:
        done = subprocess.run(command, cwd=root, env={**os.environ, "LC_ALL": "C"}, check=False, capture_output=True)
    except OSError as error:
        raise ParameterError(f"git: {error.strerror}; install git, or add its folder to PATH") from error
    if done.returncode:
        reason = " ".join(_text(done.stderr).split()).removeprefix("fatal: ") or f"exit status {done.returncode}"
        remedy = "; run this in a clone of the project" if "not a git repository" in reason else ""
        raise ParameterError(f"{root}: git {arguments[0]}: {reason}{remedy}")
    return _text(done.stdout)


def check_repository(root: Path) -> None:
    """Raise a ParameterError, with the reason, if git cannot read the last commit or DVC is not here."""
    git(root, "log", "--max-count=1", "--format=%H")
    if not dvc_folder(root).is_dir():  # `dvc metrics diff` would find nothing
        raise ParameterError(f"{root}: no folder .dvc here or above it; run this in the folder of the project")


def dvc(root: Path, command: Sequence[str], environment: Mapping[str, str] | None = None) -> tuple[str, str]:
    """Run a command of DVC to its end, also after Ctrl-C: half-way, changes of the user are in a stash of git.

    Args:
        root: the folder in which it runs.
        command: the command.
        environment: its variables; those of this process if left out.

    Returns:
        Standard output and standard error.

    Raises:
        ParameterError: DVC refuses it, with the reason that it gives.
    """
    with TemporaryFile() as out, TemporaryFile() as log:  # pipes would stay open as long as workers, who inherit them
        process = subprocess.Popen(command, stdout=out, stderr=log, cwd=root, env=environment, start_new_session=True)
        try:
            process.wait()
        except KeyboardInterrupt:
            process.wait()
            raise
        out.seek(0)
        log.seek(0)
        stdout, stderr = _text(out.read()), _text(log.read())
    if process.returncode:
        lines = [line for line in stderr.splitlines() if line.strip()]
        reasons = [line for line in lines if line.startswith("ERROR: ")] or lines[-1:] or ["no reason given"]
        name = " ".join(command).removeprefix(f"{' '.join(DVC[:-1])} ")
        raise ParameterError(f"`{name}` failed: {reasons[0].removeprefix('ERROR: ')}")
    return stdout, stderr


def _text(output: bytes) -> str:
    return output.decode("utf-8", errors="replace")


@contextmanager
def dvc_repository(root: Path) -> Iterator[Any]:
    """Yield DVC's view of the project `root`, a `dvc.repo.Repo`.

    Raises:
        UnknownRevisionError: DVC cannot find a revision.
        ParameterError: git or DVC cannot read `root`, with the reason that they give.
    """
    from dvc.exceptions import DvcException
    from dvc.repo import Repo
    from dvc.scm import RevError
    from scmrepo.exceptions import SCMError

    git(root, "rev-parse", "--git-dir")  # DVC gives no reason if git refuses the folder
    try:
        with Repo(str(root)) as repo:
            yield repo
    except RevError as error:
        raise UnknownRevisionError(str(error)) from error
    except (DvcException, SCMError) as error:
        check_repository(root)
        raise ParameterError(f"{root}: {error}") from error


def path_in(folder: str, root: Path) -> str:
    """Return the path of the project `root` in the folder of git or of DVC; an empty string if they are the same."""
    path = root.resolve().relative_to(Path(folder).resolve()).as_posix()
    return "" if path == "." else path


def experiments(scm: Any) -> list[tuple[str, str]]:
    """Return name and commit of all experiments, the latest last; `scm` is that of DVC."""
    from dvc.repo.experiments.utils import exp_refs

    found = [(ref.name, scm.get_ref(str(ref))) for ref in exp_refs(scm)]
    return sorted(found, key=lambda each: int(scm.resolve_commit(each[1]).commit_time))


@contextmanager
def files_of(root: Path, revision: str) -> Iterator[Any]:
    """Yield the files of the project `root` in a revision or an experiment, as a file system of `fsspec`.

    Files that DVC tracks come from its cache or its remote. Errors are those of `dvc_repository`.
    """
    from fsspec.implementations.dirfs import DirFileSystem

    with dvc_repository(root) as repo:
        folder, remotes = path_in(repo.root_dir, root), repo.config["remote"]
        same = [commit for name, commit in experiments(repo.scm) if name == revision]
        with repo.switch(same[-1] if len(same) > 1 else revision):  # DVC refuses a name that several commits have
            repo.config["remote"] = remotes  # relative addresses of a revision would start at its root, `/`
            yield DirFileSystem(f"/{folder}", repo.dvcfs.fs)
