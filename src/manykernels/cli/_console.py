"""Output and exit codes of the commands: one line for errors that a user can mend, and no traceback."""

from __future__ import annotations

import errno
import json
import math
import os
import sys
import traceback
import warnings
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import BrokenExecutor
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import wraps
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.text import Text

from .._arguments import did_you_mean
from .notes import Notes

BAD_INPUT, BROKEN, INTERRUPTED = 2, 1, 130
_ENDED = "it was killed, or memory ran out. Run one process at a time, with all the memory: --jobs 1."


class UserError(Exception):
    """Something that the person at the keyboard can mend; its text is one line."""


class _Patient(Console):
    """Rich ends the process where nobody reads its output any more; here the work goes on."""

    def on_broken_pipe(self) -> None:
        _to_nowhere()


@dataclass
class Voice:
    """Answers go to stdout, everything else to stderr."""

    json: bool = False
    quiet: bool = False
    debug: bool = False
    said: Notes = field(default_factory=Notes)
    stopped: bool = False  # by Ctrl-C, with an answer that is not whole

    def __post_init__(self) -> None:
        self.out = _Patient(highlight=False, soft_wrap=False)
        self.err = Console(stderr=True, highlight=False, soft_wrap=True)

    @property
    def talks(self) -> bool:
        """Whether tables are shown; with --json, the answer is a document instead."""
        return not (self.quiet or self.json)

    @property
    def notes(self) -> list[str]:
        """All notes, in full."""
        return self.said.texts

    def show(self, *things: Any) -> None:
        self.flush()
        if self.talks:
            with unless_closed():
                for thing in things:
                    self.out.print(thing, soft_wrap=isinstance(thing, str))

    def note(self, text: str, of: str = "") -> None:
        """Something that was done and that one might want to know; once, and with its kind in one line.

        `of` names what it is about, such as a method, where others may say the same. Lines are shown before
        anything else is, and before work that takes long.
        """
        new = self.said.add(one_line(text), of)
        if new and self.debug:
            self._print_note(self.notes[-1])

    def flush(self, last: bool = False) -> None:
        """Show the notes since the last time, one line for each kind."""
        for line in self.said.lines(last):
            if not self.debug:
                self._print_note(line)

    def _print_note(self, text: str) -> None:
        if not self.quiet:
            self.err.print(Text(f"note: {text}", style="dim"))

    def answer(self, document: dict[str, Any]) -> None:
        self.flush()
        if self.json:
            text = json.dumps(_finite({**document, "notes": self.notes}), ensure_ascii=False, default=_plain)
            with unless_closed():
                sys.stdout.write(text + "\n")
                sys.stdout.flush()

    @property
    def interactive(self) -> bool:
        return not self.quiet and self.err.is_terminal

    @contextmanager
    def steps(self, title: str, total: int) -> Iterator[Callable[[str], None]]:
        """A bar with the time left; call what it gives after each step, with what comes next."""
        self.flush()
        columns = [TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()]
        bar = Progress(*columns, console=self.err, transient=True, disable=not self.interactive)
        with bar:
            task = bar.add_task(title, total=total)

            def advance(following: str = "") -> None:
                bar.update(task, advance=1, description=f"{title} {following}".rstrip())

            yield advance

    def waiting(self, text: str) -> Any:
        """A sign of life for one step of unknown length."""
        self.flush()
        return self.err.status(text) if self.interactive else nullcontext()


@contextmanager
def unless_closed() -> Iterator[None]:
    """Whoever reads stdout may have seen enough (`| head`): then the work goes on, and no word is said.

    Other errors name stdout: "No space left on device" alone does not say where.
    """
    try:
        yield
    except BrokenPipeError:
        _to_nowhere()
    except OSError as error:
        raise OSError(error.errno, error.strerror, "stdout") from error


def _to_nowhere() -> None:
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _finite(value: Any) -> Any:
    """JSON knows no NaN: what is not known is null."""
    if isinstance(value, dict):
        return {key: _finite(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(part) for part in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _plain(value: Any) -> Any:
    return value.item() if hasattr(value, "item") and getattr(value, "size", 1) == 1 else value.tolist()


def require_known(option: str, given: str, choices: Iterable[str]) -> None:
    """Raise an error for what is none of the choices."""
    if given not in choices:
        told = f"{option} {given}: expected one of {', '.join(choices)}."
        raise UserError(told + did_you_mean(given, choices))


def one_line(text: Any) -> str:
    return " ".join(str(text).split())


def plainly(command: Callable[..., None]) -> Callable[..., None]:
    """A command that ends in one line and a code: 2 for bad input, 1 for a bug, 130 for Ctrl-C."""

    @wraps(command)
    def run(*args: Any, **kwargs: Any) -> None:
        voice = Voice(kwargs.pop("json_"), kwargs.pop("quiet"), kwargs.pop("debug"))
        shown = warnings.showwarning
        warnings.showwarning = lambda message, *_: None if _of_joblib(message) else voice.note(str(message))
        try:
            command(voice, *args, **kwargs)
        except KeyboardInterrupt:
            _end(voice, INTERRUPTED, "stopped; nothing was written.")
        except (UserError, OSError, ValueError, TypeError) as error:
            _end(voice, BAD_INPUT, _said(error))
        except MemoryError:
            advice = "--method auto needs the least memory for many rows, and --first N reads fewer rows."
            _end(voice, BAD_INPUT, f"there is not enough memory: {advice}")
        except BrokenExecutor:
            _end(voice, BAD_INPUT, "a worker process ended before its work was done: " + _ENDED)
        except Exception as error:
            if isinstance(error, ImportError) and "pip install" in str(
                error
            ):  # ours: a package that is not there
                _end(voice, BAD_INPUT, one_line(error))
            _end(voice, BROKEN, f"{type(error).__name__}: {one_line(error)} (a bug; --debug shows where)")
        finally:
            voice.flush(last=True)
            warnings.showwarning = shown

    return run


def _of_joblib(message: Warning | str) -> bool:
    """Whether it tells that a process ended which had work: Ctrl-C ends all of them, and says so itself."""
    return str(message).startswith("A worker stopped while some jobs were given to the executor")


def _said(error: BaseException) -> str:
    if isinstance(error, OSError) and error.strerror:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)  # files that are asked for have their names
        where = error.filename or ("a temporary file" if full else "")
        return f"{where}: {error.strerror}." if where else f"{error.strerror}."
    return one_line(error)


def _end(voice: Voice, code: int, text: str) -> None:
    if voice.debug and code != INTERRUPTED:
        traceback.print_exc()
    voice.flush(last=True)
    voice.err.print(Text(f"error: {text}" if code != INTERRUPTED else text, style="red"))
    raise SystemExit(code)
