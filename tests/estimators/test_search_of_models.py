"""Models of the user's own in a search: fitted as they are, on data as they read them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.model_selection import KFold

from manykernels import (
    LocalizedMKLClassifier,
    MKLClassifier,
    MKLClassifierCV,
    MKLRegressor,
    MKLRegressorCV,
    UFOMKLClassifier,
)
from manykernels.approx import Nystroem
from manykernels.families import from_distances
from manykernels.kernels import Gaussian, Linear, OnColumns

RNG = np.random.RandomState(0)
X = RNG.randn(100, 5)
y = (X[:, 0] + 0.5 * RNG.randn(100) > 0.8).astype(int)
FRAME = pd.DataFrame(X, columns=list("abcde"))
KERNELS = [Gaussian(1.0), Gaussian(3.0)]


@pytest.mark.parametrize("kind", [MKLClassifier, LocalizedMKLClassifier])
def test_a_model_keeps_its_own_costs_of_classes(kind):
    model = kind(KERNELS, loss="squared", class_weight={0: 1, 1: 20}, random_state=0)  # gates are drawn
    search = MKLClassifierCV(KERNELS, strategy=[model], Cs=[1.0], cv=3).fit(X, y)
    alone = clone(model).set_params(C=1.0).fit(X, y)
    found = search.best_estimator_.decision_function(X)
    np.testing.assert_allclose(found, alone.decision_function(X), atol=1e-2)


def test_a_model_reads_the_data_by_its_own_kernels():
    named = MKLClassifier([OnColumns(Gaussian(1.0), ["a", "b"])])
    search = MKLClassifierCV(strategy=["finite", named], Cs=[1.0], cv=3).fit(FRAME, y)
    assert list(search.path_) == ["finite", "MKLClassifier"]
    gap = FRAME.copy()
    gap.loc[3, "b"] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        MKLClassifierCV(
            [OnColumns(Gaussian(1.0), ["a"])], strategy=[MKLClassifier([Gaussian(1.0)])], Cs=[1.0]
        ).fit(gap, y)
    D = np.abs(X[:, None, :2] - X[None, :, :2])
    D[3, 4] = -1.0
    distances = MKLClassifier(from_distances([0.5, 0.1]))
    with pytest.raises(ValueError, match="not symmetric"):
        MKLClassifierCV("precomputed", strategy=[distances], Cs=[1.0]).fit(D, y)


def test_messages_name_the_model_that_was_chosen():
    for approx in (None, Nystroem(10)):
        search = MKLRegressorCV(KERNELS, approx=approx, Cs=[1.0], cv=2).fit(X, X[:, 0])
        with pytest.raises(ValueError, match="MKLRegressor is expecting 5 features"):
            search.predict(X[:, :2])


def test_lists_and_lazy_frames_are_searched_as_arrays():
    wanted = MKLRegressorCV(strategy="products", Cs=[1.0], cv=2).fit(X, X[:, 0])
    from_list = MKLRegressorCV(strategy="products", Cs=[1.0], cv=2).fit(X.tolist(), X[:, 0])
    np.testing.assert_allclose(from_list.predict(X), wanted.predict(X))
    lazy = pl.DataFrame(FRAME.to_dict("list")).lazy()
    assert MKLRegressorCV(KERNELS, Cs=[1.0], cv=2).fit(lazy, X[:, 0]).score(X, X[:, 0]) > 0.5


def test_arrow_tables_are_read_as_frames():
    table = pa.Table.from_pandas(FRAME)
    search = MKLRegressorCV(Cs=[1.0], cv=2, strategy="finite")
    wanted = clone(search).fit(FRAME, X[:, 0]).predict(FRAME)
    np.testing.assert_array_equal(search.fit(table, X[:, 0]).predict(table), wanted)
    views = [MKLRegressor().fit({"all": one}, X[:, 0]).predict({"all": one}) for one in (table, FRAME)]
    np.testing.assert_array_equal(*views)


def test_what_takes_no_weights_is_refused_before_any_fold():
    weight = np.ones(100)
    weight[:5] = 2.0
    search = MKLClassifierCV(KERNELS, strategy=[UFOMKLClassifier(KERNELS)], cv=2)
    with pytest.raises(ValueError, match="'UFOMKLClassifier', whose fit takes no weights"):
        search.fit(X, y, sample_weight=weight)


@pytest.mark.parametrize("approx", [None, Nystroem(10)])
def test_a_fold_that_counts_nothing_is_refused(approx):
    weight = np.where(np.arange(100) < 20, 0.0, 1.0)
    search = MKLRegressorCV(KERNELS, approx=approx, Cs=[1.0], cv=KFold(5))
    with pytest.raises(ValueError, match="none to score"):
        search.fit(X, X[:, 0], sample_weight=weight)


def test_leave_one_out_scores_what_was_learned_from():
    three = y + 2 * (X[:, 1] > 1.2)
    three[three == 3] = 2
    search = MKLClassifierCV(KERNELS, cv="loo", norms=[1.0], Cs=[1.0], class_weight={0: 1, 1: 1, 2: 0})
    score = search.fit(X, three).best_score_
    kept = three < 2
    alone = MKLClassifierCV(KERNELS, cv="loo", norms=[1.0], Cs=[1.0]).fit(X[kept], three[kept])
    assert score == pytest.approx(alone.best_score_)


def test_a_huge_kernel_behind_gates_is_refused_too():
    wide = np.c_[X, np.full(100, 1e9) + 1e-7 * RNG.randn(100)]
    kernels = [Gaussian(1.0), OnColumns(Linear(), [5])]
    with pytest.raises(ValueError, match="no answer could be trusted"):
        LocalizedMKLClassifier(kernels, center=True, normalize=None, C=1e6, random_state=0).fit(wide, y)


def test_selected_products_are_asked_of_what_was_fitted():
    from manykernels.families import Products

    model = MKLRegressor(KERNELS).fit(X, X[:, 0]).set_params(kernels=Products())
    assert not hasattr(model, "selected_products_")
