"""Settings for all tests."""

import os
import sys
import time

import pytest
from hypothesis import settings
from sklearn.utils import check_random_state

# The first example of a test may compile, so no deadline; CI draws the same examples every time.
settings.register_profile("manykernels", deadline=None, derandomize="CI" in os.environ)
settings.load_profile("manykernels")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    """Leave out tests that would begin after MANYKERNELS_TESTS_UNTIL, in seconds since 1970.

    A machine that takes twice as long as another then runs fewer of them, in place of none to the end.
    """
    if time.time() > float(os.environ.get("MANYKERNELS_TESTS_UNTIL", "inf")):
        pytest.skip("the time of MANYKERNELS_TESTS_UNTIL is over")


@pytest.fixture(autouse=True)
def _drawn_alike():
    """Draw the same in every run where `random_state` is None, so that no test fails by chance."""
    check_random_state(None).seed(0)


@pytest.fixture(scope="session")
def built_docs(tmp_path_factory):
    """What the build of the documentation said, and the folder of its pages."""
    from tests.built_docs import build

    folder = tmp_path_factory.mktemp("docs")
    return build(folder), folder / "html"


@pytest.fixture(autouse=True)
def no_figure_is_left():
    """Close all figures: pyplot warns from the 21st on, whichever tests a process happened to run."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
