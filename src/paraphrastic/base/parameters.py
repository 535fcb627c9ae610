"""Read and check parameter files. An error is one line: file, key, value, and what is allowed."""

import re
import reprlib
import sysconfig
from collections.abc import Collection, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Literal, Self, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PositiveInt,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)
from pydantic_core import ErrorDetails
from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError

from paraphrastic.base import devices
from paraphrastic.base.errors import DataError, ParameterError, did_you_mean, unknown_name
from paraphrastic.base.reading import SMALL, regular

PARAMS = Path("params.yaml")
LOSS = "margin"  # trains encoders unless `train.loss` names another one
# raised for text that is not YAML, or for a scalar that is not of its type, such as the date 2001-99-99 or `!!int x`
MALFORMED = YAMLError, ValueError, LookupError, TypeError, OverflowError, RecursionError
FILES = {  # first part of a key → the file that holds its block
    "models": "models.yaml",
    "finetune": "finetune/params.yaml",
    "taggers": "finetune/taggers.yaml",
    "analyses": "analyze/params.yaml",
}


def _device(text: str) -> str:
    if not devices.is_name(text):
        raise ValueError(f"should be {devices.NAMES}")
    return text


def _ascending(orders: list[int]) -> list[int]:
    if not orders or orders != sorted(set(orders)):
        raise ValueError("should be one length or more, ascending")
    return orders


def _folders(value: object) -> object:
    return [] if value is None else value if isinstance(value, list) else [value]


def _entries(value: object) -> object:
    entries = value if isinstance(value, list) else [value]
    if not entries or not all(isinstance(entry, str | dict) and entry for entry in entries):
        raise ValueError("should be a name, a path, or a list of them")
    return entries


Checked = TypeVar("Checked", bound=BaseModel)
Name = Annotated[str, Field(min_length=1)]
Orders = Annotated[list[Annotated[int, Field(ge=1, le=6)]], AfterValidator(_ascending)]
Folders = Annotated[list[Name], BeforeValidator(_folders)]
Entries = Annotated[list[str | dict[str, Any]], BeforeValidator(_entries)]


class Section(BaseModel):
    """A mapping of params.yaml: a key without a default is required, other keys are refused, nothing is converted."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, allow_inf_nan=False, validate_default=True)


Relation = Literal[  # the entailment relations of PPDB 2.0
    "Equivalence", "ForwardEntailment", "ReverseEntailment", "Independent", "Exclusion", "OtherRelated"
]


class Tokenize(Section):
    """Parameters of the stage `tokenize`."""

    licences: list[Name]  # that sources of the catalogue may have, see `sources.licences`; an empty list keeps all
    drop_overlap: bool  # drop training pairs that contain a sentence of an evaluation set
    max_bad_rows: float = Field(ge=0, le=1)  # unusable rows of a source, per pair read, above which it is refused
    feature: Name  # the feature of PPDB that `min_score` and `max_score` limit; other sources have one score
    min_score: float | None  # smallest score of a training pair; None for no limit
    max_score: float | None  # largest score; None for no limit
    relations: list[Relation]  # of the pairs that are kept; an empty list keeps all
    # how many pairs of one group are kept; None for what the catalogue states of each source
    max_group_pairs: PositiveInt | None
    take_share: float = Field(gt=0, le=1)  # share of the pairs that are left to train on
    max_pairs: PositiveInt | None  # how many of them at most; None for no limit
    max_tokens: PositiveInt | None  # the same as tokens of both sentences of all pairs
    # `order` takes the first pairs of each source, `random` takes any; `seed` is the seed
    take_by: Literal["order", "random"]
    # how many copies of each single sentence there are in which some words are others
    exchange: int = Field(ge=0, le=100)

    @field_validator("max_score")
    @classmethod
    def _allows_min_score(cls, value: float | None, info: ValidationInfo) -> float | None:
        low = info.data.get("min_score")
        if value is not None and low is not None and value < low:
            raise ValueError(f"should be at least min_score = {low}")
        return value

    @property
    def limits_scores(self) -> bool:
        """Whether training pairs are chosen by their scores."""
        return self.min_score is not None or self.max_score is not None


class VocabularyLimits(Section):
    """Parameters of the stage `vocabulary`."""

    # `sentences` counts each distinct sentence of the training pairs once, `pairs` as often as it is a side of a pair;
    # the latter are the occurrences in the training data of charagram2016 §4.1.2 and §4.4, and the frequencies of
    # iclr2016 §5.1 and §6
    count: Literal["sentences", "pairs"]
    min_count: Annotated[int, Field(gt=0, lt=2**31)]  # occurrences that a word needs
    orders: Orders  # lengths of character n-grams
    ngram_min_count: PositiveInt  # occurrences that a character n-gram needs
    ngrams_per_order: PositiveInt | None  # how many of the most frequent n-grams of each order are kept; None keeps all


class Train(Section):
    """Parameters of the stage `train` that all models share."""

    device: Annotated[str, AfterValidator(_device)]  # auto, cpu, cuda or cuda:N
    select: Name  # the evaluation sets that select the epoch: test, oracle, none, or the name of a set or of a group
    # how often the model is scored on them: every `epoch` or every `quarter` of one
    select_every: Literal["epoch", "quarter"]
    processes: int = Field(ge=1, le=1024)  # how many divide each mini-batch, on CPUs or each on a GPU of its own
    # how often an epoch has each pair of a source, by its name: once if it is not named, and all once if None
    source_weights: dict[str, Annotated[float, Field(ge=0, le=1000)]] | None
    loss: Name = LOSS  # of sentence encoders: a file in `losses/`
    loss_options: dict[str, Any] | None = None  # its options that are not in the model's block; `losses` checks them


Weight = Annotated[float, Field(ge=0)]


class Teacher(Section):
    """Parameters of the stage `teach`, and of training on what it writes (knowledge distillation)."""

    path: Folders  # encoders that sentence-transformers or model2vec wrote; an empty list for no teacher
    batch_size: PositiveInt  # sentences that the teacher encodes at a time
    # of the teacher's weights and layers; `bfloat16` is for teachers of sentence-transformers
    precision: Literal["float32", "bfloat16"]
    margin_weight: Weight  # weight of the loss of the pairs, `train.loss`; 0 trains on the teacher alone
    # weight of 1 − the cosine of the teacher's vector and a learned projection of the model's
    regression_weight: Weight
    # weight of the squared difference between the teacher's cosines and the model's, over all sentences of a mini-batch
    similarity_weight: Weight
    initial_words: bool  # words start from the principal components of the teacher's vectors of single words

    @model_validator(mode="after")
    def _has_loss(self) -> Self:
        if not (self.margin_weight or self.regression_weight or self.similarity_weight):
            raise ValueError("margin_weight, regression_weight and similarity_weight are all 0; set one")
        return self


class Choices(Section):
    """Content of params.yaml."""

    model: Name  # name of the entry of models.yaml to train
    corpus: Entries  # training pairs: names of the catalogue, and files as `sources.own_files` takes them
    benchmarks: Entries  # evaluation sets: names of suites, and files
    seed: int = Field(ge=0, lt=2**63)  # seed of all random numbers
    tokenize: Tokenize
    vocabulary: VocabularyLimits
    teacher: Teacher  # an encoder whose vectors the model learns
    train: Train


class Params(Choices):
    """Content of params.yaml and models.yaml."""

    models: dict[str, dict[str, Any]]  # blocks of options by name; `checked` checks one


def place(key: str) -> str:
    """Return the argument of `dvc exp run -S` for a key: `models.avg.dim` is `models.yaml:avg.dim`."""
    name, _, rest = key.partition(".")
    return f"{FILES[name]}:{rest or name}" if name in FILES and ":" not in key else key


def default_params() -> Path:
    """Return params.yaml of the working directory if models.yaml is beside it, or else that of this package."""
    in_repository = Path(__file__).parents[3] / PARAMS
    installed = Path(sysconfig.get_path("data")) / "share/paraphrastic" / PARAMS
    # DVC's name is that of other projects too
    found = (path for path in (PARAMS, in_repository) if path.is_file() and path.with_name(FILES["models"]).is_file())
    return next(found, installed)


def load_params(path: Path = PARAMS, changes: Mapping[str, Any] = MappingProxyType({})) -> Params:
    """Read params.yaml and, beside it, models.yaml; check the former and that the latter has the chosen model.

    Args:
        path: params.yaml.
        changes: values that replace those of the files, by keys such as `seed` and `models.yaml:avg.dim`; as for
            DVC, `models.yaml:+avg.accumulate` adds a key: an option that the block leaves to its default.

    Raises:
        ParameterError: a file is missing or not a YAML mapping, or a key is unknown, missing or has a wrong value.
    """
    models = path.with_name(FILES["models"])
    contents = {PARAMS.name: read_mapping(path), models.name: read_mapping(models)}
    for key, value in changes.items():
        _replace(contents, key, value)
    content, blocks = contents.values()
    choices = _valid(Choices, content, path)
    for name, block in blocks.items():
        if not (isinstance(name, str) and isinstance(block, dict)):
            raise ParameterError(f"{models}: {name} = {reprlib.repr(block)}: should be a name and a mapping of options")
    if choices.model not in blocks:
        raise ParameterError(f"{path}: model: {unknown_name('entry of models.yaml', choices.model, blocks)}")
    return Params(**dict(choices), models=blocks)


def checked(section: type[Checked], block: dict[str, Any], *keys: str) -> Checked:
    """Return the values of a block as an instance of `section`.

    Args:
        section: the class that checks and holds the values.
        block: the values.
        keys: the parts of the block's key. The first is one of `FILES`, or the key is one of params.yaml.

    Raises:
        ParameterError: a key is unknown, missing or has a wrong value.
    """
    if keys[0] not in FILES:
        return _valid(section, block, PARAMS, *keys)
    return _valid(section, block, Path(FILES[keys[0]]), *keys[1:])


def _valid(section: type[Checked], block: object, path: Path, *keys: str) -> Checked:
    """Return the values of the block at `keys` of a file; raise for the first problem, unknown keys before others."""
    try:
        return section.model_validate(block)
    except ValidationError as error:
        first = min(error.errors(include_url=False), key=lambda detail: detail["type"] != "extra_forbidden")
        parts = (f"[{part}]" if isinstance(part, int) else f".{part}" for part in (*keys, *first["loc"]))
        key = "".join(parts).removeprefix(".")  # as `dvc exp run -S` takes it: `vocabulary.orders[1]`
        raise ParameterError(f"{path}: {key}{_problem(first, section)}") from error


def _replace(contents: Mapping[str, dict[str, Any]], key: str, value: Any) -> None:
    if (now := place(key)) != key or (now := _place_of_option(contents, key)):
        raise ParameterError(f"{key}: unknown key; did you mean '{now}'?")
    file, _, given = key.rpartition(":")
    dotted = given.removeprefix("+")
    block: Any = contents.get(file or PARAMS.name, {})
    top = block
    *outer, last = dotted.split(".")
    for name in outer:
        block = block.get(name) if isinstance(block, dict) else None
    if not (isinstance(block, dict) and (last in block or given != dotted)):
        raise ParameterError(f"{key}: unknown key{_nearest(last, block if isinstance(block, dict) else top)}")
    block[last] = value


def _place_of_option(contents: Mapping[str, dict[str, Any]], key: str) -> str:
    """Return the whole key of `avg.dim`, or of `dim`, an option of the chosen model; empty for any other key."""
    for near in (key, f"{contents[PARAMS.name].get('model')}.{key}"):
        name, _, option = near.partition(".")
        block = contents[FILES["models"]].get(name)
        if isinstance(block, dict) and option in block:
            return f"{FILES['models']}:{near}"
    return ""


def _problem(detail: ErrorDetails, section: type[BaseModel]) -> str:
    if detail["type"] == "missing":
        return ": missing"
    if detail["type"] == "extra_forbidden":
        *outer, last = detail["loc"]
        moved = FILES.get(str(last)) if section is Choices else None
        inner: Any = section
        for key in outer:
            inner = inner.model_fields[key].annotation
        return f": unknown key{f'; its place is {moved}' if moved else _nearest(str(last), inner.model_fields)}"
    allowed = re.sub(r"^(Value error, |Input |String )", "", detail["msg"])
    choices = re.findall(r"'([^']*)'", allowed) if detail["type"] == "literal_error" else []
    hint = did_you_mean(str(detail["input"]), choices).rstrip()
    return f" = {reprlib.repr(detail['input'])}: {allowed}{hint and f'; {hint}'}"


def _nearest(name: str, known: Collection[str]) -> str:
    known_names = f"known are {', '.join(known)}" if known else "there are no options here"
    return f"; {did_you_mean(name, known).rstrip() or known_names}"


def read_mapping(path: Path) -> dict[str, Any]:
    """Return the content of a parameter file.

    Raises:
        ParameterError: the file is missing or not a YAML mapping.
    """
    try:
        content = YAML(typ="safe", pure=True).load(regular(path, SMALL))  # YAML 1.2, in which 1e-5 is a number
    except FileNotFoundError as error:
        raise ParameterError(f"{path}: no such file; run this in the root of the repository") from error
    except MarkedYAMLError as error:
        line = f", line {error.problem_mark.line + 1}" if error.problem_mark else ""
        raise ParameterError(f"{path}{line}: not valid YAML: {str(error.problem).splitlines()[0]}") from error
    except DataError as error:
        raise ParameterError(str(error)) from error
    except MALFORMED as error:
        reason = next(iter(str(error).splitlines()), type(error).__name__)
        raise ParameterError(f"{path}: not valid YAML: {reason}") from error
    if not isinstance(content, dict):
        what = "is empty" if content is None else f"holds {reprlib.repr(content)}"
        raise ParameterError(f"{path}: {what}, but should be a mapping of keys to values")
    return content
