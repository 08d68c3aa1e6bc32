"""What checkpoints cost: the share of a fit's processor time that goes into hashes, and files of pieces.

    python -m benchmarks.checkpoints

Everything that a fit does for its folder is measured inside of the fit itself: hashes of what it was given,
pieces written, and read back. So the share does not depend on what else the machine does, as the ratio of
two fits would.
"""

from __future__ import annotations

import argparse
import tempfile
import time
import warnings
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from unittest.mock import patch

import joblib
import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine, make_friedman1

from manykernels import MKLClassifierCV, MKLRegressor, MKLRegressorCV
from manykernels._pieces import Store
from manykernels.approx import Nystroem
from manykernels.kernels import Gaussian, Linear


class Meter:
    """Processor time, and time of the clock, inside of some functions."""

    def __init__(self) -> None:
        self.cpu, self.clock, self._inside = 0.0, 0.0, False

    def around(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def measured(*args: Any, **options: Any) -> Any:
            if self._inside:
                return call(*args, **options)
            self._inside, cpu, clock = True, time.process_time(), time.perf_counter()
            try:
                return call(*args, **options)
            finally:
                self.cpu += time.process_time() - cpu
                self.clock += time.perf_counter() - clock
                self._inside = False

        return measured


def cost(fit: Callable[[Path], Any]) -> tuple[float, float, float, int, float]:
    """Seconds of a processor for the fit, and for its folder; seconds waited; pieces; megabytes."""
    meter = Meter()
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        for owner, name in ((Store, "write"), (Store, "read"), (joblib, "hash")):
            stack.enter_context(patch.object(owner, name, meter.around(getattr(owner, name))))
        began = time.process_time()
        fit(Path(folder))
        whole, pieces = time.process_time() - began, list(Path(folder).glob("*.piece"))
        size = sum(piece.stat().st_size for piece in pieces) / 1e6
    return whole, meter.cpu, meter.clock, len(pieces), size


def fits() -> dict[str, Callable[[Path], Any]]:
    wine, cancer, diabetes = (
        load(return_X_y=True) for load in (load_wine, load_breast_cancer, load_diabetes)
    )
    friedman, long = (make_friedman1(n, 10, noise=1.0, random_state=0) for n in (4000, 300_000))
    outputs = np.random.RandomState(0).randn(1000, 40) + np.sin(friedman[0][:1000, :1])
    one, few = {"random_state": 0, "n_jobs": 1}, [Linear(), Gaussian(1.0), Gaussian(3.0)]
    return {
        "wine, the default": lambda folder: MKLClassifierCV(**one, checkpoint=folder).fit(*wine),
        "wine, one strategy": lambda folder: MKLClassifierCV(
            few, strategy="finite", **one, checkpoint=folder
        ).fit(*wine),
        "breast cancer": lambda folder: MKLClassifierCV(**one, checkpoint=folder).fit(*cancer),
        "diabetes, with intervals": lambda folder: MKLRegressorCV(
            intervals=True, **one, checkpoint=folder
        ).fit(*diabetes),
        "4,000 rows, at landmarks": lambda folder: MKLRegressorCV(**one, checkpoint=folder).fit(*friedman),
        "1,000 rows, own weights of 40 outputs": lambda folder: MKLRegressorCV(
            few, multi_output="own", **one, checkpoint=folder
        ).fit(friedman[0][:1000], outputs),
        "300,000 rows, sums": lambda folder: MKLRegressorCV(
            few, approx=Nystroem(200), **one, checkpoint=folder
        ).fit(*long),
        "300,000 rows, one fit": lambda folder: MKLRegressor(
            few, approx=Nystroem(200), **one, checkpoint=folder
        ).fit(*long),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--only", default="", help="fits whose name holds this")
    asked, shares = parser.parse_args(), []
    warnings.simplefilter("ignore")
    X, y = load_wine(return_X_y=True)
    MKLClassifierCV(strategy="finite", cv=2).fit(X, y)  # what is compiled and imported is paid for by nobody
    print("fit, seconds of a processor, for the folder, share, seconds waited, pieces, MB")
    for name, fit in fits().items():
        if asked.only in name:
            whole, own, waited, count, size = cost(fit)
            shares.append(own / whole)
            share = f"{100 * shares[-1]:.2f} %"
            print(f"{name}: {whole:.2f}, {own:.3f}, {share}, {waited:.2f}, {count}, {size:.1f}", flush=True)
    print(f"largest share {100 * max(shares):.2f} %, median {100 * float(np.median(shares)):.2f} %")


if __name__ == "__main__":
    main()
