"""Supervised tasks: labelled data with splits, and training of a head, a pair model or a tagger on them."""
