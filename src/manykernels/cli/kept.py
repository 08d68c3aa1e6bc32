"""The folder of `--checkpoint`: which command it belongs to, and how `--resume` finds that again."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

from .._files import write_atomically
from .._warn import warn
from ..selection.checkpoint import clear, keeping, print_of
from ._console import UserError
from .data import Data

_COMMAND = "command.json"
PARTS = ("search", "scores")  # folders in it, each with the work of one step
_FREE = ("checkpoint", "resume", "jobs", "json_", "quiet", "debug", "force")  # on which no answer depends


def part_of(folder: Path | None, name: str) -> Path | None:
    """Where the work of one step is kept."""
    return None if folder is None else folder / name


@contextmanager
def keeping_scores(folder: Path | None, data: Data, method: str, kernels: str) -> Iterator[None]:
    """A block in which scores are kept, of each method in each fold.

    A model is learned by then: a disk that is full ends the keeping and not the command.
    """

    def prints() -> dict[str, str]:
        told = {"the table": (data.X, data.y), "--method": method, "--kernels": kernels}
        return {name: print_of(name, value) for name, value in told.items()}

    with ExitStack() as kept:
        try:
            kept.enter_context(keeping(part_of(folder, "scores"), "scores", prints))
        except OSError as error:
            if error.errno is None:  # refused by us, and not by the system
                raise
            warn(f"{error.strerror}: {folder} keeps no more work: later work may be lost in a crash.")
        yield


def remember(folder: Path | None, given: Mapping[str, Any]) -> None:
    """Write which command works in a folder, or raise an error that names the options that differ."""
    if folder is None:
        return
    told = {"folder": os.getcwd(), "options": {name: _plain(value) for name, value in given.items()}}
    if folder.exists() and not folder.is_dir():
        raise UserError(f"--checkpoint {folder} is a file; give the name of a folder.")
    file = folder / _COMMAND
    if not file.exists():
        # a process that was killed while it wrote the file has left a part of it
        if folder.exists() and any(not path.name.startswith(f".{_COMMAND}") for path in folder.iterdir()):
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
    """Remove what was kept, once the command has written all that it was asked for.

    A folder of which something stays still says to which command it belongs.
    """
    if folder is None:
        return
    for part in PARTS:
        clear(folder / part)
    if any((folder / part).exists() for part in PARTS):
        return
    with suppress(OSError):
        (folder / _COMMAND).unlink()
        folder.rmdir()
