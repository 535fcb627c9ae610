"""The tagger's network: from characters to words, a bidirectional LSTM over words, and tags (charagram2016 §4.2)."""

from typing import Any

import torch
from torch import Generator, Tensor, nn

from paraphrastic.finetuning.tagging.tagger_config import TaggerConfig
from paraphrastic.models import model_class
from paraphrastic.nn.batch import Batch
from paraphrastic.nn.encoder import Encoder
from paraphrastic.nn.layers import Dense, dropout_mask
from paraphrastic.nn.peephole_lstm import PeepholeLstm
from paraphrastic.nn.recurrent import Packing


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
