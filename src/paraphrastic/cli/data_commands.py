"""Commands for data: list, fetch, check and path for sources, inspect for files of the user."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option, Typer

from paraphrastic.base.console import message, print_rows
from paraphrastic.base.errors import SourceError
from paraphrastic.cli.arguments import data_entry

if TYPE_CHECKING:
    from paraphrastic.corpus.inspecting import SharedTexts, Use
    from paraphrastic.sources.locations import DataLocations
    from paraphrastic.sources.source import Source

data = Typer(
    help="Data sources, and your own files.", add_completion=False, rich_markup_mode=None, no_args_is_help=True
)
_HELP_OF_NAMES = "Sources, as `paraphrastic data list` prints them, corpora or suites."
Names = Annotated[list[str], Argument(metavar="NAME", help=_HELP_OF_NAMES)]

_DAMAGED = "damaged"
_SHOWN = 10  # refused rows


@data.command("list")
def list_() -> None:
    """Print name, licence, size if fetched, and title."""
    from paraphrastic.sources.catalogue import catalogue

    locations = _locations()
    rows = [(each.name, each.licence, _size(each, locations), each.title) for each in catalogue().sources.values()]
    print_rows(("source", "licence", "size", "title"), rows)


@data.command()
def fetch(names: Names) -> None:
    """Fetch sources into the cache, from PARAPHRASTIC_MIRROR first.

    The name of a corpus or of a suite of benchmarks, such as `open`, stands for its sources.
    """
    from paraphrastic.sources.fetching import fetch_visibly

    locations = _locations()
    absent = fetch_visibly(_sources(names), None, locations)
    if absent:
        raise SourceError("; ".join(f"{each.name}: {locations.how_to_provide(each)}" for each in absent))


@data.command()
def check(names: Annotated[list[str] | None, Argument(metavar="NAME", help="Only these sources.")] = None) -> None:
    """Verify the files of fetched sources."""
    from paraphrastic.sources.catalogue import catalogue

    locations = _locations()
    sources = _sources(names) if names else catalogue().sources.values()
    rows = [(each.name, *_state(each, locations)) for each in sources]
    print_rows(("source", "files", "state"), rows)
    damaged = [name for name, _, state in rows if state == _DAMAGED]
    if damaged:
        raise SourceError(f"damaged: {', '.join(damaged)}; run `paraphrastic data fetch {' '.join(damaged)}`")


@data.command()
def path(name: Annotated[str, Argument(metavar="NAME", help="A source.")]) -> None:
    """Print the paths of the files of a fetched source."""
    from paraphrastic.sources.catalogue import source

    sys.stdout.writelines(f"{path}\n" for path in _locations().paths(source(name)))


@data.command()
def inspect(
    file: Annotated[str, Argument(metavar="FILE", help="A file, or a folder of files.")],
    columns: Annotated[
        str | None, Option(metavar="A,B", help="Names of the two columns of text, if they are not the usual ones.")
    ] = None,
    benchmarks: Annotated[
        str, Option(metavar="SUITE", help="Count texts that are in its evaluation sets; its files must be here.")
    ] = "open",
) -> None:
    """Show what FILE would be read as.

    Training pairs, an evaluation set, or both.
    """
    from paraphrastic.corpus.inspecting import inspect

    entry = data_entry(file)
    path = entry if isinstance(entry, Mapping) else {"path": file}
    found = inspect({**path, **({"columns": columns.split(",")} if columns else {})})
    if not sys.stdout.isatty():
        facts = ((own.path, *fact) for own, uses in list(found) for fact in _facts(uses, benchmarks))
        print_rows(("file", "read as", "fact", "value"), facts)
        return
    for own, uses in found:
        for use in uses:
            _print_use(own.path, use)
        _print_overlaps(uses, benchmarks)


def _facts(uses: "Sequence[Use]", suite: str) -> Iterator[tuple[object, ...]]:
    """Yield how a file is read, a fact about it, and its value."""
    for use in uses:
        yield use.title, "usable rows", use.usable
        yield use.title, "rows left out with label 0", use.left_out
        yield use.title, "refused rows", len(use.refused)
        yield from [(use.title, "rows that are not judged", use.unjudged)] if use.unjudged else []
        yield from ((use.title, "note", note) for note in use.notes)
        yield from ((use.title, f"refused line {bad.line}", bad.why) for bad in use.refused)
        yield from ((use.title, "sample", " | ".join(row)) for row in use.samples)
    for each in _overlaps(uses, suite) or []:
        yield "", f"texts that are in {each.name}", each.exact
        yield "", f"texts that are nearly in {each.name}", each.near


def _print_use(path: str, use: "Use") -> None:
    left_out = f", {use.left_out} with label 0 left out" if use.left_out else ""
    left_out += f", {use.unjudged} not judged" if use.unjudged else ""
    lines = [f"{path}: {use.title}", f"  {use.usable} rows{left_out}, {len(use.refused)} refused"]
    lines += [f"  {note}" for note in use.notes]
    lines += [f"  refused: line {bad.line}: {bad.why}" for bad in use.refused[:_SHOWN]]
    if len(use.refused) > _SHOWN:
        lines.append(f"  refused: and {len(use.refused) - _SHOWN} more")
    lines += [f"  {' | '.join(row)}" for row in use.samples]
    sys.stdout.writelines(f"{line}\n" for line in lines)


def _overlaps(uses: "Sequence[Use]", suite: str) -> "Sequence[SharedTexts] | None":
    from paraphrastic.corpus.inspecting import overlaps

    found = overlaps(uses[0].texts, suite)
    if found is None:
        message(f"not compared with evaluation sets; `paraphrastic data fetch {suite}` fetches them")
    return found


def _print_overlaps(uses: "Sequence[Use]", suite: str) -> None:
    found = _overlaps(uses, suite)
    if found is None:
        return
    lines = [f"  {each.name}: {each.exact} of its texts are the same, {each.near} nearly" for each in found]
    sys.stdout.writelines(
        f"{line}\n" for line in [f"texts that are in evaluation sets of {suite}:", *(lines or ["  none"])]
    )


def _state(source: "Source", locations: "DataLocations") -> tuple[str, str]:
    """Return how many of the files of `source` are there, and a word for their state."""
    present = [cached for file in source.files if (cached := locations.find(source, file))]
    if not all(cached.is_intact() for cached in present):
        state = _DAMAGED
    elif len(present) == len(source.files):
        state = "sound" if present else "in the package"
    else:
        state = "incomplete" if present else "not fetched"
    return f"{len(present)}/{len(source.files)}", state


def _size(source: "Source", locations: "DataLocations") -> str:
    """Return the size of a source in megabytes if all its files are there, an empty string otherwise."""
    present = [cached for file in source.files if (cached := locations.find(source, file))]
    total = sum(cached.path.stat().st_size for cached in present)
    return f"{total / 1e6:.1f} MB" if source.files and len(present) == len(source.files) else ""


def _sources(names: Sequence[str]) -> list["Source"]:
    from paraphrastic.sources.catalogue import sources_of

    return list(sources_of(names))


def _locations() -> "DataLocations":
    from paraphrastic.sources.locations import DataLocations

    return DataLocations.from_environment()
