"""Files of the user in place of names of the catalogue: training pairs and evaluation sets by a path."""

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Discriminator, Field, Tag, ValidationError

from paraphrastic.base.console import message
from paraphrastic.base.errors import ParameterError, SourceError, did_you_mean
from paraphrastic.base.reading import COMPRESSIONS, ENDINGS, LINES, format_of, is_dataset_folder, is_table, name_of

DataEntry = str | Mapping[str, Any]  # of `corpus` or `benchmarks` in params.yaml
AnyDataEntry = DataEntry | Path  # the same in Python, where a path needs no ending or slash

_SHOWN = 5  # names in a message

Meaning = Literal["text", "text1", "text2", "question", "candidate", "label", "score", "group", "split"]  # of a column


def _check_distinct(columns: tuple[str, str] | dict[Meaning, str]) -> tuple[str, str] | dict[Meaning, str]:
    names = [*columns.values()] if isinstance(columns, dict) else [*columns]
    if twice := [name for name in names if names.count(name) > 1]:
        raise ValueError(f"the column {twice[0]} is named twice")
    return columns


_TEXTS, _MEANINGS = "two texts", "meanings"  # forms of `columns`, which stand in the places of pydantic's errors
_Columns = Annotated[
    Annotated[tuple[str, str], Field(strict=False), Tag(_TEXTS)] | Annotated[dict[Meaning, str], Tag(_MEANINGS)],
    Discriminator(lambda value: _MEANINGS if isinstance(value, Mapping) else _TEXTS),
    AfterValidator(_check_distinct),
]


class OwnFile(BaseModel):
    """A file, or a folder of files, in params.yaml."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

    # a file that ends in one of `ENDINGS` or in `LINES`, also with one of `COMPRESSIONS` after it; a folder of files
    # that end in `ENDINGS`; or a folder that Hugging Face `datasets` saved
    path: str = Field(min_length=1)
    # the names of the two columns of text, or the name of a column by its meaning; None finds them
    columns: _Columns | None = None
    quotes: bool | None = None  # whether cells of CSV or TSV can be quoted; None for yes in CSV and no in TSV
    # values of the column of labels that stand for 1, any other for 0; empty for labels 0 and 1
    positive: tuple[Annotated[str, BeforeValidator(str)], ...] = Field(default=(), strict=False)

    @property
    def name(self) -> str:
        """The name of the file without its endings; what is no letter, digit, `_` or `-` becomes `-`."""
        return re.sub(r"[^\w-]+", "-", name_of(Path(self.path))).strip("-") or "file"

    @property
    def single(self) -> bool:
        """Whether it has single sentences: lines of text, or a column that `columns` calls `text`."""
        return format_of(Path(self.path)) == "txt" or "text" in self.meanings

    @property
    def meanings(self) -> dict[Meaning, str]:
        """The names of columns by their meaning, as far as `columns` has them."""
        if isinstance(self.columns, tuple):
            return {"text1": self.columns[0], "text2": self.columns[1]}
        return self.columns or {}

    @property
    def takes_all(self) -> bool:
        """Whether the user has named the two texts, and nothing that judges them: all pairs are paraphrases then."""
        return {"text1", "text2"} <= self.meanings.keys() and not {"label", "score"} & self.meanings.keys()

    def files(self) -> list["OwnFile"]:
        """Return the single files, those of a folder by name.

        Raises:
            SourceError: there is no such file, or the folder has none of a known format, or has several data sets.
        """
        path = Path(self.path)
        if not path.exists():
            remedy = "check the path; a queued experiment needs a whole path, or a file that is in git or DVC"
            raise SourceError(f"{self.path}: no such file; {remedy}")
        if path.is_file() and not (is_table(path) or format_of(path) == "txt"):
            endings = f"{', '.join((*ENDINGS, LINES))}, alone or with {', '.join(COMPRESSIONS)} after it"
            raise SourceError(f"{self.path}: ends in none of {endings}")
        if not path.is_dir() or is_dataset_folder(path):
            return [self]
        if not (found := sorted(each for each in path.iterdir() if is_table(each) and each.is_file())):
            raise SourceError(f"{self.path}: the folder has no file that ends in {', '.join(ENDINGS)}{_inside(path)}")
        return [self.model_copy(update={"path": str(each)}) for each in found]


def own_file(entry: DataEntry) -> OwnFile | None:
    """Return the file that an entry of params.yaml stands for; None if it is a name of the catalogue.

    Args:
        entry: a name, a path, or a mapping with the attributes of `OwnFile`.

    Raises:
        ParameterError: a key of the mapping is unknown, missing or has a wrong value.
    """
    if isinstance(entry, str):
        if not ("/" in entry or "\\" in entry or Path(entry).suffix):  # no name of the catalogue has a dot
            return None
        entry = {"path": entry}
    try:
        return OwnFile.model_validate(entry)
    except ValidationError as error:
        first = min(error.errors(include_url=False), key=lambda detail: detail["type"] != "extra_forbidden")
        place = ".".join(str(part) for part in first["loc"] if part not in (_TEXTS, _MEANINGS))
        near, keys = did_you_mean(place, OwnFile.model_fields), ", ".join(OwnFile.model_fields)
        problem = f"unknown key; {near}" if first["type"] == "extra_forbidden" else f"{first['msg']}; "
        raise ParameterError(f"{entry}: {place}: {problem}a file is a path or has the keys {keys}") from error


def report_left_out(entries: Iterable[DataEntry]) -> None:
    """Print what the folders among `entries` have that is not read, but for hidden files and those of DVC."""
    for own in filter(None, map(own_file, entries)):
        if not Path(own.path).is_dir() or is_dataset_folder(Path(own.path)):
            continue
        others = {*Path(own.path).iterdir()} - {Path(each.path) for each in own.files()}
        shown = (each for each in others if not (each.name.startswith(".") or each.suffix == ".dvc"))
        if names := sorted(each.name + "/" * each.is_dir() for each in shown):
            few = ", ".join(names[:_SHOWN]) + ", …" * (len(names) > _SHOWN)
            message(f"{own.path}: not read: {few}; a folder stands for its files that end in {', '.join(ENDINGS)}")


def listed(entries: AnyDataEntry | Sequence[AnyDataEntry]) -> list[DataEntry]:
    """Return one entry or several ones as a list of what params.yaml can hold.

    Raises:
        ParameterError: an entry is something else, such as a table.
    """
    several = [entries] if isinstance(entries, str | Mapping | Path) else entries
    for each in several if isinstance(several, list | tuple) else [several]:
        if not isinstance(each, str | Mapping | Path):
            way = "write a table to a file, such as pairs.to_csv('pairs.csv', index=False)"
            raise ParameterError(f"{type(each).__name__} where the path of a file or a name is expected; {way}")
    return [{"path": str(entry)} if isinstance(entry, Path) else entry for entry in several]


def _inside(path: Path) -> str:
    """Return which folders in a folder can be named in its place, such as the splits of a saved `DatasetDict`."""
    folders = sorted(each for each in path.iterdir() if each.is_dir())
    found = [each for each in folders if is_dataset_folder(each) or any(map(is_table, each.iterdir()))]
    names = ", ".join(each.name for each in found)
    return f"; it has the folders {names}: name one of them, as {found[0]}" if found else ""
