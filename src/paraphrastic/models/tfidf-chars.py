"""TF-IDF over character n-grams."""

from pydantic import BaseModel, Field

from paraphrastic.encoding.tfidf import Tfidf


class Config(BaseModel, strict=True, extra="forbid"):
    """Options of TF-IDF over characters.

    Attributes:
        order: characters per n-gram; a space counts.
    """

    order: int = Field(3, ge=1, le=6)


class TfidfChars(Tfidf[Config]):
    """Units are all windows of `order` characters."""

    @staticmethod
    def cut(text: str, config: Config) -> list[str]:
        """The windows of a tokenized sentence."""
        return [text[i : i + config.order] for i in range(len(text) - config.order + 1)]


MODEL = TfidfChars
