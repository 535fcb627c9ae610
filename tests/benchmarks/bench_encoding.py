"""From raw text to vectors in sentences per second, beside model2vec and StaticEmbedding of sentence-transformers.

Run as `python -m tests.benchmarks.bench_encoding [FILE] [--threads 2] [--only NAME ...]` in the root of the repository,
after `pip install -e '.[external]'`. FILE has a sentence a line; without it the text is made up as for training. All
take the same list of Python strings, again and again up to `SENTENCES`, and give vectors of 300 dimensions, tokenizing
included; what a vocabulary holds is counted in the text, and vectors are random. Each run of a contestant is a process
of its own, in which the fastest of `CALLS` calls counts, after one that compiles. The contestants run by turns, and
each figure is the median over `--rounds`: of the speeds, and of the ratios within a round.

* This package: `Model.encode`, as `paraphrastic.load` gives it. `tfidf-words` has no vectors; its row is
  `Model.similarity` of each sentence with the next one, in pairs, against what the others take for vectors alone.
* model2vec: `StaticModel.encode` with the WordPiece tokenizer of BERT, trained on the text to 30,000 pieces.
* sentence-transformers: `encode` of a StaticEmbedding with the same tokenizer and as large batches as model2vec's.
"""

import argparse
import os
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from itertools import cycle, islice
from multiprocessing import get_context
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np
import pyarrow as pa
import torch

from paraphrastic import models
from paraphrastic.inference.model import Model
from paraphrastic.scoring.neural import TrainedEncoder
from paraphrastic.text.tokenizer import tokenize
from paraphrastic.vocabulary.counting import count_ngrams, count_words
from pipeline.params import load_params
from tests.benchmarks.bench_training import made_up

DIM, PIECES, SENTENCES, CALLS = 300, 30_000, 50_000, 3
THEIR_BATCH = 1024  # the default of model2vec; that of sentence-transformers, 32, is slower
ORDERS = (2, 3, 4)

Task = Callable[[list[str]], Any]


def main() -> None:
    """Print a row for each contestant: sentences per second, and how many times as fast it is as the two others."""
    options = arguments()
    names = [name for name in CONTESTANTS if not options.only or name in options.only or name in THEIRS]
    rounds = [{name: apart(name, options.file, options.threads) for name in names} for _ in range(options.rounds)]
    print(f"{options.threads} thread(s)", *(f"x {name}" for name in THEIRS), sep="\t")
    for name in names:
        ratios = (median(rates[name] / rates[other] for rates in rounds) for other in THEIRS)
        print(f"{name:22} {median(rates[name] for rates in rounds):10,.0f}", *(f"{r:.2f}" for r in ratios), sep="\t")


def arguments() -> argparse.Namespace:
    """The options of the command line."""
    parser = argparse.ArgumentParser(description="Sentences per second from raw text to vectors.")
    parser.add_argument("file", nargs="?", type=Path, help="a sentence a line")
    parser.add_argument("--threads", type=int, default=2, help="of the CPU, for each contestant")
    parser.add_argument("--rounds", type=int, default=5, help="whose median counts")
    parser.add_argument("--only", nargs="+", choices=CONTESTANTS, metavar="NAME", help=f"of {', '.join(CONTESTANTS)}")
    return parser.parse_args()


def apart(name: str, file: Path | None, threads: int) -> float:
    """Sentences per second in a process of its own."""
    os.environ["RAYON_NUM_THREADS"] = str(threads)  # of the tokenizers that the others bring
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        return pool.submit(sentences_per_second, name, file, threads).result()


def sentences_per_second(name: str, file: Path | None, threads: int) -> float:
    """The fastest of some calls after the first."""
    torch.set_num_threads(threads)
    pa.set_cpu_count(threads)
    known = text(file)
    sentences, seconds = list(islice(cycle(known), SENTENCES)), []
    task = CONTESTANTS[name](known)
    for _ in range(CALLS + 1):
        start = perf_counter()
        task(sentences)
        seconds.append(perf_counter() - start)
    return SENTENCES / min(seconds[1:])


def text(file: Path | None) -> list[str]:
    """The sentences of a file, or made-up ones."""
    lines = file.read_text("utf-8").splitlines() if file else made_up().sentences.to_pylist()
    return [line for line in lines if line]


def trained(name: str, known: list[str]) -> Task:
    """The trained model `name` with its block of params.yaml."""
    config = models.config_class(name)(**load_params().models[name])
    encoder = models.model_class(name)(config, torch.Generator())
    tokens = tokenize(pa.array(known))
    counted = count_words(tokens) if encoder.units == "words" else count_ngrams(tokens, ORDERS, 2)
    units = counted["text"].combine_chunks()
    rows = len(units) + int(encoder.units == "words")  # and a row for unknown words
    return Model(Path(), name, {}, TrainedEncoder(encoder, torch.randn(rows, DIM), units)).encode


def tfidf_words(known: list[str]) -> Task:
    """Similarities by TF-IDF of words."""
    config = models.config_class("tfidf-words")()
    scorer = models.model_class("tfidf-words").fit(config, tokenize(pa.array(known)))
    model = Model(Path(), "tfidf-words", {}, scorer)
    return lambda sentences: model.similarity(sentences[:-1:2], sentences[1::2])


def model2vec(known: list[str]) -> Task:
    """A StaticModel."""
    from model2vec import StaticModel

    tokenizer = wordpiece(known)
    model = StaticModel(vectors(tokenizer), tokenizer)
    return lambda sentences: model.encode(sentences, batch_size=THEIR_BATCH, use_multiprocessing=False)


def static_embedding(known: list[str]) -> Task:
    """A StaticEmbedding as the only module of a SentenceTransformer."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import StaticEmbedding

    tokenizer = wordpiece(known)
    module = StaticEmbedding(tokenizer, embedding_weights=vectors(tokenizer))
    model = SentenceTransformer(modules=[module], device="cpu")
    return lambda sentences: model.encode(sentences, batch_size=THEIR_BATCH, show_progress_bar=False)


def wordpiece(known: list[str]) -> Any:
    """The tokenizer of BERT with a vocabulary for the text."""
    from tokenizers import BertWordPieceTokenizer, Tokenizer

    trainer = BertWordPieceTokenizer()
    trainer.train_from_iterator(known, PIECES, show_progress=False)
    tokenizer = Tokenizer.from_str(trainer.to_str())
    tokenizer.post_processor = None
    return tokenizer


def vectors(tokenizer: Any) -> np.ndarray:
    """A random vector for each piece, (pieces, DIM)."""
    return np.random.default_rng(1).standard_normal((tokenizer.get_vocab_size(), DIM), np.float32)


THEIRS = ("model2vec", "sentence-transformers")
CONTESTANTS: dict[str, Callable[[list[str]], Task]] = {
    "model2vec": model2vec,
    "sentence-transformers": static_embedding,
    "avg": lambda known: trained("avg", known),
    "charagram": lambda known: trained("charagram", known),
    "tfidf-words": tfidf_words,
}


if __name__ == "__main__":
    main()
