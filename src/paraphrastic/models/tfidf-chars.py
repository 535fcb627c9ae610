"""TF-IDF over character n-grams."""

from pydantic import BaseModel, Field

from paraphrastic.base.tables import TrainingSentences
from paraphrastic.scoring.bags import TfidfScorer, fit_tfidf
from paraphrastic.scoring.baseline import Baseline
from paraphrastic.vocabulary.counting import count_ngrams


class Config(BaseModel, strict=True, extra="forbid"):
    """Options of TF-IDF over character n-grams."""

    order: int = Field(ge=1, le=6)  # characters per n-gram, spaces included


class TfidfChars(Baseline):
    """Cosine of TF-IDF vectors of character n-grams of length `order`."""

    @staticmethod
    def fit(config: Config, sentences: TrainingSentences) -> TfidfScorer:
        """Count the n-grams of the training sentences.

        Raises:
            DataError: no sentence is long enough for an n-gram.
        """
        return fit_tfidf("ngrams", count_ngrams(sentences, [config.order], padding=""), sentences)


MODEL = TfidfChars
