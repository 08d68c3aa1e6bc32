"""AnnData and MuData are frames and views. They are told by what they have, as these stand-ins are."""

import sys
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from typer.testing import CliRunner

from manykernels import MKLClassifier
from manykernels.cli._console import UserError, Voice
from manykernels.cli.app import app
from manykernels.cli.sources import Asked, gather
from manykernels.families import gene_sets, views
from manykernels.fitting.annotated import unpacked
from manykernels.kernels import Linear

N = 40
rng = np.random.RandomState(0)
CELLS = pd.Index([f"c{i}" for i in range(N)])
VALUES = rng.poisson(1.0, size=(N, 4)).astype(np.float32)
STATE = np.where(VALUES[:, 0] > 1, "on", "off")


def annotated(values=VALUES, cells=CELLS, names=("g0", "g1", "g2", "g3"), **obs):
    return SimpleNamespace(
        X=values, obs_names=cells, var_names=pd.Index(names), obs=pd.DataFrame(obs, index=cells), layers={}
    )


def several(cells=CELLS, **parts):
    return SimpleNamespace(
        mod=parts, obs_names=cells, obs=pd.DataFrame({"state": STATE}, index=cells), axis=0
    )


RNA = annotated(sp.csr_matrix(VALUES), state=STATE, cluster=np.arange(N) % 3)
FRAME = pd.DataFrame(VALUES, index=CELLS, columns=["g0", "g1", "g2", "g3"])


def test_anndata_is_the_frame_of_its_values():
    model = MKLClassifier([Linear()], loss="logistic").fit(RNA, RNA.obs["state"])
    other = MKLClassifier([Linear()], loss="logistic").fit(FRAME, STATE)
    assert list(model.feature_names_in_) == list(FRAME.columns)
    np.testing.assert_allclose(model.decision_function(RNA), other.decision_function(FRAME), atol=1e-9)
    np.testing.assert_array_equal(model.predict(FRAME), model.predict(annotated()))
    shuffled = RNA.obs["state"].iloc[::-1]
    with pytest.raises(ValueError, match="labels of X in another order"):
        MKLClassifier([Linear()]).fit(RNA, shuffled)


def test_gene_sets_of_anndata(tmp_path):
    path = tmp_path / "sets.gmt"
    path.write_text("A\tx\tg0\tg1\nB\tx\tg2\tg3\n")
    model = MKLClassifier(views(gene_sets(path, RNA), Linear()), loss="logistic").fit(RNA, STATE)
    assert model.view_weights_["A"] > model.view_weights_["B"]


def test_mudata_is_a_dict_of_views_with_all_samples():
    """In the order of MuData; samples that a part lacks are rows of NaN."""
    few = CELLS[5:30]
    protein = annotated(rng.randn(25, 2), few[::-1], ("p0", "p1"))
    found = unpacked(several(rna=RNA, protein=protein))
    assert list(found) == ["rna", "protein"] and all(part.index.equals(CELLS) for part in found.values())
    assert found["protein"].isna().all(axis=1).to_numpy().nonzero()[0].tolist() == [*range(5), *range(30, N)]
    np.testing.assert_array_equal(found["protein"].loc["c5"], protein.X[-1])
    whole = several(rna=RNA, protein=annotated(rng.randn(N, 2), names=("p0", "p1")))
    model = MKLClassifier([Linear()], loss="logistic").fit(whole, whole.obs["state"])
    assert list(model.view_weights_) == ["rna", "protein"]
    assert model.predict(whole).shape == (N,)


@pytest.mark.parametrize(
    ("X", "said"),
    [
        (annotated(names=("g0", "g0", "g2", "g3")), "several variables called 'g0'.*var_names_make_unique"),
        (annotated(values=None), "without values"),
        (SimpleNamespace(mod={}, obs_names=CELLS, axis=1), "share variables"),
        (several(cells=pd.Index(["c0"] * N), rna=RNA), "several samples called 'c0'"),
        (several(inner=several(rna=RNA)), "'inner' of MuData is MuData itself"),
    ],
)
def test_what_cannot_be_read_is_said(X, said):
    with pytest.raises(ValueError, match=said):
        MKLClassifier([Linear()]).fit(X, STATE)


# -- the command line ---------------------------------------------------------------------------------
def test_files_need_the_packages_that_wrote_them(tmp_path, monkeypatch):
    file = tmp_path / "a.h5ad"
    file.write_bytes(b"x")
    monkeypatch.setitem(sys.modules, "anndata", None)
    said = CliRunner().invoke(app, ["fit", str(file), "--target", "state"])
    assert said.exit_code == 2 and "pip install 'manykernels[omics]'" in said.output
    missing = CliRunner().invoke(app, ["fit", str(tmp_path / "b.h5mu"), "--target", "state"])
    assert missing.exit_code == 2 and "no such file" in missing.output


def test_files_give_values_the_target_and_ids(tmp_path, monkeypatch):
    for name, content in (("a.h5ad", RNA), ("a.h5mu", several(rna=RNA, more=annotated(names=list("abcd"))))):
        (tmp_path / name).write_bytes(b"x")
        reader = "read_h5ad" if name.endswith("ad") else "read_h5mu"
        package = "anndata" if name.endswith("ad") else "mudata"
        monkeypatch.setitem(sys.modules, package, SimpleNamespace(**{reader: lambda path, it=content: it}))
    asked, voice = Asked(tmp_path / "a.h5ad", [], target="state"), Voice(quiet=True)
    how = type(asked.join)(learned=frozenset({"state"}))
    found = gather(asked, how, voice)
    assert list(found.frame.columns) == ["state", "g0", "g1", "g2", "g3"] and list(found.ids) == list(CELLS)
    assert any("'cluster'" in note for note in voice.notes)
    found = gather(Asked(tmp_path / "a.h5mu", [], target="state"), how, voice)
    assert list(found.views) == ["", "rna", "more"] and "rna__g0" in found.frame and "state" in found.frame
    with pytest.raises(UserError, match="several views"):
        gather(Asked(None, [f"x={tmp_path / 'a.h5mu'}"]), how, voice)
