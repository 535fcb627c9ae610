"""Where an export is written: whole or not at all, and over nothing that is not an earlier export."""

from shutil import copytree

import pytest

import paraphrastic
from paraphrastic.base.errors import ModelError, ParameterError
from paraphrastic.export import Format, export
from paraphrastic.export.compact import compact
from paraphrastic.export.merge import merge
from paraphrastic.inference.places import copy_model


def fail(*arguments):
    raise OSError(28, "No space left on device")


def test_folder_after_failed_export(avg, tmp_path, monkeypatch):
    export(avg, tmp_path / "out", Format.STATIC_EMBEDDING)
    before = {file.name: file.read_bytes() for file in (tmp_path / "out").iterdir()}
    monkeypatch.setattr("paraphrastic.export.sentence_transformers.write_arrays", fail)
    for place in ("new", "out"):
        with pytest.raises(OSError, match="No space"):
            export(avg, tmp_path / place, Format.STATIC_EMBEDDING, force=True)
    assert [folder.name for folder in tmp_path.iterdir()] == ["out"]
    assert {file.name: file.read_bytes() for file in (tmp_path / "out").iterdir()} == before


def test_model_that_is_no_longer_there(avg, tmp_path, monkeypatch):
    copy_model(avg.folder, tmp_path / "model")
    copy_model(avg.folder, tmp_path / "backup")
    copy_model(tmp_path / "backup", tmp_path / "backup")  # as a saved encoder of sentence-transformers saves itself
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    model = paraphrastic.load("model")
    monkeypatch.chdir(tmp_path / "elsewhere")
    with pytest.raises(ModelError, match=r"^model: the model is no longer there, seen from .*elsewhere; load"):
        model.save_pretrained(tmp_path / "backup")
    assert paraphrastic.load(tmp_path / "backup").dim == avg.dim


def test_folder_of_others_is_not_replaced(avg, tmp_path):
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis/chapter.txt").write_text("years of work")
    for write in (lambda out: compact(avg, out, "int8"), lambda out: merge([avg], out)):
        with pytest.raises(ParameterError, match=r"thesis: exists and is no model; name another folder"):
            write(tmp_path / "thesis")
    assert (tmp_path / "thesis/chapter.txt").exists()


def test_text_for_a_path_and_unknown_formats(avg, tmp_path):
    export(avg, str(tmp_path / "out"), "model2vec")
    with pytest.raises(ParameterError, match=r"unknown format 'onxx': did you mean 'onnx'\?"):
        export(avg, tmp_path / "other", "onxx")


NOTES = {
    Format.STATIC_EMBEDDING: "a sentence of which nothing is known has the vector of unknown words, not zero",
    Format.MODEL2VEC: "a sentence of which nothing is known has the vector of unknown words, not zero",
    Format.SENTENCE_TRANSFORMERS: "the vectors are those of the model; loading needs paraphrastic, see the "
    "documentation",
    Format.WORD2VEC: "the file does not keep how the model composes word vectors",
}


def test_notes_cards_and_permissions(avg, tmp_path):
    copytree(avg.folder, tmp_path / "with a card")
    (tmp_path / "with a card/README.md").write_text("written by a person")
    described = paraphrastic.load(tmp_path / "with a card")
    for to, note in NOTES.items():
        assert export(avg, tmp_path / to, to) == export(described, tmp_path / f"{to} again", to) == note
        if to != Format.WORD2VEC:
            assert (tmp_path / to / "README.md").read_text().startswith("---\nlicense: ")
            assert (tmp_path / f"{to} again/README.md").read_text() == "written by a person"
    (tmp_path / "other").touch()
    modes = {file.stat().st_mode for file in tmp_path.rglob("*") if file.is_file()}
    assert modes == {(tmp_path / "other").stat().st_mode}


@pytest.mark.parametrize("to", [Format.MODEL2VEC, Format.WORD2VEC])
def test_existing_export(avg, tmp_path, to):
    export(avg, tmp_path / "out", to)
    with pytest.raises(ParameterError, match="out: exists; name another place, or replace it with --force"):
        export(avg, tmp_path / "out", to)
    files = tmp_path / "out" if to is Format.WORD2VEC else tmp_path / "out/model.safetensors"
    content = files.read_bytes()
    files.write_bytes(b"")
    export(avg, tmp_path / "out", to, force=True)
    assert files.read_bytes() == content


def test_text_of_others_and_packed_files(avg, tmp_path):
    (tmp_path / "notes.txt").write_text("2 years of work\n")
    with pytest.raises(ParameterError, match=r"notes\.txt: is no export to word2vec; name another file"):
        export(avg, tmp_path / "notes.txt", Format.WORD2VEC, force=True)
    assert (tmp_path / "notes.txt").read_text() == "2 years of work\n"
    with pytest.raises(ParameterError, match=r"v\.txt\.gz: word2vec is written unpacked; leave out \.gz"):
        export(avg, tmp_path / "v.txt.gz", Format.WORD2VEC)


def test_model_in_a_model(avg):
    with pytest.raises(ParameterError, match=r"smaller/x: is in .*, the folder of a model; name another folder"):
        compact(avg, avg.folder / "smaller/x", "int8")


def test_empty_folder_and_one_that_is_no_export(avg, tmp_path):
    (tmp_path / "out").mkdir()
    export(avg, tmp_path / "out", Format.MODEL2VEC)
    assert (tmp_path / "out/config.json").exists()
    (tmp_path / "out").rename(tmp_path / "thesis.tex")
    with pytest.raises(ParameterError, match=r"has thesis\.tex, which no export to model2vec writes"):
        export(avg, tmp_path, Format.MODEL2VEC, force=True)
    assert (tmp_path / "thesis.tex").exists()


@pytest.mark.parametrize(("to", "kind"), [(Format.WORD2VEC, "file"), (Format.MODEL2VEC, "folder")])
def test_place_of_the_other_kind(avg, tmp_path, to, kind):
    (tmp_path / "file").touch()
    place = tmp_path if kind == "file" else tmp_path / "file"
    with pytest.raises(ParameterError, match=f"{to} writes a {kind}; name another place"):
        export(avg, place, to, force=True)


@pytest.mark.parametrize("place", ["", "..", "weights.safetensors"])
def test_place_of_the_model(avg, place):
    with pytest.raises(ParameterError, match="overlaps the folder of the model"):
        export(avg, avg.folder / place, Format.WORD2VEC, force=True)
    assert (avg.folder / "weights.safetensors").exists()
