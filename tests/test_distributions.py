"""What is released: equal to the byte whoever builds it, and able to fit where nothing else of us is."""

import subprocess
import sys
from pathlib import Path

import pytest
from tests.distributions import FIT, OLDEST, ROOT, by_version, plain, reproduced, require_equal

GIT = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True).returncode == 0


def test_differences_are_named():
    with pytest.raises(SystemExit, match=r"two builds differ in b.whl"):
        require_equal({"a": b"1", "b.whl": b"1"}, {"a": b"1", "b.whl": b"2"}, "two builds")
    with pytest.raises(SystemExit, match="different files"):
        require_equal({"a": b"1"}, {"b": b"1"}, "two builds")
    with pytest.raises(SystemExit, match="everything"):
        require_equal({}, {}, "two builds")


def test_pythons_are_found_by_running_them():
    found = by_version([Path(sys.executable), Path(sys.executable), ROOT / "no.python"])
    assert list(found.values()) == [Path(sys.executable)] and min(found) >= OLDEST


@pytest.mark.slow
@pytest.mark.skipif(not GIT, reason="not a git checkout")
def test_two_builds_are_equal_and_what_they_hold_fits(tmp_path):
    made = reproduced(tmp_path)
    assert sorted(name.rpartition(".")[2] for name in made) == ["gz", "whl"]
    wheel = next(name for name in made if name.endswith(".whl"))
    (tmp_path / wheel).write_bytes(made[wheel])
    installed = tmp_path / "installed"
    install = ["-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--target", str(installed)]
    subprocess.run([sys.executable, *install, str(tmp_path / wheel)], check=True)
    settings = {**plain(), "PYTHONPATH": str(installed)}
    subprocess.run([sys.executable, "-c", FIT, str(installed)], check=True, env=settings, cwd=tmp_path)
