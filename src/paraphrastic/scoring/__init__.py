"""Scorers, which compare tokenized sentences for evaluation and for users, and their storage."""
