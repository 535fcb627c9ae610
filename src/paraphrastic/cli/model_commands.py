"""Commands that use trained models: embed, similarity, neighbors, explain, merge, compact, export, card, info."""

import sys
from pathlib import Path
from typing import Annotated

from typer import Argument, BadParameter, Option

import paraphrastic
from paraphrastic.base import devices
from paraphrastic.base.console import STANDARD_STREAM, message, print_rows
from paraphrastic.base.errors import ParameterError
from paraphrastic.cli.arguments import (
    Column,
    Device,
    InputFile,
    ModelFolder,
    ModelOption,
    output_file,
    refuse_new_folder,
)
from paraphrastic.export import Format
from paraphrastic.inference import Precision
from paraphrastic.scoring import TableFormat


def embed(
    file: InputFile = "-",
    model: ModelOption = None,
    out: Annotated[str, Option(help="FILE.npy, FILE.parquet or FILE.jsonl; `-` writes JSON lines.")] = "-",
    column: Column = None,
    normalize: Annotated[bool, Option("--normalize", help="Scale vectors to length 1.")] = False,
    precision: Annotated[Precision, Option(help="Type of the numbers; `binary` and `ubinary` are bits.")] = "float32",
    device: Device = devices.CPU,
) -> None:
    """Write the vectors of the lines of FILE."""
    from paraphrastic.cli.text_input import read_sentences
    from paraphrastic.inference.vector_files import FORMATS, write_vectors

    if out != STANDARD_STREAM and Path(out).suffix.lower() not in FORMATS:
        raise BadParameter(f"'{out}' ends in none of {', '.join(FORMATS)}", param_hint="--out")
    out = output_file(out, file)
    loaded = paraphrastic.load(model, device=device)
    count, unknown = write_vectors(loaded, read_sentences(file, column), out, normalize, precision)
    if unknown:
        message(f"{unknown} of {count} lines have nothing that the model knows; their vectors are zero")


def similarity(
    file: InputFile = "-",
    model: ModelOption = None,
    column: Annotated[
        str | None, Option("--column", metavar="A,B", help="Two columns of FILE.csv, .tsv, .jsonl or .parquet.")
    ] = None,
    device: Device = devices.CPU,
) -> None:
    """Print the similarity of pairs of sentences.

    Each line of FILE has two sentences, separated by a tab, and each line of the output a number. The first line of a
    TSV has names if these are text1 and text2 or another usual pair, or if --column gives them.
    """
    from paraphrastic.cli.text_input import read_pairs

    loaded = paraphrastic.load(model, device=device)
    pairs = read_pairs(file, column)
    blocks = (loaded.similarity_pairwise(left, right, show_progress_bar=False).tolist() for left, right in pairs)
    sys.stdout.writelines(f"{score:.6f}\n" for scores in blocks for score in scores)


def neighbors(
    text: Annotated[str, Argument(metavar="TEXT", help="A word, an n-gram or a sentence.")],
    model: ModelOption = None,
    k: Annotated[int, Option("--k", "-k", min=1, help="Number of neighbours.")] = 10,
    device: Device = devices.CPU,
) -> None:
    """Print the nearest neighbours of TEXT.

    They are words or n-grams of the vocabulary; `search` finds lines of a file.
    """
    from paraphrastic.inference.neighbors import nearest_in_vocabulary

    found = nearest_in_vocabulary(paraphrastic.load(model, device=device), text, k)
    print_rows(("similarity", "text"), ((f"{score:.4f}", neighbor) for score, neighbor in found))


def explain(
    first: Annotated[str, Argument(metavar="TEXT1", help="A sentence.")],
    second: Annotated[str, Argument(metavar="TEXT2", help="Another sentence.")],
    model: ModelOption = None,
) -> None:
    """Print the share of each word or n-gram in the cosine.

    The shares of each sentence sum to the cosine of both; the largest one stands first. For gran, the L1 norm of each
    word's gate follows its share.
    """
    from paraphrastic.analysis.explain import explain

    explanation = explain(paraphrastic.load(model), first, second)
    message(f"cosine: {explanation.cosine:.4f}")
    units = [(n, unit) for n, side in enumerate((explanation.left, explanation.right), 1) for unit in side]
    units.sort(key=lambda row: (row[0], -row[1].share))
    gates = [[] if unit.gate is None else [f"{unit.gate:.1f}"] for _, unit in units]
    header = ("sentence", "share", *(["gate"] if any(gates) else []), "unit")
    rows = ((n, f"{unit.share:.4f}", *gate, unit.text) for (n, unit), gate in zip(units, gates, strict=True))
    print_rows(header, rows)


def export(
    model: ModelFolder,
    out: Annotated[Path, Argument(metavar="OUT", help="Folder, or file for word2vec.")],
    to: Annotated[Format, Option("--to", metavar="FORMAT", help=f"One of {', '.join(Format)}.")],
    force: Annotated[bool, Option("--force", help="Replace an earlier export.")] = False,
) -> None:
    """Write MODEL in the format of another tool."""
    from paraphrastic.export import export

    refuse_new_folder(out)
    message(export(paraphrastic.load(model), out, to, force))


def merge(
    models: Annotated[list[str], Argument(metavar="MODEL", help="Folders of models.")],
    out: Annotated[Path, Option(help="Folder of the merged model.")],
    dim: Annotated[int | None, Option(min=1, help="Size of its vectors.  [default: that of the first]")] = None,
    force: Annotated[bool, Option("--force", help="Replace the model in OUT.")] = False,
) -> None:
    """Write one encoder that is made of several.

    Its vectors are the principal components of theirs, side by side. Averages must have the same vocabulary, as those
    of several seeds have; Charagram models may differ.
    """
    from paraphrastic.export.merge import merge

    _refuse_to_replace(out, force)
    loaded = [paraphrastic.load(model) for model in models]
    kept = merge(loaded, out, dim)
    message(f"{out}: {kept} of {sum(model.dim for model in loaded)} dimensions")


def compact(
    model: ModelFolder,
    out: Annotated[Path, Argument(metavar="OUT", help="Folder of the smaller model.")],
    table: Annotated[TableFormat, Option(help="Format of the embeddings.")] = "int8",
    max_mb: Annotated[float | None, Option(help="Drop the entries that matter least above this size.")] = None,
    scale: Annotated[float, Option(help="Multiply all vectors by this number.")] = 1.0,
    force: Annotated[bool, Option("--force", help="Replace the model in OUT.")] = False,
) -> None:
    """Write MODEL with smaller embeddings, or fewer of them."""
    from paraphrastic.export.compact import compact

    _refuse_to_replace(out, force)
    loaded = paraphrastic.load(model)
    entries = compact(loaded, out, table, max_mb, scale)
    size, before = (sum(file.stat().st_size for file in folder.iterdir()) / 1e6 for folder in (out, loaded.folder))
    counts = f"{entries:,} of {len(loaded.vocabulary):,} entries of the vocabulary"
    message(f"{out}: {counts}, {size:.1f} MB in place of {before:.1f}")


def _refuse_to_replace(out: Path, force: bool) -> None:
    """Refuse a folder in which a model cannot be written."""
    from paraphrastic.inference.places import check_replaceable

    refuse_new_folder(out)
    check_replaceable(out)
    if out.exists() and not force:
        raise ParameterError(f"{out}: exists; --force replaces it")


def card(
    model: ModelFolder,
    out: Annotated[str, Option(help="File, such as README.md; `-` prints.")] = "-",
    sets: Annotated[Path | None, Option(help="metrics/sets.csv of MODEL, or a .tsv from `evaluate`.")] = None,
    corpus: Annotated[Path | None, Option(help="metrics/corpus.csv of MODEL, for dropped pairs.")] = None,
    force: Annotated[bool, Option("--force", help="Replace a file that exists.")] = False,
) -> None:
    """Write the card of MODEL, a README.md as hubs expect it.

    It is the one in the folder of MODEL, if there is one and no table is given.
    """
    from paraphrastic.base.files import write_text
    from paraphrastic.export import card_of
    from paraphrastic.inference.model_folder import folder_of

    text = card_of(folder_of(model), sets, corpus)
    if out == STANDARD_STREAM:
        sys.stdout.write(text)
        return
    path = Path(output_file(out, None))
    if path.exists() and not force:
        raise ParameterError(f"{out}: exists; --force replaces it")
    write_text(path, text)


def info(model: ModelFolder) -> None:
    """Print options, size and vocabulary of MODEL."""
    loaded = paraphrastic.load(model)
    blocks = {"loss": loaded.loss, "options": loaded.options}
    options = ((f"{block}.{name}", value) for block, each in blocks.items() for name, value in each.items())
    print_rows(("name", "value"), [*loaded.summary().items(), *options])
