"""Training of comparable models with sentence-transformers and with plain PyTorch, on the same batches."""

from collections.abc import Callable, Iterable

import numpy as np
import pyarrow as pa
import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence

from paraphrastic.text.columns import Ragged
from paraphrastic.training.losses import margin_loss, negative_mask
from paraphrastic.vocabulary.kinds import WordVocabulary
from paraphrastic.vocabulary.ngrams import NgramVocabulary
from tests.benchmarks.pair_corpus import BATCH, PAIR_COUNT, PairCorpus, batches

DIM = 300
MARGIN, LEARNING_RATE = 0.4, 0.001

OnStep = Callable[[int], None]


def train_static_embedding(corpus: PairCorpus, steps: int, on_step: OnStep) -> None:
    """Train the averaging model of sentence-transformers."""
    from sentence_transformers.sentence_transformer.modules import StaticEmbedding
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import WhitespaceSplit

    vocabulary = {word: row for row, word in enumerate(corpus.words)}
    tokenizer = Tokenizer(WordLevel(vocabulary, unk_token=corpus.words[0]))
    tokenizer.pre_tokenizer = WhitespaceSplit()
    train_sentence_transformer([StaticEmbedding(tokenizer, embedding_dim=DIM)], corpus, steps, on_step)


def train_word_lstm(corpus: PairCorpus, steps: int, on_step: OnStep) -> None:
    """Train the LSTM of sentence-transformers over word embeddings, with the mean of its states."""
    from sentence_transformers.sentence_transformer.modules import LSTM, Pooling, WordEmbeddings
    from sentence_transformers.sentence_transformer.modules.tokenizer import WhitespaceTokenizer

    tokenizer = WhitespaceTokenizer(["PADDING_TOKEN", *corpus.words], stop_words=())
    embeddings = torch.randn(len(corpus.words) + 1, DIM) * DIM**-0.5
    words = WordEmbeddings(tokenizer, embeddings, update_embeddings=True)
    modules = [words, LSTM(DIM, DIM, bidirectional=False), Pooling(DIM, "mean")]
    train_sentence_transformer(modules, corpus, steps, on_step)


def train_sentence_transformer(modules: list[nn.Module], corpus: PairCorpus, steps: int, on_step: OnStep) -> None:
    """Train modules of sentence-transformers with its collator and its loss."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.data_collator import SentenceTransformerDataCollator
    from sentence_transformers.sentence_transformer.losses import MultipleNegativesRankingLoss

    model = SentenceTransformer(modules=modules, device="cpu").train()
    collate, loss = SentenceTransformerDataCollator(model.preprocess), MultipleNegativesRankingLoss(model)
    optimizer, texts = torch.optim.Adam(model.parameters(), lr=LEARNING_RATE), corpus.sentences.to_pylist()
    pairs = zip(texts[:PAIR_COUNT], texts[PAIR_COUNT:], strict=True)
    examples = [{"anchor": anchor, "positive": positive} for anchor, positive in pairs]
    for step, rows in enumerate(batches(steps), 1):
        batch = collate([examples[row] for row in rows[:BATCH]])
        optimizer.zero_grad()
        loss([features_of(batch, column) for column in ("anchor", "positive")], None).backward()
        optimizer.step()
        on_step(step)


def features_of(batch: dict[str, Tensor], column: str) -> dict[str, Tensor]:
    """Return the features of one column, as the trainer of sentence-transformers passes them to the loss."""
    return {key.removeprefix(f"{column}_"): value for key, value in batch.items() if key.startswith(f"{column}_")}


def train_torch_avg(corpus: PairCorpus, steps: int, on_step: OnStep) -> None:
    """Train `nn.EmbeddingBag` as the mean of word embeddings."""
    sentences = split_ids(WordVocabulary(pa.array(corpus.words)).lookup(corpus.sentences))
    module = nn.EmbeddingBag(len(corpus.words) + 1, DIM)
    train_torch(module, lambda rows: concatenate(choose(sentences, rows)), steps, on_step)


def train_torch_charagram(corpus: PairCorpus, steps: int, on_step: OnStep) -> None:
    """Train `nn.EmbeddingBag` as the weighted sum of n-gram embeddings."""
    ngrams = corpus.counts("ngrams")["text"]
    ragged = NgramVocabulary(ngrams).lookup(corpus.sentences)
    counts = torch.from_numpy(np.sqrt(ragged.count_values(np.float32)))
    sentences, weights = split_ids(ragged), counts.split(ragged.lengths.tolist())
    module = nn.EmbeddingBag(len(ngrams), DIM, mode="sum")

    def collate(rows: Iterable[int]) -> tuple[Tensor, ...]:
        return *concatenate(choose(sentences, rows)), torch.cat(choose(weights, rows))

    train_torch(module, collate, steps, on_step)


def train_torch_lstmavg(corpus: PairCorpus, steps: int, on_step: OnStep) -> None:
    """Train `nn.LSTM` on padded batches, with the mean of its states."""
    sentences = split_ids(WordVocabulary(pa.array(corpus.words)).lookup(corpus.sentences))

    def collate(rows: Iterable[int]) -> tuple[Tensor, ...]:
        chosen = choose(sentences, rows)
        return pad_sequence(chosen, True), lengths_of(chosen)

    train_torch(LstmAvg(len(corpus.words)), collate, steps, on_step)


class LstmAvg(nn.Module):
    """The mean of the states of an LSTM."""

    def __init__(self, words: int) -> None:
        super().__init__()
        self.embeddings = nn.Embedding(words + 1, DIM)
        self.lstm = nn.LSTM(DIM, DIM, batch_first=True)

    def forward(self, ids: Tensor, lengths: Tensor) -> Tensor:
        """Return vectors (B, dim) of padded ids (B, steps)."""
        states, _ = self.lstm(self.embeddings(ids))  # (B, steps, dim)
        present = torch.arange(ids.shape[1]) < lengths.unsqueeze(1)  # (B, steps)
        return (states * present.unsqueeze(2)).sum(1) / lengths.unsqueeze(1)


def train_torch(
    module: nn.Module, collate: Callable[[Iterable[int]], tuple[Tensor, ...]], steps: int, on_step: OnStep
) -> None:
    """Train a module on the arguments that `collate` returns for the sentences of a batch."""
    optimizer, generator = torch.optim.Adam(module.parameters(), lr=LEARNING_RATE), np.random.default_rng(1)
    for step, rows in enumerate(batches(steps), 1):
        optimizer.zero_grad()
        ids = torch.from_numpy(rows)
        mask = negative_mask(ids, ids[:BATCH])
        margin_loss(module(*collate(rows)), mask, MARGIN, "max", generator).backward()
        optimizer.step()
        on_step(step)


def split_ids(ragged: Ragged) -> tuple[Tensor, ...]:
    """Return the ids of each sentence."""
    return torch.from_numpy(ragged.ids.astype(np.int64)).split(ragged.lengths.tolist())


def choose(parts: tuple[Tensor, ...], rows: Iterable[int]) -> list[Tensor]:
    return [parts[row] for row in rows]


def lengths_of(parts: list[Tensor]) -> Tensor:
    return torch.tensor([len(part) for part in parts])


def concatenate(parts: list[Tensor]) -> tuple[Tensor, Tensor]:
    """Return all ids, and the position at which each sentence begins."""
    ends = lengths_of(parts).cumsum(0)
    return torch.cat(parts), torch.cat([ends.new_zeros(1), ends[:-1]])
