"""The parameters that determine a result, as a flat mapping by dotted key."""

import re
from collections.abc import Callable, Mapping
from copy import deepcopy
from pathlib import PurePath
from typing import Any

from paraphrastic.base.parameters import FILES, PARAMS
from paraphrastic.papers.plan import Run

Flat = Mapping[str, Any]

ANY_FILE = "*"  # expected value of `vectors` that the name of any file equals

_STAGES = ("corpus", "benchmarks", "tokenize", "vocabulary", "model", "train", "seed")
_NOT_RESULTS = ("num_threads", "device", "processes", "tasks")  # last parts of keys that do not change a result


def read_all(read: Callable[[str], Any]) -> dict[str, Any]:
    """Return the content of all parameter files as one mapping: that of models.yaml is its entry `models`.

    Args:
        read: returns the content of a file; an empty mapping if it is missing.
    """
    blocks = {name: content for name, file in FILES.items() if (content := read(file))}
    return {**read(str(PARAMS)), **blocks, **blocks.get("analyses", {})}


def expected(params: Mapping[str, Any], run: Run) -> Flat:
    """Return the parameters of `run`: those of params.yaml with the settings of the run.

    Args:
        params: content of params.yaml.
        run: the run.
    """
    changed: dict[str, Any] = deepcopy(dict(params))
    for key, value in {**run.settings, **_initial_vectors(params, run), "seed": run.seed}.items():
        *outer, last = key.split(".")
        block = changed
        for name in outer:
            block = block[name]
        block[last] = value
    return determining(changed, bool(run.tasks))


def needs_vectors(params: Mapping[str, Any], run: Run) -> bool:
    """Return whether the user names the word vectors of `run`: those of models of words on the papers' data.

    Args:
        params: content of params.yaml.
        run: the run.
    """
    named = run.start is not None or f"models.{run.model}.vectors" in run.settings
    return run.data == "paper" and not named and "vectors" in (params["models"][run.model] or ())


def determining(params: Mapping[str, Any], with_tasks: bool) -> Flat:
    """Return the parameters that determine metrics; those of supervised tasks only if `with_tasks`."""
    keys = [*_STAGES, f"models.{params['model']}"]
    if with_tasks:
        keys += ["finetune", f"taggers.{params['finetune']['tagger']}"]
    flat = {key: value for name in keys for key, value in _flatten(name, _find(params, name)).items()}
    return {key: _normal(key, value) for key, value in flat.items() if key.rpartition(".")[2] not in _NOT_RESULTS}


def without_seed(flat: Flat) -> Flat:
    """Return parameters without the seed, also without that of the run whose embeddings are the initial vectors."""
    kept = {key: value for key, value in flat.items() if key != "seed"}
    names = {key: value for key, value in kept.items() if key.endswith(".vectors") and isinstance(value, str)}
    return kept | {key: re.sub(r"-s\d+(?=\.txt$)", "", name) for key, name in names.items()}


def differences(found: Flat, wanted: Flat) -> list[str]:
    """Return the keys that both mappings have with different values.

    A key that one of them lacks is a parameter that an earlier version did not have; its default is what that version
    did.

    Args:
        found: parameters of a result.
        wanted: expected ones, in which a value can be `ANY_FILE`.
    """
    common = found.keys() & wanted.keys()
    return sorted(key for key in common if found[key] != wanted[key] and not (found[key] and wanted[key] == ANY_FILE))


def _initial_vectors(params: Mapping[str, Any], run: Run) -> dict[str, str]:
    key = f"models.{run.model}.vectors"
    if run.start is not None:
        return {key: f"{run.start.name}.txt"}
    return {key: ANY_FILE} if needs_vectors(params, run) else {}


def _find(params: Mapping[str, Any], key: str) -> Any:
    value: Any = params
    for name in key.split("."):
        value = value[name]
    return value


def _flatten(name: str, value: Any) -> dict[str, Any]:
    """Return the options of a block by dotted key; an option that is itself a mapping is one value."""
    return {f"{name}.{key}": each for key, each in value.items()} if isinstance(value, dict) else {name: value}


def _normal(key: str, value: Any) -> Any:
    """Return a value in the form in which equal choices are equal, also after it was stored as JSON."""
    if key == "corpus":
        return [value] if isinstance(value, str) else value
    if isinstance(value, dict):
        return {str(name): each for name, each in value.items()}
    return PurePath(value).name if key.endswith(".vectors") and isinstance(value, str) else value
