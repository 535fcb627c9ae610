"""Labels in files of the user."""

import pytest

from paraphrastic.base.errors import DataError
from paraphrastic.readers.own_data import check_files
from paraphrastic.sources.catalogue import corpus, suite
from tests.readers.test_own_data import file_of, set_of

SCORED, LABELLED = "text1,text2,score\na,b,1\n", "text1,text2,label\na,b,yes\nc,d,no\n"
BOTH = "text1,text2,score,gold\na,b,1,yes\nc,d,2,no\n"


@pytest.mark.parametrize(
    ("read", "text"),
    [
        (corpus, "text1,text2\na,b\n"),
        (corpus, SCORED),
        (suite, SCORED),
        (suite, "text1,text2,score,label\na,b,1,yes\n"),
    ],
)
def test_positive_labels_of_a_file_whose_labels_are_not_read(tmp_path, read, text):
    own = file_of(tmp_path, text, positive=["yes"])
    sources = read([own.model_dump(exclude_none=True)])
    with pytest.raises(DataError) as error:
        check_files(getattr(sources, "sources", sources), limits_scores="score" in text)
    remedy = "name their column as `columns: {label: NAME}`, or leave it out"
    assert str(error.value) == f"{own.path}: `positive` lists labels, but none are read here; {remedy}"


def test_positive_labels_of_one_file_in_a_folder(tmp_path):
    for name, text in (("a", SCORED), ("b", LABELLED)):
        (tmp_path / f"{name}.csv").write_text(text)
    entry = {"path": str(tmp_path), "positive": ["yes"]}
    check_files(suite([entry]).sources)
    (tmp_path / "b.csv").write_text(SCORED)
    with pytest.raises(DataError, match=r"/a\.csv: `positive` lists labels, but none are read here"):
        check_files(suite([entry]).sources)


def test_labels_that_are_named_beside_scores_that_are_not(tmp_path):
    kind, rows, bad = set_of(file_of(tmp_path, BOTH, positive=["yes"], columns={"label": "gold"}))
    assert (kind, [row[-1] for row in rows], bad) == ("labelled_pairs", [1, 0], [])
