"""An encoder that sentence-transformers or model2vec wrote to a folder."""

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cached_property, partial
from importlib import import_module
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from paraphrastic.base import devices
from paraphrastic.base.errors import DataError, ModelError, ParameterError, ParaphrasticError, missing
from paraphrastic.base.reading import read_json
from paraphrastic.scoring.scorer import Vectors, VectorScorer
from paraphrastic.scoring.weight_files import wrong_config

Float = Literal["float32", "bfloat16"]

_PROCESSES = 8  # each takes about a gigabyte
_LARGE = 1 << 30  # bytes of an encoder
_REMEDY = "download the encoder again, or choose another one"
# Router, Asym and WordEmbeddings are left out: their own files name classes, which are imported
_MODULE = re.compile(
    r"sentence_transformers\.(models|base\.modules|sentence_transformer\.(models|modules))(\.[A-Za-z_]+)?"
    r"\.(BoW|CNN|Dense|Dropout|LayerNorm|LSTM|Normalize|Pooling|StaticEmbedding|Transformer|WeightedLayerPooling"
    r"|WordWeights)"
)
_PICKLES = {".bin", ".ckpt", ".dill", ".joblib", ".npy", ".npz", ".pickle", ".pkl", ".pt", ".pth"}


class ExternalEncoder(VectorScorer):
    """Encodes tokenized, lower-cased text with the encoder in `folder`, and scores it by cosine similarity.

    Args:
        folder: as sentence-transformers or model2vec wrote it.
        batch_size: sentences per call of the encoder.
        device: where sentence-transformers encodes, see `devices.find`; it chooses itself for `auto`. model2vec encodes
            on the CPU, and refuses a GPU.
        precision: of the weights and layers of sentence-transformers; model2vec, which has no layers, refuses
            `bfloat16`.
    """

    def __init__(self, folder: Path, batch_size: int, device: str = devices.AUTO, precision: Float = "float32") -> None:
        self._folder, self._batch_size, self._device, self._precision = folder, batch_size, device, precision
        self.texts = pa.array([], pa.string())  # the vocabulary belongs to the encoder

    def encode_known(self, sentences: pa.StringArray) -> tuple[Vectors, NDArray[np.bool_]]:
        """Return the vectors of tokenized sentences, and ones, (n,): what an external encoder knows is not known here.

        Raises:
            ModelError: the folder holds no encoder of either package.
            ParameterError: the package that reads it is not installed, there is no such device, or the encoder has no
                such precision.
        """
        texts, encoder = sentences.to_pylist() or [""], self._encoder  # of no texts, neither package has a shape
        with _named_errors(self._folder):
            vectors = np.asarray(
                encoder.encode(texts, batch_size=self._batch_size, show_progress_bar=False), np.float32
            )
        if vectors.ndim != 2 or len(vectors) != len(texts):
            raise ModelError(f"{self._folder}: vectors of shape {vectors.shape} for {len(texts)} texts; {_REMEDY}")
        if len(bad := np.flatnonzero(~np.isfinite(vectors).all(1))):
            text = texts[bad[0]]
            raise ModelError(f"{self._folder}: the vector of {text!r:.60} is not finite; choose another encoder")
        return vectors[: len(sentences)], np.ones(len(sentences), bool)

    def oov_share(self, sentences: pa.StringArray) -> NDArray[np.float64]:
        """Return zeros, (n,): the out-of-vocabulary share is undefined for external encoders."""
        return np.zeros(len(sentences))

    def save(self, folder: Path) -> dict[str, Any]:
        """Write nothing; the result, with the path of the encoder, goes to `config.json`."""
        return {"scorer": {"kind": "external", "path": str(self._folder), "batch_size": self._batch_size}}

    @classmethod
    def load(cls, folder: Path, options: Mapping[str, Any], device: str = devices.AUTO) -> Self:
        """Return the encoder whose path is in `config.json`, on a device.

        Raises:
            ModelError: an option is missing.
        """
        if not options.keys() >= {"path", "batch_size"}:
            raise wrong_config(folder, "an external encoder has `path` and `batch_size`")
        return cls(Path(options["path"]), options["batch_size"], device)

    @cached_property
    def _encoder(self) -> Any:
        name, load = loader(self._folder, self._device, self._precision)
        try:
            package = import_module(name)
        except ImportError as error:
            raise ParameterError(f"{self._folder}: reading it needs {missing(name, 'external')}") from error
        with _named_errors(self._folder):
            return load(package, str(self._folder))


@contextmanager
def _named_errors(folder: Path) -> Iterator[None]:
    """Turn what the package of an encoder raises, but no interruption or want of memory, into a ModelError."""
    try:
        yield
    except (ParaphrasticError, MemoryError, KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # panics of Rust, in which tokenizers are written, are no `Exception`
        reason = next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)
        raise ModelError(f"{folder}: cannot be used ({reason:.300}); {_REMEDY}") from error


def usable_device(folder: Path, device: str) -> str:
    """Return where the encoder in `folder` is computed if `device` is where models are: there, or on the CPU."""
    return device if _needs_torch(folder) else devices.CPU


def usable_processes(folder: Path, device: str) -> int:
    """Return how many processes encode fastest together, each with its own copy of the encoder in `folder`.

    On the CPU it is one for each core, up to `_PROCESSES`, since several threads gain little in the layers of a small
    encoder. A large one is encoded in one process, and so is model2vec, which has no layers. On a GPU it is one.
    """
    if not _needs_torch(folder) or device not in (devices.AUTO, devices.CPU):
        return 1
    import torch

    if device == devices.AUTO and torch.accelerator.is_available():
        return 1
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    return min(pa.cpu_count(), _PROCESSES) if size < _LARGE else 1


def _needs_torch(folder: Path) -> bool:
    """Return whether sentence-transformers wrote `folder`."""
    return (folder / "modules.json").is_file()


def loader(folder: Path, device: str, precision: Float) -> tuple[str, Callable[[Any, str], Any]]:
    """Return the package that wrote `folder`, and a function that loads it with that package.

    Raises:
        ModelError: neither package wrote it, or it has code or pickles.
        ParameterError: model2vec wrote it, which has no such device or precision.
    """
    if _needs_torch(folder):
        _refuse_code(folder)
        _refuse_pickles(folder)
        return "sentence_transformers", partial(_load_sentence_transformer, device=device, precision=precision)
    config = None
    with suppress(OSError, DataError):
        config = read_json(folder / "config.json")
    if isinstance(config, dict) and config.get("model_type") == "model2vec":
        devices.refuse_gpu(device, str(folder))
        if precision == "bfloat16":
            raise ParameterError(f"{folder}: model2vec has no layers to compute in bfloat16; set precision to float32")
        _refuse_pickles(folder)
        return "model2vec", lambda package, path: package.StaticModel.from_pretrained(path)
    raise ModelError(
        f"{folder}: no encoder of sentence-transformers or model2vec; name the folder that holds modules.json"
    )


def _refuse_code(folder: Path) -> None:
    """Refuse modules that are not of sentence-transformers, or that name classes and files of others in turn."""
    modules = read_json(folder / "modules.json", ModelError, _REMEDY)
    if not (isinstance(modules, list) and all(isinstance(module, dict) for module in modules)):
        raise ModelError(f"{folder}/modules.json: not a list of modules; {_REMEDY}")
    for module in modules:
        name, path = str(module.get("type")), module.get("path", "")
        if not _MODULE.fullmatch(name):
            shown = " ".join(name.split())
            raise ModelError(f"{folder}/modules.json: {shown:.200} is code of another package, which is not run")
        if not isinstance(path, str) or Path(path).is_absolute() or ".." in Path(path).parts:
            raise ModelError(f"{folder}/modules.json: the path {path!r:.200} is outside of the folder; {_REMEDY}")


def _refuse_pickles(folder: Path) -> None:
    """Refuse weights that are pickled, which can run code, unless others are beside them, which are read instead."""
    for path in sorted(folder.rglob("*")):
        if path.suffix in _PICKLES and not any(path.parent.glob("*.safetensors")):
            remedy = "convert it to model.safetensors, or choose another encoder"
            raise ModelError(f"{path}: pickled weights can run code and are not read; {remedy}")
        if not (path.is_file() or path.is_dir()):
            raise ModelError(f"{path}: is neither a file nor a folder; {_REMEDY}")


def _load_sentence_transformer(package: Any, path: str, device: str, precision: Float) -> Any:
    from paraphrastic.base.console import console

    if not console.is_terminal:
        import_module("transformers.utils.logging").disable_progress_bar()  # it would fill the log
    encoder = package.SentenceTransformer(path, device=None if device == devices.AUTO else str(devices.find(device)))
    return encoder.bfloat16() if precision == "bfloat16" else encoder
