"""The stages of dvc.yaml, one script each: paths, parameters, progress and files."""

import sys
from pathlib import Path

# DVC runs queued experiments in a copy of the repository; its src/ must take precedence over an installed package.
sys.path.insert(0, str(Path(__file__).parents[1] / "src"))
