"""A working directory with files of a user, on which `paraphrastic.train` trains within a second."""

import csv
import random

WORDS = [f"{a}{b}" for a in "bdfgklmnprst" for b in ("a", "en", "ig", "or", "um")]
SMALL = {"models.yaml:avg.dim": 8, "models.yaml:avg.epochs": 2}


def working_folder(path, monkeypatch):
    """Return `path`, from now on the working directory, with 300 training pairs and a set of similarity."""
    monkeypatch.chdir(path)
    monkeypatch.setenv("PARAPHRASTIC_CACHE", str(path / "cache"))
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    generator = random.Random(1)
    rows = [[" ".join(generator.choices(WORDS, k=6)) for _ in range(2)] for _ in range(300)]
    write(path / "pairs.csv", ["text1", "text2"], rows)
    write(path / "set.csv", ["text1", "text2", "score"], [[*row, i] for i, row in enumerate(rows[:3])])
    return path


def write(path, header, rows):
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([header, *rows])


def weights(model):
    return model.encode([" ".join(WORDS), "ba ben"], show_progress_bar=False)
