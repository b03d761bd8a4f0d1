"""Identifiers of SDMX for names and categories that may be any text, and back.

SDMX allows letters, digits, ``_``, ``-`` (and ``@``, ``$`` in codes) alone; the identifier of a
dimension begins with a letter (SDMX 3.0, ``SDMXCommon.xsd``: IDType and NCNameIDType). Any other
character is written ``_xHHHH_``, its code point in hexadecimal digits, as ISO 9075-14 writes names
of SQL in XML; so nothing has to be looked up, and no two texts meet.
"""

from __future__ import annotations

import re

TOTAL, UNKNOWN = "_T", "_U"
"""Codes of the SDMX guidelines: the total over a dimension, and "unknown" for an empty text."""

RESERVED = frozenset(
    (
        "STRUCTURE",
        "STRUCTURE_ID",
        "STRUCTURE_NAME",
        "ACTION",
        "SERIES_KEY",
        "OBS_KEY",
        "MEASURE",
        "TABLE",
        "OBS_VALUE",
        "OBS_STATUS",
        "CONF_STATUS",
        "STD_ERROR",
        "TIME_PERIOD",
    )
)
"""Names of columns that no dimension may have."""

_ESCAPED = re.compile(r"_x([0-9A-F]{4,6})_")
_IN_CODE = re.compile(r"[A-Za-z0-9@$\-]", re.ASCII)
_IN_NAME = re.compile(r"[A-Za-z0-9\-]", re.ASCII)
_PREFIX = "D_"


def code_id(category: str) -> str:
    """The code of a category; :func:`category_of` gives it back.

    No code of a category begins with ``_`` and a letter, but for escapes, so ``_T`` and ``_U``
    stay free.
    """
    if not category:
        return UNKNOWN
    return _escaped(category, _IN_CODE, first=True)


def category_of(code: str) -> str:
    """The category of a code; the empty text of ``_U``."""
    return "" if code == UNKNOWN else _plain(code)


def dimension_id(name: str) -> str:
    """The identifier of a dimension; :func:`dimension_of` gives its name back."""
    escaped = _escaped(name, _IN_NAME, first=False)
    if (
        not escaped
        or not escaped[0].isalpha()
        or escaped in RESERVED
        or escaped.startswith(_PREFIX)
    ):
        return _PREFIX + escaped
    return escaped


def dimension_of(identifier: str) -> str:
    """The name of the dimension with an identifier."""
    return _plain(identifier.removeprefix(_PREFIX))


def _escaped(text: str, allowed: re.Pattern[str], *, first: bool) -> str:
    found = []
    for place, character in enumerate(text):
        if character == "_":
            meant = not text.startswith("_x", place) and not (first and place == 0)
        else:
            meant = allowed.fullmatch(character) is not None
        found.append(character if meant else f"_x{ord(character):04X}_")
    return "".join(found)


def _plain(text: str) -> str:
    return _ESCAPED.sub(lambda match: chr(int(match[1], 16)), text)
