"""A trained tagger: from tokens to tags, and to and from a folder."""

import json
from pathlib import Path
from typing import Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import torch
from numpy.typing import NDArray
from pydantic import ValidationError
from torch import Tensor

from paraphrastic.base.errors import ModelError, ParameterError
from paraphrastic.base.files import write_text
from paraphrastic.finetuning.tagging.network import Network
from paraphrastic.finetuning.tagging.tagged_sentences import TaggedSentences, refuse_empty
from paraphrastic.finetuning.tagging.tagger_config import TaggerConfig, tagger_config_class
from paraphrastic.nn.batch import Batch, to_device
from paraphrastic.scoring.neural import length_batches
from paraphrastic.scoring.weight_files import read_weights, write_weights
from paraphrastic.vocabulary.kinds import build_vocabulary

FORMAT = 2


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
        return self.tags.take(pa.array(self._predict(self.sentences(tokens))))

    def accuracy(self, table: pa.Table) -> float:
        """Return the share of the tokens of a table `tagged_tokens` that are tagged correctly, in percent.

        A tag that no training token has is never predicted, so its tokens count as errors.

        Raises:
            DataError: the table is empty.
        """
        refuse_empty(table, "tagging")
        correct = pc.mean(pc.equal(self.tag(table), table["tag"].combine_chunks())).as_py()
        return 100 * float(correct)

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
            best = self.network(self.embeddings, *self.inputs(sentences.take(rows))).argmax(1)
            out.index_copy_(0, to_device(sentences.tokens.positions(rows), out.device), best)
        return out.cpu().numpy()

    def save(self, folder: Path) -> None:
        """Write the tagger to `folder`."""
        weights = {"embeddings": self.embeddings} | self.network.state_dict()
        arrays = {name: tensor.detach().cpu().numpy() for name, tensor in weights.items()}
        content = {"format": FORMAT, "tagger": self.config.encoder, "config": self.config.model_dump()}
        content |= {"tags": self.tags.to_pylist(), **write_weights(folder, self.texts, arrays)}
        write_text(folder / "config.json", json.dumps(content, indent=2) + "\n")

    @classmethod
    def load(cls, folder: Path) -> "Tagger":
        """Load the tagger that `save` wrote to `folder`.

        Raises:
            ModelError: it is missing or damaged.
        """
        config, tags = _read_config(folder / "config.json")
        texts, arrays = read_weights(folder)
        weights = {name: torch.from_numpy(array) for name, array in arrays.items()}
        network = Network(config, len(tags), torch.Generator())
        try:
            embeddings = weights.pop("embeddings")
            network.load_state_dict(weights)
        except (KeyError, RuntimeError) as error:
            raise ModelError(f"{folder}/weights.safetensors: not the weights of this tagger; train it again") from error
        return cls(config, network, embeddings, texts, tags)


def _read_config(path: Path) -> tuple[TaggerConfig, pa.StringArray]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        if content["format"] != FORMAT:
            raise ModelError(f"{path}: tagger format {content['format']}, this version reads {FORMAT}; train it again")
        config_class = tagger_config_class(content["tagger"])
        config = config_class(**content["config"])
        return config, pa.array(content["tags"], pa.string())
    except OSError as error:
        raise ModelError(f"{path.parent}: no tagger here; train one") from error
    except (ValueError, KeyError, TypeError, ParameterError, ValidationError, pa.ArrowException) as error:
        raise ModelError(f"{path}: damaged, or not the configuration of a tagger; train it again") from error
