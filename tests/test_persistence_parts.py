"""Parts of model files by themselves: what is told to skops, and tables whose columns do not fit."""

import numpy as np
import pytest
import skops.io
from sklearn.preprocessing import StandardScaler

from manykernels import load, save
from manykernels.persistence._frames import Frame, as_frame


def test_files_are_compressed_the_fast_way(tmp_path, monkeypatch):
    """Level 1 is several times as fast as the usual one, and arrays of floats are hardly smaller by that."""
    levels, dumps = [], skops.io.dumps
    monkeypatch.setattr(
        skops.io, "dumps", lambda *a, **k: levels.append(k.get("compresslevel")) or dumps(*a, **k)
    )
    model = StandardScaler().fit(np.arange(6.0).reshape(3, 2))
    save(model, tmp_path / "model")
    assert levels == [1]
    np.testing.assert_array_equal(load(tmp_path / "model").mean_, model.mean_)


@pytest.mark.parametrize("library", ["pandas", "polars"])
@pytest.mark.parametrize(
    ("places", "numbers", "text"),
    [([0], 2, 1), ([0], 0, 1), ([0], 1, 2), ([0], 1, 0), ([0, 1], 1, 0), ([0, 1], 2, 1)],
)
def test_tables_with_more_or_fewer_columns_than_names_are_refused(library, places, numbers, text):
    forged = Frame(library, ["a", "b"], places, np.zeros((numbers, 3)), [["x", "y", "z"]] * text)
    with pytest.raises((ValueError, KeyError)):
        as_frame(forged)
