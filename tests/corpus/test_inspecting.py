"""Texts of a user's file, and which of them evaluation sets have."""

from paraphrastic.corpus.inspecting import SharedTexts, inspect, overlaps
from paraphrastic.readers import own_tables, sample


def test_texts_of_all_parts_which_one_array_might_not_hold(tmp_path, monkeypatch):
    monkeypatch.setattr(own_tables, "PART", 1)
    evaluated = sample.table("similarity")[0:1].to_pylist()[0]
    pairs = [("A b!", "c"), ("c", evaluated["text1"]), ("a B", "d")]
    path = tmp_path / "mine.tsv"
    path.write_text("text1\ttext2\n" + "".join(f"{text1}\t{text2}\n" for text1, text2 in pairs))
    ((_, (use,)),) = inspect(str(path))
    texts = [chunk.to_pylist() for chunk in use.texts.chunks if len(chunk)]
    assert texts == [["a b"], ["c"], [evaluated["text1"].lower().removesuffix(".")], ["d"]]
    assert overlaps(use.texts, "sample") == [SharedTexts(evaluated["set"], exact=1, near=0)]
