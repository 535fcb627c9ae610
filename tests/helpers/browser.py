"""Open a page in a headless browser and return what `page_checks.js` finds wrong with it."""

import html
import json
import re
import shutil
import subprocess
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
CHECKS = Path(__file__).with_name("page_checks.js")
# a window has at least 500 pixels, a frame has any width; its page is dark if the one around it may be
FRAME = """<!DOCTYPE html><meta name="color-scheme" content="light dark"><pre id="findings"></pre>
<script>addEventListener("message", event => document.getElementById("findings").append(event.data));</script>
<iframe src="page.html" width="%d" height="1000" style="border: 0"></iframe>"""
_QUIET = "--no-first-run --disable-background-networking --disable-component-update --disable-sync --hide-scrollbars"


def find_browser() -> str | None:
    """Return the path of Chromium or Chrome; None if there is none."""
    return next(filter(None, map(shutil.which, NAMES)), None)


def check_page(text: str, folder: Path, width: int = 1400, dark: bool = False) -> list[str]:
    """Return the findings of the checks, none for a good page.

    Args:
        text: the page.
        folder: for the page and the profile of the browser; new and empty.
        width: of the page, in pixels.
        dark: whether the person prefers dark pages.
    """
    browser = find_browser()
    assert browser is not None
    script = f"<script>\n{CHECKS.read_text(encoding='utf-8')}</script>\n"
    (folder / "page.html").write_text(text.replace("<title>", f"{script}<title>", 1), encoding="utf-8")
    (folder / "frame.html").write_text(FRAME % width, encoding="utf-8")
    scheme = f"--blink-settings=preferredColorScheme={0 if dark else 1}"
    command = [browser, "--headless", "--no-sandbox", "--disable-gpu", *_QUIET.split(), scheme]
    command += [f"--user-data-dir={folder / 'profile'}", "--window-size=1500,1000", "--virtual-time-budget=5000"]
    done = subprocess.run(
        [*command, "--dump-dom", (folder / "frame.html").as_uri()], capture_output=True, text=True, timeout=120
    )
    found = re.search(r'<pre id="findings">(.+?)</pre>', done.stdout, re.S)
    assert found, done.stderr[-2000:]
    report = json.loads(html.unescape(found[1]))
    assert (report["width"], report["dark"]) == (width, dark), report
    return list(report["findings"])
