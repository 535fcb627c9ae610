"""Show the progress of downloads and the licences of sources on the terminal."""

from rich.progress import Progress

from paraphrastic.sources.http_download import OnDownload
from paraphrastic.sources.source import File, Source


def progress_callback(bar: Progress, files: int) -> OnDownload:
    """Return a callback for `fetch` that shows the number of complete files and of received bytes.

    Args:
        bar: the display to which a task is added.
        files: total number of files.
    """
    task = bar.add_task("download", total=files)
    received: dict[File, int] = {}
    complete: set[File] = set()

    def on_progress(file: File, size: int, total: int | None) -> None:
        received[file] = size
        if size == total:
            complete.add(file)
        bar.update(task, completed=len(complete), description=f"download {sum(received.values()) / 1e6:.0f} MB")

    return on_progress


def licence_line(source: Source) -> str:
    """Return one line with name, title and licence of a source."""
    return f"{source.name}: {source.title}. Licence: {source.licence}"
