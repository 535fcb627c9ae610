"""Word overlap: a baseline that needs no training."""

from pydantic import BaseModel

from paraphrastic.base.tables import TrainingSentences
from paraphrastic.scoring.bags import OverlapScorer
from paraphrastic.scoring.baseline import Baseline


class Config(BaseModel, strict=True, extra="forbid"):
    """Word overlap has no options."""


class WordOverlap(Baseline):
    """Cosine of binary bags of words."""

    @staticmethod
    def fit(config: Config, sentences: TrainingSentences) -> OverlapScorer:
        """Return the scorer; the training sentences are not used."""
        return OverlapScorer()


MODEL = WordOverlap
