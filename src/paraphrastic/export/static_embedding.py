"""An average of word vectors as a `StaticEmbedding` of sentence-transformers, which loads it without this package."""

from pathlib import Path

from paraphrastic.export.averages import UNKNOWN_SENTENCE, plain_average
from paraphrastic.export.json_file import write_json
from paraphrastic.export.tokenizer_json import tokenizer_json, word_level
from paraphrastic.inference.model import Model
from paraphrastic.scoring.weight_files import write_arrays

FILES = "tokenizer.json", "modules.json", "config_sentence_transformers.json", "model.safetensors"
_MODULE = "sentence_transformers.models.StaticEmbedding"


def write(model: Model, folder: Path) -> str:
    """Write the files of a `SentenceTransformer` of one module to `folder`.

    Raises:
        ModelError: the model is not an average of word vectors.
    """
    words, embeddings = plain_average(model)
    write_json(folder / "tokenizer.json", tokenizer_json(word_level(words)))
    write_json(folder / "modules.json", [{"idx": 0, "name": "0", "path": "", "type": _MODULE}])
    write_json(folder / "config_sentence_transformers.json", {"similarity_fn_name": "cosine"})
    write_arrays(folder / "model.safetensors", {"embedding.weight": embeddings})
    return UNKNOWN_SENTENCE
