"""Vocabularies: count words and n-grams, and map tokenized sentences to ids."""
