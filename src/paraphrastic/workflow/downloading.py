"""Sources → their files in a folder."""

import os
from collections.abc import Sequence
from pathlib import Path

from paraphrastic.base.console import message, progress
from paraphrastic.sources.display import licence_line, progress_callback
from paraphrastic.sources.fetching import fetch
from paraphrastic.sources.locations import cache_folder, how_to_provide, manual_folder
from paraphrastic.sources.source import Source


def download(sources: Sequence[Source], folder: Path, again: str) -> list[Source]:
    """Copy the files of sources to folder/SOURCE/PATH, from PARAPHRASTIC_MIRROR first, and name those left out.

    Args:
        sources: the sources.
        folder: where to.
        again: the command to run after a person has provided the files of a source.

    Returns:
        The sources whose files are there.

    Raises:
        SourceError: a file cannot be fetched, and its source is not optional.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with progress() as bar:
        absent = fetch(
            sources,
            folder,
            mirror=os.environ.get("PARAPHRASTIC_MIRROR"),
            cache=cache_folder(),
            manual=manual_folder(),
            on_progress=progress_callback(bar, len({file for source in sources for file in source.files})),
            on_licence=lambda source: message(licence_line(source)),
            on_failure=lambda source, error: message(f"{source.name} is left out: {error}"),
        )
    for source in (source for source in absent if source.manual):
        message(f"{source.name} is left out: {how_to_provide(source, manual_folder())} and run `{again}`")
    return [source for source in sources if source not in absent]
