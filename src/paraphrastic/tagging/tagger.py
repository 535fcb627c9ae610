"""A tagger with its vocabulary and tags: from tokens to tags, and to and from a folder."""

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import torch
from numpy.typing import NDArray
from pydantic import ValidationError
from torch import Tensor

from paraphrastic.encoding.batch import Batch
from paraphrastic.encoding.store import read_weights, write_weights
from paraphrastic.encoding.trained import by_length
from paraphrastic.errors import ModelError, ParameterError
from paraphrastic.tagging.network import Network
from paraphrastic.tagging.options import TaggerConfig, options
from paraphrastic.tagging.sentences import Sentences, refuse_empty

FORMAT = 1


class Tagger:
    """What tags the tokens of sentences.

    Attributes:
        config: its options.
        network: the part that composes and decides.
        table: (rows, dim) vectors of characters or n-grams.
        texts: these in row order.
        tags: (tags,) those of the training tokens, in the order of the scores.
        units: the vocabulary, words to rows of the table.
    """

    def __init__(
        self, config: TaggerConfig, network: Network, table: Tensor, texts: pa.StringArray, tags: pa.StringArray
    ) -> None:
        self.config, self.network, self.table, self.texts, self.tags = config, network, table, texts, tags
        self.units = network.encoder.reader(texts)

    def tag(self, tokens: pa.Table) -> pa.StringArray:
        """The tag of each token, (N,).

        Args:
            tokens: `sentence` and `token`, one row per token; a sentence ends where its number changes.
        """
        return self.tags.take(pa.array(self._best(Sentences.of(tokens, self.units))))

    def accuracy(self, table: pa.Table) -> float:
        """Share of the tokens of a table `tagged_tokens` that get their tag, in percent.

        A tag that no training token has is never given, so that its tokens count as errors.

        Raises:
            DataError: the table is empty.
        """
        refuse_empty(table, "tagging")
        right = pc.equal(self.tag(table), table["tag"].combine_chunks())
        return 100 * pc.mean(right).as_py()

    def inputs(self, sentences: Sentences) -> tuple[Batch, Tensor, Batch]:
        """What the network reads of sentences."""
        device, dtype = self.table.device, self.table.dtype
        words, tokens = (Batch.of(bags, device, dtype) for bags in (sentences.units, sentences.tokens))
        return words, torch.from_numpy(sentences.capital).to(device, dtype), tokens

    @torch.no_grad()
    def _best(self, sentences: Sentences) -> NDArray[np.int64]:
        self.network.eval()
        out = np.empty(len(sentences.tokens.ids), np.int64)
        for rows in by_length(sentences.tokens.lengths):
            best = self.network(self.table, *self.inputs(sentences.take(rows))).argmax(1)
            out[sentences.tokens.places(rows)] = best.cpu().numpy()
        return out

    def save(self, folder: Path) -> None:
        """Write the tagger to `folder`, so that `load` gives it back."""
        weights = {"table": self.table} | self.network.state_dict()
        arrays = {name: tensor.detach().cpu().numpy() for name, tensor in weights.items()}
        about = {"format": FORMAT, "tagger": self.config.encoder, "config": self.config.model_dump()}
        about |= {"tags": self.tags.to_pylist(), **write_weights(folder, self.texts, arrays)}
        (folder / "config.json").write_text(json.dumps(about, indent=2) + "\n", encoding="utf-8", newline="\n")

    @classmethod
    def load(cls, folder: Path) -> "Tagger":
        """The tagger that `save` wrote to `folder`.

        Raises:
            ModelError: it is missing or damaged.
        """
        config, tags = _about(folder / "config.json")
        texts, arrays = read_weights(folder)
        weights = {name: torch.from_numpy(array) for name, array in arrays.items()}
        network = Network(config, len(tags), torch.Generator())
        try:
            table = weights.pop("table")
            network.load_state_dict(weights)
        except (KeyError, RuntimeError) as error:
            raise ModelError(f"{folder}/weights.safetensors: not the weights of this tagger; train it again") from error
        return cls(config, network, table, texts, tags)


def _about(path: Path) -> tuple[TaggerConfig, pa.StringArray]:
    try:
        about = json.loads(path.read_text(encoding="utf-8"))
        if about["format"] != FORMAT:
            raise ModelError(
                f"{path}: tagger format {about['format']}, this version reads {FORMAT}; update the package"
            )
        return options(about["tagger"])(**about["config"]), pa.array(about["tags"], pa.string())
    except OSError as error:
        raise ModelError(f"{path.parent}: no tagger here; train one") from error
    except (ValueError, KeyError, TypeError, ParameterError, ValidationError, pa.ArrowException) as error:
        raise ModelError(f"{path}: damaged, or not the config of a tagger; train it again") from error
