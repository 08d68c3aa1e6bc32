"""What is counted of the composition layer, on a package of a few lines."""

from __future__ import annotations

import runpy

import pytest
from benchmarks import composition as count

FIT = '''"""Text."""

from typing import Any


def solve(estimator: Any, tol: float) -> Any:  # counted
    """Text
    of two lines."""
    return sum(
        tol for _ in range(3)
    )


def steps():
    yield 1
    yield 2
'''
FACE = """from ..solvers._inside import secret
from ._fit import solve, steps


class Face:
    def fit(self, model: Any = None) -> Any:
        for _ in range(5):
            solve(self, 1.0)
        return list(steps())
"""


@pytest.fixture
def package(tmp_path):
    files = {
        "__init__.py": "from .estimators import Face\n",
        "estimators/__init__.py": "from .face import Face\n",
        "estimators/_fit.py": FIT,
        "estimators/face.py": FACE,
        "solvers/_inside.py": "def secret(given: BaseEstimator) -> None: ...\n",
        "report/data.py": "def report_data(model: Any) -> None: ...\ndef _last(model: Any) -> None: ...\n",
    }
    for name, text in files.items():
        (tmp_path / "manykernels" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "manykernels" / name).write_text(text, encoding="utf-8")
    return tmp_path / "manykernels"


def test_models_lines_and_imports(package):
    assert count.untyped_models(package) == [
        "estimators/_fit.py:6 solve(estimator)",
        "report/data.py:2 _last(model)",
        "solvers/_inside.py:1 secret(given)",
    ]
    assert count.raw_models(package) == 4
    assert count.code_lines(FIT) == (6, 8)
    assert count.private_imports(package) == ["estimators/face.py:1 manykernels.solvers._inside.secret"]


def test_entries(package):
    """fit, solve five times in a row, and a generator that goes on twice."""
    names = runpy.run_path(str(package / "estimators" / "_fit.py"))
    text = FACE.split("\n\n\n")[1].replace("Any", "object")
    exec(compile(text, str(package / "estimators" / "face.py"), "exec"), names)
    assert count.entries(names["Face"]().fit, package) == (3, 1 + 5 + 3)
