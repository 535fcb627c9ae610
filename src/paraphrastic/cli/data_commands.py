"""Commands for data: list, fetch, check and path for sources, inspect for files of the user."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option, Typer

from paraphrastic.base.console import message, print_rows
from paraphrastic.base.errors import SourceError
from paraphrastic.cli.arguments import data_entry

if TYPE_CHECKING:
    from paraphrastic.corpus.inspecting import Use
    from paraphrastic.sources.locations import DataLocations, LocalFile
    from paraphrastic.sources.source import Source

data = Typer(help="Data sources, and your own files.", no_args_is_help=True)

_HELP_OF_NAMES = "Sources, as `paraphrastic data list` prints them, corpora or suites."
_DAMAGED = "damaged"
_SHOWN = 10  # refused rows


@data.command("list")
def list_() -> None:
    """Print name, licence, size if fetched, and title."""
    from paraphrastic.sources.catalogue import catalogue

    locations, rows = _locations(), []
    for each in catalogue().sources.values():
        size = sum(cached.path.stat().st_size for cached in _present(each, locations))
        text = f"{size / 1e6:.1f} MB" if each.files and locations.has(each) else ""
        rows.append((each.name, each.licence, text, each.title))
    print_rows(("source", "licence", "size", "title"), rows)


@data.command()
def fetch(names: Annotated[list[str], Argument(metavar="NAME", help=_HELP_OF_NAMES)]) -> None:
    """Fetch sources into the cache, from PARAPHRASTIC_MIRROR first.

    The name of a corpus or of a suite of benchmarks, such as `open`, stands for its sources.
    """
    from paraphrastic.sources.catalogue import sources_of
    from paraphrastic.sources.fetching import fetch_visibly

    locations = _locations()
    absent = fetch_visibly(sources_of(names), None, locations)
    if absent:
        raise SourceError("; ".join(f"{each.name}: {locations.how_to_provide(each)}" for each in absent))


@data.command()
def check(names: Annotated[list[str] | None, Argument(metavar="NAME", help="Only these sources.")] = None) -> None:
    """Verify the files of fetched sources."""
    from paraphrastic.sources.catalogue import catalogue, sources_of

    locations = _locations()
    rows = [(each.name, *_state(each, locations)) for each in sources_of(names or list(catalogue().sources))]
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
    from paraphrastic.sources.catalogue import suite

    suite(benchmarks)  # refuses an unknown name before anything is printed
    entry = data_entry(file)
    path = entry if isinstance(entry, Mapping) else {"path": file}
    found = inspect({**path, **({"columns": columns.split(",")} if columns else {})})
    if not sys.stdout.isatty():
        rows = ((own.path, *fact) for own, uses in list(found) for fact in _facts(uses, benchmarks))
        print_rows(("file", "read as", "fact", "value"), rows)
        return
    for own, uses in found:
        for title, facts in groupby(_facts(uses, benchmarks, _SHOWN), itemgetter(0)):
            sys.stdout.write(f"{own.path}: {title or 'texts of evaluation sets'}\n")
            sys.stdout.writelines(f"  {fact}: {value}\n" for _, fact, value in facts)


def _facts(uses: "Sequence[Use]", suite: str, refused: int | None = None) -> Iterator[tuple[str, str, object]]:
    """Yield how a file is read, a fact about it, and its value; of refused rows only the first `refused`."""
    from paraphrastic.corpus.inspecting import overlaps

    for use in uses:
        yield use.title, "usable rows", use.usable
        yield use.title, "rows left out with label 0", use.left_out
        yield use.title, "refused rows", len(use.refused)
        yield from [(use.title, "rows that are not judged", use.unjudged)] if use.unjudged else []
        yield from ((use.title, "note", note) for note in use.notes)
        yield from ((use.title, f"refused line {bad.line}", bad.why) for bad in use.refused[:refused])
        yield from ((use.title, "sample", " | ".join(row)) for row in use.samples)
    found = overlaps(uses[0].texts, suite)
    if found is None:
        message(f"not compared with evaluation sets; `paraphrastic data fetch {suite}` fetches them")
    elif not found:
        yield "", f"texts that are in {suite}", 0
    for each in found or []:
        yield "", f"texts that are in {each.name}", each.exact
        yield "", f"texts that are nearly in {each.name}", each.near


def _state(source: "Source", locations: "DataLocations") -> tuple[str, str]:
    """Return how many of the files of `source` are there, and a word for their state."""
    present = _present(source, locations)
    if not all(cached.is_intact() for cached in present):
        state = _DAMAGED
    elif len(present) == len(source.files):
        state = "sound" if present else "in the package"
    else:
        state = "incomplete" if present else "not fetched"
    return f"{len(present)}/{len(source.files)}", state


def _present(source: "Source", locations: "DataLocations") -> "list[LocalFile]":
    return [cached for file in source.files if (cached := locations.find(source, file))]


def _locations() -> "DataLocations":
    from paraphrastic.sources.locations import DataLocations

    return DataLocations.from_environment()
