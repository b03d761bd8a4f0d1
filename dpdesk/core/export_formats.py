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

MICRODATA, CUBE, GRAPH = "microdata", "cube", "graph"
_KINDS = {"dp-cube": CUBE, "dp-graph": GRAPH}
_DESCRIBED = {"csvw": (MICRODATA,), "ddi": (MICRODATA, CUBE)}
_DESCRIBED |= dict.fromkeys(("sdmx-csv", "sdmx-structure"), (CUBE,))


def kind_of(method: str) -> str:
    """What a release by a method holds: ``MICRODATA``, the tables of a ``CUBE`` or a ``GRAPH``."""
    return _KINDS.get(method, MICRODATA)


def suffix_of(file_format: str) -> str:
    """The usual ending of a file in a format."""
    return SUFFIXES.get(file_format, f".{file_format}")


def fits(file_format: str, kind: str) -> bool:
    """Whether a format can hold a release of this kind; plain tables hold all."""
    return kind in _DESCRIBED.get(file_format, (MICRODATA, CUBE, GRAPH))
