"""From samples to a fitted model; nothing here takes an estimator."""
