"""A trained model in the formats of others: a folder of sentence-transformers, or word2vec text."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from safetensors.numpy import save_file

from paraphrastic.encoding.weighted import WeightedMean
from paraphrastic.errors import ModelError
from paraphrastic.model import Model
from paraphrastic.tables import replacing, replacing_folder

AVERAGES = ("avg", "vectors", "sif")
_MODULE = "sentence_transformers.models.StaticEmbedding"
_ROWS = 10_000  # of a text file, written at once

# What our tokenizer cuts a text into, as far as one pattern can say it: contractions, dashes, ellipses, quotes,
# words with inner marks as in AT&T, 3,000 and twenty-one, and every other mark for itself.
_CONTRACTED = r"'(?:s|d|m|ll|re|ve)\b"
_WORD = rf"\w+(?:(?:[-.,:&/]|(?!{_CONTRACTED})')\w+)*"
_TOKENS = rf"\w+?(?=n't\b)|n't\b|{_CONTRACTED}|--+|\.\.\.|``|''|{_WORD}|[^\w\s]"


def to_sentence_transformers(model: Model, out: Path) -> str:
    """Write an averaging model as a `StaticEmbedding`.

    Its vectors are those of `model` on text that is already tokenized, tokens parted by spaces. On raw text its
    tokenizer lower-cases and cuts as `model` does but for what takes more than one pattern: abbreviations and
    addresses, quotation marks, British spelling and escapes.

    Returns:
        What cannot be kept, in one line.

    Raises:
        ModelError: the model is not an average of word vectors, or `out` holds something already.
    """
    words, table = _average(model)
    if out.exists() and any(out.iterdir()):
        raise ModelError(f"{out}: holds something already; name a new folder")
    unknown = _free("[UNK]", words)
    vocabulary = {unknown: 0} | {word: row for row, word in enumerate(words.to_pylist(), 1)}
    with replacing_folder(out) as part:
        _write_json(part / "tokenizer.json", tokenizer_json(vocabulary, unknown))
        _write_json(part / "modules.json", [{"idx": 0, "name": "0", "path": "", "type": _MODULE}])
        _write_json(part / "config_sentence_transformers.json", {"similarity_fn_name": "cosine"})
        save_file({"embedding.weight": np.ascontiguousarray(table)}, part / "model.safetensors")
    return "raw text: abbreviations, addresses, quotation marks, British spelling and escapes are cut otherwise"


def to_word2vec(model: Model, out: Path) -> str:
    """Write the word vectors as word2vec text: `COUNT DIM`, then a word and its numbers on each line.

    Returns:
        What cannot be kept, in one line.

    Raises:
        ModelError: the model has no word vectors.
    """
    words, table = _words(model)
    rows = table[1:]
    with replacing(out) as part, part.open("w", encoding="utf-8", newline="\n") as file:
        file.write(f"{len(rows)} {rows.shape[1]}\n")
        for start in range(0, len(rows), _ROWS):
            block = zip(words[start : start + _ROWS].to_pylist(), rows[start : start + _ROWS].tolist(), strict=True)
            file.writelines(f"{word} {' '.join(f'{x:.9g}' for x in row)}\n" for word, row in block)
    return "the vector of unknown words, and what the model does with the vectors of a sentence"


def _average(model: Model) -> tuple[pa.StringArray, NDArray[np.float32]]:
    """Words and table of a model whose sentence vectors are means of word vectors."""
    plain = model.options.get("tags", "none") == "none" and not len(getattr(model.scorer, "directions", ()))
    if model.name not in AVERAGES or not plain:
        raise ModelError(
            f"{model.folder}: {model.name} with these options is no plain average of word vectors; export one of "
            f"{', '.join(AVERAGES)}, without tags and removed components"
        )
    return _words(model)


def _words(model: Model) -> tuple[pa.StringArray, NDArray[np.float32]]:
    """Words (n,) and their vectors (n + 1, dim), row 0 being that of unknown words."""
    scorer = model.scorer
    reads_words = isinstance(scorer, WeightedMean) or getattr(getattr(scorer, "encoder", None), "units", "") == "words"
    if not reads_words:
        raise ModelError(f"{model.folder}: {model.name} has no word vectors; export a model that reads words")
    return scorer.texts, np.asarray(scorer.table)


def _free(text: str, words: pa.StringArray) -> str:
    """`text`, or what no word is."""
    taken = set(words.to_pylist())
    while text in taken:
        text = f"[{text}]"
    return text


def tokenizer_json(vocabulary: dict[str, int], unknown: str) -> dict[str, Any]:
    """A `tokenizer.json`: lower case, parted at spaces and by `_TOKENS`, whole words."""
    cut = {"type": "Split", "pattern": {"Regex": _TOKENS}, "behavior": "Isolated", "invert": False}
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [],
        "normalizer": {"type": "Sequence", "normalizers": [{"type": "NFC"}, {"type": "Lowercase"}]},
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [{"type": "WhitespaceSplit"}, cut]},
        "post_processor": None,
        "decoder": None,
        "model": {"type": "WordLevel", "vocab": vocabulary, "unk_token": unknown},
    }


def _write_json(path: Path, content: object) -> None:
    path.write_text(json.dumps(content, ensure_ascii=False, indent=2) + "\n", encoding="utf-8", newline="\n")
