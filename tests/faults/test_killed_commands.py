"""Commands that are killed, or that find the disk full: the output is whole, the earlier one, or not there."""

import shutil
from pathlib import Path

import pytest

from tests.helpers.forked import Limits, changes, content_of, is_killed, printed, refusal, start_command, succeeds
from tests.helpers.hard_text import TOKENS
from tests.helpers.small_models import CHARAGRAM, WORD, save_encoder
from tests.helpers.toy_training import SENTENCES, WORDS

pytestmark = [pytest.mark.faults, pytest.mark.slow]

FOLDER = "a b'c\"d é 日本"  # of the working directory
SETTINGS = ["models.avg.dim=8", "models.avg.epochs=3", "models.avg.batch_size=10", "vocabulary.min_count=1"]
LINES = ["lines.txt", "--model", "avg", "--out"]
COMMANDS = {
    "npy": ["embed", "avg", "lines.txt", "--out", "out/out.npy"],
    "parquet": ["embed", "charagram", "lines.txt", "--out", "out/out.parquet"],
    "jsonl": ["embed", "avg", "lines.txt", "--out", "out/out.jsonl"],
    "search": ["search", "lines.txt", WORDS[0], "--model", "avg"],
    "dedup": ["dedup", *LINES, "out/out.txt"],
    "pairs": ["pairs", *LINES, "out/out.tsv"],
    "word2vec": ["export", "avg", "out/out.vec", "--to", "word2vec", "--force"],
    "static-embedding": ["export", "avg", "out/out", "--to", "static-embedding", "--force"],
    "sentence-transformers": ["export", "avg", "out/out", "--to", "sentence-transformers", "--force"],
    "compact": ["compact", "charagram", "out/out", "--force", "--max-mb", "0.02"],
    "card": ["card", "avg", "--out", "out/README.md", "--force"],
    "train": ["train", "--corpus", "pairs.csv", "--out", "out/out", *(f"-S{setting}" for setting in SETTINGS)],
}
EARLIER = {"out/out.npy", "out/out.vec", "out/README.md"}  # outputs of which an earlier version is there


@pytest.fixture(scope="module")
def inputs(tmp_path_factory) -> Path:
    """Return a folder with models, lines and pairs, and with outputs of earlier commands."""
    folder = tmp_path_factory.mktemp("commands") / FOLDER
    save_encoder(folder / "avg", "avg", WORD)
    save_encoder(folder / "charagram", "charagram", CHARAGRAM)
    lines = [*SENTENCES.to_pylist(), *TOKENS] * 20
    (folder / "lines.txt").write_text("\n".join(line.replace("\n", " ").replace("\0", " ") for line in lines))
    rows = (f"{left},{right}\n" for left, right in zip(SENTENCES.to_pylist(), SENTENCES.to_pylist()[1:], strict=False))
    (folder / "pairs.csv").write_text("text1,text2\n" + "".join(rows))
    (folder / "out").mkdir()
    for name in EARLIER:
        (folder / name).write_text("earlier")
    return folder


def place(name: str) -> str:
    """Return the output of a command."""
    return next((word for word in COMMANDS[name] if word.startswith("out/")), "out/none")


@pytest.mark.parametrize("name", COMMANDS)
def test_killed_commands(tries, inputs, tmp_path, name):
    command, out = COMMANDS[name], place(name)
    unbroken = copy_of(inputs, tmp_path / "unbroken")
    seconds = succeeds(start_command(unbroken, *command), unbroken)
    expected, count = content_of(unbroken), changes(unbroken)
    generator, kills, refused = tries.generator([*COMMANDS].index(name)), 0, 0
    troubles = [Limits()] * tries.count(1)  # killed after some time
    if count:
        troubles += [Limits(changes=generator.randrange(count)) for _ in range(tries.count(1))]
        troubles += [Limits(file_size=1000)]  # all outputs are larger
    for number, limits in enumerate(troubles):
        folder = copy_of(inputs, tmp_path / str(number))
        process = start_command(folder, *command, limits=limits)
        if limits.file_size:
            process.join()
            assert process.exitcode == 1, printed(folder)
            refusal(folder)
            refused += 1
        else:
            kills += is_killed(process, folder, generator.uniform(0, seconds) if limits == Limits() else None)
        assert shown(folder, out) in ({}, shown(unbroken, out), shown(inputs, out))
        succeeds(start_command(folder, *command), folder)
        assert content_of(folder) == expected
        shutil.rmtree(folder)
    tries.report(changes=count, kills=kills, refused=refused, tracebacks=0, wrong_bytes=0)


def copy_of(inputs: Path, folder: Path) -> Path:
    """Copy the inputs below a folder."""
    shutil.copytree(inputs, folder / FOLDER)
    return folder / FOLDER


def shown(folder: Path, out: str) -> dict[str, bytes]:
    """Return the output of a command, whose name is `out` or begins so."""
    return content_of(folder, out)
