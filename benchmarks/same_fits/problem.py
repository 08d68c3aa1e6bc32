"""What a problem is, and the list that tables of problems fill."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

from .data import sample

Then = Callable[[Any, Any, Any], "dict[str, Any] | None"]


@dataclass(frozen=True)
class Problem:
    """An estimator with its options, and the samples that it learns from.

    ``then(model, X, y)`` goes on with the fitted model, and may return more to compare. ``ask`` are
    arguments of the methods that are asked about new samples.
    """

    name: str
    data: str
    kind: Callable[..., Any]
    options: dict[str, Any]
    fit: dict[str, Any] = field(default_factory=dict)
    then: Then | None = None
    ask: dict[str, Any] = field(default_factory=dict)
    fails: bool = False  # fitting is to raise an error

    def run(self) -> tuple[Any, Any, dict[str, Any]]:
        """The fitted model, new samples, and what else is to be compared."""
        X, y, new = sample(self.data)
        model = self.kind(**deepcopy(self.options))
        fitted = model.fit(X, y, **self.fit)
        more = self.then(fitted, X, y) if self.then else None
        return fitted, new, more or {}


class Problems:
    """Problems by name. A name is made of the estimator, the data and what the options say."""

    def __init__(self) -> None:
        self.found: dict[str, Problem] = {}

    def add(
        self,
        data: str,
        kind: Callable[..., Any],
        *,
        note: str = "",
        fit: dict[str, Any] | None = None,
        then: Then | None = None,
        ask: dict[str, Any] | None = None,
        fails: bool = False,
        **options: Any,
    ) -> None:
        """One more problem; ``note`` says what options cannot say in few words."""
        said = note or ", ".join(
            f"{key}={shown(value)}" for key, value in options.items() if key not in QUIET
        )
        name = f"{kind.__name__} | {data} | {said}"
        if name in self.found:
            raise ValueError(f"two problems are called {name!r}; give one of them another note.")
        self.found[name] = Problem(name, data, kind, options, fit or {}, then, ask or {}, fails)


QUIET = ("kernels", "random_state", "estimator")


def shown(value: Any) -> str:
    """An option in few characters, the same in every run."""
    if callable(value) and not isinstance(value, type) and hasattr(value, "__name__"):
        return str(value.__name__)
    if isinstance(value, float):
        return f"{value:.4g}"
    text = " ".join(repr(value).split())
    return text if len(text) <= 40 else text[:37] + "..."
