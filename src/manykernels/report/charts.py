"""The numbers of the charts of a report, as tables of Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..fitting.layout import evenly
from .cells import table, text

Section = Mapping[str, Any]
_POINTS = 600  # predictions that are listed
_STEPS = 20  # points of a curve


def predictions(quality: Section | None) -> Iterator[str]:
    """What was predicted for held-out samples, what is true, and the difference."""
    if quality is None or quality["kind"] != "numbers":
        return
    rows = [
        [row + 1, predicted, truth, truth - predicted]
        for row, predicted, truth in zip(quality["rows"], quality["predicted"], quality["truth"], strict=True)
    ]
    yield table(["row", "predicted", "true", "true − predicted"], rows, _POINTS)


def curves(quality: Section) -> Iterator[str]:
    """Points of the ROC curves and of the curves of precision and recall."""
    axes = {
        "roc": ("ROC curve", "false alarms (1 − specificity)", "recall (sensitivity)"),
        "pr": ("Precision and recall", "recall", "precision"),
    }
    for key, (title, x, y) in axes.items():
        rows = [
            [one["label"], one[key]["x"][i], one[key]["y"][i]]
            for one in quality["curves"]
            for i in evenly(len(one[key]["x"]), _STEPS)
        ]
        yield f"#### {title}\n\n" + table(["class", x, y], rows, len(rows))


def risks(found: Section) -> Iterator[str]:
    """The shares without an event, by group of risk."""
    rows = [
        [one["name"], one["x"][i], one["y"][i]]
        for one in found["groups"]
        for i in evenly(len(one["x"]), _STEPS)
    ]
    yield "#### Share without the event\n\n" + table(["group", "time", "share"], rows, len(rows))


def presence(data: Section) -> Iterator[str]:
    """Which samples have which views."""
    found = data.get("presence")
    if found is None:
        return
    rows = [[*("yes" if has else "no" for has in one["has"]), one["samples"]] for one in found["patterns"]]
    titles = [f"{text(view)} ({n})" for view, n in zip(found["views"], found["counts"], strict=True)]
    yield "### Which samples have which views\n\n" + table([*titles, "samples"], rows)


def similarity(found: Section | None) -> Iterator[str]:
    """The centred alignment between kernels; columns have the numbers of the rows."""
    if found is None:
        return
    rows = [
        [i + 1, name, *row] for i, (name, row) in enumerate(zip(found["names"], found["values"], strict=True))
    ]
    titles = ["", "kernel", *(str(i + 1) for i in range(len(rows)))]
    told = "Centred alignment between kernels: 1 where two kernels see the same similarities between samples."
    yield f"### Which kernels are alike\n\n{told}\n\n" + table(titles, rows)


def stable(found: Section | None, what: str) -> Iterator[str]:
    """How often random halves of the data select each view or kernel."""
    rows = None if found is None else found["stable"].get(f"{what}s")
    if not rows:
        return
    made = zip(
        rows["name"], rows["frequency"], ["yes" if one else "no" for one in rows["selected"]], strict=True
    )
    most = rows["n_selected"]
    title = f"among the {most} largest in" if most > 1 else "largest in"
    kept = [[name, f"{100 * share:.0f} %", yes] for name, share, yes in made if share > 0]
    yield f"### How often each {what} is selected on random halves\n\n" + table([what, title, "stable"], kept)


def path(found: Section | None) -> Iterator[str]:
    """Weights, and scores where there are any, along C."""
    if found is None:
        return
    shown = min(9, len(found["names"]))
    rows = [
        [C, *(row[i] for row in found["weights"][:shown]), *([found["score"][i]] if found["score"] else [])]
        for i, C in enumerate(found["C"])
    ]
    titles = ["C", *map(text, found["names"][:shown]), *(["score"] if found["score"] else [])]
    yield "### Weights along C\n\n" + table(titles, rows)


def interactions(found: Section | None) -> Iterator[str]:
    """Products with weight."""
    if found is not None:
        rows = [[one["name"], len(one["features"]), one["weight"]] for one in found["products"]]
        yield "### Interactions\n\n" + table(["product", "features", "weight"], rows)


def gates(found: Section | None) -> Iterator[str]:
    """The share of the samples in each cluster."""
    if found is not None:
        rows = [[name, *shares] for name, shares in zip(found["groups"], found["shares"], strict=True)]
        titles = ["samples", *(f"cluster {j}" for j in range(found["clusters"]))]
        yield "### Regions\n\n" + table(titles, rows)


def widths(found: Section | None) -> Iterator[str]:
    """Widths of kernels, or of every feature in each kernel."""
    if found is None:
        return
    if found["features"] is None:
        rows = [
            [name, values[0], weight]
            for name, values, weight in zip(found["names"], found["values"], found["weights"], strict=True)
        ]
        yield "### Widths\n\n" + table(["kernel", found["parameter"], "weight"], rows)
        return
    rows = [[name, *(values[f] for values in found["values"])] for f, name in enumerate(found["features"])]
    yield "### Widths\n\n" + table(["feature", *map(text, found["names"])], rows)


def convergence(found: Section | None) -> Iterator[str]:
    """The gap, or the objective, step by step."""
    if found is None:
        return
    rows = [
        [one["label"] or "", i + 1, one["seconds"][i], value]
        for one in found["lines"]
        for i, value in enumerate(one["values"])
    ]
    title = {"gap": "relative duality gap", "bound": "lower bound on the objective"}
    quantity = found["lines"][0]["quantity"]
    told = table(["", "step", "seconds", title.get(quantity, quantity)], rows)
    yield f"### How the fit converged\n\n{told}"
