"""Evaluate scorers against human judgements: similarity, ranking, paraphrase detection."""

from paraphrastic.evaluation.suite import COLUMNS, OPTIONAL, Benchmarks, Results, Selection, evaluate, load_selection

__all__ = ["COLUMNS", "OPTIONAL", "Benchmarks", "Results", "Selection", "evaluate", "load_selection"]
