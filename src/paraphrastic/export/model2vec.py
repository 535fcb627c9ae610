"""An average of word vectors as a `StaticModel` of model2vec.

model2vec leaves unknown tokens out of the mean, while here they have a vector and count. Each word is therefore
followed by a character that no text contains, and the vocabulary has the words in this form and the character itself.
The model BPE, without merges, finds a known word whole. It splits another one into its characters, of which only the
last is known: the one that no text contains, which has the vector of unknown words. model2vec leaves the others out.
"""

from pathlib import Path

import numpy as np
import pyarrow as pa

from paraphrastic.base.files import write_json
from paraphrastic.export.model_parts import UNKNOWN_SENTENCE, plain_average
from paraphrastic.export.tokenizer_json import Json, tokenizer_json
from paraphrastic.inference.model import Model
from paraphrastic.scoring.weight_files import write_arrays

_END_OF_WORD = "\x01"
_LEFT_OUT = "[UNK]"
_CONFIG = {
    "model_type": "model2vec",
    "architectures": ["StaticModel"],
    "hidden_dim": 0,
    "normalize": False,
    "max_length": None,
    "embedding_dtype": "float32",
}


def write_static_model(model: Model, folder: Path) -> str:
    """Write the files of a `StaticModel` to `folder`.

    Raises:
        ModelError: the model is not an average of word vectors.
    """
    words, embeddings = plain_average(model)
    content = tokenizer_json(_whole_words(words), [(r"(?<=[^ \n])(?=[ \n])", _END_OF_WORD)])
    write_json(folder / "tokenizer.json", content)
    write_json(folder / "config.json", _CONFIG | {"hidden_dim": embeddings.shape[1]})
    left_out = np.zeros((1, embeddings.shape[1]), np.float32)
    write_arrays(folder / "model.safetensors", {"embeddings": np.concatenate([left_out, embeddings])})
    return UNKNOWN_SENTENCE


def _whole_words(words: pa.StringArray) -> Json:
    vocabulary = {_LEFT_OUT: 0, _END_OF_WORD: 1}
    vocabulary |= {f"{word}{_END_OF_WORD}": row for row, word in enumerate(words.to_pylist(), 2)}
    return {
        "type": "BPE",
        "dropout": None,
        "unk_token": _LEFT_OUT,
        "continuing_subword_prefix": None,
        "end_of_word_suffix": None,
        "fuse_unk": True,
        "byte_fallback": False,
        "ignore_merges": True,
        "vocab": vocabulary,
        "merges": [],
    }


FORMATS = {"model2vec": (("tokenizer.json", "config.json", "model.safetensors"), write_static_model)}
