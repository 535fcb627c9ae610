"""Evaluate scorers against human judgements: similarity, ranking, paraphrase detection."""
