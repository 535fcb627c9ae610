"""DVC's plots of one or several revisions as one HTML file with pictures, which fetches nothing when it is opened."""

from collections.abc import Sequence
from html import escape

from paraphrastic.analysis.comparison.repository import DVC, dvc, project_root
from paraphrastic.base.errors import DataError
from paraphrastic.base.reading import parse_json

_PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>{title}</title>
<style>
body {{ background: #fff; color: #222; font: 16px/1.5 sans-serif; margin: 2rem auto; max-width: 60rem }}
figure {{ margin: 0 0 2rem; overflow-x: auto }}
</style>
<h1>{title}</h1>
{figures}
</html>
"""


def plots_page(revisions: Sequence[str]) -> str:
    """Return a page with the plots that dvc.yaml declares.

    Args:
        revisions: experiments, branches, commits or `workspace`; the workspace alone if there are none.

    Raises:
        ParameterError: DVC refuses the revisions, or this is not a DVC repository.
        DataError: the revisions have no plots.
    """
    import vl_convert

    title = f"Plots: {', '.join(revisions) or 'workspace'}"
    stdout, _ = dvc(project_root(), [*DVC, "plots", *(["diff", *revisions] if revisions else ["show"]), "--json"])
    figures = [
        f'<figure role="img" aria-label="{escape(name)}">{vl_convert.vegalite_to_svg(drawing["content"])}</figure>'
        for name, drawings in parse_json(stdout).get("data", {}).items()
        for drawing in drawings
        if drawing["type"] == "vega"
    ]
    if not figures:
        raise DataError(f"{title}: no data; run `dvc repro` in a clone first")
    return _PAGE.format(title=escape(title), figures="\n".join(figures))
