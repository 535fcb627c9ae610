"""The numbers that a paper's tables, captions and text state, one line each: `published/PAPER.csv`.

* `table`: `T3` is Table 3, `F1` the caption of Figure 1, `S4.2` the text of Section 4.2 and its notes, `SB` of
  Appendix B.
* `row`: the model, by its name in this project if it has one, then qualifiers after spaces: `lstm dropout scrambling`.
  `select/SET` marks a model selected on SET, and `oracle` one selected on the sets that the number is a mean of.
* `column`: the set by its name in this project, a group of sets (`sts.2012`), `mean` over the sets of the table, or a
  quantity such as `pairs`. Lists, for example of neighbors, have the columns 1 to k.
* `value`: the text as printed. Numbers drawn in a figure, dashes and `N/A` have no line.

acl2017 has no lines for Tables 4, 5 and 11 and for examples 2 to 7 of Table 7, nor charagram2016 for neighbors 1 and 4
of `_2` in Table 10: the files are transcribed from a text of the papers that lacks these.
"""

import re
from pathlib import Path

import pandas as pd

_FOLDER = Path(__file__).with_suffix("")
_NUMBER = r"[+-]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?"  # `12,108` is 12108


def published(paper: str) -> pd.DataFrame:
    """Return all lines of a paper, in the order of the file, as texts."""
    return pd.read_csv(_FOLDER / f"{paper}.csv", dtype=str, keep_default_na=False)


def printed(paper: str, table: str) -> dict[tuple[str, str], str]:
    """Return the values of a table as printed, by row and column."""
    lines = published(paper).query("table == @table")
    return dict(zip(zip(lines["row"], lines["column"], strict=True), lines["value"], strict=True))


def parsed(text: str) -> float | None:
    """Return the number that a value is; None if it is text."""
    return float(text.replace(",", "")) if re.fullmatch(_NUMBER, text) else None
