"""Scorers, which compare tokenized sentences for evaluation and for users, and their storage."""

from typing import Literal, get_args

# formats of embeddings; here for those who need no table
TableFormat = Literal["float32", "float16", "int8", "int4", "int3", "int2"]
TABLE_FORMATS: tuple[TableFormat, ...] = get_args(TableFormat)
