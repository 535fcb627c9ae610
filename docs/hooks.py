"""What `mkdocs build` adds to the pages: the style and the script of the papers' tables, from the package."""

from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

PAGE = Path(__file__).parents[1] / "src/paraphrastic/papers/page"


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the files, which `extra_css` and `extra_javascript` of mkdocs.yml name."""
    for name in ("tables.css", "tables.js"):
        files.append(File.generated(config, f"papers/{name}", abs_src_path=str(PAGE / name)))
    return files
