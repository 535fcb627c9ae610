"""Progress and licences as the terminal shows them."""

from rich.progress import Progress

from paraphrastic.sources.display import licence_line, progress_callback
from paraphrastic.sources.source import File
from tests.helpers.faulty_server import make_source


def test_progress_of_two_files():
    first, second = (File(path, f"http://host/{path}", None) for path in ("a", "b"))
    bar = Progress(disable=True)
    on_progress = progress_callback(bar, 2)
    states = []
    for call in [(first, 2_000_000, None), (second, 1_000_000, 9_000_000), (first, 4_000_000, 4_000_000)]:
        on_progress(*call)
        states.append((bar.tasks[0].completed, bar.tasks[0].total, bar.tasks[0].description))
    assert states == [(0, 2, "download 2 MB"), (0, 2, "download 3 MB"), (1, 2, "download 5 MB")]


def test_licence_line():
    assert licence_line(make_source([])) == "texts: Texts. Licence: CC0"
