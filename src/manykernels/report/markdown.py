"""A report as Markdown: the sections of the page, with tables in the place of charts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from .._arguments import number_of
from .._files import MARKDOWN_MARK
from ..comparison.statistics import p_shown, signed
from . import charts
from .cells import number, table, text
from .verdict import p_of

Section = Mapping[str, Any]
_OUTCOME = {"classification": "decision", "survival": "risk"}
_GROUPS = {
    "How good": ("quality", "guessing"),
    "Compared with alternatives": ("alternatives",),
    "What the predictions need": ("views", "columns"),
    "Be careful": ("care",),
}


def markdown(data: Section) -> str:
    """Make Markdown text of the data of a report.

    Parameters
    ----------
    data : dict
        The result of :func:`report_data` or :func:`comparison_data`.

    Returns
    -------
    str
        The text, with tables in place of charts.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from manykernels import MKLClassifier
    >>> from manykernels.kernels import Gaussian, Linear
    >>> from manykernels.report import markdown, report_data
    >>> X, y = load_iris(return_X_y=True)
    >>> model = MKLClassifier([Linear(), Gaussian(1.0)], loss="squared").fit(X, y)
    >>> "# Iris" in markdown(report_data(model, X, y, title="Iris", fit_path=False)).splitlines()
    True
    """
    if "models" in data:
        return _compared(data)
    chapters = {
        "In short": _verdict(data),
        "How good is it?": [
            *_scores(data["scores"]),
            *_quality(data["quality"]),
            *_survival(data["survival"]),
        ],
        _columns_title(data): [
            *_importance(data["importance"], "columns"),
            *_effects(data),
            *_data(data["data"], "The samples" if _columns_title(data) == "The data" else "The data"),
        ],
        "Which views matter?": [
            *_importance(data["importance"], "views"),
            *_shares(data["weights"]),
            *_tests(data, "view"),
            *charts.stable(data["chance"], "view"),
            *charts.presence(data["data"]),
        ],
        "Which kernels were learned?": [
            *_weights(data),
            *charts.gates(data["gates"]),
            *charts.interactions(data["interactions"]),
            *charts.widths(data["widths"]),
            *charts.similarity(data["similarity"]),
            *_tests(data, "kernel"),
            *charts.stable(data["chance"], "kernel"),
            *_selection(data["selection"]),
            *charts.path(data["path"]),
        ],
        "Single samples": _samples(data["contributions"], data["data"]["target"]["task"]),
        "Checks": _checks(data["checks"]),
        "How it was made": _made(data),
        "Appendix: predictions of held-out samples": charts.predictions(data["quality"]),
        "Appendix: the fit": [*_fit(data), *charts.convergence(data["convergence"])],
    }
    return written(data, chapters)


def _columns_title(data: Section) -> str:
    """What the chapter of columns answers: nothing but what the data are, if no column was permuted."""
    if data["importance"] is None or data["importance"]["columns"] is None:
        return "The data"
    return "Which kernels matter?" if data["data"]["features"] is None else "Which columns matter?"


def _compared(data: Section) -> str:
    """The text for what ``comparison_data`` gives."""
    titles = [
        "method",
        data["scores"]["metric"],
        "standard deviation",
        "rank",
        f"from {text(data['against'])}",
        "adjusted p" if sum(row["p_adjusted"] is not None for row in data["table"]) > 1 else "p",
        "seconds",
    ]
    keys = ("method", "mean", "std", "rank", "difference", "p_adjusted", "seconds")
    scores = [table(titles, [[row[key] for key in keys] for row in data["table"]])]
    models = [
        f"### {text(one['name'])}\n\n" + "\n\n".join(block.replace("### ", "#### ", 1) for block in blocks)
        for one in data["models"]
        if (blocks := [*_quality(one["quality"]), *_survival(one["survival"])])
    ]
    chapters = {"In short": _verdict(data), "How good are they?": scores, "Side by side": models}
    return written(data, chapters | {"How it was made": _made(data)})


def written(data: Section, chapters: Mapping[str, Iterable[str]]) -> str:
    """A title and chapters; those that hold nothing are left out."""
    parts = [MARKDOWN_MARK, f"# {text(data['title'])}", _head(data)]
    for title, blocks in chapters.items():
        made = list(blocks)
        parts += [f"## {title}", *made] if made else []
    return "\n\n".join(parts) + "\n"


def _code(value: str) -> str:
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", value)), default=0))
    return f"{fence}\n{value}\n{fence}"


def _head(data: Section) -> str:
    about = data["data"]
    size = (
        number_of(about["features"], "column")
        if about["features"] is not None
        else number_of(about["kernels"], "kernel")
    )
    which = f"{len(data['models'])} models" if "models" in data else data["estimator"]
    return (
        f"{which} on {about['samples']} samples with {size}; target “{text(about['target']['name'])}”. "
        f"Made {data['made']} by manykernels {data['version']}."
    )


# -- chapters -------------------------------------------------------------------------------------
def _verdict(data: Section) -> Iterator[str]:
    for title, about in _GROUPS.items():
        own = [f"- {text(one['text'])}" for one in data["verdict"] if one["about"] in about]
        if own:
            yield f"**{title}**\n\n" + "\n".join(own)


def _scores(scores: Section | None) -> Iterator[str]:
    if scores is None:
        return
    told = [f"The score is {scores['metric']} on held-out samples."]
    if scores["rival"] is not None:
        told.append(f"{scores['rival']['sentence']}")
    yield f"### Against guessing and alternatives\n\n{text(' '.join(told))}"
    rows, adjusted = [], False
    for row in [*scores["rows"], *([{"name": "guessing", **scores["chance"]}] if scores["chance"] else [])]:
        above = row.get("above") or {}
        interval = (
            f"{signed(above['low'])} to {signed(above['high'])}" if above.get("low") is not None else ""
        )
        known = p_of(above) if above else None
        adjusted = adjusted or above.get("p_adjusted") is not None
        p = "" if known is None else _p(known)
        name = "the model" if row["name"] == "learned" else row["name"]
        difference = signed(above["mean"]) if above else ""
        rows.append([name, row["mean"], row["std"], difference, interval, p])
    titles = ["method", "mean", "standard deviation", "the model is above it by", "95 % interval"]
    yield table([*titles, "adjusted p" if adjusted else "p"], rows)
    if adjusted:
        yield (
            "Each interval is for its comparison alone; p is adjusted for the number of alternatives (Holm)."
        )


def _quality(quality: Section | None) -> Iterator[str]:
    if quality is None:
        return
    if quality["kind"] == "outputs":
        yield "### Each output\n\n" + table(["output", "R²"], list(enumerate(quality["R2"])))
        return
    if quality["kind"] == "numbers":
        half, most = (number(value) for value in quality["within"])
        yield (
            f"### Predicted and true\n\nPredictions of {quality['samples']} held-out samples are off by "
            f"{number(quality['mean_error'])} on average; half of them by less than {half}, nine of ten by "
            f"less than {most}. Always predicting the mean is off by {number(quality['constant_error'])}."
        )
        return
    labels = [text(label) for label in quality["labels"]]
    rows = [
        [label, *map(str, counts), _percent(share)]
        for label, counts, share in zip(quality["labels"], quality["counts"], quality["recall"], strict=True)
    ]
    rows.append(["precision", *map(_percent, quality["precision"]), ""])
    yield "### Right and wrong classes\n\n" + table(
        ["true class", *(f"predicted {label}" for label in labels), "recall"], rows
    )
    if quality["curves"]:
        rows = [[one["label"], one["auc"]["mean"], one["ap"]["mean"]] for one in quality["curves"]]
        yield "### ROC and precision–recall\n\n" + table(
            ["class", "area under ROC", "average precision"], rows
        )
        yield from charts.curves(quality)
    if quality["calibration"] is not None:
        told = quality["calibration"]
        rows = [list(row) for row in zip(told["said"], told["happened"], told["samples"], strict=True)]
        yield "### Are probabilities right?\n\n" + table(
            ["predicted probability", "observed share", "samples"], rows
        )


def _minus(value: Any) -> str:
    """A number that comes as text."""
    return re.sub(r"(^|, )-(?=[\d.])", r"\1−", str(value))


def _p(value: float) -> str:
    """A p-value in a column of such."""
    return p_shown(value).removeprefix("p = ").removeprefix("p ")


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.0f} %"


def _survival(found: Section | None) -> Iterator[str]:
    if found is None:
        return
    how = (
        "the risk predicted when a sample was held out"
        if found["held_out"]
        else "the risk of the fitted model"
    )
    p = "" if found["p_value"] is None else f" Log-rank test: {p_shown(found['p_value'])}."
    rows = [[one["name"], one["samples"], one["events"], one["median"]] for one in found["groups"]]
    yield f"### Survival by predicted risk\n\nGroups by {how}.{p}\n\n" + table(
        ["group", "samples", "events", "median time"], rows
    )
    yield from charts.risks(found)


def _importance(found: Section | None, what: str) -> Iterator[str]:
    rows = None if found is None else found[what]
    if found is None or rows is None:
        return
    made = zip(rows["names"], rows["mean"], rows["low"], rows["high"], strict=True)
    yield f"### What is lost without each {what[:-1]}\n\n" + table(
        [what[:-1], f"{found['metric']} lost", "from", "to"], made
    )


def _effects(data: Section) -> Iterator[str]:
    found = [] if data["importance"] is None else data["importance"]["effects"]
    for one in found:
        titles = [text(one["name"]), *(f"predicted {text(output)}".strip() for output in one["outputs"])]
        yield f"### How predictions depend on {text(one['name'])}\n\n" + table(
            titles, zip(one["values"], *one["mean"], strict=True)
        )


def _data(data: Section, title: str) -> Iterator[str]:
    told = f"### {title}"
    if data["missing"]:
        rows = [[one["name"], one["missing"], f"{100 * one['share']:.3g} %"] for one in data["missing"]]
        told += "\n\n" + table(["column with gaps", "missing", "share"], rows)
    if data["dropped"]:
        told += "\n\n" + table(
            ["column that was not used", "why"], [[one["name"], one["why"]] for one in data["dropped"]]
        )
    if data["columns"]:
        rows = [
            [one["name"], one["kind"], one["missing"], one.get("mean"), one.get("low"), one.get("high")]
            for one in data["columns"]
        ]
        told += "\n\n" + table(["column", "kind", "missing", "mean", "lowest", "highest"], rows)
    if data["prepared"]:
        told += "\n\n" + "\n".join(f"- {text(one)}" for one in data["prepared"])
    yield told


def _shares(weights: Section) -> Iterator[str]:
    if weights["views"] is not None:
        views = weights["views"]
        rows = zip(views["names"], *views["values"], strict=True)
        titles = [
            "view",
            *(
                [text(one) for one in weights["rows"]]
                if len(views["values"]) > 1
                else ["share of the weight"]
            ),
        ]
        yield "### Share of the weight of each view\n\n" + table(titles, rows)


def _weights(data: Section) -> Iterator[str]:
    weights = data["weights"]
    order = sorted(range(len(weights["names"])), key=lambda m: -max(abs(row[m]) for row in weights["values"]))
    order = [m for m in order if any(row[m] for row in weights["values"])]
    own = [text(one) for one in weights["rows"]] if len(weights["values"]) > 1 else ["weight"]
    columns = [[weights["names"][m] for m in order], *([row[m] for m in order] for row in weights["values"])]
    titles, spread = ["kernel", *own], weights["stability"]
    if spread is not None:
        titles += ["from", "to"]
        columns += [[spread[side][m] for m in order] for side in ("low", "high")]
    if spread is not None and spread.get("frequency") is not None:
        titles.append("nonzero in")
        columns.append([_percent(spread["frequency"][m]) for m in order])
    told = ""
    if spread is not None:
        share = _percent(spread.get("level") or 0.95)
        told = f" “From” and “to” bound {share} of the weights learned on random halves of the data."
    rows = zip(*columns, strict=True)
    yield f"### Weights\n\n{text(data['certificate'])}{told}\n\n" + table(titles, rows)


def _tests(data: Section, what: str) -> Iterator[str]:
    tests = None if data["chance"] is None else data["chance"]["tests"].get(f"{what}s")
    if tests:
        rows = zip(tests["name"], tests["p_value"], tests["p_adjusted"], strict=True)
        made = [[name, *map(_p, ps)] for name, *ps in rows]
        yield f"### Which {what}s are related to the target?\n\n" + table([what, "p", "adjusted p"], made)


def _selection(found: Section | None) -> Iterator[str]:
    if found is not None:
        keys = ("strategy", "norm", "C", "error", "score")
        rows = list(zip(*(found[key] for key in keys), strict=True))
        yield f"### What was tried\n\n{text(found['chosen'])} was chosen.\n\n" + table(list(keys), rows)


def _samples(found: Section | None, task: str) -> Iterator[str]:
    change = f"change of the {_OUTCOME.get(task, 'prediction')}"
    for one in [] if found is None else found["samples"]:
        name = one["name"] if one["name"] is not None else f"row {one['row'] + 1}"
        told = (
            f"**{text(name)}** ({text(one['why'])}): {text(_minus(one['truth']))}, predicted "
            f"{text(_minus(one['predicted']))}"
        )
        rows = [[part["name"], _minus(part["value"]), part["effect"]] for part in one["columns"]]
        yield told + ("\n\n" + table(["column", "value", change], rows) if rows else "")


def _checks(checks: Sequence[Section] | None) -> Iterator[str]:
    if checks is not None and not checks:
        yield "All checks passed."
    for one in checks or []:
        told = f"**{text(one['code'])} {text(one['title'])}.** {text(one['message'])}"
        yield f"{told} *What to do.* {text(one['advice'])}"


def _made(data: Section) -> Iterator[str]:
    methods = data["methods"]
    yield "### A paragraph for your paper\n\n" + text(methods["text"])
    yield "\n".join(f"- {text(one)}" for one in methods["references"])
    if data["call"]:
        yield "### Make this again\n\n" + _code(data["call"])
    if "model" in data:
        yield _code(data["model"])
    if data["left_out"]:
        yield "### What this report leaves out\n\n" + "\n".join(
            f"- {text(k)}: {text(v)}" for k, v in data["left_out"].items()
        )


def _fit(data: Section) -> Iterator[str]:
    yield text(data["certificate"])
    if data["recomputed"] is not None:
        found = data["recomputed"]
        yield (
            f"The report computed this again: the objective is {number(found['primal'], 6)}, no objective "
            f"can be below {number(found['dual'], 6)}, and the gap is {number(found['gap'], 2)}."
        )
