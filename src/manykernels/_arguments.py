"""Arguments as users give them: how they are shown in messages, and read as numbers."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from functools import cache
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

_LENGTH = 80  # characters of a value in a message
_PLAIN = 1e6  # whole numbers from here on are written as powers of ten
_LARGEST = 2**31  # whole numbers beyond it count nothing that could be done
_NOT_ARRAYS = (str, bytes, bytearray, set, frozenset, Mapping, type)


def shown(value: Any) -> str:
    """A value in a message: its repr, shortened, whatever it is."""
    try:
        text = repr(value)
    except (RecursionError, ValueError):  # nested too deeply, or a number of thousands of digits
        return f"a value of type {type(value).__name__}"
    return shortened(" ".join(text.split()), _LENGTH)


def shortened(text: str, longest: int) -> str:
    """A text for a message: where it is too long, it ends with … behind a whole element or word.

    What closes it stays, so that a list still looks like one: ``[1, 2, …]``.
    """
    if len(text) <= longest:
        return text
    end = text[-1] if text[-1] in ")]}'\"" else ""
    room = longest - len(end)
    for mark, sign in ((", ", ", …"), (" ", " …")):
        cut = text.rfind(mark, longest // 2, room - len(sign) + len(mark))
        if cut > 0:
            return f"{text[:cut]}{sign}{end}"
    return f"{text[: room - 1]}…{end}"


def number_of(number: int, thing: str) -> str:
    """1 row, 2 rows."""
    return f"{number} {thing}{'' if number == 1 else 's'}"


def rounded(value: Any) -> str:
    """A value for people to read: of numbers, three digits; whole ones as they are."""
    if not isinstance(value, float):  # as those of NumPy are too
        return str(value)
    return f"{value:.0f}" if float(value).is_integer() and abs(value) < _PLAIN else f"{value:.3g}"


def and_more(words: Sequence[str], at_most: int) -> str:
    """The first words of a list, and how many there are beside them."""
    rest = len(words) - at_most
    return ", ".join(words[:at_most]) + (f" and {rest} more" if rest > 0 else "")


def did_you_mean(given: str, names: Iterable[Any]) -> str:
    """A question for a message about a name that is none of those expected; nothing where none is like it."""
    found = _alike([given], names)
    return f" Did you mean {found[given]!r}?" if found else ""


def renamed(missing: Iterable[Any], others: Iterable[Any]) -> str:
    """Return what to do, for a message about names that are missing, where others look like them."""
    found = [f"{new!r} to {old!r}" for old, new in _alike(missing, others).items()]
    if not found:
        return ""
    return f" Rename {', '.join(found)} if {'that is' if len(found) == 1 else 'these are'} meant."


def _alike(given: Iterable[Any], names: Iterable[Any], at_most: int = 3) -> dict[str, str]:
    """For some of the names given, the one of `names` that looks most like it."""
    known = {_letters(str(name)): str(name) for name in names}
    found: dict[str, str] = {}
    for name in list(given)[: 4 * at_most]:
        near = get_close_matches(_letters(str(name)), known, n=1, cutoff=0.6)
        found |= {str(name): known.pop(near[0])} if near and len(found) < at_most else {}
    return found


def _letters(name: str) -> str:
    """Names differ in more than signs and case."""
    return re.sub(r"[\W_]+", "", name).casefold() or name


def is_number(value: Any) -> bool:
    """Tell whether the value is a real number (and not a bool) that a float can hold."""
    if not isinstance(value, Real) or isinstance(value, bool | np.bool_):
        return False
    try:
        float(value)
    except OverflowError:
        return False
    return True


def is_whole(value: Any) -> bool:
    """Tell whether the value is a whole number of a size that something can be counted with."""
    return is_number(value) and abs(value) <= _LARGEST and value == value // 1


def is_masked(values: Any) -> bool:
    """Tell whether this is a masked array of which something is masked."""
    return isinstance(values, np.ma.MaskedArray) and bool(np.ma.getmaskarray(values).any())


# -- arguments of constructors, by their annotations -------------------------------------------------
def _several(holds: Callable[[Any], bool]) -> Callable[[Any], bool]:
    def test(value: Any) -> bool:
        if isinstance(value, np.ndarray):
            return value.ndim == 1 and all(map(holds, value.tolist()))
        return isinstance(value, list | tuple) and all(map(holds, value))

    return test


_TESTS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "None": (lambda value: value is None, "None"),
    "bool": (lambda value: isinstance(value, bool | np.bool_), "True or False"),
    "int": (is_whole, "a whole number (of at most 2**31)"),
    "float": (is_number, "a number"),
    "str": (lambda value: isinstance(value, str), "a string"),
    "Sequence[float]": (_several(is_number), "a list of numbers"),
    "Sequence[int]": (_several(is_whole), "a list of whole numbers"),
    "Sequence[str]": (_several(lambda value: isinstance(value, str)), "a list of strings"),
    "Sequence[Any]": (_several(lambda value: True), "a list"),
    "Function": (callable, "a function"),
}


def check_types(part: Any, but: tuple[str, ...] = ()) -> None:
    """An error where an argument of a part is of another type than its constructor's annotation says.

    Annotations that are not of the table above, and arguments named in `but`, are not looked at.
    """
    kind: Any = type(part)
    for name, tests in _expected(kind):
        if name in but:
            continue
        value = getattr(part, name, None)
        if not any(test(value) for test, _ in tests):
            words = " or ".join(text for _, text in tests)
            raise ValueError(f"{name}={shown(value)} was given to {kind.__name__}; expected {words}.")


@cache
def _expected(kind: type) -> tuple[tuple[str, tuple[tuple[Callable[[Any], bool], str], ...]], ...]:
    """The arguments of a class that can be looked at, and what they may be."""
    found = []
    for name, parameter in inspect.signature(kind).parameters.items():
        given = parameter.annotation
        text = given if isinstance(given, str) else getattr(given, "__name__", "Any")
        options = [option.strip() for option in re.sub(r"Function\[.*\]", "Function", text).split("|")]
        if all(option in _TESTS for option in options):
            found.append((name, tuple(_TESTS[option] for option in options)))
    return tuple(found)


def require_arguments(function: Any, count: int, expected: str, more: bool = False) -> None:
    """An error if a function of the user's cannot be called with this many arguments (or these and more)."""
    try:
        known = inspect.signature(function)
        (known.bind_partial if more else known.bind)(*[None] * count)
    except TypeError as error:
        name = getattr(function, "__name__", shown(function))
        raise TypeError(f"{name} was given, which cannot be called as {expected}: {error}.") from error
    except ValueError:  # some built-in functions have no signature
        return


# -- numbers ----------------------------------------------------------------------------------------------
def as_numbers(values: Any, what: str, expected: str, advice: str = "") -> NDArray[Any]:
    """An array of numbers (whole, real or complex) or of truth values, in words of our own where it is none.

    `what` is what it is called in the message, `expected` what it should be, `advice` what to do about words.
    """
    if is_masked(values):
        count = int(np.ma.getmaskarray(values).sum())
        raise ValueError(
            f"{what} is a masked array, and {count} of its values are masked: masks are not read. Fill them "
            f"({what}.filled(value), or sklearn.impute.SimpleImputer), or leave these samples out."
        )
    if sparse.issparse(values):
        raise ValueError(f"{what} is a sparse matrix; expected {expected}, a dense array.")
    if isinstance(values, _NOT_ARRAYS) or not (hasattr(values, "__len__") or hasattr(values, "__array__")):
        if not isinstance(values, Real | complex | np.generic):
            read = " Read a file first, for example by pandas.read_csv." if isinstance(values, str) else ""
            raise TypeError(f"{what} is of type {type(values).__name__}; expected {expected}.{read}")
    try:
        A = np.asarray(values)
        A = A.astype(np.float64) if A.dtype.kind in "OUST" else A
    except (TypeError, ValueError, OverflowError, RecursionError, AttributeError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"{what} could not be read as numbers ({error}); expected {expected}.{advice}") from error
    if A.dtype.kind not in "biufc":
        raise ValueError(f"{what} holds values of type {A.dtype}; expected {expected}.")
    return A


def is_integral(value: Any) -> bool:
    """Tell whether the value is of a type of whole numbers, and not a bool."""
    return isinstance(value, Integral) and not isinstance(value, bool)
