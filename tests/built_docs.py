"""The documentation, built once for all tests that look at it."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
GENERATED = ("_build", "gallery", "generated")


def build(folder: Path) -> subprocess.CompletedProcess[str]:
    """Build as `make docs` does into folder/html, but from a copy: nothing of an earlier build helps."""
    for part in ROOT.iterdir():
        if part.name in ("docs", "examples"):
            shutil.copytree(part, folder / part.name, ignore=shutil.ignore_patterns(*GENERATED))
        elif not part.name.startswith("."):
            (folder / part.name).symlink_to(part)  # pages link to files of the repository
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-b", "html"]
    return subprocess.run([*command, folder / "docs", folder / "html"], capture_output=True, text=True)
