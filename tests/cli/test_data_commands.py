"""The commands data list, fetch, check and path."""

from pathlib import Path

import pytest

from tests.helpers.command_line import assert_refused

CHECKED = "source\tfiles\tstate\n"


def test_list_before_and_after_fetch(run):
    assert run("data", "list").stdout.splitlines() == [
        "source\tlicence\tsize\ttitle",
        "texts\tCC0\t\tTexts",
        "licensed\tCC0\t\tTexts",
    ]
    run("data", "fetch", "texts")
    assert run("data", "list").stdout.splitlines()[1] == "texts\tCC0\t0.0 MB\tTexts"
    assert run("data", "fetch", "texts").stderr == "texts: Texts. Licence: CC0\n"


def test_path_before_and_after_fetch(run, tmp_path):
    message = "texts: a.txt is not there; run `paraphrastic data fetch texts`"
    assert_refused(run("data", "path", "texts"), message)
    run("data", "fetch", "texts")
    cached, mirrored = map(Path, run("data", "path", "texts").stdout.splitlines())
    assert cached == tmp_path / "cache/sources/texts/a.txt"
    assert cached.read_bytes() == (tmp_path / "mirror/host/a.txt").read_bytes()
    assert mirrored == tmp_path / "mirror/host/b/c.txt"


def test_check_before_and_after_fetch(run):
    assert run("data", "check").stdout == f"{CHECKED}texts\t1/2\tincomplete\nlicensed\t0/1\tnot fetched\n"
    run("data", "fetch", "texts")
    assert run("data", "check", "texts").stdout == f"{CHECKED}texts\t2/2\tsound\n"


def test_check_and_fetch_after_damage(run, tmp_path):
    run("data", "fetch", "texts")
    file = Path(run("data", "path", "texts").stdout.splitlines()[0])
    file.write_bytes(b"other content")
    damaged = run("data", "check")
    assert_refused(damaged, "damaged: texts; run `paraphrastic data fetch texts`")
    assert damaged.stdout.startswith(f"{CHECKED}texts\t2/2\tdamaged\n")
    assert run("data", "fetch", "texts").exit_code == 0
    assert run("data", "check", "texts").stdout == f"{CHECKED}texts\t2/2\tsound\n"
    assert file.read_bytes() == (tmp_path / "mirror/host/a.txt").read_bytes()


def test_manual_source(run, tmp_path):
    path = tmp_path / "cache/licensed/licensed/d.txt"
    assert_refused(run("data", "fetch", "licensed"), "licensed: needs a licence. Put it at ", str(path))
    message = "licensed: d.txt is not there; needs a licence. Put it at "
    assert_refused(run("data", "path", "licensed"), message, str(path))
    path.parent.mkdir(parents=True)
    path.touch()
    assert run("data", "fetch", "licensed").output == ""
    assert run("data", "path", "licensed").stdout == f"{path}\n"


def test_source_of_the_package(run, monkeypatch):
    monkeypatch.undo()  # use the real catalogue
    assert run("data", "check", "sample").stdout == f"{CHECKED}sample\t0/0\tin the package\n"
    assert_refused(run("data", "path", "sample"), "sample: has no files; its tables are in the package")


@pytest.mark.parametrize("command", ["fetch", "check", "path"])
def test_unknown_source(run, command):
    assert_refused(
        run("data", command, "text"), "unknown source 'text': did you mean 'texts'? `paraphrastic data list` prints all"
    )


@pytest.mark.parametrize("command", [["data", "list"], ["data", "fetch", "texts"]], ids=" ".join)
def test_missing_mirror(run, monkeypatch, command):
    monkeypatch.setenv("PARAPHRASTIC_MIRROR", "absent")
    assert_refused(run(*command), "absent")
