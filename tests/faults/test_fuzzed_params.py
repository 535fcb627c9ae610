"""Parameter files with keys and values that are wrong, odd or missing: one line for each of them, from every stage."""

import copy
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import strategies as st

import pipeline.inputs as stage
from paraphrastic import models
from paraphrastic.base.errors import ParaphrasticError
from paraphrastic.base.parameters import FILES, checked, load_params, read_mapping
from paraphrastic.finetuning.options import FinetuneConfig, tagger_config_class
from tests.helpers.odd_input import WORDS, damaged
from tests.helpers.parameter_files import NAMES as PARAMETER_FILES
from tests.helpers.parameter_files import copy_parameters, read_parameters, write_parameters
from tests.helpers.repository import ROOT

pytestmark = [pytest.mark.faults, pytest.mark.slow]

TEXT = (ROOT / "params.yaml").read_bytes()
PARAMS = read_parameters()
FEW: dict[str, Any] = PARAMS | {"models": {name: PARAMS["models"][name] for name in ("avg", "charcnn", "tfidf-words")}}
NUMBERS = [0, -1, 1, 7, 2**31, 2**63, 10**40, 0.5, -0.0, 1e-320, 1e308, float("nan"), float("inf"), True, None]
NAMES = [
    *("", ".", "~", "~nobody/x", "sample", "open", "a.csv", "/dev/null", "a\0b.csv", "x" * 300 + ".csv", "cuda:99"),
    "\n",
]
PRINTABLE = [word for word in WORDS if word.isprintable()]
SCALARS = st.sampled_from(NUMBERS) | st.sampled_from(NAMES) | st.sampled_from(PRINTABLE)
KEYS = st.sampled_from(["path", "columns", "quotes", "dim", "", "a", "own"]) | st.sampled_from([0, 2, None, 1.5, True])
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3), max_leaves=5
)


def places(tree: object, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the path of each value in nested mappings and lists."""
    items = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    return [found for key, value in items for found in ((*path, key), *places(value, (*path, key)))]


PLACES = [place for place in places(FEW) if place[0] not in ("models", "taggers") or len(place) > 1]


def edited(edits: list[tuple[tuple[Any, ...], str, Any]]) -> dict[str, Any]:
    """Return the parameters after edits, those of places that an earlier edit removed left out."""
    content = copy.deepcopy(FEW)
    for place, how, value in edits:
        block: Any = content
        for key in place[:-1]:
            block = block[key] if isinstance(block, dict) and key in block else None
        if isinstance(block, dict) and place[-1] in block:
            if how == "remove":
                del block[place[-1]]
            else:
                block["zzz" if how == "add" else place[-1]] = value
    return content


def read_all() -> None:
    """Read the parameter files as all stages do; an error of one block does not hide those of others."""
    params, taggers = load_params(), read_mapping(Path(FILES["taggers"]))
    checks = [stage.main, lambda: checked(FinetuneConfig, read_mapping(Path(FILES["finetune"])), "finetune")]
    checks += [partial(check_block, models.config_class, "models", *entry) for entry in params.models.items()]
    checks += [partial(check_block, tagger_config_class, "taggers", *entry) for entry in taggers.items()]
    errors = []
    for check in checks:
        try:
            check()
        except ParaphrasticError as error:
            errors.append(error)
    if errors:
        raise errors[0]


def check_block(config_class: Callable[[str], Any], group: str, name: str, options: Any) -> None:
    checked(config_class(name), options, group, name)


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))


def write_only(content: dict[str, Any]) -> None:
    """Write parameters to the working directory, in which no other parameter files are left."""
    for name in PARAMETER_FILES:
        Path(name).unlink(missing_ok=True)
    write_parameters(Path(), content)


def test_changed_values(tries):
    how = st.sampled_from(["replace", "replace", "replace", "add", "remove"])
    edit = st.tuples(st.sampled_from(PLACES), how, VALUES)

    def check(edits):
        write_only(edited(edits))
        read_all()

    check([])  # what is edited is accepted
    tries.fuzz(60, check, st.lists(edit, min_size=1, max_size=2))


def test_changed_model_corpus_and_files(tries):
    def check(model, key, value):
        content = copy.deepcopy(PARAMS) | {"model": model, "models": {model: dict(PARAMS["models"][model])}}
        if key in content:
            content[key] = value
        elif key == "teacher":
            content["teacher"] |= {"path": value}
        else:
            content["models"][model][key] = value
        write_only(content)
        read_all()

    keys = ["corpus", "benchmarks", "teacher", "vectors", "path"]
    tries.fuzz(60, check, st.sampled_from(models.names()), st.sampled_from(keys), VALUES)


def test_damaged_text(tries):
    copy_parameters(Path())

    def check(content):
        Path("params.yaml").write_bytes(content)
        read_all()

    syntax = [
        *("\t", "&a ", "*a", "<<: ", "!!python/object:os.system ", "? ", "---\n", "%YAML 9\n", "- ", ": ", "|\n"),
        *(">\n", "'", '"', "{", "[", "!!binary ", "!!set ", "!!timestamp ", "\ufeff", "\x85", "\u2028"),
    ]
    insertion = st.tuples(st.integers(0, len(TEXT)), st.sampled_from(syntax))
    inserted = insertion.map(lambda each: TEXT[: each[0]] + each[1].encode() + TEXT[each[0] :])
    tries.fuzz(60, check, damaged(TEXT) | inserted | damaged(TEXT[:400]))


def test_set_that_no_suite_has_is_refused_by_the_first_stage():
    copy_parameters(Path())
    text = Path("params.yaml").read_text()
    Path("params.yaml").write_text(text.replace("select: test", "select: sample.rolse"))
    with pytest.raises(ParaphrasticError, match=r"^params\.yaml: train\.select: .* did you mean 'sample\.roles'"):
        stage.main()
