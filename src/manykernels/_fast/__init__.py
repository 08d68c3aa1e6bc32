"""Compiled inner loops: the only place that imports numba. Module-level functions on arrays, cached."""
