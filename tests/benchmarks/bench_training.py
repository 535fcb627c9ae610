"""Training in pairs per second, beside sentence-transformers and plain PyTorch.

Run as `python -m tests.benchmarks.bench_training [--threads 2] [--steps N] [--data data] [--only NAME ...]` in the
root of the repository. All take the same batches of 100 pairs, whose shape the first line states, and learn vectors
of 300 dimensions. The text is made up, or with `--data` what a run of the pipeline left: 20,000 of its pairs of
sentences, and its vocabularies, whose size is what dense Adam spends its time on. Each figure comes from a process of
its own: wall clock, the median of five windows of steps after one that compiles and first touches memory. `--threads`
holds for all, whatever the blocks say. Two
columns tell how many times as fast a row is as sentence-transformers (s-t) and as PyTorch: averages against
averages, recurrent models of words against an LSTM whose states are averaged.

* This package: `Training` as the stage runs it, with the blocks of params.yaml, but without noise. What has
  `products` is measured with bfloat16 and with float32.
* sentence-transformers (not among the dependencies: `pip install sentence-transformers`): its modules as they come,
  its collator, which tokenizes each batch, its in-batch loss, dense Adam. The LSTM reads one direction, as ours does.
* PyTorch: its modules on ids looked up beforehand, padded batches for the LSTM, the loss of this package, dense Adam.

The last two columns hold what a model of characters does against the arithmetic. Multiplying a state or a vector of
300 numbers by a matrix of n columns takes 600 n floating-point operations:

* charlstm: 2.16 million for each character. The state meets 1,200 columns, forward once, backward twice: for the
  gradient of what was multiplied and for that of the matrix. Inputs are multiplied once for each different character.
* charcnn: 0.945 million for each character, if 175 filters of each width of 2, 3 and 4 were products at every
  position, 1,575 columns, forward alone: only conv_max_pool have a gradient. The model takes no product per position, so its
  share may exceed 100 %.

The bound is the speed at which torch multiplies such matrices in the same type on the same threads, of 200 rows (the
sentences of a step) or 16,384 (about those of a batch), whichever is faster.
"""

import argparse
import math
import os
import random
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from multiprocessing import get_context
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import torch
from paraphrastic.training.match_trainer import MatchedPairs
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence

from paraphrastic import models
from paraphrastic.nn.encoder import PairEncoder
from paraphrastic.scoring.neural import trained_class
from paraphrastic.tables import PAIRS as PAIR_ROWS
from paraphrastic.tables import SENTENCES, read_table
from paraphrastic.training.checkpoint import Checkpoint
from paraphrastic.training.initial_embeddings import initial_embeddings
from paraphrastic.training.losses import margin_loss, negative_mask
from paraphrastic.training.pair_trainers import EncoderTrainer
from paraphrastic.training.sentence_pairs import Paraphrases
from paraphrastic.vocabulary.counting import NGRAM_COUNTS as NGRAM_COUNTS
from paraphrastic.vocabulary.counting import WORDS as WORD_COUNTS
from paraphrastic.vocabulary.counting import count_ngrams, count_words
from paraphrastic.vocabulary.ngrams import NgramVocabulary
from paraphrastic.vocabulary.ragged import Ragged
from paraphrastic.vocabulary.words import WordVocabulary
from pipeline.params import load_params

BATCH, DIM, WINDOWS = 100, 300, 5
WORDS, PAIRS, ORDERS = 40_000, 20_000, (2, 3, 4)  # batches repeat after PAIRS
MARGIN, RATE = 0.4, 0.001
QUIET = {"scramble": 0.0, "dropout": 0.0, "word_dropout": 0.0}
IN_ORDER = {"epochs": 1, "curriculum": True, "batch_size": BATCH, "dim": DIM, "negatives": "max"}
INSTALL = "sentence-transformers is not installed, its rows are left out: pip install sentence-transformers"

SYLLABLE = (  # onsets, nuclei and codas, the frequent ones first
    " s t b c d p m r l h f n w g st pr v tr j br ch sh th cl gr k cr sp bl fr dr qu fl pl sl y str z",
    "e a i o u ea y ou ee ai io ie oo",
    " n r s l t d m c nd p ng st ck x rt ss b g ll nt f",
)

OnStep = Callable[[object], None]


@dataclass(frozen=True)
class Text:
    """Sentences of pairs: sentence i of the first half is paired with sentence i of the second.

    Attributes:
        words: all that there are.
        sentences: the first sides, then the second.
        vocabularies: folder with what their stage has written; None where the sentences are all there is.
    """

    words: list[str]
    sentences: pa.StringArray
    vocabularies: Path | None = None

    def counted(self, units: str) -> pa.Table:
        """The vocabulary of `units` as its stage writes it; every word is in it, whether it occurs or not."""
        if self.vocabularies is not None:
            return read_table(self.vocabularies / f"{units}.parquet", WORD_COUNTS if units == "words" else NGRAM_COUNTS)
        if units == "words":
            return count_words(pa.concat_arrays([self.sentences, pa.array([" ".join(self.words)])]))
        return count_ngrams(self.sentences, ORDERS if units == "ngrams" else (1,), 2)


@dataclass(frozen=True)
class Contestant:
    """What is measured.

    Attributes:
        run: trains on a text for so many steps and reports each.
        steps: how many make a window, unless said otherwise.
        theirs: name of the row of sentence-transformers to compare with.
        plain: name of the row of PyTorch.
        flop: floating-point operations for each character.
        product: type and columns of the product that bounds them.
    """

    run: Callable[[Text, int, OnStep], None]
    steps: int
    theirs: str = ""
    plain: str = ""
    flop: int = 0
    product: tuple[str, int] = ("float32", 0)


def main() -> None:
    """Print a row for each contestant, the ones to compare with first."""
    options = arguments()
    names, text, rates = wanted(options.only), of_run(options.data) if options.data else made_up(), {}
    print(shape(text), f"{options.threads} thread(s)", sep="; ")
    print(row("", "pairs/s", "x s-t", "x torch", "characters/s", "of bound"), flush=True)
    for name in names:
        contestant = CONTESTANTS[name]
        steps = options.steps or contestant.steps
        rates[name] = apart(pairs_per_second, contestant.run, text, steps, options.threads)
        print(row(name, *figures(name, rates, text, options.threads)), flush=True)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Pairs per second in training.")
    parser.add_argument("--threads", type=int, default=2, help="of the CPU, for each contestant")
    parser.add_argument("--steps", type=int, help="in each window; by default about two seconds")
    parser.add_argument("--data", type=Path, help="folder `data` of a run, whose text to take")
    parser.add_argument("--only", nargs="+", choices=CONTESTANTS, metavar="NAME", help=f"of {', '.join(CONTESTANTS)}")
    return parser.parse_args()


def wanted(only: list[str] | None) -> Iterator[str]:
    """The contestants to measure; those that lack their package are left out, which is said."""
    missing = find_spec("sentence_transformers") is None
    chosen = [name for name in CONTESTANTS if not only or name in only]
    theirs = [name for name in chosen if missing and name.startswith("sentence-transformers")]
    if theirs:
        print(INSTALL)
    return (name for name in chosen if name not in theirs)


def row(name: str, *columns: str) -> str:
    return f"{name:29}" + "".join(f"{column:>14}" for column in columns)


def figures(name: str, rates: dict[str, float], text: Text, threads: int) -> Iterator[str]:
    """The columns of one row; a dash where there is nothing to compare with."""
    contestant, rate = CONTESTANTS[name], rates[name]
    yield f"{rate:,.0f}"
    for other in (contestant.theirs, contestant.plain):
        yield f"{rate / rates[other]:.2f}" if other in rates else "-"
    if contestant.flop:
        characters = rate * 2 * characters_per_sentence(text)
        yield f"{characters:,.0f}"
        yield f"{characters * contestant.flop / apart(flop_per_second, *contestant.product, threads):.0%}"


def apart(task: Callable[..., float], *inputs: Any) -> float:
    """What a task gives in a process of its own."""
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        return pool.submit(task, *inputs).result()


def pairs_per_second(run: Callable[[Text, int, OnStep], None], text: Text, steps: int, threads: int) -> float:
    os.environ["RAYON_NUM_THREADS"] = str(threads)  # of the tokenizer that sentence-transformers brings
    torch.set_num_threads(threads)
    torch.manual_seed(1)
    times: list[float] = []
    run(text, steps * (WINDOWS + 1), lambda _: times.append(perf_counter()))
    return BATCH * steps / median(np.diff(times[steps - 1 :: steps]))


def flop_per_second(products: str, columns: int, threads: int) -> float:
    torch.set_num_threads(threads)
    kind = getattr(torch, products)
    return max(
        speed(torch.randn(rows, DIM, dtype=kind), torch.randn(DIM, columns, dtype=kind)) for rows in (200, 16384)
    )


def speed(left: Tensor, right: Tensor) -> float:
    """Floating-point operations per second of `left @ right`, median of windows of about a tenth of a second."""
    out, work = left @ right, 2 * left.numel() * right.shape[1]
    times, seconds = math.ceil(1e10 / work), []
    for _ in range(WINDOWS + 1):
        start = perf_counter()
        for _ in range(times):
            torch.mm(left, right, out=out)
        seconds.append(perf_counter() - start)
    return times * work / median(seconds[1:])


def batches(steps: int) -> Iterator[np.ndarray]:
    """The sentences of each batch, (2 BATCH,): the left sides, then the right sides."""
    for first in range(0, steps * BATCH, BATCH):
        left = np.arange(first, first + BATCH) % PAIRS
        yield np.concatenate([left, PAIRS + left])


def ours(name: str, text: Text, steps: int, on_step: OnStep, products: str = "bfloat16", device: str = "cpu") -> None:
    """Train the model `name` of this package."""
    block = load_params().models[name]
    changes = {key: value for key, value in (QUIET | {"matmul_dtype": products}).items() if key in block}
    config = models.config_class(name)(**block | IN_ORDER | changes)
    generator = torch.Generator().manual_seed(1)
    encoder = models.model_class(name)(config, generator)
    start = initial_embeddings(encoder, config, text.counted(encoder.units), len(text.sentences), generator)
    model = trained_class(type(encoder))(encoder.to(device), start[1].to(device), start[0])
    rows, kind = np.arange(steps * BATCH) % PAIRS, MatchedPairs if isinstance(encoder, PairEncoder) else Pairs
    pairs = kind(model.vocabulary.lookup(text.sentences), rows, PAIRS + rows, np.zeros_like(rows), rows)
    with TemporaryDirectory() as folder:
        EncoderTrainer(model, pairs, config, 1, None).run(Checkpoint(Path(folder)), math.inf, on_step)


def static_embedding(text: Text, steps: int, on_step: OnStep) -> None:
    """Train the averaging model of sentence-transformers."""
    from sentence_transformers.sentence_transformer.modules import StaticEmbedding
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import WhitespaceSplit

    tokenizer = Tokenizer(WordLevel({word: n for n, word in enumerate(text.words)}, unk_token=text.words[0]))
    tokenizer.pre_tokenizer = WhitespaceSplit()
    theirs([StaticEmbedding(tokenizer, embedding_dim=DIM)], text, steps, on_step)


def word_lstm(text: Text, steps: int, on_step: OnStep) -> None:
    """Train the LSTM of sentence-transformers over word vectors, with the mean of its states."""
    from sentence_transformers.sentence_transformer.modules import LSTM, Pooling, WordEmbeddings
    from sentence_transformers.sentence_transformer.modules.tokenizer import WhitespaceTokenizer

    tokenizer = WhitespaceTokenizer(["PADDING_TOKEN", *text.words], stop_words=())
    words = WordEmbeddings(tokenizer, torch.randn(len(text.words) + 1, DIM) * DIM**-0.5, update_embeddings=True)
    theirs([words, LSTM(DIM, DIM, bidirectional=False), Pooling(DIM, "mean")], text, steps, on_step)


def theirs(modules: list[nn.Module], text: Text, steps: int, on_step: OnStep) -> None:
    """Train modules of sentence-transformers with its collator and its loss."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.data_collator import SentenceTransformerDataCollator
    from sentence_transformers.sentence_transformer.losses import MultipleNegativesRankingLoss

    model = SentenceTransformer(modules=modules, device="cpu").train()
    collate, loss = SentenceTransformerDataCollator(model.preprocess), MultipleNegativesRankingLoss(model)
    optimizer, sentences = torch.optim.Adam(model.parameters(), lr=RATE), text.sentences.to_pylist()
    examples = [{"anchor": a, "positive": b} for a, b in zip(sentences[:PAIRS], sentences[PAIRS:], strict=True)]
    for step, rows in enumerate(batches(steps)):
        batch = collate([examples[row] for row in rows[:BATCH]])
        optimizer.zero_grad()
        loss([of_column(batch, column) for column in ("anchor", "positive")], None).backward()
        optimizer.step()
        on_step(step)


def of_column(batch: dict[str, Tensor], column: str) -> dict[str, Tensor]:
    """The features of one column, as the trainer of sentence-transformers hands them to the loss."""
    return {key.removeprefix(f"{column}_"): value for key, value in batch.items() if key.startswith(f"{column}_")}


def torch_avg(text: Text, steps: int, on_step: OnStep) -> None:
    """Train `nn.EmbeddingBag` as the mean of word vectors."""
    sentences = tensors(WordVocabulary(pa.array(text.words)).lookup(text.sentences))
    plain(nn.EmbeddingBag(len(text.words) + 1, DIM), lambda rows: flat(by(sentences, rows)), steps, on_step)


def torch_charagram(text: Text, steps: int, on_step: OnStep) -> None:
    """Train `nn.EmbeddingBag` as the weighted sum of n-gram vectors."""
    vocabulary = text.counted("ngrams")["text"]
    bags = NgramVocabulary(vocabulary).lookup(text.sentences)
    sentences, weights = tensors(bags), torch.from_numpy(np.sqrt(bags.counts, dtype=np.float32)).split(lengths(bags))
    module = nn.EmbeddingBag(len(vocabulary), DIM, mode="sum")
    plain(module, lambda rows: (*flat(by(sentences, rows)), torch.cat(by(weights, rows))), steps, on_step)


def torch_lstmavg(text: Text, steps: int, on_step: OnStep) -> None:
    """Train `nn.LSTM` on padded batches, with the mean of its states."""
    sentences = tensors(WordVocabulary(pa.array(text.words)).lookup(text.sentences))
    plain(
        LstmAvg(len(text.words)),
        lambda rows: (pad_sequence(by(sentences, rows), True), sizes(by(sentences, rows))),
        steps,
        on_step,
    )


class LstmAvg(nn.Module):
    """The mean of the states of an LSTM."""

    def __init__(self, words: int) -> None:
        super().__init__()
        self.words = nn.Embedding(words + 1, DIM)
        self.lstm = nn.LSTM(DIM, DIM, batch_first=True)

    def forward(self, ids: Tensor, lengths: Tensor) -> Tensor:
        """(B, dim) from padded ids (B, steps)."""
        states, _ = self.lstm(self.words(ids))
        real = torch.arange(ids.shape[1]) < lengths.unsqueeze(1)  # (B, steps)
        return (states * real.unsqueeze(2)).sum(1) / lengths.unsqueeze(1)


def plain(
    module: nn.Module, collate: Callable[[Iterable[int]], tuple[Tensor, ...]], steps: int, on_step: OnStep
) -> None:
    """Train a module on what `collate` makes of the sentences of a batch."""
    optimizer, generator = torch.optim.Adam(module.parameters(), lr=RATE), np.random.default_rng(1)
    for step, rows in enumerate(batches(steps)):
        optimizer.zero_grad()
        ids = torch.from_numpy(rows)
        mask = negative_mask(ids, ids[:BATCH])
        margin_loss(module(*collate(rows)), mask, MARGIN, "max", generator).backward()
        optimizer.step()
        on_step(step)


def tensors(bags: Ragged) -> tuple[Tensor, ...]:
    """The units of each sentence."""
    return torch.from_numpy(bags.ids.astype(np.int64)).split(lengths(bags))


def lengths(bags: Ragged) -> list[int]:
    return bags.lengths.tolist()


def by(parts: tuple[Tensor, ...], rows: Iterable[int]) -> list[Tensor]:
    return [parts[row] for row in rows]


def sizes(parts: list[Tensor]) -> Tensor:
    return torch.tensor([len(part) for part in parts])


def flat(parts: list[Tensor]) -> tuple[Tensor, Tensor]:
    """All ids and where each sentence starts."""
    ends = sizes(parts).cumsum(0)
    return torch.cat(parts), torch.cat([ends.new_zeros(1), ends[:-1]])


def of_run(data: Path) -> Text:
    """20,000 pairs drawn from a run, both sides of more than three words."""
    sentences = read_table(data / "corpus" / "sentences.parquet", SENTENCES)["text"].combine_chunks()
    pairs = read_table(data / "corpus" / "pairs.parquet", PAIR_ROWS)
    sides = np.stack([pairs[side].to_numpy() for side in ("left", "right")])
    long = pc.greater(pc.count_substring(sentences, " "), 2).to_numpy(zero_copy_only=False)
    drawn = np.random.default_rng(1).choice(sides[:, long[sides].all(0)], PAIRS, replace=False, axis=1)
    words = read_table(data / "vocabulary" / "words.parquet", WORD_COUNTS)["text"].to_pylist()
    return Text(words, sentences.take(pa.array(drawn.ravel())), data / "vocabulary")


def made_up() -> Text:
    """Pairs of equally long sentences that share about half of their words, whose frequency falls as 1 / rank."""
    chance, words = np.random.default_rng(1), np.array(made_up_words(), object)
    sizes = np.maximum(chance.gamma(4, 4.12, PAIRS).round().astype(int), 3)
    odds = 1 / (np.arange(WORDS) + 1.5)
    left, other = chance.choice(WORDS, (2, sizes.sum()), p=odds / odds.sum())
    right = np.where(chance.random(len(left)) < 0.5, left, other)
    parts = (part for side in (left, right) for part in np.split(words[side], sizes.cumsum()[:-1]))
    return Text(words.tolist(), pa.array([" ".join(part) for part in parts]))


def made_up_words() -> list[str]:
    """WordVocabulary of some syllables, the more the later a word is made."""
    chance, made = random.Random(1), {}
    parts = [text.split(" ") for text in SYLLABLE]
    odds = [[1 / (n + 4) for n in range(len(part))] for part in parts]
    while len(made) < WORDS:
        more = chance.expovariate(1 / (0.01 + 0.1 * math.log1p(len(made) / 50)))
        syllables = range(1 + min(int(more), 4))
        made["".join(chance.choices(*part)[0] for _ in syllables for part in zip(parts, odds, strict=True))] = None
    return list(made)


def shape(text: Text) -> str:
    """What the text is like."""
    bags = WordVocabulary(pa.array(text.words)).lookup(text.sentences)
    distinct = np.mean([len(np.unique(bags.take(rows).ids)) for rows in batches(PAIRS // BATCH)])
    ngrams = sum(characters_per_sentence(text) - n + 1 for n in ORDERS)
    return (
        f"{len(bags.ids) / len(bags):.1f} tokens and {ngrams:.0f} n-grams per sentence; {distinct:,.0f} of "
        f"{len(text.words):,} words per batch of {BATCH} pairs; {len(text.counted('ngrams')):,} different n-grams"
    )


def characters_per_sentence(text: Text) -> float:
    """With one space added at each end."""
    return 2 + pc.mean(pc.utf8_length(text.sentences)).as_py()


def float32(name: str) -> Callable[[Text, int, OnStep], None]:
    return partial(ours, name, matmul_dtype="float32")


STATIC, WORD_LSTM = "sentence-transformers-avg", "sentence-transformers-lstmavg"
RECURRENT = {"theirs": WORD_LSTM, "plain": "torch-lstmavg"}
CHARACTERS = {"flop": 3 * 2 * DIM * 4 * DIM}
CONTESTANTS = {
    STATIC: Contestant(static_embedding, 30, plain="torch-avg"),
    WORD_LSTM: Contestant(word_lstm, 8, plain="torch-lstmavg"),
    "torch-avg": Contestant(torch_avg, 20, STATIC),
    "torch-lstmavg": Contestant(torch_lstmavg, 10, WORD_LSTM),
    "torch-charagram": Contestant(torch_charagram, 10),
    "avg": Contestant(partial(ours, "avg"), 500, STATIC, "torch-avg"),
    "lstm": Contestant(partial(ours, "lstm"), 30, **RECURRENT),
    "lstm-float32": Contestant(float32("lstm"), 20, **RECURRENT),
    "lstmavg": Contestant(partial(ours, "lstmavg"), 30, **RECURRENT),
    "lstmavg-float32": Contestant(float32("lstmavg"), 20, **RECURRENT),
    "gran": Contestant(partial(ours, "gran"), 20, **RECURRENT),
    "gran-float32": Contestant(float32("gran"), 15, **RECURRENT),
    "charagram": Contestant(partial(ours, "charagram"), 80, plain="torch-charagram"),
    "charcnn": Contestant(partial(ours, "charcnn"), 20, flop=2 * DIM * 1575, product=("float32", 1575)),
    "charlstm": Contestant(partial(ours, "charlstm"), 6, **CHARACTERS, product=("bfloat16", 4 * DIM)),
    "charlstm-float32": Contestant(float32("charlstm"), 4, **CHARACTERS, product=("float32", 4 * DIM)),
}


if __name__ == "__main__":
    main()
