"""Evaluation sets as the stage `tokenize` writes them; results of a scorer on all, or on those that select an epoch."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import accumulate, chain
from operator import itemgetter
from pathlib import Path
from typing import Any, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from paraphrastic.base.errors import DataError, ModelError, ParameterError, unknown_name
from paraphrastic.base.tables import PAIR_KINDS, PHRASE_SETS, SCORES, SENTENCES, SIDES, indexed_schema, read_table
from paraphrastic.evaluation.headline import FEATURES, MTEB, OWN, headline, headline_sets
from paraphrastic.evaluation.metrics import (
    UndefinedError,
    accuracy_and_f1,
    check_judgements,
    check_labels,
    decision_margins,
    map_and_mrr,
    pearson,
    percent,
    spearman,
)
from paraphrastic.scoring.scorer import Rows, Scorer, Scores, SparseScorer, VectorScorer

METRICS = ("pearson", "spearman", "map", "mrr", "accuracy", "f1")
OPTIONAL = "v_measure"  # of clusters; files have this column only if a set has it
COLUMNS = ("set", "kind", "n", *METRICS, OPTIONAL, "oov")
_SELECT = "params.yaml: train.select"
_KINDS = (*PAIR_KINDS, "labelled_sentences")
_Found = tuple[dict[str, float], dict[str, str]]  # metrics, and the reason if there are none


@dataclass(frozen=True)
class EvaluationSet:
    """Pairs of sentences with human judgements."""

    name: str  # for example `sts.2012.MSRpar`
    kind: str  # one of `PAIR_KINDS`, or `labelled_sentences`; determines the columns of `table`
    # the test pairs in the order of the source; labelled pairs also have the training pairs, sets of `FEATURES` the
    # rows of all splits
    table: pa.Table

    def __len__(self) -> int:
        return len(self.table)

    def column(self, name: str) -> NDArray[Any]:
        """Return a column as an array (pairs,)."""
        values: NDArray[Any] = self.table[name].to_numpy()
        return values

    @property
    def sides(self) -> list[str]:
        """The columns with row numbers of sentences."""
        return [side for side in SIDES.values() if side in self.table.column_names]

    def tested(self) -> Self:
        """Return the set with its test rows alone."""
        return replace(self, table=self.table.filter(self.is_test))

    @property
    def is_test(self) -> NDArray[np.bool_]:
        """Which pairs belong to the test split, (pairs,)."""
        mask: NDArray[np.bool_] = pc.equal(self.table["split"], "test").to_numpy()
        return mask


@dataclass(frozen=True)
class Benchmarks:
    """All sets that scorers are evaluated on.

    Attributes:
        sentences: every distinct tokenized sentence.
        tables: an indexed table for each kind of `EvaluationSet`, with row numbers of `sentences`.
    """

    sentences: pa.StringArray
    tables: Mapping[str, pa.Table]

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Read `sentences.parquet` and the tables.

        Raises:
            DataError: a file is missing or damaged, or has row numbers out of range.
        """
        sentences = read_table(folder / "sentences.parquet", SENTENCES)["text"].combine_chunks()
        tables = {}
        for kind in _KINDS:
            path = folder / f"{kind}.parquet"
            tables[kind] = read_table(path, indexed_schema(kind))
            _check(tables[kind], len(sentences), path)
        return cls(sentences, tables)

    def sets(self) -> list[EvaluationSet]:
        """Return the sets with test rows, by name; of labelled pairs only those with two labels.

        Labelled sentences are a set only if its name begins with `FEATURES`.
        """
        return sorted(chain(*map(self._sets, self.tables)), key=lambda each: (each.name, each.kind))

    def _sets(self, kind: str) -> list[EvaluationSet]:
        table = self.tables[kind]
        splits = ["train", "test"] if kind == "labelled_pairs" else ["test"] if kind in PAIR_KINDS else []
        wanted = pc.is_in(table["split"], pa.array(splits, pa.string()))
        table = table.filter(pc.or_(wanted, pc.starts_with(table["set"], FEATURES)))
        names = pc.unique(table["set"]).to_pylist()
        sets = [EvaluationSet(name, kind, table.filter(pc.equal(table["set"], name))) for name in names]
        with_test = [each for each in sets if each.is_test.any()]
        return [each for each in with_test if kind != "labelled_pairs" or each.column("label").max() <= 1]


def _check(table: pa.Table, sentences: int, path: Path) -> None:
    if any(column.null_count for column in table.columns):
        raise DataError(f"{path}: has empty cells; run `dvc repro` to create it again")
    rows = np.concatenate([table[side].to_numpy() for side in SIDES.values() if side in table.column_names])
    if len(rows) and not (rows.min() >= 0 and rows.max() < sentences):
        raise DataError(f"{path}: has row numbers that sentences.parquet lacks; run `dvc repro` to create both again")
    if "score" in table.column_names and not np.isfinite(table["score"].to_numpy()).all():
        raise DataError(f"{path}: has scores that are not finite; run `dvc repro` to create it again")


@dataclass(frozen=True)
class Results:
    """The result of an evaluation.

    Attributes:
        metrics: the headline numbers, nested, see `headline`.
        sets: a row for each set, by name, with keys from `COLUMNS`. Metrics and `oov`, the mean out-of-vocabulary
            share over its distinct test sentences, are × 100 and rounded to 2 decimals. Metrics that do not apply
            to the kind of the set are left out; if its judgements define none, `not_defined` says why.
        scores: table `SCORES`, from which every metric but `v_measure` can be recomputed. Sets of `FEATURES` have their
            test rows, with 1 for a correct label and 0 for a wrong one, or the share of experiments.
    """

    metrics: dict[str, Any]
    sets: list[dict[str, Any]]
    scores: pa.Table


def evaluate(benchmarks: Benchmarks, scorer: Scorer) -> Results:
    """Evaluate `scorer` on every set; a distinct sentence is encoded once for pairs, `MTEB` and `FEATURES` each.

    Raises:
        DataError: there is no set.
        ModelError: a score or a vector is not finite.
    """
    sets = benchmarks.sets()
    if not sets:
        raise DataError("the benchmarks have no set with test pairs; choose another suite for `benchmarks`")
    mteb, featured = ([each for each in sets if each.name.startswith(prefix)] for prefix in (MTEB, FEATURES))
    scored = [each for each in sets if not each.name.startswith((MTEB, FEATURES))]
    scores = _score(benchmarks.sentences, scored, scorer.score)
    scores += _score(benchmarks.sentences, mteb, partial(_mteb_scores, scorer))
    scored += mteb
    found = [_metrics_or_reason(each, part) for each, part in zip(scored, scores, strict=True)]
    tables = [SCORES.empty_table(), *map(_score_table, scored, scores)]
    of_features, correct = _of_features(benchmarks.sentences, featured, scorer)
    found += of_features
    tables += map(_score_table, (each.tested() for each in featured), correct)
    sets = scored + featured
    oov = _oov_shares(benchmarks.sentences, sets, scorer)
    rows = [
        {"set": each.name, "kind": each.kind, "n": int(each.is_test.sum())}
        | {name: percent(value) for name, value in (metrics | {"oov": share}).items()}
        | reason
        for each, (metrics, reason), share in zip(sets, found, oov, strict=True)
    ]
    defined = {each.name: metrics for each, (metrics, _) in zip(sets, found, strict=True) if metrics}
    return Results(headline(defined), sorted(rows, key=itemgetter("set", "kind")), pa.concat_tables(tables))


@dataclass(frozen=True)
class Selection:
    """The sets that select the epoch.

    Called with a scorer, it returns the mean of Pearson × 100 over these sets. Sets of words or phrases count with
    Spearman's ρ in place of Pearson's r.
    """

    sentences: pa.StringArray  # the distinct sentences that the sets refer to
    sets: Sequence[EvaluationSet]  # similarity sets

    @property
    def names(self) -> list[str]:
        """The names of the sets."""
        return [each.name for each in self.sets]

    def __call__(self, scorer: Scorer) -> float:
        """Return the mean correlation × 100; no other set is scored.

        Raises:
            ModelError: a score is not finite.
        """
        scores = _score(self.sentences, self.sets, scorer.score)
        correlations = [
            (spearman if uses_spearman(each.name) else pearson)(each.column("score"), part)
            for each, part in zip(self.sets, scores, strict=True)
        ]
        return 100 * float(np.mean(correlations))


def load_selection(folder: Path, select: str) -> Selection | None:
    """Return the sets that select the epoch; None if `select` is `none`.

    Args:
        folder: benchmarks, as the stage `tokenize` writes them.
        select: name of a set or a group, `oracle`, `none`, or `test`: the selection sets of the suite, for the open
            data STS 2016 (acl2017 §4.1.2).

    Raises:
        DataError: a file is missing or damaged.
        ParameterError: there is no such set.
    """
    if select == "test":
        path = folder / "select.txt"
        try:
            select = path.read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise DataError(f"{path}: missing or damaged; run `dvc repro tokenize` to create it") from error
    return None if select == "none" else choose_selection(Benchmarks.load(folder), select)


def choose_selection(benchmarks: Benchmarks, select: str) -> Selection:
    """Return the similarity sets that `select` names.

    Args:
        benchmarks: the sets.
        select: the name of a set, a prefix of names up to a dot, or `oracle` for the sets of the headline mean
            (acl2017 §4.2). Of a set in a file, rows of `dev` select if it has some.

    Raises:
        ParameterError: there is no such set, or the judgements of one define no correlation.
    """
    sets = [each for each in benchmarks.sets() if each.kind == "similarity"]
    if not sets:
        raise ParameterError(f"{_SELECT}: the benchmarks have no set of similarity that could select; set it to none")
    oracle = headline_sets([each.name for each in sets]) if select == "oracle" else []
    if select == "oracle" and not oracle:
        raise ParameterError(f"{_SELECT}: oracle: the benchmarks have no set of `transfer.mean`; name a set or a group")
    chosen = [each for each in sets if each.name in oracle or f"{each.name}.".startswith(f"{select}.")]
    if not chosen:  # sets and groups are `sts.2016.headlines`, `sts.2016` and `sts`
        groups = {group for each in sets for group in accumulate(each.name.split("."), "{}.{}".format)}
        known = {"none", "oracle", "test"} | groups
        raise ParameterError(f"{_SELECT}: {unknown_name('set to select by', select, known)}")
    own = benchmarks.tables["similarity"].filter((pc.field("split") == "dev") & pc.starts_with(pc.field("set"), OWN))
    dev = [own.filter(pc.field("set") == each.name) for each in chosen]  # in their place test rows would be known
    both = zip(chosen, dev, strict=True)
    chosen = [replace(each, name=f"{each.name} (dev)", table=rows) if len(rows) else each for each, rows in both]
    for each in chosen:
        try:
            check_judgements(each.column("score"))
        except UndefinedError as error:
            raise ParameterError(f"{_SELECT}: {each.name}: {error}; select by other sets, or add rows to it") from error
    return Selection(benchmarks.sentences, chosen)


def uses_spearman(name: str) -> bool:
    """Return whether the set `name` is measured by Spearman's ρ: one of words or phrases, or of MTEB."""
    return name.startswith(MTEB) or bool(re.match(PHRASE_SETS, name))


def _score(
    sentences: pa.StringArray, sets: Sequence[EvaluationSet], score: Callable[[pa.StringArray, Rows, Rows], Scores]
) -> list[Scores]:
    """Return the scores of each set's pairs, from one call over the distinct sentences of all sets."""
    if not sets:
        return []
    pairs = np.concatenate([np.stack([each.column("left"), each.column("right")]) for each in sets], axis=1)
    rows, positions = np.unique(pairs, return_inverse=True)
    left, right = positions.reshape(pairs.shape)
    scores = score(sentences.take(rows), left, right)
    parts = np.split(scores, np.cumsum([len(each) for each in sets])[:-1])
    for each, part in zip(sets, parts, strict=True):
        if bad := np.count_nonzero(~np.isfinite(part)):
            raise ModelError(f"{each.name}: {bad} of {len(part)} scores are not finite; train the model again")
    return parts


def _oov_shares(sentences: pa.StringArray, sets: Sequence[EvaluationSet], scorer: Scorer) -> list[float]:
    """Return the mean out-of-vocabulary share over the distinct test sentences of each set."""
    rows = [np.unique([each.column(side)[each.is_test] for side in each.sides]) for each in sets]
    distinct, positions = np.unique(np.concatenate(rows), return_inverse=True)
    shares = scorer.oov_share(sentences.take(distinct))[positions]
    return [float(part.mean()) for part in np.split(shares, np.cumsum([len(r) for r in rows])[:-1])]


def _mteb_scores(scorer: Scorer, sentences: pa.StringArray, left: Rows, right: Rows) -> Scores:
    if not isinstance(scorer, VectorScorer):
        return scorer.score(sentences, left, right)
    from paraphrastic.evaluation.features import mteb_cosines  # scikit-learn takes 1 s

    return mteb_cosines(scorer, sentences, left, right)


def _of_features(
    sentences: pa.StringArray, sets: Sequence[EvaluationSet], scorer: Scorer
) -> tuple[list[_Found], list[NDArray[np.float64]]]:
    """Return what is found on each set, and, unless nothing is, which test rows are labelled correctly."""
    if not sets:
        return [], []
    if not isinstance(scorer, VectorScorer | SparseScorer):
        reason = {"not_defined": "not defined: the model scores pairs and has no sentence vectors"}
        return [({}, reason)] * len(sets), []
    from paraphrastic.evaluation.features import feature_metrics

    found = feature_metrics(scorer, sentences, {each.name: each.table for each in sets})
    return [(metrics, {}) for metrics, _ in found], [correct for _, correct in found]


def _metrics_or_reason(evaluation_set: EvaluationSet, scores: Scores) -> _Found:
    """Return the metrics of a set, and `not_defined` if its judgements define none."""
    try:
        return _metrics(evaluation_set, scores), {}
    except UndefinedError as error:
        return {}, {"not_defined": str(error)}


def _metrics(evaluation_set: EvaluationSet, scores: Scores) -> dict[str, float]:
    if evaluation_set.kind == "similarity":
        gold = evaluation_set.column("score")
        return {"pearson": pearson(gold, scores), "spearman": spearman(gold, scores)}
    label, test = evaluation_set.column("label"), evaluation_set.is_test
    if evaluation_set.kind == "ranking":
        return map_and_mrr(evaluation_set.column("question"), label, scores)._asdict()
    check_labels(label, test)
    return accuracy_and_f1(label[test], decision_margins(label, scores, test), 0.0)._asdict()


def _score_table(evaluation_set: EvaluationSet, scores: NDArray[np.floating]) -> pa.Table:
    n, table = len(evaluation_set), evaluation_set.table
    columns = {
        "set": pa.repeat(evaluation_set.name, n),
        "kind": pa.repeat(evaluation_set.kind, n),
        "split": table["split"],
        "question": table["question"] if "question" in table.column_names else pa.repeat(-1, n),
        "left": table["left"],
        "right": table[evaluation_set.sides[-1]],
        "gold": table["score" if "score" in table.column_names else "label"],
        "score": pa.array(scores),
    }
    return pa.table(columns).cast(SCORES)
