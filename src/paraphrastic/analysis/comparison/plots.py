"""DVC's plots of one or several revisions as one HTML file with pictures, which fetches nothing when it is opened."""

import json
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from paraphrastic.analysis.comparison.repository import DVC, dvc, project_root
from paraphrastic.base.errors import DataError
from paraphrastic.base.reading import parse_json

_PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>{title}</title>
<style>
body {{ background: #fff; color: #222; font: 16px/1.5 sans-serif; margin: 1rem; overflow-wrap: anywhere }}
main {{ display: grid; gap: 2rem; grid-template-columns: repeat(auto-fill, minmax(min(100%, 25rem), 1fr)) }}
figure {{ margin: 0; padding: 0 1rem }}
svg {{ height: auto; overflow: visible; width: 100% }}
</style>
<h1>{title}</h1>
<main>
{figures}
</main>
</html>
"""


# plots are narrow: the title is a caption, and the legend is below, with a line for each name
_AXIS = {"labelLimit": 0, "labelSeparation": 8}
_LEGEND = {"orient": "bottom", "columns": 1, "labelLimit": 0, "title": None, "symbolOpacity": 1}
_LAYOUT = {"title": None, "width": 300, "config": {"axis": _AXIS, "legend": _LEGEND}}


def plots_page(revisions: Sequence[str], names: Mapping[str, str]) -> str:
    """Return a page with the plots that dvc.yaml declares.

    Args:
        revisions: experiments, branches, commits or `workspace`; the workspace alone if there are none.
        names: names of revisions in place of their own. Those with one name are drawn as their mean, with a band or
            bars of one standard deviation if the plot has the template `curve` or `bars`.

    Raises:
        ParameterError: DVC refuses the revisions, or this is not a DVC repository.
        DataError: the revisions have no plots.
    """
    title = f"Plots: {', '.join(dict.fromkeys(names.get(each, each) for each in revisions)) or 'workspace'}"
    content, _ = dvc(project_root(), [*DVC, "plots", *(["diff", *revisions] if revisions else ["show"]), "--json"])
    for revision, name in names.items():
        content = content.replace(json.dumps(revision), json.dumps(name))
    figures = [
        _figure(name, drawing["content"])
        for name, drawings in parse_json(content).get("data", {}).items()
        for drawing in drawings
        if drawing["type"] == "vega"
    ]
    if not figures:
        raise DataError(f"{title}: no data; run `dvc repro` in a clone first")
    return _PAGE.format(title=escape(title), figures="\n".join(figures))


def _figure(name: str, plot: dict[str, Any]) -> str:
    import vl_convert

    title = plot.get("title") or name
    caption = escape(title["text"] if isinstance(title, dict) else title)
    picture = vl_convert.vegalite_to_svg(plot | _LAYOUT)
    return f'<figure role="img" aria-label="{escape(name)}"><figcaption>{caption}</figcaption>{picture}</figure>'
