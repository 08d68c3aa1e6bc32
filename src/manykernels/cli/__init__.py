"""The command line: `manykernels fit`, `predict`, `compare` and `demo`."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command `manykernels`."""
    try:
        from .app import run

        run()
    except ImportError as error:
        message = f"error: the command line needs more packages ({error}): pip install 'manykernels[cli]'."
        print(message, file=sys.stderr)
        raise SystemExit(2) from None
