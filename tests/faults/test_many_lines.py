"""`embed` on many lines: the peak of memory does not grow with their number."""

from pathlib import Path

import numpy as np
import pytest

from tests.helpers.command_line import MAIN
from tests.helpers.encoder_variants import WORD
from tests.helpers.repository import ROOT, isolated_environment, run_python
from tests.helpers.small_models import save_encoder
from tests.helpers.toy_training import SENTENCES, WORDS

pytestmark = [pytest.mark.faults, pytest.mark.slow]

LINES = 200_000  # of the first run: 6 MB, several blocks, after which the peak is steady; 50,000 are 1.5 blocks
TIMES = 10  # as many the second one has; with `--tries 10` 20 million
MEGABYTES = 30  # that the second run may take more
STATUS = Path("/proc/self/status")  # of a process of Linux; what `resource` tells includes the memory of its parent
PEAK = f"""
import atexit, pathlib, re
status = pathlib.Path({str(STATUS)!r})
atexit.register(lambda: pathlib.Path("peak").write_text(re.search(r"VmHWM:\\s+(\\d+) kB", status.read_text())[1]))
"""


def peak(folder: Path, *arguments: str) -> float:
    """Run a command, and return the most memory that its process had, in MB."""
    environment = isolated_environment() | {"PYTHONPATH": str(ROOT / "src"), "OMP_NUM_THREADS": "1"}
    run_python("-c", PEAK + MAIN, *arguments, cwd=folder, env=environment, check=True)
    return int((folder / "peak").read_text()) / 1024


@pytest.mark.skipif(not STATUS.exists(), reason="only Linux tells the peak of a process's memory")
@pytest.mark.parametrize("ending", ["npy", "parquet"])
def test_memory_of_embed(tries, tmp_path, ending):
    if ending != "npy" and tries.factor <= 1:
        pytest.skip("with --tries 2")
    save_encoder(tmp_path / "avg", "avg", WORD)
    texts = [f"{text} {word}\n" for text, word in zip(SENTENCES.to_pylist(), WORDS, strict=True)]
    counts = LINES, TIMES * tries.count(LINES)
    for count in counts:
        with (tmp_path / f"{count}.txt").open("w") as file:
            file.writelines(texts[number % len(texts)] for number in range(count))
    few, many = (
        peak(tmp_path, "embed", "--model", "avg", f"{count}.txt", "--out", f"{count}.{ending}") for count in counts
    )
    if ending == "npy":
        vectors = np.load(tmp_path / f"{counts[1]}.npy", mmap_mode="r")
        assert len(vectors) == counts[1]
        assert np.array_equal(vectors[: len(texts)], vectors[-len(texts) :])
    tries.report(lines=counts[1], megabytes=round(many), more_than_of_few_lines=round(many - few))
    assert many - few < MEGABYTES
