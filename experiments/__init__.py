"""Experiments: tables of the papers, run anew with this package. See README.md."""
