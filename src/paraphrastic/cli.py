"""The command `paraphrastic`: trained models and data sources from the shell."""

import os
import signal
import sys
from collections.abc import Iterable, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Argument, BadParameter, Option, Typer
from typer.core import TyperGroup

import paraphrastic
from paraphrastic.console import console, one_line, progress
from paraphrastic.errors import SourceError

if TYPE_CHECKING:
    from rich.table import Table

    from paraphrastic.sources.catalogue import Source
    from paraphrastic.sources.held import Places

# What a command needs is imported in it: `--help` and `data` do without torch.


class _Commands(TyperGroup):
    """Commands that end as `one_line` says."""

    def invoke(self, ctx: typer.Context) -> Any:
        with one_line("interrupted"):
            done = super().invoke(ctx)
            sys.stdout.flush()  # a closed pipe shows here, not when the interpreter ends
            return done


_LOOKS = {"add_completion": False, "rich_markup_mode": None, "no_args_is_help": True}
app = Typer(cls=_Commands, pretty_exceptions_enable=False, **_LOOKS)
data = Typer(help="Data sources: list, fetch, check, path.", **_LOOKS)
app.add_typer(data, name="data")

ModelFolder = Annotated[Path, Argument(metavar="MODEL", help="Folder of a model, such as data/model.")]
Lines = Annotated[str, Argument(metavar="FILE", help="Text file, UTF-8; `-` is standard input.", show_default=False)]
Names = Annotated[list[str], Argument(metavar="NAME", help="Sources, as `paraphrastic data list` shows them.")]


def main() -> None:
    """Run the command that the shell asks for: exit status 0, 1 refused input, 2 wrong usage, 130 interrupted."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    app(prog_name="paraphrastic")


@app.callback()
def _about() -> None:
    """Paraphrastic sentence encoders.

    MODEL is a folder such as data/model; FILE is text, `-` standard input.
    """


@app.command()
def embed(
    model: ModelFolder,
    file: Lines = "-",
    out: Annotated[str, Option(help="FILE.npy, FILE.parquet or FILE.jsonl; `-` writes JSON lines.")] = "-",
    normalize: Annotated[bool, Option("--normalize", help="Scale vectors to length 1.")] = False,
) -> None:
    """Vectors of the lines of FILE."""
    from paraphrastic import embed, texts

    if out != texts.STANDARD and Path(out).suffix not in embed.FORMATS:
        raise BadParameter(f"'{out}' ends in none of {', '.join(embed.FORMATS)}", param_hint="--out")
    embed.embed(paraphrastic.load(model), texts.sentences(file), out, normalize)


@app.command()
def similarity(model: ModelFolder, file: Lines = "-") -> None:
    """Similarity of two tab-separated columns, line by line."""
    from paraphrastic.texts import pairs

    loaded = paraphrastic.load(model)
    for left, right in pairs(file):
        sys.stdout.writelines(f"{score:.6f}\n" for score in loaded.similarity(left, right, progress=False).tolist())


@app.command()
def neighbors(
    model: ModelFolder,
    text: Annotated[str, Argument(metavar="TEXT", help="A word, an n-gram or a sentence.")],
    k: Annotated[int, Option("--k", "-k", min=1, help="How many.")] = 10,
    among: Annotated[str | None, Option(metavar="FILE", help="Look among the lines of FILE instead.")] = None,
) -> None:
    """What is nearest to TEXT in the vocabulary or a file."""
    from paraphrastic.neighbors import among as among_lines
    from paraphrastic.neighbors import in_vocabulary
    from paraphrastic.texts import sentences

    loaded = paraphrastic.load(model)
    near = among_lines(loaded, text, sentences(among), k) if among else in_vocabulary(loaded, text, k)
    sys.stdout.writelines(f"{score:.4f}\t{found}\n" for score, found in near)


@app.command()
def compare(
    a: Annotated[str, Argument(metavar="A", help="Revision or experiment; several, with commas, are seeds of one.")],
    b: Annotated[str, Argument(metavar="B", help="The same; `workspace` is what lies here.")] = "workspace",
    md: Annotated[bool, Option("--md", help="As a table in Markdown.")] = False,
    as_json: Annotated[bool, Option("--json", help="As JSON.")] = False,
) -> None:
    """Is B better than A, set by set and on the mean?"""
    from paraphrastic.compare import report
    from paraphrastic.compare.comparison import compare
    from paraphrastic.compare.revisions import scores_of

    found = compare(*([scores_of(name) for name in names.split(",")] for names in (a, b)))
    if as_json or md:
        sys.stdout.write(report.as_json(found) if as_json else report.markdown(found))
    else:
        _show(report.terminal(found))
    if found.left_out:
        console.print(f"not in all runs, left out: {', '.join(found.left_out)}", highlight=False, soft_wrap=True)


class Format(StrEnum):
    """What a model can be exported to."""

    SENTENCE_TRANSFORMERS = "sentence-transformers"
    WORD2VEC = "word2vec"


@app.command()
def export(
    model: ModelFolder,
    out: Annotated[Path, Argument(metavar="OUT", help="Folder, or file for word2vec.")],
    to: Annotated[Format, Option("--to", help="Format.")],
) -> None:
    """Write MODEL for sentence-transformers or as word2vec text."""
    from paraphrastic.export import to_sentence_transformers, to_word2vec

    write = to_word2vec if to is Format.WORD2VEC else to_sentence_transformers
    lost = write(paraphrastic.load(model), out)
    console.print(f"not kept: {lost}", highlight=False, soft_wrap=True)


@app.command()
def info(model: ModelFolder) -> None:
    """What MODEL is: options, size, vocabulary."""
    loaded = paraphrastic.load(model)
    _print(("", ""), [*loaded.facts().items(), *((f"options.{name}", value) for name, value in loaded.options.items())])


@data.command("list")
def list_() -> None:
    """Name, licence, size where it is fetched, and what it is."""
    from paraphrastic.sources.catalogue import catalogue

    places = _places()
    rows = [(each.name, each.licence, _size(each, places), each.title) for each in catalogue().sources.values()]
    _print(("source", "licence", "size", "title"), rows)


@data.command()
def fetch(names: Names) -> None:
    """Bring sources into the cache, from PARAPHRASTIC_MIRROR first."""
    from paraphrastic.sources.display import arrivals, terms
    from paraphrastic.sources.download import fetch
    from paraphrastic.sources.held import missing

    sources, places = _sources(names), _places()
    with progress() as bar:
        absent = fetch(
            sources,
            None,
            mirror=os.environ.get("PARAPHRASTIC_MIRROR"),
            cache=places.cache,
            brought=places.brought,
            on_progress=arrivals(bar, len({file for source in sources for file in source.files})),
            on_licence=lambda source: console.print(terms(source), markup=False, highlight=False, soft_wrap=True),
        )
    if absent:
        raise SourceError("; ".join(f"{each.name}: {missing(each, places.brought)}" for each in absent))


@data.command()
def check(names: Annotated[list[str] | None, Argument(metavar="NAME", help="Only these sources.")] = None) -> None:
    """Which sources are in the cache, and whether their files are sound."""
    from paraphrastic.sources.catalogue import catalogue

    places = _places()
    rows = [(each.name, *_state(each, places)) for each in (_sources(names) if names else catalogue().sources.values())]
    _print(("source", "files", "state"), rows)
    damaged = [name for name, _, state in rows if state == _DAMAGED]
    if damaged:
        raise SourceError(f"damaged: {', '.join(damaged)}; run `paraphrastic data fetch {' '.join(damaged)}`")


@data.command()
def path(name: Annotated[str, Argument(metavar="NAME", help="A source.")]) -> None:
    """Where the files of a fetched source lie, one a line."""
    (source,) = _sources([name])
    sys.stdout.writelines(f"{path}\n" for path in _places().named(source))


_DAMAGED = "damaged"


def _state(source: "Source", places: "Places") -> tuple[str, str]:
    """How many of the files of `source` are there, and a word for it."""
    found = [held for file in source.files if (held := places.held(source, file))]
    if not all(held.is_sound() for held in found):
        state = _DAMAGED
    elif len(found) == len(source.files):
        state = "sound" if found else "generated"
    else:
        state = "incomplete" if found else "not fetched"
    return f"{len(found)}/{len(source.files)}", state


def _size(source: "Source", places: "Places") -> str:
    """Megabytes of a source whose files are all there; "" of others."""
    found = [places.held(source, file) for file in source.files]
    return f"{sum(held.path.stat().st_size for held in found) / 1e6:.1f} MB" if found and all(found) else ""


def _sources(names: Sequence[str]) -> list["Source"]:
    from paraphrastic.sources.catalogue import source

    return [source(name) for name in names]


def _places() -> "Places":
    from paraphrastic.sources.download import cache_folder, licensed_folder, mirror_folder
    from paraphrastic.sources.held import Places

    mirror = os.environ.get("PARAPHRASTIC_MIRROR")
    return Places(cache_folder(), mirror_folder(mirror) if mirror else None, licensed_folder())


def _print(header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """A table for the eye on a terminal; elsewhere columns with tabs between them, without the header."""
    if not sys.stdout.isatty():
        sys.stdout.writelines("\t".join(map(str, row)) + "\n" for row in rows)
        return
    from rich.table import Table

    table = Table(*header, box=None, pad_edge=False, show_header=any(header), header_style="bold")
    for row in rows:
        table.add_row(*map(str, row))
    _show(table)


def _show(table: "Table") -> None:
    from rich.console import Console

    Console(markup=False, highlight=False).print(table)
