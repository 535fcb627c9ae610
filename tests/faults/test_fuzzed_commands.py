"""Commands with odd arguments and odd lines: exit status 0, 1 or 2, and one line for what is refused."""

import pytest
from hypothesis import strategies as st
from typer.testing import CliRunner

from paraphrastic.base.errors import ParameterError
from paraphrastic.cli.main import app
from tests.helpers.odd_input import WORDS, files, tables, texts
from tests.helpers.small_models import ENCODERS, save_baseline, save_encoder

pytestmark = [pytest.mark.faults, pytest.mark.slow]

ODD = ["", "-", "--", "-1", "0", "nan", "1e9", ".", "/dev/null", "missing", "avg", "lines.txt", "x" * 300, "a\nb", "~"]
WORD = st.sampled_from([*ODD, "*"]) | st.sampled_from([word for word in WORDS if "\0" not in word])
COMMANDS = {
    "embed": ["embed", "--model", "avg", "lines.txt"],
    "similarity": ["similarity", "--model", "avg", "lines.txt"],
    "neighbors": ["neighbors", "--model", "avg", "was"],
    "explain": ["explain", "--model", "avg", "was", "again"],
    "search": ["search", "lines.txt", "was", "--model", "avg"],
    "dedup": ["dedup", "lines.txt", "--model", "avg"],
    "pairs": ["pairs", "lines.txt", "--model", "avg"],
    "info": ["info", "avg"],
    "card": ["card", "avg"],
    "merge": ["merge", "avg", "avg", "--out", "small"],
    "compact": ["compact", "avg", "small"],
    "export": ["export", "avg", "out", "--to", "word2vec"],
    "compare": ["compare", "workspace", "workspace"],
    "analyze": ["analyze", "length"],
    "inspect": ["data", "inspect", "lines.csv"],
    "train": ["train", "lines.csv", "out"],
    "evaluate": ["evaluate", "avg", "lines.csv"],
}


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PARAPHRASTIC_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("HOME", str(tmp_path))
    save_encoder(tmp_path / "avg", "avg", ENCODERS["avg"])
    save_baseline(tmp_path / "overlap", "overlap")

    def run(*arguments):
        result = CliRunner().invoke(app, arguments)
        assert result.exception is None or isinstance(result.exception, SystemExit), (arguments, result.exception)
        assert result.exit_code in (0, 1, 2)
        if result.exit_code == 1:
            assert result.stderr.splitlines()[-1].startswith("error: ")
        if result.exit_code:
            raise ParameterError("refused")

    return run


@pytest.mark.parametrize("name", COMMANDS)
def test_arguments(tries, run, tmp_path, name):
    command = COMMANDS[name]
    (tmp_path / "lines.txt").write_text("a cat\tthe dog\nwas\tagain\n")
    (tmp_path / "lines.csv").write_text("text1,text2,score\n" + "a cat,the dog,3\nwas it,again,1\n" * 3)

    def check(edits, more):
        arguments = [edits.get(place, word) for place, word in enumerate(command)]
        arguments[0 : 1 + (name == "inspect")] = command[0 : 1 + (name == "inspect")]
        if name != "train" or "out" not in arguments or more:  # a training of seconds
            run(*arguments, *more)

    edits = st.dictionaries(st.integers(1, len(command) - 1), WORD, min_size=1, max_size=2)
    options = ["--json", "--normalize", "--k", "--batch-size", "--zzz", "--threshold", "--out", "--max-mb"]
    more = st.lists(st.sampled_from(options) | WORD, max_size=2) if name != "train" else st.just([])
    tries.fuzz(12, check, edits, more)


@pytest.mark.parametrize("name", ["embed", "similarity", "search", "dedup", "pairs"])
def test_lines(tries, run, tmp_path, name):
    def check(content):
        (tmp_path / "lines.txt").write_bytes(content)
        run(*COMMANDS[name])

    pairs = st.lists(st.tuples(texts(), texts()).map("\t".join), max_size=5).map(lambda rows: "\n".join(rows).encode())
    tries.fuzz(20, check, st.one_of(pairs, files(), tables()))
