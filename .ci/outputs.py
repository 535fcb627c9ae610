"""Run the blocks of a page and compare their output with the page: `python .ci/outputs.py PAGE [LANGUAGE ...]`.

Runs all blocks of the languages (sh and python, if none is named) from top to bottom. Commands that begin with `pip`
are left out. A block of the language `text` contains lines that the blocks before it must have printed, up to white
space; numbers may differ slightly, because rounding differs between machines. Prints the lines that they did not
print, and exits with status 1 if there is one.
"""

import argparse
import os
import re
import subprocess
import sys
from pathlib import Path

BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.M | re.S)
NUMBER = re.compile(r"[+-]?\d+(?:\.\d+)?")


def run(language: str, text: str) -> str:
    """Run a block, and return what its commands print; stages print metrics to standard error."""
    if language == "python":
        command = [sys.executable, "-c", text]
    else:
        command = ["bash", "-euxo", "pipefail", "-c", re.sub(r"^pip .*?(&& |$)", "", text, flags=re.M)]
    environment = {**os.environ, "PYTHONUTF8": "1"}
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment)
    printed = done.stdout.decode("utf-8", errors="replace")
    print(printed, end="", flush=True)
    if done.returncode:
        sys.exit(f"error: a block of {language} ended with status {done.returncode}: {text.splitlines()[0]}")
    return printed


def matches(line: str, printed: str) -> bool:
    """Return whether both lines have the same words, and numbers that differ by at most 0.5, or 0.05 below 1."""
    if NUMBER.sub("0", line).split() != NUMBER.sub("0", printed).split():
        return False
    numbers = zip(NUMBER.findall(line), NUMBER.findall(printed), strict=True)
    return all(abs(float(a) - float(b)) <= (0.5 if abs(float(a)) >= 1 else 0.05) for a, b in numbers)


def blocks(page: str) -> list[tuple[str, str]]:
    """Return the language and the text of each block of a page; exit with one line if it cannot be read."""
    try:
        return BLOCK.findall(Path(page).read_text(encoding="utf-8"))
    except OSError as error:
        sys.exit(f"error: {page}: {error.strerror}")
    except UnicodeDecodeError:
        sys.exit(f"error: {page}: not UTF-8; save it as UTF-8")


def main() -> int:
    """Run the blocks, print the lines that their output lacks, and return the exit status."""
    parser = argparse.ArgumentParser(description="Run the blocks of a page and compare their output with the page.")
    parser.add_argument("page")
    parser.add_argument("languages", nargs="*", metavar="LANGUAGE")
    arguments = parser.parse_args()
    page, languages = arguments.page, arguments.languages
    sys.stdout.reconfigure(encoding="utf-8", errors="replace")
    printed, missing = list[str](), list[str]()
    for language, text in blocks(page):
        if language in (languages or ("sh", "python")):
            printed += run(language, text).splitlines()
        elif language == "text":
            missing += [line for line in text.splitlines() if not any(matches(line, other) for other in printed)]
    for line in missing:
        print(f"{page}: not printed: {line}")
    return int(bool(missing))


if __name__ == "__main__":
    sys.exit(main())
