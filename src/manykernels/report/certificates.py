"""The certificate of a model, computed anew for its report: nothing that the fit claimed is believed."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import _num_samples

from ..fitting.model import Model
from ..inspection.certificates import certificate, why_none

TITLE = "The certificate, computed anew"
_MOST_VALUES = 1e9  # of all kernels between all samples, each evaluated twice: ten seconds of one processor
_SAME = 1e-6  # of P: what rounding may change between the fit and this computation, with a wide margin


def certificate_section(face: Any, model: Model, X: Any, y: Any) -> dict[str, Any] | None:
    """P and D from the fitted model and its samples alone; None for models that have no such certificate.

    A report is not told the sample weights, nor covariates given beside X. Where P is another one than the
    fit's, the samples are not those of the fit, and nothing is claimed.
    """
    if why_none(face) or model.proof is None or not np.isfinite(model.proof.gap):
        return None
    if float(_num_samples(X)) ** 2 * len(model.names) > _MOST_VALUES:
        raise ValueError(
            "With so many samples and kernels, the certificate takes more than a few seconds. To compute it, "
            "call manykernels.inspection.certificate(model, X, y)."
        )
    found = certificate(face, X, y)
    if abs(found.primal - model.proof.primal) > _SAME * abs(found.primal) + 1e-12:
        raise ValueError(
            "The report has other data than the fit had: other samples, or no sample weights or covariates. "
            "To compute the certificate, call manykernels.inspection.certificate(model, X, y, "
            "sample_weight=...) with the data of the fit."
        )
    return {
        "primal": found.primal,
        "dual": found.dual,
        "gap": max(found.gap, 0.0),
        "certified": found.certified,
    }
