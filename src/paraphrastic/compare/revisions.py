"""The scores that a git revision, a DVC experiment or the workspace keeps."""

from difflib import get_close_matches
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from paraphrastic.compare.comparison import Run, by_set
from paraphrastic.errors import DataError, ParameterError
from paraphrastic.tables import SCORES, read_table

SCORES_FILE = Path("data/scores.parquet")
WORKSPACE = "workspace"


def scores_of(revision: str) -> Run:
    """The scores of `revision`, by set; `workspace` is what the last `dvc repro` here left.

    Raises:
        ParameterError: there is no such revision or experiment.
        DataError: its scores are not in the DVC cache, or damaged.
    """
    if revision == WORKSPACE:
        return by_set(read_table(SCORES_FILE, SCORES))
    from dvc.api import DVCFileSystem
    from dvc.scm import RevError

    try:
        with DVCFileSystem(rev=revision).open(SCORES_FILE.as_posix(), "rb") as file:
            return by_set(pq.read_table(file).cast(SCORES))
    except RevError as error:
        raise ParameterError(_unknown(revision)) from error
    except FileNotFoundError as error:
        raise DataError(f"{revision}: no {SCORES_FILE} in the DVC cache; `dvc pull`, or evaluate it again") from error
    except (pa.ArrowException, ValueError) as error:
        raise DataError(f"{revision}: {SCORES_FILE} is damaged; evaluate it again") from error


def _unknown(revision: str) -> str:
    near = get_close_matches(revision, names(), n=1)
    hint = f"did you mean '{near[0]}'?" if near else "`dvc exp show` and `git branch` list them"
    return f"no revision or experiment '{revision}': {hint}"


def names() -> list[str]:
    """Experiments, branches and tags of this repository, and the workspace."""
    from dvc.repo import Repo

    with Repo() as repo:
        experiments = [name for found in repo.experiments.ls().values() for name, _ in found if name]
        refs = [
            ref.removeprefix(f"refs/{kind}/")
            for kind in ("heads", "tags")
            for ref in repo.scm.iter_refs(f"refs/{kind}")
        ]
    return [WORKSPACE, *experiments, *refs]
