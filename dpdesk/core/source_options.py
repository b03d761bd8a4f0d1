"""Which keys of ``[source]`` apply to which kind of source: one table that all others follow.

A key that a reader would ignore is an error wherever a source is opened, so that a plan never
says more than was done.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import PurePath
from types import MappingProxyType

from dpdesk.core.errors import InputError
from dpdesk.core.messages import msg
from dpdesk.core.plan_keys import one_of
from dpdesk.core.source_spec import SourceSpec

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
_EVERY = (*_TYPED, "date_order", "empty_rows", "query")
_DATABASES = ("sqlite", "duckdb", "postgresql")
_DATABASE = (*_EVERY, "table")
FORMATS: Mapping[str, SourceFormat] = MappingProxyType(
    {
        "csv": SourceFormat(
            "delimited text",
            (*_EVERY, *_MARKS, "escape", "skip", "allow"),
            _TEXT,
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
        "frame": SourceFormat("DataFrame", _EVERY, _TYPED),
        "sqlite": SourceFormat("SQLite", _DATABASE, _TYPED),
        "duckdb": SourceFormat("DuckDB", _DATABASE, _TYPED),
        "postgresql": SourceFormat("PostgreSQL", _DATABASE, _TYPED),
    }
)
"""Every kind of source by the name that the program has for it."""


def source_format(spec: SourceSpec) -> str:
    """What a source is, by its address, its ending or its described columns: a key of `FORMATS`.

    A file that ends in ``.db`` is taken for SQLite; its first bytes may tell otherwise.
    """
    if spec.is_url:
        return "postgresql"
    ending = PurePath(spec.path).suffix.lower()
    if ending in PARQUET_ENDINGS:
        return "parquet"
    if ending == FRAME_ENDING:
        return "frame"
    known = FOREIGN_FORMATS.get(ending)
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
    return replace(spec, **{key: getattr(unset, key) for key in ignored})


def check_options(spec: SourceSpec, where: str) -> None:
    """Raise InputError ``source.option`` for a key that would be ignored.

    ``where`` names the plan or the file in the sentence.
    """
    known = source_format(spec)
    for key in given_keys(spec):
        if not applies(key, known):
            raise _without_effect(key, known, where)
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
