"""Commands that find lines of a text file by their sentence vectors: search, dedup, pairs."""

import sys
from collections.abc import Iterable, Sequence
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

import paraphrastic
from paraphrastic.base import devices
from paraphrastic.base.console import STANDARD_STREAM, message, print_rows, tab_separated
from paraphrastic.base.errors import DataError, ParameterError
from paraphrastic.base.files import atomic_write, write_text
from paraphrastic.cli.arguments import Column, Device, InputFile, ModelOption, output_file

if TYPE_CHECKING:
    from paraphrastic.inference.mining import Lines
    from paraphrastic.readers.own_tables import OwnTable

Out = Annotated[str, Option(help="File; `-` prints.")]
Exact = Annotated[bool, Option("--exact", help="Compare all lines; never use the graph.")]
MANY = 400_000  # lines, of which a graph finds pairs faster
MANY_KEPT = 10  # times as many, of which a graph finds duplicates faster: bounds of cosines save more above a threshold


def search(
    file: InputFile,
    queries: Annotated[list[str], Argument(metavar="QUERY", help="Texts to search for.", show_default=False)],
    model: ModelOption = None,
    column: Column = None,
    k: Annotated[int, Option("--k", "-k", min=1, help="Lines per query.")] = 10,
    device: Device = devices.CPU,
) -> None:
    """Print the lines of FILE that are nearest to each QUERY.

    A row has the cosine, the number of the line, and the line; with several queries, the query first. Rows of a table
    are numbered without its header.
    """
    from paraphrastic.cli.text_input import read_sentences
    from paraphrastic.inference import mining
    from paraphrastic.text.tokenizer import text_column, tokenize

    loaded = paraphrastic.load(model, device=device)
    nothing = "{}: the vocabulary knows nothing of '{}'; try another query".format
    tokens = tokenize(text_column(queries), "NFKC").to_pylist()
    if blank := [query for query, words in zip(queries, tokens, strict=True) if not words]:
        raise ParameterError(nothing(loaded.folder, blank[0]))
    found = mining.search(loaded, read_sentences(file, column), queries, k)
    for query, share, lines in zip(queries, loaded.unknown(queries), found, strict=True):
        if share == 1 and not lines:
            if not any(found):
                raise ParameterError(nothing(loaded.folder, query))
            message(nothing(loaded.folder, query))
    results = [(query, line) for query, lines in zip(queries, found, strict=True) for line in lines]
    rows = ((query, f"{line.score:.4f}", line.row + 1, line.text) for query, line in results)
    first = 0 if len(queries) > 1 else 1
    print_rows(("query", "cosine", _numbered(file), "text")[first:], (row[first:] for row in rows))
    _tell_unknown(
        sum(line.unknown for _, line in results), len(results), "results have other unknown words than the query"
    )


def dedup(
    file: InputFile,
    model: ModelOption = None,
    column: Column = None,
    threshold: Annotated[float, Option(min=-1, max=1, help="Smallest cosine of duplicates.")] = 0.95,
    removed: Annotated[bool, Option("--removed", help="Write the duplicates, with the lines kept.")] = False,
    exact: Exact = False,
    out: Out = STANDARD_STREAM,
    device: Device = devices.CPU,
) -> None:
    """Write the lines of FILE without near duplicates.

    The first one is kept of equal lines, and of near ones with equal unknown words. Rows of a table are written whole.
    """
    from paraphrastic.inference import mining

    out = output_file(out, file if removed else None)
    table = None if removed else _table_to_copy(file, out)
    if not table:
        _refuse_ending(out)
    lines = _lines(file, column, model, device)
    original = mining.duplicates(lines, threshold, exact or not _has_graph(lines, MANY_KEPT * MANY)).tolist()
    texts = lines.texts.to_pylist()
    if removed:
        rows = ((i + 1, j + 1, texts[i], texts[j]) for i, j in enumerate(original) if i != j)
        _write_rows(out, (_numbered(file), "kept", "text", "text of kept"), rows)
    elif table:
        _copy_rows(table, [i == j for i, j in enumerate(original)], out)
    else:
        _write(out, (f"{text}\n" for i, text in enumerate(texts) if original[i] == i))
    message(f"{sum(i != j for i, j in enumerate(original))} of {len(texts)} lines are near duplicates of earlier ones")


def pairs(
    file: InputFile,
    model: ModelOption = None,
    column: Column = None,
    threshold: Annotated[float, Option(min=-1, max=1, help="Smallest cosine of a pair.")] = 0.7,
    k: Annotated[int, Option("--k", "-k", min=1, help="Nearest lines of a line that count.")] = 1,
    exact: Exact = False,
    out: Out = STANDARD_STREAM,
    device: Device = devices.CPU,
) -> None:
    """Write pairs of lines of FILE that are paraphrases.

    The lines of a pair are among each other's nearest. The columns are cosine, text1 and text2, where tabs are spaces;
    the largest cosine comes first.
    """
    from paraphrastic.inference import mining

    out = output_file(out, file)
    _refuse_ending(out)
    lines = _lines(file, column, model, device)
    found = mining.paraphrases(lines, threshold, k, exact or not _has_graph(lines, MANY))
    texts = lines.texts.to_pylist()
    _write_rows(out, ("cosine", "text1", "text2"), ((f"{score:.4f}", texts[a], texts[b]) for a, b, score in found))
    message(f"{len(found)} pairs in {len(texts)} lines")
    unknown = lines.unknown.to_pylist()
    _tell_unknown(sum(unknown[a] != unknown[b] for a, b, _ in found), len(found), "pairs differ in unknown words")


def _lines(file: str, column: str | None, model: str | None, device: str) -> "Lines":
    from paraphrastic.cli.text_input import read_sentences
    from paraphrastic.inference.mining import Lines

    blocks = read_sentences(file, column)
    if (first := next(blocks, None)) is None:
        raise DataError(f"{file}: no line of text; give a file that has some")
    lines = Lines.of(paraphrastic.load(model, device=device), chain([first], blocks))
    if unknown := int((~lines.vectors.any(axis=1)).sum()):
        message(
            f"{unknown} of {len(lines.vectors)} lines have nothing that the model knows, and are near equal lines only"
        )
    return lines


def _numbered(file: str) -> str:
    """Return what the numbers of results count."""
    from paraphrastic.cli.text_input import table_of

    return "row" if table_of(file) else "line"


def _tell_unknown(count: int, total: int, differ: str) -> None:
    if count:
        message(f"{count} of {total} {differ}: the cosine says nothing of words that the model does not know")


def _has_graph(lines: "Lines", many: int) -> bool:
    """Return whether lines are found by a graph, which is faster from `many` lines on, and say so."""
    if len(lines.vectors) < many or find_spec("usearch") is None:
        return False
    message("usearch finds nearly all of the nearest lines; --exact compares all")
    return True


def _table_to_copy(file: str, out: str) -> "OwnTable | None":
    """Return the table in `file`, whose rows `out` is to have in the same format; None for lines."""
    from paraphrastic.base.reading import format_of
    from paraphrastic.cli.text_input import FORMATS, table_of

    if table := table_of(file):
        ending = f".{format_of(Path(file))}".replace(".arrow", ".parquet")
        is_printed = out == STANDARD_STREAM and not (ending == ".parquet" and sys.stdout.isatty())
        if not is_printed and Path(out).suffix.lower() != ending:
            name = FORMATS[ending.removeprefix(".")]
            raise ParameterError(f"{out}: rows of {file} are written as {name}; name a file that ends in {ending}")
    return table


def _refuse_ending(out: str) -> None:
    """Refuse a name for lines or TSV that ends as another format or as a compressed file."""
    from paraphrastic.base.reading import COMPRESSIONS, format_of, is_table

    path = Path(out)
    if path.suffix.lower() in COMPRESSIONS or (is_table(path) and format_of(path) != "tsv"):
        raise ParameterError(f"{out}: is written as lines or TSV; name a file that ends in .txt or .tsv")


def _copy_rows(table: "OwnTable", kept: list[bool], out: str) -> None:
    from io import BytesIO

    import numpy as np

    if out == STANDARD_STREAM:
        rows = BytesIO()  # parquet needs to know its position
        table.copy(np.array(kept), rows)
        sys.stdout.buffer.write(rows.getbuffer())
        return
    with atomic_write(Path(out)) as part, part.open("wb") as file:
        table.copy(np.array(kept), file)


def _write_rows(out: str, header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    if out == STANDARD_STREAM:
        print_rows(header, rows)
    else:
        _write(out, tab_separated(header, rows))


def _write(out: str, rows: Iterable[str]) -> None:
    if out == STANDARD_STREAM:
        sys.stdout.writelines(rows)
    else:
        write_text(Path(out), "".join(rows))
