"""A tagger: its network, the sentences that it reads, and from tokens to tags (charagram2016 §4.2).

The network goes from characters to words, by a bidirectional LSTM over words, to tags.
"""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import torch
from numpy.typing import NDArray
from torch import Generator, Tensor, nn

from paraphrastic.base.errors import DataError
from paraphrastic.finetuning.heads import finite
from paraphrastic.finetuning.options import TaggerConfig
from paraphrastic.finetuning.tasks import predictions
from paraphrastic.models import model_class
from paraphrastic.nn.batch import Batch, to_device
from paraphrastic.nn.layers import Dense, Encoder, dropout_mask
from paraphrastic.nn.peephole_lstm import PeepholeLstm
from paraphrastic.nn.recurrent import Packing
from paraphrastic.scoring.neural import length_batches
from paraphrastic.text.columns import Ragged
from paraphrastic.vocabulary.kinds import Vocabulary, build_vocabulary


class Network(nn.Module):
    """`y_t = [f_t; b_t] W + c`, with f and b the states of a forward and a backward peephole LSTM over words.

    The LSTMs read `[g(w_t); capital(w_t)]`: the word vector, and 1 if the word has a capital letter.

    Args:
        config: options.
        tags: number of tags.
        generator: source of the initial weights.
    """

    encoder: Encoder

    def __init__(self, config: TaggerConfig, tags: int, generator: Generator) -> None:
        super().__init__()
        self._dropout = config.lstm_dropout
        encoder_class: Any = model_class(config.encoder)
        self.encoder = encoder_class(config, generator)
        lstm = self.encoder.out_dim + 1, config.hidden_dim, True, generator, config.matmul_dtype
        self.forward_lstm, self.backward_lstm = PeepholeLstm(*lstm), PeepholeLstm(*lstm)
        self.output = Dense(2 * config.hidden_dim, tags, "linear", generator)

    def forward(self, embeddings: Tensor, words: Batch, capital: Tensor, tokens: Batch) -> Tensor:
        """Return logits of the tags, (N, tags), in reading order.

        Args:
            embeddings: (rows, dim), the embedding table of characters or n-grams.
            words: W distinct words.
            capital: (W,), 1 for words with a capital letter, 0 for others.
            tokens: sentences of N tokens in total, as rows of `words`.
        """
        packing = Packing.of(tokens)
        rows = tokens.ids[packing.order]  # (N,), the word at each packed position
        vectors = self._drop(torch.cat([self.encoder(embeddings, words), capital.unsqueeze(1)], 1))  # (W, dim + 1)
        # the products of a word with the LSTM's weights are computed once, however often the word occurs
        forward = self.forward_lstm(vectors, packing.batch_sizes, rows)  # (N, hidden)
        backward = self.backward_lstm(vectors, packing.batch_sizes, packing.reverse(rows))  # (N, hidden), last first
        states = self._drop(torch.cat([forward, packing.reverse(backward)], 1))  # (N, 2 hidden)
        logits = self.output(states)  # (N, tags)
        return torch.empty_like(logits).index_copy(0, packing.order, logits)

    def _drop(self, vectors: Tensor) -> Tensor:
        if not (self.training and self._dropout):
            return vectors
        return vectors * dropout_mask(vectors.shape, vectors, self._dropout)


@dataclass(frozen=True)
class TaggedSentences:
    """n sentences with W distinct words."""

    words: Ragged  # the characters or n-grams of each word, W rows
    capital: NDArray[np.float32]  # (W,) float32, 1 if the word has a capital letter (charagram2016 §4.2)
    tokens: Ragged  # n rows, the word of each token

    @classmethod
    def of(cls, table: pa.Table, vocabulary: Vocabulary, lowercase: bool) -> "TaggedSentences":
        """Return the sentences of a table with columns `sentence` and `token`, in its order.

        Args:
            table: one row per token; a sentence ends where its number changes.
            vocabulary: of the characters or n-grams.
            lowercase: the vocabulary's entries are those of words in lower case.
        """
        tokens = table["token"].combine_chunks().dictionary_encode()
        words = tokens.dictionary
        capital = pc.match_substring_regex(words, r"\p{Lu}").to_numpy(zero_copy_only=False)
        sentence = table["sentence"].to_numpy()
        starts = np.flatnonzero(np.diff(sentence, prepend=sentence[:1] - 1))
        rows = Ragged(tokens.indices.to_numpy(), np.append(starts, len(sentence)).astype(np.int64))
        read = pc.utf8_lower(words) if lowercase else words  # then the capital-letter feature alone represents case
        return cls(vocabulary.lookup(read), capital.astype(np.float32), rows)

    def __len__(self) -> int:
        return len(self.tokens)

    def take(self, rows: NDArray[np.integer]) -> "TaggedSentences":
        """Return the sentences `rows` in that order, with the words that they use."""
        tokens = self.tokens.take(rows)
        words, ids = np.unique(tokens.ids, return_inverse=True)
        tokens = Ragged(ids.astype(np.int32), tokens.offsets)
        return TaggedSentences(self.words.take(words), self.capital[words], tokens)


def refuse_empty(table: pa.Table, what: str) -> None:
    """Raise a DataError if a table has no tokens; `what` is its name in the message."""
    if not len(table):
        raise DataError(f"{what}: no tagged tokens; check the names of its set and split")


class Tagger:
    """Tags the tokens of sentences.

    Attributes:
        config: options.
        network: composes words and scores tags.
        embeddings: (rows, dim), the embedding table of characters or n-grams.
        texts: entries of the vocabulary.
        tags: the tags of the training tokens, in the order of the network's outputs.
        vocabulary: maps words to rows of the embedding table.
    """

    def __init__(
        self, config: TaggerConfig, network: Network, embeddings: Tensor, texts: pa.StringArray, tags: pa.StringArray
    ) -> None:
        self.config, self.network, self.embeddings, self.texts, self.tags = config, network, embeddings, texts, tags
        self.vocabulary = build_vocabulary(network.encoder.vocabulary, texts)

    def to(self, device: torch.device) -> Self:
        """Move the tagger to `device` and return it."""
        self.network.to(device)
        self.embeddings = self.embeddings.to(device)
        return self

    def tag(self, tokens: pa.Table) -> pa.StringArray:
        """Return the tag of each token, (N,).

        Args:
            tokens: table of `sentence` and `token`, one row per token; a sentence ends where its number changes.
        """
        return self.tags.take(self._predict(self.sentences(tokens)))

    def accuracy(self, table: pa.Table) -> float:
        """Return the share of the tokens of a table `tagged_tokens` that are tagged correctly, in percent.

        A tag that no training token has is never predicted, so its tokens count as errors.

        Raises:
            DataError: the table is empty.
        """
        refuse_empty(table, "tagging")
        correct = pc.mean(pc.equal(self.tag(table), table["tag"].combine_chunks())).as_py()
        return 100 * float(correct)

    def predictions(self, table: pa.Table) -> pa.Table:
        """Return the tokens of one split of a table `tagged_tokens` with their tags, in the columns of `PREDICTIONS`.

        Tags are numbered as `tags`, from 0.
        """
        gold = pc.fill_null(pc.index_in(table["tag"].combine_chunks(), self.tags), -1)
        return predictions("tagged_tokens", table["split"][0].as_py(), gold, self._predict(self.sentences(table)))

    def sentences(self, tokens: pa.Table) -> TaggedSentences:
        """Return the sentences of a table of `sentence` and `token` in the vocabulary of the tagger."""
        return TaggedSentences.of(tokens, self.vocabulary, self.config.lowercase)

    def inputs(self, sentences: TaggedSentences) -> tuple[Batch, Tensor, Batch]:
        """Return the arguments of the network for `sentences`: words, capital-letter features, tokens."""
        device, dtype = self.embeddings.device, self.embeddings.dtype
        words, tokens = (Batch.of(ids, device, dtype) for ids in (sentences.words, sentences.tokens))
        return words, to_device(sentences.capital, device).to(dtype), tokens

    @torch.no_grad()
    def _predict(self, sentences: TaggedSentences) -> NDArray[np.int64]:
        """Return the row of `tags` for each token, (N,)."""
        self.network.eval()
        out = self.embeddings.new_empty(len(sentences.tokens.ids), dtype=torch.int64)
        for rows in length_batches(sentences.tokens.lengths):
            best = finite(self.network(self.embeddings, *self.inputs(sentences.take(rows)))).argmax(1)
            out.index_copy_(0, to_device(sentences.tokens.positions(rows), out.device), best)
        return out.cpu().numpy()
