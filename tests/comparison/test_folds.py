"""Folds that cannot be made say what helps."""

import numpy as np
import pytest

from manykernels.comparison.folds import make_folds


@pytest.mark.parametrize(
    ("rare", "said"),
    [(["Ill "], "did you mean 'ill'"), (["z"], "leave that sample out"), (["z", "z"], "smaller cv")],
)
def test_a_misspelt_label_and_a_class_of_one_say_what_helps(rare, said):
    labels = np.array(["ill", "well"] * 10 + rare)
    with pytest.raises(ValueError, match=said):
        make_folds(labels, cv=5, classes=True)
