"""Rare words by set, and norms of word vectors, against naive computations."""

import numpy as np
import pytest
import torch
from scipy.stats import spearmanr

from paraphrastic.analysis import word_frequency
from paraphrastic.analysis.artifacts import Artifacts
from paraphrastic.analysis.word_frequency import norm_weights, norms
from paraphrastic.base.errors import DataError, ModelError
from paraphrastic.inference import model_folder
from paraphrastic.models import vectors
from tests.helpers.encoder_variants import WORD
from tests.helpers.run_artifacts import write_corpus, write_run
from tests.helpers.small_models import save_encoder
from tests.helpers.toy_training import SENTENCES, WORDS, prepare

RARE_TRAINING = ["a a b", *["a b c"] * 98, "b c"]  # a occurs 100 times, b 100 times, c 99 times
RARE_TEXTS = ["a b", "a c", "b x", "a a x x", "b"]
SETS = {  # pairs by set, with human scores
    "sick.relatedness": [(0, 1, 3.0), (0, 2, 2.0), (2, 1, 1.0)],
    "sts.2012.MSRpar": [(0, 3, 1.0), (3, 4, 2.0), (1, 1, 0.0)],
    "sts.2016.headlines": [(0, 1, 1.0), (0, 2, 0.0)],
    "words.simlex": [(0, 1, 1.0), (0, 2, 0.0)],
}
PARTICIPANTS = {"sick.relatedness": 79.9, "sts.2012.MSRpar": 57.6}  # iclr2016 Table 2, column 75%


def write_rare(folder, sets):
    write_corpus(folder, RARE_TRAINING)
    return write_run(folder, RARE_TEXTS, [(name, "test", *pair) for name in sets for pair in SETS[name]])


def overlap(left, right):
    a, b = set(RARE_TEXTS[left].split()), set(RARE_TEXTS[right].split())
    return len(a & b) / np.sqrt(len(a) * len(b))


def naive_row(name):
    tokens = [token for left, right, _ in SETS[name] for side in (left, right) for token in RARE_TEXTS[side].split()]
    shares = [100 * np.mean([token in "cx" for token in sorted(each)]) for each in (set(tokens), tokens)]
    r = 100 * np.corrcoef([(gold, overlap(left, right)) for left, right, gold in SETS[name]], rowvar=False)[0, 1]
    return [len(SETS[name]), *shares, r, PARTICIPANTS[name], r - PARTICIPANTS[name]]


def test_rows_of_the_papers_sets(tmp_path):
    table = word_frequency.rare_words(write_rare(tmp_path, SETS))
    assert table["set"].tolist() == list(PARTICIPANTS)
    for name, *row in table.itertuples(index=False):
        assert row == pytest.approx(naive_row(name), abs=0.0101)
    assert table["deviation"].tolist() == (table["pearson"] - table["percentile_75"]).round(2).tolist()
    row = word_frequency.rare_words(write_rare(tmp_path, ["sick.relatedness"])).iloc[0]
    assert row["rare_words"] == 50  # c and x, of a, b, c and x
    assert row["rare_tokens"] == 33.33  # in `a b`, `a c`, `a b`, `b x`, `b x` and `a c`: 4 of 12


def test_sets_that_the_paper_does_not_have(tmp_path):
    write_corpus(tmp_path, RARE_TRAINING)
    pairs = [("sample.roles", "test", 0, 1, 3.0), ("sample.roles", "test", 0, 2, 1.0)]
    artifacts = write_run(tmp_path, RARE_TEXTS, pairs)
    row = word_frequency.rare_words(artifacts)[["percentile_75", "deviation"]].iloc[0]
    assert row.isna().all()
    with pytest.raises(DataError, match="not two sets of iclr2016; choose `benchmarks: open`"):
        word_frequency.rare_words_correlation(artifacts)


def test_correlation_over_sets(tmp_path, monkeypatch):
    table = word_frequency.rare_words(write_rare(tmp_path, SETS))
    three = table.loc[[0, 0, 1]].assign(rare_words=[5, 1, 3], rare_tokens=[1, 1, 2], deviation=[-3.0, 2.0, 1.0])
    monkeypatch.setattr(word_frequency, "rare_words", lambda artifacts: three)
    correlation = word_frequency.rare_words_correlation(None)
    # ranks 3, 1, 2 with 1, 3, 2; ranks 1.5, 1.5, 3 with 1, 3, 2
    expected = [["rare_words", 3, -100], ["rare_tokens", 3, 0]]
    assert correlation.to_numpy().tolist() == expected


# WORDS[n] occurs in 30 n sentences, twice in those with an even number; the model lacks the word `other`
CORPUS = [f"{word} {word if s % 2 else ''} other" for n, word in enumerate(WORDS[:9]) for s in range(30 * n)]


def naive_correlation(model, least):
    rows = dict(zip(model.vocabulary.to_pylist(), model.embeddings(), strict=True))
    tokens = [sentence.split() for sentence in CORPUS]
    words = [word for word in rows if sum(sentence.count(word) for sentence in tokens) >= max(least, 1)]
    idf = [np.log(len(tokens) / sum(word in sentence for sentence in tokens)) for word in words]
    norms = [sum(abs(x) for x in rows[word].tolist()) for word in words]
    return len(words), 100 * spearmanr(norms, idf).statistic


@pytest.mark.parametrize(("name", "least", "n"), [("all", 0, 8), ("≥ 100", 100, 6)])
def test_correlation_over_words_of_the_training_data(tmp_path, name, least, n):
    model = save_encoder(tmp_path / "model", "avg", WORD)
    write_corpus(tmp_path, CORPUS)
    row = norms(Artifacts(tmp_path)).set_index("occurrences").loc[name]
    assert row["n"] == n
    assert (row["n"], row["spearman"]) == pytest.approx(naive_correlation(model, least), abs=0.0051)


DIM = 8
FILE_WORDS = [*WORDS[:20], "again", "rare"]  # the training data lacks `rare`, the file lacks `was` and other words
TEXTS = [*SENTENCES.to_pylist()[:12], "a rare one", "unknown words"]
PAIRS = [
    *(("sts.2012.MSRpar", "test", n, n + 1, float(n % 4)) for n in range(8)),
    *(("sick.relatedness", "test", n, 13 - n, float(n % 3)) for n in range(6)),
]


def initial_vectors():
    return dict(zip(["UUUNKKK", *FILE_WORDS], np.random.default_rng(3).normal(size=(23, DIM)).round(3), strict=True))


def write(folder):
    """Write a run that started from a file of vectors."""
    lines = (f"{word} {' '.join(map(str, vector))}\n" for word, vector in initial_vectors().items())
    (folder / "vectors.txt").write_text("".join(lines))
    artifacts = write_run(folder, TEXTS, PAIRS)
    write_corpus(folder, SENTENCES.to_pylist())
    encoder, _, config = prepare("avg", WORD, dim=DIM, vectors=str(folder / "vectors.txt"))
    encoder.embeddings += torch.randn(encoder.embeddings.shape, generator=torch.Generator().manual_seed(5))
    model_folder.write_model(encoder, model_folder.ModelInfo("avg", config.model_dump()), folder / "model")
    return artifacts


def naive_pairs(vectors, unknown):
    """Return the cosines of averaged vectors and the gold scores of both sets, (2, pairs) each."""
    sentence = [np.mean([vectors.get(word, unknown) for word in text.split()], axis=0) for text in TEXTS]
    for name in ("sts.2012.MSRpar", "sick.relatedness"):
        rows = [(sentence[left], sentence[right], gold) for each, _, left, right, gold in PAIRS if each == name]
        yield np.array([(x @ y / np.linalg.norm(x) / np.linalg.norm(y), gold) for x, y, gold in rows]).T


def naive_mean(vectors, unknown):
    """Return the mean over both sets of Pearson's r × 100."""
    return np.mean([100 * np.corrcoef(pairs)[0, 1] for pairs in naive_pairs(vectors, unknown)])


def naive_replicates(vectors, unknown):
    """Return that mean for 3,000 resamples of the pairs, the same for all vectors; r is 0 where it is not defined."""
    draws, r = np.random.default_rng(1), []
    for pairs in naive_pairs(vectors, unknown):
        of_draws = (pairs[:, draws.integers(pairs.shape[1], size=pairs.shape[1])] for _ in range(3000))
        r.append([100 * np.corrcoef(drawn)[0, 1] if drawn.std(axis=1).all() else 0 for drawn in of_draws])
    return np.mean(r, axis=0)


def test_four_averages(tmp_path):
    artifacts = write(tmp_path)
    initial, model = initial_vectors(), artifacts.model
    table = model.scorer.embedding_array()
    trained = {"UUUNKKK": table[0], **dict(zip(model.vocabulary.to_pylist(), table[1:], strict=True))}
    tokens = " ".join(SENTENCES.to_pylist()).split()
    by_norm = {word: vector * np.abs(trained[word]).sum() for word, vector in initial.items()}
    by_frequency = {word: vector / max(tokens.count(word), 1) for word, vector in initial.items()}
    expected = [naive_mean(each, each["UUUNKKK"]) for each in (initial, by_norm, by_frequency, trained)]
    result = norm_weights(artifacts)
    assert result["vectors"].tolist() == ["initial", "initial × norm", "initial / frequency", "trained"]
    assert result["sets"].tolist() == [2] * 4
    assert result["pearson"].tolist() == pytest.approx(expected, abs=0.0051)
    shares = [100 * (r - expected[0]) / (expected[3] - expected[0]) for r in expected]
    assert result["improvement"].tolist() == pytest.approx(shares, abs=0.02)
    replicates = [naive_replicates(each, each["UUUNKKK"]) for each in (initial, by_norm, by_frequency, trained)]
    assert result["pearson_error"].tolist() == pytest.approx([each.std() for each in replicates], rel=0.1)
    first, *_, last = replicates
    errors = [
        100 * (each - first - share / 100 * (last - first)).std()
        for each, share in zip(replicates, shares, strict=True)
    ]
    assert result["improvement_error"].tolist() == pytest.approx(
        [error / abs(expected[3] - expected[0]) for error in errors], rel=0.1, abs=0.01
    )


def test_models_of_other_vectors(tmp_path):
    artifacts = write(tmp_path)
    save_encoder(tmp_path / "model", "avg", WORD)
    with pytest.raises(ModelError, match=r"model: avg .*word vectors; name a file in `vectors`$"):
        norm_weights(artifacts)
    artifacts, config = write(tmp_path), vectors.Config(vectors=str(tmp_path / "vectors.txt"), dim=DIM)
    model_folder.write_model(
        vectors.GivenVectors.fit(config, SENTENCES),
        model_folder.ModelInfo("vectors", config.model_dump()),
        tmp_path / "model",
    )
    table = norm_weights(artifacts).set_index("vectors")
    assert table.loc["trained", "pearson"] == table.loc["initial", "pearson"]
    assert table["improvement"].isna().all()


def test_file_with_other_words_than_in_training(tmp_path):
    artifacts = write(tmp_path)
    with (tmp_path / "vectors.txt").open("a") as file:
        file.write(f"new{' 1' * DIM}\n")
    with pytest.raises(DataError, match=r"vectors\.txt: .*model lacks; train the model again$"):
        norm_weights(artifacts)
