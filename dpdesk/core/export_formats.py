"""The formats that the public part of a release is written in, and which releases they fit."""

from __future__ import annotations

SYNTHETIC = "synthetic"
"""Rows drawn from a model that is fitted to the released tables, as CSV."""

DOCUMENTS = ("csvw", "ddi", "sdmx-csv", "sdmx-structure", SYNTHETIC)
"""Formats that are not the table itself: documents about the data, tables as observations, rows
made from tables.
"""

DESCRIPTIONS = ("csvw", "ddi", "sdmx-structure")
"""Those of them that hold no data."""

STATISTICAL = ("sav", "dta", "xpt")
"""Files of statistical programs, which have numbers where a column holds numbers alone."""

OF_AGENCIES = ("argus", "jj")
"""Formats that hold true values, made from the internal part of a release: for the agency alone."""

FORMATS = ("csv", "parquet", "xlsx", *STATISTICAL, *DOCUMENTS, *OF_AGENCIES)

SUFFIXES = {"csvw": ".json", "ddi": ".xml", "sdmx-csv": ".csv", "sdmx-structure": ".xml"}
SUFFIXES |= {SYNTHETIC: ".csv", "argus": ".tab"}
"""Ending of the file for the formats that are not called like it."""

PLAIN = frozenset(FORMATS) - frozenset((*DOCUMENTS, *OF_AGENCIES))
"""Formats of plain tables, which hold whatever is a table."""

OF_ROWS = PLAIN | {"csvw", "ddi"}
OF_CUBES = PLAIN | {"ddi", "sdmx-csv", "sdmx-structure", SYNTHETIC}
OF_CELLS = PLAIN | {"sdmx-csv", "sdmx-structure", *OF_AGENCIES}
OF_LISTS = frozenset(("csv", "parquet", "xlsx"))
"""Formats that hold or describe rows about persons; the tables of a cube; protected tables; lists
of what was chosen or found.
"""


def suffix_of(file_format: str) -> str:
    """The usual ending of a file in a format."""
    return SUFFIXES.get(file_format, f".{file_format}")
