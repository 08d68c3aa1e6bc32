"""The harness of mutation testing (`tests/mutants.py`): what it changes, and what it leaves alone."""

import ast
from pathlib import Path

from tests.forked import ROOT, Tracer
from tests.mutants import PARTS, draw, kept_list, key_of, listed, sources
from tests.mutants import test_files as traced_files
from tests.mutations import mutated, mutations

SOURCE = '''
"""A docstring, 1 + 1."""
from math import inf

def least(a: "1 < 2", b=0.5, *, strict=True):
    """Another one."""
    if not a:
        raise ValueError(f"{a + 1} was given" + "; expected more")
    total = 0
    for x in a:
        total += x * b
    return min(total, -inf) if strict and total <= 3 else sorted(a, key=abs)
'''


def test_what_may_become_of_a_function():
    found = {(m.before, m.after) for m in mutations(SOURCE)}
    assert found == {
        ("0.5", "1.0"),
        ("True", "False"),
        ("not a", "a"),
        ("raise ValueError(f'{a + 1} was given' + '; expected more')", "pass"),
        ("f'{a + 1} was given' + '; expected more'", "f'{a + 1} was given' - '; expected more'"),
        ("0", "1"),
        ("total += x * b", "total -= x * b"),
        ("total += x * b", "pass"),
        ("x * b", "x / b"),
        ("3", "4"),
        ("total <= 3", "total < 3"),
        ("total <= 3", "total > 3"),
        ("strict and total <= 3", "strict or total <= 3"),
        ("min(total, -inf)", "max(total, -inf)"),
        ("-inf", "inf"),
        ("sorted(a, key=abs)", "sorted(a)"),
        *(
            (m.before, m.after)
            for m in mutations(SOURCE)
            if m.before.startswith(("return", "min(total, -inf) if"))
        ),
    }


def test_a_mutation_changes_one_place():
    original = ast.dump(ast.parse(SOURCE))
    for mutation in mutations(SOURCE):
        changed = mutated(SOURCE, mutation)
        assert ast.dump(ast.parse(changed)) != original
        assert mutation.line <= mutation.last_line <= len(SOURCE.splitlines())
        lines = zip(ast.unparse(ast.parse(SOURCE)).splitlines(), changed.splitlines(), strict=True)
        assert sum(a != b for a, b in lines) == 1


def test_draws_are_repeated_by_their_seed():
    parts = ["losses", "screening"]
    first, again, other = draw(40, 0, parts), draw(40, 0, parts), draw(40, 1, parts)
    assert first == again != other and len(set(first)) == len(first)
    assert {part for part, _, _ in first} == set(parts)


def test_a_mutation_is_known_again_wherever_its_statement_moves_to():
    known = {m.identity for m in mutations(SOURCE)}
    assert len(known) == len(mutations(SOURCE))
    moved = SOURCE.replace("    total = 0\n", "    other = 0\n    total = 0\n")
    assert known < {m.identity for m in mutations(moved)}
    changed = known - {m.identity for m in mutations(SOURCE.replace("x * b", "b * x"))}
    assert {identity[2] for identity in changed} == {"total += x * b", "x * b"}


def test_what_is_gone_from_a_list_is_replaced_once():
    drawn = draw(12, 0, ["screening"])
    rows = [{"part": part, "key": key_of((part, file, m)), "outcome": ""} for part, file, m in drawn]
    assert listed(0, rows) == drawn
    rows[0]["key"] = "a statement that is there no more"
    again = listed(0, rows)
    assert again[:-1] == drawn[1:] and again[-1] not in drawn[1:] and again == listed(0, rows)
    rows[0]["outcome"] = "gone"
    assert listed(0, rows) == drawn[1:]


def test_the_list_that_is_kept_is_one():
    rows = kept_list()
    assert len({row["key"] for row in rows}) == len(rows)
    assert {row["outcome"] for row in rows} <= {"killed", "survived", "gone"}
    assert all(row["why"] for row in rows if row["outcome"] != "killed")


def test_parts_and_tests_are_where_they_are_looked_for():
    for part, (_, own) in PARTS.items():
        assert sources(part) and all((ROOT / file).is_file() for file in sources(part))
        assert any(name.startswith(own) for name in traced_files())
    assert all((ROOT / name).is_file() for name in traced_files())


def test_lines_are_traced_test_by_test(tmp_path):
    file = tmp_path / "traced.py"
    file.write_text("def f(x):\n    if x:\n        return 1\n    return 2\n")
    names = {}
    exec(compile(file.read_text(), str(file), "exec"), names)
    tracer = Tracer(tmp_path, [Path("traced.py")])
    for test, argument in (("yes", True), ("no", False)):
        with tracer.of(test):
            names["f"](argument)
    assert {test: sorted(n for _, n in lines) for test, lines in tracer.lines.items()} == {
        "yes": [1, 2, 3],
        "no": [1, 2, 4],
    }
