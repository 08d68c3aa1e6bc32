"""Reports in Markdown: the sections of the page, names as text, and files that are known again."""

from __future__ import annotations

import re

import pytest
from tests.report import reports

from manykernels._files import is_report
from manykernels.report import markdown, render, write_report
from manykernels.report.markdown import number, table, text

KINDS = {
    "held out": reports.held_out,
    "numbers": reports.held_out_numbers,
    "survival": reports.survival,
    "views": reports.stable_views,
    "outputs": lambda: reports.document("two outputs", fit_path=False),
    "classes": lambda: reports.document("ovr", fit_path=False),
    "stack": lambda: reports.document("stack", fit_path=False),
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_has_chapters_and_tables_that_hold_together(kind):
    document = KINDS[kind]()
    found = markdown(document)
    chapters = re.findall(r"^## (.*)$", found, re.M)
    assert chapters[0] == "In short" and chapters[-1] == "Appendix: the fit"
    assert {"Which kernels were learned?", "How it was made"} <= set(chapters)
    permuted = document["importance"] is not None and document["importance"]["columns"] is not None
    assert ("The data" in chapters) != permuted and ("Which columns matter?" in chapters) == permuted
    for block in re.findall(r"(?:^\|.*\|\n)+", found, re.M):
        counts = {len(re.findall(r"(?<!\\)\|", line)) for line in block.splitlines()}
        assert len(counts) == 1  # every row has as many cells as the title
    assert "None" not in found and "nan" not in found.lower().replace("finance", "")
    for one in document["verdict"]:
        assert text(one["text"]) in found


def test_charts_have_their_numbers_as_tables():
    found = markdown(reports.held_out_numbers())
    assert "| row | predicted | true | true − predicted |" in found and "change of the prediction" in found
    assert "### Which kernels are alike" in found and "### How the fit converged" in found
    classes = markdown(reports.held_out())
    assert "#### ROC curve" in classes and "| precision |" in classes and "change of the decision" in classes
    numbers = re.findall(r"(?<![\w.-])-\d", re.sub(r"```.*?```", "", found, flags=re.S))
    assert numbers == []  # a minus is one everywhere


def test_names_are_text():
    found = markdown(reports.nasty())
    assert "<script>" not in found.replace("```\n", "").split("### Make this again")[0]
    assert text(reports.NASTY[0]) in found and "\\<script\\>" in found
    assert text("a|b *c* `d` & <e>") == r"a\|b \*c\* \`d\` &amp; \<e\>"


def test_numbers_stand_to_the_right_and_long_tables_end():
    found = table(["name", "value"], [[f"n{i}", -0.5 * i] for i in range(70)])
    lines = found.splitlines()
    assert (
        lines[1] == "| --- | ---: |" and lines[3] == "| n1 | −0.50 |" and found.endswith("And 10 more rows.")
    )
    assert number(None) == "–" and number(0.12345) == "0.123"


def test_the_ending_of_a_path_says_what_is_written(tmp_path):
    document = reports.document("classifier", fit_path=False)
    path = tmp_path / "report.md"
    write_report(document, path)
    assert path.read_text(encoding="utf-8") == markdown(document) and is_report(path)
    write_report(document, path)  # a report replaces a report
    write_report(document, tmp_path / "report.HTML")
    assert (tmp_path / "report.HTML").read_text(encoding="utf-8") == render(document)
    (tmp_path / "mine.md").write_text("# my notes")
    with pytest.raises(FileExistsError, match="not a report"):
        write_report(document, tmp_path / "mine.md")
