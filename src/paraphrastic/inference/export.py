"""Export a trained model: as a folder of sentence-transformers, or as word2vec text."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from paraphrastic.atomic import atomic_folder, atomic_write, write_text
from paraphrastic.errors import ModelError
from paraphrastic.inference.model import Model
from paraphrastic.scoring.scorer import EmbeddingScorer, Vectors
from paraphrastic.scoring.static import StaticEncoder
from paraphrastic.scoring.weight_files import write_arrays
from paraphrastic.vocabulary.pretrained import UNKNOWN_WORD

_MODULE = "sentence_transformers.models.StaticEmbedding"
_ROWS = 10_000  # of a text file, formatted together

# One regular expression that approximates the tokenizer: contractions, dashes, ellipses, quotes, words with inner
# punctuation as in AT&T, 3,000 and twenty-one, and every other punctuation mark on its own.
_CONTRACTION = r"'(?:s|d|m|ll|re|ve)\b"
_WORD = rf"\w+(?:(?:[-.,:&/]|(?!{_CONTRACTION})')\w+)*"
_TOKENS = rf"\w+?(?=n't\b)|n't\b|{_CONTRACTION}|--+|\.\.\.|``|''|{_WORD}|[^\w\s]"


def to_sentence_transformers(model: Model, out: Path) -> str:
    """Write an average of word vectors as a `StaticEmbedding` of sentence-transformers.

    On text that is already tokenized, with spaces between tokens, the vectors are those of `model`. The exception is
    tokens that the regular expression splits: abbreviations such as u.s., c++, smileys and @names become several
    tokens, in tokenized text too. On raw text the exported tokenizer lower-cases and splits like `model`, except for
    what needs more than one regular expression: these tokens, addresses, quotation marks, British spelling and escapes.

    Returns:
        One line that says what is lost.

    Raises:
        ModelError: the model is not an average of word vectors, or `out` is not empty.
    """
    words, embeddings = _plain_average(model)
    if out.exists() and any(out.iterdir()):
        raise ModelError(f"{out}: is not empty; name a new folder")
    unknown = _unused_name("[UNK]", words)
    vocabulary = {unknown: 0} | {word: row for row, word in enumerate(words.to_pylist(), 1)}
    with atomic_folder(out) as part:
        _write_json(part / "tokenizer.json", tokenizer_json(vocabulary, unknown))
        _write_json(part / "modules.json", [{"idx": 0, "name": "0", "path": "", "type": _MODULE}])
        _write_json(part / "config_sentence_transformers.json", {"similarity_fn_name": "cosine"})
        write_arrays(part / "model.safetensors", {"embedding.weight": embeddings})
    return (
        "raw text: addresses, quotation marks, British spelling and escapes are split differently; "
        "abbreviations such as u.s., c++, smileys and @names become several tokens, in tokenized text too"
    )


def to_word2vec(model: Model, out: Path) -> str:
    """Write the word embeddings as word2vec text: `COUNT DIM`, then a word and its numbers per line.

    The first word is `UUUNKKK`, the vector of unknown words, which the code of the papers needs in such a file.
    Entries with white space, as in GloVe 840B, are left out, because a reader would take their last words for numbers.

    Returns:
        One line that says what is lost.

    Raises:
        ModelError: the model has no word embeddings.
    """
    words, embeddings = _word_embeddings(model)
    words = pa.concat_arrays([pa.array([UNKNOWN_WORD]), words])
    has_space = pc.match_substring_regex(words, r"\s")
    rows = embeddings[~has_space.to_numpy(zero_copy_only=False)]
    words = words.filter(pc.invert(has_space))
    with atomic_write(out) as part, part.open("w", encoding="utf-8", newline="\n") as file:
        file.write(f"{len(rows)} {rows.shape[1]}\n")
        for start in range(0, len(rows), _ROWS):
            block = zip(words[start : start + _ROWS].to_pylist(), rows[start : start + _ROWS].tolist(), strict=True)
            file.writelines(f"{word} {' '.join(f'{x:.9g}' for x in row)}\n" for word, row in block)
    left_out = pc.sum(has_space).as_py()
    entries = f"; {left_out} entries with white space" if left_out else ""
    return f"how the model composes word vectors{entries}"


def _plain_average(model: Model) -> tuple[pa.StringArray, Vectors]:
    """Return the words and the embedding table of a model whose sentence vectors are means of word vectors."""
    scorer = model.scorer
    is_average = (
        isinstance(scorer, StaticEncoder)
        and (scorer.form.vocabulary, scorer.form.pooling, scorer.form.boundary_tokens) == ("words", "mean", "none")
        and not len(scorer.arrays.get("directions", ()))
    )
    if not is_average:
        raise ModelError(
            f"{model.folder}: {model.name} with these options is not a plain average of word vectors; export avg, "
            "vectors or sif without boundary tokens and removed components"
        )
    return _word_embeddings(model)


def _word_embeddings(model: Model) -> tuple[pa.StringArray, Vectors]:
    """Return words (n,) and the embedding table (n + 1, dim), whose row 0 stands for unknown words."""
    scorer = model.scorer
    if not (isinstance(scorer, EmbeddingScorer) and scorer.vocabulary_kind == "words"):
        raise ModelError(f"{model.folder}: {model.name} has no word embeddings; export a model that reads words")
    return scorer.texts, scorer.embedding_array()


def _unused_name(name: str, words: pa.StringArray) -> str:
    """Return `name`, in as many brackets as make it different from every word."""
    taken = set(words.to_pylist())
    while name in taken:
        name = f"[{name}]"
    return name


def tokenizer_json(vocabulary: dict[str, int], unknown: str) -> dict[str, Any]:
    """Return a `tokenizer.json`: lower-case, split at spaces and by `_TOKENS`, look up whole words."""
    split = {"type": "Split", "pattern": {"Regex": _TOKENS}, "behavior": "Isolated", "invert": False}
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [],
        "normalizer": {"type": "Sequence", "normalizers": [{"type": "NFC"}, {"type": "Lowercase"}]},
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [{"type": "WhitespaceSplit"}, split]},
        "post_processor": None,
        "decoder": None,
        "model": {"type": "WordLevel", "vocab": vocabulary, "unk_token": unknown},
    }


def _write_json(path: Path, content: object) -> None:
    write_text(path, json.dumps(content, ensure_ascii=False, indent=2) + "\n")
