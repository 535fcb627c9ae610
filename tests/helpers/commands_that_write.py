"""Commands that write files, in a folder of an odd name with models, lines and pairs."""

import shutil
from pathlib import Path

from tests.helpers.toy_training import WORDS

_OF_AVG = ("dim=8", "epochs=3", "batch_size=10")
_SETTINGS = [*(f"models.yaml:avg.{setting}" for setting in _OF_AVG), "vocabulary.min_count=1"]
_LINES = ["lines.txt", "--model", "avg", "--out"]
COMMANDS = {
    "npy": ["embed", "--model", "avg", "lines.txt", "--out", "out/out.npy"],
    "parquet": ["embed", "--model", "charagram", "lines.txt", "--out", "out/out.parquet"],
    "jsonl": ["embed", "--model", "avg", "lines.txt", "--out", "out/out.jsonl"],
    "search": ["search", "lines.txt", WORDS[0], "--model", "avg"],  # writes nothing
    "dedup": ["dedup", *_LINES, "out/out.txt"],
    "pairs": ["pairs", *_LINES, "out/out.tsv"],
    "word2vec": ["export", "avg", "out/out.vec", "--to", "word2vec", "--force"],
    "static-embedding": ["export", "avg", "out/out", "--to", "static-embedding", "--force"],
    "sentence-transformers": ["export", "avg", "out/out", "--to", "sentence-transformers", "--force"],
    "merge": ["merge", "avg", "avg", "--out", "out/out", "--force"],
    "compact": ["compact", "charagram", "out/out", "--force", "--max-mb", "0.02"],
    "card": ["card", "avg", "--out", "out/README.md", "--force"],
    "train": ["train", "--corpus", "pairs.csv", "--out", "out/out", *(f"-S{setting}" for setting in _SETTINGS)],
}
EARLIER = ("out.npy", "out.vec", "README.md")  # outputs of which an earlier version is there


def copy_inputs(inputs: Path, folder: Path) -> Path:
    """Copy what the commands read, with the earlier outputs, to a folder of an odd name below `folder`."""
    return shutil.copytree(inputs, folder / "a b'c\"d é 日本")


def place(name: str) -> str:
    """Return the output of a command."""
    return next((word for word in COMMANDS[name] if word.startswith("out/")), "out/none")
