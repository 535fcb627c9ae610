"""Run the blocks of a page and compare their output with the page: `python .ci/outputs.py PAGE [LANGUAGE ...]`.

Runs all blocks of the languages (sh and python, if none is named) from top to bottom. Commands that begin with `pip`
are left out. A block of the language `text` contains lines that the blocks before it must have printed, up to white
space; numbers may differ slightly, because rounding differs between machines. Prints the lines that they did not
print, and exits with status 1 if there is one.
"""

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
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    print(done.stdout, end="", flush=True)
    done.check_returncode()
    return done.stdout


def matches(line: str, printed: str) -> bool:
    """Return whether both lines have the same words, and numbers that differ by at most 0.5, or 0.05 below 1."""
    if NUMBER.sub("0", line).split() != NUMBER.sub("0", printed).split():
        return False
    numbers = zip(NUMBER.findall(line), NUMBER.findall(printed), strict=True)
    return all(abs(float(a) - float(b)) <= (0.5 if abs(float(a)) >= 1 else 0.05) for a, b in numbers)


def main(page: str, *languages: str) -> int:
    """Run the blocks, print the lines that their output lacks, and return the exit status."""
    printed, missing = list[str](), list[str]()
    for language, text in BLOCK.findall(Path(page).read_text(encoding="utf-8")):
        if language in (languages or ("sh", "python")):
            printed += run(language, text).splitlines()
        elif language == "text":
            missing += [line for line in text.splitlines() if not any(matches(line, other) for other in printed)]
    for line in missing:
        print(f"{page}: not printed: {line}")
    return int(bool(missing))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
