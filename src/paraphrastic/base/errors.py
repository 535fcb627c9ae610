"""Errors caused by input. Each message is one line that says what is wrong, where, and what to do."""

import errno
from collections.abc import Iterable
from difflib import get_close_matches
from io import IOBase
from traceback import walk_tb
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pydantic import ValidationError

_OF_WRITES = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class ParaphrasticError(Exception):
    """Base class of errors caused by input, not by a bug."""


class ParameterError(ParaphrasticError, ValueError):
    """A parameter is unknown, has the wrong type or is out of range."""


class SourceError(ParaphrasticError):
    """A file of a source is missing, cannot be downloaded, or is not the pinned version."""


class DataError(ParaphrasticError, ValueError):
    """The content of a file does not follow its format, or a table does not follow its schema."""


class ModelError(ParaphrasticError):
    """A model folder is missing or damaged, or its model does not support the operation."""


class DivergenceError(ModelError):
    """A loss, a weight or a prediction is not finite."""


class ProcessError(ParaphrasticError):
    """One of several processes that train a model ended with an error, or cannot start."""


class ConnectionLostError(ProcessError):
    """Another process of the group has died, or cannot be reached."""


def missing(package: str, extra: str) -> str:
    """Return the end of a message: what is missing, and how to install it.

    The remedy names the folder of the project. Nobody owns its name on the package index, so that `pip install NAME`
    would install whatever somebody else uploads there.

    Args:
        package: what is not installed.
        extra: of pyproject.toml, which has it.
    """
    return f"{package}; install this project with its extra `{extra}`: pip install '.[{extra}]' in its folder"


def unknown_name(kind: str, name: str, known: Iterable[str]) -> str:
    """Return a one-line message: `name` is not a known `kind`, with the nearest match and all known names."""
    choices = sorted(known)
    return f"unknown {kind} '{name}': {did_you_mean(str(name), choices)}known are {', '.join(choices)}"


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return `did you mean 'X'? ` with the nearest of the names `known`, or an empty string if none is near."""
    near = get_close_matches(name, list(known), n=1)
    return f"did you mean '{near[0]}'? " if near else ""


def first_problem(error: "ValidationError", *keys: str) -> str:
    """Return the first problem that pydantic found, after its key below `keys` if it has one."""
    first = error.errors(include_url=False)[0]
    place = ".".join(map(str, (*keys, *first["loc"])))
    reason = first["msg"].removeprefix("Value error, ")
    return f"{place}: {reason}" if place else reason


def file_of(error: OSError) -> str | None:
    """Return the file that an error is about; None if nothing tells it.

    Errors of `open` name their file. Those of reading and writing do not: there it is the open file of the innermost
    function that has one.
    """
    if error.filename is not None:
        return str(error.filename)
    for frame, _ in reversed(list(walk_tb(error.__traceback__))):
        files = [value for value in frame.f_locals.values() if isinstance(value, IOBase)]
        named = [file for file in files if isinstance(getattr(file, "name", None), str)]
        written = [file for file in named if set("wax+") & set(str(getattr(file, "mode", "")))]
        read = [file for file in named if file not in written]
        if named:  # one that is written, if only writing has such errors, and else one that is read
            first = written + read if error.errno in _OF_WRITES else read + written
            return str(first[0].name)  # type: ignore[attr-defined]
    return None
