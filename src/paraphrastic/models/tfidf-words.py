"""TF-IDF over words."""

from pydantic import BaseModel

from paraphrastic.encoding.tfidf import Tfidf


class Config(BaseModel, strict=True, extra="forbid"):
    """TF-IDF over words has no options."""


class TfidfWords(Tfidf[Config]):
    """Units are the tokens."""

    @staticmethod
    def cut(text: str, config: Config) -> list[str]:
        """The tokens of a tokenized sentence."""
        return text.split()


MODEL = TfidfWords
