"""Sentences per second from raw text to vectors, compared with model2vec and sentence-transformers.

Run `python -m tests.benchmarks.bench_encoding [FILE] [--threads 2] [--rounds 5] [--only NAME ...]` in the root of the
repository, after `pip install -e '.[external]'`. FILE has one sentence per line; without it the text is random. All
models take the same list of 50,000 Python strings, in which the sentences of the text are repeated, and return vectors
of 300 dimensions; tokenizing is included. Vocabularies are counted in the text, and embeddings are random.

Each measurement runs in a process of its own, in which the fastest of three calls counts, after one call that compiles.
The models take turns. Each number is the median over `--rounds`: of the speeds, and of the ratios within a round.

* This package: `Model.encode` of `paraphrastic.load`. `tfidf-words` has no vectors; its row is `Model.similarity` of
  each sentence and the next one, which the others would have to compute after the vectors.
* model2vec: `StaticModel.encode` with BERT's WordPiece tokenizer, trained on the text to 30,000 pieces.
* sentence-transformers: `encode` of a StaticEmbedding with the same tokenizer, and the batch size of model2vec.
"""

import argparse
import os
from collections.abc import Callable
from functools import partial
from itertools import cycle, islice
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import numpy as np
import pyarrow as pa
import torch
from numpy.typing import NDArray

import paraphrastic
from paraphrastic import models
from paraphrastic.base.parameters import load_params
from paraphrastic.inference.model import Model, ModelInfo
from paraphrastic.inference.model_folder import write_model
from paraphrastic.scoring.neural import trained_model
from paraphrastic.text.tokenizer import tokenize
from paraphrastic.vocabulary.counting import count_ngrams, count_words
from tests.benchmarks.measuring import in_own_process
from tests.benchmarks.pair_corpus import ORDERS, random_corpus

DIM, PIECES, SENTENCES, CALLS = 300, 30_000, 50_000, 3
BATCH_SIZE = 1024  # the default of model2vec; that of sentence-transformers, 32, is slower

Encode = Callable[[list[str]], Any]


def main() -> None:
    """Print the speed of each model, and its ratio to the speeds of the two other packages."""
    options = parse_arguments()
    names = [name for name in ENCODERS if not options.only or name in options.only or name in OTHER_PACKAGES]
    os.environ["RAYON_NUM_THREADS"] = str(options.threads)  # of the tokenizers of the other packages
    measure = partial(in_own_process, sentences_per_second)
    rounds = [{name: measure(name, options.file, options.threads) for name in names} for _ in range(options.rounds)]
    print(f"{options.threads} thread(s)", *(f"x {name}" for name in OTHER_PACKAGES), sep="\t")
    for name in names:
        ratios = (median(speeds[name] / speeds[other] for speeds in rounds) for other in OTHER_PACKAGES)
        print(f"{name:22} {median(speeds[name] for speeds in rounds):10,.0f}", *(f"{r:.2f}" for r in ratios), sep="\t")


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Sentences per second from raw text to vectors.")
    parser.add_argument("file", nargs="?", type=Path, help="text with one sentence per line")
    parser.add_argument("--threads", type=int, default=2, help="threads of the CPU for each model")
    parser.add_argument("--rounds", type=int, default=5, help="measurements of each model, of which the median counts")
    parser.add_argument("--only", nargs="+", choices=ENCODERS, metavar="NAME", help=f"of {', '.join(ENCODERS)}")
    return parser.parse_args()


def sentences_per_second(name: str, file: Path | None, threads: int) -> float:
    """Return the speed of the fastest call after the first."""
    torch.set_num_threads(threads)
    pa.set_cpu_count(threads)
    lines = file.read_text("utf-8").splitlines() if file else random_corpus().sentences.to_pylist()
    text = [line for line in lines if line]
    sentences, seconds = list(islice(cycle(text), SENTENCES)), []
    encode = ENCODERS[name](text)
    for _ in range(CALLS + 1):
        start = perf_counter()
        encode(sentences)
        seconds.append(perf_counter() - start)
    return SENTENCES / min(seconds[1:])


def our_encoder(name: str, text: list[str]) -> Encode:
    """Return the encoder `name` of this package, with the options of params.yaml, as `paraphrastic.load` returns it."""
    config = models.config_class(name)(**load_params().models[name])
    module_class: Any = models.model_class(name)
    module = module_class(config, torch.Generator())
    tokens = tokenize(pa.array(text))
    counts = count_words(tokens) if module.vocabulary == "words" else count_ngrams(tokens, ORDERS, 2)
    entries = counts["text"].combine_chunks()
    rows = len(entries) + int(module.vocabulary == "words")  # words have a row for unknown words
    with TemporaryDirectory() as folder:
        write_model(
            trained_model(module, torch.randn(rows, DIM), entries), ModelInfo(name, config.model_dump()), Path(folder)
        )
        return paraphrastic.load(folder).encode


def tfidf_words(text: list[str]) -> Encode:
    """Return a function that computes similarities by TF-IDF of words."""
    model_class: Any = models.model_class("tfidf-words")
    scorer = model_class.fit(models.config_class("tfidf-words")(), tokenize(pa.array(text)))
    model = Model("tfidf-words", {}, folder=Path(), scorer=scorer)
    return lambda sentences: model.similarity_pairwise(sentences[:-1:2], sentences[1::2])


def model2vec(text: list[str]) -> Encode:
    """Return a StaticModel of model2vec."""
    from model2vec import StaticModel

    tokenizer = train_wordpiece(text)
    model = StaticModel(random_embeddings(tokenizer), tokenizer)
    return lambda sentences: model.encode(sentences, batch_size=BATCH_SIZE, use_multiprocessing=False)


def static_embedding(text: list[str]) -> Encode:
    """Return a SentenceTransformer whose only module is a StaticEmbedding."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import StaticEmbedding

    tokenizer = train_wordpiece(text)
    module = StaticEmbedding(tokenizer, embedding_weights=random_embeddings(tokenizer))
    model = SentenceTransformer(modules=[module], device="cpu")
    return lambda sentences: model.encode(sentences, batch_size=BATCH_SIZE, show_progress_bar=False)


def train_wordpiece(text: list[str]) -> Any:
    """Return BERT's tokenizer with a vocabulary for the text."""
    from tokenizers import BertWordPieceTokenizer, Tokenizer

    trainer = BertWordPieceTokenizer()
    trainer.train_from_iterator(text, PIECES, show_progress=False)
    tokenizer = Tokenizer.from_str(trainer.to_str())
    tokenizer.post_processor = None
    return tokenizer


def random_embeddings(tokenizer: Any) -> NDArray[np.float32]:
    """Return a random embedding for each piece, (pieces, DIM)."""
    return np.random.default_rng(1).standard_normal((tokenizer.get_vocab_size(), DIM), np.float32)


OTHER_PACKAGES = ("model2vec", "sentence-transformers")
ENCODERS: dict[str, Callable[[list[str]], Encode]] = {
    "model2vec": model2vec,
    "sentence-transformers": static_embedding,
    "avg": lambda text: our_encoder("avg", text),
    "charagram": lambda text: our_encoder("charagram", text),
    "tfidf-words": tfidf_words,
}


if __name__ == "__main__":
    main()
