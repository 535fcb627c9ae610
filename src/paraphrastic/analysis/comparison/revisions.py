"""Load tables of a git revision, a DVC experiment or the workspace."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from paraphrastic.analysis.comparison.by_set import ScoresBySet, by_set
from paraphrastic.analysis.comparison.repository import UnknownRevisionError, dvc_repository, files_of, project_root
from paraphrastic.base.errors import DataError, ParameterError, ParaphrasticError, did_you_mean
from paraphrastic.base.tables import PREDICTIONS, SCORES, read_table

SCORES_FILE = Path("data/scores.parquet")  # in the root of the project
WORKSPACE = "workspace"
# only these, because scores of older revisions lack other ones
_COMPARED = pa.schema([SCORES.field(name) for name in ("set", "kind", "split", "question", "gold", "score")])


def scores_of(revision: str) -> ScoresBySet:
    """Return the scores of `revision` by set; `workspace` stands for the files of the last `dvc repro` here.

    Errors are those of `table_of` and `by_set`.
    """
    schema = SCORES if revision == WORKSPACE else _COMPARED
    return by_set(table_of(revision, SCORES_FILE, schema).select(_COMPARED.names))


def predictions_of(revision: str, task: str) -> pa.Table:
    """Return what `revision` predicts for the rows of a supervised task; see `scores_of`, errors are of `table_of`."""
    return table_of(revision, Path(f"data/predictions/{task}.parquet"), PREDICTIONS)


def table_of(revision: str, path: Path, schema: pa.Schema) -> pa.Table:
    """Return the columns `schema` of a parquet file of `revision`, which may be `workspace`.

    Raises:
        ParameterError: there is no such revision or experiment, or git or DVC cannot read this repository.
        DataError: the table is not in the DVC cache, is damaged, or lacks a column.
    """
    if revision == WORKSPACE:
        return read_table(project_root() / path, schema)
    try:
        with files_of(project_root(), revision) as files, files.open(path.as_posix(), "rb") as file:
            table = pq.ParquetFile(file)
            if missing := set(schema.names).difference(table.schema_arrow.names):
                columns = ", ".join(sorted(missing))
                raise DataError(f"{revision}: {path} has no column {columns}; check it out and run `dvc repro`")
            return table.read(schema.names).cast(schema)
    except UnknownRevisionError as error:
        hint = did_you_mean(revision, revisions()).rstrip() or "`dvc exp show` and `git branch` list them"
        raise ParameterError(f"no revision or experiment '{revision}': {hint}") from error
    except FileNotFoundError as error:
        # `dvc repro` there may compute another file than its dvc.lock names, on another processor
        remedy = "check it out, run `dvc exp run --temp --name NAME`, and compare NAME"
        remedy += ", or, with a DVC remote, `dvc fetch --all-branches`"
        raise DataError(f"{revision}: no {path} in the DVC cache; {remedy}") from error
    except ParaphrasticError:
        raise
    except (pa.ArrowException, OSError, ValueError) as error:
        if isinstance(error, OSError) and error.errno is not None:  # of the disk; that of Arrow has no number
            raise
        raise DataError(f"{revision}: {path} is damaged; compute it again") from error


def revisions() -> list[str]:
    """Return the experiments, branches and tags of this repository, and `workspace`."""
    with dvc_repository(project_root()) as repo:
        experiments = [name for group in repo.experiments.ls(all_commits=True).values() for name, _ in group if name]
        refs = [ref.split("/", 2)[2] for kind in ("heads", "tags") for ref in repo.scm.iter_refs(f"refs/{kind}")]
    return [WORKSPACE, *experiments, *refs]
