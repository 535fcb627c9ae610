"""The reference tool for rankings, trec_eval."""

import numpy as np
import pytrec_eval


def trec_eval(question: np.ndarray, label: np.ndarray, score: np.ndarray) -> np.ndarray:
    """Return average precision and reciprocal rank of each question with a correct answer, (questions, 2).

    Each of n candidates has a `question`, a `label`, 1 for a correct answer, and a `score`; its document id is its
    position among the candidates of its question.
    """
    relevant, run = {}, {}
    for q, answer, s in zip(question.tolist(), label.tolist(), score.tolist(), strict=True):
        document = str(len(run.setdefault(str(q), {})))
        run[str(q)][document] = s
        relevant.setdefault(str(q), {})[document] = answer
    relevant = {q: answers for q, answers in relevant.items() if any(answers.values())}
    results = pytrec_eval.RelevanceEvaluator(relevant, {"map", "recip_rank"}).evaluate(run).values()
    return np.array([(result["map"], result["recip_rank"]) for result in results])
