"""Comparisons of methods: which there are by name, and how they are held against each other."""
