"""What a newcomer runs first works: the demo."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import numpy as np
import pytest

from manykernels import demo
from manykernels.kernels import Gaussian, Linear


def check(text: str) -> None:
    """The summary has all its parts, and the numbers in it are possible ones."""
    accuracies = [float(percent) for percent in re.findall(r"([\d.]+)% ±", text)]
    assert len(accuracies) == 4 and min(accuracies[:3]) > 90
    for words in [
        "learned combination",
        "uniform sum",
        "best single",
        "may be chance",
        "Weights",
        "Total of each view",
    ]:
        assert words in text
    (gap,) = re.findall(r"within (\S+) \(relative\)", text)
    assert 0 <= float(gap) <= 1e-3


def test_bars_are_proportional_and_show_every_positive_value():
    lines = demo.bars(["a", "long", "none"], [2.0, 0.001, 0.0], width=10).splitlines()
    assert [line.count("█") for line in lines] == [10, 1, 0]
    assert [line.split()[0] for line in lines] == ["a", "long", "none"]


def test_the_demo_says_what_it_learned_and_writes_it(capsys, monkeypatch, tmp_path):
    monkeypatch.setattr(demo, "BASE", [Linear(), Gaussian(width=3.0)])
    monkeypatch.setattr(demo, "COSTS", [1.0])
    path = tmp_path / "report.html"
    demo.main(str(path))
    said = capsys.readouterr().out
    check(said)
    assert str(path) in said
    told = json.loads(re.search(r'id="data">(.*?)</script>', path.read_text("utf-8"), re.DOTALL).group(1))
    assert told["scores"]["rows"][0]["name"] == "learned combination (norm=1)"
    low, high = np.array(told["weights"]["stability"]["low"]), np.array(told["weights"]["stability"]["high"])
    assert np.all(low <= high) and np.any(low < high)


@pytest.mark.slow
def test_the_demo_runs_as_a_command(tmp_path):
    command = [sys.executable, "-m", "manykernels.demo"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, encoding="utf-8", cwd=tmp_path)
    check(done.stdout)
    assert (tmp_path / "manykernels-demo.html").stat().st_size > 20_000
