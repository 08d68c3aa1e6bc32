"""Benchmarks: ratios against a named rival in the same run, beside the physical limit. See README.md."""
