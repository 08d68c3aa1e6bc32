"""From samples to what was learned; nothing here takes an estimator."""
