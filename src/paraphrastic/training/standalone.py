"""Train and evaluate without the pipeline: files of pairs → an encoder in a folder, any encoder and sets → metrics."""

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from multiprocessing import current_process
from pathlib import Path
from shutil import rmtree
from tempfile import TemporaryDirectory
from typing import Any

from paraphrastic.base import devices
from paraphrastic.base.console import message
from paraphrastic.base.errors import ParameterError
from paraphrastic.base.files import fingerprint, locked, scratch_folder
from paraphrastic.base.parameters import Params, checked, default_params, load_params
from paraphrastic.corpus.tokenizing import index_readings, read_evaluation, tokenize_sources
from paraphrastic.evaluation.suite import Benchmarks, Results, load_selection
from paraphrastic.evaluation.suite import evaluate as evaluate_scorer
from paraphrastic.inference.model import Model
from paraphrastic.inference.model_folder import folder_of, load, load_scorer
from paraphrastic.inference.places import check_not_here, check_replaceable, is_model_folder
from paraphrastic.models import check_student, config_class, model_class, named_files, teacher_folders
from paraphrastic.readers.own_data import check_files
from paraphrastic.scoring.external_encoder import ExternalEncoder
from paraphrastic.scoring.scorer import Scorer
from paraphrastic.scoring.teaching import teach
from paraphrastic.sources.catalogue import check_corpus, check_select, corpus, suite
from paraphrastic.sources.fetching import download
from paraphrastic.sources.locations import cache_folder
from paraphrastic.sources.own_files import AnyDataEntry, listed, report_left_out
from paraphrastic.sources.source import Source, Suite
from paraphrastic.training import losses
from paraphrastic.training.pair_trainers import check_model
from paraphrastic.training.train_model import Tables, starts_processes, train_model
from paraphrastic.training.trainer import Callback, check_callbacks
from paraphrastic.vocabulary.corpus_counts import count_vocabulary

_BATCH_SIZE = 256  # sentences per call of an encoder of another package
_AS_GIVEN = r"^(mteb|features|own)\."  # sets whose text an encoder of another package gets as it is


def train(
    pairs: AnyDataEntry | Sequence[AnyDataEntry],
    out: str | Path,
    model: str = "avg",
    benchmarks: AnyDataEntry | Sequence[AnyDataEntry] = (),
    settings: Mapping[str, Any] | None = None,
    params: str | Path | None = None,
    callbacks: Sequence[Callback] = (),
) -> Model:
    """Train an encoder on pairs of paraphrases.

    An interrupted training goes on where it stopped when the same call is repeated. With `train.processes` the call
    has to be under `if __name__ == "__main__":`, because each process imports the main module. Without it, a
    training leaves torch with the model's number of threads and another random state.

    Args:
        pairs: files, folders of files, and names of corpora such as `open`; see `sources.own_files`.
        out: folder of the model; a model that is there is replaced.
        model: an entry of models.yaml.
        benchmarks: evaluation sets that select the epoch, and whose sentences are kept out of training; without any,
            the last epoch is kept, and nothing is.
        settings: other values of params.yaml and models.yaml, such as `{"seed": 2, "models.yaml:avg.dim": 100}`.
        params: a file like params.yaml, with models.yaml beside it; by default that of the working directory, or of
            this package. Its `corpus`, `model`, `benchmarks` and, without evaluation sets, `train.select` are not read.
        callbacks: follow the training, see `trainer.Callback`.

    Raises:
        ParameterError: a name or a setting is unknown or has a wrong value, a callback is none, `out` is there and is
            no model, or another process imports the main module.
        SourceError: a file is missing or cannot be fetched.
        DataError: a file is damaged, or no pair is left.
    """
    if getattr(current_process(), "_inheriting", False):
        raise ParameterError(
            'train: call it under `if __name__ == "__main__":`, as its processes import the main module'
        )
    check_callbacks(callbacks)
    out = Path(out)
    if not (out.is_dir() and not any(out.iterdir())):
        check_replaceable(out)
    check_not_here(out)
    chosen, sets = _chosen(listed(pairs), model, listed(benchmarks), settings or {}, params)
    sources = corpus(chosen.corpus, chosen.tokenize.licences)
    _check(chosen, sources, sets, callbacks)
    report_left_out((*chosen.corpus, *listed(benchmarks)))
    work = _work_folder(chosen, (*sources, *sets.sources))
    tables = Tables(work / "corpus", work / "vocabulary", work / "benchmarks", work / "teacher")
    with locked(work, "trains with the same options on the same data"):
        if not tables.vocabulary.is_dir():
            _prepare(chosen, sources, sets, work, tables)
        if not tables.teacher.is_dir():
            teach(chosen, tables.corpus, tables.vocabulary, work / "shards", tables.teacher)
        train_model(chosen, tables, work / "checkpoints", out, callbacks)
        with scratch_folder(work) as scratch:  # removed at once: a training does not go on from a part of its tables
            work.replace(scratch / work.name)
    return load(out)


def evaluate(model: Model | str | Path, *sets: AnyDataEntry, device: str = devices.AUTO) -> Results:
    """Score a model on evaluation sets.

    Args:
        model: a model, `small`, or a folder that this package, sentence-transformers or model2vec wrote. An encoder of
            these two gets the text of the suites `mteb-sts` and `features`, and of files, as it is; of other suites it
            gets lower-cased tokens.
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
    is_other = not isinstance(model, Model) and not is_model_folder(folder_of(model))
    report_left_out(listed(sets))
    return evaluate_scorer(_benchmarks(sets, _AS_GIVEN if is_other else None), scorer)


def _chosen(
    pairs: list[Any], model: str, benchmarks: list[Any], settings: Mapping[str, Any], params: str | Path | None
) -> tuple[Params, Suite]:
    """Return the parameters of a training and its evaluation sets."""
    if given := {"corpus", "model", "benchmarks"} & {*settings}:
        raise ParameterError(f"{min(given)}: is no setting here, but an argument or option of its own; name it there")
    selection: dict[str, Any] = {"benchmarks": benchmarks} if benchmarks else {"train.select": "none"}
    changes = {"corpus": pairs, "model": model, **selection, **settings}
    chosen = load_params(Path(params) if params else default_params(), changes)
    if benchmarks:
        return chosen, suite(chosen.benchmarks)
    if chosen.train.select != "none":
        raise ParameterError(f"train.select = {chosen.train.select!r}: no sets could select; name some as benchmarks")
    return chosen, Suite((), "none")


def _check(params: Params, sources: Sequence[Source], sets: Suite, callbacks: Sequence[Callback]) -> None:
    """Refuse, before anything long, what a later step would refuse."""
    config = checked(config_class(params.model), params.models[params.model], "models", params.model)
    losses.options(params.train, config)
    check_model(model_class(params.model), config)
    named_files(params)
    teacher_folders(params)
    check_callbacks(callbacks, starts_processes(params))
    devices.find(params.train.device)
    check_files((*sources, *sets.sources), params.tokenize.limits_scores)
    check_student(params)
    check_corpus(sources, params.tokenize, params.teacher, params.train.source_weights or ())
    check_select(params.train.select, sets)


def _work_folder(params: Params, sources: Sequence[Source]) -> Path:
    """Return the folder of the tables and checkpoints of a training, which is named after all that it reads."""
    files = [Path(source.options["own"].path) for source in sources if "own" in source.options]
    return cache_folder() / "work" / fingerprint(params, *files, *map(Path, params.teacher.path))


def _prepare(params: Params, sources: Sequence[Source], sets: Suite, work: Path, tables: Tables) -> None:
    """Write the tables of a training, all of them or, after an error, none."""
    with ExitStack() as after_failure:
        after_failure.callback(rmtree, work, ignore_errors=True)
        download((*sources, *sets.sources), work / "raw", "the same command again")
        folders = work / "raw", tables.corpus, tables.benchmarks
        check = partial(load_selection, select=params.train.select)
        for row in tokenize_sources(sources, sets, *folders, params.tokenize, params.seed, check):
            dropped = ", ".join(f"{count} {reason}" for reason, count in row.items() if reason != "source" and count)
            message(f"{row['source']}: {dropped}")
        count_vocabulary(tables.corpus, tables.vocabulary, params.vocabulary)
        after_failure.pop_all()


def _scorer(model: Model | str | Path, device: str) -> Scorer:
    devices.check(device)
    if isinstance(model, Model):
        if device != devices.AUTO:
            raise ParameterError(f"device '{device}': {model.folder} is loaded; name its device in `load`")
        return model.scorer
    folder = folder_of(model)
    if is_model_folder(folder) or not folder.is_dir():
        return load_scorer(folder, device)
    return ExternalEncoder(folder, _BATCH_SIZE, device)


def _benchmarks(sets: Sequence[AnyDataEntry], as_given: str | None) -> Benchmarks:
    sources = suite(sets).sources
    check_files(sources)
    with TemporaryDirectory() as folder:
        raw = Path(folder)
        present = download(sources, raw, "the same command again")
        readings = [reading for source in present for reading in read_evaluation(source, raw / source.name)]
    return Benchmarks(*index_readings(readings, as_given))
