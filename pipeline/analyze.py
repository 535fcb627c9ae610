"""Stage `analyze`: scores, model and benchmarks of a run → metrics/analysis/NAME.csv."""

from pathlib import Path

from paraphrastic.analysis import analysis, names
from paraphrastic.analysis.artifacts import Artifacts
from paraphrastic.base.errors import ParameterError, unknown_name
from paraphrastic.base.files import write_csv
from paraphrastic.base.parameters import FILES, Name, Section, checked, load_params, read_mapping
from pipeline.stage import run

DATA, TABLES = Path("data"), Path("metrics/analysis")


class Analyses(Section):
    """Content of analyze/params.yaml."""

    analyses: list[Name]


def main(name: str) -> None:
    """Write the table of one analysis, an entry of `analyses` in analyze/params.yaml."""
    params = load_params()
    for each in checked(Analyses, read_mapping(Path(FILES["analyses"])), "analyses").analyses:
        if each not in names():
            raise ParameterError(f"{FILES['analyses']}: analyses: {unknown_name('analysis', each, names())}")
    write_csv(analysis(name)(Artifacts(DATA, params.train.device)), TABLES / f"{name}.csv")


if __name__ == "__main__":
    run(main)
