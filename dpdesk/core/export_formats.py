"""The formats that the public part of a release is written in, and which releases they fit."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum

# What each export format can hold of what a release says of its columns.
#
# :data:`HOLDS` is the one declaration of it: the writers ask it what to write, the sentences about
# losses and the table of the page *Formats* derive from it, and the tests check every entry against
# what other programs read.


class Piece(Enum):
    """Something that a release may say of a column, or of itself; the value is its name."""

    LABEL = "variable labels"
    WHOLE = "value labels of whole numbers"
    FRACTION = "value labels of other numbers"
    WORD = "value labels of texts"
    LETTER = "value labels of lettered missing values"
    MISSING = "user-missing values"
    RANGE = "ranges of user-missing values"
    LETTERS = "lettered missing values among numbers"
    MEASURE = "measurement levels"
    KIND = "which columns are numbers, dates or times"
    FORMAT = "display formats of dates, quarters and months"
    NAME = "any column name"
    BLANKS = "blanks at the end of texts"
    TITLE = "the title of the release"
    GUARANTEE = "the guarantee"


CODES = (Piece.WHOLE, Piece.FRACTION, Piece.WORD, Piece.LETTER)
"""The kinds of value labels."""


UNITS: Mapping[str, Callable[[str], int]] = {
    "characters": len,
    "bytes": lambda text: len(text.encode("utf-8")),
    "UTF-16 characters": lambda text: len(text.encode("utf-16-le")) // 2,
}
"""In what the lengths of texts are counted."""


@dataclass(frozen=True)
class Holds:
    """What a format holds, and how much of it.

    ``file`` is what a file of it is called in sentences. ``label``, ``code`` and ``title`` are the
    most ``unit`` (of :data:`UNITS`) of a variable label, a value label and the title; 0 is any
    number. ``code_unit`` is the unit of value labels where it is another one, ``codes`` the most
    value labels of a column. ``missing`` is the most user-missing values of a column and
    ``missing_bytes`` the longest text among them. Of a ``bare`` format that sentence is said, and
    no other.
    """

    file: str
    pieces: frozenset[Piece]
    label: int = 0
    code: int = 0
    title: int = 0
    unit: str = "characters"
    code_unit: str = ""
    codes: int = 0
    missing: int = 0
    missing_bytes: int = 0
    bare: str = ""


_ALL = frozenset(Piece)
_NUMBERS = frozenset((Piece.LABEL, Piece.KIND, Piece.FORMAT, Piece.TITLE))
_MEASURED = _NUMBERS | {Piece.MISSING, Piece.RANGE, Piece.MEASURE, Piece.GUARANTEE}

HOLDS: Mapping[str, Holds] = {
    "csv": Holds(
        "a CSV file",
        frozenset((Piece.NAME, Piece.BLANKS)),
        bare="A CSV file holds only values: labels, title and guarantee stay in the other files "
        "of the release.",
    ),
    "parquet": Holds("a Parquet file", _ALL),
    "xlsx": Holds("an Excel file", _ALL, label=32_767, code=32_767, unit="UTF-16 characters"),
    "sav": Holds(
        "an SPSS file",
        _MEASURED | {Piece.WHOLE, Piece.FRACTION, Piece.WORD},
        label=255,
        code=120,
        unit="bytes",
        missing=3,
        missing_bytes=8,
    ),
    "dta": Holds(
        "a Stata file",
        _NUMBERS | {Piece.WHOLE, Piece.LETTER, Piece.LETTERS, Piece.BLANKS, Piece.GUARANTEE},
        label=80,
        code=32_000,
        code_unit="bytes",
        codes=65_536,
    ),
    "xpt": Holds(
        "a SAS transport file", _NUMBERS | {Piece.LETTERS}, label=256, title=40, unit="bytes"
    ),
    "csvw": Holds("a CSVW document", _ALL),
    "ddi": Holds("a DDI codebook", _ALL),
    "sdmx-structure": Holds("an SDMX structure", _ALL),
    "sdmx-csv": Holds(
        "an SDMX-CSV file",
        frozenset((Piece.NAME, Piece.BLANKS)),
        bare="An SDMX-CSV file holds only codes and numbers: labels, title and guarantee are in "
        "the structure, which the format `sdmx-structure` writes.",
    ),
    "synthetic": Holds(
        "a file of synthetic rows",
        frozenset((Piece.NAME, Piece.BLANKS)),
        bare="A file of synthetic rows holds only values: labels, title and guarantee are in the "
        "release.",
    ),
    **dict.fromkeys(
        ("argus", "jj"),
        Holds(
            "a file for τ-ARGUS",
            frozenset(),
            bare="Internal: the files hold the true values and show how closely unsafe cells are "
            "protected. Keep them in the agency.",
        ),
    ),
}
"""By format; see :data:`dpdesk.core.export_formats.FORMATS`."""


SYNTHETIC = "synthetic"
"""Rows drawn from a model that is fitted to the released tables, as CSV."""

SDMX = ("sdmx-csv", "sdmx-structure")
"""Formats of SDMX, which name the agency that maintains the structure."""

DOCUMENTS = ("csvw", "ddi", *SDMX, SYNTHETIC)
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
