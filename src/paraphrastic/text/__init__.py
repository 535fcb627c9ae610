"""Text as columns: the tokenizer, normalization, and operations on whole columns of sentences."""
