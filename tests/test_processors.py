"""Runs with the arithmetic of other processors: what is chosen, what is set, and that it is really taken."""

import re

import pytest
from tests.processors import CORES, choose, complaint, executable, probe, settings_of

OLD = ["SSE", "SSE2", "SSE3"]
AVX2 = [*OLD, "AVX", "AVX2", "FMA3"]
AVX512 = [*AVX2, "AVX512F", "AVX512CD", "AVX512BW", "AVX512DQ", "AVX512VL"]


def test_what_a_machine_executes_and_what_is_farthest_from_it():
    assert executable(OLD) == ["prescott"]
    assert executable(AVX2) == ["prescott", "haswell", "zen"]
    assert executable(AVX512) == ["prescott", "haswell", "zen", "skylakex"] == list(CORES)
    assert choose([], executable(AVX2)) == ["prescott", "haswell", "zen"]
    assert choose(["farthest", "zen"], executable(AVX2)) == ["prescott", "zen"]
    with pytest.raises(
        SystemExit, match=r"CPU=skylakex was given; this machine executes prescott, haswell, zen"
    ):
        choose(["skylakex"], executable(AVX2))
    with pytest.raises(SystemExit, match="cannot execute any"):
        choose([], executable(["NEON"]))


def test_the_settings_are_taken_by_every_library(monkeypatch):
    for variable in settings_of("prescott", 1, []):  # these tests are run with such settings too
        monkeypatch.delenv(variable, raising=False)
    here = probe({})
    possible = executable(here["features"])
    if not possible:
        pytest.skip("not an x86-64 processor")
    settings = settings_of(possible[0], 1, here["dispatch"])
    assert complaint(possible[0], 1, probe(settings)) is None


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"blas": {"numpy.so": "Prescott", "scipy.so": "Zen"}},
            r"expected Prescott .* found \{'scipy.so': 'Zen'\}",
        ),
        ({"blas": {}}, "found none"),
        ({"dispatch": ["X86_V3"]}, "expected NumPy's baseline only, but it still uses X86_V3"),
        ({"compiled": ["zmm"]}, "expected generic code of numba, but it still contains zmm"),
        ({"threads": [1, 2]}, r"expected 2 threads, but libraries use \[1, 2\]"),
    ],
)
def test_what_is_not_taken_is_said(change, message):
    taken = {"blas": {"numpy.so": "Katmai"}, "dispatch": [], "compiled": [], "threads": [2]}
    assert complaint("prescott", 2, taken) is None
    assert re.search(message, complaint("prescott", 2, taken | change))
