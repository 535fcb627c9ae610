"""The tables and the model that the stages of a run have written."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from paraphrastic.base import devices
from paraphrastic.base.errors import DataError, ModelError
from paraphrastic.base.tables import NGRAM_COUNTS, PAIRS, SCORES, SENTENCES, WORD_COUNTS, indexed_schema, read_table
from paraphrastic.evaluation.benchmarks import Benchmarks
from paraphrastic.evaluation.headline import headline_sets, pooled_sets
from paraphrastic.inference.model import Model, load
from paraphrastic.inference.model_folder import usable_device
from paraphrastic.scoring.scorer import EmbeddingScorer, Vectors, VectorScorer


@dataclass(frozen=True)
class Artifacts:
    """The results of one run. Each is read when it is used for the first time.

    Attributes:
        folder: the folder `data` of a repository.
        device: where the model is computed if it needs torch, see `devices.find`.
    """

    folder: Path
    device: str = devices.CPU

    @cached_property
    def model(self) -> Model:
        """The trained model.

        Raises:
            ModelError: the model is missing or damaged.
        """
        folder = self.folder / "model"
        return load(folder, device=usable_device(folder, self.device))

    @property
    def encoder(self) -> VectorScorer:
        """The trained model, for tokenized sentences.

        Raises:
            ModelError: the model is missing or damaged, or compares pairs and has no sentence vectors.
        """
        scorer = self.model.scorer
        if not isinstance(scorer, VectorScorer):
            raise ModelError(f"{self.model.folder}: {self.model.name} has no sentence vectors; choose an encoder")
        return scorer

    @property
    def word_embeddings(self) -> tuple[pa.StringArray, Vectors]:
        """The words (n,) of the trained model and its embedding table (n + 1, dim), with row 0 for unknown words.

        Raises:
            ModelError: the model is missing or damaged, or has no embeddings of words.
        """
        scorer = self.model.scorer
        if not (isinstance(scorer, EmbeddingScorer) and scorer.vocabulary_kind == "words"):
            raise ModelError(f"{self.model.folder}: {self.model.name} has no embeddings of words; choose a word model")
        return scorer.texts, scorer.embedding_array()

    @cached_property
    def training_sentences(self) -> pa.StringArray:
        """The distinct tokenized sentences of the training data.

        Raises:
            DataError: the file is missing or damaged.
        """
        return read_table(self.folder / "corpus/sentences.parquet", SENTENCES)["text"].combine_chunks()

    @cached_property
    def training_pairs(self) -> pd.DataFrame:
        """The training pairs, with the columns of `tables.PAIRS`.

        `left` and `right` are row numbers of `training_sentences`.

        Raises:
            DataError: the file is missing or damaged.
        """
        table: pd.DataFrame = read_table(self.folder / "corpus/pairs.parquet", PAIRS).to_pandas()
        return table

    @cached_property
    def benchmarks(self) -> Benchmarks:
        """The evaluation sets.

        Raises:
            DataError: a file is missing or damaged.
        """
        return Benchmarks.load(self.folder / "benchmarks")

    @property
    def sentences(self) -> pa.StringArray:
        """The distinct tokenized sentences of all evaluation sets."""
        return self.benchmarks.sentences

    @cached_property
    def scores(self) -> pd.DataFrame:
        """The score of each evaluated pair, with the columns of `tables.SCORES`.

        `left` and `right` are row numbers of `sentences`.

        Raises:
            DataError: a file is missing or damaged, or the scores are those of other benchmarks.
        """
        table: pd.DataFrame = read_table(self.folder / "scores.parquet", SCORES).to_pandas()
        if (table[["left", "right"]] >= len(self.sentences)).any(axis=None):
            raise DataError(f"{self.folder}/scores.parquet: scores of other benchmarks; run `dvc repro evaluate`")
        return table

    @cached_property
    def pooled_scores(self) -> pd.DataFrame:
        """The rows of `scores` of the test pairs of all STS sets of 2012–2015 together, or of the sample's sets.

        Raises:
            DataError: the benchmarks have neither.
        """
        return self._scores_of(pooled_sets)

    @cached_property
    def headline_scores(self) -> pd.DataFrame:
        """The rows of `scores` of the test pairs of the papers' 22 sets as far as they exist, or of the sample's sets.

        Raises:
            DataError: the benchmarks have neither.
        """
        return self._scores_of(headline_sets)

    def _scores_of(self, choose: Callable[[Iterable[str]], list[str]]) -> pd.DataFrame:
        scores = self.scores
        similarity = scores[(scores["kind"] == "similarity") & (scores["split"] == "test")]
        names = choose(similarity["set"].unique())
        if not names:
            raise DataError(f"{self.folder}/scores.parquet: no STS sets; choose `benchmarks: sample` or `open`")
        return similarity[similarity["set"].isin(names)].reset_index(drop=True)

    def tagged_tokens(self, name: str) -> pa.Table:
        """Return the tokens of a tagged set, with the columns of `tables.RAW["tagged_tokens"]`; empty if absent.

        Args:
            name: for example `tags.ewt`.
        """
        path = self.folder / "benchmarks/tagged_tokens.parquet"
        table = read_table(path, indexed_schema("tagged_tokens"))
        return table.filter(pc.equal(table["set"], name))

    def counts(self, kind: str) -> pd.DataFrame:
        """Return the counts of `words`, `ngrams` or `characters` in the training sentences, most frequent first."""
        schema = WORD_COUNTS if kind == "words" else NGRAM_COUNTS
        table: pd.DataFrame = read_table(self.folder / f"vocabulary/{kind}.parquet", schema).to_pandas()
        return table
