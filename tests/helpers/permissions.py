"""Take the permission to write from files and folders, and give it back."""

from pathlib import Path


def protect(path: Path) -> None:
    """Let nobody write a file, or a folder and all below it."""
    for each in (*path.rglob("*"), path):
        each.chmod(each.stat().st_mode & ~0o222)


def permit(path: Path) -> None:
    """Let the owner read and write a folder and all below it."""
    path.chmod(0o700)
    for each in path.iterdir():
        if each.is_dir():
            permit(each)
        else:
            each.chmod(0o600)
