"""Values in messages: whole elements, plural forms, and as many digits as people read."""

from __future__ import annotations

import numpy as np
import pytest

from manykernels._arguments import number_of, rounded, shortened, shown
from manykernels.kernels import Gaussian


@pytest.mark.parametrize(
    ("text", "short"),
    [
        ("[1, 2, 3]", "[1, 2, 3]"),
        ("[1000, 2000, 3000, 4000, 5000]", "[1000, 2000, …]"),
        ("one two three four five six", "one two three …"),
        ("'abcdefghijklmnopqrstuvw'", "'abcdefghijklm…'"),
        ("abcdefghijklmnopqrstuvwxyz", "abcdefghijklmno…"),
    ],
)
def test_long_texts_end_behind_an_element_or_a_word(text, short):
    assert shortened(text, 16) == short and len(short) <= 16


@pytest.mark.parametrize("longest", range(10, 60))
def test_no_text_is_longer_than_it_may_be(longest):
    for text in (
        "[1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5, 8.5, 9.5, 10.5]",
        "x" * 60,
        "{'a': 'b c d e f g h'}" * 3,
    ):
        assert len(shortened(text, longest)) <= longest


def test_values_are_cut_between_elements():
    assert shown(list(range(100))).endswith(", …]") and len(shown(list(range(100)))) <= 80
    kernels = shown([Gaussian(width=float(i)) for i in range(20)])
    assert kernels.startswith("[Gaussian(width=0.0), ") and kernels.endswith("), …]")
    assert shown("a") == "'a'" and shown(0.1) == "0.1"


def test_one_and_many():
    assert [number_of(n, "kernel") for n in (0, 1, 2)] == ["0 kernels", "1 kernel", "2 kernels"]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.03162277660168379, "0.0316"),
        (np.float64(31.622776), "31.6"),
        (1000.0, "1000"),
        (1e7, "1e+07"),
        (1.0, "1"),
        (float("inf"), "inf"),
        (3, "3"),
        ("finite", "finite"),
    ],
)
def test_numbers_for_people(value, text):
    assert rounded(value) == text
