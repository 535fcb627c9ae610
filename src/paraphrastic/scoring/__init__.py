"""Scorers: what evaluation and users call to compare tokenized sentences, and how they are stored."""
