"""The training corpus: pairs of tokenized sentences, without duplicates and without evaluation text."""
