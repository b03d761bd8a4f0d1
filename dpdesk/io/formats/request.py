"""What is asked of the process that reads a foreign format, and what it answers.

The reader runs in a process of its own: its libraries hold the interpreter for seconds at a time
and know no cancel, and a process can be ended at any moment. It writes the table as a Parquet file
into the private folder, one column ``c0``, ``c1``, … of values for each column of the source, and
beside those that are not texts a column ``s0``, … of texts for what their type cannot hold.
"""

from __future__ import annotations

import codecs
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from dpdesk.core.labels import Variable
from dpdesk.core.source_spec import FixedColumn

if TYPE_CHECKING:
    from dpdesk.io.formats.coded import CodedTable


@dataclass(frozen=True)
class ReadRequest:
    """Read ``path`` (a file, or the address of a database) into the Parquet file ``target``.

    With ``limit`` only the first rows are read, and given back as texts instead; with ``listing``
    no row, but the tables of the database are told, with ``faults`` the first text of a Parquet
    file that is none (the rows of such a file are never written). ``password`` is one that a person
    typed, ``confirmed`` are the places of databases that one confirmed. With ``private`` no row
    decides how, or whether, another one is read: values that cannot be read become
    :data:`~dpdesk.io.private.values.UNREADABLE`; ``wanted`` names the columns that are asked for.
    With ``coded`` the table is written as codes where each column has few values, see ``coded``.
    The other fields are those of the plan's source.
    """

    path: str
    target: str
    format: str
    limit: int | None = None
    encoding: str | None = None
    table: str | None = None
    query: str | None = None
    metadata: str | None = None
    catalog: str | None = None
    header: bool | None = None
    skip: int | None = None
    columns: tuple[FixedColumn, ...] = ()
    password: str | None = field(default=None, repr=False)
    confirmed: frozenset[str] = frozenset()
    listing: bool = False
    faults: bool = False
    private: bool = False
    wanted: tuple[str, ...] = ()
    coded: bool = False


@dataclass(frozen=True)
class OfferedTable:
    """A table that a database offers: its name as a plan says it, and about how many rows it has.

    ``rows`` is None where the database does not know without counting.
    """

    name: str
    is_view: bool = False
    rows: int | None = None


@dataclass(frozen=True)
class ServerFacts:
    """The encoding in which a server keeps texts, and the places of the columns of numbers."""

    encoding: str
    numbers: tuple[int, ...]


@dataclass(frozen=True)
class ReadProgress:
    """Rows read so far, of a total that is None when the source does not tell."""

    done: int
    total: int | None


@dataclass(frozen=True)
class ReadDone:
    """The table was read: its columns, its rows, what was noted on the way.

    ``sha256`` is the hash of the rows of a source that is no file, else empty; ``skip`` counts rows
    of a sheet above its table; ``encoding`` is that of
    the texts, as far as the source tells; ``head`` are the rows when only the first were asked for,
    ``tables`` those of the database when they were; ``empty`` counts the values of each column of a
    Parquet file that are none or the empty text, ``described`` names those of which it says more.
    ``coded`` says how to read a table that was written as codes, ``server`` what work inside a
    server has to know.
    """

    variables: tuple[Variable, ...]
    rows: int
    notes: tuple[str, ...] = ()
    encoding: str = ""
    sha256: str = ""
    head: tuple[tuple[str, ...], ...] = ()
    tables: tuple[OfferedTable, ...] = ()
    empty: tuple[int, ...] = ()
    described: tuple[str, ...] = ()
    skip: int = 0
    coded: CodedTable | None = None
    server: ServerFacts | None = None


@dataclass(frozen=True)
class ReadFailed:
    """The table cannot be read: the parts of an error. ``storage`` says that the disk failed."""

    code: str
    sentence: str
    hint: str = ""
    details: tuple[tuple[str, object], ...] = ()
    storage: bool = False


Answer = ReadProgress | ReadDone | ReadFailed


def iconv_name(encoding: str | None) -> str | None:
    """An encoding by the name that ReadStat's converter knows."""
    if encoding is None:
        return None
    try:
        name = codecs.lookup(encoding).name
    except LookupError:
        return encoding
    if name.startswith("cp"):
        return "WINDOWS-" + name[2:] if name.startswith("cp125") else name.upper()
    if name.startswith("iso2022"):
        return name.replace("iso", "iso-").replace("_", "-").upper()
    return name.upper().replace("ISO8859", "ISO-8859").replace("EUC_", "EUC-")
