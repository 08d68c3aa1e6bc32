"""The wish to stop: defined below families and weightings, which ask for it too."""

from .._fast.stopping import goes_on, stoppable

__all__ = ["goes_on", "stoppable"]
