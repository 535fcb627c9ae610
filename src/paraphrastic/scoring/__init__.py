"""Scorers, which compare tokenized sentences for evaluation and for users, and their storage."""

from typing import Literal, get_args

TableFormat = Literal["float32", "float16", "int8", "int4"]  # of embeddings; here for those who need no table
TABLE_FORMATS: tuple[TableFormat, ...] = get_args(TableFormat)
