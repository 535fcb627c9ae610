"""Stage `vocabulary`: the training pairs → data/vocabulary, counted words, n-grams and characters."""

from pathlib import Path

from paraphrastic.base.parameters import load_params
from paraphrastic.vocabulary.corpus_counts import count_vocabulary
from pipeline.stage import run

CORPUS, VOCABULARY = Path("data/corpus"), Path("data/vocabulary")


def main() -> None:
    """Count words, character n-grams and characters over the distinct sentences, or over the pairs."""
    params = load_params()
    count_vocabulary(CORPUS, VOCABULARY, params.vocabulary)


if __name__ == "__main__":
    run(main)
