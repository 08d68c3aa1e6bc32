"""The losses whose online steps are compiled (`_fast/ufo.py`), by number; a loss names its own as `code`."""

NONE = -1  # not compiled: steps are taken in Python, by the loss's own gradient
HINGE, SQUARED_HINGE, LOGISTIC, SQUARED, EPSILON, MULTICLASS, MULTINOMIAL, PINBALL, HUBER = range(9)
