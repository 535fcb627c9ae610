"""The table and the picture of encoders, and what the command that measures them does with stored figures."""

import json
import re

import pytest
from typer.testing import CliRunner

from docs import encoders

SETS = ["STS12", "STS13", "STS14", "STS15", "STS16", "SICK-R"]
MTEB = {name: 70.0 + n for n, name in enumerate(SETS)}
SPEEDS = {"sentences per second": 41_058, "milliseconds": 0.0312}
MEASURED = {"data": "CC BY", "mteb": MTEB | {"mean": 72.5, "sets": 6}, "megabytes": 9.99, **SPEEDS}
ROWS = [
    {"label": "small", "ours": True, "readme": True, **MEASURED, "features": dict.fromkeys("ABCDEFGH", 80.0)},
    {"label": "sister", "ours": True, "data": "CC BY", "place": "left", **MEASURED, "megabytes": 231.4},
    {
        "label": "published",
        "readme": True,
        "data": "none",
        "published": "their page",
        "mteb": {"STS12": 60.0, "STS13": 71},
    },
]


@pytest.fixture
def stored(tmp_path, monkeypatch):
    """A file of three encoders in place of docs/encoders.json."""
    path = tmp_path / "encoders.json"
    path.write_text(json.dumps(ROWS))
    monkeypatch.setattr(encoders, "STORED", path)
    return path


def test_table(stored):
    lines = encoders.table().splitlines()[2:]
    assert lines[0] == "| small | CC BY | 72.5 | 80.0 | 41,058 | 0.0312 | 10.0 |"
    assert lines[1] == "| sister | CC BY | 72.5 | – | 41,058 | 0.0312 | 231 |"
    assert lines[2] == "| published \\* | none | 65.5 of 2 | – | – | – | – |"


def test_table_of_the_readme(stored):
    assert [line.split(" | ")[0] for line in encoders.short_table().splitlines()[2:]] == ["| small", "| published \\*"]


def test_description_of_the_picture(stored):
    html = encoders.picture()
    assert "small, 10.0 MB: 72.5, 41,058 sentences/s; sister, 231 MB: 72.5" in html
    assert "published" not in html
    assert set(re.findall(r"encoders-\w+\.svg", html)) == encoders.drawings().keys()


LABEL = re.compile(
    r'text-anchor="(\w+)" transform="translate\(([\d.]+),([\d.]+)\)" font-family="[^"]*" font-size="11px" '
    r'fill="#e6edf3">([^<]+)<'
)


def boxes(svg):
    """Return the text of each label of a point, and its left, top, right and bottom edge, about."""
    width, height = 5.6, 11
    for anchor, x, y, text in LABEL.findall(svg):
        left = float(x) - {"start": 0, "middle": 0.5, "end": 1}[anchor] * width * len(text)
        yield text, left, float(y) - height, left + width * len(text), float(y)


def test_labels_of_the_picture_do_not_overlap():
    found = [box for box in boxes(encoders.drawings()["encoders-dark.svg"]) if not re.fullmatch(r"[\d,.]+", box[0])]
    assert len(found) >= 8
    for n, (text, left, top, right, bottom) in enumerate(found):
        for other, left2, top2, right2, bottom2 in found[:n]:
            assert left >= right2 or left2 >= right or top >= bottom2 or top2 >= bottom, (text, other)


def test_picture_on_a_dark_page_has_no_dark_text():
    light, dark = encoders.drawings().values()
    assert "#1f2328" in light
    assert not re.search(r"#1f2328|fill=\"(black|#000000)\"", dark)
    assert len(dark) < 40_000


def invoke(*arguments):
    return CliRunner().invoke(encoders.app, [str(argument) for argument in arguments])


def test_quality_is_that_of_the_files_and_speeds_are_those_of_one_run(stored, tmp_path, monkeypatch):
    measured = []
    monkeypatch.setattr(encoders, "in_own_process", lambda task, *inputs: task(*inputs))
    monkeypatch.setattr(
        encoders,
        "measure_quality",
        lambda *inputs: measured.append(inputs[1]) or {"mteb": {"STS12": 50.0}, "features": {}},
    )
    monkeypatch.setattr(encoders, "measure_speed", lambda folder, texts: (1000.4, 0.12345))
    monkeypatch.setattr(encoders, "_texts", lambda: ["a"])
    (tmp_path / "model").mkdir()
    for _ in range(2):
        assert invoke(f"sister={tmp_path / 'model'}", "--rounds", 2).exit_code == 0
    small, sister, published = json.loads(stored.read_text())
    assert measured == [["features"]]
    assert (sister["mteb"], sister["sentences per second"], sister["milliseconds"]) == ({"STS12": 50.0}, 1000, 0.123)
    assert sister["data"] == "CC BY"
    assert small == {name: value for name, value in ROWS[0].items() if name not in SPEEDS}
    assert published == ROWS[2]
    (tmp_path / "model/weights.safetensors").write_bytes(b"other")
    assert invoke(f"sister={tmp_path / 'model'}", "--rounds", 0).exit_code == 0
    assert measured[1:] == [["mteb-sts", "features"]]
    assert json.loads(stored.read_text())[1]["sentences per second"] == 1000


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        ("small", "not a label and the folder"),
        ("small=nowhere", "not a label and the folder"),
        ("smal=small", "unknown encoder 'smal': did you mean 'small'?"),
    ],
)
def test_argument_that_names_no_encoder(stored, argument, message):
    done = invoke(argument)
    assert done.exit_code == 1
    assert message in done.stderr
    assert json.loads(stored.read_text()) == ROWS


def test_size_is_that_of_the_files_without_documentation(tmp_path):
    (tmp_path / "1_Pooling").mkdir()
    for name in ("README.md", "model.safetensors", "1_Pooling/config.json"):
        (tmp_path / name).write_bytes(bytes(500_000))
    assert encoders._megabytes(tmp_path) == 1.0
