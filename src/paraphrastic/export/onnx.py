"""An encoder as an ONNX graph: ids and offsets in, vectors out; with its vocabulary and a description of its inputs."""

from pathlib import Path
from typing import Any

import pyarrow as pa

from paraphrastic.base.errors import ModelError, ParameterError
from paraphrastic.base.tables import VOCABULARY, write_table
from paraphrastic.export.encoders import check_encoder
from paraphrastic.export.json_file import write_json
from paraphrastic.export.tokenizer_json import Json, boundary_steps, tokenizer_json, word_level
from paraphrastic.inference.model import Model
from paraphrastic.scoring.static import StaticEncoder
from paraphrastic.vocabulary.words import BoundaryTokens, boundary_widths

FILES = "model.onnx", "inputs.json", "vocabulary.parquet", "tokenizer.json"
_MAX_BYTES = 2_000_000_000  # of a protobuf message
_IDS = {
    "words": "row of each word in vocabulary.parquet, from 1; 0 for others; tokenizer.json makes them from text",
    "characters": "row of each character in vocabulary.parquet, from 1; 0 for others; tokenizer.json makes them",
    "ngrams": "row, from 0, of each distinct entry of vocabulary.parquet that the text has; the text is the tokens, "
    "separated by single spaces, with a space at each end; without tokens it is empty",
}
_IDS["words+ngrams"] = _IDS["ngrams"] + ". With a space at each end, an entry is a word, or, with one inside, two"
_COUNTS = "float32 (N,), occurrences of each entry in its sentence"


def write(model: Model, folder: Path) -> str:
    """Write `model.onnx`, `inputs.json`, the vocabulary, and for words and characters a `tokenizer.json`.

    Raises:
        ModelError: the model is no encoder of this package, or is too large for the format.
        ParameterError: the package onnx is not installed.
    """
    check_encoder(model)
    scorer: Any = model.scorer  # a `StaticEncoder` or a `TrainedEncoder`
    if scorer.embedding_array().nbytes > _MAX_BYTES:
        raise ModelError(f"{model.folder}: the embeddings exceed the 2 GB of an ONNX file; train a smaller vocabulary")
    try:
        import onnx
    except ModuleNotFoundError as error:
        raise ParameterError("export to onnx needs the package onnx; pip install 'paraphrastic[external]'") from error
    onnx.save_model(_graph(model, scorer), folder / "model.onnx")
    write_json(folder / "inputs.json", _description(model, scorer))
    write_table(pa.table({"text": scorer.texts}), folder / "vocabulary.parquet", VOCABULARY)
    if scorer.vocabulary_kind == "words":
        steps = boundary_steps(_boundary_tokens(scorer))
        write_json(folder / "tokenizer.json", tokenizer_json(word_level(scorer.texts), steps))
    elif scorer.vocabulary_kind == "characters":
        write_json(folder / "tokenizer.json", tokenizer_json(word_level(scorer.texts), splits="characters"))
    return "the vectors are those of the model to 1e-5; inputs.json says how ids are made"


def _graph(model: Model, scorer: Any) -> Any:
    """Return the model of the package onnx."""
    from onnx import TensorProto
    from onnx.helper import make_tensor_value_info

    from paraphrastic.export.onnx_encoders import ENCODERS, static
    from paraphrastic.export.onnx_graph import Graph, Sentences, model_of

    g, counted = Graph(), "ngrams" in scorer.vocabulary_kind
    sentences = Sentences(g, "ids", "offsets")
    words = sentences.embed(g.constant(scorer.embedding_array()))  # (B, T, dim)
    if isinstance(scorer, StaticEncoder):
        vectors = static(g, words, sentences, scorer.arrays, scorer.form, "counts" if counted else None)
    else:
        vectors = ENCODERS[model.name](g, words, sentences, scorer.arrays(), model.options)
    known = g("Unsqueeze", _known(g, sentences, scorer), [1])
    g.rename(g("Where", known, vectors, 0.0), "vectors")
    inputs = [
        make_tensor_value_info("ids", TensorProto.INT64, ["ids"]),
        make_tensor_value_info("offsets", TensorProto.INT64, ["sentences + 1"]),
        *([make_tensor_value_info("counts", TensorProto.FLOAT, ["ids"])] if counted else []),
    ]
    out = make_tensor_value_info("vectors", TensorProto.FLOAT, ["sentences", model.dim])
    return model_of(g.build(model.name, inputs, [out]))


def _known(g: Any, sentences: Any, scorer: Any) -> str:
    """Return whether a sentence has a known entry, (B,), as the vocabularies define it."""
    from onnx import TensorProto

    if "ngrams" in scorer.vocabulary_kind:
        return str(g("Greater", sentences.lengths, 0))
    is_known = g("And", sentences.inside, g("Not", g("Equal", sentences.ids, 0)))
    always = sum(boundary_widths(_boundary_tokens(scorer)))
    if scorer.vocabulary_kind == "characters":
        space = 1 + scorer.texts.index(" ").as_py()  # 0, the id of unknown characters, if it is not there
        is_known, always = g("And", is_known, g("Not", g("Equal", sentences.ids, space))), 0
    count = g("ReduceSum", g("Cast", is_known, to=TensorProto.INT64), [1], keepdims=0)
    return str(g("Greater", count, always))


def _boundary_tokens(scorer: Any) -> BoundaryTokens:
    tokens: BoundaryTokens = (scorer.form if isinstance(scorer, StaticEncoder) else scorer.module).boundary_tokens
    return tokens


def _description(model: Model, scorer: Any) -> Json:
    kind = scorer.vocabulary_kind
    counts = {"counts": _COUNTS} if "ngrams" in kind else {}
    return {
        "model": model.name,
        "vocabulary": kind,
        "boundary_tokens": _boundary_tokens(scorer),
        "inputs": {
            "ids": f"int64 (N,), the ids of all sentences: {_IDS[kind]}",
            "offsets": "int64 (B + 1,), sentence i has ids[offsets[i]:offsets[i + 1]], B > 0",
            **counts,
        },
        "outputs": {"vectors": f"float32 (B, {model.dim}), zero for a sentence of which nothing is known"},
    }
