"""What docs/experiments.md, docs/speed.md, README.md and some paragraphs say is what the records say."""

from __future__ import annotations

import re

import pytest

pytest.importorskip("pyarrow")

from experiments import __main__ as command
from experiments import claims
from experiments.claims import figures
from experiments.claims.figures import Drift, expect
from experiments.claims.paragraphs import Paragraph
from experiments.claims.sections import Section, changes, problems
from experiments.tables import Spread

ANEW = "change experiments/claims and run `python -m experiments --claims`"
WITHOUT_RECORD = [
    "Orabona & Jie 2011: UFO-MKL beside OBSCURE and SILP: caltech"
]  # says that it was not run, and has no figures


def test_rows_say_what_the_records_say():
    found = claims.differences()
    assert not found, "\n".join([ANEW, *found])


def test_pages_are_written_from_the_records_as_a_whole():
    for file, text in claims.pages().items():
        assert text == file.read_text(encoding="utf-8"), f"{file.name}: {ANEW}"


def test_every_row_is_recomputed():
    assert claims.unrecorded() == WITHOUT_RECORD


def test_a_record_that_changes_is_told_with_the_row_and_both_figures(monkeypatch):
    known = figures._tables

    def changed(file):
        tables = [{**one, "rows": [dict(row) for row in one["rows"]]} for one in known(file)]
        if file.stem == "continuous_relevance":
            for row in tables[0]["rows"]:
                if row["method"] == "ARD, no shrinkage":
                    row["γ = 0"] = Spread([value + 10 for value in row["γ = 0"].values])
        return tables

    monkeypatch.setattr(figures, "_tables", changed)
    found = claims.differences()
    assert len(found) == 1 and "shrinkage: the text has “19.3”, the record gives “29.3”" in found[0]


def other(cell, column):
    """Another value; the names in the first column stay."""
    by = 1.3 + 0.1 * column
    if isinstance(cell, Spread):
        return Spread([by * value for value in cell.values])
    if isinstance(cell, dict):
        return {key: other(value, column) for key, value in cell.items()}
    if isinstance(cell, str) and column:
        return re.sub(r"\d+(?:\.\d+)?", lambda found: f"{by * float(found.group()) + 1:.3f}", cell)
    return by * cell if isinstance(cell, float) else cell


def one_more(cell, column):
    return cell + 1 if isinstance(cell, int) and column else cell


def said(change=None):
    """Every row, if all records were changed so; an error where its words are not true then."""
    found, known = {}, figures._tables
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(figures, "_tables", lambda file: [altered(table, change) for table in known(file)])
        for section in [*claims.SECTIONS, claims.speed.section, claims.trust.section]:
            for row in (row for row in section.rows if row.recomputed):
                try:
                    found[section.title, row.name] = row.line()
                except Exception as reason:
                    found[section.title, row.name] = repr(reason)
    return found


def altered(table, change):
    rows = [
        {k: change(v, j) for j, (k, v) in enumerate(row.items())} if change else row for row in table["rows"]
    ]
    return {**table, "rows": rows}


def test_no_row_is_written_without_its_record():
    before, values, counts = said(), said(other), said(one_more)
    assert [name for name, line in before.items() if values[name] == line == counts[name]] == []


def test_the_command_writes_the_page_unless_words_do_not_hold(tmp_path, monkeypatch, capsys):
    known = {name: getattr(claims, name).read_text(encoding="utf-8") for name in ("SPEED", "README")}
    for name in {one.page for one in claims.PARAGRAPHS}:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes((claims.DOCS / name).read_bytes())
    places = {"DOCS": "", "PAGE": "experiments.md", "SPEED": "speed.md", "README": "README.md"}
    for name, place in places.items():
        monkeypatch.setattr(claims, name, tmp_path / place)
    text = claims.page()
    claims.SPEED.write_text(known["SPEED"].replace("MKLpy's CKA |", "its CKA |"), encoding="utf-8")
    claims.README.write_text(known["README"].replace(" in the same time", " in half"), encoding="utf-8")
    claims.PAGE.write_text(
        text.replace("| on all | **holds** |", "| on most | **holds** |"), encoding="utf-8"
    )
    command.main(["--claims"])
    said = capsys.readouterr().out
    assert "gap: the text has “most”, the record gives “all”" in said
    assert "alignf: the text has “its”, the record gives “MKLpy's”" in said
    assert "accuracy: the text has “half”, the record gives “the same time”" in said
    assert claims.PAGE.read_text(encoding="utf-8") == text and claims.differences() == []
    assert all(getattr(claims, name).read_text(encoding="utf-8") == known[name] for name in known)

    def broken() -> str:
        raise Drift("the record does not say: this")

    monkeypatch.setattr(claims.SECTIONS[0], "paragraphs", [broken])
    with pytest.raises(SystemExit, match=r"nothing is written: .*\n.*broken: the record does not say: this"):
        command.main(["--claims"])
    assert claims.PAGE.read_text(encoding="utf-8") == text


def test_words_are_held_to_the_record():
    section = Section("Some")

    @section.row("a claim")
    def first() -> tuple[str, str]:
        expect(False, "ours is first")
        return "", ""

    section.written("by_hand", "another", "7", "**holds**")
    page = "| a claim | 3 | **holds** |\n| another | 7 | **holds** |"
    assert problems([section], page) == ["Some: first: the record does not say: ours is first"]
    assert problems([section], "")[1] == "Some: by_hand: 0 rows of the page have this claim, expected one"
    assert section.rows[1].line() in page and not section.rows[1].recomputed


def test_a_paragraph_takes_the_place_of_the_one_that_starts_alike():
    some = Paragraph("some.md", lambda: "It takes 3 s of one\n    processor, and 4 MB.")
    assert (
        some.put_into("A\nIt takes 3 s of one processor\nB")
        == "A\nIt takes 3 s of one processor, and 4 MB.\nB"
    )
    with pytest.raises(Drift, match=r"0 lines of some.md start with “It takes 3 s of one proce”"):
        some.put_into("A\nB")


def test_changes_name_the_words_that_differ():
    assert changes("a 1 b", "a 2 b") == "the text has “1”, the record gives “2”"
    assert changes("a b", "a 3 b") == "the text has “nothing”, the record gives “3”"


def test_figures_are_shown_as_people_write_them():
    trials = Spread([1.0, 2.0, 3.0])
    assert figures.pm(trials) == "2.0 ± 1.0" and figures.standard([-1.0, -3.0]) == "−2.0 ± 1.0"
    assert figures.num("17,318") == "17,318" and figures.num(-0.04, 1) == "0.0"
    assert figures.differ(trials, Spread([3.0, 4.0, 5.0])) == "−2.0 ± 0.0"
    assert figures.span([0.31, trials, 1.0]) == "0.3 to 2.0" and figures.span([1.01, 1.02]) == "1.0"
    assert figures.power(1.44e-5) == "1.4·10⁻⁵" and figures.short(0.62, 2) == ".62"
    assert figures.listed(["a", "b", "c"]) == "a, b and c" and figures.listed(["a"]) == "a"
    with pytest.raises(Drift, match="no number"):
        figures.mean("not reached")


def test_a_table_or_row_that_is_gone_is_named():
    with pytest.raises(Drift, match=r"0 tables of ufo_stream.parquet have 'none'.*ringnorm"):
        figures.table("ufo_stream", "none")
    with pytest.raises(Drift, match=r"0 rows have {'method': 'none'}"):
        figures.table("products_real", "Per cent wrong").row(method="none")
