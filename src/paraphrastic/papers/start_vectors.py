"""Word embeddings of a run, written as the initial vectors of other runs."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from paraphrastic.base.errors import ParameterError
from paraphrastic.export import Format, export
from paraphrastic.inference.model_folder import load
from paraphrastic.papers.collecting import matching
from paraphrastic.papers.parameters import expected
from paraphrastic.papers.plan import Run
from paraphrastic.papers.records import records


@dataclass(frozen=True)
class StartVectors:
    """The files of word embeddings in data/start.

    Attributes:
        root: the repository.
        params: content of params.yaml.
        version: of the package.
    """

    root: Path
    params: Mapping[str, Any]
    version: str

    def path(self, run: Run) -> Path:
        """Return the file of the embeddings of `run`.

        Experiments run in other folders, so that the path is absolute. DVC does not watch the file, so that the path
        changes with everything that determines its content.
        """
        content = json.dumps([expected(self.params, run), self.version], sort_keys=True)
        digest = hashlib.sha256(content.encode()).hexdigest()[:8]
        return self.root.resolve() / "data/start" / digest / f"{run.name}.txt"

    def available(self, run: Run) -> bool:
        """Return whether the embeddings of `run` are exported, or its model is in the DVC cache."""
        return self.path(run).exists() or self._revision(run) is not None

    def export(self, run: Run) -> None:
        """Write the word embeddings of `run` as word2vec text, unless the file is there.

        Raises:
            ParameterError: its model is not in the DVC cache.
            ModelError: its model has no word embeddings.
        """
        from dvc.api import DVCFileSystem

        if self.path(run).exists():
            return
        revision = self._revision(run)
        if revision is None:
            raise ParameterError(f"{run.name}: its model is not in the DVC cache; run its experiment again")
        with TemporaryDirectory() as folder:
            DVCFileSystem(str(self.root), rev=revision).get("data/model", f"{folder}/model", recursive=True)
            export(load(Path(folder) / "model"), self.path(run), Format.WORD2VEC)

    def _revision(self, run: Run) -> str | None:
        """Return a commit with the results of `run` whose model is in the DVC cache."""
        with records(self.root) as found:
            commits = [each for each in found if each.rev is not None]
            results = matching(run, commits, self.params)
            revisions = (record.rev for record, result in results if record.rev and result.version == self.version)
            return next(filter(self._has_model, revisions), None)

    def _has_model(self, revision: str) -> bool:
        from dvc.api import DVCFileSystem

        try:
            with DVCFileSystem(str(self.root), rev=revision).open("data/model/config.json"):
                return True
        except FileNotFoundError:
            return False
