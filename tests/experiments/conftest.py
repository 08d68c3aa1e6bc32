"""Quick runs of experiments, and what they save."""

from __future__ import annotations

from typing import Any

import pytest
from experiments import __main__ as command
from experiments import records


@pytest.fixture
def quick_tables(tmp_path, monkeypatch):
    """The tables (title, note, rows, printed) that a quick run without a data folder saves."""

    def run(name: str) -> list[dict[str, Any]]:
        monkeypatch.delenv("MANYKERNELS_DATA", raising=False)
        command.main([name, "--quick", "--output", str(tmp_path)])
        tables = records.read(tmp_path / f"{name}.parquet").tables
        text = (tmp_path / f"{name}.md").read_text(encoding="utf-8")
        assert all(f"## {table['title']}" in text for table in tables)
        return tables

    return run


@pytest.fixture
def quick(quick_tables):
    """The rows of these tables, by title."""
    return lambda name: {table["title"]: table["rows"] for table in quick_tables(name)}
