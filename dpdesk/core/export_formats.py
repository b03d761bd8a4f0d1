"""The formats that the public part of a release is written in, and which releases they fit."""

from __future__ import annotations

DOCUMENTS = ("csvw", "ddi", "sdmx-csv", "sdmx-structure")
"""Formats that are no plain table: documents about the data, and tables as observations."""

DESCRIPTIONS = ("csvw", "ddi", "sdmx-structure")
"""Those of them that hold no data."""

STATISTICAL = ("sav", "dta", "xpt")
"""Files of statistical programs, which have numbers where a column holds numbers alone."""

FORMATS = ("csv", "parquet", "xlsx", *STATISTICAL, *DOCUMENTS)

SUFFIXES = {"csvw": ".json", "ddi": ".xml", "sdmx-csv": ".csv", "sdmx-structure": ".xml"}
"""Ending of the file for the formats that are not called like it."""

PLAIN = frozenset(FORMATS) - frozenset(DOCUMENTS)
"""Formats of plain tables, which hold whatever is a table."""

OF_ROWS = PLAIN | {"csvw", "ddi"}
OF_CUBES = PLAIN | {"ddi", "sdmx-csv", "sdmx-structure"}
"""Formats that hold or describe rows about persons; the tables of a cube."""


def suffix_of(file_format: str) -> str:
    """The usual ending of a file in a format."""
    return SUFFIXES.get(file_format, f".{file_format}")
