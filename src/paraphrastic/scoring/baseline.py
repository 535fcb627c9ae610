"""Base class of models that are not trained by gradient descent."""

from abc import ABC, abstractmethod
from typing import Any

from paraphrastic.base.tables import TrainingSentences
from paraphrastic.scoring.scorer import Scorer


class Baseline(ABC):
    """A model that computes a scorer from the training sentences, or needs none of them."""

    @staticmethod
    @abstractmethod
    def fit(config: Any, sentences: TrainingSentences) -> Scorer:
        """Return a scorer.

        Args:
            config: the options of the model, an instance of its `Config`.
            sentences: the distinct tokenized sentences of the training pairs.
        """
