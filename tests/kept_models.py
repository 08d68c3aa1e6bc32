"""Files of models that each version wrote, kept so that later versions are held to reading them.

``tests/kept/<version>/`` has a few small models and ``answers.json``: what they said when they were saved.
``python -m tests.kept_models`` writes the folder of this version. It refuses to once the version is released:
from then on its files are what users have, and whatever they need is done in ``persistence/``.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np

import manykernels

KEPT = Path(__file__).with_name("kept")
CHANGELOG = Path(__file__).parents[1] / "CHANGELOG.md"
# One for each way in which a model holds what it learned.
NAMES = (
    "classifier",
    "three classes",
    "ovr",
    "two outputs",
    "parts",
    "views of a frame",
    "strings",
    "products",
    "widths",
    "align",
    "ufo",
    "ufo landmarks",
    "polynomials",
    "ensemble",
    "powers",
    "localized",
    "approximate",
    "search",
    "survival, strata",
    "pipeline",
)
ASKED = 5  # samples that each model is asked about


def versions() -> list[Path]:
    return sorted(folder for folder in KEPT.iterdir() if folder.is_dir())


def said(model: Any, data: Any) -> list[Any]:
    """What a model says of samples, as numbers that JSON can hold."""
    method = next(m for m in ("decision_function", "predict") if hasattr(model, m))
    values: list[Any] = np.asarray(getattr(model, method)(data), dtype=float).tolist()
    return values


def file_of(folder: Path, name: str) -> Path:
    return folder / (name.replace(",", "").replace(" ", "-") + ".model")


def unreleased() -> bool:
    return f"## {manykernels.__version__} (unreleased)" in CHANGELOG.read_text(encoding="utf-8")


def main() -> None:
    from tests.fitted_models import fitted

    if not unreleased():
        raise SystemExit(
            f"Version {manykernels.__version__} is released: its files stay as they are. Raise the version."
        )
    folder = KEPT / manykernels.__version__
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    answers = {}
    for name in NAMES:
        model, data = fitted(name)
        manykernels.save(model, file_of(folder, name))
        answers[name] = said(model, data[:ASKED])
    (folder / "answers.json").write_text(json.dumps(answers, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
