"""params.yaml: the committed file is valid, and each kind of mistake in it is reported in one line."""

from collections.abc import Callable, Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any, Literal

import pytest
from dvc.utils.serialize import modify_yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from ruamel.yaml import YAML

from paraphrastic import models
from paraphrastic.base.errors import ParameterError
from paraphrastic.base.parameters import RENAMED, Params, checked, load_params, parameter_error
from paraphrastic.finetuning.config import FinetuneConfig
from paraphrastic.finetuning.tagging.tagger_config import tagger_config_class
from tests.helpers.repository import ROOT

COMMITTED = (ROOT / "params.yaml").read_text()
WITHOUT_MODELS = COMMITTED[: COMMITTED.index("models:")]
SEED_LINE = COMMITTED[: COMMITTED.index("\nseed: 1")].count("\n") + 2
BLOCKS: dict[str, Any] = YAML(typ="safe").load(COMMITTED)


@pytest.fixture
def load(tmp_path):
    """Return the parameters that `content` holds."""

    def parse(content: str) -> Params:
        path = tmp_path / "params.yaml"
        path.write_text(content)
        return load_params(path)

    return parse


@pytest.fixture
def error_in(tmp_path):
    """Return the message about a params.yaml with `content`, without the path that it starts with."""

    def message(content: bytes) -> str:
        path = tmp_path / "params.yaml"
        path.write_bytes(content)
        with pytest.raises(ParameterError) as caught:
            load_params(path)
        line = str(caught.value)
        assert "\n" not in line
        assert line.startswith(str(path))
        return line.removeprefix(str(path)).removeprefix(": ")

    return message


def test_committed_file():
    params = load_params(ROOT / "params.yaml")
    assert params.model in params.models
    assert params.vocabulary.orders == [2, 3, 4]
    assert params.vocabulary.ngrams_per_order is None


def test_layout_of_committed_file(tmp_path):
    # DVC rewrites the whole file for `dvc exp run -S KEY=VALUE`; in its own layout, only the line of KEY changes
    path = tmp_path / "params.yaml"
    path.write_text(COMMITTED)
    with modify_yaml(path):
        pass
    assert path.read_text() == COMMITTED


def test_block_of_each_model():
    assert sorted(BLOCKS["models"]) == models.names()
    for name, block in BLOCKS["models"].items():
        checked(models.config_class(name), block, "models", name)


def test_blocks_of_finetune():
    options = checked(FinetuneConfig, BLOCKS["finetune"], "finetune")
    assert options.tagger in BLOCKS["taggers"]
    for name, block in BLOCKS["taggers"].items():
        checked(tagger_config_class(name), block, "taggers", name)


def test_number_in_yaml_1_2(load):
    assert load(COMMITTED.replace("max_bad_rows: 0.001", "max_bad_rows: 1e-5")).tokenize.max_bad_rows == 1e-5


def test_list_of_corpora(load):
    assert load(COMMITTED.replace("corpus: sample", "corpus: [open, captions]")).corpus == ["open", "captions"]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("seed: 1", "seed: -1", "seed = -1: should be greater than or equal to 0"),
        ("seed: 1", "seed: '1'", "seed = '1': should be a valid integer"),
        ("seed: 1", "seed: true", "seed = True: should be a valid integer"),
        ("seed: 1", "seed: 1.0", "seed = 1.0: should be a valid integer"),
        ("device: auto", "devise: auto", "train.devise: unknown key; did you mean 'device'?"),
        ("  device: auto ", "  # none ", "train.device: missing"),
        ("device: auto", "device: cud", "train.device = 'cud': should be auto, cpu, cuda or cuda:N"),
        ("max_bad_rows: 0.001", "max_bad_rows: 2", "tokenize.max_bad_rows = 2: should be less than or equal to 1"),
        ("max_bad_rows: 0.001", "max_bad_rows: .nan", "tokenize.max_bad_rows = nan: should be a finite number"),
        ("max_bad_rows: 0.001", "max_bad_rows: .inf", "tokenize.max_bad_rows = inf: should be a finite number"),
        ("drop_overlap: true", "drop_overlap: 1", "tokenize.drop_overlap = 1: should be a valid boolean"),
        (
            "count: sentences",
            "count: pair",
            "vocabulary.count = 'pair': should be 'sentences' or 'pairs'; did you mean",
        ),
        ("take_share: 1.0", "take_share: 0", "tokenize.take_share = 0: should be greater than 0"),
        ("take_share: 1.0", "take_share: 1.5", "tokenize.take_share = 1.5: should be less than or equal to 1"),
        ("max_pairs: ", "max_pairs: 0", "tokenize.max_pairs = 0: should be greater than 0"),
        ("max_tokens: ", "max_tokens: 1.0e+6", "tokenize.max_tokens = 1000000.0: should be a valid integer"),
        ("take_by: order", "take_by: file", "tokenize.take_by = 'file': should be 'order' or 'random'"),
        ("  - 3", "  - 7", "vocabulary.orders[1] = 7: should be less than or equal to 6"),
        ("  - 3", "  - 2", "vocabulary.orders = [2, 2, 4]: should be one length or more, ascending"),
        ("corpus: sample", "corpus: []", "corpus = []: should be a name, a path, or a list of them"),
        ("corpus: sample", "corpus: [[a]]", "should be a name, a path, or a list of them"),
        ("corpus: sample", "corpus: ''", "corpus = '': should be a name, a path, or a list of them"),
        ("model: avg", "modle: avg", "modle: unknown key; did you mean 'model'?"),
        ("seed: 1", "seed: 1\nzzz: 2", "zzz: unknown key; known are model, corpus, benchmarks, seed, "),
        ("seed: 1", "seed: 1\n7: 2", "[7] = 7: Keys should be strings"),
        ("model: avg", "model: avgg", "model: unknown entry of models 'avgg': did you mean 'avg'?"),
        ("models: ", "models: {avg: } #", "models.avg = None: should be a valid dictionary"),
        ("seed: 1", "seed: 1\nseed: 2", f', line {SEED_LINE + 1}: not valid YAML: found duplicate key "seed"'),
        ("seed: 1", "seed:\t[1", f", line {SEED_LINE}: not valid YAML: found character '\\t'"),
        ("  device", "\tdevice", "not valid YAML: found character '\\t' that cannot start any token"),
        ("  device", "   device", "not valid YAML: expected <block end>"),
        ("seed: 1", "seed: 2001-99-99", "not valid YAML: month must be in 1..12"),
        ("seed: 1", "seed: !!int x", "not valid YAML: invalid literal for int()"),
        ("seed: 1", "seed: !!bool x", "not valid YAML: 'x'"),
        ("seed: 1", "seed: !!int ''", "not valid YAML: string index out of range"),
        ("seed: 1", f"seed: {9 * '9' * 999}", "not valid YAML: Exceeds the limit (4300 digits)"),
        ("seed: 1", f"seed: {3000 * '['}", "not valid YAML: maximum recursion depth exceeded"),
        ("seed: 1", "seed: *one", f", line {SEED_LINE}: not valid YAML: found undefined alias"),
    ],
)
def test_mistake_in_one_line(error_in, old, new, message):
    content = WITHOUT_MODELS + "models: {avg: {}}\n"
    assert old in content
    assert message in error_in(content.replace(old, new, 1).encode())


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty, but should be a mapping with the keys model, corpus"),
        (b"# nothing\n", "is empty"),
        (b"- 1\n", "holds [1], but should be a mapping"),
        (b"hello", "holds 'hello', but should be a mapping"),
        (b"\xe9: 1", "not valid YAML"),
        (b"a: \x00", "not valid YAML"),
    ],
)
def test_file_without_parameters(error_in, content, message):
    assert message in error_in(content)


def test_missing_file(tmp_path):
    with pytest.raises(ParameterError, match=r"params\.yaml: no such file; run this in the root of the repository"):
        load_params(tmp_path / "params.yaml")


class Config(BaseModel):
    """Options of a model."""

    model_config = ConfigDict(strict=True, extra="forbid")
    margin: float = Field(ge=0)
    negatives: Literal["max", "mix", "random"]


@pytest.mark.parametrize(
    ("block", "message"),
    [
        (
            {"margn": 0.4, "negatives": "max"},
            "params.yaml: models.avg.margn: unknown key; did you mean 'margin'?",
        ),
        (
            {"margin": -1, "negatives": "max"},
            "params.yaml: models.avg.margin = -1: should be greater than or equal to 0",
        ),
        (
            {"margin": 0.4, "negatives": "randm"},
            "params.yaml: models.avg.negatives = 'randm': should be 'max', 'mix' or 'random'; did you mean 'random'?",
        ),
        (
            {"margin": 0.4, "negatives": "max", "rate": 0.1},  # this class has no `learning_rate` to suggest
            "params.yaml: models.avg.rate: unknown key; known are margin, negatives",
        ),
    ],
)
def test_mistake_in_block_of_model(block, message):
    with pytest.raises(ValidationError) as caught:
        Config.model_validate(block)
    assert str(parameter_error(caught.value, Config, Path("params.yaml"), "models", "avg")) == message


def _blocks(content: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any], Callable[[], object]]]:
    """Yield the dotted name of each block of params.yaml, the block, and a function that checks it."""
    for name in ("tokenize", "vocabulary", "train"):
        yield name, content[name], lambda: _validate_params(content)
    yield "finetune", content["finetune"], lambda: checked(FinetuneConfig, content["finetune"], "finetune")
    for group, config_class in (("models", models.config_class), ("taggers", tagger_config_class)):
        for name, block in content[group].items():
            yield (
                f"{group}.{name}",
                block,
                lambda c=config_class, g=group, n=name, b=block: checked(c(n), b, g, n),
            )


def _validate_params(content: dict[str, Any]) -> Params:
    try:
        return Params.model_validate(content)
    except ValidationError as error:
        raise parameter_error(error, Params, Path("params.yaml")) from error


@pytest.mark.parametrize(("old", "new"), RENAMED.items())
def test_earlier_spelling(old, new):
    content = deepcopy(BLOCKS)
    blocks = [(name, block, check) for name, block, check in _blocks(content) if new in block]
    assert blocks, f"no block has a key {new}"
    for name, block, check in blocks:
        value = block.pop(new)
        block[old] = value
        with pytest.raises(ParameterError) as caught:
            check()
        assert str(caught.value) == f"params.yaml: {name}.{old}: unknown key; did you mean '{new}'?"
        del block[old]
        block[new] = value
        check()
