"""The GitHub workflows of this repository, parsed."""

from typing import Any

from ruamel.yaml import YAML

from tests.helpers.repository import ROOT

FILES = {name: ROOT / f".github/workflows/{name}.yaml" for name in ("ci", "comment", "nightly", "release", "report")}


def load_workflow(name: str) -> dict[str, Any]:
    """Return the content of a workflow."""
    content: dict[str, Any] = YAML(typ="safe").load(FILES[name])
    return content


def steps_of(name: str) -> list[dict[str, Any]]:
    """Return the steps of all jobs of a workflow."""
    return [step for job in load_workflow(name)["jobs"].values() for step in job["steps"]]


def scripts_of(name: str) -> list[str]:
    """Return the shell and JavaScript code of all steps of a workflow."""
    return [code for step in steps_of(name) if (code := step.get("run") or step.get("with", {}).get("script"))]
