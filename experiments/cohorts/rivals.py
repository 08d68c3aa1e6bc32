"""scikit-survival's estimators (pip install scikit-survival), each tuned on the training part.

They get what they need, numbers without holes: categories as indicators, medians for what is missing and an
indicator of it, all standardised, by the training part alone. Parameters are chosen by Harrell's C in folds
of the training part that are cut by event; random forests by the samples that their trees have not seen.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np
from sklearn.compose import make_column_transformer
from sklearn.feature_selection import VarianceThreshold
from sklearn.impute import SimpleImputer
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from ..data import Array
from ..tables import Facts
from .splits import Endpoint

Method = Callable[[Any, Endpoint, Any, Array], tuple[Array, Array | None, Facts]]
MANY = 1500  # samples from which on forests have fewer trees, larger leaves and no curves
TUNED_ON = 1000  # samples that parameters are chosen on, at most, by all but Coxnet and forests
MACHINE = 2000  # samples that a kernel machine learns from, at most
WIDE = 200  # features from which on boosting looks at a sample of them for each split


def prepared(X: Any, Z: Any) -> tuple[Array, Array]:
    """Numbers for every method, by the training part."""
    X, Z = _without_categories(X), _without_categories(Z)
    words = [name for name in X if X[name].dtype == object]
    table = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore", sparse_output=False), words),
        (
            SimpleImputer(strategy="median", add_indicator=True),
            [name for name in X if name not in set(words)],
        ),
    )
    pipe = make_pipeline(table, VarianceThreshold(), StandardScaler())
    return pipe.fit_transform(X), pipe.transform(Z)


def _without_categories(frame: Any) -> Any:
    """Categories as plain words, of which "missing" is one."""
    words = {name: column.astype(object) for name, column in frame.select_dtypes("category").items()}
    return frame.assign(**{name: column.where(column.notna(), "missing") for name, column in words.items()})


# -- choosing ---------------------------------------------------------------------------------------
def harrell(y: Endpoint, risk: Array) -> float:
    """Harrell's C; a half where nothing can be compared or risks are not numbers."""
    metrics = import_module("sksurv.metrics")
    if not np.all(np.isfinite(risk)):
        return 0.5
    try:
        return float(metrics.concordance_index_censored(y["event"], y["time"], risk)[0])
    except metrics.NoComparablePairException:
        return 0.5


def folds(y: Endpoint, k: int) -> list[tuple[Array, Array]]:
    least = int(min(np.sum(y["event"]), np.sum(~y["event"])))
    label = y["event"] if least >= k else np.zeros(len(y), dtype=bool)
    return list(StratifiedKFold(k, shuffle=True, random_state=0).split(np.zeros(len(y)), label))


def chosen(make: Callable[[Any], Any], values: list[Any], X: Array, y: Endpoint, k: int = 5) -> Any:
    """The value of the largest mean C over the folds; a fit that fails counts as guessing."""
    scores = np.zeros(len(values))
    for train, test in folds(y, k):
        for i, value in enumerate(values):
            try:
                risk = make(value).fit(X[train], y[train]).predict(X[test])
            except (ValueError, ArithmeticError, np.linalg.LinAlgError):
                risk = np.zeros(len(test))
            scores[i] += harrell(y[test], risk)
    return values[int(np.argmax(scores))]


def some(X: Array, y: Endpoint, m: int) -> tuple[Array, Endpoint]:
    """At most m samples, at random."""
    rows = np.random.RandomState(0).permutation(len(y))[:m]
    return X[rows], y[rows]


def at(curves: Any, times: Array) -> Array:
    """Values of step functions; before the first time nobody has had the event."""
    rows = [np.where(times < c.domain[0], 1.0, c(np.clip(times, *c.domain))) for c in curves]
    return np.array(rows)


# -- the methods ------------------------------------------------------------------------------------
def coxnet(X: Any, y: Endpoint, Z: Any, times: Array) -> tuple[Array, Array | None, Facts]:
    """Elastic net: its own path of a hundred penalties, each with three mixtures, by five folds."""
    Net = import_module("sksurv.linear_model").CoxnetSurvivalAnalysis
    X, Z = prepared(X, Z)
    best: tuple[float, float, float] = (-1.0, 0.5, 1.0)
    for mix in (0.1, 0.5, 0.9):
        how = {"l1_ratio": mix, "alpha_min_ratio": 0.01}
        path = Net(**how).fit(X, y).alphas_
        scores = np.zeros(path.size)
        for train, test in folds(y, 5):
            model = Net(alphas=path, l1_ratio=mix).fit(X[train], y[train])
            scores += [harrell(y[test], X[test] @ b) for b in _filled(model.coef_, path.size).T]
        if scores.max() > best[0]:
            best = (float(scores.max()), mix, float(path[int(np.argmax(scores))]))
    model = Net(alphas=[best[2]], l1_ratio=best[1], fit_baseline_model=True).fit(X, y)
    kept = {"l1_ratio": best[1], "alpha": best[2], "features": int(np.sum(model.coef_ != 0.0))}
    return model.predict(Z), at(model.predict_survival_function(Z), times), kept


def _filled(coef: Array, size: int) -> Array:
    """A path that ended early goes on with its last coefficients."""
    return coef[:, np.minimum(np.arange(size), coef.shape[1] - 1)]


def ridge(X: Any, y: Endpoint, Z: Any, times: Array) -> tuple[Array, Array | None, Facts]:
    """Cox's model with a squared penalty, of nine by five folds of at most a thousand samples.

    Features that are more than samples are rotated to as many as there are samples, which changes nothing.
    """
    Cox = import_module("sksurv.linear_model").CoxPHSurvivalAnalysis
    X, Z = prepared(X, Z)
    if X.shape[1] > X.shape[0]:
        V = np.linalg.svd(X, full_matrices=False)[2].T
        X, Z = X @ V, Z @ V
    alphas = [10.0**k for k in range(-2, 7)]
    A, b = some(X, y, TUNED_ON) if len(y) > TUNED_ON else (X, y)
    alpha = chosen(lambda a: Cox(alpha=a * len(b) / len(y)), alphas, A, b)
    model = Cox(alpha=alpha).fit(X, y)
    return model.predict(Z), at(model.predict_survival_function(Z), times), {"alpha": alpha}


def forest(X: Any, y: Endpoint, Z: Any, times: Array) -> tuple[Array, Array | None, Facts]:
    """Random survival forest: leaves of at least 3, 8 or 20 samples by the C of samples out of the bag.

    300 trees; 100, leaves of 15 or 40 and no survival curves (they would take gigabytes) for large sets.
    """
    Forest = import_module("sksurv.ensemble").RandomSurvivalForest
    X, Z = prepared(X, Z)
    large = len(y) > MANY
    common = {"n_estimators": 100 if large else 300, "random_state": 0, "oob_score": True}
    best, model, kept = -1.0, None, 0
    for leaf in (15, 40) if large else (3, 8, 20):
        tried = Forest(min_samples_leaf=leaf, min_samples_split=2 * leaf, low_memory=large, **common)
        tried.fit(X, y)
        if tried.oob_score_ > best:
            best, model, kept = float(tried.oob_score_), tried, leaf
    assert model is not None
    curves = None if large else at(model.predict_survival_function(Z), times)
    return model.predict(Z), curves, {"leaf": kept, "trees": common["n_estimators"]}


def boosting(X: Any, y: Endpoint, Z: Any, times: Array) -> tuple[Array, Array | None, Facts]:
    """Gradient boosting of Cox's likelihood on halves: depth 1 or 3 and up to 200 trees, by three folds.

    Chosen on at most a thousand samples; a split looks at √d features where they are more than 200.
    """
    Boosting = import_module("sksurv.ensemble").GradientBoostingSurvivalAnalysis
    X, Z = prepared(X, Z)
    wide = "sqrt" if X.shape[1] > WIDE else None
    common = {"learning_rate": 0.1, "subsample": 0.5, "max_features": wide, "random_state": 0}
    A, b = some(X, y, TUNED_ON)
    scores = {}
    for depth in (1, 3):
        total = np.zeros(200)
        for train, test in folds(b, 3):
            model = Boosting(n_estimators=200, max_depth=depth, **common).fit(A[train], b[train])
            steps = list(model.staged_predict(A[test]))[9::10]
            total[9::10] += [harrell(b[test], np.asarray(risk)) for risk in steps]
        scores[depth] = total
    depth = max(scores, key=lambda d: float(scores[d].max()))
    trees = int(np.argmax(scores[depth])) + 1
    model = Boosting(n_estimators=trees, max_depth=depth, **common).fit(X, y)
    kept = {"depth": depth, "trees": trees}
    return model.predict(Z), at(model.predict_survival_function(Z), times), kept


def kernel_machine(X: Any, y: Endpoint, Z: Any, times: Array) -> tuple[Array, Array | None, Facts]:
    """FastKernelSurvivalSVM, ranks only: a Gaussian kernel of median width, seven penalties by three folds.

    Solved as FastSurvivalSVM on features whose inner products are the kernel: the same problem and the same
    predictions, in a hundredth of the time, since its conditioning is that of √K. Learned from at most 2,000
    samples and chosen on at most a thousand of them. It takes no time of zero, which becomes half of the
    shortest one, and it has no survival curves.
    """
    SVM = import_module("sksurv.svm").FastSurvivalSVM
    X, Z = prepared(X, Z)
    X, y = some(X, y, MACHINE) if len(y) > MACHINE else (X, y)
    y = y.copy()
    y["time"] = np.maximum(y["time"], 0.5 * np.min(y["time"][y["time"] > 0.0]))
    squared = euclidean_distances(X, squared=True)
    gamma = 1.0 / float(np.median(squared[squared > 1e-12]))
    K, K_new = np.exp(-gamma * squared), np.exp(-gamma * euclidean_distances(Z, X, squared=True))
    values, V = np.linalg.eigh(K)
    kept = values > 1e-8 * values[-1]
    root = V[:, kept] / np.sqrt(values[kept])
    A, B = K @ root, K_new @ root
    common = {"rank_ratio": 1.0, "max_iter": 50, "tol": 1e-4, "random_state": 0}
    alphas = [2.0**k for k in range(-18, 1, 3)]
    alpha = chosen(lambda a: SVM(alpha=a, **common), alphas, *some(A, y, TUNED_ON), 3)
    return SVM(alpha=alpha, **common).fit(A, y).predict(B), None, {"alpha": alpha}


RIVALS: dict[str, Method] = {
    "Coxnet": coxnet,
    "ridge Cox": ridge,
    "forest": forest,
    "boosting": boosting,
    "kernel SVM": kernel_machine,
}
