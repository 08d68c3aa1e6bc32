"""Model selection, on samples and options: strategies, folds, paths in C, sums over rows, leave-one-out."""
