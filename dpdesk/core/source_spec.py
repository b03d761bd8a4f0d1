"""The ``[source]`` of a plan: which table to read, and how."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import PurePath
from types import MappingProxyType
from urllib.parse import urlsplit

from dpdesk.core.errors import InputError
from dpdesk.core.labels import COARSER
from dpdesk.core.messages import msg
from dpdesk.core.parameters import (
    check_known,
    exact_number,
    invalid,
    missing_key,
    one_of,
    plain_number,
    text_of,
)
from dpdesk.core.passwords import holds_password
from dpdesk.core.schema import check_one_each, form, spelling

_TEXT_KEYS = (
    *("delimiter", "encoding", "decimal", "quote", "escape", "date_order", "empty_rows"),
    *("table", "query", "metadata", "catalog", "engine"),
)
_KEYS = (
    *("path", *_TEXT_KEYS, "header", "skip", "columns", "widths", "missing", "types", "allow"),
    *("coarsen", "items"),
)
SKIP, KEEP = EMPTY_ROWS = ("skip", "keep")
"""What ``empty_rows`` may say of rows without any value."""
UNEVEN, REPEATED, NULS = ALLOWED = ("uneven-lines", "repeated-names", "nul")
"""What ``allow`` may list: lines of fewer or more fields than the first, columns of one name, and
NUL characters."""
MOST_SKIPPED = 1_000_000
MOST_COLUMNS = 16_384
"""As many columns as a sheet of Excel has. Reading so many takes minutes; with 30,000 the memory of
the database is too small."""
MOST_DECIMALS = 100
"""Of a fixed-width column: every value is filled with zeros up to so many digits."""
NUMBER, TEXT, DATE = "number", "text", "date"
TYPES = (NUMBER, TEXT, DATE)
"""What a plan may declare of a column."""
DATE_ORDERS = ("ymd", "dmy", "mdy")
POSTGRESQL, SPARK = ENGINES = ("postgresql", "spark")
"""What ``engine`` may say: where a table stays while it is counted."""
_COLUMN_KEYS = ("name", "start", "width", "decimals")
_SQL_TEXT = re.compile("'((?:[^']|'')*)'")
_NO_QUOTES = ",;\t| \r\n"
_SCHEMES = ("postgresql", "postgres")
_MASTER = re.compile(r"local(\[[0-9*, ]+\])?|yarn|spark://\S+|k8s://\S+")
"""What Spark takes for the address of a cluster."""
_CODES_SHOWN, _CODE_SHOWN = 20, 40


def is_cluster(text: str) -> bool:
    """Whether a text is what Spark takes for the address of a cluster."""
    return _MASTER.fullmatch(text) is not None


@dataclass(frozen=True)
class FixedColumn:
    """A column of a fixed-width text: its place in the line (``start`` from 1) in characters.

    ``decimals`` is the number of digits behind a decimal point that is not written; None when
    numbers are written as they are.
    """

    name: str
    start: int
    width: int
    decimals: int | None = None

    def as_plain(self) -> dict[str, object]:
        """The column as a plan writes it."""
        plain: dict[str, object] = {"name": self.name, "start": self.start, "width": self.width}
        return plain if self.decimals is None else plain | {"decimals": self.decimals}


@dataclass(frozen=True)
class Coarsened:
    """How the numbers of a column are made coarser before anything else sees them.

    They are rounded to the nearest multiple of ``step`` (halves go up), then those below ``bottom``
    become it, and those above ``top`` that; what is None is not done.
    """

    bottom: Fraction | None = None
    top: Fraction | None = None
    step: Fraction | None = None

    def of(self, number: Fraction) -> Fraction:
        """What a number becomes."""
        if self.step is not None:
            number = self.step * ((2 * number / self.step + 1) // 2)
        if self.bottom is not None:
            number = max(number, self.bottom)
        return number if self.top is None else min(number, self.top)

    @property
    def given(self) -> dict[str, Fraction]:
        """What is done, by the keys of a plan."""
        said = zip(COARSER, (self.bottom, self.top, self.step), strict=True)
        return {key: number for key, number in said if number is not None}

    def as_plain(self) -> dict[str, object]:
        """The numbers as a plan writes them."""
        return {key: plain_number(number) for key, number in self.given.items()}


COARSER_ELSEWHERE = "Declare bounds, categories or a hierarchy in the settings of the method."
"""What to do where ``coarsen`` does not apply."""


@dataclass(frozen=True)
class SourceSpec:
    """Which file or database to read and how; None means: detect.

    ``missing`` lists the texts that stand for a missing value; the default is the empty field only,
    an empty tuple says that nothing is missing. ``quote`` may be the empty string (no quoting), and
    so may ``escape``, which protects the character behind it. ``skip`` is the number of lines, or
    of rows of a sheet, above the table; ``empty_rows`` is one of `EMPTY_ROWS`, None is ``"skip"``.
    ``table`` names a table of a database or a sheet of a workbook, ``query`` the SELECT that makes
    the rows out of those that were read; a database runs it itself when no table is named.
    ``columns`` describes the lines of a fixed-width text, ``metadata`` an ARGUS file that does so,
    ``catalog`` a SAS file of value labels. ``engine``, one of `ENGINES`, says that the table stays
    where it is: Spark's ``path`` is the address of a cluster.

    ``allow`` lists what is read all the same, of `ALLOWED`, and would be refused otherwise.
    ``items`` says that each line of a text lists what one person or basket has: it names the items
    that become columns, each of the values "1" (in the line) and "0", and so of the type text.

    ``types`` declares columns (by name: ``"number"``, ``"text"`` or ``"date"``) and ``date_order``
    how dates are written (``"ymd"``, ``"dmy"``, ``"mdy"``); ``coarsen`` says of which columns
    numbers are cut and rounded when the rows have been read. ``missing_named`` says that the plan
    names the default of ``missing``. ``held`` is the private file that holds a DataFrame while
    ``path`` only names it; no plan says it.
    """

    path: str
    delimiter: str | None = None
    encoding: str | None = None
    decimal: str | None = None
    quote: str | None = None
    escape: str | None = None
    header: bool | None = None
    skip: int | None = None
    empty_rows: str | None = None
    missing: tuple[str, ...] = ("",)
    table: str | None = None
    query: str | None = None
    metadata: str | None = None
    catalog: str | None = None
    engine: str | None = None
    columns: tuple[FixedColumn, ...] = ()
    items: tuple[str, ...] = ()
    types: tuple[tuple[str, str], ...] = ()
    date_order: str | None = None
    missing_named: bool = False
    allow: tuple[str, ...] = ()
    coarsen: tuple[tuple[str, Coarsened], ...] = ()
    held: str | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        """Items are columns of texts, which a plan need not say."""
        if self.items and not self.types:
            object.__setattr__(self, "types", _texts(self.items))

    @property
    def is_url(self) -> bool:
        """Whether ``path`` is the address of a database server or of a cluster."""
        return "://" in self.path or self.engine == SPARK

    @property
    def name(self) -> str:
        """What people call the source: the name of its file, or of its table on a server."""
        if not self.is_url:
            return PurePath(self.path).name
        named = self.table or "query"
        return PurePath(named).name if self.engine == SPARK else named

    @property
    def stem(self) -> str:
        """The name without its ending, from which names of other files are made."""
        if not self.is_url:
            return PurePath(self.path).stem
        named = self.table or "query"
        return PurePath(named).stem if self.engine == SPARK and "/" in named else named

    def with_paths(self, moved: Callable[[str], str]) -> SourceSpec:
        """The same source with the path of each file as ``moved`` gives it; addresses stay."""
        return replace(
            self,
            path=self.path if self.is_url else moved(self.path),
            metadata=self.metadata and moved(self.metadata),
            catalog=self.catalog and moved(self.catalog),
        )

    def spelled_as(self, columns: Sequence[str]) -> SourceSpec:
        """The same source with the columns in ``types`` and ``coarsen`` as the source writes them.

        Raises InputError ``plan.name-forms`` where two of them are one column.
        """
        spelled = spelling(columns)
        if all(spelled(name) == name for name, _ in (*self.types, *self.coarsen)):
            return self
        for named, place in (
            (self.types, msg("{name}, `types`", name=self.name)),
            (self.coarsen, msg("{name}, `coarsen`", name=self.name)),
        ):
            check_one_each((name for name, _ in named), spelled, place)
        return replace(
            self,
            types=tuple((spelled(name), kind) for name, kind in self.types),
            coarsen=tuple((spelled(name), numbers) for name, numbers in self.coarsen),
        )

    def with_items(self, items: Sequence[str]) -> SourceSpec:
        """The same source with these items, or without any; what they declared goes with them."""
        types = () if self.types == _texts(self.items) or items else self.types
        return replace(self, items=tuple(items), types=types)

    def without_types(self) -> SourceSpec:
        """The same source without declared columns, and so without what applies to these alone."""
        return replace(self, types=(), date_order=None)

    def as_plain(self) -> dict[str, object]:
        """The table ``[source]`` as plain values; options that are detected are left out."""
        plain: dict[str, object] = {"path": self.path}
        for key in (*_TEXT_KEYS, "header", "skip"):
            value = getattr(self, key)
            if value is not None:
                plain[key] = value
        if self.columns:
            plain["columns"] = [column.as_plain() for column in self.columns]
        if self.missing != ("",) or self.missing_named:
            plain["missing"] = list(self.missing)
        if self.items:
            plain["items"] = list(self.items)
        if self.types and self.types != _texts(self.items):
            plain["types"] = dict(self.types)
        if self.allow:
            plain["allow"] = list(self.allow)
        if self.coarsen:
            plain["coarsen"] = {name: numbers.as_plain() for name, numbers in self.coarsen}
        return plain


def _texts(items: Sequence[str]) -> tuple[tuple[str, str], ...]:
    return tuple((item, TEXT) for item in items)


def read_source(raw: Mapping[str, object], where: str) -> SourceSpec:
    """The source that a plan's table ``[source]`` describes.

    Raises InputError ``plan.unknown-key``, ``plan.missing-key``, ``plan.invalid``, and
    ``plan.password`` for an address that holds a password.
    """
    place = msg("{where}, [source]", where=where)
    check_known(raw, _KEYS, place)
    engine = raw.get("engine")
    if engine is not None and engine not in ENGINES:
        raise invalid("engine", engine, one_of(ENGINES), place)
    path = _path(raw, place)
    optional = {key: text_of(raw, key, place, None) for key in _TEXT_KEYS if key in raw}
    _check_characters(optional, place)
    _check_tables(optional, place)
    skip = raw.get("skip")
    if skip is not None and (type(skip) is not int or not 0 <= skip <= MOST_SKIPPED):
        raise invalid(
            "skip",
            skip,
            msg("a whole number of 0 to {most_skipped:,}", most_skipped=MOST_SKIPPED),
            place,
        )
    header = raw.get("header")
    if header is not None and not isinstance(header, bool):
        raise invalid("header", header, "true or false", place)
    missing = raw.get("missing", [""])
    if not isinstance(missing, list | tuple) or not all(isinstance(item, str) for item in missing):
        raise invalid("missing", missing, "a list of texts", place)
    return SourceSpec(
        path=path,
        header=header,
        skip=skip,
        missing=tuple(str(item) for item in missing),
        missing_named="missing" in raw and tuple(missing) == ("",),
        columns=_columns(raw, place),
        items=_items(raw, place),
        types=_types(raw, place),
        allow=_allowed(raw, place),
        coarsen=_coarsen(raw, place),
        **optional,
    )


def _allowed(raw: Mapping[str, object], place: str) -> tuple[str, ...]:
    given = raw.get("allow", [])
    if not isinstance(given, list | tuple) or not all(item in ALLOWED for item in given):
        raise invalid(
            "allow", given, msg("a list of some of {one_of}", one_of=one_of(ALLOWED)), place
        )
    return tuple(key for key in ALLOWED if key in given)


def missing_line(codes: Sequence[str]) -> str:
    """Texts as a plan lists them under ``missing``, so that these and no others stand for nothing.

    The line can be copied into a plan, unless it ends in "…" for more than 20 texts or has one of
    more than 40 characters.
    """
    shown = [_toml_text(code) for code in codes[:_CODES_SHOWN]]
    return ", ".join([*shown, *(["…"] if len(codes) > _CODES_SHOWN else [])])


def _toml_text(code: str) -> str:
    """A text as a plan writes it, on one line, without characters that nobody sees."""
    cut = code if len(code) <= _CODE_SHOWN else code[: _CODE_SHOWN - 1] + "…"
    return "".join(
        sign if sign.isprintable() else rf"\U{ord(sign):08x}"
        for sign in json.dumps(cut, ensure_ascii=False)
    )


def _check_characters(given: Mapping[str, str], place: str) -> None:
    for key in ("delimiter", "decimal", "quote", "escape"):
        if len(given.get(key, "")) > 1:
            raise invalid(key, given[key], "one character", place)
    quote = given.get("quote", "")
    if quote and (quote.isalnum() or quote in _NO_QUOTES or quote == given.get("delimiter")):
        raise invalid("quote", quote, "a quote such as `\"` or `'`, or an empty text", place)
    escape = given.get("escape", "")
    marks = (given.get("delimiter"), given.get("quote"))
    if escape and (escape.isalnum() or escape in _NO_QUOTES or escape in marks):
        raise invalid("escape", escape, "a character such as `\\`, or an empty text", place)
    if given.get("empty_rows", SKIP) not in EMPTY_ROWS:
        raise invalid("empty_rows", given["empty_rows"], "`skip` or `keep`", place)
    if given.get("delimiter") == "":
        raise invalid("delimiter", "", "one character", place)
    if "decimal" in given and given["decimal"] not in (".", ","):
        raise invalid("decimal", given["decimal"], "`.` or `,`", place)
    if "date_order" in given and given["date_order"] not in DATE_ORDERS:
        raise invalid("date_order", given["date_order"], one_of(DATE_ORDERS), place)


def _check_tables(given: Mapping[str, str], place: str) -> None:
    for key in ("table", "query", "metadata", "catalog"):
        if key in given and (not given[key].strip() or "\0" in given[key]):
            raise invalid(key, given[key], "a text that is not empty", place)
    for key in ("metadata", "catalog"):
        _refuse_password(key, given.get(key, ""), place)
    for text in _SQL_TEXT.findall(given.get("query", "")):
        _refuse_password("query", text, place)  # of a server that the query itself connects to


def _refuse_password(key: str, text: str, place: str) -> None:
    if not holds_password(text):
        return
    raise InputError(
        "plan.password",
        msg(
            "{place}: `{key}` holds a password, expected an address without one.",
            place=place,
            key=key,
        ),
        hint="Put the password into the variable PGPASSWORD or into ~/.pgpass; a plan is kept "
        "with the release.",
        details={"key": key},
    )


def _path(raw: Mapping[str, object], place: str) -> str:
    path = text_of(raw, "path", place, None)
    if not path or "\0" in path:
        raise invalid("path", path, "the path of a file", place)
    _refuse_password("path", path, place)
    if raw.get("engine") == SPARK:
        if not is_cluster(path):
            expected = "a cluster: `spark://HOST:PORT`, `local[*]`, `yarn` or `k8s://…`"
            raise invalid("path", path, expected, place)
        return path
    if "://" not in path:
        return path
    try:
        urlsplit(path)
    except ValueError:
        raise invalid("path", path, "the address of a database", place) from None
    if path.partition("://")[0] not in _SCHEMES:  # for libpq capital letters are another scheme
        expected = "a file, or an address that begins with `postgresql://`"
        raise invalid("path", path, expected, place)
    return path


def _types(raw: Mapping[str, object], place: str) -> tuple[tuple[str, str], ...]:
    types = raw.get("types", {})
    if not isinstance(types, Mapping):
        raise invalid("types", types, "a table of columns and their types", place)
    for name, kind in types.items():
        if kind not in TYPES:
            raise invalid(f"types.{name}", kind, one_of(TYPES), place)
    return tuple((str(name), str(kind)) for name, kind in types.items())


def _items(raw: Mapping[str, object], place: str) -> tuple[str, ...]:
    given = raw.get("items", [])
    if not isinstance(given, list | tuple) or not all(isinstance(item, str) for item in given):
        raise invalid("items", given, "a list of texts", place)
    for item in given:
        mark = str(raw.get("delimiter") or "")
        if item != item.strip() or not item or (mark and mark in item):
            expected = "texts as they are between two delimiters, without blanks around them"
            raise invalid("items", item, expected, place)
    check_one_each(given, form, msg("{place}, items", place=place))
    return tuple(str(item) for item in given)


def _coarsen(raw: Mapping[str, object], place: str) -> tuple[tuple[str, Coarsened], ...]:
    columns = raw.get("coarsen", {})
    if not isinstance(columns, Mapping):
        raise invalid("coarsen", columns, "a table of columns and their numbers", place)
    found = []
    for name, given in columns.items():
        inside = msg("{place}, coarsen, {name}", place=place, name=name)
        if not isinstance(given, Mapping) or not given:
            expected = "a table with `bottom`, `top` or `round`"
            raise invalid(f"coarsen.{name}", given, expected, place)
        check_known(given, COARSER, inside)
        numbers = {key: exact_number(value) for key, value in given.items()}
        for key, number in numbers.items():
            if number is None or isinstance(given[key], str):
                raise invalid(key, given[key], "a number", inside)
        bottom, top, step = (numbers.get(key) for key in COARSER)
        if step is not None and step <= 0:
            raise invalid("round", given["round"], "a number above 0", inside)
        if bottom is not None and top is not None and bottom >= top:
            raise invalid("bottom", given["bottom"], "a number below `top`", inside)
        found.append((str(name), Coarsened(bottom, top, step)))
    return tuple(found)


def _columns(raw: Mapping[str, object], place: str) -> tuple[FixedColumn, ...]:
    columns, widths = raw.get("columns"), raw.get("widths")
    if columns is not None and widths is not None:
        raise invalid("widths", widths, "either `columns` or `widths`, not both", place)
    if widths is not None:
        return _from_widths(widths, place)
    if columns is None:
        return ()
    if not isinstance(columns, list | tuple) or not columns:
        raise invalid("columns", columns, "a list of tables with `name`, `start`, `width`", place)
    found = tuple(
        _column(item, msg("{place}, columns, entry {number}", place=place, number=number))
        for number, item in enumerate(columns, start=1)
    )
    names = [column.name for column in found]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise invalid("columns", twice, "a name of its own for each column", place)
    return found


def _from_widths(widths: object, place: str) -> tuple[FixedColumn, ...]:
    if not isinstance(widths, list | tuple) or not widths:
        raise invalid("widths", widths, "a list of whole numbers of 1 or more", place)
    found: list[FixedColumn] = []
    start = 1
    for number, width in enumerate(widths, start=1):
        if isinstance(width, bool) or not isinstance(width, int) or width < 1:
            raise invalid("widths", width, "whole numbers of 1 or more", place)
        found.append(FixedColumn(f"column_{number}", start, width))
        start += width
    return tuple(found)


def _column(raw: object, place: str) -> FixedColumn:
    if not isinstance(raw, Mapping):
        raise invalid("columns", raw, "a table with `name`, `start` and `width`", place)
    check_known(raw, _COLUMN_KEYS, place)
    name = text_of(raw, "name", place, None)
    if not name:
        raise invalid("name", name, "the name of a column", place)
    numbers: dict[str, int] = {}
    for key, least, most in (
        ("start", 1, None),
        ("width", 1, None),
        ("decimals", 0, MOST_DECIMALS),
    ):
        value = raw.get(key)
        if value is None and key == "decimals":
            continue
        expected = msg("a whole number of {least} or more", least=least)
        if most is not None:
            expected = msg("a whole number from {least} to {most}", least=least, most=most)
        if value is None:
            raise missing_key(key, place, expected)
        whole = isinstance(value, int) and not isinstance(value, bool)
        if not whole or value < least or value > (value if most is None else most):
            raise invalid(key, value, expected, place)
        numbers[key] = value
    return FixedColumn(name, numbers["start"], numbers["width"], numbers.get("decimals"))


# Which keys of ``[source]`` apply to which kind of source: one table that all others follow.
#
# A key that a reader would ignore is an error wherever a source is opened, so that a plan never
# says more than was done.


TEXT_ENDINGS = (".csv", ".tsv", ".txt", ".tab", ".dat", ".data")
"""Usual endings of delimited text, which is read whatever its ending is."""
PARQUET_ENDINGS = (".parquet", ".pq")
FOREIGN_FORMATS: Mapping[str, str] = MappingProxyType(
    {
        ".sav": "sav",
        ".zsav": "sav",
        ".dta": "dta",
        ".sas7bdat": "sas7bdat",
        ".xpt": "xpt",
        ".xlsx": "xlsx",
        ".xlsm": "xlsx",
        ".asc": "fixed",
        ".rda": "fixed",
        ".sqlite": "sqlite",
        ".sqlite3": "sqlite",
        ".db": "sqlite",
        ".duckdb": "duckdb",
        ".jj": "jj",
    }
)
"""Endings of the formats that a process of their own reads, and how the program calls these."""
ENDINGS = (*TEXT_ENDINGS, *PARQUET_ENDINGS, *FOREIGN_FORMATS)
"""Endings of all files that hold a table."""
_METADATA_ENDING = ".rda"
FRAME_ENDING = ".frame"
"""How the name of a table ends that a Python program has in memory; there is no such file."""


@dataclass(frozen=True)
class SourceFormat:
    """A kind of source: what people call it, and which keys in addition to ``path`` apply to it.

    Those in ``pinned`` a plan of a private method must have, since they would be detected from the
    data otherwise, and so depend on a person; ``date_order`` is one more wherever a column is
    declared a date.
    """

    name: str
    keys: tuple[str, ...]
    pinned: tuple[str, ...]


_TYPED = ("missing", "types")
_ENCODED = ("encoding", *_TYPED)
_MARKS = ("encoding", "delimiter", "decimal", "quote", "header")
_TEXT = (*_MARKS, *_TYPED)
_EVERY = (*_TYPED, "date_order", "empty_rows", "query", "coarsen")
_DATABASES = ("sqlite", "duckdb", "postgresql")
_DATABASE = (*_EVERY, "table")
_COUNTED = (*_TYPED, "date_order", "empty_rows")
FORMATS: Mapping[str, SourceFormat] = MappingProxyType(
    {
        "csv": SourceFormat(
            "delimited text",
            (*_EVERY, *_MARKS, "escape", "skip", "allow", "items"),
            _TEXT,
        ),
        "baskets": SourceFormat(
            "lists of items",
            ("items", "delimiter", "encoding", "skip", "query"),
            ("items", "delimiter", "encoding"),
        ),
        "parquet": SourceFormat("Parquet", _EVERY, _TYPED),
        "xlsx": SourceFormat("Excel", (*_EVERY, "header", "skip", "table"), ("header", *_TYPED)),
        "sav": SourceFormat("SPSS", (*_EVERY, "encoding"), _ENCODED),
        "dta": SourceFormat("Stata", (*_EVERY, "encoding"), _ENCODED),
        "sas7bdat": SourceFormat("SAS", (*_EVERY, "encoding", "catalog"), _ENCODED),
        "xpt": SourceFormat("SAS transport", (*_EVERY, "encoding", "table", "catalog"), _ENCODED),
        "fixed": SourceFormat(
            "fixed-width text", (*_EVERY, "encoding", "columns", "widths", "metadata"), _ENCODED
        ),
        "jj": SourceFormat("JJ", (*_TYPED, "query", "coarsen"), _TYPED),
        "frame": SourceFormat("DataFrame", _EVERY, _TYPED),
        "sqlite": SourceFormat("SQLite", _DATABASE, _TYPED),
        "duckdb": SourceFormat("DuckDB", _DATABASE, _TYPED),
        "postgresql": SourceFormat("PostgreSQL", (*_DATABASE, "engine"), _TYPED),
        "spark": SourceFormat("Spark", (*_COUNTED, "table", "engine"), _TYPED),
    }
)
"""Every kind of source by the name that the program has for it."""


def source_format(spec: SourceSpec) -> str:
    """What a source is, by its address, its ending or its described columns: a key of `FORMATS`.

    A file that ends in ``.db`` is taken for SQLite; its first bytes may tell otherwise.
    """
    if spec.is_url:
        return SPARK if spec.engine == SPARK else POSTGRESQL
    ending = PurePath(spec.path).suffix.lower()
    if ending in PARQUET_ENDINGS:
        return "parquet"
    if ending == FRAME_ENDING:
        return "frame"
    known = FOREIGN_FORMATS.get(ending)
    if known is None and spec.items:
        return "baskets"
    if known is None:
        return "fixed" if spec.columns or spec.metadata is not None else "csv"
    return known


def applies(key: str, file_format: str) -> bool:
    """Whether a key of ``[source]`` has an effect on sources of a format."""
    return key in FORMATS[file_format].keys


def queries_rows(spec: SourceSpec) -> bool:
    """Whether the query of a source runs over the rows that were read.

    A database runs a query itself, in its own words, unless the source names a ``table`` too.
    """
    return spec.query is not None and not asks_database(spec)


def changes_values(spec: SourceSpec) -> bool:
    """Whether the values of a source are not those that are read: a query or numbers made coarser
    give others.
    """
    return queries_rows(spec) or bool(spec.coarsen)


def asks_database(spec: SourceSpec) -> bool:
    """Whether a query of a source would be run by its database, over all tables that it has."""
    return spec.table is None and source_format(spec) in _DATABASES


def given_keys(spec: SourceSpec) -> tuple[str, ...]:
    """The keys that a source sets, in addition to ``path``."""
    return tuple(key for key in spec.as_plain() if key != "path")


def without_ignored(spec: SourceSpec) -> SourceSpec:
    """The same source without the keys that :func:`check_options` refuses for its format."""
    known, unset = source_format(spec), SourceSpec("")
    ignored = [key for key in given_keys(spec) if not applies(key, known)]
    if not _declares_dates(spec):
        ignored.append("date_order")
    return replace(spec, **{key: getattr(unset, key) for key in ignored})


def _declares_dates(spec: SourceSpec) -> bool:
    """Whether ``date_order`` has an effect; what the source holds has no say in it."""
    return any(kind == DATE for _, kind in spec.types)


def check_options(spec: SourceSpec, where: str) -> None:
    """Raise InputError ``source.option`` for a key that would be ignored.

    ``where`` names the plan or the file in the sentence.
    """
    known = source_format(spec)
    for key in given_keys(spec):
        if not applies(key, known):
            raise _without_effect(key, known, where)
    if spec.date_order is not None and not _declares_dates(spec):
        raise InputError(
            "source.option",
            msg(
                "{where}: the key `date_order` says how dates are written, but `types` declares "
                "no column a date.",
                where=where,
            ),
            hint='Declare each column of dates in `types`, such as born = "date", or remove the '
            "key; it would be ignored.",
            details={"key": "date_order", "format": known},
        )
    described = (("columns", bool(spec.columns)), ("metadata", spec.metadata is not None))
    told = [f"`{key}`" for key, given in described if given]
    if PurePath(spec.path).suffix.lower() == _METADATA_ENDING:
        told.insert(0, msg("the file `{name}`", name=PurePath(spec.path).name))
    if len(told) > 1:
        raise InputError(
            "source.option",
            msg(
                "{where}: {one} and {other} both describe the columns, expected one of them.",
                where=where,
                one=told[0],
                other=told[1],
            ),
            hint="Remove one; the other one would be ignored.",
            details={"key": told[1].strip("`")},
        )


def _without_effect(key: str, known: str, where: str) -> InputError:
    names = tuple(one.name for one in FORMATS.values() if key in one.keys)
    return InputError(
        "source.option",
        msg(
            "{where}: the key `{key}` does not apply to a source of the format "
            "`{name}`, expected {one_of}.",
            where=where,
            key=key,
            name=FORMATS[known].name,
            one_of=one_of(names),
        ),
        hint="Remove `columns` or `widths`, which describe the same; it would be ignored."
        if key == "columns"
        else "Remove the key; it would be ignored.",
        details={"key": key, "format": known, "applies": names},
    )


# Reading options that a plan of a private method must name: what is detected depends on a person.
#
# Which options these are is said by :data:`dpdesk.core.source_spec.FORMATS`. The refusal of the
# command line, the window that writes them into the plan, and the documentation follow it.


_BARE = re.compile("[A-Za-z0-9_-]+")


def is_named(spec: SourceSpec, key: str) -> bool:
    """Whether a plan names this key."""
    if key == "missing":
        return spec.missing_named or spec.missing != ("",)
    if key in ("types", "items"):
        return bool(getattr(spec, key))
    return getattr(spec, key) is not None


def unnamed(spec: SourceSpec, file_format: str) -> tuple[str, ...]:
    """The keys that the plan must name and does not."""
    keys = FORMATS[file_format].pinned
    if _declares_dates(spec):
        keys = (*keys, "date_order")
    return tuple(key for key in keys if not is_named(spec, key))


def untyped(spec: SourceSpec, columns: Sequence[str]) -> tuple[str, ...]:
    """Those of the columns that ``types`` does not declare."""
    known = {form(name) for name, _ in spec.types}
    return tuple(name for name in columns if form(name) not in known)


def lines_of(spec: SourceSpec, keys: Sequence[str]) -> tuple[str, ...]:
    """The lines of a plan's ``[source]`` that name these keys as ``spec`` has them."""
    plain = spec.as_plain() | {"missing": list(spec.missing)}
    return tuple(f"{key} = {_toml(plain[key])}" for key in keys if key in plain)


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else _toml(name)


def _toml(value: object) -> str:
    if isinstance(value, Mapping):
        inner = ", ".join(f"{_key(str(key))} = {_toml(item)}" for key, item in value.items())
        return f"{{ {inner} }}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_toml(item) for item in value) + "]"
    # What JSON writes of a text TOML reads too, but for the byte 0x7F.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
