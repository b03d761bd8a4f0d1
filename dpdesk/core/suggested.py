"""A hierarchy that is suggested for a column, and why: a code with facts, worded by the window."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from types import MappingProxyType

from dpdesk.core.plan import HierarchyBuilder


class Why(Enum):
    """What of a column decided; each names the facts that come with it."""

    FEW = "few values"
    """``n``."""
    DATES = "dates"
    """``form``, the forms found; ``other``, a form that fits as well."""
    YEARS = "years"
    """``n``, ``low``, ``high``, ``widths``."""
    NUMBERS = "numbers"
    """``n``, ``low``, ``high``, ``widths``; ``top`` and ``bottom`` where ends are coded."""
    COUNTS = "counts"
    """As NUMBERS; the name speaks of a number of things."""
    NUMBER_CODES = "number codes"
    """``n``, ``low``, ``high``: few whole numbers, whose order may mean nothing."""
    NAMED_CODES = "named codes"
    """``n``, ``low``, ``high``: numbers whose name speaks of a code."""
    CODES = "codes"
    """``n``, ``length`` (characters), ``hidden`` (at level 1), ``groups`` (that are left then)."""
    PADDED_CODES = "padded codes"
    """As CODES: numbers of different length, filled with zeros."""
    LOOSE_CODES = "loose codes"
    """``n``: codes whose beginnings put nothing together."""
    RANGES = "ranges"
    """``n``: values such as 15-24 or 65+."""
    ORDER = "order"
    """``n``: numbers whose name speaks of an order."""
    SCALE = "scale"
    """``n``, ``low``, ``high``: words of a scale, such as poor, fair, good."""
    MONTHS = "months"
    DAYS = "days"
    SECTIONS = "sections"
    """``n``, ``groups``: divisions of economic activities, and their sections."""
    RUNNING = "running numbers"
    """``n``, ``low``, ``high``: all whole numbers from 0 or 1 to many."""
    NAMES = "names"
    """``n``: texts that do not tell what belongs together."""


@dataclass(frozen=True)
class SuggestedHierarchy:
    """A builder that suits a column and builds without error, and why.

    ``facts`` are texts to fill a sentence with, named at :class:`Why`; ``apart`` are values that
    stay outside, because they look like codes for missing.
    """

    builder: HierarchyBuilder
    why: Why
    facts: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    apart: tuple[str, ...] = ()
