"""Print in Markdown how a branch changes parameters and metrics: `python .ci/report.py [--base REV]`.

No package but DVC is needed.
"""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))

from paraphrastic.analysis.comparison.branch import branch_report
from paraphrastic.base.errors import ParaphrasticError

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Compare params and metrics with the merge base of HEAD and REV.")
    parser.add_argument("--base", metavar="REV", default="origin/main", help="default: origin/main")
    try:
        print(branch_report(parser.parse_args().base))
    except ParaphrasticError as error:
        sys.exit(f"error: {' '.join(str(error).split())}")
