"""All inline code of README and pages is run, as a reader would copy it, and so are docstrings."""

from __future__ import annotations

import ast
import doctest
import importlib
import inspect
import math
import pkgutil
import re
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import sklearn.calibration
from sklearn.base import is_regressor
from sklearn.model_selection import GroupKFold, cross_val_score
from sklearn.svm import SVC
from tests.recipes import Values, arguments, call, called_name, looks_like_python, places
from tests.test_docs import FLAGS, PAGES, README, ROOT, name
from tests.times import times

import manykernels
from manykernels import MKLClassifier, MKLRegressor, penalties
from manykernels.approx import Approximation
from manykernels.families import Family
from manykernels.kernels import Gaussian, Kernel, Linear

SOURCE = ROOT / "src" / "manykernels"
SLOW_MODULES = {"manykernels.inspection.permutations"}
NOT_TOLD = ("cli", "demo", "estimators")  # whose parts are no names for readers, or are those of the package
PARTS = {
    found.name: importlib.import_module(f"manykernels.{found.name}")
    for found in pkgutil.iter_modules(manykernels.__path__)
    if not found.name.startswith("_") and found.name not in NOT_TOLD
}
PARTS = {part: module for part, module in PARTS.items() if hasattr(module, "__all__")}
PUBLIC = {public: getattr(part, public) for part in PARTS.values() for public in part.__all__}
PUBLIC |= {public: getattr(manykernels, public) for public in manykernels.__all__}
FACES = [
    face for face in map(PUBLIC.get, manykernels.__all__) if isinstance(face, type) and hasattr(face, "fit")
]
VALUES = Values(
    by_argument={
        "approx": "Nystroem(8)",
        "estimator": "SVC(kernel='precomputed')",
        "C": "1.0",
        "lam": "1e-2",
        "alpha": "1e-3",
        "mu0": "1.0",
        "radius": "1.0",
    },
    by_function={
        "Nystroem": "8",
        "RandomFeatures": "16",
        "Products": "",
        "views": "{'a': [0], 'b': [1, 2]}",
        "DAG": "{'top': (Linear(), []), 'below': (Gaussian(1.0), ['top'])}",
        "Run": "1e-3, 10",
    },
)
RNG = np.random.RandomState(0)
A = RNG.randn(30, 3)
X = pd.DataFrame(A, columns=["code", "x1", "x2"])
LABELS, NUMBERS = A[:, 0] > A[:, 1], A[:, 0] * A[:, 1]
# what names stand for in prose
NAMES = {
    **PARTS,
    "X": X,
    "y": LABELS,
    "Y": np.column_stack([NUMBERS, A[:, 2]]),
    "runs": np.arange(30) % 5,
    "GroupKFold": GroupKFold,
    "A": A[:, :2],
    "B": A[:, 1:],
    "K1": Linear()(A),
    "K2": Gaussian(1.0)(A),
    "matrices": {"one": Linear()(A), "two": Gaussian(1.0)(A)},
    "kernels": [Gaussian(1.0), Linear()],
    "kernel": Gaussian(1.0),
    "columns": [0],
    "low": 0.1,
    "high": 100.0,
    "p": 1.5,
    "m": 4,
    "η": 0.5,
    "math": math,
    "np": np,
    "sklearn": sklearn,
    "manykernels": manykernels,
    "mk": manykernels,
    "methods": {"lines": MKLClassifier(Linear()), "bumps": MKLClassifier(Gaussian(1.0))},
    "SVC": SVC,
    "cross_val_score": cross_val_score,
    "print": print,
    "warnings": warnings,
}
FOUND = [
    place
    for page in [README, *PAGES]
    for place in places(name(page), page.read_text(encoding="utf-8"))
    if any(map(looks_like_python, place.codes))
]


# -- running --------------------------------------------------------------------------------------
@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, monkeypatch):
    """What code in sentences writes (`checkpoint="folder"`) is not written into the repository."""
    monkeypatch.chdir(tmp_path)


def evaluate(tree, **more):
    tree = ast.fix_missing_locations(ast.Expression(VALUES.visit(tree)))
    return eval(compile(tree, "<page>", "eval"), {**PUBLIC, **NAMES, **more})


def learn(face, **given):
    """Fit an estimator of this class, or one that was made, with these arguments."""
    model = face(**given) if isinstance(face, type) else face.set_params(**given)
    if "tol" in model.get_params():
        model.set_params(tol=max(model.tol, 1e-2))  # since greedy methods take their time
    stack = model.get_params().get("kernels")
    samples = NAMES["matrices"] if isinstance(stack, str) and stack == "precomputed" else X
    grouped = {"groups": NAMES["runs"]} if isinstance(getattr(model, "cv", None), GroupKFold) else {}
    target = times(NUMBERS) if "Survival" in type(model).__name__ else LABELS
    model.fit(samples, NUMBERS if is_regressor(model) else target, **grouped)
    return model


def run_value(value):
    """Use what an expression gave: estimators, kernels, families and other parts learn."""
    if isinstance(value, tuple(FACES)) and not hasattr(value, "weights_"):
        return learn(value)
    if isinstance(value, Kernel | Family):
        return learn(MKLRegressor, kernels=value)
    if isinstance(value, Approximation):
        return learn(MKLRegressor, approx=value)
    if isinstance(value, penalties.Penalty):
        return learn(MKLRegressor, norm=value)
    return value


def takers(given):
    """The classes that take all of these arguments: estimators first, then parts of them."""
    kinds = [part for part in PUBLIC.values() if isinstance(part, type) and part not in FACES]
    others = [part for part in kinds if not issubclass(part, Exception)]
    first = [MKLClassifier, MKLRegressor, *FACES]
    return [kind for kind in [*first, *others] if set(given) <= set(inspect.signature(kind).parameters)]


def run_arguments(given):
    """Fit the first estimator that takes them and accepts their values; others need only have them."""
    found = takers(given)
    values = {word: evaluate(VALUES.of(word, tree)) for word, tree in given.items()}
    faces = [kind for kind in found if kind in FACES]
    refused = []
    for face in faces:
        try:
            return learn(face, **values)
        except ValueError as error:
            refused.append(f"{face.__name__}: {error}")
    assert not faces and (found or functions_with(given)), refused or f"nothing takes {sorted(given)}"
    return found


def functions_with(given):
    """The names of functions in the package that have these keywords."""
    return [key for key, known in DEFINED.items() if any(set(given) <= words for words, _ in known)]


def combinations(place):
    """A cell as fits: its estimators, or the one that suits, with all its arguments; after "or" others."""
    made, given = [], {}
    last = None
    for code in place.codes:
        if (words := arguments(code)) is not None:
            for last, tree in words.items():
                given.setdefault(last, []).append(tree)
        elif (tree := call(code)) is not None:
            value = evaluate(tree)
            if isinstance(value, tuple(FACES)):
                made.append(value)
                last = None
            elif last is not None:
                given[last].append(ast.parse(code, mode="eval").body)
        elif last is not None and re.fullmatch(r'"[\w-]+"', code):
            given[last].append(ast.parse(code, mode="eval").body)
    first = {word: trees[0] for word, trees in given.items()}
    sets = [first] + [{**first, word: tree} for word, trees in given.items() for tree in trees[1:]]
    return made, [one for one in sets if one]


# -- signatures -----------------------------------------------------------------------------------
def definitions():
    """All functions of the package by name: their keywords, and how many arguments they take by place."""
    found = {}
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef):
                own = [
                    a.arg for a in [*node.args.posonlyargs, *node.args.args] if a.arg not in ("self", "cls")
                ]
                words = {*own, *(a.arg for a in node.args.kwonlyargs)}
                found.setdefault(node.name, []).append((words, len(own)))
    return found


DEFINED = definitions()


def is_signature(code):
    """Whether it shows a method or function of the package with arguments that it takes."""
    shown = re.fullmatch(r"(\w+)\((.*)\)", code)
    if shown is None or shown[1] in PUBLIC or shown[1] not in DEFINED:
        return False
    given = [part.strip() for part in re.split(r",(?![^(]*\))", shown[2]) if part.strip()]
    words = {part.split("=")[0] for part in given if re.match(r"\w+=", part)}
    places_ = len(given) - len(words)
    return any(words <= known and places_ <= count for known, count in DEFINED[shown[1]])


# -- tests ----------------------------------------------------------------------------------------
def kind(code, place):
    """How a piece of inline code is run; empty if it is Python and nothing runs it."""
    if not looks_like_python(code):
        return "prose"
    if re.fullmatch(r"\w+=", code):
        return "argument" if takers([code[:-1]]) else ""
    if arguments(code) is not None:
        return "cell" if place.cell else "arguments"
    tree = call(code)
    if tree is not None and (
        called_name(tree) in PUBLIC or not called_name(tree) or called_name(tree) in NAMES
    ):
        return "cell" if place.cell and called_name(tree) in PUBLIC else "call"
    if is_signature(code):
        return "signature"
    return "assignment" if re.fullmatch(r"listed = False", code) else ""


def test_all_python_in_sentences_and_tables_is_run():
    left = [(place.page, code) for place in FOUND for code in place.codes if not kind(code, place)]
    assert left == []
    cells = [place for place in FOUND if place.cell]
    assert len(cells) > 20 and len(FOUND) - len(cells) > 30


def cases(*wanted):
    """The code of these kinds, once each; searches are slow."""
    found = {}
    for place in FOUND:
        for code in place.codes:
            if kind(code, place) in wanted:
                found.setdefault(place.text if kind(code, place) == "cell" else code, place)
    slow = [text for text in found if re.search(r"MKL\w+CV\(", text)]
    return [pytest.param(found[t], t, marks=[pytest.mark.slow] * (t in slow), id=t) for t in sorted(found)]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("place", "text"), cases("cell"))
def test_cells_of_tables_learn(place, text):
    made, sets = combinations(place)
    for model in made:
        own = {w for w in (sets[0] if sets else {}) if w in inspect.signature(type(model)).parameters}
        learn(model)
        for one in sets:
            if own:
                learn(model, **{w: evaluate(VALUES.of(w, one[w])) for w in own})
    if not made:
        for one in sets:
            run_arguments(one)
    if not made and not sets:
        for code in place.codes:
            if (tree := call(code)) is not None:
                run_value(evaluate(tree))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("place", "code"), cases("arguments"))
def test_arguments_in_sentences_are_taken(place, code):
    run_arguments(arguments(code))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("place", "code"), cases("call"))
def test_calls_in_sentences_run(place, code, tmp_path, capsys):
    np.save(tmp_path / "a.npy", A)
    more = {"path": tmp_path / "a.npy"}
    if re.search(r"\b(model|search)\b", code):
        more["model"] = (
            MKLRegressor().fit(X, NAMES["Y"]) if re.search(r"\bY\b", code) else learn(MKLClassifier)
        )
        more["search"] = (
            learn(manykernels.MKLClassifierCV(strategy="finite", cv=2)) if "search" in code else None
        )
    run_value(evaluate(call(code), **more))


def test_what_is_not_run_is_found():
    """The rules themselves: code that nobody can run does not pass for prose."""
    text = "`Bell(1.0)`, `nrm=2.0`, `MKLClassifier().fit(X, y)`; but `--cv 5`, `tests/x.py`, `y` are prose."
    (place,) = places("page", text)
    assert [kind(code, place) for code in place.codes] == ["", "arguments", "call", "prose", "prose", "prose"]
    with pytest.raises(AssertionError, match="nothing takes"):
        run_arguments(arguments("nrm=2.0"))
    (cell, *_) = places("page", '| lp | `norm=2.0`, `solver="alternating"` or `"active-set"` |')
    made, sets = combinations(cell)
    assert made == [] and [ast.unparse(one["solver"]) for one in sets] == ["'alternating'", "'active-set'"]


# -- docstrings -----------------------------------------------------------------------------------
def modules():
    paths = [path for path in sorted(SOURCE.rglob("*.py")) if ">>> " in path.read_text(encoding="utf-8")]
    names = [".".join(path.relative_to(SOURCE.parent).with_suffix("").parts) for path in paths]
    names = [n.removesuffix(".__init__") for n in names]
    return [
        pytest.param(n, p, marks=[pytest.mark.slow] * (n in SLOW_MODULES))
        for n, p in zip(names, paths, strict=True)
    ]


class Finder(doctest.DocTestFinder):
    """Finds the examples of a module, also those of methods that a decorator of another module wraps."""

    def _from_module(self, module, object):
        return super()._from_module(module, inspect.unwrap(object) if inspect.isfunction(object) else object)


@pytest.mark.parametrize(("module", "path"), modules())
def test_examples_of_docstrings_say_what_they_say(module, path, capsys):
    runner = doctest.DocTestRunner(optionflags=FLAGS)
    for examples in Finder().find(importlib.import_module(module), module):
        runner.run(examples)
    result = runner.summarize()
    written = len(re.findall(r"^ *>>> ", Path(path).read_text(encoding="utf-8"), re.M))
    skipped = path.read_text(encoding="utf-8").count("# doctest: +SKIP")
    assert not result.failed and result.attempted == written - skipped, capsys.readouterr().out
