"""Weights and C of its own for every target, chosen by the error on samples that were left out.

Targets share work and nothing else: kernels, and factorisations at candidates for the weights.
"""
