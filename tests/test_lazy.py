"""The package imports its parts when they are used, and looks to everybody as if it had them all."""

from __future__ import annotations

import ast
import json
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

import manykernels
from manykernels.cli import choices
from manykernels.comparison.methods import METHODS

HEAVY = {"numpy", "scipy", "sklearn", "numba", "pandas", "joblib"}


def loaded(code):
    """The modules that a new process has after some code."""
    said = f"{code}\nimport json, sys\nprint(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", said], capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout.splitlines()[-1]))


@pytest.mark.parametrize("option", ["", "--version", "--help", "fit --help", "compare --help"])
def test_help_imports_nothing_that_takes_long(option):
    run = f"import sys\nsys.argv[1:] = {option.split()!r}\nfrom manykernels.cli.app import app\n"
    run += "try:\n    app()\nexcept SystemExit as end:\n    assert not end.code"
    found = loaded(run if option else "import manykernels")
    assert "manykernels" in found and not found & HEAVY


def test_one_estimator_imports_no_other_and_none_of_scikit_learns():
    found = loaded("from manykernels import MKLClassifier")
    assert "manykernels.estimators.mkl" in found and "manykernels.estimators.mkl_cv" not in found
    assert not {f"manykernels.{part}" for part in ("selection.search", "comparison", "report")} & found
    assert not {f"sklearn.{part}" for part in ("svm", "cluster", "metrics", "model_selection")} & found


@pytest.mark.parametrize("package", [manykernels.estimators, manykernels])
def test_a_package_lists_what_it_imports_later(package):
    """The names that type checkers read are those that are found when they are used."""
    tree = ast.parse(Path(package.__file__).read_text(encoding="utf-8"))
    (checked,) = (node for node in tree.body if isinstance(node, ast.If) and isinstance(node.test, ast.Name))
    names = [alias.name for line in checked.body for alias in line.names]
    assert set(package.__all__) - {"__version__"} <= set(names)
    for name in names:
        assert getattr(package, name).__name__ == name
    assert set(package.__all__) <= set(dir(package))


def test_every_name_is_there():
    for name in manykernels.__all__:
        assert getattr(manykernels, name) is not None and name in dir(manykernels)
    namespace = {}
    exec("from manykernels import *", namespace)
    assert set(manykernels.__all__) <= set(namespace)
    model = manykernels.MKLRegressor(norm=2.0)
    assert pickle.loads(pickle.dumps(model)).norm == 2.0


def test_parts_are_attributes_as_after_an_import():
    found = loaded(
        "import manykernels\nassert manykernels.kernels.Gaussian(1.0)\nassert manykernels.inspection"
    )
    assert "manykernels.kernels" in found and "manykernels.report" not in found
    assert {"kernels", "families", "inspection", "plots"} <= set(dir(manykernels))


def test_other_names_are_errors():
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = manykernels.nothing
    with pytest.raises(ImportError, match="cannot import name 'nothing'"):
        from manykernels import nothing  # noqa: F401


def test_help_names_all_methods():
    assert choices.METHODS == tuple(METHODS)
