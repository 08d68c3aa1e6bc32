"""Markdown pages and pictures, made from the Parquet files of a folder and from nothing else."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from . import plots, records
from .records import Record
from .tables import Facts, section

QUICK = "A quick run, of few samples and trials: that it works, not what it finds. Notes are of the full one."


def render(folder: Path, names: Iterable[str]) -> None:
    """folder/NAME.md and its pictures for every name, and folder/README.md about all that is there."""
    for name in names:
        record = records.read(folder / f"{name}.parquet")
        plots.draw(record.tables, _plots(name), folder)
        (folder / f"{name}.md").write_text(page(record, pictures(folder, name)), encoding="utf-8")
    known = sorted(file.stem for file in folder.glob("*.parquet"))
    facts = {name: records.read(folder / f"{name}.parquet") for name in known}
    entries = [_entry(name, record, pictures(folder, name)) for name, record in facts.items()]
    (folder / "README.md").write_text("\n\n".join([HEAD, *entries]) + "\n", encoding="utf-8")


MORE_ROWS = "More rows, and boosting, random forests and xRFM: [selection_sizes](selection_sizes.md)."
SEE_ALSO = {"selection_tables": MORE_ROWS}  # pages that are made elsewhere

HEAD = """# Results of the experiments

Made by `python -m experiments --render` from the Parquet files beside it; do not edit. One row of a file is
one cell of a table or one trial's value of it (columns table, title, note, row, column, kind, trial, number,
text), and its metadata say when, by which code and with which versions it was made:

    import pandas
    cells = pandas.read_parquet("experiments/results/products_real.parquet")
    cells[cells.kind == "spread"].groupby(["title", "row", "column"]).number.mean()"""


def page(record: Record, files: list[str]) -> str:
    """The tables of one experiment as they were printed, its pictures, and where they come from."""
    facts = record.facts
    about = [f"# {facts['title']}", *([QUICK] if facts["quick"] else []), *_left_out(facts)]
    about += [SEE_ALSO[facts["name"]]] if facts["name"] in SEE_ALSO else []
    shown = [*(section(table) for table in record.tables), *(f"![{file}]({file})" for file in files)]
    return "\n\n".join([*about, *shown, _origin(facts)]) + "\n"


def pictures(folder: Path, name: str) -> list[str]:
    """Those of an experiment: NAME.png and NAME_….png, as far as no other experiment is called so."""
    others = {file.stem for file in folder.glob("*.parquet")} - {name}
    files = [file.name for file in [*folder.glob(f"{name}.png"), *sorted(folder.glob(f"{name}_*.png"))]]
    longer = [other for other in others if other.startswith(name)]
    return [file for file in files if not any(file.startswith(other) for other in longer)]


def _entry(name: str, record: Record, files: list[str]) -> str:
    tables = [f"- {table['title']} ({len(table['rows'])} rows)" for table in record.tables]
    images = [f"![{file}]({file})" for file in files]
    head = [f"## [{name}]({name}.md)", record.facts["title"], *_left_out(record.facts), "\n".join(tables)]
    return "\n\n".join([*head, *images, _origin(record.facts)])


def _left_out(facts: Facts) -> list[str]:
    missing = [f"{name} ({why})" for name, why in facts["left out"].items()]
    return [f"Left out: {', '.join(missing)}."] if missing else []


def _origin(facts: Facts) -> str:
    parts = [f"Recorded {facts['date']}", f"commit {facts['commit'] or 'unknown'}"]
    if facts.get("seconds") is not None:
        kept = f", {facts['kept']} of {facts['trials']} trials kept from before" if facts.get("kept") else ""
        parts.append(f"{facts['seconds']:.0f} s, {facts['cpu']:.0f} s of processors{kept}")
    parts += [facts["remark"]] if "remark" in facts else []
    return f"{'; '.join(parts)}."


def _plots(name: str) -> list[plots.Lines | plots.Dots]:
    """What the script says is to be drawn; nothing where the script is gone."""
    full = f"experiments.{name}"
    return list(getattr(import_module(full), "PLOTS", [])) if find_spec(full) else []
