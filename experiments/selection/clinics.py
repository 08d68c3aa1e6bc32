"""Tables as clinics have them, made: few rows, mixed columns, targets with thresholds and interactions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from ..data import Array, Task

TABLES: dict[str, Task] = {f"clinic {k}": "classification" if k < 6 else "regression" for k in range(10)}
ROWS = 200
GRADES = ["I", "II", "III", "IV"]
_GAPS = 0.12  # share of the cells of two columns
_STAYS = pd.Timestamp("2021-03-01")


def table(name: str, rows: int = ROWS, draw: int = 0) -> tuple[pd.DataFrame, Array]:
    """Nine columns and a target; the law of a table is fixed by its name, and `draw` gives other rows.

    With a site of 20 to 40 levels, a diagnosis of 8 to 25, a drug of three to eight, an ordered grade, a date
    over three years, age, and three measurements of which one has a heavy tail and two have gaps, the target
    is the sum of an effect of sites, one of diagnoses, a threshold in a measurement for some drugs only, a
    step in age for high grades only, a season, and noise. Classes are above or below the median of that.
    """
    law, rng = np.random.RandomState(100 + list(TABLES).index(name)), np.random.RandomState(1000 + draw)
    sites, diagnoses, drugs = law.randint(20, 41), law.randint(8, 26), law.randint(3, 9)
    effects = law.randn(sites), law.randn(diagnoses), law.rand(drugs) < 0.5
    shares = [_shares(law, count) for count in (sites, diagnoses, drugs)]
    weight = law.uniform(0.4, 1.2, 5)
    site, diagnosis, drug = (rng.choice(len(p), rows, p=p) for p in shares)
    age, grade = rng.normal(58, 14, rows).round(), rng.choice(4, rows, p=[0.3, 0.3, 0.25, 0.15])
    crp, bmi, pulse = rng.lognormal(1.0, 1.0, rows), rng.normal(26, 4, rows), rng.normal(75, 11, rows)
    day = rng.randint(0, 1100, rows)
    f = weight[0] * effects[0][site] + weight[1] * effects[1][diagnosis]
    f += 2.0 * weight[2] * effects[2][drug] * (crp > 3.0) + 2.0 * weight[3] * (grade > 1) * (age > 60)
    f += 0.5 * weight[4] * np.sin(2 * np.pi * day / 365.25) + 0.04 * (bmi - 26)
    y = f + law.uniform(0.5, 1.0) * rng.randn(rows)
    frame = pd.DataFrame(
        {
            "site": [f"site {k}" for k in site],
            "diagnosis": [f"D{k:02d}" for k in diagnosis],
            "drug": [f"drug {k}" for k in drug],
            "grade": pd.Categorical([GRADES[k] for k in grade], GRADES, ordered=True),
            "admitted": _STAYS + pd.to_timedelta(day, unit="D"),
            "age": age,
            "crp": _with_gaps(crp, rng),
            "bmi": _with_gaps(bmi, rng),
            "pulse": pulse,
        }
    )
    return frame, y if TABLES[name] == "regression" else (y > _middle(weight, effects, shares)).astype(float)


def _shares(law: np.random.RandomState, count: int) -> Array:
    """Few levels are common, and many are rare."""
    shares = 1.0 / np.arange(1.0, count + 1.0) ** law.uniform(0.3, 0.9)
    return np.asarray(shares / shares.sum())


def _with_gaps(values: Array, rng: np.random.RandomState) -> Array:
    return np.where(rng.rand(values.size) < _GAPS, np.nan, values)


def _middle(weight: Array, effects: Any, shares: list[Array]) -> float:
    """The mean of the target without noise, up to its small parts: the two classes are about as large."""
    site, diagnosis = (weight[k] * float(effects[k] @ shares[k]) for k in range(2))
    drugs = 2.0 * weight[2] * float(shares[2] @ effects[2]) * 0.46
    return float(site + diagnosis + drugs + 2.0 * weight[3] * 0.4 * 0.44)
