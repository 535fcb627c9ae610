"""Nearest lines, near duplicates and pairs of paraphrases, against all cosines in plain NumPy."""

import os
import signal
import threading
from itertools import permutations

import numpy as np
import pyarrow as pa
import pytest
from typer.testing import CliRunner

from paraphrastic.base.errors import DataError, ModelError, ParameterError
from paraphrastic.cli.main import app
from paraphrastic.inference import mining
from paraphrastic.inference.line_index import AllLines
from paraphrastic.inference.mining import Lines, duplicates, nearest, paraphrases, search, unknown_words
from tests.helpers.command_line import assert_refused
from tests.helpers.encoder_variants import CHARAGRAM, LSTM, VARIANTS, WORD
from tests.helpers.small_models import CHARAGRAM_WORDS, save_encoder, save_pair_model
from tests.helpers.toy_training import WORDS

RANDOM = np.random.default_rng(4)
TEXTS = [" ".join(RANDOM.choice(WORDS, RANDOM.integers(1, 4))) for _ in range(60)] + ["zzqx", "", "zzqx blarg"]
BLOCKS = [pa.array(TEXTS[start : start + 25]) for start in range(0, len(TEXTS), 25)]


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return save_encoder(tmp_path_factory.mktemp("model"), "avg", WORD)


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(mining, "BLOCK", 7)


def cosines(model, left=TEXTS, right=TEXTS):
    return model.similarity(left, right)


@pytest.mark.parametrize("count", [1, 5, 100])
def test_search(model, count):
    queries = [WORDS[0], f"{WORDS[3]} {WORDS[5]}"]
    found = search(model, iter(BLOCKS), queries, count)
    for query, lines in zip(queries, found, strict=True):
        wanted = cosines(model, [query])[0]
        order = np.argsort(-wanted, kind="stable")[:count]
        assert [line.score for line in lines] == pytest.approx(wanted[order].tolist(), abs=1e-6)
        assert [line.text for line in lines] == [TEXTS[line.row] for line in lines]
        assert sorted(line.score for line in lines) == [line.score for line in lines][::-1]


@pytest.mark.parametrize("threshold", [0.3, 0.8, 0.99])
def test_duplicates_line_by_line(model, threshold):
    near, kept, wanted = cosines(model) >= threshold, [], []
    for i in range(len(TEXTS)):
        earlier = [j for j in kept if near[i, j]]
        wanted.append(earlier[0] if earlier else i)
        kept += [] if earlier else [i]
    found = duplicates(Lines.of(model, BLOCKS), threshold)
    assert found.tolist() == wanted
    assert found[-3:].tolist() == [60, 61, 62]  # nothing is known of them


@pytest.mark.parametrize("count", [1, 3, 100])
def test_nearest_lines_of_each_line(model, count):
    rows, scores = nearest(Lines.of(model, BLOCKS), count)
    matrix = cosines(model)
    np.fill_diagonal(matrix, -np.inf)
    size = min(count, len(TEXTS) - 1)
    np.testing.assert_allclose(scores[:, :size], -np.sort(-matrix, 1)[:, :size], atol=1e-6)
    assert (rows[:, size:] == -1).all()
    assert not (rows == np.arange(len(TEXTS))[:, None]).any()


def test_cosines_of_lines_of_the_same_words_are_at_most_1(model):
    orders = [" ".join(order) for order in permutations(WORDS[:5])]
    _, scores = nearest(Lines.of(model, [pa.array(orders)]), 3)
    assert scores.max() == 1


def test_pairs_are_nearest_to_each_other(model):
    lines = Lines.of(model, BLOCKS)
    distinct = [i for i, text in enumerate(TEXTS[:60]) if TEXTS.index(text) == i]
    matrix = cosines(model)[np.ix_(distinct, distinct)]
    np.fill_diagonal(matrix, -1)
    near = matrix.argmax(1)
    wanted = {(distinct[i], distinct[j]) for i, j in enumerate(near) if i < j and near[j] == i and matrix[i, j] >= 0.5}
    found = paraphrases(lines, 0.5)
    assert {(a, b) for a, b, _ in found} == wanted
    assert wanted
    assert [score for *_, score in found] == sorted((score for *_, score in found), reverse=True)
    assert len(paraphrases(lines, 0.5, 5)) > len(found)
    assert paraphrases(lines, 1.5) == []


def test_no_more_neighbors_than_lines(model):
    lines = Lines.of(model, [pa.array(["a b", "a b c", "b c"])])
    assert paraphrases(lines, -1.0, 1 << 62) == paraphrases(lines, -1.0, 2)


def test_order_of_lines_decides_which_duplicate_is_kept(model, monkeypatch):
    monkeypatch.setattr(mining, "BLOCK", 100)
    texts = [f"{' '.join(order)} {n}" for order in permutations(WORDS[:4]) for n in (10, 11)]
    assert duplicates(Lines.of(model, [pa.array(texts)]), 0.99).tolist() == [0, 1] * 24


def test_progress_of_comparisons(model, shown):
    lines, size = Lines.of(model, BLOCKS), len(TEXTS)
    distinct = len(lines.distinct())
    assert shown() == [("lines read", size, None)]
    duplicates(lines, 0.9)
    name, done, total = shown()[1]
    assert (name, done) == ("million comparisons", pytest.approx(total))
    assert distinct * 7 < 1e6 * total < distinct * (7 + distinct)
    for exact in (True, False):
        nearest(lines, 1, exact)
    assert shown()[2:] == [("lines", size, size), ("lines indexed", size, size), ("lines", size, size)]


def test_equally_near_pairs_stand_in_the_order_of_their_lines(model):
    lines = Lines.of(model, [pa.array([f"{WORDS[0]} unknown{n}" for n in range(41)])])
    pairs = [(first, second) for first, second, _ in paraphrases(lines, threshold=0.9, neighbors=40)]
    assert pairs == sorted(pairs)
    assert len(pairs) == 41 * 40 / 2


def test_text_without_lines_and_models_without_vectors(model, tmp_path):
    with pytest.raises(DataError, match=r"^the text has no line$"):
        Lines.of(model, [])
    with pytest.raises(DataError, match=r"^the text has no line$"):
        Lines.of(model, [pa.array([], pa.string())])
    with pytest.raises(ModelError, match="compares pairs"):
        Lines.of(save_pair_model(tmp_path), BLOCKS)


A, B, C = WORDS[:3]
MORE = f"{A} {B} {C}"


def lines_of(model, *texts):
    return Lines.of(model, [pa.array(texts[:1]), pa.array(texts[1:])])


@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize("threshold", [-1, 0, 0.5, 1])
def test_equal_texts_are_duplicates_whatever_is_known_of_them(model, threshold, exact):
    texts = ["zzqx", MORE, "zzqx", "", f"  {MORE.upper()}", "blarg", " \u200b", MORE]
    assert duplicates(lines_of(model, *texts), threshold, exact).tolist() == [0, 1, 0, 3, 1, 5, 3, 1]


def test_thresholds(model):
    lines = lines_of(model, f"{A} {B}", f"{B} {A}", f"{A} {B}", MORE)
    assert duplicates(lines, 1).tolist() == [0, 0, 0, 3]  # the cosine of other texts may be exactly 1 too
    assert duplicates(lines, 1.01).tolist() == [0, 1, 2, 3]
    assert duplicates(lines, -1).tolist() == [0, 0, 0, 0]
    score = paraphrases(lines, 0, 2)[-1][-1]
    assert duplicates(lines, score).tolist() == [0, 0, 0, 0]
    assert duplicates(lines, np.nextafter(np.float32(score), np.float32(2))).tolist() == [0, 0, 0, 3]
    for call in (duplicates, paraphrases):
        with pytest.raises(ParameterError, match=r"^the threshold is not a number; choose one from -1 to 1$"):
            call(lines, float("nan"))
    for call in (lambda: nearest(lines, 0), lambda: search(model, BLOCKS, [A], 0), lambda: paraphrases(lines, 0, -1)):
        with pytest.raises(ParameterError, match=r"^-?\d lines are asked for: should be 1 or more$"):
            call()
    with pytest.raises(ParameterError, match=r"^True lines are asked for"):
        nearest(lines, True)


@pytest.mark.parametrize("exact", [True, False])
def test_copies_hide_no_pair(model, exact):
    lines = lines_of(model, f"{A} {B}", f"{A}  {B}", "zzqx", MORE, f"{A} {B}", "zzqx")
    ((first, second, score),) = paraphrases(lines, -1, 1, exact)
    assert (first, second) == (0, 3)
    assert score == pytest.approx(cosines(model, [f"{A} {B}"], [MORE]).item(), abs=1e-6)


def test_search_finds_equal_texts_first(model):
    lines = [f"{A} {B} 7", f"{B} {A}", f"{A} {B}", "zzqx", f"{A} {B} 8", f"{A} {B}"]
    parts = [pa.array(lines[:2]), pa.array(lines[2:])]
    (found,) = search(model, parts, [f"{A} {B}"], 3)
    assert [(line.row, line.score, line.unknown) for line in found] == [(2, 1, False), (5, 1, False), (1, 1, False)]
    of_unknown, other, same_words = search(model, parts, ["ZZQX", "blarg", f"8 {A} {B}"], 4)
    assert [(line.row, line.score) for line in of_unknown] == [(3, 1)]
    assert other == []
    assert same_words[0].row == 4


ANY = [("avg", WORD), ("charagram", CHARAGRAM), ("charagram", CHARAGRAM_WORDS), ("lstm", LSTM), VARIANTS[-1]]


@pytest.mark.parametrize(("name", "options"), ANY)
def test_unknown_words_tell_lines_apart(name, options, tmp_path):
    any_model = save_encoder(tmp_path, name, options)
    texts = [f"{A} 日 {B} 本", f"{A} 本 {B} 日", f"{A} 日 {B} 本 .", f"{A} {B}", f"{A} 日 {B} 本"]
    lines = lines_of(any_model, *texts)
    unknown = lines.unknown.to_pylist()
    assert unknown[:2] + unknown[3:] == ["日 本", "本 日", "", "日 本"]
    assert duplicates(lines, -1).tolist() == [0, 1, 0 if unknown[2] == "日 本" else 2, 3, 0]
    assert unknown_words(any_model, pa.array(["", *WORDS])).to_pylist() == [""] * (len(WORDS) + 1)


def test_commands_count_results_that_differ_in_unknown_words(model, tmp_path):
    (tmp_path / "lines.txt").write_text(f"{A} 48213 {B}\n{A} 99871 {B}\n{C}\n")

    def stderr(*arguments):
        return CliRunner().invoke(app, [*arguments, "--model", str(model.folder)]).stderr

    path = str(tmp_path / "lines.txt")
    assert "0 of 3 lines are near duplicates" in stderr("dedup", path)
    assert "1 of 1 pairs differ in unknown words" in stderr("pairs", path, "--threshold", "0.9")
    line = "2 of 3 results have other unknown words than the query: the cosine says nothing of words that the model"
    assert line in stderr("search", path, f"{A} {B}")
    assert "unknown" not in stderr("search", path, f"{A} 99871 {B}", "-k", "1")


def test_commands(model, tmp_path):
    (tmp_path / "lines.txt").write_text("\n".join(TEXTS) + "\n")
    (tmp_path / "empty.txt").write_text("")
    (tmp_path / "latin.txt").write_bytes(b"a\n\xe9\n")

    def run(command, file, *arguments):
        whole = [command, str(tmp_path / file), *map(str, arguments), "--model", str(model.folder)]
        return CliRunner().invoke(app, whole)

    header, *rows = (line.split("\t") for line in run("search", "lines.txt", WORDS[0], "-k", 3).stdout.splitlines())
    assert header == ["cosine", "line", "text"]
    assert [TEXTS[int(number) - 1] for _, number, _ in rows] == [text for *_, text in rows]
    several = run("search", "lines.txt", WORDS[0], WORDS[1], "-k", 2).stdout.splitlines()
    assert [line.split("\t")[0] for line in several] == ["query"] + [WORDS[0]] * 2 + [WORDS[1]] * 2
    assert run("search", "lines.txt", "zzqx").stdout.splitlines()[1:] == ["1.0000\t61\tzzqx"]
    for query in ("zzqy", " ", "\u200b"):
        assert_refused(run("search", "lines.txt", query), f"knows nothing of '{query}'; try another query")
    result = run("search", "lines.txt", WORDS[0], "zzqy", "-k", 2)
    assert [line.split("\t")[0] for line in result.stdout.splitlines()] == ["query", WORDS[0], WORDS[0]]
    assert "knows nothing of 'zzqy'; try another query" in result.stderr
    kept = run("dedup", "lines.txt", "--threshold", 0.8)
    removed = run("dedup", "lines.txt", "--threshold", 0.8, "--removed", "--out", tmp_path / "removed.tsv")
    header, *lines = (tmp_path / "removed.tsv").read_text().splitlines()
    assert header == "line\tkept\ttext\ttext of kept"
    assert len(kept.stdout.splitlines()) + len(lines) == len(TEXTS)
    assert f"{len(lines)} of {len(TEXTS)} lines are near duplicates" in removed.stderr
    assert "3 of 63 lines have nothing that the model knows" in removed.stderr
    pairs = run("pairs", "lines.txt", "--threshold", 0.5)
    assert pairs.stdout.splitlines()[0].split("\t") == ["cosine", "text1", "text2"]
    assert f"{len(pairs.stdout.splitlines()) - 1} pairs in {len(TEXTS)} lines" in pairs.stderr
    for command in ("dedup", "pairs"):
        assert_refused(run(command, "empty.txt"), "empty.txt: no line of text")
        assert_refused(run(command, "latin.txt"), "latin.txt, line 2")


def random_lines(rows=3000, clusters=600):
    """Return lines of which each has about four near ones."""
    random = np.random.default_rng(5)
    centers = random.standard_normal((clusters, 32))
    vectors = centers[random.integers(clusters, size=rows)] + 0.1 * random.standard_normal((rows, 32))
    vectors[7] = 0
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
    texts, unknown = (pa.chunked_array([pa.array(each)]) for each in (list(map(str, range(rows))), [""] * rows))
    return Lines(texts, vectors.astype(np.float32), np.arange(rows), unknown)


def test_graph_finds_nearly_all_nearest_lines(monkeypatch):
    pytest.importorskip("usearch")
    monkeypatch.setattr(mining, "BLOCK", 500)
    lines = random_lines()
    rows, scores = nearest(lines, 3)
    found, cosines = nearest(lines, 3, exact=False)
    assert (found == rows).mean() > 0.98
    np.testing.assert_allclose(cosines[found == rows], scores[found == rows], atol=1e-6)
    assert not (found == 7).any()
    by_graph, by_all = ({(a, b) for a, b, _ in paraphrases(lines, 0.9, exact=exact)} for exact in (False, True))
    assert by_graph == by_all


def test_duplicates_by_the_graph(monkeypatch):
    pytest.importorskip("usearch")
    monkeypatch.setattr(mining, "BLOCK", 500)
    lines = random_lines()
    found, vectors = duplicates(lines, 0.9, exact=False), lines.vectors
    removed = found != np.arange(len(found))
    assert (np.einsum("nd,nd->n", vectors, vectors[found])[removed] >= 0.9).all()
    assert (found[found] == found).all()
    assert removed.sum() == pytest.approx((duplicates(lines, 0.9) != np.arange(len(found))).sum(), rel=0.01)


def test_bounds_change_no_result():
    lines = random_lines(5000, 1000)  # enough for bounds
    vectors = lines.vectors
    index = AllLines(vectors, 0.95)
    assert index._bounds.shape[1] < vectors.shape[1]
    exact = duplicates(lines, 0.95)
    kept, wanted = np.empty(0, np.int64), np.arange(len(vectors))
    for i in lines.distinct():
        near = kept[vectors[kept] @ vectors[i] >= 0.95]
        wanted[i] = near[0] if len(near) else i
        kept = kept if len(near) else np.append(kept, i)
    np.testing.assert_array_equal(exact, wanted)
    assert (exact < np.arange(len(exact))).sum() > 100
    found = paraphrases(lines, 0.95)
    every, scores = nearest(lines, 1)
    mutual = {(i, int(j)) for i, (j,) in enumerate(every) if i < j and every[j, 0] == i and scores[i, 0] >= 0.95}
    assert {(a, b) for a, b, _ in found} == mutual


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_signal_while_the_graph_is_built(number):
    pytest.importorskip("usearch")
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    lines = random_lines(20_000)
    try:
        threading.Timer(0.3, os.kill, (os.getpid(), number)).start()
        with pytest.raises(KeyboardInterrupt):
            nearest(lines, 1, exact=False)
    finally:
        signal.signal(signal.SIGTERM, before)


@pytest.mark.parametrize("options", [[], ["--exact"]])
def test_commands_name_the_graph(model, tmp_path, monkeypatch, options):
    pytest.importorskip("usearch")
    monkeypatch.setattr("paraphrastic.cli.mining_commands.MANY", 1)
    (tmp_path / "lines.txt").write_text("\n".join(TEXTS) + "\n")
    for command in ("pairs", "dedup"):
        arguments = [command, str(tmp_path / "lines.txt"), "--model", str(model.folder), *options]
        result = CliRunner().invoke(app, arguments)
        assert result.exit_code == 0
        line = "usearch finds nearly all of the nearest lines; --exact compares all\n"
        assert (line in result.stderr) == (not options)
