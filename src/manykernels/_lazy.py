"""Names that a package offers, each imported from its module when it is first used."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from typing import Any


def attach(
    package: str, homes: Mapping[str, Iterable[str]]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """The ``__getattr__`` and ``__dir__`` of a package whose names are imported when they are first used.

    `homes` has the names that each module defines; modules are relative, such as ".mkl". Modules of the
    package that are not private are attributes too, whether they were imported or not.
    """
    home = {name: module for module, names in homes.items() for name in names}

    def get(name: str) -> Any:
        from importlib.util import find_spec

        if name in home:
            found = getattr(import_module(home[name], package), name)
            setattr(sys.modules[package], name, found)
            return found
        if not name.startswith("_") and find_spec(f"{package}.{name}") is not None:
            return import_module(f"{package}.{name}")
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    def listed() -> list[str]:
        from pkgutil import iter_modules

        here = sys.modules[package]
        parts = (part.name for part in iter_modules(here.__path__) if not part.name.startswith("_"))
        return sorted({*vars(here), *here.__all__, *parts})

    return get, listed
