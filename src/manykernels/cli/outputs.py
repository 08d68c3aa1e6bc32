"""Output files: checked before any work, so that no file of somebody else is replaced."""

from __future__ import annotations

import os
import tempfile
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from .._files import holds_something_else, is_model, is_report
from ..comparison.tables import Table
from ._console import UserError
from .predictions import is_predictions

_NO_REPORTS = (".pdf", ".png", ".svg", ".tex", ".json", ".ipynb")  # that somebody may hope for


@dataclass(frozen=True)
class Output:
    """A file that a command is to write."""

    option: str
    path: Path
    kind: str  # what may be there already and is replaced
    ours: Callable[[Path], bool]  # whether a file is of that kind

    @property
    def told(self) -> str:
        return f"{self.option} {self.path}"


def model_output(path: Path | None) -> Output | None:
    return None if path is None else Output("--model", path, "a model that `fit --model` wrote", is_model)


def report_output(path: Path | None) -> Output | None:
    """Return the file of a report; another ending would hide what is in it."""
    if path is not None and path.suffix.lower() in _NO_REPORTS:
        raise UserError(
            f"--report {path}: reports do not end in {path.suffix}; expected .html or .md. A "
            "browser prints the .html file to PDF, and saves its charts as SVG."
        )
    return None if path is None else Output("--report", path, "a report that this command wrote", is_report)


def predictions_output(path: Path | None) -> Output | None:
    return (
        None
        if path is None
        else Output("--out", path, "known to be predictions that this command wrote", is_predictions)
    )


FORMS: dict[str, Callable[[Table], str]] = {".csv": Table.csv, ".tex": Table.latex, ".html": Table.html}


def table_output(path: Path | None) -> Output | None:
    """Return the table file of `compare`; its kind follows from its ending."""
    if path is None:
        return None
    if path.suffix.lower() not in FORMS:
        raise UserError(f"--out {path}: tables are written to {', '.join(FORMS)}.")
    return Output("--out", path, "empty", lambda _: False)


def require_safe(outputs: Iterable[Output | None], inputs: Sequence[Path], force: bool) -> None:
    """Raise an error for an output that is an input, cannot be written, or would replace a file.

    ``force`` allows the last of these only.
    """
    seen: list[Output] = []
    for output in outputs:
        if output is None:
            continue
        _require_writable(output.path)
        for path in inputs:
            if _same(output.path, path):
                raise UserError(
                    f"{output.told} is also read by this command{_as(output.path, path)}; give another name "
                    "to write to."
                )
        for other in seen:
            if _same(output.path, other.path):
                raise UserError(
                    f"{other.told} and {output.told} are the same file{_case(other.path, output.path)}, and "
                    "one would replace the other; give each a name of its own."
                )
        if not force and holds_something_else(output.path, output.ours):
            raise UserError(
                f"{output.told}: this file exists and is not {output.kind}. Give another name, or replace it "
                "by --force."
            )
        seen.append(output)


def _as(a: Path, b: Path) -> str:
    return "" if a == b else f" (as {b})"


def _case(a: Path, b: Path) -> str:
    return " where case does not count" if os.path.realpath(a) != os.path.realpath(b) else ""


def _same(a: Path, b: Path) -> bool:
    """Whether two paths are one file: through links too, and where only their case differs.

    Whether case matters is the file system's business, which cannot be asked before a file is there. Devices
    may be written to as often as one likes.
    """
    if any(path.exists() and not path.is_file() for path in (a, b)):
        return False
    if a.exists() and b.exists():
        return os.path.samefile(a, b)
    keys = [unicodedata.normalize("NFC", os.path.realpath(path)).casefold() for path in (a, b)]
    return keys[0] == keys[1]


def _require_writable(path: Path) -> None:
    """Raise an error before hours of work if a file cannot be written."""
    if path.is_dir():
        raise UserError(f"{path} is a folder; give the name of a file to write.")
    folder = Path(os.path.realpath(path)).parent
    if not folder.is_dir():
        raise UserError(f"{path}: there is no folder {folder}.")
    if path.exists() and not os.access(path, os.W_OK):
        raise UserError(f"{path} cannot be written: permission denied.")
    if path.exists() and not path.is_file():  # a device
        return
    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise UserError(f"{path} cannot be written: {(error.strerror or str(error)).lower()}.") from error
