"""The page of the documentation: docs/benchmarks.md and its pictures, from the JSON and from nothing else."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

from .harness import number

HERE = Path(__file__).parent
DOCS = HERE.parent / "docs"
IMAGES = "images/benchmarks"
# What a table may grow in. A count that is an outcome makes no curve: its rows differ by contender.
SIZES = ("n", "rows", "M", "kernels", "r", "D", "d", "l", "batch", "clusters", "workers", "targets")
INTRO = """# Benchmarks

How long things take, compared with a rival in the same run or with the limit of the machine. \
[How fast](speed.md) has the main figures in one table; this page has every measurement. `make bench` runs \
all benchmarks, with the rivals installed, and writes this page from their records.

How to read the tables:

- A time is the median in seconds, with its quartiles in brackets.
- Contenders ran in turns, on the same number of threads.
- A goal was set before the measurement. Compare it with the result: some goals are missed.

## Summary
"""
FASTER = "× faster than "
Facts = dict[str, Any]
Curve = tuple[str, list[float], list[float]]


def write(folder: Path = DOCS, results: Path = HERE / "results") -> Path:
    """Write folder/benchmarks.md and the pictures that it shows."""
    contents = [json.loads(file.read_text(encoding="utf-8")) for file in sorted(results.glob("*.json"))]
    parts = [INTRO, *summary(contents), "", *(section(content, folder) for content in contents)]
    page = folder / "benchmarks.md"
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text("\n".join(parts), encoding="utf-8")
    return page


def summary(contents: list[Facts]) -> list[str]:
    """A line for each benchmark: what it measures, and how far it is ahead of its rivals."""
    lines = ["| benchmark | what it measures | largest ratio |", "|:---|:---|:---|"]
    for content in contents:
        title = content["benchmark"].replace("_", " ")
        link = f"[{title}](#{title.replace(' ', '-')})"
        lines.append(f"| {link} | {subject(content['benchmark'])} | {escape(largest(content['tables']))} |")
    return lines


def largest(tables: list[Facts]) -> str:
    """The largest "× faster than" of all tables with its rival; empty where nothing is compared so."""
    found = [
        (float(value), column)
        for table in tables
        for row in table["rows"]
        for column, value in row.items()
        if column.startswith(FASTER) and isinstance(value, int | float)
    ]
    return f"{number(max(found)[0])} {max(found)[1]}" if found else ""


def section(content: Facts, folder: Path) -> str:
    """What was measured, where and when, and every table with its goal and picture."""
    name, machine, limits = content["benchmark"], content["machine"], content["limits"]
    versions = ", ".join(f"{package} {version}" for package, version in machine["versions"].items())
    lines = [f"## {name.replace('_', ' ')}", "", subject(name), ""]
    if content["quick"]:
        lines += ["Small sizes (`--quick`): they show that it runs and agrees, not how fast it is.", ""]
    where = f"{machine['processor']}, {machine['processors']} processors, load {machine['load']}"
    speed = f"read {number(limits['read_gb_s'])} GB/s, GEMM {number(limits['gemm_gflop_s'])} GFLOP/s"
    for index, table in enumerate(content["tables"], start=1):
        lines += [f"**{escape(table['title'])}**", ""]
        if "goal" in table:
            lines += [f"Goal: {escape(table['goal'])}.", ""]
        if "note" in table:
            lines += [f"{escape(table['note'])}.", ""]
        lines += [*markdown(table["rows"]), ""]
        panels = {size: found for size in SIZES if (found := curves(table["rows"], size))}
        if panels:
            picture = f"{IMAGES}/{name}-{index}.png"
            draw(panels, folder / picture)
            lines += [f"![{name}: seconds by {', '.join(panels)}]({picture})", ""]
    threads = f"{limits['threads']} thread{'' if limits['threads'] == 1 else 's'}"
    about = f"{machine['date']}; {where}; {threads}: {speed}; {versions}."
    return "\n".join([*lines, f"*Machine: {about}*", ""])


def subject(name: str) -> str:
    """The first line of the benchmark's docstring, read and not imported."""
    tree = ast.parse((HERE / f"bench_{name}.py").read_text(encoding="utf-8"))
    return escape((ast.get_docstring(tree) or "").splitlines()[0])


def markdown(rows: list[Facts]) -> list[str]:
    """Rows as a table; columns are the union of their keys."""
    columns = list(dict.fromkeys(key for row in rows for key in row))
    text = [any(isinstance(row.get(column), str) for row in rows) for column in columns]
    lines = [columns, [":---" if left else "---:" for left in text]]
    lines += [[cell(row.get(column)) for column in columns] for row in rows]
    lines[0] = [escape(column) for column in columns]
    return [f"| {' | '.join(line)} |" for line in lines]


def cell(value: Any) -> str:
    """A value as the printed tables have it; a time with its quartiles."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        return f"{number(value['median'])} [{number(value['q1'])}, {number(value['q3'])}]"
    return number(value) if isinstance(value, float) else escape(str(value))


def escape(text: str) -> str:
    """Bars end cells and stars and underscores are marks: none is meant."""
    for mark in "\\|*_<[":
        text = text.replace(mark, "\\" + mark)
    return text


# -- pictures ---------------------------------------------------------------------------------------
def curves(rows: list[Facts], size: str) -> list[Curve]:
    """Seconds by one size, a curve for every setting of all that is not measured; none of one point."""
    found: dict[str, tuple[list[float], list[float]]] = {}
    words = {key for row in rows for key in row if key != "seconds"}  # "inf" among numbers names nothing
    words = {key for key in words if all(isinstance(row.get(key, ""), str) for row in rows)}
    for row in rows:
        x = row.get(size)
        if isinstance(x, bool | str) or x is None:
            continue
        for column, y in row.items():
            if (seconds := duration(column, y)) is None:
                continue
            parts = [column.removesuffix(" s")] if column != "seconds" else []
            others = [key for key in row if key != size and (key in SIZES or key in words)]
            parts += [row[key] if isinstance(row[key], str) else f"{key}={row[key]:g}" for key in others]
            xs, ys = found.setdefault(", ".join(parts), ([], []))
            xs.append(float(x))
            ys.append(seconds)
    return [(label, xs, ys) for label, (xs, ys) in found.items() if len(set(xs)) > 1]


def duration(column: str, value: Any) -> float | None:
    """Seconds, where a column holds such: a timing, or a number called so."""
    if isinstance(value, dict):
        return float(value["median"])
    named = column == "seconds" or column.endswith(" s")
    return float(value) if named and isinstance(value, int | float) else None


def draw(panels: dict[str, list[Curve]], file: Path) -> None:
    """A panel for every size, both axes logarithmic: a slope is an exponent."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(5.2 * len(panels), 3.8), layout="constrained")
    FigureCanvasAgg(figure)
    for axes, (size, found) in zip(
        figure.subplots(1, len(panels), squeeze=False)[0], panels.items(), strict=True
    ):
        for label, xs, ys in found:
            points = sorted(zip(xs, ys, strict=True))
            axes.loglog([x for x, _ in points], [y for _, y in points], "o-", label=label, markersize=4)
        ticks = sorted({x for _, xs, _ in found for x in xs})
        axes.set_xticks(ticks, [f"{x:,.0f}" for x in ticks])
        axes.set_xticks([], minor=True)
        axes.set(xlabel=size, ylabel="seconds")
        if any(label for label, _, _ in found):
            axes.legend(fontsize="x-small")
    file.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(file, dpi=90, metadata={"Software": None})
