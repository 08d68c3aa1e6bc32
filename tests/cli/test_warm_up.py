"""What `manykernels warm-up` compiles is what fits need."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest
from tests.fitted_models import X, y
from typer.testing import CliRunner

from manykernels import MKLClassifier
from manykernels.cli import warm_up
from manykernels.cli.app import app

FIT = """
from sklearn.datasets import load_breast_cancer
from manykernels import MKLClassifier, MKLClassifierCV, MKLRegressor
from manykernels._fast.compiled import compiling
X, y = load_breast_cancer(return_X_y=True)
with compiling() as names:
    for model in (MKLClassifier(), MKLRegressor(norm=2), MKLClassifierCV(n_jobs=1)):
        model.fit(X[:200], y[:200]).predict(X)
print(names)
"""


def test_the_command_says_what_was_compiled(monkeypatch):
    monkeypatch.setattr(warm_up, "_problems", lambda: [(MKLClassifier(), X, y)])
    result = CliRunner().invoke(app, ["warm-up", "--json"])
    assert result.exit_code == 0, result.output
    said = json.loads(result.stdout)
    assert said["command"] == "warm-up" and said["seconds"] >= 0
    assert all("." in name for name in said["compiled"])  # none where the tests before have compiled all


@pytest.mark.slow
def test_nothing_is_compiled_after_it(tmp_path):
    """In an empty cache the fits below compile dozens of functions, and none after the command."""
    here = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}

    def run(code):
        done = subprocess.run([sys.executable, "-c", code], env=here, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip().splitlines()[-1]

    found = run("from manykernels.cli.warm_up import compile_ahead\nprint(len(compile_ahead()))")
    assert int(found) > 20
    assert run(FIT) == "[]"
