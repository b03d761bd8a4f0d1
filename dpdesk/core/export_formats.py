"""The formats that the public part of a release is written in, and which releases they fit."""

from __future__ import annotations

DOCUMENTS = ("csvw", "ddi", "sdmx-csv", "sdmx-structure")
"""Formats that are no plain table: documents about the data, and tables as observations."""

DESCRIPTIONS = ("csvw", "ddi", "sdmx-structure")
"""Those of them that hold no data."""

FORMATS = ("csv", "parquet", "xlsx", "sav", "dta", "xpt", *DOCUMENTS)

SUFFIXES = {"csvw": ".json", "ddi": ".xml", "sdmx-csv": ".csv", "sdmx-structure": ".xml"}
"""Ending of the file for the formats that are not called like it."""

_TABLES_ALONE = ("sdmx-csv", "sdmx-structure")
_MICRODATA_ALONE = ("csvw",)


def suffix_of(file_format: str) -> str:
    """The usual ending of a file in a format."""
    return SUFFIXES.get(file_format, f".{file_format}")


def fits(file_format: str, *, tables: bool) -> bool:
    """Whether a format can hold a release: ``tables`` of a cube, or else microdata."""
    return file_format not in (_MICRODATA_ALONE if tables else _TABLES_ALONE)
