"""Nearest lines, near duplicates and pairs of paraphrases, against all cosines in plain NumPy."""

import numpy as np
import pyarrow as pa
import pytest
from typer.testing import CliRunner

from paraphrastic.base.errors import DataError, ModelError
from paraphrastic.cli.main import app
from paraphrastic.inference import mining
from paraphrastic.inference.mining import Lines, duplicates, nearest, paraphrases, search
from tests.helpers.command_line import assert_refused
from tests.helpers.encoder_variants import WORD
from tests.helpers.small_models import save_encoder, save_pair_model
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
    np.testing.assert_allclose(scores[:, :size], -np.sort(-matrix, 1)[:, :size], atol=2e-3)
    assert (rows[:, size:] == -1).all()
    assert not (rows == np.arange(len(TEXTS))[:, None]).any()


def test_pairs_are_nearest_to_each_other(model):
    lines = Lines.of(model, BLOCKS)
    rows, scores = nearest(lines, 1)
    wanted = {(i, int(j)) for i, (j,) in enumerate(rows) if i < j and rows[j, 0] == i and scores[i, 0] >= 0.5}
    found = paraphrases(lines, 0.5)
    assert {(a, b) for a, b, _ in found} == wanted
    assert wanted
    assert [score for *_, score in found] == sorted((score for *_, score in found), reverse=True)
    assert len(paraphrases(lines, 0.5, 5)) > len(found)
    assert paraphrases(lines, 1.5) == []


def test_text_without_lines_and_models_without_vectors(model, tmp_path):
    with pytest.raises(DataError, match="the text has no line"):
        Lines.of(model, [])
    with pytest.raises(ModelError, match="compares pairs"):
        Lines.of(save_pair_model(tmp_path), BLOCKS)


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
    assert_refused(run("search", "lines.txt", "zzqx"), "knows nothing of 'zzqx'; try another query")
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
        assert_refused(run(command, "empty.txt"), "the text has no line")
        assert_refused(run(command, "latin.txt"), "latin.txt, line 2")


def random_lines(rows=3000, clusters=600):
    """Return lines of which each has about four near ones."""
    random = np.random.default_rng(5)
    centers = random.standard_normal((clusters, 32))
    vectors = centers[random.integers(clusters, size=rows)] + 0.1 * random.standard_normal((rows, 32))
    vectors[7] = 0
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
    return Lines(pa.chunked_array([pa.array(map(str, range(rows)))]), vectors.astype(np.float16))


def test_graph_finds_nearly_all_nearest_lines(monkeypatch):
    pytest.importorskip("usearch")
    monkeypatch.setattr(mining, "BLOCK", 500)
    lines = random_lines()
    rows, scores = nearest(lines, 3)
    found, cosines = nearest(lines, 3, exact=False)
    assert (found == rows).mean() > 0.98
    np.testing.assert_allclose(cosines[found == rows], scores[found == rows], atol=1e-6)
    assert not (found == 7).any()
    assert {(a, b) for a, b, _ in paraphrases(lines, 0.9, exact=False)} ^ {
        (a, b) for a, b, _ in paraphrases(lines, 0.9)
    } == set()


def test_duplicates_by_the_graph(monkeypatch):
    pytest.importorskip("usearch")
    monkeypatch.setattr(mining, "BLOCK", 500)
    lines = random_lines()
    found, vectors = duplicates(lines, 0.9, exact=False), lines.vectors.astype(np.float32)
    removed = found != np.arange(len(found))
    assert (np.einsum("nd,nd->n", vectors, vectors[found])[removed] >= 0.9).all()
    assert (found[found] == found).all()
    assert removed.sum() == pytest.approx((duplicates(lines, 0.9) != np.arange(len(found))).sum(), rel=0.01)


@pytest.mark.parametrize("options", [[], ["--exact"]])
def test_commands_name_the_graph(model, tmp_path, monkeypatch, options):
    pytest.importorskip("usearch")
    monkeypatch.setattr("paraphrastic.cli.mining_commands.MANY", 1)
    (tmp_path / "lines.txt").write_text("\n".join(TEXTS) + "\n")
    for command in ("pairs", "dedup"):
        arguments = [command, str(tmp_path / "lines.txt"), "--model", str(model.folder), *options]
        result = CliRunner().invoke(app, arguments)
        assert result.exit_code == 0
        assert ("usearch finds nearly all" in result.stderr) == (not options)
