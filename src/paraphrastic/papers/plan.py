"""The runs that experiments need: name and command of each, and the parameters that determine its result.

Parameters that determine a result are a flat mapping by dotted key.
"""

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from operator import getitem
from pathlib import Path, PurePath
from typing import Any

from paraphrastic.base.errors import ParameterError
from paraphrastic.base.parameters import FILES, LOSS, PARAMS, place
from paraphrastic.nn.options import EncoderConfig
from paraphrastic.papers.experiments import TASKS, Data, Experiment, Experiments, Preset, Replica, Row
from paraphrastic.sources.catalogue import catalogue

Flat = Mapping[str, Any]

SUITES: dict[Data, str] = {"open": "open", "replica": "open", "paper": "papers"}
_NAMED = ("model", "corpus", "benchmarks")  # settings that each run names, also if params.yaml has the same
ANY_FILE = "*"  # expected value of `vectors` that the name of any file equals
_STAGES = ("corpus", "benchmarks", "tokenize", "vocabulary", "model", "train", "seed")
_NOT_RESULTS = ("num_threads", "device", "processes", "tasks")  # last parts of keys that do not change a result
_LATER = {"train.loss": LOSS, "train.loss_options": None}  # parameters that stored records may lack, and what they did
# analyses that read no evaluation sets, or, as `resamples`, those of the other columns of a row alone
_OF_TRAINING = {"cosine-gap", "gates", "neighbors", "norms", "resamples"}
RESAMPLES = "resamples"  # the analysis from which intervals are computed; a result keeps the columns that are read
# options that the block of a model may leave out
_DEFAULTS = {name: field.default for name, field in EncoderConfig.model_fields.items() if not field.is_required()}
_LITERALS = ("true", "false", "null", "nan", "inf")  # plain words that `-S` does not take for strings


@dataclass(frozen=True)
class Run:
    """One DVC experiment."""

    model: str
    # values by dotted key that replace those of params.yaml, without seed, tasks and analyses
    settings: Mapping[str, Any]
    seed: int
    tasks: tuple[str, ...] = ()  # supervised tasks to train on
    analyses: tuple[str, ...] = ()
    start: "Run | None" = None  # the run whose word embeddings are the initial vectors; None if there is none
    # the run with whose scores the analyses of two runs compare those of this one; None if there is none
    against: "Run | None" = None
    sets: bool = True  # whether the evaluation sets are scored, which takes longer than some tasks do
    data: Data = "open"  # the kind of data, which decides whether models of words start from a file of word vectors
    # first parts of the names of the sets and tasks that are shown, as `words`; means and most analyses are of `sts`
    families: frozenset[str] = frozenset({"sts"})
    vectors: str | None = None  # the source of the initial vectors if `start` is None; None if there is none

    @cached_property
    def configuration(self) -> str:
        """Name of the configuration, without the seed: equal settings have the same name in every experiment."""
        content = [dict(self.settings), self.start.configuration if self.start else self.vectors or ""]
        digest = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
        return f"{self.model}-{digest[:8]}"

    @property
    def name(self) -> str:
        """Name of the DVC experiment."""
        return f"{self.configuration}-s{self.seed}"

    @property
    def corpora(self) -> list[str]:
        """Names of the corpora of training pairs."""
        return list(self.settings["corpus"])

    def command(self, vectors: Path | None, threads: int | None = None) -> list[str]:
        """Return the command that queues the experiment.

        Args:
            vectors: file with the initial vectors.
            threads: threads of the CPU; None leaves those of params.yaml.
        """
        settings = {**self.settings, "seed": self.seed}
        settings |= {"finetune.tasks": list(self.tasks)} if self.tasks else {}
        settings |= {"analyses": list(self.analyses)} if self.analyses else {}
        settings |= {f"models.{self.model}.vectors": str(vectors)} if vectors else {}
        path = f"models.{self.model}.path"  # of an encoder; experiments run in other folders
        settings |= {path: str(Path(settings[path]).absolute())} if path in settings else {}
        settings |= {f"models.{self.model}.num_threads": threads} if threads else {}
        options = [word for key, value in settings.items() for each in overrides(key, value) for word in ("-S", each)]
        needed = {"evaluate": self.sets, "finetune/dvc.yaml": self.tasks, "analyze/dvc.yaml": self.analyses}
        targets = [target for target, each in needed.items() if each]
        return ["dvc", "exp", "run", "--queue", "--name", self.name, *targets, *options]


def plan(experiments: Sequence[Experiment], declared: Experiments, data: Data, seeds: Sequence[int] = ()) -> list[Run]:
    """Return the distinct runs that `experiments` need, each after the run whose embeddings it starts from.

    `seeds` replace those of the declarations.
    """
    needed = (
        run
        for experiment in experiments
        for row in experiment.rows
        if not (row.hidden and data != "open")  # what rows start from there, `Replica` declares or a person names
        for run in runs_of_row(experiment, row, declared, data, seeds)
    )
    return merge(each for run in needed for each in (run.start, run.against, run) if each)


def runs_of_row(
    experiment: Experiment, row: Row, declared: Experiments, data: Data, seeds: Sequence[int] = ()
) -> list[Run]:
    """Return one run of a row for each seed.

    Raises:
        ParameterError: for `replica`, a project without `replica.toml`.
    """
    if data == "replica" and declared.replica is None:
        raise ParameterError("experiments: no replica.toml, which says what stands for the papers' data")
    own, usual = row.seeds, experiment.seeds
    if data == "replica" and declared.replica:
        own, usual = row.replica_seeds, declared.replica.seeds
    return [_run(experiment, row, declared, data, seed) for seed in seeds or own or usual]


def merge(runs: Iterable[Run]) -> list[Run]:
    """Return runs without repetition; one that two experiments need gets the tasks and analyses of both."""
    by_name: dict[str, Run] = {}
    for run in runs:
        known = by_name.get(run.name, run)
        tasks = tuple(dict.fromkeys([*known.tasks, *run.tasks]))
        analyses = tuple(dict.fromkeys([*known.analyses, *run.analyses]))
        against, sets, families = known.against or run.against, known.sets or run.sets, known.families | run.families
        joint = replace(known, tasks=tasks, analyses=analyses, against=against, sets=sets, families=families)
        by_name[run.name] = joint
    return list(by_name.values())


def _run(experiment: Experiment, row: Row, declared: Experiments, data: Data, seed: int) -> Run:
    corpus = row.corpus or experiment.corpus
    replica = declared.replica if data == "replica" else None
    names = replica.pairs(corpus).corpus if replica else getattr(corpus, data)
    settings: dict[str, Any] = {"model": row.model, "corpus": names, "benchmarks": SUITES[data]}
    settings |= _declared(experiment, row, declared, data)
    own = row.start if data == "open" else None, row.against
    start, against = (_run(experiment, experiment.row(name), declared, data, seed) if name else None for name in own)
    tasks, analyses = tuple(row.paper_tasks if data == "paper" and row.paper_tasks else row.tasks), tuple(row.analyses)
    keys, sets = experiment.keys_of(row).values(), experiment.needs_sets(row)
    families = _families(keys, tasks, analyses, settings.get("train.select", ""))
    run = Run(row.model, _changed(settings, declared), seed, tasks, analyses, start, against, sets, data, families)
    if replica is None:
        return run
    run = replace(run, analyses=(*analyses, RESAMPLES) if sets else analyses)
    return replace(run, start=start_of(replica, declared)) if needs_vectors(declared.params, run) else run


def start_of(replica: Replica, declared: Experiments) -> Run:
    """Return the run whose word vectors stand for PARAGRAM-SL999."""
    start, pairs = replica.start, replica.start_corpus
    settings = {"model": start.model, "corpus": pairs.corpus, "benchmarks": SUITES["replica"]} | pairs.set | start.set
    settings |= {f"models.{start.model}.{key}": value for key, value in start.options.items()}
    return Run(start.model, _changed(settings, declared), 1, data="replica", vectors=replica.vectors)


def _changed(settings: Mapping[str, Any], declared: Experiments) -> dict[str, Any]:
    """Return the settings that differ from params.yaml, and those that each run names."""
    values = {key: None if value == "null" else value for key, value in settings.items()}
    return {key: value for key, value in values.items() if key in _NAMED or _differs(declared.params, key, value)}


def _declared(experiment: Experiment, row: Row, declared: Experiments, data: Data) -> dict[str, Any]:
    """Return the settings of a row by dotted key: on open data its own, on others with those of its preset."""
    tuned = {key if "." in key else f"models.{row.model}.{key}": value for key, value in row.tuned.items()}
    if data == "open":
        return _of_model(row, row.options | row.open_options) | row.set | tuned
    preset = declared.presets[row.preset] if row.preset else Preset(model=row.model, options={})
    shared, own_set = preset.set | experiment.paper_set, row.set | row.paper_set
    if data == "paper" or declared.replica is None:
        overlap = {"tokenize.drop_overlap": False} if experiment.paper else {}  # the papers train on all pairs
        options = preset.options | row.options | row.paper_options
        return _of_model(row, options) | overlap | shared | own_set | tuned
    replica, corpus = declared.replica, row.corpus or experiment.corpus
    own = preset.options | replica.presets.get(row.preset or "", {}) | row.options | row.paper_options
    block = declared.params["models"][row.model] or {}
    words = {key: value for key, value in replica.words.items() if "vectors" in block and key in block}
    own |= words | row.replica_options
    return _of_model(row, own) | shared | replica.pairs(corpus).set | own_set | row.replica_set | tuned


def _of_model(row: Row, options: Mapping[str, Any]) -> dict[str, Any]:
    return {f"models.{row.model}.{key}": value for key, value in options.items()}


def _families(keys: Iterable[str], tasks: Sequence[str], analyses: Sequence[str], select: str) -> frozenset[str]:
    """Return the first parts of the keys of values and of tasks, such as `words`; `sts` if all sets of it are read."""
    values = {key.removeprefix(TASKS) for key in keys if "{task}" not in key}
    tables = {*analyses, *(key.partition("[")[0] for key in values if "[" in key)}
    own = {re.split(r"[.-]", name)[0] for name in (*values, *tasks) if "[" not in name}
    every = "transfer" in own or tables - _OF_TRAINING or select == "oracle"
    return frozenset(own | ({"sts"} if every else set()))


def _differs(params: Mapping[str, Any], key: str, value: Any) -> bool:
    """Return whether a value is another one than that of params.yaml: equal configurations have equal settings."""
    try:
        return bool(reduce(getitem, key.split("."), params) != value)
    except (KeyError, TypeError):  # no such key
        return True


def overrides(key: str, value: Any) -> list[str]:
    """Return the arguments of `-S` that set a key."""
    file, colon, key = place(key).rpartition(":")
    if isinstance(value, dict):  # remove the mapping of the file, with which the new one would be merged
        return [f"{file}{colon}~{key}", f"{file}{colon}+{key}={_override(value)}"]
    return [f"{file}{colon}{key}={_override(value)}"]


def _override(value: Any) -> str:
    """Return a value in the form that `-S KEY=VALUE` takes."""
    match value:
        case None:
            return "null"
        case bool():
            return str(value).lower()
        case list():
            return f"[{','.join(map(_override, value))}]"
        case dict():
            return f"{{{','.join(f'{key}:{_override(each)}' for key, each in value.items())}}}"
        case str() if not re.fullmatch(r"[A-Za-z/][\w./-]*", value) or value.lower() in _LITERALS:
            escaped = re.sub(r"(\\*)('|$)", lambda found: 2 * found[1] + (r"\'" if found[2] else ""), value)
            return f"'{escaped}'"
    return str(value)


def read_all(read: Callable[[str], Any]) -> dict[str, Any]:
    """Return the content of all parameter files as one mapping: that of models.yaml is its entry `models`.

    Args:
        read: returns the content of a file; an empty mapping if it is missing.
    """
    blocks = {name: content for name, file in FILES.items() if (content := read(file))}
    return {**read(str(PARAMS)), **blocks, **blocks.get("analyses", {})}


def expected(params: Mapping[str, Any], run: Run) -> Flat:
    """Return the parameters of `run`: those of params.yaml with the settings of the run."""
    own = ANY_FILE if needs_vectors(params, run) else None
    own = catalogue().sources[run.vectors].files[0].path if run.vectors else own
    vectors = f"{run.start.name}.txt" if run.start else own
    initial = {f"models.{run.model}.vectors": vectors} if vectors else {}
    settings = {**run.settings, **initial, "seed": run.seed}
    return determining(reduce(_replaced, settings.items(), params), bool(run.tasks))


def _replaced(tree: Flat, setting: tuple[str, Any]) -> Flat:
    """Return a nested mapping with another value at a dotted key."""
    (first, _, rest), value = setting[0].partition("."), setting[1]
    return {**tree, first: _replaced(tree[first], (rest, value)) if rest else value}


def needs_vectors(params: Mapping[str, Any], run: Run) -> bool:
    """Return whether `run` needs initial word vectors that it does not name: models of words, not on open data."""
    named = run.start is not None or run.vectors is not None or f"models.{run.model}.vectors" in run.settings
    unread = run.families == {"tags"}  # taggers read characters
    return run.data != "open" and not named and not unread and "vectors" in (params["models"][run.model] or ())


def determining(params: Mapping[str, Any], with_tasks: bool) -> Flat:
    """Return the parameters that determine metrics; those of supervised tasks only if `with_tasks`."""
    keys = [*_STAGES, f"models.{params['model']}"]
    if with_tasks:
        keys += ["finetune", f"taggers.{params['finetune']['tagger']}"]
    flat: dict[str, Any] = {}
    for name in keys:  # an option that is itself a mapping is one value
        value = reduce(getitem, name.split("."), params)
        is_section = isinstance(value, dict) and name not in ("corpus", "benchmarks")  # or one file of the user
        flat |= {f"{name}.{key}": each for key, each in value.items()} if is_section else {name: value}
    return {key: _normal(key, value) for key, value in flat.items() if key.rpartition(".")[2] not in _NOT_RESULTS}


def corpus_text(entries: Iterable[Any]) -> str:
    """Return the corpora and files of training pairs as one word, such as `open+pairs.tsv`."""
    return "+".join(each if isinstance(each, str) else each["path"] for each in entries)


def without_seed(flat: Flat) -> Flat:
    """Return parameters without the seed, also without that of the run whose embeddings are the initial vectors."""
    kept = {key: value for key, value in flat.items() if key != "seed"}
    names = {key: value for key, value in kept.items() if key.endswith(".vectors") and isinstance(value, str)}
    return kept | {key: re.sub(r"-s\d+(?=\.txt$)", "", name) for key, name in names.items()}


def differences(found: Flat, wanted: Flat) -> list[str]:
    """Return the keys that both mappings have with different values.

    A key that one of them lacks is a parameter that an earlier version did not have; its default is what that version
    did. A value in `wanted` can be `ANY_FILE`.
    """
    unsaid = {key: _DEFAULTS[name] for key in {*found, *wanted} if (name := key.rpartition(".")[2]) in _DEFAULTS}
    found, wanted = _LATER | unsaid | {**found}, unsaid | {**wanted}
    common = found.keys() & wanted.keys()
    return sorted(key for key in common if found[key] != wanted[key] and not (found[key] and wanted[key] == ANY_FILE))


def _normal(key: str, value: Any) -> Any:
    """Return a value in the form in which equal choices are equal, also after it was stored as JSON."""
    if key == "corpus":
        return value if isinstance(value, list) else [value]
    if isinstance(value, dict):
        return {str(name): each for name, each in value.items()}
    return PurePath(value).name if key.endswith((".vectors", ".path")) and isinstance(value, str) else value
