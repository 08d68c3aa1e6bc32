"""Every public object has a docstring as scikit-learn's have: numpydoc's checks, and some of our own.

*Public* is everything in the ``__all__`` of a package that is not private, everything that `measures` and
`clusters` define, and the public methods of public classes, wherever in this package they are defined.

- numpydoc finds what is missing, unknown or out of order (`CODES`).
- Defaults are documented as ``default=value`` with the value of the signature.
- What is returned is documented wherever the annotation is not None; properties need one sentence only.
- Fields of dataclasses and named tuples stand in Parameters or in Attributes.
- Attributes that a class sets with a trailing underscore stand in Attributes. Other public attributes stand
  in Attributes or Parameters of the class or of a base; properties have a docstring of their own.
- Classes and functions have an example. Methods have one too, or that of their class calls them.
  `test_recipes.py` runs all examples, module by module.
- What a user calls and may get wrong says what it raises: `fit` and `predict` of estimators, files, data sets
  and resolvers.
- Methods of other people have References (`SOMEBODYS`), but for those in `NOBODYS`.
- Papers are cited by author and year, in private code and in everything around the package too.

A method that overrides one of this package may say only how it differs, by a formula even: its parameters are
documented where the method is defined first, and only those that no method above documents are asked for.
Exceptions and warnings need one sentence.

``python -m tests.test_docstrings PREFIX`` prints what is left to do for the modules with that prefix.
"""

from __future__ import annotations

import ast
import dataclasses
import enum
import importlib
import inspect
import pkgutil
import re
import sys
import textwrap
from functools import cache, cached_property
from pathlib import Path

import pytest
from numpydoc.docscrape import get_doc_object
from numpydoc.validate import Validator, validate

import manykernels

SOURCE = Path(manykernels.__file__).parent
SUMMARY = {"GL08", "SS01", "SS02", "SS03", "SS04", "SS05", "SS06"}
LAYOUT = {"GL01", "GL02", "GL03", "GL05", "GL06", "GL07", "GL09", "GL10"}
PARAMETERS = {f"PR{i:02d}" for i in range(1, 11)}
RETURNS = {"RT01", "RT03", "RT04", "RT05", "YD01"}
CODES = SUMMARY | LAYOUT | PARAMETERS | RETURNS
WITHOUT_ALL = ("manykernels.measures", "manykernels.clusters")


# -- what is public -------------------------------------------------------------------------------
def modules():
    """The package and the modules in it that offer names."""
    names = [f"manykernels.{found.name}" for found in pkgutil.iter_modules(manykernels.__path__)]
    found = [importlib.import_module(name) for name in names if not name.split(".")[1].startswith("_")]
    return [manykernels, *(module for module in found if offered(module))]


def offered(module):
    """The names that a module offers."""
    if module.__name__ in WITHOUT_ALL:
        return [name for name, value in vars(module).items() if own(value, module) and name[0] != "_"]
    return getattr(module, "__all__", [])


def own(value, module):
    return callable(value) and getattr(value, "__module__", "") == module.__name__


def top_level():
    """Classes and functions of the package that have a public name, once each."""
    values = [getattr(module, name) for module in modules() for name in offered(module)]
    values = [
        value for value in values if (inspect.isclass(value) or inspect.isfunction(value)) and ours(value)
    ]
    return {f"{value.__module__}.{value.__qualname__}": value for value in values}


def ours(thing):
    return thing.__module__.split(".")[0] == "manykernels"


def methods():
    """Public methods and properties of public classes, once each, with the class that defines them."""
    found = {}
    for cls in top_level().values():
        for base in inspect.getmro(cls) if inspect.isclass(cls) else ():
            for name, value in vars(base).items() if ours(base) else ():
                if (name[0] != "_" or name == "__call__") and function_of(value) is not None:
                    found[f"{base.__module__}.{base.__qualname__}.{name}"] = (base, name, value)
    return found


def function_of(value):
    """The function of a method or property, None for other attributes."""
    if isinstance(value, property):
        return value.fget
    if isinstance(value, cached_property):
        return value.func
    value = getattr(value, "__func__", getattr(value, "fn", value))  # `fn` of what is there under a condition
    return value if inspect.isfunction(value) else None


def overrides(cls, name):
    """Whether a base class in this package documents a method of that name."""
    above = [vars(base)[name] for base in inspect.getmro(cls)[1:] if ours(base) and name in vars(base)]
    return any(function_of(value) is not None and function_of(value).__doc__ for value in above)


# -- checks ---------------------------------------------------------------------------------------
def complaints(thing, codes):
    """What numpydoc says of a docstring, of these codes."""
    found = validate(get_doc_object(thing))["errors"]
    return [f"{code}: {message}" for code, message in found if code in codes]


def of_class(cls):
    """What is wrong with the docstring of a class."""
    if issubclass(cls, Exception):
        return complaints(cls, SUMMARY)
    if cls.__doc__ is None or (dataclasses.is_dataclass(cls) and cls.__doc__.startswith(f"{cls.__name__}(")):
        return ["GL08: the class has no docstring"]
    doc = Validator(get_doc_object(cls, config={"show_class_members": False}))  # what is written, no more
    attributes = {name for entry in doc.doc["Attributes"] for name in entry.name.split(", ")}
    found = complaints(cls, CODES - RETURNS)
    if not takes_parameters(cls) or (
        is_record(cls) and {*doc.signature_parameters} <= {*doc.doc_all_parameters} | attributes
    ):
        found = [text for text in found if text[:4] not in ("PR01", "PR03")]
    if missing := fitted_attributes(cls) - attributes:
        found.append(f"Attributes: {sorted(missing)} are not documented")
    if missing := plain_attributes(cls).difference(*map(documented, filter(ours, inspect.getmro(cls)))):
        found.append(f"Attributes: {sorted(missing)} are documented neither here nor in a base")
    empty = [
        e.name for e in doc.doc["Attributes"] if not is_property(cls, e.name) and not (e.type and e.desc)
    ]
    if empty:
        found.append(f"Attributes: {empty} have no type or no description")
    return found + defaults(cls, doc) + example(cls)


def takes_parameters(cls):
    """Whether somebody calls the class: not a protocol, an enumeration, or a class without a constructor."""
    if issubclass(cls, enum.Enum) or getattr(cls, "_is_protocol", False):
        return False
    return cls.__init__ is not object.__init__


def is_record(cls):
    return dataclasses.is_dataclass(cls) or issubclass(cls, tuple)


def is_property(cls, name):
    return isinstance(inspect.getattr_static(cls, name, None), property | cached_property)


def fitted_attributes(cls):
    """Public names with a trailing underscore that the class or its bases here set or compute."""
    found = set().union(*map(attributes_of, filter(ours, inspect.getmro(cls))))
    return {name for name in found if re.fullmatch(r"[A-Za-z]\w*_", name)}


def plain_attributes(cls):
    """Public names without an underscore at the end that the class or its bases here set; no properties."""
    found = set().union(*map(attributes_of, filter(ours, inspect.getmro(cls))))
    found = {name for name in found if re.fullmatch(r"[A-Za-z]\w*[A-Za-z0-9]|[A-Za-z]", name)}
    return {name for name in found if not is_property(cls, name)}


@cache
def documented(cls):
    """Names in Attributes and Parameters of what the docstring of a class itself says."""
    if "__doc__" not in vars(cls) or cls.__doc__ is None:
        return set()
    doc = get_doc_object(cls, config={"show_class_members": False})
    entries = [*doc["Attributes"], *doc["Parameters"]]
    return {name for entry in entries for name in entry.name.split(", ")}


@cache
def attributes_of(cls):
    """Names that the body of a class sets on itself or on the class, and its properties."""
    found = {name for name, value in vars(cls).items() if is_property(cls, name) or is_data(value)}
    for node in ast.walk(ast.parse(textwrap.dedent(inspect.getsource(cls)))):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            found |= {node.attr} if getattr(node.value, "id", "") == "self" else set()
    return found


def is_data(value):
    """Whether a name in the body of a class is neither a method nor another class."""
    return not (inspect.isclass(value) or inspect.isroutine(value) or hasattr(value, "__func__"))


def of_function(function):
    """What is wrong with the docstring of a function or method."""
    found = complaints(function, CODES)
    doc = Validator(get_doc_object(function))
    returned = str(inspect.signature(function).return_annotation)
    nothing = ("None", "NoReturn", "Never", str(inspect.Signature.empty))
    if returned not in nothing and not doc.returns and not doc.yields and not any("RT01" in t for t in found):
        found.append(f"RT01: {returned} is returned; no Returns section found")
    return found + defaults(function, doc)


def of_method(cls, name, value):
    """What is wrong with the docstring of a method or property."""
    function = function_of(value)
    if overrides(cls, name):
        known = [] if not function.__doc__ else complaints(function, {"SS01", "SS03", "SS04", "SS06"})
        return known + new_parameters(cls, name, function)
    if not function.__doc__:
        return ["GL08: the method has no docstring"]
    if isinstance(value, property | cached_property):
        return complaints(function, SUMMARY - {"SS05"})
    return of_function(function) + (example(function) if not shown_by(cls, name) else [])


def shown_by(cls, name):
    """Whether an example in the docstring of a class calls a method; other calls look like `__call__`."""
    lines = re.findall(r"^ *(?:>>>|\.\.\.) .*", cls.__doc__ or "", re.M)
    return name != "__call__" and any(re.search(rf"\.{name}\(", line) for line in lines)


def new_parameters(cls, name, function):
    """What an overriding method takes that neither its docstring nor those above it document."""
    told = set()
    for base in inspect.getmro(cls):
        above = function_of(vars(base).get(name)) if ours(base) else None
        if above is not None and above.__doc__:
            told |= {n.lstrip("*") for n in Validator(get_doc_object(above)).doc_all_parameters}
    taken = {n for n in inspect.signature(function).parameters if n != "self" and n[0] != "_"}
    return [f"Parameters: {sorted(taken - told)} are documented nowhere"] if taken - told else []


def defaults(thing, doc):
    """Parameters whose default is not documented, or is another one."""
    found = []
    for name, parameter in inspect.signature(thing).parameters.items():
        if parameter.default is inspect.Parameter.empty or name not in doc.doc_all_parameters:
            continue
        told = re.search(r"default=(.*)$", doc.doc_all_parameters[name][0])
        if told is None:
            found.append(f'Parameter "{name}" should say default={parameter.default!r}')
        elif is_plain(parameter.default) and told[1] != repr(parameter.default) != repr(literal(told[1])):
            found.append(f'Parameter "{name}" has default={parameter.default!r}, not {told[1]}')
    return found


def is_plain(value):
    return value is None or (isinstance(value, bool | int | float | str) and not isinstance(value, enum.Enum))


def literal(text):
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return float(text) if text in ("inf", "-inf") else text


def example(thing):
    """Public classes, functions and methods show how they are used."""
    shown = ">>> " in "\n".join(get_doc_object(thing)["Examples"])
    return [] if shown else ["EX01: no Examples section with >>> found"]


def wrong(name):
    """Everything that is wrong with the docstring of a public object."""
    if name in METHODS:
        return of_method(*METHODS[name])
    thing = TOP_LEVEL[name]
    return of_class(thing) if inspect.isclass(thing) else of_function(thing) + example(thing)


TOP_LEVEL, METHODS = top_level(), methods()
PUBLIC = sorted({*TOP_LEVEL, *METHODS})


# -- tests ----------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", PUBLIC)
def test_docstring(name):
    assert wrong(name) == []


def test_all_packages_are_seen():
    seen = {".".join(name.split(".")[:2]) for name in PUBLIC}
    assert len(seen) > 20 and len(TOP_LEVEL) > 250 and len(METHODS) > 250


RIDDLE = re.compile(r"(What|Whether|How|Where|Which|Who|Whose|Why|When|Of|That|As)\b")


@pytest.mark.parametrize("name", [name for name in PUBLIC if not name.startswith("manykernels.report.")])
def test_first_lines_are_sentences(name):
    """No summary is a clause without its verb."""
    thing = function_of(METHODS[name][2]) if name in METHODS else TOP_LEVEL[name]
    assert not RIDDLE.match((thing.__doc__ or "").strip())


RAISING = [
    "load",
    "save",
    "report.report",
    "datasets.load",
    "datasets.load_survival",
    "families.resolve_kernels",
]
RAISING += ["approx.resolve_approx", "penalties.resolve_penalty", "weightings.resolve_weighting"]
RAISING += ["solvers.resolve_solver", "losses.resolve_loss"]
FACES = [name for name in manykernels.__all__ if hasattr(getattr(manykernels, name), "fit")]


def says_what_it_raises(functions):
    """Whether one of these docstrings has the section Raises."""
    return any(get_doc_object(one)["Raises"] for one in functions if one is not None and one.__doc__)


@pytest.mark.parametrize("name", RAISING)
def test_what_is_raised_is_documented(name):
    package, _, last = f"manykernels.{name}".rpartition(".")
    assert says_what_it_raises([getattr(importlib.import_module(package), last)])


@pytest.mark.parametrize("face", FACES)
@pytest.mark.parametrize("method", ["fit", "predict"])
def test_estimators_say_what_they_raise(face, method):
    """Where the method is defined, or where it is defined first."""
    bases = filter(ours, inspect.getmro(getattr(manykernels, face)))
    found = [undecorated(vars(base)[method]) for base in bases if method in vars(base)]
    assert not found or says_what_it_raises(found)


def undecorated(value):
    """The function below the decorators of scikit-learn."""
    return inspect.unwrap(function_of(value) or getattr(value, "fn", None) or value)


# Methods, losses, solvers, weightings, measures and bounds are mostly somebody's.
SOMEBODYS = "losses solvers weightings penalties measures bounds survival estimators approx machines clusters"
NOBODYS = {
    "approx.approximation_error": "a ratio of norms",
    "approx.Features": "a record of maps",
    "approx.OwnFeatures": "the map that a kernel has itself",
    "bounds.lkrr_range": "two lines, which the docstring has",
    "bounds.lkrr_stability_of": "`lkrr_stability` of a model",
    "clusters.centre_weights": "a weighted mean",
    "clusters.shares_of": "a softmax",
    "clusters.soften": "soft k-means, which its docstring defines",
    "estimators.TablePreparer": "of this package",
    "machines.feasible": "a projection",
    "measures.target_factor": "a factor",
    "solvers.stoppable": "of this package",
    "survival.curves_by_risk": "`kaplan_meier` of groups",
    "survival.group_curves": "`kaplan_meier` and `log_rank` of groups",
    "survival.median_time": "a quantile",
    "survival.restricted_mean": "an integral",
    "survival.risk_groups": "quantiles",
}


def somebodys():
    """Public functions and classes of these packages that are neither bases, records nor resolvers."""
    for package in SOMEBODYS.split():
        module = importlib.import_module(f"manykernels.{package}")
        for name in offered(module):
            thing = getattr(module, name)
            if not (inspect.isclass(thing) or inspect.isfunction(thing)) or not ours(thing):
                continue
            first = inspect.getdoc(thing).splitlines()[0]
            helper = re.match(r"resolve_|refusal|serving|why_not|machine_for", name)
            record = inspect.isclass(thing) and (is_record(thing) or issubclass(thing, enum.Enum | Exception))
            if not first.startswith("Base class") and not record and not helper:
                yield f"{package}.{name}", thing


def test_methods_of_others_are_cited():
    found = dict(somebodys())
    bare = {name for name, thing in found.items() if not get_doc_object(thing)["References"]}
    assert bare == set(NOBODYS) and len(found) > 80


def cited_by_number(path):
    """Lines that cite a paper by a number such as 00 followed by 4, rather than by author and year.

    A number in quotes and alone is an id of a sample.
    """
    lines = path.read_text(encoding="utf-8").splitlines()
    an_id = r"(?!(?<=[\"'`])00\d[\"'`])"
    pattern = re.compile(rf"(?<![\w.,-])(?<!\d ){an_id}00[0-4](?![\w.]?\d)")
    return [line for line in lines if pattern.search(line)]


ROOT = Path(__file__).resolve().parents[1]
PLACES = ("src", "experiments", "tests", "benchmarks", "docs", "examples")
NUMBERED = ("docs/references.md", "docs/_build", "docs/gallery")  # and generated pages


def test_papers_are_cited_by_author_and_year():
    """Only one page has the numbers that older notes and records use."""
    files = [path for place in PLACES for path in sorted((ROOT / place).rglob("*"))]
    paths = {path.relative_to(ROOT).as_posix(): path for path in files if path.suffix in (".py", ".md")}
    found = {name: cited_by_number(path) for name, path in paths.items() if not name.startswith(NUMBERED)}
    assert {name: lines for name, lines in found.items() if lines} == {} and len(found) > 900


def test_the_checks_find_what_is_wrong(tmp_path):
    def undocumented(a, b=1):
        return a

    def wrong_default(a, b=1):
        """Add two numbers.

        Parameters
        ----------
        a : int
            First number.
        b : int, default=2
            Second number.

        Returns
        -------
        int
            Their sum.
        """
        return a + b

    assert of_function(undocumented) and "GL08" in of_function(undocumented)[0]
    assert of_function(wrong_default) == ['Parameter "b" has default=1, not 2'] and example(wrong_default)
    (tmp_path / "a.py").write_text(f"# as in {'00' + '4'} §2\nx = 0.001\n", encoding="utf-8")
    assert len(cited_by_number(tmp_path / "a.py")) == 1


if __name__ == "__main__":
    for place in PUBLIC:
        if place.startswith(tuple(sys.argv[1:]) or "manykernels"):
            print("\n".join([place, *(f"    {text}" for text in wrong(place))]))
