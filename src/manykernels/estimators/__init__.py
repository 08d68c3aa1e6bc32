"""The estimators, with the interface of scikit-learn.

Names are imported when they are first used, so that whoever needs one estimator does not wait for all.
"""

from typing import TYPE_CHECKING

from .._lazy import attach

if TYPE_CHECKING:  # private modules: what reads estimators is for other parts, not for users
    from ._checked import facts_of as facts_of
    from ._copies import Copies as Copies
    from ._copies import copies_of as copies_of
    from ._copies import same_trade_off as same_trade_off
    from ._dask import LazyScore as LazyScore
    from ._dask import MatchedScore as MatchedScore
    from ._finalists import Finalists as Finalists
    from ._finalists import finalists_of as finalists_of
    from ._finalists import fitted_search as fitted_search
    from ._reading import Opened as Opened
    from ._reading import Searched as Searched
    from ._reading import face_of as face_of
    from ._reading import in_one_piece as in_one_piece
    from ._reading import model_of as model_of
    from ._reading import opened as opened
    from ._reading import require_named as require_named
    from ._reading import silent as silent
    from .align_mkl import AlignMKLClassifier, AlignMKLRegressor
    from .aligner import KernelAligner
    from .ensemble import KernelEnsembleClassifier, KernelEnsembleRegressor
    from .hierarchical import HierarchicalMKLClassifier, HierarchicalMKLRegressor
    from .localized import LocalizedMKLClassifier, LocalizedMKLRegressor
    from .mkl import MKLClassifier, MKLRegressor
    from .mkl_cv import MKLClassifierCV, MKLRegressorCV
    from .nonlinear import NonlinearMKLClassifier, NonlinearMKLRegressor
    from .preparer import TablePreparer
    from .survival import MKLSurvival
    from .survival_cv import MKLSurvivalCV
    from .ufo import UFOMKLClassifier, UFOMKLRegressor

__all__ = [
    "AlignMKLClassifier",
    "AlignMKLRegressor",
    "HierarchicalMKLClassifier",
    "HierarchicalMKLRegressor",
    "KernelAligner",
    "KernelEnsembleClassifier",
    "KernelEnsembleRegressor",
    "LocalizedMKLClassifier",
    "LocalizedMKLRegressor",
    "MKLClassifier",
    "MKLClassifierCV",
    "MKLRegressor",
    "MKLRegressorCV",
    "MKLSurvival",
    "MKLSurvivalCV",
    "NonlinearMKLClassifier",
    "NonlinearMKLRegressor",
    "TablePreparer",
    "UFOMKLClassifier",
    "UFOMKLRegressor",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = attach(
        __name__,
        {
            "._checked": ["facts_of"],
            "._copies": ["Copies", "copies_of", "same_trade_off"],
            "._dask": ["LazyScore", "MatchedScore"],
            "._finalists": ["Finalists", "finalists_of", "fitted_search"],
            "._reading": [
                "Opened",
                "Searched",
                "face_of",
                "in_one_piece",
                "model_of",
                "opened",
                "require_named",
                "silent",
            ],
            ".align_mkl": ["AlignMKLClassifier", "AlignMKLRegressor"],
            ".aligner": ["KernelAligner"],
            ".ensemble": ["KernelEnsembleClassifier", "KernelEnsembleRegressor"],
            ".hierarchical": ["HierarchicalMKLClassifier", "HierarchicalMKLRegressor"],
            ".localized": ["LocalizedMKLClassifier", "LocalizedMKLRegressor"],
            ".mkl": ["MKLClassifier", "MKLRegressor"],
            ".mkl_cv": ["MKLClassifierCV", "MKLRegressorCV"],
            ".nonlinear": ["NonlinearMKLClassifier", "NonlinearMKLRegressor"],
            ".preparer": ["TablePreparer"],
            ".survival": ["MKLSurvival"],
            ".survival_cv": ["MKLSurvivalCV"],
            ".ufo": ["UFOMKLClassifier", "UFOMKLRegressor"],
        },
    )
