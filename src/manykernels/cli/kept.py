"""The folder of `--checkpoint`: which command it belongs to, and how `--resume` finds that again."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from .._files import write_atomically
from ..selection.checkpoint import clear, keeping, print_of
from ._console import UserError
from .data import Data

_COMMAND = "command.json"
PARTS = ("search", "scores")  # folders in it, each with the work of one step
_FREE = ("checkpoint", "resume", "jobs", "json_", "quiet", "debug", "force")  # on which no answer depends


def part_of(folder: Path | None, name: str) -> Path | None:
    """Where the work of one step is kept."""
    return None if folder is None else folder / name


def keeping_scores(folder: Path | None, data: Data, method: str, kernels: str) -> Any:
    """A block in which scores are kept, of each method in each fold."""

    def prints() -> dict[str, str]:
        told = {"the table": (data.X, data.y), "--method": method, "--kernels": kernels}
        return {name: print_of(name, value) for name, value in told.items()}

    return keeping(part_of(folder, "scores"), "scores", prints)


def remember(folder: Path | None, given: Mapping[str, Any]) -> None:
    """Note which command works in a folder; an error that names the options in which it is another one."""
    if folder is None:
        return
    told = {"folder": os.getcwd(), "options": {name: _plain(value) for name, value in given.items()}}
    if folder.exists() and not folder.is_dir():
        raise UserError(f"--checkpoint {folder} is a file; give the name of a folder.")
    file = folder / _COMMAND
    if not file.exists():
        if folder.exists() and any(folder.iterdir()):
            raise UserError(
                f"--checkpoint {folder} holds other files; give an empty folder, or the name of a new one."
            )
        folder.mkdir(parents=True, exist_ok=True)
        write_atomically(file, json.dumps(told, indent=1).encode())
        return
    before = _read(folder)
    now: dict[str, Any] = json.loads(json.dumps(told["options"]))
    names = [n for n in now if n not in _FREE and now[n] != before["options"].get(n)]
    if names or before["folder"] != told["folder"]:
        other = ", ".join(f"--{name.strip('_')}" for name in names) or "the working folder"
        were = "are not what they were" if len(names) > 1 else "is not what it was"
        raise UserError(
            f"--checkpoint {folder} belongs to another command: {other} {were}. Give another folder, or go "
            f"on with that command by `manykernels fit --resume {folder}`."
        )


def remembered(folder: Path) -> dict[str, Any]:
    """The options of the command that worked in a folder, which is gone on with where that was started."""
    told = _read(folder)
    folder = folder.resolve()
    try:
        os.chdir(told["folder"])
    except OSError as error:
        raise UserError(f"{told['folder']}, where the command was started: {error.strerror}.") from error
    given = {name: Path(v["path"]) if isinstance(v, dict) else v for name, v in told["options"].items()}
    return {**given, "checkpoint": folder, "resume": None}


def _read(folder: Path) -> dict[str, Any]:
    try:
        told = json.loads((folder / _COMMAND).read_bytes())
        return {"folder": str(told["folder"]), "options": dict(told["options"])}
    except OSError as error:
        raise UserError(f"--resume {folder}: no command has kept any work there.") from error
    except (ValueError, TypeError, KeyError) as error:
        raise UserError(f"{folder / _COMMAND} is damaged; start anew with another folder.") from error


def _plain(value: Any) -> Any:
    return {"path": str(value)} if isinstance(value, Path) else value


def forget(folder: Path | None) -> None:
    """Remove what was kept, once the command has written all that it was asked for."""
    if folder is None:
        return
    for part in PARTS:
        clear(folder / part)
    with suppress(OSError):
        (folder / _COMMAND).unlink()
        folder.rmdir()
