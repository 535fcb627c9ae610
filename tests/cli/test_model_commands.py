"""The command `paraphrastic` as people run it."""

import hashlib
import json
import signal
import subprocess
import sys
import tomllib
from importlib import import_module
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.main import get_command
from typer.testing import CliRunner

import paraphrastic
from paraphrastic import cli, models
from paraphrastic.cli import text_input as texts
from paraphrastic.comparison.revisions import SCORES_FILE
from paraphrastic.inference import model_folder
from paraphrastic.inference import vector_files as embed
from paraphrastic.inference.model import Model
from paraphrastic.models import overlap, vectors
from paraphrastic.sources import catalogue
from paraphrastic.sources.catalogue import Catalogue, File
from paraphrastic.tables import SCORES, write_table
from tests.faulty_server import made
from tests.test_comparison import table
from tests.test_model import ENCODERS
from tests.test_training import MADE_UP, SENTENCES, prepare

LINES = SENTENCES.to_pylist()[:5]
BODY = b"what the source holds"
HELPS = [[], ["embed"], ["similarity"], ["neighbors"], ["info"], ["compare"], ["export"], ["data"]]


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """Model folders by name."""
    made = tmp_path_factory.mktemp("models")
    for name, block in ENCODERS:
        scorer, _, config = prepare(name, block)
        model_folder.save(scorer, name, config, made / name)
    model_folder.save(overlap.MODEL(), "overlap", overlap.Config(), made / "overlap")
    given = vectors.Config(vectors=None, dim=2)
    scorer = vectors.MODEL(pa.array(["again", "was"]), np.eye(3, 2, -1, np.float32), np.empty((0, 2), np.float32))
    model_folder.save(scorer, "vectors", given, made / "vectors")
    return made


@pytest.fixture
def call(folders, tmp_path, monkeypatch):
    """Run a command where the models lie beside `lines.txt` and `pairs.tsv`, and the sources are two."""
    for folder in folders.iterdir():
        (tmp_path / folder.name).symlink_to(folder)
    write_table(table("sts.2012.MSRpar", "similarity", np.arange(9.0), np.arange(9.0)), tmp_path / SCORES_FILE, SCORES)
    (tmp_path / "lines.txt").write_text("".join(f"{line}\n" for line in LINES))
    (tmp_path / "pairs.tsv").write_text(f"{LINES[0]}\t{LINES[1]}\n{LINES[2]}\t{LINES[2]}\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PARAPHRASTIC_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PARAPHRASTIC_MIRROR", str(tmp_path / "mirror"))
    monkeypatch.setattr(catalogue, "catalogue", two_sources)
    (tmp_path / "mirror/host/b").mkdir(parents=True)
    (tmp_path / "mirror/host/a.txt").write_bytes(BODY)
    (tmp_path / "mirror/host/b/c.txt").write_bytes(b"anything")
    return lambda *command, **options: CliRunner().invoke(cli.app, command, **options)


def two_sources():
    pinned = File("a.txt", "http://host/a.txt", hashlib.sha256(BODY).hexdigest())
    files = [pinned, File("b/c.txt", "http://host/b/c.txt", None)]
    sources = {"texts": made(files), "brought": made([File("d.txt", "", None)], name="brought", manual="licensed")}
    return Catalogue(sources, {}, {}, {name: name for name in sources})


def refused(result, *messages):
    """The command ended with status 1 and one line on stderr, which holds `messages`."""
    assert result.exit_code == 1
    assert result.stderr.startswith("error: ")
    assert result.stderr.count("\n") == 1
    for message in messages:
        assert message in result.stderr


def listed():
    return sorted(Path().iterdir())


def commands(group, before=()):
    for name, command in group.commands.items():
        yield from commands(command, (*before, name)) if hasattr(command, "commands") else [" ".join((*before, name))]


EXAMPLES = {
    "embed": "embed avg lines.txt",
    "similarity": "similarity avg pairs.tsv",
    "neighbors": f"neighbors avg {MADE_UP[0]}",
    "info": "info avg",
    "compare": "compare workspace workspace",
    "export": "export avg out --to sentence-transformers",
    "data list": "data list",
    "data fetch": "data fetch texts",
    "data check": "data check",
    "data path": "data path texts",
}


def test_every_command_has_an_example_here():
    assert EXAMPLES.keys() == {*commands(get_command(cli.app))}


@pytest.mark.parametrize("command", EXAMPLES)
def test_every_command_runs(call, command):
    call("data", "fetch", "texts")
    result = call(*EXAMPLES[command].split())
    assert result.exit_code == 0, result.output
    assert (result.stdout == "") == (command in ("data fetch", "export"))


@pytest.mark.parametrize("command", HELPS, ids=" ".join)
def test_help_fits_one_screen(call, command):
    result = call(*command, "--help")
    assert result.exit_code == 0
    assert len(result.stdout.splitlines()) <= 24
    assert max(map(len, result.stdout.splitlines())) <= 80
    assert "..." not in result.stdout.replace("]...", "").replace("}...", "")  # a description that is cut


def test_compare_in_its_three_forms(call):
    plain, md, as_json = (call("compare", "workspace", *form) for form in ((), ("--md",), ("--json",)))
    assert "sts.2012.MSRpar" in plain.stdout
    assert md.stdout.startswith("| set | metric |")
    assert json.loads(as_json.stdout)["rows"][0]["difference"] == 0


def test_export_says_what_is_lost_and_refuses_what_is_no_average(call):
    assert "not kept: the vector of unknown words" in call("export", "avg", "v.txt", "--to", "word2vec").stderr
    refused(call("export", "overlap", "out", "--to", "word2vec"), "overlap has no word vectors")
    assert call("export", "avg", "out", "--to", "onnx").exit_code == 2


def python(code, *arguments, **options):
    return subprocess.Popen([sys.executable, "-c", code, *arguments], text=True, **options)


MAIN = "from paraphrastic.cli import main; main()"


def test_help_imports_neither_torch_nor_arrays():
    code = "import atexit, sys; atexit.register(lambda: print({'torch', 'numpy', 'pyarrow'} & {*sys.modules})); "
    with python(code + MAIN, "--help", stdout=subprocess.PIPE) as process:
        assert process.stdout.read().endswith("set()\n")


def test_the_package_installs_the_command():
    script = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]["scripts"]
    module, function = script["paraphrastic"].split(":")
    assert getattr(import_module(module), function) is cli.main


class TestEmbed:
    @pytest.mark.parametrize("name", [name for name, _ in ENCODERS])
    @pytest.mark.parametrize("normalize", [[], ["--normalize"]])
    def test_writes_what_the_model_encodes(self, call, name, normalize):
        encoded = paraphrastic.load(name).encode(LINES, normalize=bool(normalize))
        for file in ("out.npy", "out.parquet", "out.jsonl"):
            assert call("embed", name, "lines.txt", "--out", f"new/{file}", *normalize).exit_code == 0
        array, table = np.load("new/out.npy"), pq.read_table("new/out.parquet")
        assert array.dtype == np.float32
        np.testing.assert_array_equal(array, encoded)
        assert table["text"].to_pylist() == LINES
        np.testing.assert_array_equal(table["vector"].to_pylist(), encoded)
        written = Path("new/out.jsonl").read_text()
        assert call("embed", name, "lines.txt", *normalize).stdout == written
        rows = [json.loads(line) for line in written.splitlines()]
        assert [row["text"] for row in rows] == LINES
        np.testing.assert_array_equal(np.array([row["vector"] for row in rows], np.float32), encoded)

    def test_reads_standard_input_line_by_line(self, call):
        lines = f'\ufeff{LINES[0]}\r\n\n"日本"\u2028{LINES[1]}'
        rows = [json.loads(line) for line in call("embed", "avg", "-", input=lines.encode()).stdout.split("\n")[:-1]]
        assert [row["text"] for row in rows] == [LINES[0], "", f'"日本"\u2028{LINES[1]}']
        encoded = paraphrastic.load("avg").encode([row["text"] for row in rows])
        np.testing.assert_array_equal(np.array([row["vector"] for row in rows], np.float32), encoded)

    def test_gives_the_same_in_small_blocks(self, call, monkeypatch):
        whole = {}
        for size in (1 << 20, 3):
            monkeypatch.setattr(texts, "_BYTES", 10 * size)
            monkeypatch.setattr(texts, "_ROWS", size)
            monkeypatch.setattr(embed, "_ROWS", size)
            assert call("embed", "avg", "lines.txt", "--out", "out.npy").exit_code == 0
            assert call("embed", "avg", "lines.txt", "--out", "out.parquet").exit_code == 0
            outputs = np.load("out.npy"), np.array(pq.read_table("out.parquet")["vector"].to_pylist())
            whole[size] = [*outputs, call("embed", "avg", "lines.txt").stdout]
        for one, other in zip(*whole.values(), strict=True):
            np.testing.assert_array_equal(one, other)

    def test_nothing_in_is_nothing_out(self, call):
        assert call("embed", "avg", input="").output == ""
        for name in ("out.npy", "out.parquet", "out.jsonl"):
            assert call("embed", "avg", "--out", name, input="").exit_code == 0
        assert np.load("out.npy").shape == (0, 8)
        assert pq.read_table("out.parquet").num_rows == 0
        assert Path("out.jsonl").read_text() == ""

    @pytest.mark.parametrize("name", ["out.npy", "out.parquet", "out.jsonl"])
    def test_a_bad_line_is_named_and_leaves_no_file(self, call, monkeypatch, name):
        monkeypatch.setattr(texts, "_BYTES", 1)
        Path("bad.txt").write_bytes(b"one\ntwo\n\xff\xfe\nfour\n")
        before = listed()
        refused(call("embed", "avg", "bad.txt", "--out", name), "bad.txt, line 3: not UTF-8")
        refused(call("embed", "avg", "--out", name, input=b"a\n\0"), "standard input, line 2: a NUL byte")
        assert listed() == before

    def test_needs_a_model_with_vectors(self, call):
        refused(call("embed", "overlap", "lines.txt"), "overlap compares pairs and has no vectors")

    def test_a_format_that_it_does_not_know_is_wrong_usage(self, call):
        result = call("embed", "avg", "lines.txt", "--out", "out.csv")
        assert result.exit_code == 2
        assert "'out.csv' ends in none of .npy, .parquet, .jsonl" in result.stderr


class TestSimilarity:
    @pytest.mark.parametrize("name", ["avg", "overlap"])
    def test_is_that_of_the_model_one_number_a_line(self, call, name):
        scores = paraphrastic.load(name).similarity([LINES[0], LINES[2]], [LINES[1], LINES[2]])
        expected = [f"{score:.6f}" for score in scores]
        assert call("similarity", name, "pairs.tsv").stdout.splitlines() == expected
        assert call("similarity", name, input=Path("pairs.tsv").read_bytes()).stdout.splitlines() == expected

    @pytest.mark.parametrize("line", ["one", "a\tb\tc", ""])
    def test_a_line_without_two_columns_is_named(self, call, line):
        Path("bad.tsv").write_text(f"a\tb\n{line}\nc\td\n")
        refused(call("similarity", "avg", "bad.tsv"), "bad.tsv, line 2: not two columns with a tab between them")

    def test_nothing_in_is_nothing_out(self, call):
        assert call("similarity", "avg", input="").output == ""


class TestNeighbors:
    def near(self, result):
        assert result.exit_code == 0, result.output
        rows = [line.split("\t") for line in result.stdout.splitlines()]
        return [text for _, text in rows], [float(score) for score, _ in rows]

    def test_of_a_word_are_the_rows_with_the_largest_cosine(self, call):
        found, scores = self.near(call("neighbors", "avg", MADE_UP[0].upper(), "--k", "4"))
        model = paraphrastic.load("avg")
        words = model.vocabulary.to_pylist()
        rows = model.scorer.table[1:].numpy()
        cosines = (rows @ rows[words.index(MADE_UP[0])]) / np.linalg.norm(rows, axis=1)
        cosines /= np.linalg.norm(rows[words.index(MADE_UP[0])])
        best = [n for n in np.argsort(-cosines) if words[n] != MADE_UP[0]][:4]
        assert found == [words[n] for n in best]
        np.testing.assert_allclose(scores, cosines[best], atol=1e-4)

    def test_of_an_n_gram_and_a_word_among_n_grams(self, call):
        units = paraphrastic.load("charagram").vocabulary.to_pylist()
        for text, unit in (("th", "th"), ("again", " again "), (" again ", " again ")):
            found, _ = self.near(call("neighbors", "charagram", text, "-k", str(len(units))))
            assert sorted(found) == sorted({*units} - {unit})

    def test_of_a_sentence_are_the_rows_nearest_to_its_vector(self, call):
        found, scores = self.near(call("neighbors", "avg", f"{MADE_UP[3]} {MADE_UP[4]}"))
        assert len(found) == 10
        assert set(found[:2]) == {MADE_UP[3], MADE_UP[4]}
        assert scores == sorted(scores, reverse=True)

    @pytest.mark.parametrize("name", ["avg", "overlap"])
    def test_among_the_lines_of_a_file(self, call, monkeypatch, name):
        monkeypatch.setattr(texts, "_BYTES", 50)
        found, scores = self.near(call("neighbors", name, LINES[3], "-k", "2", "--among", "lines.txt"))
        assert found[0] == LINES[3]
        assert scores[0] == pytest.approx(1, abs=1e-4)
        others = paraphrastic.load(name).similarity([LINES[3]] * 5, LINES)
        assert scores[1] == pytest.approx(np.sort(others)[-2], abs=1e-4)

    @pytest.mark.parametrize(
        ("name", "text", "message"),
        [
            ("overlap", "a", "overlap has no vectors of its vocabulary; name a file with --among"),
            ("avg", "日本", "the vocabulary has nothing of '日本'"),
        ],
    )
    def test_that_cannot_be_had_are_refused(self, call, name, text, message):
        refused(call("neighbors", name, text), message)

    def test_of_a_sentence_with_more_numbers_than_a_row_are_refused(self, call, monkeypatch):
        monkeypatch.setattr(Model, "dim", 16)
        message = "sentence vectors have 16 numbers and rows of the vocabulary 8; name a word or n-gram of it"
        refused(call("neighbors", "avg", "no unit"), message)
        assert call("neighbors", "avg", MADE_UP[0]).exit_code == 0


def test_info_tells_options_and_sizes(call):
    rows = dict(line.split("\t") for line in call("info", "charagram").stdout.splitlines())
    model = paraphrastic.load("charagram")
    assert {key: rows[key] for key in ("model", "dimension", "options.counts", "options.clip")} == {
        "model": "charagram",
        "dimension": "8",
        "options.counts": "sqrt",
        "options.clip": "None",
    }
    assert int(rows["vocabulary"]) == len(model.units)
    assert int(rows["parameters"]) == 8 * (len(model.units) + 1)


class TestData:
    def test_list_has_a_line_for_each_source(self, call):
        assert call("data", "list").stdout.splitlines() == ["texts\tCC0\t\tTexts", "brought\tCC0\t\tTexts"]
        call("data", "fetch", "texts")
        assert call("data", "list").stdout.splitlines()[0] == "texts\tCC0\t0.0 MB\tTexts"

    def test_fetch_tells_the_licence_and_path_where_the_files_are(self, call, tmp_path):
        refused(call("data", "path", "texts"), "texts: a.txt is not there; run `paraphrastic data fetch texts`")
        assert call("data", "fetch", "texts").stderr == "texts: Texts. Licence: CC0\n"
        cached, mirrored = map(Path, call("data", "path", "texts").stdout.splitlines())
        assert cached == tmp_path / "cache/sources/texts/a.txt"
        assert cached.read_bytes() == BODY
        assert mirrored == tmp_path / "mirror/host/b/c.txt"

    def test_check_finds_damage_and_fetch_mends_it(self, call):
        assert call("data", "check").stdout == "texts\t1/2\tincomplete\nbrought\t0/1\tnot fetched\n"
        call("data", "fetch", "texts")
        assert call("data", "check", "texts").stdout == "texts\t2/2\tsound\n"
        file = Path(call("data", "path", "texts").stdout.splitlines()[0])
        file.write_bytes(b"other")
        damaged = call("data", "check")
        refused(damaged, "damaged: texts; run `paraphrastic data fetch texts`")
        assert damaged.stdout.startswith("texts\t2/2\tdamaged\n")
        assert call("data", "fetch", "texts").exit_code == 0
        assert call("data", "check", "texts").stdout == "texts\t2/2\tsound\n"
        assert file.read_bytes() == BODY

    def test_what_a_person_must_bring_is_named_with_its_place(self, call, tmp_path):
        place = tmp_path / "cache/licensed/brought/d.txt"
        refused(call("data", "fetch", "brought"), "brought: licensed. Put it at ", str(place))
        refused(call("data", "path", "brought"), "brought: d.txt is not there; licensed. Put it at ", str(place))
        place.parent.mkdir(parents=True)
        place.touch()
        assert call("data", "fetch", "brought").output == ""
        assert call("data", "path", "brought").stdout == f"{place}\n"

    def test_what_is_generated_has_no_files(self, call, monkeypatch):
        monkeypatch.undo()
        assert call("data", "check", "sample").stdout == "sample\t0/0\tgenerated\n"
        refused(call("data", "path", "sample"), "sample: has no files; the pipeline generates it")

    @pytest.mark.parametrize("command", ["fetch", "check", "path"])
    def test_an_unknown_name_brings_the_nearest_one(self, call, command):
        refused(call("data", command, "text"), "unknown source 'text': did you mean 'texts'? known are texts, brought")


@pytest.mark.parametrize("command", ["embed", "similarity", "info"])
class TestBadModels:
    def test_no_model_folder(self, call, command):
        refused(call(command, "nowhere"), "nowhere: no model here")
        refused(call(command, "lines.txt"), "lines.txt: is a file; a model is a folder")

    def test_a_newer_format(self, call, command):
        Path("newer").mkdir()
        about = json.loads(Path("avg/config.json").read_text()) | {"format": 99}
        Path("newer/config.json").write_text(json.dumps(about))
        refused(call(command, "newer"), "newer: model format 99, this version reads 1; update the package")


@pytest.mark.parametrize("command", [["embed"], ["similarity"], ["neighbors", "--among"]], ids=" ".join)
def test_a_file_that_is_not_there_is_named(call, command):
    text = ["x"] if command[0] == "neighbors" else []
    refused(call(command[0], "avg", *text, *command[1:], "absent.txt"), "absent.txt: No such file or directory")


@pytest.mark.parametrize("command", [["emebd"], ["embed"], ["neighbors", "avg", "x", "-k", "0"], ["data", "pth"]])
def test_wrong_usage_has_a_status_of_its_own(call, command):
    assert call(*command).exit_code == 2


def test_a_closed_pipe_is_quiet(call):
    Path("many.txt").write_text("\n".join(LINES * 2000))
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with python(MAIN, "embed", "vectors", "many.txt", **pipes) as process:
        assert process.stdout.readline().startswith('{"text": ')
        process.stdout.close()
        assert process.stderr.read() == ""
    assert process.returncode == 141


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interruption_is_told_and_leaves_no_file(call, number):
    before = listed()
    pipes = {"stdin": subprocess.PIPE, "stderr": subprocess.PIPE}
    with python(MAIN, "embed", "vectors", "--out", "out.npy", **pipes) as process:
        while listed() == before:
            assert process.poll() is None
        process.send_signal(number)
        process.stdin.close()
        assert process.stderr.read() == "interrupted\n"
    assert process.returncode == 130
    assert listed() == before
