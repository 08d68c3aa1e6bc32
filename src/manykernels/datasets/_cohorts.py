"""Sets of time to event that scikit-survival and lifelines carry: where each is, and what its columns are.

Of lifelines' tables those are listed that are right-censored and have one row a subject, with features that
do not change. Left out of the features are names and numbers of subjects, dates, other end points, and what
is known only afterwards.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

from ._packages import Carried
from ._tables import Parts, Recipe, as_parts, read_arff, read_csv


def _graft(file: Path) -> Parts:
    """The first of graft-versus-host disease, relapse and death, as scikit-survival's load_cgvhd has it."""
    table = read_arff(file)
    times = {"cgvhtime": "cgvh", "reltime": "rcens", "survtime": "stat"}
    T = np.column_stack([table[time].values for time in times])
    first = T.min(axis=1)
    levels = [(table[name].levels or (), table[name].values) for name in times.values()]
    seen = np.column_stack([np.array(names)[places.astype(int)] == "1" for names, places in levels])
    event = np.any(seen & (first[:, None] == T), axis=1)
    about = (
        "Graft-versus-host disease, relapse or death after a transplant, whatever is first (Pintilie 2006)."
    )
    features = {name: table[name] for name in ("dx", "tx", "extent", "age")}
    return as_parts(features, event, first, description=about)


def _sksurv(file: str, read: Callable[[Path], Parts]) -> Carried:
    return Carried("scikit-survival", "sksurv", f"datasets/data/{file}.arff", read)


def _lifelines(file: str, read: Callable[[Path], Parts]) -> Carried:
    return Carried("lifelines", "lifelines", f"datasets/{file}", read)


_arff = partial(Recipe, read=read_arff)
_AIDS = "Trial ACTG 320 of patients with HIV (Hosmer, Lemeshow and May 2008)"
_BREAST = "German Breast Cancer Study Group 2: recurrence of cancer, or death (Schumacher et al. 1994)."
_NODES = "The women of GBSG2 with their recurrences (Schumacher et al. 1994; Hosmer et al. 2008)."
_FLCHAIN = (
    "Free light chains in blood and death (Dispenzieri et al. 2012). The cause of death, chapter, which only "
    "the dead have, is no feature."
)
_BMT = "Relapse or death by treatment after a transplant of bone marrow (Scrucca et al. 2007)."
COHORTS: dict[str, Carried] = {
    "sksurv_whas500": _sksurv(
        "whas500", _arff("Worcester Heart Attack Study: death (Hosmer et al. 2008).", "lenfol", "fstat")
    ),
    "sksurv_gbsg2": _sksurv("GBSG2", _arff(_BREAST, "time", "cens")),
    "sksurv_veteran": _sksurv(
        "veteran",
        _arff("Veterans with lung cancer: death.", "Survival_in_days", "Status", ("dead",)),
    ),
    "sksurv_aids": _sksurv(
        "actg320", _arff(f"{_AIDS}: AIDS or death.", "time", "censor", without=("time_d", "censor_d"))
    ),
    "sksurv_aids_death": _sksurv(
        "actg320", _arff(f"{_AIDS}: death.", "time_d", "censor_d", without=("time", "censor"))
    ),
    "sksurv_breast_cancer": _sksurv(
        "breast_cancer_GSE7390-metastasis",
        _arff("Distant metastases of breast cancer, 76 genes (Desmedt et al. 2007).", "t.tdm", "e.tdm"),
    ),
    "sksurv_flchain": _sksurv("flchain", _arff(_FLCHAIN, "futime", "death", ("dead",), without=("chapter",))),
    "sksurv_bmt": _sksurv("bmt", _arff(_BMT, "ftime", "status", ("1", "2"))),
    "sksurv_cgvhd": _sksurv("cgvhd", _graft),
    "lifelines_gbsg2": _lifelines("gbsg2.csv", Recipe(_BREAST, "time", "cens")),
    "lifelines_rossi": _lifelines(
        "rossi.csv", Recipe("Arrest after release from prison (Rossi et al. 1980).", "week", "arrest")
    ),
    "lifelines_larynx": _lifelines(
        "larynx.csv", Recipe("Cancer of the larynx: death, by stage and age.", "time", "death")
    ),
    "lifelines_lung": _lifelines(
        "lung.csv",
        Recipe(
            "Advanced lung cancer: death (Loprinzi et al. 1994).", "time", "status", codes=("inst", "sex")
        ),
    ),
    "lifelines_lymphoma": _lifelines(
        "lymphoma.csv", Recipe("Lymphoma: death, by stage.", "Time", "Censor", codes=("Stage_group",))
    ),
    "lifelines_lymph_node": _lifelines(
        "lymph_node.csv",
        Recipe(
            _NODES,
            "rectime",
            "censrec",
            without=("id", "diagdateb", "recdate", "deathdate", "survtime", "censdead"),
            codes=("menopause", "hormone"),
        ),
    ),
    "lifelines_kidney_transplant": _lifelines(
        "kidney_transplant.csv",
        Recipe("Death after a transplant of a kidney (Klein and Moeschberger 1997).", "time", "death"),
    ),
    "lifelines_leukemia": _lifelines(
        "anderson.csv",
        Recipe(
            "Remission of leukemia, treatment and placebo.",
            "t",
            "status",
            read=partial(read_csv, separator=" "),
        ),
    ),
    "lifelines_psychiatric_patients": _lifelines(
        "psychiatric_patients.csv", Recipe("Psychiatric patients: death.", "T", "C", codes=("sex",))
    ),
    "lifelines_lupus": _lifelines(
        "merrell1955.csv",
        Recipe(
            "Lupus: death after diagnosis (Merrell and Shulman 1955).",
            "time_between_diagnosis_and_last_observation_(years)",
            "dead",
            ("True",),
            without=("id", "year_month_of_diagnosis", "year_month_of_last_observation"),
        ),
    ),
    "lifelines_regression": _lifelines(
        "regression.csv", Recipe("A made problem of three variables without ties.", "T", "E")
    ),
    "lifelines_waltons": _lifelines(
        "waltons_dataset.csv", Recipe("Lives of flies of two genotypes.", "T", "E")
    ),
    "lifelines_g3": _lifelines(
        "g3.csv",
        Recipe("Glioma under radioimmunotherapy: death.", "time", "event", ("True",), without=("no.",)),
    ),
    "lifelines_canadian_senators": _lifelines(
        "canadian_senators.csv",
        Recipe(
            "Canadian senators: days in office.",
            "diff_days",
            "observed",
            ("True",),
            without=("Name", "Term (yyyy.mm.dd)", "start_date", "end_date", "reason"),
        ),
    ),
    "lifelines_dd": _lifelines(
        "dd.csv",
        Recipe(
            "Years in office of heads of government, 1946 to 2008 (Cheibub et al. 2010).",
            "duration",
            "observed",
            without=("cowcode2", "politycode", "ehead", "leaderspellreg"),
        ),
    ),
    "lifelines_multicenter_aids_cohort": _lifelines(
        "multicenter_aids_cohort.tsv",
        Recipe(
            "Death after the diagnosis of AIDS; some joined the study later (Cole and Hudgens 2010).",
            "T",
            "D",
            without=("i",),
            entry="W",
            read=partial(read_csv, separator="\t"),
        ),
    ),
}
