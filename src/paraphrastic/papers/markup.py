"""Elements of HTML and SVG as text."""

import re
from html import escape

_CODE = re.compile(r"`([^`]+)`")


def element(name: str, content: str = "", /, **attributes: object) -> str:
    """Return an element.

    Args:
        name: of the element.
        content: HTML or SVG.
        attributes: escaped here; `_` in a name stands for `-`, at its end for nothing. An attribute that is "" or None
            is left out, one that is True has no value.
    """
    shown = {key.rstrip("_").replace("_", "-"): value for key, value in attributes.items() if value not in ("", None)}
    texts = (f" {key}" if value is True else f' {key}="{_attribute(value)}"' for key, value in shown.items())
    return f"<{name}{''.join(texts)}>{content}</{name}>"


def with_code(text: str) -> str:
    """Return plain text as HTML; what stands between backticks is code."""
    return _CODE.sub(r"<code>\1</code>", escape(text, quote=False))


def _attribute(value: object) -> str:
    return f"{value:.1f}".removesuffix(".0") if isinstance(value, float) else escape(str(value))
