"""The plan of a search, from the number of rows and the memory.

Up to WHOLE rows all models are compared on all rows. Beyond, cost grows as the rows do, not as their cube:

    race        all strategies, norms, kernels and C in folds of a random part of the rows
    second      what the folds could not tell from the best, on more rows, judged on rows held out for good
    last        the kernel that was chosen: exact up to EXACT rows, beyond at landmarks, on all rows

With n rows and m landmarks a pass of the last stage costs about 2nm² operations, and six matrices of m × m.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..grams.memory import parse_memory, readable

WHOLE = 1500  # rows up to which everything is tried on all of them
EXACT = 2500  # rows up to which the model that was chosen has exact kernels
ROWS = 20_000  # rows on which kernels are compared at landmarks
FEW = 1000  # landmarks with which this is done
LANDMARKS = 500  # at which widths are learned again
_WIDTHS = 10_000  # rows from which that is done, at most
_RACE = 500, 700  # rows of the race
_SECOND = 2000  # rows from which finalists are learned
_HELD = 4000  # rows that are held out, at most: a fifth
_MOST = 4000  # landmarks, up to _MANY rows; beyond, so many that a pass grows as the rows do
_MANY = 100_000
_FEWEST = 50  # landmarks below which there is no use in them
_MATRICES = 6  # of m × m that are held at once: sums of both parts and of all, what is solved, the kernel
_KERNELS = 25  # matrices of the second stage: kernels, their values on rows held out, and machines
_BLOCKS = 1 << 28  # bytes of the blocks of rows that a pass holds
_SPEED = 1.5e10  # operations a second of one core, for an estimate
_UNIT = 7e-6  # seconds of the race for each row², of few columns
_SOLVED = 60  # models of a fold, in a search over all rows


@dataclass(frozen=True)
class Plan:
    """Rows and landmarks of each stage."""

    n: int
    d: int
    whole: bool  # whether all is tried on all rows
    race: int = 0
    second: int = 0
    held: int = 0
    exact: bool = True  # whether the model that is chosen has exact kernels
    most: int = 0  # landmarks, at most
    widths: int = 0  # rows from which widths are learned again

    @property
    def steps(self) -> list[int]:
        """Landmarks to try one after the other, each twice as many."""
        found = [min(FEW, self.most)]
        while 2 * found[-1] <= self.most:
            found.append(2 * found[-1])
        return found

    @property
    def race_seconds(self) -> float:
        """Processor seconds of the race, about."""
        return _UNIT * self.race**2 * (1.0 + self.d / 100.0)

    def second_seconds(self, rows: int) -> float:
        """Processor seconds of the second stage on so many rows, about."""
        return 0.2 * _UNIT * rows**2 * (1.0 + self.d / 100.0)

    @property
    def widths_seconds(self) -> float:
        """Processor seconds of widths that are learned again, about."""
        return 20.0 * self.widths * LANDMARKS * (4.0 * LANDMARKS + 4.0 * self.d + 400.0) / _SPEED

    def pass_seconds(self, m: int) -> float:
        """Processor seconds of one pass over all rows with m landmarks, about."""
        return (2.0 * self.n * m**2 + 4.0 * m**3 + 40.0 * self.n * m) / _SPEED

    @property
    def seconds(self) -> float:
        """Processor seconds of everything, about; with all landmarks."""
        last = 5e-10 * self.n**3 if self.exact else sum(self.pass_seconds(m) for m in self.steps)
        last += self.widths_seconds
        return self.race_seconds + self.second_seconds(self.second) + last

    @property
    def memory(self) -> float:
        """Bytes beside the data, about."""
        second = 8.0 * _KERNELS * self.second**2
        return max(second, 0.0 if self.exact else 8.0 * _MATRICES * self.most**2 + _BLOCKS)

    @property
    def opening(self) -> str:
        """A sentence about what is done, and why."""
        last = (
            "the model that was chosen has exact kernels"
            if self.exact
            else f"the model that was chosen is learned from all rows at landmarks, {self.most} at most"
        )
        return (
            f"Up to {WHOLE} rows, everything is tried on all rows. Here are {self.n} rows: models are "
            f"raced on fewer rows, and {last} (approx='auto'; approx=None tries everything on all rows)."
        )

    @property
    def estimate(self) -> str:
        """Time and memory in words."""
        return _in_words(self.seconds, self.memory)


def make_plan(n: int, d: int, memory_limit: Any) -> Plan:
    """Plan a search over n rows of d columns within this memory."""
    if n <= WHOLE:
        return Plan(n, d, whole=True)
    held = min(n // 5, _HELD)
    limit = parse_memory(memory_limit)
    second = min(n - held, _SECOND, max(int(np.sqrt(limit / (8.0 * _KERNELS))), _RACE[0]))
    race = min(int(np.clip(n // 3, *_RACE)), second)
    if n <= EXACT:
        return Plan(n, d, False, race, second, held)
    room = limit - _BLOCKS
    most = int(_MOST * min(1.0, np.sqrt(_MANY / n)))
    most = min(most, int(np.sqrt(max(room, 0) / (8.0 * _MATRICES))), (n - held) // 2)
    if most < _FEWEST:
        raise MemoryError(
            f"X has {n} rows, and memory_limit allows {readable(limit)}: at least "
            f"{readable(_BLOCKS + 8.0 * _MATRICES * _FEWEST**2)} are needed beside the data, for blocks of "
            f"rows and for sums over {_FEWEST} landmarks. Raise memory_limit, or fit on fewer rows."
        )
    return Plan(n, d, False, race, second, held, exact=False, most=most, widths=min(n - held, _WIDTHS))


def estimate_of_whole(n: int, d: int, folds: int, memory_limit: Any) -> str:
    """Time and memory, in words, of a search that tries everything on all rows.

    Kernels, and weights that are learned from them, grow as the square of the rows, machines as their cube.
    """
    learned = n * (1.0 - 1.0 / max(folds, 2))
    machines = _SOLVED * learned**3 / (3.0 * _SPEED)
    seconds = folds * (_UNIT / 3.0 * n**2 * (1.0 + d / 100.0) + machines)
    return _in_words(seconds, min(8.0 * _KERNELS * learned**2, float(parse_memory(memory_limit))))


def _in_words(seconds: float, memory: float) -> str:
    return f"at most about {duration(seconds)} of one processor and {readable(memory)} beside the data"


def duration(seconds: float) -> str:
    """Seconds, minutes or hours in words, roughly."""
    if seconds < 90.0:
        return f"{max(seconds, 1.0):.0f} s"
    return f"{seconds / 60.0:.0f} min" if seconds < 5400.0 else f"{seconds / 3600.0:.1f} h"
