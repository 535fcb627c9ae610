"""What scikit-learn, LangChain, sentence-transformers and mteb ask of a model, without an import of them."""

import math
import re
import sys
from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, Self, get_args

import numpy as np
from numpy.typing import NDArray

from paraphrastic.base.errors import ParameterError, missing, unknown_name
from paraphrastic.base.files import atomic_folder
from paraphrastic.inference import CARD
from paraphrastic.inference.places import FILES, check_replaceable, copy_model
from paraphrastic.text.tokenizer import Texts, text_column

_TASKS_OF_MTEB = {  # data sets of tasks of `mteb`, by what begins the names of sources
    "banking77": "Banking77Classification",
    "quora": "QuoraRetrieval",
    "sick": "SICK-R",
    "tatoeba": "Tatoeba",
    "twitter-url": "TwitterURLCorpus",
}
Container = Literal["default", "pandas", "polars"]


@dataclass
class CardData:
    """What evaluators of sentence-transformers have measured; each of them reports here when it is called."""

    base_model: str  # the folder of the model, by which files of vectors are told apart
    metrics: dict[str, float] = field(default_factory=dict)

    def set_evaluation_metrics(self, evaluator: object, metrics: Mapping[str, float], *steps: int) -> None:
        """Keep the metrics of an evaluator."""
        self.metrics.update(metrics)


class OtherTools:
    """The methods of `Model` that only other tools call.

    Attributes:
        device: where vectors are returned, as sentence-transformers asks for it.
        similarity_fn_name: the measure of `similarity`, likewise.
    """

    folder: Path
    name: str
    sources: Mapping[str, int]
    dim: Any
    encode: Any
    summary: Any
    device = "cpu"
    similarity_fn_name = "cosine"
    _container: Container | None = None

    @cached_property
    def model_card_data(self) -> CardData:
        """What evaluators of sentence-transformers have measured."""
        return CardData(str(self.folder.resolve()))

    @property
    def mteb_model_meta(self) -> Any:
        """What `mteb` records of a model, of its class `ModelMeta`; missing where `mteb` is not installed."""
        try:
            from mteb.models import ModelMeta
        except ImportError as error:
            raise AttributeError("mteb_model_meta") from error
        about, card = self.summary(), self.folder / CARD
        text = card.read_text("utf-8", errors="replace") if card.is_file() else ""
        licence = re.search(r"^license: (\S+)$", text, re.MULTILINE)
        tasks = {task for begin, task in _TASKS_OF_MTEB.items() if any(name.startswith(begin) for name in self.sources)}
        known = {
            "loader": lambda *arguments, **options: self,
            "name": f"paraphrastic/{self.name}",
            "revision": self.folder.name,
            "languages": ["eng-Latn"],
            "n_parameters": about["parameters"],
            "memory_usage_mb": about["bytes"] / 1e6,
            "max_tokens": math.inf,
            "embed_dim": about["dimension"],
            "license": licence and licence[1],
            "open_weights": True,
            "framework": ["NumPy"],
            "similarity_fn_name": "cosine",
            "use_instructions": False,
            "training_datasets": tasks if self.sources else None,
        }
        return ModelMeta.create_empty(known)

    def save_pretrained(self, folder: Path | str) -> None:
        """Copy the files that the model was loaded from, and its card if it has one, to a folder that `load` reads.

        Raises:
            ParameterError: the folder exists and is no model, or has what no model has.
            ModelError: the model is no longer in its folder.
        """
        out = Path(folder)
        check_replaceable(out)
        with atomic_folder(out) as part:
            copy_model(self.folder, part)

    @classmethod
    def from_pretrained(cls, folder: Path | str, **options: Any) -> Self:
        """Return `paraphrastic.load` of a folder; `huggingface_hub.snapshot_download` fetches those of a hub."""
        import paraphrastic

        return paraphrastic.load(folder, **options)  # type: ignore[return-value]

    def push_to_hub(self, repo_id: str, private: bool | None = None, token: str | None = None) -> str:
        """Upload the files of the model to a repository of the Hugging Face hub, which is created if it is missing.

        Returns:
            The address of the upload.

        Raises:
            ParameterError: huggingface_hub is not installed.
        """
        try:
            from huggingface_hub import HfApi
        except ModuleNotFoundError as error:
            raise ParameterError(f"push_to_hub needs {missing('huggingface_hub', 'external')}") from error
        hub = HfApi(token=token)
        hub.create_repo(repo_id, private=private, exist_ok=True)
        message = "Upload of the model"
        return str(
            hub.upload_folder(repo_id=repo_id, folder_path=self.folder, commit_message=message, allow_patterns=FILES)
        )

    def eval(self) -> Self:
        """Return the model as it is: sentence-transformers asks for a model that is not in training."""
        return self

    def get_embedding_dimension(self) -> int:
        """Return the size of a vector, as sentence-transformers asks for it."""
        return int(self.dim)

    get_sentence_embedding_dimension = get_embedding_dimension  # its name in sentence-transformers 5

    def embed_documents(self, texts: Texts) -> list[list[float]]:
        """Return the vectors of n texts as lists of numbers, as LangChain asks for them."""
        vectors: list[list[float]] = self.encode(text_column(texts), show_progress_bar=False).tolist()
        return vectors

    def embed_query(self, text: str) -> list[float]:
        """Return the vector of one text as a list of numbers, as LangChain asks for it."""
        return self.embed_documents([text])[0]

    async def aembed_documents(self, texts: Texts) -> list[list[float]]:
        """Return `embed_documents` of n texts, computed in another thread."""
        from asyncio import to_thread  # other users need not wait for it

        return await to_thread(self.embed_documents, texts)

    async def aembed_query(self, text: str) -> list[float]:
        """Return `embed_query` of one text, computed in another thread."""
        return (await self.aembed_documents([text]))[0]

    def fit(self, sentences: object = None, labels: object = None) -> Self:
        """Return the model as it is: the model is trained, and a step of a scikit-learn pipeline must have `fit`."""
        return self

    def transform(self, sentences: Texts) -> Any:
        """Return the vectors of n sentences, (n, dim), as a step of a scikit-learn pipeline.

        Returns:
            An array, or a DataFrame of pandas or polars if `set_output` or `sklearn.set_config` says so.
        """
        vectors, names = self.encode(text_column(sentences)), self.get_feature_names_out().tolist()
        sklearn = sys.modules.get("sklearn")
        kind = self._container or (sklearn.get_config()["transform_output"] if sklearn else "default")
        if kind == "pandas":
            import pandas as pd

            index = getattr(sentences, "index", None) if hasattr(sentences, "iloc") else None
            return pd.DataFrame(vectors, index, names)
        if kind == "polars":
            import polars as pl

            return pl.DataFrame(vectors, schema=names, orient="row")
        return vectors

    def fit_transform(self, sentences: Texts, labels: object = None) -> Any:
        """Return `transform` of sentences."""
        return self.transform(sentences)

    def set_output(self, *, transform: Container | None = None) -> Self:
        """Choose what `transform` returns; None keeps the choice.

        Raises:
            ParameterError: `transform` is none of `default`, `pandas` and `polars`.
        """
        if transform not in (None, *get_args(Container)):
            raise ParameterError(unknown_name("output", str(transform), get_args(Container)))
        self._container = transform or self._container
        return self

    def get_feature_names_out(self, input_features: object = None) -> NDArray[np.object_]:
        """Return names of the columns of `transform`, (dim,): that of the model with a number."""
        return np.array([f"{self.name}{n}" for n in range(self.dim)], object)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return nothing: the model has no parameters that scikit-learn could search."""
        return {}

    def set_params(self, **params: object) -> Self:
        """Return the model as it is, without parameters.

        Raises:
            ParameterError: there are some.
        """
        if params:
            raise ParameterError(f"{self.folder}: a trained model has no parameter '{next(iter(params))}' to set")
        return self

    def __sklearn_clone__(self) -> Self:
        return copy(self)  # with the same weights, but its own output

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import InputTags, Tags, TargetTags, TransformerTags

        return Tags(
            estimator_type=None,
            target_tags=TargetTags(required=False),
            transformer_tags=TransformerTags(),
            input_tags=InputTags(one_d_array=True, two_d_array=False, string=True),
        )
