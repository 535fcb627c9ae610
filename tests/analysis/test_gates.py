"""Gate norms by tag and relation, against the equations of GRAN in NumPy."""

from collections import defaultdict

import numpy as np
import pytest

from paraphrastic.analysis import gates
from paraphrastic.analysis.artifacts import Artifacts
from paraphrastic.base.errors import DataError, ModelError
from tests.helpers.encoder_variants import LSTM, WORD
from tests.helpers.equations import gran_states, submodule_weights
from tests.helpers.pretended_device import HAS_GPU, gpu
from tests.helpers.small_models import save_encoder
from tests.helpers.task_tables import write_tasks
from tests.helpers.toy_training import WORDS

GRAN = LSTM | {"variant": 1}
A, B, C = WORDS[:3]
TEXTS = {  # tokens/tag/relation, in sentences that have the same numbers in every split
    "train": [f"{A}/DT/det {B.upper()}/NN/nsubj was/VBD/root", "Again/RB/root"],
    "dev": [f"the/DT/det {C}/JJ/amod unseen/JJ/xcomp {A}/NN/obj {B}/VBG/acl"],
    "test": [f"was/VBD/root {A}n't/JJ/amod {B}/NN/obj", f'"/``/punct {C}/VBG/obj'],  # the first has a fourth token
}
READ = [[A, B, "was"], ["again"], ["the", C, "unseen", A, B], ["``", C]]  # by the model
LABELS = [  # (tag, relation) of each of these words
    *(("DT", "det"), ("NN", "nsubj"), ("VBD", "root"), ("RB", "root"), ("DT", "det"), ("JJ", "amod")),
    *(("JJ", "xcomp"), ("NN", "obj"), ("VBG", "acl"), ("``", "punct"), ("VBG", "obj")),
]


def rows_of(texts):
    """Return rows of the table of tagged tokens."""
    return [
        ("tags.ewt", split, n, *token.rsplit("/", 2)[:2], 0, token.rsplit("/", 1)[1])
        for split, sentences in texts.items()
        for n, text in enumerate(sentences)
        for token in text.split()
    ]


def naive_norms(model, sentences):
    """Return the L1 norm of the gate of each word, word by word."""
    weights = {name: weight.astype(np.float64) for name, weight in model.scorer.arrays().items()}
    row = {word: n for n, word in enumerate(model.vocabulary.to_pylist(), 1)}
    norms = []
    for sentence in sentences:
        words = weights["embeddings"][[row.get(word, 0) for word in sentence]]
        _, of_words = gran_states(words, *(submodule_weights(weights, part) for part in ("lstm.", "gates.")), GRAN)
        norms += [np.abs(gate).sum() for gate in of_words]
    return norms


def means(labels, norms):
    """Return (number, mean norm) by label."""
    values = defaultdict(list)
    for label, norm in zip(labels, norms, strict=True):
        values[label].append(norm)
    return {label: (len(each), pytest.approx(np.mean(each), abs=0.0051)) for label, each in values.items()}


def found(table, kind):
    return {row.label: (row.n, row.norm) for row in table[table["kind"] == kind].itertuples()}


@pytest.fixture
def artifacts(tmp_path, monkeypatch):
    monkeypatch.setattr(gates, "MIN_COUNTS", dict.fromkeys(gates.MIN_COUNTS, 1))
    save_encoder(tmp_path / "model", "gran", GRAN)
    write_tasks(tmp_path / "benchmarks", tagged_tokens=[*rows_of(TEXTS), ("tags.wsj", "test", 0, A, "FW", 0, "dep")])
    return Artifacts(tmp_path)


def test_mean_norms_of_the_words_of_sentences_with_the_same_tokens(artifacts):
    table, norms = gates.gates(artifacts), naive_norms(artifacts.model, READ)
    tags, relations = zip(*LABELS, strict=True)
    assert found(table, "tag") == means(tags, norms)
    assert found(table, "relation") == means(relations, norms)
    for tag in ("JJ", "VBG", "NN"):
        chosen = [n for n, each in enumerate(tags) if each == tag]
        assert found(table, tag) == means([relations[n] for n in chosen], [norms[n] for n in chosen])
    of_tag = table[table["kind"] == "tag"].set_index("label")
    nouns = [norm for norm, tag in zip(norms, tags, strict=True) if tag == "NN"]
    assert of_tag.loc["NN", "norm_error"] == pytest.approx(np.std(nouns, ddof=1) / len(nouns) ** 0.5, abs=1e-4)
    assert list(table["kind"].unique()) == ["tag", "relation", "JJ", "VBG", "NN"]
    for _, part in gates.gates(artifacts).groupby("kind"):
        assert list(part["highest"]) == list(range(1, len(part) + 1))
        assert list(part["lowest"]) == list(range(len(part), 0, -1))
        assert part["norm"].is_monotonic_decreasing


def test_norms_on_device_and_cpu(artifacts):
    with gpu() as records:
        on_device = found(gates.gates(Artifacts(artifacts.folder, "cuda")), "tag")
    assert HAS_GPU or records.read
    on_cpu = found(gates.gates(artifacts), "tag")
    assert on_device == {label: (n, pytest.approx(norm, abs=0.011)) for label, (n, norm) in on_cpu.items()}


def test_labels_of_few_words_are_left_out(artifacts, monkeypatch):
    monkeypatch.setattr(gates, "MIN_COUNTS", {"tag": 2, "relation": 2, "JJ": 1, "VBG": 2, "NN": 3})
    table = gates.gates(artifacts)
    assert set(zip(table["kind"], table["label"], strict=True)) == {
        *(("tag", tag) for tag in ("DT", "NN", "JJ", "VBG")),
        *(("relation", relation) for relation in ("det", "root", "obj")),
        *(("JJ", relation) for relation in ("amod", "xcomp")),
    }


@pytest.mark.parametrize("boundary_tokens", ["start", "end", "both"])
def test_boundary_tokens_are_no_words(artifacts, boundary_tokens):
    save_encoder(artifacts.folder / "model", "gran", GRAN | {"boundary_tokens": boundary_tokens})
    start, end = (["<s>"] if boundary_tokens != "end" else []), (["</s>"] if boundary_tokens != "start" else [])
    enclosed = [[*start, *sentence, *end] for sentence in READ]
    words = [word for sentence in enclosed for word in sentence]
    norms = zip(words, naive_norms(artifacts.model, enclosed), strict=True)
    kept = [norm for word, norm in norms if word not in ("<s>", "</s>")]
    assert found(gates.gates(artifacts), "tag") == means([tag for tag, _ in LABELS], kept)


@pytest.mark.parametrize(
    ("name", "block", "described"),
    [
        ("avg", WORD, "avg"),
        ("gran", GRAN | {"variant": 5}, "gran in variant 5"),
        ("bigran", GRAN | {"combine": "sum"}, "bigran in variant 1"),
    ],
)
def test_models_without_one_gate_for_each_word(artifacts, name, block, described):
    save_encoder(artifacts.folder / "model", name, block)
    with pytest.raises(ModelError, match=f"model: {described}: only gran in variant 1"):
        gates.gates(artifacts)


def test_benchmarks_without_the_treebank(artifacts):
    write_tasks(artifacts.folder / "benchmarks")
    with pytest.raises(DataError, match=r"benchmarks: no set tags\.ewt; choose `benchmarks: open`$"):
        gates.gates(artifacts)
