"""params.yaml: the committed file is valid, and each kind of mistake in it is reported in one line."""

from typing import Literal

import pytest
from dvc.utils.serialize import modify_yaml
from pydantic import BaseModel, ConfigDict, Field

from paraphrastic import models
from paraphrastic.base.errors import ParameterError
from paraphrastic.base.parameters import Params, checked, load_params, place
from paraphrastic.finetuning.options import FinetuneConfig, tagger_config_class
from tests.helpers.parameter_files import NAMES, read_parameters
from tests.helpers.repository import ROOT

COMMITTED = (ROOT / "params.yaml").read_text()
SEED_LINE, NEXT_LINE = (COMMITTED[: COMMITTED.index(key)].count("\n") + 2 for key in ("\nseed: 1", "\nbenchmarks: "))
BLOCKS = read_parameters()


@pytest.fixture
def load(tmp_path):
    """Return the parameters that `content` holds."""

    def parse(content: str | bytes) -> Params:
        (tmp_path / "params.yaml").write_bytes(content if isinstance(content, bytes) else content.encode())
        (tmp_path / "models.yaml").write_text("avg: {}\n")
        return load_params(tmp_path / "params.yaml")

    return parse


@pytest.fixture
def error_in(load, tmp_path):
    """Return the message about a params.yaml with `content`, without the path that it starts with."""

    def message(content: str | bytes) -> str:
        path = tmp_path / "params.yaml"
        with pytest.raises(ParameterError) as caught:
            load(content)
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


@pytest.mark.parametrize("name", NAMES)
def test_layout_of_committed_file(tmp_path, name):
    # DVC rewrites the whole file for `dvc exp run -S KEY=VALUE`; in its own layout, only the line of KEY changes
    path, content = tmp_path / "copy.yaml", (ROOT / name).read_text()
    path.write_text(content)
    with modify_yaml(path):
        pass
    assert path.read_text() == content


def test_blocks_of_models_and_finetune():
    assert sorted(BLOCKS["models"]) == models.names()
    needed = {"external": "path", "sif": "vectors", "vectors": "vectors"}
    for name, block in BLOCKS["models"].items():
        named = {needed[name]: "file"} if name in needed else {}
        checked(models.config_class(name), block | named, "models", name)
    options = checked(FinetuneConfig, BLOCKS["finetune"], "finetune")
    assert options.tagger in BLOCKS["taggers"]
    for name, block in BLOCKS["taggers"].items():
        checked(tagger_config_class(name), block, "taggers", name)


def test_number_in_yaml_1_2_and_list_of_corpora(load):
    assert load(COMMITTED.replace("max_bad_rows: 0.001", "max_bad_rows: 1e-5")).tokenize.max_bad_rows == 1e-5
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
        ("count: sentences", "count: pair", "vocabulary.count = 'pair': should be 'sentences' or 'pairs'; did you"),
        ("take_share: 1.0", "take_share: 0", "tokenize.take_share = 0: should be greater than 0"),
        ("take_share: 1.0", "take_share: 1.5", "tokenize.take_share = 1.5: should be less than or equal to 1"),
        ("max_pairs: ", "max_pairs: 0", "tokenize.max_pairs = 0: should be greater than 0"),
        ("max_tokens: ", "max_tokens: 1.0e+6", "tokenize.max_tokens = 1000000.0: should be a valid integer"),
        (
            "relations: []",
            "relations: [equivalence]",
            "tokenize.relations[0] = 'equivalence': should be 'Equivalence', ",
        ),
        ("take_by: order", "take_by: file", "tokenize.take_by = 'file': should be 'order' or 'random'"),
        ("  - 3", "  - 7", "vocabulary.orders[1] = 7: should be less than or equal to 6"),
        ("  - 3", "  - 2", "vocabulary.orders = [2, 2, 4]: should be one length or more, ascending"),
        ("corpus: sample", "corpus: []", "corpus = []: should be a name, a path, or a list of them"),
        ("corpus: sample", "corpus: [[a]]", "should be a name, a path, or a list of them"),
        ("corpus: sample", "corpus: ''", "corpus = '': should be a name, a path, or a list of them"),
        ("model: avg", "modle: avg", "modle: unknown key; did you mean 'model'?"),
        ("seed: 1", "seed: 1\nzzz: 2", "zzz: unknown key; known are model, corpus, benchmarks, seed, "),
        ("seed: 1", "seed: 1\n7: 2", "[7] = 7: Keys should be strings"),
        ("model: avg", "model: avgg", "model: unknown entry of models.yaml 'avgg': did you mean 'avg'?"),
        ("seed: 1", "seed: 1\nmodels: {}", "models: unknown key; its place is models.yaml"),
        ("seed: 1", "seed: 1\nfinetune: {}", "finetune: unknown key; its place is finetune/params.yaml"),
        ("seed: 1", "seed: 1\nseed: 2", f', line {SEED_LINE + 1}: not valid YAML: found duplicate key "seed"'),
        ("model: avg", "model: [", f", line {NEXT_LINE}: not valid YAML"),  # the next line does not end the list
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
    assert old in COMMITTED
    assert message in error_in(COMMITTED.replace(old, new, 1))


def test_limits_of_scores_that_exclude_all(error_in):
    content = COMMITTED.replace("min_score:", "min_score: 3.0", 1).replace("max_score:", "max_score: 2.5", 1)
    assert "tokenize.max_score = 2.5: should be at least min_score = 3.0" in error_in(content)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty, but should be a mapping of keys to values"),
        (b"# nothing\n", "is empty"),
        (b"- 1\n", "holds [1], but should be a mapping"),
        (b"hello", "holds 'hello', but should be a mapping"),
        (b"\xe9: 1", "not valid YAML"),
        (b"a: \x00", "not valid YAML"),
    ],
)
def test_file_without_parameters(error_in, content, message):
    assert message in error_in(content)


def test_missing_file_and_block_that_is_no_mapping(tmp_path):
    with pytest.raises(ParameterError, match=r"params\.yaml: no such file; .*root of the repository"):
        load_params(tmp_path / "params.yaml")
    (tmp_path / "params.yaml").write_text(COMMITTED)
    with pytest.raises(ParameterError, match=r"models\.yaml: no such file"):
        load_params(tmp_path / "params.yaml")
    (tmp_path / "models.yaml").write_text("avg:\n")
    with pytest.raises(ParameterError, match=r"models\.yaml: avg = None: should be a name and a mapping"):
        load_params(tmp_path / "params.yaml")


@pytest.mark.parametrize(
    ("key", "message"),
    [
        ("models.yaml:avg.dmi", "models.yaml:avg.dmi: unknown key; did you mean 'dim'?"),
        ("models.yaml:avgg.dim", "models.yaml:avgg.dim: unknown key; "),
        ("models.yaml:+avgg.accumulate", "models.yaml:+avgg.accumulate: unknown key; "),
        ("+sead", f"{ROOT}/params.yaml: sead: unknown key; did you mean 'seed'?"),
        ("other.yaml:seed", "other.yaml:seed: unknown key; "),
        ("sead", "sead: unknown key; did you mean 'seed'?"),
        ("models.avg.dim", "models.avg.dim: unknown key; did you mean 'models.yaml:avg.dim'?"),
        ("finetune.init", "finetune.init: unknown key; did you mean 'finetune/params.yaml:init'?"),
        ("analyses", "analyses: unknown key; did you mean 'analyze/params.yaml:analyses'?"),
    ],
)
def test_unknown_key_of_a_change(key, message):
    with pytest.raises(ParameterError) as caught:
        load_params(ROOT / "params.yaml", {key: 1})
    assert str(caught.value).startswith(message)


def test_changes_of_both_files():
    changes = {"train.select": "none", "models.yaml:avg.dim": 5, "models.yaml:+avg.accumulate": 4}
    params = load_params(ROOT / "params.yaml", changes)
    assert (params.train.select, params.models["avg"]["dim"], params.models["avg"]["accumulate"]) == ("none", 5, 4)
    assert [*map(place, ["seed", "train.device"])] == ["seed", "train.device"]
    assert place("taggers.charcnn.dim") == "finetune/taggers.yaml:charcnn.dim"


class BaselineConfig(BaseModel):
    """Options of a model that has none."""

    model_config = ConfigDict(extra="forbid")


class Config(BaseModel):
    """Options of a model."""

    model_config = ConfigDict(strict=True, extra="forbid")
    margin: float = Field(ge=0)
    negatives: Literal["max", "mix", "random"]


@pytest.mark.parametrize(
    ("block", "message"),
    [
        ({"margn": 0.4, "negatives": "max"}, r"avg\.margn: unknown key; did you mean 'margin'\?$"),
        ({"margin": -1, "negatives": "max"}, r"avg\.margin = -1: .*greater than or equal to 0$"),
        ({"margin": 0, "negatives": "randm"}, r"avg\.negatives = 'randm': .*'mix' or 'random'; did you mean 'random'"),
        ({"margin": 0, "negatives": "max", "rate": 1}, r"avg\.rate: unknown key; known are margin, negatives$"),
    ],
)
def test_mistake_in_block_of_model(block, message):
    with pytest.raises(ParameterError, match=rf"^models\.yaml: {message}"):
        checked(Config, block, "models", "avg")
    with pytest.raises(ParameterError, match=r"^models\.yaml: overlap\.x: unknown key; there are no options here$"):
        checked(BaselineConfig, {"x": 1}, "models", "overlap")
