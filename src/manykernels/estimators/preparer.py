"""A raw table as numbers, for estimators and kernels that need them."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from ..families.base import unique
from ..families.remarks import warn_of
from ..fitting.layout import Layout, read_training
from ..fitting.targets import check_weights
from ..kernels import Preparation

Array = NDArray[np.float64]


class TablePreparer(TransformerMixin, BaseEstimator):
    """Columns of a raw table as numbers of one scale, as ``kernels="auto"`` prepares them.

    Numbers are standardised, gaps filled and marked, categories become indicators, identifiers and columns
    that do not vary are left out. All constants come from the samples of ``fit``. Columns of text are left
    out: they have no numbers. Put it before an estimator that takes numbers only, or before kernels that you
    give yourself: ``make_pipeline(TablePreparer(), MKLClassifier(gaussian_grid(1, 9, 5)))``.

    Attributes
    ----------
    preparation_ : :class:`~manykernels.kernels.Preparation`
        The constants.
    n_features_in_, feature_names_in_ : the columns of ``fit``

    Examples
    --------
    >>> import pandas as pd
    >>> from manykernels.estimators import TablePreparer
    >>> table = pd.DataFrame({"age": [31, 62, None, 45], "site": ["Rome", "Oslo", "Rome", "Oslo"]})
    >>> TablePreparer().fit(table).get_feature_names_out()
    array(['age', 'age missing', 'site=Oslo', 'site=Rome'], dtype=object)
    """

    _layout: Layout

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn what each column holds, and its constants.

        Parameters
        ----------
        X : frame or array of shape (n_samples, n_columns)
        y : ignored
        sample_weight : array of shape (n_samples,), optional
            A sample of weight 2 counts as two samples.
        """
        X, layout = read_training(type(self).__name__, "auto", X, quiet=True)
        weight = None if sample_weight is None else check_weights(sample_weight, X.shape[0])
        table = layout.table
        if table is None:
            raise ValueError(
                f"X is a sparse matrix ({type(X).__name__}); expected a dense table: call X.toarray() first."
            )
        prepared = table.preparation(X, weight)
        if prepared is None:
            raise ValueError(
                f"No column of X holds numbers or categories that vary (n_samples = {X.shape[0]}): there is "
                "nothing to prepare."
            )
        warn_of(table, text=False)
        self._layout = layout
        self.__dict__.update(layout.attributes)
        self.preparation_: Preparation = prepared
        return self

    def transform(self, X: Any) -> Array:
        """(n_samples, n_features): the columns as numbers.

        Parameters
        ----------
        X : frame or array with the columns of ``fit``
        """
        check_is_fitted(self)
        return self.preparation_.transform(self._layout.read(X))

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """What the features are called: by their columns, ``column missing`` and ``column=level``.

        Parameters
        ----------
        input_features : ignored
            The columns have the names of ``fit``.
        """
        check_is_fitted(self)
        assert self._layout.table is not None
        return np.array(unique(self.preparation_.names(self._layout.table.names)), dtype=object)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags
