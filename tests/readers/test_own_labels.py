"""Labels in files of the user."""

import pytest

from paraphrastic.base.errors import DataError
from tests.readers.test_own_data import file_of, pairs_of, set_of


@pytest.mark.parametrize(
    ("read_all", "text", "remedy"),
    [
        (pairs_of, "text1,text2\na,b\n", ", or name their column as `columns: {label: NAME}`"),
        (pairs_of, "text1,text2,score\na,b,1\n", ", or name their column as `columns: {label: NAME}`"),
        (set_of, "text1,text2,score\na,b,1\n", ""),
        (set_of, "text1,text2,score,label\na,b,1,yes\n", ""),
    ],
)
def test_positive_labels_of_a_file_whose_labels_are_not_read(tmp_path, read_all, text, remedy):
    with pytest.raises(DataError) as error:
        read_all(file_of(tmp_path, text, positive=["yes"]))
    problem = "`positive` lists labels, but none are read here; leave it out"
    assert str(error.value) == f"{tmp_path}/mine.csv: {problem}{remedy}"
