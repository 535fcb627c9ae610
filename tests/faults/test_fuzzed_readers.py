"""Every reader on files that are not of its format: usable rows, counted bad ones, or an error of one line."""

import ast
import bz2
import csv
import gzip
import inspect
import io
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import strategies as st

from paraphrastic.base.tables import RAW
from paraphrastic.readers.raw_files import read_archive, read_bytes
from paraphrastic.readers.registry import READERS, read
from paraphrastic.sources.catalogue import catalogue, corpus, suite
from paraphrastic.sources.source import Source
from tests.helpers.odd_input import damaged, files, texts
from tests.helpers.raw_files import packed, write_file

pytestmark = [pytest.mark.faults, pytest.mark.slow]

OWN = ("own-pairs", "own-set")
NULLABLE = {"head", "relation"}


def check_readings(source: Source, folder: Path) -> tuple[int, int]:
    """Return how many rows were read and how many were left out."""
    read_rows = bad = 0
    for reading in read(source, folder):
        assert reading.table.schema.equals(RAW[reading.kind])
        reading.table.validate(full=True)
        for name in set(reading.table.column_names) - NULLABLE:
            assert reading.table[name].null_count == 0
        read_rows += len(reading.table)
        bad += len(reading.bad)
    return read_rows, bad


def smallest_source(reader: str) -> Source:
    """Return the source of the catalogue with the fewest files that a reader reads."""
    sources = (each for each in catalogue().sources.values() if each.reader == reader)
    return min(sources, key=lambda each: len(each.files))


def strings(tree: object) -> set[str]:
    """Return all texts in nested options."""
    if isinstance(tree, str):
        return {tree}
    values = [*tree, *tree.values()] if isinstance(tree, dict) else tree if isinstance(tree, list | tuple) else []
    return {text for value in values for text in strings(value)}


def words_of(reader: str, source: Source) -> list[str]:
    """Return the texts in a reader's module and options, such as names of columns and of members of archives."""
    tree = ast.parse(inspect.getsource(inspect.getmodule(READERS[reader])))
    constants = {node.value for node in ast.walk(tree) if isinstance(getattr(node, "value", None), str)}
    return sorted({word for word in constants | strings(dict(source.options)) if 0 < len(word) < 40})


def named(path: str, contents: list[bytes], names: list[str]) -> bytes:
    """Return the content of a file of that name: packed if its name says so."""
    plain = (name.replace("*", "a").replace("/", "_") for name in names)
    members = {f"deep/{name}": content for name, content in zip(plain, contents, strict=False)}
    if path.endswith((".zip", ".tar.gz", ".tgz", ".tar.bz2")):
        return packed(members, "zip" if path.endswith("zip") else "gz" if path.endswith("gz") else "bz2")
    if path.endswith(".gz"):
        return gzip.compress(contents[0])
    return bz2.compress(contents[0]) if path.endswith(".bz2") else contents[0]


@pytest.mark.parametrize("reader", sorted(READERS.keys() - {"sample", *OWN}))
def test_files_of_a_source(tries, tmp_path, reader):
    source = smallest_source(reader)
    words = words_of(reader, source)
    contents = st.lists(files(words), min_size=3, max_size=3)
    names = st.permutations([*words, "a.txt"]).map(lambda order: order[:3])

    def check(data, damage):
        for file in source.files:
            content = named(file.path, data.draw(contents), data.draw(names))
            if damage and content:
                content = data.draw(damaged(content))
            write_file(tmp_path / file.path, content)
        check_readings(source, tmp_path)

    tries.fuzz(12, check, st.data(), st.sampled_from([False, False, False, True]))


def write_own(path: Path, header: list[str], rows: list[tuple[str, ...]], quoting: int = csv.QUOTE_MINIMAL) -> None:
    """Write a valid file of the user's rows in the format of its ending."""
    if path.suffix == ".parquet":
        pq.write_table(pa.table(dict(zip(header, zip(*rows, strict=True), strict=True))), path)
        return
    text = io.StringIO()
    if ".jsonl" in path.suffixes:
        text.writelines(f"{json.dumps(dict(zip(header, row, strict=True)), ensure_ascii=False)}\n" for row in rows)
    elif ".csv" in path.suffixes:
        csv.writer(text, lineterminator="\n", quoting=quoting).writerows([header, *rows])
    else:
        text.writelines("\t".join(row) + "\n" for row in [header, *rows])
    with pa.output_stream(path, compression="detect") as file:
        file.write(text.getvalue().encode())


@pytest.mark.parametrize("ending", ["csv", "tsv", "jsonl", "csv.gz", "parquet", "csv.zst", "jsonl.gz"])
@pytest.mark.parametrize("kind", OWN)
def test_own_files(tries, tmp_path, kind, ending):
    path = tmp_path / f"own.{ending}"
    known = ["0", "1", "0.0", "1.0", "2", "3.5"], ["train", "dev", "test"], ["q", "r"]
    column = dict(zip(("score", "label", "split", "group"), (known[0], known[0], known[1], known[2]), strict=True))
    headers = {
        "own-pairs": [["text1", "text2"], ["sentence1", "sentence2", "group"], ["text1", "text2", "score"]],
        "own-set": [
            ["text1", "text2", "score"],
            ["text1", "text2", "score", "split"],
            ["text1", "text2", "label"],
            ["question", "candidate", "label"],
            ["text", "label", "split"],
        ],
    }[kind]

    def check(header, data, damage):
        kinds = [st.sampled_from(column[name]) if name in column else texts() for name in header]
        rows = data.draw(st.lists(st.tuples(*kinds), min_size=1, max_size=6))
        write_own(path, header, rows)
        if damage:
            path.write_bytes(data.draw(damaged(path.read_bytes())))
        choose = corpus if kind == "own-pairs" else lambda entry: suite(entry).sources
        for source in choose(str(path)):
            check_readings(source, tmp_path)

    tries.fuzz(20, check, st.sampled_from(headers), st.data(), st.booleans())


def shortened(path: Path) -> bytes:
    """Return the first lines of a file, or of each member of an archive, with which it can still be read."""
    lines = {".conllu": 200, ".json": 10**9, ".xml": 10**9}.get(path.suffix, 30)
    if path.name.endswith((".zip", ".tar.gz", ".tgz")):
        members = {Path(name).name: data for name, data in read_archive(path).items()}
    else:
        members = {"a": read_bytes(path)}
    contents = [b"".join(data.splitlines(keepends=True)[:lines]) for data in members.values()]
    return named(path.name, contents, [*members])


@pytest.mark.real_data
@pytest.mark.parametrize("reader", sorted(READERS.keys() - {"sample", *OWN}))
def test_damaged_files_of_real_sources(tries, tmp_path, mirror, reader):
    def original(file):
        return mirror / file.url.partition("://")[2]

    sources = [each for each in catalogue().sources.values() if each.reader == reader]
    present = [
        each for each in sources if each.files and all(file.url and original(file).is_file() for file in each.files)
    ]
    if not present:
        pytest.skip("not in the mirror")
    source = min(present, key=lambda each: sum(original(file).stat().st_size for file in each.files))
    whole = {file.path: write_file(tmp_path / file.path, original(file).read_bytes()) for file in source.files}
    contents = {name: shortened(path) for name, path in whole.items()}

    def check(path, data):
        for name, content in contents.items():
            write_file(tmp_path / name, data.draw(damaged(content)) if name == path else content)
        check_readings(source, tmp_path)

    tries.fuzz(8, check, st.sampled_from(sorted(contents)), st.data())


@pytest.mark.parametrize("ending", ["csv", "tsv", "jsonl"])
def test_no_row_of_a_well_formed_file_is_lost(tries, tmp_path, ending):
    path = tmp_path / f"own.{ending}"

    def check(rows):
        if ending == "tsv":
            rows = [[text.translate(dict.fromkeys(map(ord, "\t\n\r"), " ")) + "." for text in row] for row in rows]
        write_own(path, ["text1", "text2"], rows, csv.QUOTE_ALL)
        (source,) = corpus(str(path))
        read_rows, bad = check_readings(source, tmp_path)
        assert read_rows + bad == len(rows)
        assert bad == sum("\0" in a + b for a, b in rows)
        return len(rows)

    pairs = st.lists(st.tuples(texts(), texts()), min_size=1, max_size=20)
    tries.fuzz(60, check, pairs.filter(lambda rows: any("\0" not in a + b for a, b in rows)))
