"""The commands embed, similarity, neighbors, explain, export and info."""

import json
import re
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

import paraphrastic
from paraphrastic.analysis.explain import explain
from paraphrastic.inference.neighbors import nearest_in_vocabulary
from tests.helpers.command_line import assert_refused
from tests.helpers.encoder_variants import LSTM
from tests.helpers.pretended_device import HAS_GPU, gpu
from tests.helpers.small_models import save_encoder
from tests.helpers.toy_training import WORDS

FORMATS = ("out.npy", "out.parquet", "out.jsonl")


@pytest.mark.parametrize(
    "command",
    [
        "embed --model {} lines.txt",
        "similarity --model {} pairs.tsv",
        "neighbors --model {} was",
        "search lines.txt was --model {}",
    ],
)
class TestDevice:
    def test_numbers_on_device_and_cpu(self, run, command):
        with gpu() as records:
            words = command.format("lstmavg").split()
            on_device, on_cpu = (run(*words, "--device", device) for device in ("cuda", "cpu"))
        assert on_device.exit_code == 0, on_device.output
        numbers = [[float(number) for number in re.findall(r"-?\d\.\d+", each.stdout)] for each in (on_device, on_cpu)]
        assert numbers[0]
        np.testing.assert_allclose(*numbers, atol=2e-4)
        assert HAS_GPU or records.read

    @pytest.mark.parametrize("model", ["avg", "lstmavg"])
    def test_wrong_name(self, run, command, model):
        result = run(*f"{command} --device gpu".format(model).split())
        assert_refused(result, "device 'gpu': should be auto, cpu, cuda or cuda:N")

    @pytest.mark.skipif(HAS_GPU, reason="this machine has a GPU")
    def test_no_gpu(self, run, command):
        result = run(*f"{command} --device cuda:9".format("lstmavg").split())
        assert_refused(result, "device 'cuda:9': not available on this machine; use auto or cpu")

    def test_model_without_torch(self, run, command):
        result = run(*f"{command} --device cuda".format("avg").split())
        assert_refused(result, "device 'cuda': avg: avg is computed on the CPU, without PyTorch; use auto or cpu")
        assert run(*f"{command} --device auto".format("avg").split()).exit_code == 0


@pytest.mark.parametrize("command", ["dedup", "pairs"])
def test_device_of_commands_that_compare_lines(run, command):
    with gpu() as records:
        words = command, "lines.txt", "--model", "lstmavg", "--device"
        on_device, on_cpu = (run(*words, device) for device in ("cuda", "cpu"))
    assert (on_device.exit_code, on_device.stdout) == (0, on_cpu.stdout)
    assert HAS_GPU or records.read


def test_options_that_reach_the_function(run):
    assert_refused(run("compact", "avg", "small", "--scale", "0"), "scale = 0.0: should be a number")
    train = ["train", "--corpus", "pairs.tsv", "--model", "avg", "--out", "m"]
    assert_refused(run(*train, "--params", "none.yaml"), "none.yaml: no such file")


@pytest.mark.parametrize(
    ("command", "header"),
    [
        ("embed --model avg", ""),
        ("similarity --model avg", ""),
    ],
)
def test_empty_input(run, command, header):
    assert run(*command.split(), input="").output == header


class TestEmbed:
    @pytest.mark.parametrize("normalize", [[], ["--normalize"]])
    def test_vectors_in_each_format(self, run, lines, normalize):
        expected = paraphrastic.load("avg").encode(lines, normalize_embeddings=bool(normalize))
        for file in FORMATS:
            assert run("embed", "--model", "avg", "lines.txt", "--out", file, *normalize).exit_code == 0
        np.testing.assert_array_equal(np.load("out.npy"), expected)
        assert pq.read_table("out.parquet")["text"].to_pylist() == lines
        written = Path("out.jsonl").read_text()
        assert [json.loads(line)["text"] for line in written.splitlines()] == lines
        assert run("embed", "--model", "avg", "lines.txt", *normalize).stdout == written
        assert run("embed", "--model", "avg", "lines.txt", "--out", "out.npy", "--precision", "float16").exit_code == 0
        assert np.load("out.npy").dtype == np.float16
        assert_refused(run("embed", "--model", "avg", "lines.txt", "--precision", "int8"), "has no ranges for int8")
        assert run("embed", "--model", "avg", *normalize, input=Path("lines.txt").read_bytes()).stdout == written

    def test_bad_line(self, run):
        Path("bad.txt").write_bytes(b"one\ntwo\n\xff\xfe\nfour\n")
        before = sorted(Path().iterdir())
        assert_refused(run("embed", "--model", "avg", "bad.txt", "--out", "out.npy"), "bad.txt, line 3: not UTF-8")
        assert_refused(
            run("embed", "--model", "avg", "--out", "out.npy", input=b"a\n\0"), "standard input, line 2: a NUL byte"
        )
        assert sorted(Path().iterdir()) == before

    @pytest.mark.parametrize(
        "command",
        [
            ["embed", "--model", "avg", "lines.txt", "--out"],
            ["export", "avg", "--to", "word2vec"],
            ["dedup", "absent.txt", "--model", "avg", "--out"],  # said before the lines are read
            ["pairs", "absent.txt", "--model", "avg", "--out"],
        ],
    )
    def test_folders_are_not_created(self, run, command):
        assert_refused(run(*command, "misspelt/out.npy"), "misspelt: no such folder; create it first")
        assert not Path("misspelt").exists()

    @pytest.mark.parametrize(
        "command", [["embed", "in.jsonl", "--column", "text"], ["pairs", "in.tsv"], ["dedup", "in.tsv", "--removed"]]
    )
    def test_file_that_is_read_is_not_replaced(self, run, command):
        file = command[1]
        Path(file).write_text('{"id": 7, "text": "A dog."}\n')
        Path("link.jsonl" if file == "in.jsonl" else "link.tsv").symlink_to(file)
        for out in (file, f"./{file}", f"link{Path(file).suffix}"):
            assert_refused(
                run(*command, "--model", "avg", "--out", out), f"{out}: is the file that is read; name another"
            )
        assert Path(file).read_text() == '{"id": 7, "text": "A dog."}\n'

    @pytest.mark.parametrize("create", [Path.touch, Path.mkdir])
    def test_output_that_is_printed_has_no_file(self, run, create):
        create(Path("-"))
        done = run("embed", "--model", "avg", input="A dog.\n")  # from standard input, `-` too
        assert (done.exit_code, done.stdout.count("vector")) == (0, 1)

    def test_link_is_followed(self, run, lines):
        Path("large").mkdir()
        Path("out.npy").symlink_to("large/v.npy")
        assert run("embed", "--model", "avg", "lines.txt", "--out", "out.npy").exit_code == 0
        assert Path("out.npy").is_symlink()
        assert len(np.load("large/v.npy")) == len(lines)
        for command in (["card", "avg", "--out"], ["export", "avg", "--to", "word2vec"]):
            Path("large/file").write_text("2 300\nold")
            Path(f"{command[0]}.txt").symlink_to("large/file")
            assert run(*command, f"{command[0]}.txt", "--force").exit_code == 0
            assert Path(f"{command[0]}.txt").is_symlink()
            assert Path("large/file").read_text() != "old"

    def test_endings_in_capitals(self, run, lines):
        assert run("embed", "--model", "avg", "lines.txt", "--out", "V.NPY").exit_code == 0
        assert len(np.load("V.NPY")) == len(lines)
        Path("ROWS.CSV").write_text("id,text\n1,A dog.\n")
        assert run("dedup", "--model", "avg", "ROWS.CSV", "--out", "KEPT.CSV").exit_code == 0
        assert Path("KEPT.CSV").read_text() == "id,text\n1,A dog.\n"

    def test_unknown_format(self, run):
        result = run("embed", "--model", "avg", "lines.txt", "--out", "out.csv")
        assert result.exit_code == 2
        assert "Invalid value for --out: 'out.csv' ends in none of .npy, .parquet, .jsonl" in result.stderr


@pytest.mark.parametrize("name", ["avg", "lstmavg", "overlap"])
def test_similarity(run, lines, name):
    scores = paraphrastic.load(name).similarity_pairwise([lines[0], lines[2]], [lines[1], lines[2]])
    expected = [f"{score:.6f}" for score in scores]
    assert run("similarity", "--model", name, "pairs.tsv").stdout.splitlines() == expected
    assert run("similarity", "--model", name, input=Path("pairs.tsv").read_bytes()).stdout.splitlines() == expected


def test_neighbors_of_a_word(run):
    expected = nearest_in_vocabulary(paraphrastic.load("avg"), WORDS[0], 4)
    result = run("neighbors", "--model", "avg", WORDS[0].upper(), "--k", "4")
    assert result.stdout.splitlines() == ["similarity\ttext", *(f"{score:.4f}\t{text}" for score, text in expected)]
    assert len(run("neighbors", "--model", "avg", WORDS[0]).stdout.splitlines()) == 1 + 10


def test_column_of_a_table(run):
    Path("t.csv").write_text("a,b,c\nwas,was,again\n")
    assert json.loads(run("embed", "t.csv", "--model", "avg", "--column", "c").stdout)["text"] == "again"
    assert run("similarity", "t.csv", "--model", "avg", "--column", "a,b").stdout == "1.000000\n"
    assert "\tagain\n" in run("search", "t.csv", "was", "--model", "avg", "--column", "c").stdout


def test_explain(run, lines, tmp_path):
    result, explanation = (
        run("explain", "--model", "charagram", *lines[:2]),
        explain(paraphrastic.load("charagram"), *lines[:2]),
    )
    units = [
        (f"{n}", f"{unit.share:.4f}", unit.text)
        for n, side in (("1", explanation.left), ("2", explanation.right))
        for unit in sorted(side, key=lambda unit: -unit.share)
    ]
    assert [tuple(line.split("\t")) for line in result.stdout.splitlines()] == [("sentence", "share", "unit"), *units]
    assert result.stderr == f"cosine: {explanation.cosine:.4f}\n"
    (unit,) = explain(save_encoder(tmp_path / "gran", "gran", LSTM | {"variant": 1}), "was", "again").left
    (_, row, _) = run("explain", "--model", "gran", "was", "again").stdout.splitlines()
    assert row == f"1\t{unit.share:.4f}\t{unit.gate:.1f}\twas"


def test_export(run):
    command = "export", "avg", "v.txt", "--to", "word2vec"
    assert run(*command).stderr == "the file does not keep how the model composes word vectors\n"
    assert Path("v.txt").is_file()
    assert_refused(run("export", "avg", "-", "--to", "word2vec"), "-: is standard output, which is no place for this")
    assert_refused(run(*command), "v.txt: exists; name another place, or replace")
    assert run(*command, "--force").exit_code == 0


def test_compact_replaces_a_model_only_if_told_to(run):
    command = "compact", "avg", "smaller"
    assert run(*command).exit_code == 0
    assert_refused(run(*command), "smaller: exists; --force replaces it")
    size = sum(file.stat().st_size for file in Path("smaller").iterdir())
    message = run(*command, "--force", "--max-mb", str((size - 100) / 1e6)).stderr
    kept, total = re.fullmatch(
        r"smaller: (\d+) of (\d+) entries of the vocabulary, 0\.0 MB in place of 0\.0\n", message
    ).groups()
    assert 0 < int(kept) < int(total)


def test_info(run):
    rows = dict(line.split("\t") for line in run("info", "charagram").stdout.splitlines())
    model = paraphrastic.load("charagram")
    assert rows.items() >= {"model": "charagram", "dimension": "8", "options.counts": "sqrt"}.items()
    assert (rows["name"], rows["options.max_grad_norm"]) == ("value", "None")
    assert rows.keys() == {"name", *model.summary()} | {f"options.{name}" for name in model.options}
    assert int(rows["vocabulary"]) == len(model.vocabulary)
    assert int(rows["parameters"]) == 8 * (len(model.vocabulary) + 1)
    rows = dict(line.split("\t") for line in run("info", "overlap").stdout.splitlines())
    assert rows.items() >= {"model": "overlap", "dimension": "-", "vocabulary": "0", "parameters": "0"}.items()
