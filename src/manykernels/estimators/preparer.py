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
    """Turn the columns of a raw table into numbers of one scale, as ``kernels="auto"`` does.

    Numbers are standardised, gaps are filled and marked, and categories become indicators. Identifiers,
    columns that do not vary and columns of text are left out. All constants come from the samples of ``fit``.
    Put it before an estimator that takes numbers only, or before kernels of your own:
    ``make_pipeline(TablePreparer(), MKLClassifier(gaussian_grid(1, 9, 5)))``.

    Attributes
    ----------
    preparation_ : Preparation
        The constants (:class:`~manykernels.kernels.Preparation`).
    n_features_in_ : int
        The number of columns of ``fit``.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        The names of the columns of ``fit``, if all of them are strings.

    See Also
    --------
    manykernels.families.Auto : The kernels for a raw table.

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
        X : frame or array-like of shape (n_samples, n_columns)
            The table.
        y : None, default=None
            Ignored.
        sample_weight : array-like of shape (n_samples,), default=None
            The weights of the samples. A sample of weight 2 counts as two samples, one of weight 0 as none.

        Returns
        -------
        self : estimator
            The fitted estimator.

        Raises
        ------
        ValueError
            If X is sparse, or if no column holds numbers or categories that vary.

        Examples
        --------
        >>> import pandas as pd
        >>> from manykernels.estimators import TablePreparer
        >>> table = pd.DataFrame({"age": [30, 50, 70, 50], "site": ["Rome", "Oslo", "Rome", "Oslo"]})
        >>> preparer = TablePreparer().fit(table)
        >>> preparer.n_features_in_, preparer.preparation_.mean_.tolist()
        (2, [50.0])
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
        """Turn the columns into numbers.

        Parameters
        ----------
        X : frame or array-like of shape (n_samples, n_columns)
            A table with the columns of ``fit``.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
            The numbers.

        Examples
        --------
        The age of 50 is the mean. The site is centred, and has a total variance of 1:

        >>> import pandas as pd
        >>> from manykernels.estimators import TablePreparer
        >>> table = pd.DataFrame({"age": [30, 50, 70, 50], "site": ["Rome", "Oslo", "Rome", "Oslo"]})
        >>> preparer = TablePreparer().fit(table)
        >>> preparer.transform(table[1:2]).round(2)
        array([[ 0.  ,  0.71, -0.71]])
        """
        check_is_fitted(self)
        return self.preparation_.transform(self._layout.read(X))

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Get the names of the features.

        Parameters
        ----------
        input_features : None, default=None
            Ignored: the columns have the names of ``fit``.

        Returns
        -------
        ndarray of str
            The names of columns, ``column missing`` and ``column=level``.

        Examples
        --------
        >>> import pandas as pd
        >>> from manykernels.estimators import TablePreparer
        >>> table = pd.DataFrame({"age": [30, None, 70, 50], "site": ["Rome", "Oslo", "Rome", "Oslo"]})
        >>> TablePreparer().fit(table).get_feature_names_out().tolist()
        ['age', 'age missing', 'site=Oslo', 'site=Rome']
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
