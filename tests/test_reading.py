"""The measure of reading ease, and that pages do not become harder to read."""

from __future__ import annotations

import runpy

import pytest
from tests.test_docs import DOCS, README, ROOT, blocks

reading = runpy.run_path(str(DOCS / "reading.py"))


@pytest.mark.parametrize(("word", "count"), [("kernel", 2), ("made", 1), ("weights", 1), ("optimisation", 5)])
def test_syllables(word, count):
    assert reading["syllables"](word) == count


def test_code_tables_formulas_and_headings_are_left_out():
    text = "# Head\n\nGive `norm=2.0` to it. See [the page](a.md).\n\n| a |\n\n    x = 1\n\n```sh\nls\n```\n"
    assert reading["sentences"](text) == ["Give code to it.", "See the page."]


def test_docstrings_have_no_names_of_parameters_and_no_examples(tmp_path):
    file = tmp_path / "some.py"
    file.write_text(
        'def f(x):\n    """Add one.\n\n    Parameters\n    ----------\n    x : int\n        The number.\n\n'
        '    Examples\n    --------\n    >>> f(1)\n    2\n    """\n',
        encoding="utf-8",
    )
    (text,) = reading["docstrings"](file)
    assert reading["sentences"](text) == ["Add one.", "The number."]


def test_short_words_and_sentences_are_easier():
    hard = ["Multidimensional optimisation necessitates considerable computational resources."]
    assert reading["ease"](["We fit it.", "It is fast."]) > 100 > 0 > reading["ease"](hard)


def test_pages_stay_readable():
    found = reading["measured"](reading["pages"]())
    assert reading["ease"](found["README.md"]) > 75, README
    assert reading["ease"]([one for some in found.values() for one in some]) > 77
    assert [one for one in reading["worst"](found) if one[0] < 20] == []


def test_the_hardest_sentences_of_before_are_gone():
    (listed,) = blocks(DOCS / "inside" / "reading.md", "text")
    before = listed.splitlines()
    found = reading["measured"]([*reading["pages"](), *sorted((ROOT / "src").rglob("*.py"))])
    left = {one for some in found.values() for one in some} & set(before)
    assert len(set(before)) == 20 and left == set()
    assert max(reading["ease"]([one]) for one in before) < 30
    assert [one for one in reading["worst"](found) if one[0] < 20] == []
