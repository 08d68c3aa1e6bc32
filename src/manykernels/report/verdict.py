"""The answer in sentences with numbers: how good, against what, what carries it, what to be careful about.

All of it is read off the sections of a report, so that no sentence can say anything else than they do.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from .._arguments import and_more, number_of
from ..comparison.statistics import ALPHA, signed
from .names import number_shown

Section = Mapping[str, Any]
_NAMED = 4  # columns, views and alternatives that a sentence names
_FEW = 100  # samples, below which a score is rough
_RARE = 20  # samples of a class, below which little is known of it
_MISSING = 0.05  # of the values of a column, from which gaps are worth a word
_OFF = 0.1  # by which probabilities may be off
_GRAVE = ("MK4", "MK503")  # codes of checks about samples, columns and predictions
_SAID = {"MK401", "MK411", "MK501"}  # whose numbers other sentences have already
ALTERNATIVES = {
    "plain sum of the kernels": "the same kernels with equal weights",
    "best single kernel": "the best of the kernels alone",
    "tuned SVC": "a support vector machine with one tuned Gaussian kernel",
    "tuned kernel ridge": "ridge regression with one tuned Gaussian kernel",
    "sparse linear SVM": "a linear model that selects columns",
    "lasso": "a linear model that selects columns",
    "ridge Cox": "Cox's linear model with a penalty",
}
_NO_ARTICLE = {"ridge Cox"}
# Columns that were set aside on purpose are in the list of columns, and are no reason to be careful.
NAMES, GROUPS, DROPPED = "it names the samples", "it says which samples belong together", "left out by --drop"
ASIDE = {NAMES, GROUPS, DROPPED}


def the(name: str) -> str:
    """The name of a method inside of a sentence: with an article if it is one of the alternatives."""
    return f"the {name}" if name in ALTERNATIVES and name not in _NO_ARTICLE else name


def verdict_section(found: Section) -> list[dict[str, str]]:
    """Sentences, each with what it is `about` and its `tone`: good, bad, plain or care."""
    said = [*_how_good(found), *_guessing(found), *_alternatives(found), *_carried(found), *_care(found)]
    return [{"about": about, "tone": tone, "text": text} for about, tone, text in said]


def with_checks(said: Sequence[dict[str, str]], checks: Sequence[Section]) -> list[dict[str, str]]:
    """The sentences with those of checks: about samples and columns first, then a line about the others.

    A column that gives the target away makes all other sentences worthless, and so do copies of samples in
    several folds. All other checks are named, and the section on checks says what to do.
    """
    grave = [one for one in checks if one["code"].startswith(_GRAVE) and one["code"] not in _SAID]
    others = [f"{_inside(one['title'])} ({one['code']})" for one in checks if one not in grave]
    before = [one for one in said if one["about"] != "care"]
    after = [one for one in said if one["about"] == "care"]
    texts = [f"{one['message']} {one['advice']} ({one['code']})" for one in grave]
    rest = [f"The checks below say what to do about this: {'; '.join(others)}."] if others else []
    first, last = (
        [{"about": "care", "tone": "care", "text": text} for text in part] for part in (texts, rest)
    )
    return [*before, *first, *after, *last]


def _inside(title: str) -> str:
    """A title inside of a sentence; C keeps its letter."""
    return title if title[1] == " " and title[0] != "A" else title[0].lower() + title[1:]


Said = Iterator[tuple[str, str, str]]


# -- how good -------------------------------------------------------------------------------------
def _how_good(found: Section) -> Said:
    scores, quality = found["scores"], found["quality"]
    own = None if scores is None else scores["rows"][0]
    if own is None or own["mean"] is None:
        why = "it was not scored" if own is None else f"it {own['error']}"
        text = f"How well the model predicts new samples is not known: {why}."
        yield "quality", "bad" if own is not None else "plain", text
        return
    target, folds = found["data"]["target"]["name"], len(own["folds"])
    mean, constant = own["mean"], (scores["chance"] or {}).get("mean")
    score = f"{scores['metric']} {spread_of(own['mean'], own['std'])} over {number_of(folds, 'fold')}"
    if quality is not None and quality["kind"] == "classes":
        of = f"{quality['right']} of {quality['samples']} samples that it did not learn from"
        text = f"The model predicts the right class of “{target}” for {of} ({score})."
        if constant is not None:
            text += f" Always predicting the largest class is right for {_percent(constant)}."
        text += _areas(quality)
    elif quality is not None and quality["kind"] == "numbers":
        text = (
            f"The model explains {_percent(max(mean, 0.0))} of the variance of “{target}” on samples that it "
            f"did not learn from ({score}). Its predictions are off by {_number(quality['mean_error'])} on "
            f"average; always predicting the mean is off by {_number(quality['constant_error'])}."
        )
    elif found["survival"] is not None:
        text = (
            f"Of two samples, the model gives the higher risk to the one with the earlier event in "
            f"{_percent(mean)} of cases ({score}, on samples that it did not learn from). Guessing is right "
            "in 50 %."
        )
    else:
        against = "" if constant is None else f"; guessing scores {_number(constant)}"
        text = f"On samples that it did not learn from, the model has {score}{against}."
    yield "quality", "plain", text


def _areas(quality: Section) -> str:
    """The area under the ROC curve, of two classes."""
    if len(quality["curves"]) != 1 or quality["curves"][0]["auc"]["mean"] is None:
        return ""
    auc = quality["curves"][0]["auc"]
    return f" The area under the ROC curve is {spread_of(auc['mean'], auc['std'])}."


def _guessing(found: Section) -> Said:
    judged = None if found["scores"] is None else found["scores"]["verdict"]
    if judged is not None:
        yield "guessing", "good" if judged["better"] else "bad", judged["sentence"]


# -- against what ---------------------------------------------------------------------------------
def judged_alternatives(scores: Section) -> list[dict[str, Any]]:
    """The alternatives with a score, and how far the model is above each."""
    rows = [row for row in scores["rows"][1:] if row["above"] is not None and row["mean"] is not None]
    return [{**row["above"], "name": row["name"]} for row in rows]


def p_of(row: Section) -> float | None:
    """The p-value of a difference: the adjusted one, where several are tested together."""
    found: float | None = row["p_value"] if row.get("p_adjusted") is None else row["p_adjusted"]
    return found


def _alternatives(found: Section) -> Said:
    scores = found["scores"]
    rows = [] if scores is None else judged_alternatives(scores)
    if not rows:
        return
    clear = [row for row in rows if (p := p_of(row)) is not None and p <= ALPHA]
    ahead = [row for row in clear if row["mean"] < 0]
    behind = [row for row in clear if row["mean"] > 0]
    same = [row for row in rows if row["mean"] == row["low"] == row["high"] == 0.0]
    others = [row for row in rows if row not in clear and row not in same]
    if ahead:
        some = "An alternative predicts" if len(ahead) == 1 else "Alternatives predict"
        text = f"{some} clearly better in the same folds: {listed(ahead)}."
        yield (
            "alternatives",
            "bad",
            f"{text} If only the prediction counts, use {'it' if len(ahead) == 1 else 'one of them'}.",
        )
    if behind:
        yield "alternatives", "good", f"The model is clearly better than {listed(behind)}, in the same folds."
    if others:
        text = f"The difference from {listed(others)} may be chance."
        yield "alternatives", "plain", text
    if same:
        names = _and([the(row["name"]) for row in same])
        yield "alternatives", "plain", f"The model has the same score as {names} in every fold."


def listed(rows: Sequence[Section]) -> str:
    """Methods with how far the model is above each, and the interval and the p-value of that."""
    told = []
    for row in rows[:_NAMED]:
        test = "" if p_of(row) is None else f", {row['shown']}"
        told.append(f"{the(row['name'])} ({signed(row['mean'])}{test})")
    more = [f"{len(rows) - _NAMED} more"] if len(rows) > _NAMED else []
    return _and(told + more)


# -- what carries it ------------------------------------------------------------------------------
def _carried(found: Section) -> Said:
    importance = found["importance"]
    if importance is None:
        return
    for what in ("views", "columns"):
        rows = importance[what]
        if rows is None:
            continue
        called = "kernels" if found["data"]["features"] is None and what == "columns" else what
        sure = [i for i, low in enumerate(rows["low"]) if low is not None and low > 0.0]
        if not sure:
            yield what, "plain", _none_clear(rows, called, _metric(importance))
            continue
        metric = _metric(importance)
        named, falls = [rows["names"][i] for i in sure], [_loss(rows["mean"][i]) for i in sure]
        most = len(sure) if len(sure) <= _NAMED + 1 else _NAMED  # "and 1 more" says no less than the name
        more = [f"{len(sure) - most} more"] if len(sure) > most else []
        left = len(rows["names"]) - len(sure)
        rest = "" if not left else f" No other {called[:-1]} clearly matters{_but(rows, sure)}."
        noun, by = called if len(sure) > 1 else called[:-1], _and(falls[:most])
        them = "each of them" if len(sure) > 1 else "it"
        needs = f"The predictions need the {noun} {_and(named[:most] + more)}"
        text = f"{needs}: without {them}, {metric} falls by {by} on held-out samples."
        yield what, "plain", text + rest


def _but(rows: Section, sure: Sequence[int]) -> str:
    """The column with the largest loss of all, where that loss is not clear: a chart shows it first."""
    known = [i for i, mean in enumerate(rows["mean"]) if mean is not None]
    first = max(known, key=lambda i: rows["mean"][i])
    if first in sure:
        return ""
    loss = _loss(rows["mean"][first])
    return (
        f" (without {rows['names'][first]} the mean loss is {loss}, but it varies too much from fold to fold)"
    )


def _none_clear(rows: Section, called: str, metric: str) -> str:
    """Where no loss is clearly above zero: the largest one, with its interval."""
    text = f"No single one of the {called} clearly matters"
    known = [i for i, mean in enumerate(rows["mean"]) if mean is not None and rows["low"][i] is not None]
    first = max(known, key=lambda i: rows["mean"][i], default=None)
    if first is None or not rows["mean"][first] > 0.0:
        return f"{text}."
    low, high = (_loss(rows[side][first]) for side in ("low", "high"))
    return (
        f"{text}. The largest loss is that of {rows['names'][first]}: without it, {metric} falls by "
        f"{_loss(rows['mean'][first])} on held-out samples, but the 95 % interval is {low} to {high}. "
        "Either others carry the same information, or there are too few samples to tell."
    )


# -- what to be careful about ---------------------------------------------------------------------
def _care(found: Section) -> Said:
    for text in (
        *_care_of_samples(found),
        *_care_of_columns(found["data"]),
        *_care_of_scores(found),
        *_care_of_the_search(found["selection"]),
        *_care_of_the_fit(found["weights"]),
    ):
        yield "care", "care", text


def _care_of_samples(found: Section) -> Iterator[str]:
    data = found["data"]
    n, target = data["samples"], data["target"]
    if n < _FEW:
        yield f"There are only {n} samples: scores are rough, and small effects cannot be seen."
    if target["task"] == "classification":
        rare = [
            f"{label} ({count})"
            for label, count in zip(target["labels"], target["counts"], strict=True)
            if count < _RARE
        ]
        if rare:
            which = "This class has" if len(rare) == 1 else "These classes have"
            yield f"{which} few samples: {and_more(rare, 3)}."
        quality, share = found["quality"], max(target["counts"]) / n
        if quality is not None and share > 0.7:
            balanced = _number(quality["balanced"])
            yield (
                f"{_percent(share)} of the samples are of one class, so that a high accuracy is easy to get. "
                f"The balanced accuracy, the mean over the classes, is {balanced} (guessing scores "
                f"1/{len(target['labels'])})."
            )
    if target["task"] == "survival" and (events := sum(target["events"])) < _FEW:
        yield f"Only {events} samples had the event, and the model learns mainly from these."


def _care_of_columns(data: Section) -> Iterator[str]:
    absent = absent_views(data)
    if absent:
        lacking = [f"{count} lack {view}" for view, count in absent.items()]
        yield f"Not all of the {data['samples']} samples have every view: {and_more(lacking, _NAMED)}."
    gaps = [row for row in data["missing"] if row["share"] >= _MISSING]
    gaps = [row for row in gaps if row["missing"] not in absent.values()]  # those of absent views are said
    if gaps:
        named = [f"{row['name']} ({_share(row['share'])})" for row in gaps]
        count = number_of(sum(row["columns"] for row in gaps), "column")
        yield f"At least {_share(_MISSING)} of the values are missing in {count}: {and_more(named, _NAMED)}."
    dropped = [row for row in data["dropped"] if row["why"] not in ASIDE]
    if dropped:
        named = [f"{row['name']} ({row['why']})" for row in dropped]
        verb = "was" if len(named) == 1 else "were"
        yield f"{number_of(len(named), 'column')} {verb} not used: {and_more(named, _NAMED)}."
    yield from data.get("presence", {}).get("remarks", [])


def absent_views(data: Section) -> dict[str, int]:
    """Views and how many samples lack each, where some do."""
    presence = data.get("presence", {})
    counts = dict(zip(presence.get("views", []), presence.get("counts", []), strict=True))
    return {view: data["samples"] - count for view, count in counts.items() if count < data["samples"]}


def _care_of_scores(found: Section) -> Iterator[str]:
    scores, quality = found["scores"], found["quality"]
    if scores is not None and found["selection"] is not None and scores["searched"] != "anew":
        yield "The score is a little too good, because the options of the model were chosen on all samples."
    off = None if quality is None or quality["kind"] != "classes" else quality["calibration"]
    if off is not None and off["off"] > _OFF:
        by = _number(off["off"], 2)
        yield f"Probabilities are off by {by} on average: use them to rank samples, not as probabilities."


def _care_of_the_search(selection: Section | None) -> Iterator[str]:
    if selection is None:
        return
    again = selection["again"]
    if again is not None and len(again["names"]) > 1:
        total, same = sum(again["counts"]), again["counts"][0]
        if total and same < 0.5 * total:
            yield (
                f"The choice of the search is uncertain: it chose the same model in {same} of {total} random "
                "halves of the data. Trust what several models share, such as the leading columns."
            )


def _care_of_the_fit(weights: Section) -> Iterator[str]:
    if weights["converged"] is False:
        yield "The fit stopped before it was done, so that the weights are approximate: raise max_iter."


# -- words ----------------------------------------------------------------------------------------
def _metric(section: Section) -> str:
    return "the C index" if section["metric"] == "C index" else str(section["metric"])


def _number(value: float, digits: int = 3) -> str:
    return number_shown(value, digits).replace("-", "−")


def _loss(value: float) -> str:
    """A loss of score, with as many digits as all scores have."""
    return (f"{value:.3f}" if abs(value) >= 5e-4 or value == 0.0 else f"{value:.1g}").replace("-", "−")


def spread_of(mean: float, std: float | None) -> str:
    """A mean and a standard deviation, for people."""
    text = f"{mean:.3f}" if std is None or not np.isfinite(std) else f"{mean:.3f} ± {std:.3f}"
    return text.replace("-", "−")


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"


def _share(share: float) -> str:
    """A share that need not be precise, as the list of gaps has it."""
    return f"{100 * share:.2g} %" if share < 0.1 else f"{int(100 * share + 0.5)} %"


def _and(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
