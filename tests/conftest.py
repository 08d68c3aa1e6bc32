"""Settings for all tests."""

import os

from hypothesis import settings

# The first example of a test may compile, so no deadline; CI draws the same examples every time.
settings.register_profile("manykernels", deadline=None, derandomize="CI" in os.environ)
settings.load_profile("manykernels")
