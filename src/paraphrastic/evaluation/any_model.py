"""Any encoder in a folder, and any evaluation sets → metrics, without the pipeline."""

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from paraphrastic.base import devices
from paraphrastic.base.errors import ModelError, ParameterError
from paraphrastic.corpus.raw_sources import read_evaluation
from paraphrastic.corpus.tokenizing import index_readings
from paraphrastic.evaluation import suite
from paraphrastic.evaluation.benchmarks import Benchmarks
from paraphrastic.inference.model import Model
from paraphrastic.inference.model_folder import is_model_folder, load_scorer
from paraphrastic.scoring.external_encoder import ExternalEncoder
from paraphrastic.scoring.scorer import Scorer
from paraphrastic.sources import catalogue
from paraphrastic.sources.fetching import download
from paraphrastic.sources.own_files import AnyEntry

_BATCH_SIZE = 256  # sentences per call of an encoder of another package


def evaluate(model: Model | str | Path, *sets: AnyEntry, device: str = devices.AUTO) -> suite.Results:
    """Score a model on evaluation sets.

    Args:
        model: a model, or a folder that this package, sentence-transformers or model2vec wrote.
        sets: names of suites such as `open`, files, and folders of files; see `sources.own_files`.
        device: where the model of a folder is computed: `auto`, a GPU if there is one, `cpu`, `cuda` or `cuda:N`. A
            model that is loaded stays where it is.

    Returns:
        The headline metrics, a row for each set, and all scores.

    Raises:
        ModelError: the folder holds no encoder.
        ParameterError: no suite has this name, there is no such device, or the model cannot be computed there.
        SourceError: a file is missing or cannot be fetched.
        DataError: a file is damaged, or a row of it is unusable.
    """
    scorer = _scorer(model, device)  # before the sets, which take longer
    return suite.evaluate(_benchmarks(sets), scorer)


def _scorer(model: Model | str | Path, device: str) -> Scorer:
    devices.check(device)
    if isinstance(model, Model):
        if device != devices.AUTO:
            raise ParameterError(f"device '{device}': {model.folder} is loaded; name its device in `load`")
        return model.scorer
    folder = Path(model)
    if is_model_folder(folder):
        return load_scorer(folder, device)
    if not folder.is_dir():
        raise ModelError(f"{folder}: no such folder; name one with a trained model")
    return ExternalEncoder(folder, _BATCH_SIZE, device)


def _benchmarks(sets: Sequence[AnyEntry]) -> Benchmarks:
    with TemporaryDirectory() as folder:
        raw = Path(folder)
        present = download(catalogue.suite(sets).sources, raw, "the same command again")
        readings = [reading for source in present for reading in read_evaluation(source, raw / source.name)]
    return Benchmarks(*index_readings(readings))
