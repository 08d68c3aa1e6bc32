"""Runs of the survival experiment that are kept in git are read as written, and the last run here counts."""

from experiments.cohorts import known as kept
from experiments.selection.resume import Runs


def test_runs_are_read_as_they_were_written(tmp_path, monkeypatch):
    monkeypatch.setattr(kept, "KEPT", tmp_path / "runs.csv")
    monkeypatch.setattr(kept, "FOLDER", tmp_path)
    runs = Runs()
    runs.add(("a", 0, "ours"), {"n": 70, "uno": 0.7123456789012345, "seconds": 1.5})
    runs.add(("a", 1, "forest"), {"failed": "ValueError: no, not this"})
    kept.keep(runs)
    again = kept.known()
    assert again.known["a", 0, "ours"]["uno"] == 0.7123456789012345
    assert again.known["a", 0, "ours"]["n"] == 70
    assert again.known["a", 1, "forest"]["failed"] == "ValueError: no, not this"
    here = Runs(tmp_path / "survival.jsonl")
    here.add(("a", 0, "ours"), {"uno": 0.9})
    assert kept.known().known["a", 0, "ours"]["uno"] == 0.9


def test_what_is_kept_can_be_read():
    runs = kept.known()
    assert len({name for name, _, _ in runs.known}) >= 40
    assert all(0.0 <= row["uno"] <= 1.0 for row in runs.known.values() if "failed" not in row)
