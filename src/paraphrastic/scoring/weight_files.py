"""The arrays of a model: `weights.safetensors` and `vocabulary.parquet`, which are only valid together, and ranges."""

import hashlib
import math
import reprlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import ArrayLike, NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import load, save_file

from paraphrastic.base.errors import DataError, ModelError, ParameterError
from paraphrastic.base.files import sha256_of, unwritable
from paraphrastic.base.reading import FLOOR, SMALL, open_bounded, parse_json, read_bounded, regular
from paraphrastic.base.tables import VOCABULARY, write_table
from paraphrastic.scoring.scorer import Vectors, VectorScorer, normalize_rows

RANGES = "ranges.safetensors"

_DTYPES = {
    "F32": np.float32, "F16": np.float16, "I8": np.int8, "U8": np.uint8, "I32": np.int32, "I64": np.int64,
    "F64": np.float64,
}  # fmt: skip
_BLOCK = 1 << 16  # numbers
_AGAIN = "train the model again, or get its files anew"
_CALIBRATION = 10_000  # sentences, about, that ranges are of: those of the others differ little


def write_weights(folder: Path, texts: pa.StringArray, arrays: Mapping[str, NDArray[Any]]) -> dict[str, Any]:
    """Write the entries of the vocabulary in row order, and the arrays with the vocabulary's hash in their metadata.

    Returns:
        The hash, for `config.json`.
    """
    weights, vocabulary = folder / "weights.safetensors", folder / "vocabulary.parquet"
    write_table(pa.table({"text": texts}), vocabulary, VOCABULARY)
    digest = sha256_of(vocabulary)
    write_arrays(weights, arrays, {"vocabulary": digest})
    return {"vocabulary": digest}


def write_arrays(path: Path, arrays: Mapping[str, NDArray[Any]], metadata: dict[str, str] | None = None) -> None:
    """Write arrays by name as safetensors, with the permissions of any other new file.

    Raises:
        OSError: the file cannot be written, for example because the disk is full.
    """
    path.touch()
    permissions = path.stat().st_mode
    try:
        save_file({name: np.ascontiguousarray(array) for name, array in arrays.items()}, path, metadata)
    except SafetensorError as error:
        raise unwritable(path) from error
    path.chmod(permissions)  # safetensors creates files that only their owner can read


def read_weights(folder: Path) -> tuple[pa.StringArray, dict[str, NDArray[Any]]]:
    """Read the vocabulary and the arrays that `write_weights` wrote.

    Raises:
        ModelError: a file is missing, damaged or no vocabulary, or the two files do not belong together.
        PermissionError: a file must not be read.
    """
    weights, vocabulary = folder / "weights.safetensors", folder / "vocabulary.parquet"
    try:
        regular(weights).open("rb").close()  # safetensors calls a file missing that must not be read
        with safe_open(weights, framework="numpy") as file:
            digest = (file.metadata() or {}).get("vocabulary")
        arrays = _map_arrays(weights)
        table = regular(vocabulary, FLOOR).read_bytes()
    except DataError as error:
        raise ModelError(str(error)) from error
    except SafetensorError as error:
        raise ModelError(f"{weights}: missing or damaged; train the model again ({error})") from error
    except PermissionError:
        raise
    except OSError as error:
        raise ModelError(f"{error.filename or weights}: missing or damaged; train the model again") from error
    if digest != hashlib.sha256(table).hexdigest():
        raise ModelError(f"{folder}: weights and vocabulary do not belong together; train the model again")
    if not arrays:
        raise wrong_weights(folder)
    try:
        file = open_bounded(vocabulary, table)
        if file.metadata.num_rows > max(array.size for array in arrays.values()):  # before memory is taken for them
            raise wrong_weights(folder, f"{vocabulary} has {file.metadata.num_rows:,} entries")
        texts = read_bounded(file, vocabulary).cast(VOCABULARY)["text"]
    except (pa.ArrowException, ValueError, OSError) as error:
        remedy = f"train the model again ({' '.join(str(error).split())})"
        raise ModelError(f"{vocabulary}: not the vocabulary of a model; {remedy}") from error
    return texts.combine_chunks(), arrays


def _map_arrays(path: Path) -> dict[str, NDArray[Any]]:
    """Map the arrays of a checked file of safetensors into memory; a change of them does not reach the file."""
    data = np.memmap(path, np.uint8, "c").view(np.ndarray)  # length of the header in 8 bytes, header, arrays
    start = 8 + int.from_bytes(data[:8].tobytes(), "little")
    header = parse_json(data[8:start].tobytes())
    header.pop("__metadata__", None)
    return {name: _array(f"{path}: {reprlib.repr(name)}", data[start:], entry) for name, entry in header.items()}


def _array(name: str, data: NDArray[np.uint8], entry: Mapping[str, Any]) -> NDArray[Any]:
    if entry.keys() != {"dtype", "shape", "data_offsets"}:
        raise ModelError(f"{name} has the keys {', '.join(map(ascii, entry))}; {_AGAIN}")
    if entry["dtype"] not in _DTYPES:
        raise ModelError(f"{name} has the type {entry['dtype']}, none of {', '.join(_DTYPES)}; {_AGAIN}")
    if 0 in entry["shape"][1:]:
        raise ModelError(f"{name} has the shape {entry['shape']}, which holds no numbers; {_AGAIN}")
    array: NDArray[Any] = data[slice(*entry["data_offsets"])].view(_DTYPES[entry["dtype"]]).reshape(entry["shape"])
    blocks = (array.ravel()[start : start + _BLOCK] for start in range(0, array.size, _BLOCK))  # that stay in the cache
    if array.dtype.kind == "f" and not all(np.isfinite(block).all() for block in blocks):
        raise ModelError(f"{name} has a number that is not finite; {_AGAIN}")
    return array


class Ranges(NamedTuple):
    """The least and the largest number of each dimension, (2, dim): of vectors, and of the same with length 1."""

    vectors: Vectors
    unit_vectors: Vectors


def read_ranges(folder: Path) -> Ranges | None:
    """Return the ranges in the folder of a model; None if it has none.

    Raises:
        ModelError: the file is damaged.
    """
    path = folder / RANGES
    if not path.is_file():
        return None
    try:
        ranges = Ranges(**load(regular(path, SMALL).read_bytes()))
        dim = ranges.vectors.size // 2
        return Ranges(*(checked_ranges(each, dim) for each in ranges))
    except (DataError, SafetensorError, TypeError, KeyError, ValueError) as error:
        raise ModelError(f"{path}: damaged; train the model again, or remove this file") from error


def calibration_vectors(scorer: VectorScorer, sentences: Iterable[pa.StringArray], count: int) -> Vectors:
    """Return vectors, (n, dim), of about 10,000 of `count` tokenized sentences; zeros for those of unknown words."""
    step = max(1, count // _CALIBRATION)
    parts = [scorer.encode_known(part.take(np.arange(0, len(part), step))) for part in sentences]
    return np.concatenate([np.where(known[:, None], vectors, np.float32(0)) for vectors, known in parts])


def write_ranges(folder: Path, vectors: Vectors) -> None:
    """Write the ranges of `calibration_vectors` to the folder of a model, unless some are not finite."""
    if len(vectors) and np.isfinite(vectors).all():
        ranges = Ranges(*(np.stack([each.min(0), each.max(0)]) for each in (vectors, normalize_rows(vectors))))
        write_arrays(folder / RANGES, ranges._asdict())


def checked_ranges(ranges: ArrayLike | None, dim: int) -> Vectors:
    """Return ranges as float32, (2, dim).

    Raises:
        ParameterError: they have another shape, are not finite or too wide for float32, or a largest number is below
            the least one.
    """
    if ranges is None:
        raise ParameterError("integers of 8 bits need `ranges`, (2, dim); `ranges_of` returns those of vectors")
    try:
        checked = np.asarray(ranges, np.float32)
    except (TypeError, ValueError) as error:
        raise ParameterError("ranges that are no numbers: give (2, dim), as `ranges_of` returns them") from error
    if checked.shape != (2, dim):
        raise ParameterError(f"ranges of shape {checked.shape} for vectors of size {dim}: should be (2, {dim})")
    with np.errstate(over="ignore", invalid="ignore"):
        widths = checked[1] - checked[0]
    if not (np.isfinite(widths).all() and (widths >= 0).all()):
        raise ParameterError("ranges: each largest number should be finite, and not below the least one")
    return checked


def count_weights(weights: Path) -> int:
    """Return how many numbers a file of weights holds, in any format of a table; 0 if there is no file."""
    if not weights.is_file():
        return 0
    with safe_open(weights, framework="numpy") as file:
        shapes = {name: file.get_slice(name).get_shape() for name in file.keys()}  # noqa: SIM118 - not a mapping
        if "embeddings.scales" in shapes and file.get_slice("embeddings").get_dtype() == "U8":
            *planes, rows, width = shapes["embeddings"]  # in bytes: a plane has a bit of each number
            shapes["embeddings"] = [rows, int(file.get_tensor("embeddings.dim")[0]) if planes else 2 * width]
    return sum(math.prod(shape) for name, shape in shapes.items() if not name.startswith("embeddings."))


def wrong_config(folder: Path, reason: object = "") -> ModelError:
    """Return the error for a `config.json` that lacks an option or has an unknown one."""
    return ModelError(f"{folder}/config.json: not the configuration of a model; train the model again{_why(reason)}")


def wrong_weights(folder: Path, reason: object = "") -> ModelError:
    """Return the error for weights that lack an array or have arrays of other sizes."""
    return ModelError(f"{folder}/weights.safetensors: not the weights of this model; train it again{_why(reason)}")


def _why(reason: object) -> str:
    return f" ({' '.join(str(reason).split())})"[:300] if str(reason) else ""
