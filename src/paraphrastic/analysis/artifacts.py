"""The tables and the model that the stages of a run have written."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pandas as pd
import pyarrow as pa

from paraphrastic.base import devices
from paraphrastic.base.errors import DataError, ModelError
from paraphrastic.base.tables import SCORES, SENTENCES, WORD_COUNTS, read_table
from paraphrastic.inference.model import Model
from paraphrastic.inference.model_folder import load, usable_device
from paraphrastic.scoring.scorer import EmbeddingScorer, Vectors, VectorScorer


@dataclass(frozen=True)
class Artifacts:
    """The results of one run. Each is read when it is used for the first time.

    A missing or damaged model raises a ModelError, a missing or damaged table a DataError.
    """

    folder: Path  # the folder `data` of a repository
    device: str = devices.CPU  # where the model is computed if it needs torch, see `devices.find`

    @cached_property
    def model(self) -> Model:
        """The trained model."""
        folder = self.folder / "model"
        return load(folder, device=usable_device(folder, self.device))

    @property
    def encoder(self) -> VectorScorer:
        """The trained model, for tokenized sentences; a ModelError if it has no sentence vectors."""
        return self.model.encoder("choose an encoder")

    @property
    def word_embeddings(self) -> tuple[pa.StringArray, Vectors]:
        """The words (n,) of the trained model and its embedding table (n + 1, dim), with row 0 for unknown words.

        Raises:
            ModelError: the model has no embeddings of words.
        """
        scorer = self.model.scorer
        if not (isinstance(scorer, EmbeddingScorer) and scorer.vocabulary_kind == "words"):
            raise ModelError(f"{self.model.folder}: {self.model.name} has no embeddings of words; choose a word model")
        return scorer.texts, scorer.embedding_array()

    def read(self, path: str, schema: pa.Schema) -> pa.Table:
        """Return a table of the run; `path` is that below `folder`."""
        return read_table(self.folder / path, schema)

    @cached_property
    def word_counts(self) -> pd.DataFrame:
        """How often each word occurs in the training sentences, with the columns of `WORD_COUNTS`; descending."""
        table: pd.DataFrame = self.read("vocabulary/words.parquet", WORD_COUNTS).to_pandas()
        return table

    @cached_property
    def sentences(self) -> pa.StringArray:
        """The distinct tokenized sentences of all evaluation sets."""
        return self.read("benchmarks/sentences.parquet", SENTENCES)["text"].combine_chunks()

    @cached_property
    def scores(self) -> pd.DataFrame:
        """The score of each evaluated pair, with the columns of `SCORES`.

        `left` and `right` are row numbers of `sentences`.

        Raises:
            DataError: the scores are those of other benchmarks.
        """
        table: pd.DataFrame = self.read("scores.parquet", SCORES).to_pandas()
        if (table[["left", "right"]] >= len(self.sentences)).any(axis=None):
            raise DataError(f"{self.folder}/scores.parquet: scores of other benchmarks; run `dvc repro evaluate`")
        return table

    def scores_of(self, choose: Callable[[Iterable[str]], list[str]]) -> pd.DataFrame:
        """Return the rows of `scores` of the test pairs of the sets of similarity that `choose` selects.

        Args:
            choose: `headline.pooled_sets` or `headline.headline_sets`.

        Raises:
            DataError: there are none.
        """
        similarity = self.scores[(self.scores["kind"] == "similarity") & (self.scores["split"] == "test")]
        found = similarity[similarity["set"].isin(choose(similarity["set"].unique()))].reset_index(drop=True)
        if found.empty:
            raise DataError(f"{self.folder}/scores.parquet: no STS sets; choose `benchmarks: sample` or `open`")
        return found
