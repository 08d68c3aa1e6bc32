"""All rules, in the order of their codes."""

from __future__ import annotations

from .base import Check, Facts
from .choices import CHOICES
from .columns import COLUMNS
from .kernels import KERNELS
from .learning import LEARNING
from .quality import QUALITY
from .targets import TARGETS

RULES = (*LEARNING, *CHOICES, *KERNELS, *TARGETS, *COLUMNS, *QUALITY)


def judge(facts: Facts) -> list[Check]:
    """The checks that these facts trigger."""
    found = (rule.judge(facts) for rule in RULES)
    return [check for check in found if check is not None]
