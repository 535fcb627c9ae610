"""The formats of embedding tables, for what has no need of the tables."""

from typing import Literal, get_args

TableFormat = Literal["float32", "float16", "int8"]
FORMATS: tuple[TableFormat, ...] = get_args(TableFormat)
