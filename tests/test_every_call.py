"""Every call to the system may fail; ``python -m tests.every_call`` does all of them with all errors."""

from __future__ import annotations

import numpy as np
import pytest
from tests.every_call import ERRORS, commands, loads, predictions, search, searches, workers, y
from tests.every_call import X as ROWS
from tests.faults import failing_call

from manykernels.selection.checkpoint import Checkpoint


def test_some_calls_of_a_kept_search_may_fail(tmp_path):
    assert searches("full", tmp_path, step=9) > 3


@pytest.mark.parametrize("error", ERRORS)
def test_every_call_of_a_read_may_fail(error, tmp_path):
    assert loads(error, tmp_path) == 3  # opened, and read twice


@pytest.mark.parametrize("error", ["lost", "interrupt"])
def test_some_calls_of_a_prediction_may_fail(error, tmp_path):
    assert predictions(error, tmp_path, step=5) > 2


@pytest.mark.slow
@pytest.mark.parametrize("error", ERRORS)
def test_every_call_of_a_kept_search_may_fail(error, tmp_path):
    assert searches(error, tmp_path) > 30


@pytest.mark.slow
@pytest.mark.parametrize(("place", "error"), list(enumerate(ERRORS)))
def test_every_call_of_a_command_may_fail(place, error, tmp_path):
    """Each call with one or two of the errors."""
    assert commands(error, tmp_path, step=4, first=1 + place % 4) > 20


@pytest.mark.slow
def test_calls_of_a_command_that_scores_may_fail(tmp_path):
    assert commands("full", tmp_path, step=67, score=True) > 4


@pytest.mark.slow
@pytest.mark.parametrize("error", ERRORS)
def test_every_call_of_a_prediction_may_fail(error, tmp_path):
    assert predictions(error, tmp_path) > 10


@pytest.mark.slow
@pytest.mark.parametrize("kept", [False, True])
def test_a_worker_may_be_killed_at_every_call(kept, tmp_path):
    assert workers(tmp_path, kept) >= 2


@pytest.mark.filterwarnings("ignore:.*keeps no more work")
def test_a_folder_that_cannot_be_removed_costs_no_model(tmp_path):
    """The search has ended by then: a warning, a fitted model, and a folder that can be gone on with."""
    folder, expected = tmp_path / "kept", search(None).fit(ROWS, y)
    search(folder).fit(ROWS, y)
    for k in range(1, 100):
        with failing_call(k, ERRORS["read-only"](), paths=True) as calls:
            model = search(Checkpoint(folder, remove=True))
            if calls_removed(model, calls):
                break
    else:
        raise AssertionError("nothing was removed")
    np.testing.assert_array_equal(model.dual_coef_, expected.dual_coef_)
    search(Checkpoint(folder, remove=True)).fit(ROWS, y)
    assert not folder.exists()


def calls_removed(model, calls):
    """Whether the call that failed was one that removes a file at the end of the fit."""
    try:
        with pytest.warns(UserWarning, match="Read-only file system: .* is not removed"):
            model.fit(ROWS, y)
    except (OSError, pytest.fail.Exception):
        return False
    return calls.name == "Path.unlink"
