"""The command `paraphrastic` and its exit statuses."""

from typing import Annotated, Any

from typer import BadParameter, Exit, Option, Typer, echo
from typer.core import TyperGroup

import paraphrastic
from paraphrastic.base.console import prepare_process, report_errors
from paraphrastic.base.errors import ParameterError, missing
from paraphrastic.cli import (
    data_commands,
    encoder_commands,
    mining_commands,
    model_commands,
    papers_commands,
    results_commands,
)


class _Commands(TyperGroup):
    """Commands whose errors are reported as one line."""

    def make_context(self, *arguments: Any, **options: Any) -> Any:
        """Read the arguments, which can print help."""
        with report_errors("interrupted"):
            return super().make_context(*arguments, **options)

    def invoke(self, ctx: Any) -> Any:
        with report_errors("interrupted"):
            try:
                return super().invoke(ctx)
            except ModuleNotFoundError as error:
                if error.name is None or error.name.startswith("paraphrastic"):
                    raise
                raise ParameterError(f"this command needs the package {missing(error.name, 'pipeline')}") from error
            except BadParameter as error:  # without what pydantic, with which typer reads arguments, puts first
                error.message = error.message.removeprefix("Value error, ")
                raise

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the text, which names the options, and the commands, which then fit on a screen of 24 lines."""
        self.format_help_text(ctx, formatter)
        self.format_commands(ctx, formatter)


app = Typer(
    cls=_Commands, pretty_exceptions_enable=False, add_completion=False, rich_markup_mode=None, no_args_is_help=True
)
for _command in (
    *(model_commands.embed, model_commands.similarity, model_commands.neighbors, model_commands.explain),
    *(mining_commands.search, mining_commands.dedup, mining_commands.pairs),
    *(encoder_commands.train, encoder_commands.evaluate),
    *(results_commands.experiments, results_commands.compare, results_commands.analyze, results_commands.plots),
    *(model_commands.merge, model_commands.compact, model_commands.export, model_commands.card, model_commands.info),
):
    app.command()(_command)
app.add_typer(data_commands.data, name="data")
app.add_typer(papers_commands.papers, name="papers")

_EXAMPLES = """
embed lines.txt --out vectors.npy
similarity pairs.tsv
neighbors dog -k 5
explain 'A dog runs.' 'A dog is running.'
search lines.txt 'A dog runs fast.' -k 3
dedup lines.txt --threshold 0.9 --out kept.txt
pairs lines.txt --threshold 0.8 --out pairs.tsv
train --corpus pairs.csv --out my-encoder
evaluate data/model my-sets/ open
experiments --by words.simlex
compare averages ngrams
analyze length
plots averages ngrams --out plots.html
merge seed1 seed2 --out merged
compact data/model int8-model --table int8
export data/model vectors.txt --to word2vec
card data/model --out README.md
info data/model
data list
data fetch open
data check sick
data path sick
data inspect pairs.csv
papers list --data paper
papers run acl2017-t1 --jobs 2
papers report acl2017-t1
papers claims
"""  # one of each command

for _prefix, _commands in (("", app), ("data ", data_commands.data), ("papers ", papers_commands.papers)):
    for _info in _commands.registered_commands:
        _name = f"{_prefix}{_info.name or getattr(_info.callback, '__name__', None)}"
        _example = next(line for line in _EXAMPLES.splitlines() if f"{line} ".startswith(f"{_name} "))
        _info.epilog = f"Example: paraphrastic {_example}"


def _print_version(wanted: bool) -> None:
    if wanted:
        echo(f"paraphrastic {paraphrastic.__version__}")
        raise Exit


@app.callback()
def _about(
    version: Annotated[
        bool, Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Sentence encoders. MODEL is a folder. Options: --version, COMMAND --help."""


def main() -> None:
    """Run the command: exit status 0, 1 for refused input, 2 for wrong usage, 130 after an interrupt.

    It is 141 if nobody reads the output any more, and 3 or 4 for what `compare --decide` finds.
    """
    prepare_process()
    app(prog_name="paraphrastic")
