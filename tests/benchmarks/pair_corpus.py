"""Text to measure with: pairs of random sentences, or pairs from a run of the pipeline."""

import math
import random
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from paraphrastic.base.tables import NGRAM_COUNTS, PAIRS, SENTENCES, WORD_COUNTS, read_table
from paraphrastic.vocabulary.counting import count_ngrams, count_words
from paraphrastic.vocabulary.kinds import WordVocabulary

BATCH, PAIR_COUNT, WORD_COUNT = 100, 20_000, 40_000  # batches repeat after PAIR_COUNT pairs
ORDERS = (2, 3, 4)  # of character n-grams

SYLLABLE = (  # onsets, nuclei and codas, the frequent ones first
    " s t b c d p m r l h f n w g st pr v tr j br ch sh th cl gr k cr sp bl fr dr qu fl pl sl y str z",
    "e a i o u ea y ou ee ai io ie oo",
    " n r s l t d m c nd p ng st ck x rt ss b g ll nt f",
)


@dataclass(frozen=True)
class PairCorpus:
    """Pairs of sentences: sentence i of the first half is paired with sentence i of the second half."""

    words: list[str]  # the vocabulary
    sentences: pa.StringArray  # the first sentences of all pairs, then the second ones
    vocabularies: Path | None = None  # folder with the tables of the stage `vocabulary`; None to count in the sentences

    def counts(self, kind: str) -> pa.Table:
        """Return the vocabulary of one kind as its stage writes it; all words are in it, also those not used."""
        if self.vocabularies is not None:
            return read_table(self.vocabularies / f"{kind}.parquet", WORD_COUNTS if kind == "words" else NGRAM_COUNTS)
        if kind == "words":
            return count_words(pa.concat_arrays([self.sentences, pa.array([" ".join(self.words)])]))
        return count_ngrams(self.sentences, ORDERS if kind == "ngrams" else (1,), 2)


def describe(corpus: PairCorpus) -> str:
    """Return one line about the size of sentences, batches and vocabularies."""
    ragged = WordVocabulary(pa.array(corpus.words)).lookup(corpus.sentences)
    rows = np.arange(PAIR_COUNT).reshape(-1, BATCH)
    distinct = np.mean([len(np.unique(ragged.take(np.r_[each, PAIR_COUNT + each]).ids)) for each in rows])
    characters = 2 + pc.mean(pc.utf8_length(corpus.sentences)).as_py()  # with one space added at each end
    ngrams = sum(characters - n + 1 for n in ORDERS)
    return (
        f"{len(ragged.ids) / len(ragged):.1f} tokens and {ngrams:.0f} n-grams per sentence; {distinct:,.0f} of "
        f"{len(corpus.words):,} words per batch of {BATCH} pairs; {len(corpus.counts('ngrams')):,} different n-grams"
    )


def corpus_of_run(data: Path) -> PairCorpus:
    """Return PAIR_COUNT pairs of a run of the pipeline, whose sentences have more than three words."""
    sentences = read_table(data / "corpus" / "sentences.parquet", SENTENCES)["text"].combine_chunks()
    pairs = read_table(data / "corpus" / "pairs.parquet", PAIRS)
    sides = np.stack([pairs[side].to_numpy() for side in ("left", "right")])
    is_long = pc.greater(pc.count_substring(sentences, " "), 2).to_numpy(zero_copy_only=False)
    candidates = sides[:, is_long[sides].all(0)]
    if candidates.shape[1] < PAIR_COUNT:
        raise SystemExit(f"{data}: {candidates.shape[1]:,} pairs of long sentences; {PAIR_COUNT:,} are needed")
    chosen = np.random.default_rng(1).choice(candidates, PAIR_COUNT, replace=False, axis=1)
    words = read_table(data / "vocabulary" / "words.parquet", WORD_COUNTS)["text"].to_pylist()
    return PairCorpus(words, sentences.take(pa.array(chosen.ravel())), data / "vocabulary")


def random_corpus() -> PairCorpus:
    """Return pairs of equally long sentences that share half of their words; word frequency falls as 1 / rank."""
    generator, words = np.random.default_rng(1), np.array(random_words(), object)
    lengths = np.maximum(generator.gamma(4, 4.12, PAIR_COUNT).round().astype(int), 3)
    odds = 1 / (np.arange(WORD_COUNT) + 1.5)
    left, other = generator.choice(WORD_COUNT, (2, lengths.sum()), p=odds / odds.sum())
    right = np.where(generator.random(len(left)) < 0.5, left, other)
    parts = (part for side in (left, right) for part in np.split(words[side], lengths.cumsum()[:-1]))
    return PairCorpus(words.tolist(), pa.array([" ".join(part) for part in parts]))


def random_words(count: int = WORD_COUNT) -> list[str]:
    """Return `count` distinct words of one to five syllables; later, rarer words are longer."""
    generator, words = random.Random(1), dict[str, None]()
    parts = [text.split(" ") for text in SYLLABLE]
    odds = [[1 / (n + 4) for n in range(len(part))] for part in parts]
    while len(words) < count:
        more = generator.expovariate(1 / (0.01 + 0.1 * math.log1p(len(words) / 50)))
        syllables = range(1 + min(int(more), 4))
        letters = (generator.choices(*part)[0] for _ in syllables for part in zip(parts, odds, strict=True))
        words["".join(letters)] = None
    return list(words)
