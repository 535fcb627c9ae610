"""Readers of file formats: raw files → the raw tables of `paraphrastic.base.tables`."""
