"""Training pairs and evaluation sets in files of the user; the names of the columns tell what a file is."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from paraphrastic.base.console import message
from paraphrastic.base.errors import DataError
from paraphrastic.readers.lines import NUMBER, PAIR_COLUMNS
from paraphrastic.readers.own_judgements import is_index, is_named_like_judgement, judgements
from paraphrastic.readers.own_rows import NO_LABEL, OwnRows
from paraphrastic.readers.own_tables import OwnTable
from paraphrastic.readers.paraphrase_groups import in_two_columns
from paraphrastic.readers.reading import PASS_ALL, PairFilter, ReaderOptions, Reading, make_reading
from paraphrastic.sources.own_files import Meaning, OwnFile
from paraphrastic.sources.source import Source
from paraphrastic.text.columns import TextNumbering, hash_texts
from paraphrastic.text.tokenizer import normalize, tokenize

SIDES: tuple[Meaning, Meaning] = ("text1", "text2")
QUESTION: tuple[Meaning, Meaning] = ("question", "candidate")
SPLITS = ("train", "dev", "test")
_GOLD: dict[Meaning, str] = {"score": "similarity", "label": "labelled_pairs"}  # judgements → kind of the set
_NO_NAME = re.compile(rf"{NUMBER}|\S\s+\S+\s+\S")  # a number, or three words
_NAN = ("nan", "NaN", "NA", "null", "None")  # as some tools write a missing number
_HEADER = r"`score\ttext1\ttext2`"


class Layout(NamedTuple):
    """What a file has."""

    kind: str  # `pairs`, or a kind of evaluation set
    texts: tuple[str, str]  # the two columns of text; of single sentences, their column twice
    others: Mapping[Meaning, str]  # columns beside them that are read, by their meaning
    unused: tuple[str, ...]  # the other columns, except an index that pandas wrote

    @property
    def columns(self) -> list[str]:
        """All columns that are read."""
        return [*dict.fromkeys((*self.texts, *self.others.values()))]

    @property
    def single(self) -> bool:
        """Whether it has single sentences, which are no pairs."""
        return self.texts[0] == self.texts[1]

    @property
    def words(self) -> bool:
        """Whether the texts are words."""
        return self.texts == PAIR_COLUMNS[-1]


def layout_of_pairs(table: OwnTable) -> Layout:
    """Return the columns of training pairs: two texts, and `label`, `score` and `group` where they exist.

    A file of single sentences has one column, `text` or the one that the user calls so.

    Raises:
        DataError: it has no pairs of text, or a column looks like judgements and nothing says what it is.
    """
    if table.own.single:
        if len(table.own.meanings) > 1 or table.own.positive:
            raise DataError(f"{table.own.path}: has single sentences; name no column beside `text`, and no `positive`")
        name = table.own.meanings.get("text", "text")
        return _layout("pairs", table, (name, name), ())
    layout = _layout("pairs", table, _texts(table), ("label", "score", "group"))
    is_said = table.own.takes_all or "label" in layout.others or "score" in table.own.meanings
    if not is_said and (found := judgements(table, layout.unused)):
        label = (
            f"say `{{path: …, columns: {{label: {found[0]}}}}}`, with `positive: [VALUE, …]` if its values are not 0"
        )
        others = f"`columns: {{score: {found[0]}}}`, or `columns: [{', '.join(layout.texts)}]` if all pairs are"
        looks = f"{', '.join(found)}: looks like judgements of the pairs"
        raise DataError(f"{table.own.path}: {looks}; {label} and 1, or {others} paraphrases")
    return layout


def layout_of_set(table: OwnTable) -> Layout:
    """Return the kind and the columns of an evaluation set.

    `question`, `candidate` and `label` make a ranking; two texts and `score` are a set of similarity, `word1`, `word2`
    and `score` one of words; two texts and `label` are paraphrases and others. `split` is read where it exists.

    Raises:
        DataError: it is none of these, or has the name of all sets of words.
    """
    layout = _layout_of_judged(table)
    if table.own.name == "words" and not layout.words:
        raise DataError(f"{table.own.path}: is no set of words, which the names own.words.… have; rename the file")
    return layout


def _layout_of_judged(table: OwnTable) -> Layout:
    if table.own.single:
        raise DataError(
            f"{table.own.path}: has single sentences; an evaluation set needs pairs of texts with judgements"
        )
    ranking = _layout("ranking", table, _named(table, QUESTION), ("label", "split"))
    is_named = {"text1", "text2"} & table.own.meanings.keys()
    if not is_named and {*ranking.texts, ranking.others.get("label")} <= set(table.names):
        return ranking
    texts = _texts(table)
    named = [gold for gold in _GOLD if gold in table.own.meanings]
    for gold in named or _GOLD:
        layout = _layout(_GOLD[gold], table, texts, (gold, "split"))
        if gold in layout.others:
            return layout
    remedy = "name one `score` (a number) or `label` (0 or 1); a ranking has question, candidate and label"
    if found := judgements(table, layout.unused):
        remedy += f"; or say which one it is, as `{{path: …, columns: {{score: {found[0]}}}}}`"
    needs = f"an evaluation set needs judgements, the columns are {', '.join(table.names)}"
    raise DataError(f"{table.own.path}: {needs}; {remedy}")


def check_files(sources: Iterable[Source], limits_scores: bool = True) -> None:
    """Check that the files of the user have the columns of training pairs, or of evaluation sets.

    Args:
        sources: of which those of the catalogue are passed over.
        limits_scores: whether pairs are chosen by their scores.

    Raises:
        DataError: a file has not, or its head is damaged, or its scores would not be read, or no file of an entry
            has labels although `positive` is stated.
        SourceError: it cannot be read.
    """
    # by entry with `positive`, as which the files of a folder count: a file without labels; "" if one has labels
    unread = dict[tuple[bool, Path, tuple[str, ...]], str]()
    for source in (each for each in sources if "own" in each.options):
        table = OwnTable(source.options["own"])
        layout = layout_of_pairs(table) if source.pairs else layout_of_set(table)
        if table.own.positive:
            entry = source.pairs, Path(table.own.path).parent, table.own.positive
            unread[entry] = "" if "label" in layout.others else unread.get(entry, table.own.path)
        is_chosen = limits_scores or table.own.takes_all or "label" in layout.others
        if source.pairs and limits_scores:
            _check_scores(layout, table.own)
        if source.pairs and "score" in layout.others and not is_chosen:
            texts = ", ".join(layout.texts)
            remedy = f"set tokenize.min_score, or say `{{path: …, columns: [{texts}]}}` if all are paraphrases"
            raise DataError(f"{table.own.path}: has scores, but tokenize.min_score and max_score are empty; {remedy}")
    if lacking := [path for path in unread.values() if path]:
        remedy = "name their column as `columns: {label: NAME}`, or leave it out"
        raise DataError(f"{lacking[0]}: `positive` lists labels, but none are read here; {remedy}")


def _check_scores(layout: Layout, own: OwnFile) -> None:
    if "score" not in layout.others:
        raise DataError(f"{own.path}: has no column `score`; empty tokenize.min_score and tokenize.max_score")


def own_pairs(folder: Path, options: ReaderOptions) -> Iterator[Reading]:
    """Read training pairs; those with `label` 0 are none, and `score` has the limits of the filter.

    Rows with the same `group` are one group; a row without one, or in a file without that column, is one by itself.

    Options: `own`, the file, and `filter`.
    """
    own, wanted = options["own"], options.get("filter", PASS_ALL)
    layout = layout_of_pairs(OwnTable(own))
    if wanted.limits_scores:
        _check_scores(layout, own)
    wanted.check_source_without_relations(own.path)
    _name_unused(own, [*layout.unused, *([] if wanted.limits_scores else score_of(layout))])
    limits = " of such a score, see tokenize.min_score and max_score" if wanted.limits_scores else ""
    yield from _not_empty(own, read_pairs(own, layout, wanted), limits)


def own_set(folder: Path, options: ReaderOptions) -> Iterator[Reading]:
    """Read an evaluation set, whose name comes from its file: `own.NAME`, or `own.words.NAME`.

    Options: `own`, the file.
    """
    own, is_tested, is_positive = options["own"], False, False
    layout = layout_of_set(OwnTable(own))
    _name_unused(own, layout.unused)
    for reading in _not_empty(own, read_set(own, layout)):
        is_tested |= pc.any(pc.equal(reading.table["split"], "test")).as_py() or False
        is_positive |= layout.kind == "similarity" or pc.any(pc.equal(reading.table["label"], 1)).as_py() or False
        yield reading
    if not is_tested:
        raise DataError(f"{own.path}: no row has the split `test`, which is evaluated; name some rows so")
    if not is_positive:
        raise DataError(f"{own.path}: no row has the label 1{', as none of `positive` has' * bool(own.positive)}")


def score_of(layout: Layout) -> list[str]:
    """Return the column of scores, if there is one."""
    return [column for meaning, column in layout.others.items() if meaning == "score"]


def _name_unused(own: OwnFile, columns: Sequence[str]) -> None:
    if columns:
        message(f"{own.path}: not used: {', '.join(columns)}")


def read_pairs(own: OwnFile, layout: Layout, wanted: PairFilter = PASS_ALL) -> Iterator[Reading]:
    """Yield the training pairs of a file; there can be none."""
    groups: dict[str, int] = {}
    known, read, seen = set[str](), 0, TextNumbering()
    is_decided = own.takes_all or "label" in layout.others
    if is_decided and not wanted.limits_scores:  # by other columns; scores need not be numbers
        layout = layout._replace(others={key: layout.others[key] for key in layout.others.keys() - {"score"}})
    blank = [layout.others[meaning] for meaning in layout.others.keys() & {"score", "group"}]
    for rows in OwnTable(own).parts(layout.columns, may_be_blank=blank):
        yield (
            _sentences(rows, layout, read, seen)
            if layout.single
            else _pairs(rows, layout, own, wanted, groups, known, read)
        )
        read += len(rows)


def read_set(own: OwnFile, layout: Layout) -> Iterator[Reading]:
    """Yield the rows of an evaluation set; there can be none."""
    questions: dict[str, int] = {}
    known = set[str]()
    gold = [column for meaning, column in layout.others.items() if meaning in _GOLD]
    for rows in OwnTable(own).parts(layout.columns, may_be_blank=gold):
        yield _judged(rows, layout, own, questions, known)


def set_name(own: OwnFile, layout: Layout) -> str:
    """Return the name of an evaluation set."""
    return f"own.{'words.' if layout.words else ''}{own.name}"


def _not_empty(own: OwnFile, readings: Iterator[Reading], limits: str = "") -> Iterator[Reading]:
    usable = 0
    for reading in readings:
        yield reading
        usable += len(reading.table)
    if not usable:
        raise DataError(f"{own.path}: not one usable row{limits}; `paraphrastic data inspect {own.path}` shows why")


def _named(table: OwnTable, pair: tuple[Meaning, Meaning]) -> tuple[str, str]:
    """Return the columns with two meanings, by the names of the user or by the usual ones."""
    return table.own.meanings.get(pair[0], pair[0]), table.own.meanings.get(pair[1], pair[1])


def _texts(table: OwnTable) -> tuple[str, str]:
    own, names, known = table.own, table.names, PAIR_COLUMNS
    is_named = {"text1", "text2"} & own.meanings.keys()
    for pair in [_named(table, SIDES)] if is_named else known:
        if set(pair) <= set(names):
            return pair
    wanted = " and ".join(_named(table, SIDES)) if is_named else ", ".join("/".join(pair) for pair in known)
    remedy = "rename them, or name both with `{path: …, columns: [A, B]}`; single sentences with `columns: {text: A}`"
    if found := [name for name in names if is_named_like_judgement(name)]:
        remedy += f", or all as `columns: {{text1: A, text2: B, label: {found[0]}}}`"
    if any(_NO_NAME.search(name) for name in names):
        remedy = f"line 1 looks like a row: write the names of the columns before it, such as {_HEADER}; or {remedy}"
    raise DataError(f"{own.path}: no columns {wanted}; the columns are {', '.join(names)}; {remedy}")


def _layout(kind: str, table: OwnTable, texts: tuple[str, str], meanings: Sequence[Meaning]) -> Layout:
    """Return a layout with those of the columns `meanings` that exist; those that the user has named must exist."""
    own, names = table.own, table.names
    for meaning, name in own.meanings.items():
        if name not in names:
            raise DataError(f"{own.path}: no column {name} for `{meaning}`; the columns are {', '.join(names)}")
    taken = {*texts, *own.meanings.values()}
    chosen = {each: own.meanings.get(each, each) for each in meanings if each in own.meanings or each not in taken}
    others = {meaning: name for meaning, name in chosen.items() if name in names and name not in texts}
    unused = [name for name in names if name not in (*texts, *others.values()) and not is_index(name)]
    return Layout(kind, texts, others, tuple(unused))


def _sentences(rows: OwnRows, layout: Layout, read: int, seen: TextNumbering) -> Reading:
    """Return single sentences, two in a row, each normal form once; those of other parts are `seen`."""
    text = rows.columns[layout.texts[0]]
    text, known = text.filter(pc.not_equal(pc.utf8_trim_whitespace(text), "")), len(seen)
    numbers, first = np.unique(seen.add(hash_texts(normalize(tokenize(text)))), return_index=True)
    left, right = in_two_columns(text, first[numbers >= known])  # new numbers ascend in the order of the file
    group = pa.array(np.arange(read, read + len(left)))
    return make_reading("pairs", [rows], may_be_empty=True, text1=left, text2=right, group=group)


def _pairs(
    rows: OwnRows, layout: Layout, own: OwnFile, wanted: PairFilter, groups: dict[str, int], known: set[str], read: int
) -> Reading:
    columns: dict[str, pa.Array] = {
        "text1": rows.columns[layout.texts[0]],
        "text2": rows.columns[layout.texts[1]],
        "group": pa.array(np.arange(read, read + len(rows))),
    }
    accepted, negative, unjudged = pa.array(np.ones(len(rows), bool)), 0, 0
    if name := layout.others.get("group"):
        alone = pc.subtract(-1, columns["group"])  # distinct from the numbers of groups
        columns["group"] = pc.if_else(_blank(rows.columns[name]), alone, _numbered(rows.columns[name], groups))
    if name := layout.others.get("label"):
        columns["label"] = rows.zeros_and_ones(name, own.positive, known)
        is_negative = pc.fill_null(pc.equal(columns["label"], 0), False)
        accepted, negative = pc.invert(is_negative), is_negative.true_count
    if name := layout.others.get("score"):
        scores = rows.scores(name, may_be_blank=True)
        accepted = pc.and_(accepted, wanted.accepts_scores(scores))
        blank = _blank(rows.columns[name])
        columns["score"] = pc.if_else(blank, 0.0, scores)  # not read after the filter
        unjudged = blank.true_count if wanted.limits_scores else 0
    columns = {name: column.filter(accepted) for name, column in columns.items()}
    reading = make_reading("pairs", [rows], may_be_empty=True, **columns)
    return replace(reading, unjudged=unjudged, negative=negative)


def _judged(rows: OwnRows, layout: Layout, own: OwnFile, questions: dict[str, int], known: set[str]) -> Reading:
    columns: dict[str, pa.Array | str] = {"set": set_name(own, layout), "split": "test"}
    for side, column in zip(("text1", "text2"), layout.texts, strict=True):
        text = rows.columns[column]
        columns[side] = rows.reject(text, pc.equal(pc.utf8_trim_whitespace(text), ""), f"'{column}' is empty")
    if name := layout.others.get("split"):
        labels = rows.labels(rows.columns[name], SPLITS)
        columns["split"] = pa.array(SPLITS).take(labels)
    gold = layout.others.get("score") or layout.others["label"]
    unjudged = _blank(rows.columns[gold], (*NO_LABEL, *_NAN))
    rows.columns[gold] = pc.if_else(unjudged, None, rows.columns[gold])
    if "score" in layout.others:
        columns["score"] = rows.scores(gold)
    else:
        columns["label"] = rows.zeros_and_ones(gold, own.positive, known)
    if layout.kind == "ranking":
        columns["question"] = _numbered(rows.columns[layout.texts[0]], questions)
    return replace(make_reading(layout.kind, [rows], may_be_empty=True, **columns), unjudged=unjudged.true_count)


def _blank(column: pa.StringArray, texts: Sequence[str] = ("",)) -> pa.BooleanArray:
    return pc.is_in(pc.utf8_trim_whitespace(column), pa.array(texts))


def _numbered(column: pa.Array, numbers: dict[str, int]) -> pa.Array:
    """Return a number for each text, the same for equal ones in all parts of a file; null stays null."""
    texts = column.to_pylist()
    return pa.array([None if text is None else numbers.setdefault(text, len(numbers)) for text in texts], pa.int64())
