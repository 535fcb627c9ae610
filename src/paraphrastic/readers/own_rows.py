"""Rows of a user's file with the columns that were asked for, as text, and what their labels mean."""

from collections.abc import Collection, Mapping, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from paraphrastic.base.errors import DataError
from paraphrastic.readers.lines import BadRow, SourceRows

_POSITIVE = ("1", "true", "yes", "duplicate", "equivalent", "paraphrase")
_NEGATIVE = ("0", "false", "no", "not_duplicate", "not_equivalent", "not_paraphrase")
_NUMBERS = {"true": "1", "false": "0"}  # which truth values become where they are no text
_LARGEST = float(np.finfo(np.float64).max)
_SHOWN = 5  # labels in a message
NO_LABEL = ("", "-")  # as SNLI writes where annotators do not agree
_DECIMAL_COMMA = r"^\s*[+-]?(0,\d+|\d+,(\d\d?|\d{4,}))\s*$"  # 4,500 could be thousands


class OwnRows(SourceRows):
    """Rows with the columns that were asked for.

    Args:
        file: name of the file for messages.
        lines: (n,) number of the line at which each row starts; of the row itself if the file has no lines.
        cells: (n,) values of each column by name, as text; null if the row has no value.
        bad: rows before, after or between these that have no values at all.

    Attributes:
        columns: (n,) texts by name; null if a cell is not valid text or contains a NUL byte.
    """

    def __init__(
        self, file: object, lines: NDArray[np.int64], cells: Mapping[str, pa.Array], bad: Sequence[BadRow] = ()
    ) -> None:
        super().__init__(file, lines)
        self.bad += bad
        self.columns: dict[str, pa.StringArray] = {}
        for name, column in cells.items():
            self.reject(column, pc.is_null(column), f"no value of '{name}'")
            self.columns[name] = self.reject(column, pc.match_substring(column, "\0"), f"a NUL byte in '{name}'")

    def __len__(self) -> int:
        return len(self._numbers)

    def scores(self, name: str, may_be_blank: bool = False) -> pa.DoubleArray:
        """Return a column as numbers, also those with a decimal comma; other values make bad rows."""
        text = self.columns[name]
        has_comma = pc.match_substring_regex(text, _DECIMAL_COMMA)
        text = pc.if_else(has_comma, pc.replace_substring(text, ",", "."), text)
        return self.numbers(text, -_LARGEST, _LARGEST, may_be_blank)

    def zeros_and_ones(self, name: str, positive: Collection[str], known: set[str]) -> pa.Int8Array:
        """Return a column of 0 and 1, which some tools write as 0.0 and 1.0 or as words; other values make bad rows.

        Args:
            name: of the column.
            positive: the values that stand for 1, all others standing for 0; empty for the usual ones.
            known: values with a meaning in the file until here, to which those of these rows are added.

        Raises:
            DataError: not one value until here has a meaning.
        """
        text = _plain(self.columns[name])
        if positive:
            wanted = _plain(pa.array(positive)).to_pylist()
            numbers = [_NUMBERS[each] for each in wanted if each in _NUMBERS]
            is_positive = pc.is_in(text, pa.array([*wanted, *numbers]))
            return pc.if_else(pc.is_valid(text), is_positive, None).cast(pa.int8())
        for number, words in (("1", _POSITIVE), ("0", _NEGATIVE)):
            text = pc.if_else(pc.is_in(text, pa.array(words)), number, text)
        values = set(text.unique().to_pylist()) - {None, *NO_LABEL}
        known |= values & {"0", "1"}
        if values and not known:
            shown = ", ".join(sorted(values)[:_SHOWN])
            remedy = f"say which stand for 1, as `{{path: …, positive: [VALUE, …]}}`, or `columns: {{score: {name}}}`"
            raise DataError(f"{self.file}: '{name}' has the labels {shown}, not 0 and 1; {remedy} for numbers")
        return self.labels(text, ("0", "1"))


def _plain(labels: pa.StringArray) -> pa.StringArray:
    """Return labels in lower case, without spaces around them, and 3 for 3.0."""
    return pc.replace_substring_regex(pc.utf8_lower(pc.utf8_trim_whitespace(labels)), r"^(-?\d+)\.0*$", r"\1")
