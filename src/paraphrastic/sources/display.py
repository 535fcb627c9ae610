"""Downloads as a person sees them."""

from rich.progress import Progress

from paraphrastic.sources.catalogue import File, Source
from paraphrastic.sources.fetching import Progress as Report


def progress_callback(bar: Progress, files: int) -> Report:
    """A report for `fetch` that shows on `bar` how many of `files` are there and how many bytes have arrived."""
    task = bar.add_task("download", total=files)
    arrived: dict[File, int] = {}
    whole: set[File] = set()

    def report(file: File, done: int, total: int | None) -> None:
        arrived[file] = done
        if done == total:
            whole.add(file)
        bar.update(task, completed=len(whole), description=f"download {sum(arrived.values()) / 1e6:.0f} MB")

    return report


def licence_line(source: Source) -> str:
    """One line that says what `source` is and under which licence."""
    return f"{source.name}: {source.title}. Licence: {source.licence}"
