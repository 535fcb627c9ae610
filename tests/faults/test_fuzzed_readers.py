"""Every reader on files that are not of its format: usable rows, counted bad ones, or an error of one line."""

import ast
import bz2
import csv
import gzip
import inspect
import io
import json
import tarfile
import zipfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import strategies as st

from paraphrastic.base.tables import RAW
from paraphrastic.readers.registry import READERS, read
from paraphrastic.sources.catalogue import catalogue, corpus, suite
from paraphrastic.sources.source import Source
from tests.helpers.odd_input import damaged, files, texts
from tests.helpers.raw_files import write_file

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


def packed(path: str, contents: list[bytes], names: list[str]) -> bytes:
    """Return the content of a file of that name: packed if its name says so."""
    plain = (name.replace("*", "a").replace("/", "_") for name in names)
    members = dict(zip(plain, contents, strict=False))
    buffer = io.BytesIO()
    if path.endswith(".zip"):
        with zipfile.ZipFile(buffer, "w") as archive:
            for name, content in members.items():
                archive.writestr(f"deep/{name}", content)
        return buffer.getvalue()
    if path.endswith((".tar.gz", ".tgz", ".tar.bz2")):
        with tarfile.open(fileobj=buffer, mode="w:gz" if path.endswith("gz") else "w:bz2") as archive:
            for name, content in members.items():
                info = tarfile.TarInfo(f"deep/{name}")
                info.size = len(content)
                archive.addfile(info, io.BytesIO(content))
        return buffer.getvalue()
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
            content = packed(file.path, data.draw(contents), data.draw(names))
            if damage and content:
                content = data.draw(damaged(content))
            write_file(tmp_path / file.path, content)
        check_readings(source, tmp_path)

    tries.fuzz(12, check, st.data(), st.sampled_from([False, False, False, True]))


def own_content(ending: str, header: list[str], rows: list[list[str]], path: Path) -> bytes:
    """Return a valid file of the user's rows in the format of its ending."""
    if ending == "parquet":
        table = pa.table({name: [row[i] for row in rows] for i, name in enumerate(header)})
        pq.write_table(table, path)
        return path.read_bytes()
    text = io.StringIO()
    if "jsonl" in ending:
        text.writelines(f"{json.dumps(dict(zip(header, row, strict=True)), ensure_ascii=False)}\n" for row in rows)
    elif "csv" in ending:
        csv.writer(text, lineterminator="\n").writerows([header, *rows])
    else:
        text.writelines("\t".join(row) + "\n" for row in [header, *rows])
    data = text.getvalue().encode("utf-8", "surrogatepass")
    if ending.endswith(".zst"):
        return pa.Codec("zstd").compress(data, asbytes=True)
    return gzip.compress(data) if ending.endswith(".gz") else data


@pytest.mark.parametrize("ending", ["csv", "tsv", "jsonl", "csv.gz", "parquet", "csv.zst", "jsonl.gz"])
@pytest.mark.parametrize("kind", OWN)
def test_own_files(tries, tmp_path, kind, ending):
    path = tmp_path / f"own.{ending}"
    known = ["0", "1", "0.0", "1.0", "2", "3.5"], ["train", "dev", "test"], ["q", "r"]
    column = [texts(), *map(st.sampled_from, known)]
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
        kinds = [data.draw(st.sampled_from(column)) for _ in header[2:]]
        rows = [[*row] for row in data.draw(st.lists(st.tuples(texts(), texts(), *kinds), min_size=1, max_size=6))]
        content = own_content(ending, header, rows, path)
        path.write_bytes(data.draw(damaged(content)) if damage else content)
        choose = corpus if kind == "own-pairs" else lambda entry: suite(entry).sources
        for source in choose(str(path)):
            check_readings(source, tmp_path)

    tries.fuzz(20, check, st.sampled_from(headers), st.data(), st.booleans())


def shortened(path: str, content: bytes, lines: int = 30) -> bytes:
    """Return the first lines of a file, or of each member of an archive."""

    def first(data: bytes) -> bytes:
        return b"".join(data.splitlines(keepends=True)[:lines])

    if path.endswith(".zip"):
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            members = [info for info in archive.infolist() if not info.is_dir()]
            contents = {Path(info.filename).name: first(archive.read(info)) for info in members}
        return packed(path, [*contents.values()], [*contents])
    if path.endswith((".tar.gz", ".tgz")):
        with tarfile.open(fileobj=io.BytesIO(content)) as archive:
            files_of = {info: archive.extractfile(info) for info in archive.getmembers() if info.isfile()}
            contents = {Path(info.name).name: first(file.read()) for info, file in files_of.items() if file}
        return packed(path, [*contents.values()], [*contents])
    return packed(path, [first(gzip.decompress(content))], ["a"]) if path.endswith(".gz") else first(content)


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
    contents = {file.path: shortened(file.path, original(file).read_bytes()) for file in source.files}

    def check(path, data):
        for name, content in contents.items():
            write_file(tmp_path / name, data.draw(damaged(content)) if name == path else content)
        check_readings(source, tmp_path)

    tries.fuzz(8, check, st.sampled_from(sorted(contents)), st.data())


@pytest.mark.parametrize("ending", ["csv", "tsv", "jsonl"])
def test_no_row_of_a_well_formed_file_is_lost(tries, tmp_path, ending):
    path = tmp_path / f"own.{ending}"

    def check(rows):
        with path.open("w", encoding="utf-8", newline="") as file:
            if ending == "jsonl":
                file.writelines(f"{json.dumps({'text1': a, 'text2': b}, ensure_ascii=False)}\n" for a, b in rows)
            elif ending == "csv":
                csv.writer(file, lineterminator="\n", quoting=csv.QUOTE_ALL).writerows([("text1", "text2"), *rows])
            else:
                rows = [[text.translate(dict.fromkeys(map(ord, "\t\n\r"), " ")) + "." for text in row] for row in rows]
                file.writelines(f"{a}\t{b}\n" for a, b in [("text1", "text2"), *rows])
        (source,) = corpus(str(path))
        read_rows, bad = check_readings(source, tmp_path)
        assert read_rows + bad == len(rows)
        assert bad == sum("\0" in a + b for a, b in rows)
        return len(rows)

    pairs = st.lists(st.tuples(texts(), texts()), min_size=1, max_size=20)
    tries.fuzz(60, check, pairs.filter(lambda rows: any("\0" not in a + b for a, b in rows)))
