"""TF-IDF over words."""

from pydantic import BaseModel

from paraphrastic.base.tables import TrainingSentences
from paraphrastic.scoring.bags import TfidfScorer, fit_tfidf
from paraphrastic.scoring.baseline import Baseline
from paraphrastic.vocabulary.counting import count_words


class Config(BaseModel, strict=True, extra="forbid"):
    """TF-IDF over words has no options."""


class TfidfWords(Baseline):
    """Cosine of TF-IDF vectors of words."""

    @staticmethod
    def fit(config: Config, sentences: TrainingSentences) -> TfidfScorer:
        """Count the words of the training sentences.

        Raises:
            DataError: the sentences have no word.
        """
        return fit_tfidf("words", count_words(sentences), sentences)


MODEL = TfidfWords
