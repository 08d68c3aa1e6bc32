"""Multiple kernel learning: learn the kernel, with a certificate of how close to optimal it is."""

__version__ = "0.1.0"
