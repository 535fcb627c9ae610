"""Run a stage as a command."""

import sys
from argparse import ArgumentParser
from collections.abc import Callable
from inspect import signature
from pathlib import Path

from paraphrastic.base.console import prepare_process, report_errors

CHECKPOINTS = Path(".checkpoints")


def run(main: Callable[..., None]) -> None:
    """Run a stage as a command with the parameters of `main`; errors of input and system are reported as one line."""
    parser = ArgumentParser(description=main.__doc__)
    for name in signature(main).parameters:
        parser.add_argument(name)
    prepare_process()
    if "pyarrow" in sys.modules:  # stages that only fetch or check files start without
        from paraphrastic.base.parallel import skip_slow_imports

        skip_slow_imports()
    with report_errors("interrupted; run the same command again to continue"):
        main(**vars(parser.parse_args()))
