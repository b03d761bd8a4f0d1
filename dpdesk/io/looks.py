"""What single texts look like: numbers, amounts, dates, times, codes of missing values."""

from __future__ import annotations

import re

MISSING_CODES = (
    "?", "NA", "N/A", "n/a", "NULL", "null", "NONE", "None", "NaN", "nan", ".", "-", "..", "#N/A",
    "-9", "-99", "-999", "k. A.", "k.A.", "keine Angabe",
)  # fmt: skip
_NUMBER = re.compile(r"[+-]?(\d+([.,]\d+)*|[.,]\d+)([eE][+-]?\d+)?\Z")
_DATA = (
    _NUMBER,
    re.compile(r"([€$£¥]\s?)?[+-]?([€$£¥]\s?)?\d[\d.,'’\s]*[%‰€$£¥]?\Z"),
    re.compile(r"(\d{1,4}[-./]){2}\d{1,4}([T ].*)?\Z"),
    re.compile(r"\d{1,2}:\d\d(:\d\d.*)?\Z"),
)
"""Numbers, amounts and shares (``€ 5``, ``5 %``, ``1'234``), dates, times of day."""


_CODE = re.compile(r"(?=.*\d)(?=.*[^\W\d_])[\w./-]{1,40}\Z")


def looks_like_code(value: str) -> bool:
    """Whether a value is one word of letters and digits, such as ``h2o``, ``B12`` or ``A-001``."""
    return _CODE.match(value.strip()) is not None


def datum(value: str) -> int | None:
    """Which kind of data a value is by its looks, None for what may be a name."""
    text = value.strip()
    return next((kind for kind, form in enumerate(_DATA) if form.match(text)), None)
