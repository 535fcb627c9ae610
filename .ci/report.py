"""Print in Markdown how a branch changes parameters and metrics: `python .ci/report.py [--base REV]`.

The base package and DVC are needed, and SciPy to use scores.
"""

import argparse
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))

from paraphrastic.analysis.comparison.branch import branch_report
from paraphrastic.base.errors import ParaphrasticError

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Compare params and metrics with the merge base of HEAD and REV.")
    parser.add_argument("--base", metavar="REV", default="origin/main", help="default: origin/main")
    parser.add_argument(
        "--scores", metavar="FILE", nargs=2, type=Path, default=(), help="of both; default: DVC's cache"
    )
    arguments = parser.parse_args()
    sys.stdout.reconfigure(encoding="utf-8", errors="replace")  # what the terminal or a file here takes does not count
    try:
        print(branch_report(arguments.base, arguments.scores), flush=True)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # Python flushes standard output when it exits
    except (ParaphrasticError, OSError) as error:
        sys.exit(f"error: {' '.join(str(error).split())}")
    except ImportError as error:
        sys.exit(f"error: {error}; install the package: pip install .")
