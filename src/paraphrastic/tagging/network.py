"""From characters to tags: words, a bidirectional LSTM over them, and one layer (charagram2016 §4.2)."""

import torch
from torch import Generator, Tensor, nn
from torch.nn.functional import dropout

from paraphrastic import models
from paraphrastic.encoding.batch import Batch
from paraphrastic.encoding.dense import Dense
from paraphrastic.encoding.encoder import Encoder
from paraphrastic.encoding.packing import Packing
from paraphrastic.encoding.peephole import Peephole
from paraphrastic.tagging.options import TaggerConfig


class Network(nn.Module):
    """`y_t = [h_t; h'_t] W + b`, h and h' being the states of peephole LSTMs that read `[g(w_t); capital(w_t)]`.

    Args:
        config: its options.
        tags: how many there are.
        generator: source of the first weights.
    """

    encoder: Encoder

    def __init__(self, config: TaggerConfig, tags: int, generator: Generator) -> None:
        super().__init__()
        self._dropout = config.lstm_dropout
        self.encoder = models.implementation(config.encoder)(config, generator)
        sizes = self.encoder.out_dim + 1, config.hidden
        self.ahead, self.back = (Peephole(*sizes, True, generator, config.reduced) for _ in "→←")
        self.output = Dense(2 * config.hidden, tags, "linear", generator)

    def forward(self, table: Tensor, words: Batch, capital: Tensor, tokens: Batch) -> Tensor:
        """Scores of the tags before the softmax, (N, tags), in reading order.

        Args:
            table: (rows, dim) vectors of characters or n-grams.
            words: W distinct words.
            capital: (W,) 1 for those with a capital letter.
            tokens: sentences of N tokens, as numbers of words.
        """
        packing = Packing.of(tokens)
        places = tokens.ids[packing.order]
        vectors = self._drop(torch.cat([self.encoder(table, words), capital.unsqueeze(1)], 1))
        states = self._drop(self._states(vectors, places, packing))
        scores = self.output(states)
        return torch.empty_like(scores).index_copy(0, packing.order, scores)

    def _states(self, vectors: Tensor, places: Tensor, packing: Packing) -> Tensor:
        """Both states of each place, (N, 2 hidden); a word's products are made once, wherever it stands."""
        ahead = self.ahead(vectors, packing.sizes, places)
        back = self.back(vectors, packing.sizes, places[packing.mirror])
        return torch.cat([ahead, back.index_select(0, packing.mirror)], 1)

    def _drop(self, vectors: Tensor) -> Tensor:
        return dropout(vectors, self._dropout, self.training) if self._dropout else vectors
