"""Artifacts that do not belong together."""

import pytest

from paraphrastic.base.errors import DataError
from tests.helpers.run_artifacts import write_run


def test_scores_of_other_benchmarks(tmp_path):
    write_run(tmp_path, ["a b", "a c", "d"], [("sts.2012.MSRpar", "test", 0, 2, 1.0)])
    earlier = (tmp_path / "scores.parquet").read_bytes()
    artifacts = write_run(tmp_path, ["a b", "a c"], [("sts.2012.MSRpar", "test", 0, 1, 1.0)])
    (tmp_path / "scores.parquet").write_bytes(earlier)
    with pytest.raises(DataError, match=r"scores\.parquet: scores of other benchmarks; run `dvc repro evaluate`$"):
        _ = artifacts.scores
