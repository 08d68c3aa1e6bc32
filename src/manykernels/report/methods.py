"""A paragraph about methods, to paste into a paper: what was done, with which options and versions."""

from __future__ import annotations

import platform
from collections.abc import Iterator, Mapping
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import manykernels

from .._arguments import and_more, number_of, shown
from ..comparison.results import minus
from ..comparison.statistics import p_shown
from .verdict import absent_views

Section = Mapping[str, Any]
CITATION = "The manykernels developers. manykernels: multiple kernel learning for scikit-learn."
_PACKAGES = ("numpy", "scipy", "scikit-learn", "numba")
_PAPERS = {  # by the beginning of an estimator's name
    "Align": "C. Cortes, M. Mohri and A. Rostamizadeh, Algorithms for learning kernels based on centered "
    "alignment, JMLR 13, 2012",
    "UFO": "F. Orabona and L. Jie, Ultra-fast optimization algorithm for sparse multi kernel learning, ICML "
    "2011",
    "Hierarchical": "F. Bach, Exploring large feature spaces with hierarchical multiple kernel learning, "
    "NIPS 2008",
    "Nonlinear": "C. Cortes, M. Mohri and A. Rostamizadeh, Learning non-linear combinations of kernels, NIPS "
    "2009",
    "Localized": "Y. Lei, A. Binder, Ü. Dogan and M. Kloft, Localized multiple kernel learning: a convex "
    "approach, ACML 2016",
    "MKL": "M. Kloft, U. Brefeld, S. Sonnenburg and A. Zien, lp-norm multiple kernel learning, JMLR 12, 2011",
}


def versions() -> dict[str, str]:
    """Return the versions of Python and of the packages that a result depends on."""
    found = {"Python": platform.python_version(), "manykernels": manykernels.__version__}
    for name in _PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:  # pragma: no cover - numba may be built without metadata
            continue
    return found


def methods_section(found: Section, estimator: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """Write the paragraph about methods (``text``), with ``references`` and ``versions``."""
    sentences = [*_data(found), *_model(found, estimator, options), *_validated(found), *_importance(found)]
    used = versions()
    sentences.append(f"Computed with {', '.join(f'{name} {number}' for name, number in used.items())}.")
    return {"text": " ".join(sentences), "references": list(_references(found, estimator)), "versions": used}


def _data(found: Section) -> Iterator[str]:
    data = found["data"]
    target, n = data["target"], data["samples"]
    of = (
        number_of(data["kernels"], "kernel")
        if data["features"] is None
        else number_of(data["features"], "column")
    )
    text = f"The data are {n} samples with {of}"
    if target["task"] == "classification":
        counts = [f"{label} ({k})" for label, k in zip(target["labels"], target["counts"], strict=True)]
        text += f"; the target is {target['name']} with the classes {and_more(counts, 6)}"
    elif target["task"] == "survival":
        events = number_of(int(sum(target["events"])), "event")
        text += f"; the target is the time {target['name']}, with {events}"
    else:
        text += f"; the target is {target['name']}"
    yield text + "."
    absent = absent_views(data)
    if absent:
        lacking = [f"{count} lack {view}" for view, count in absent.items()]
        yield f"Not all samples have every view: {', '.join(lacking)}."
    gaps = sum(row["columns"] for row in data["missing"] if row["missing"] not in absent.values())
    if gaps:
        yield f"Values are missing in {number_of(gaps, 'column')}."
    for text in data["prepared"]:
        yield text[0].upper() + text[1:]


def _model(found: Section, estimator: str, options: Mapping[str, Any]) -> Iterator[str]:
    weights, selection = found["weights"], found["selection"]
    named = {key: _option(options[key]) for key in ("norm", "loss", "C", "weighting") if key in options}
    told = ", ".join(f"{key} = {value}" for key, value in named.items())
    size = number_of(len(weights["names"]), "kernel")
    text = f"We fitted {estimator} of manykernels (multiple kernel learning) with {size}"
    yield f"{text} and {told}." if told else f"{text}."
    if selection is not None:
        tried = ", ".join(selection["strategy"])
        yield f"Kernels, norm and C were chosen by cross-validation; the strategies tried are: {tried}."
    if weights["gap"] is not None:
        yield f"The relative duality gap of the fit is {weights['gap']:.1e}."


def _option(value: Any) -> str:
    """A value in a sentence: of long numbers three digits."""
    text = shown(value)
    return f"{value:.3g}" if isinstance(value, float) and len(text) > 7 else text


def _validated(found: Section) -> Iterator[str]:
    scores = found["scores"]
    own = None if scores is None else scores["rows"][0]
    if own is None or own["mean"] is None:
        return
    again = found["selection"] is not None and scores["searched"] == "anew"
    how = ", with the search repeated within each" if again else ""
    spread = f" ± {own['std']:.3f} (standard deviation over folds)" if own["std"] is not None else ""
    folds = f"It was scored by cross-validation in {len(own['folds'])} folds{how}"
    yield f"{folds}: {scores['metric']} {minus(own['mean'])}{spread}."
    if (groups := found["data"].get("groups")) is not None:
        yield f"Samples of one group ({_groups(groups)}) were in the same fold."
    rivals = [
        f"{row['name']} ({minus(row['mean'])})" for row in scores["rows"][1:] if row["mean"] is not None
    ]
    if rivals:
        yield (
            f"Alternatives in the same folds: {', '.join(rivals)}. Differences were tested by the corrected "
            "resampled t-test (Nadeau and Bengio 2003), with p-values adjusted by Holm's method."
        )
    permuted = scores["permutation"]
    if permuted is not None:
        count = len(permuted["null"])
        p = p_shown(permuted["p_value"])
        yield f"A test with {count} permutations of the target gives {p} (Phipson and Smyth 2010)."


def _groups(groups: Section) -> str:
    name = f"{groups['name']}, " if groups["name"] else ""
    return f"{name}{number_of(groups['count'], 'group')}"


def _importance(found: Section) -> Iterator[str]:
    told = found["importance"]
    if told is not None:
        often = f"{number_of(told['folds'], 'fold')}, {number_of(told['repeats'], 'permutation')} each"
        single = "kernel" if found["data"]["features"] is None else "column"
        rows = {single: told["columns"], "view": told["views"]}
        what = " or ".join(name for name, one in rows.items() if one is not None) or single
        yield (
            f"The importance of a {what} is what {told['metric']} loses on held-out samples when "
            f"its values are permuted ({often}; Breiman 2001)."
        )


def _references(found: Section, estimator: str) -> Iterator[str]:
    yield f"{CITATION} Version {manykernels.__version__}."
    yield (
        next(paper for start, paper in {**_PAPERS, "": _PAPERS["MKL"]}.items() if estimator.startswith(start))
        + "."
    )
    if found["scores"] is not None:
        yield "C. Nadeau and Y. Bengio, Inference for the generalization error, Machine Learning 52, 2003."
        if found["scores"]["permutation"] is not None:
            yield (
                "B. Phipson and G. K. Smyth, Permutation p-values should never be zero, Statistical "
                "Applications in Genetics and Molecular Biology 9, 2010."
            )
    if found["importance"] is not None:
        yield "L. Breiman, Random forests, Machine Learning 45, 2001."
