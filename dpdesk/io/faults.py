"""One plain sentence for each way in which a delimited text can be broken."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from dpdesk.core.errors import InputError
from dpdesk.core.source_spec import ALLOWED, REPEATED
from dpdesk.io.sniff import Dialect, shown_delimiter

if TYPE_CHECKING:
    from dpdesk.io.remedies import Remedy
    from dpdesk.io.scan import ScanResult


def fault_error(
    name: str, dialect: Dialect, result: ScanResult, remedy: Remedy | None = None
) -> InputError:
    """The error for the fault that a scan found, with the option that reads the text, if any."""
    from dpdesk.io import scan

    builders = {
        scan.SHORT: _ragged,
        scan.LONG: _ragged,
        scan.NUL: _nul,
        scan.ENCODING: _not_utf8,
        scan.AFTER_QUOTE: _after_quote,
        scan.UNTERMINATED: _unterminated,
    }
    error = builders[result.fault](name, dialect, result)
    skipping = error.code == "csv.preamble" and not (remedy and remedy.even)
    return error if remedy is None or skipping else with_remedy(error, remedy)


def with_remedy(error: InputError, remedy: Remedy) -> InputError:
    """The same error with the options that read the text as its hint."""
    first, *more = remedy.lines
    table = f"the text is a table of {remedy.fields:,} columns; write that if the rows are right"
    if more:
        hint = f"With `{first}` and `{more[0]}` under [source] {table} then."
    elif remedy.even:
        hint = (
            f"With `{first}` under [source] every line has {remedy.fields:,} fields; write "
            "that if the rows are right then."
        )
    else:
        hint = f"With `{first}` under [source] {table} then."
    details = dict(error.details) | {"set": remedy.options, "skip": None}
    return InputError(error.code, error.sentence, hint=hint, details=details)


def _column(dialect: Dialect, field: int) -> str:
    """How a sentence names a column: by its name where the header gives one."""
    given = dialect.head[0].fields if dialect.header and dialect.head else ()
    if field < len(given) and given[field].strip():
        return f"column `{_short(given[field])}`"
    return f"column {field + 1}"


def _short(text: str) -> str:
    plain = text.replace("\n", " ").replace("\r", " ").replace("\0", " ")
    return plain if len(plain) <= 40 else plain[:39] + "…"


def _details(result: ScanResult, dialect: Dialect) -> dict[str, object]:
    return {"line": result.line, "column": _column(dialect, result.column)}


def _ragged(name: str, dialect: Dialect, result: ScanResult) -> InputError:
    preamble = _preamble(name, dialect, result)
    if preamble is not None:
        return preamble
    mark = shown_delimiter(dialect.delimiter)
    missing = _column(dialect, result.found) if result.found < result.fields else ""
    tail = f"; {missing} is the first one missing" if missing else ""
    hint = f"Check the line for a missing or unquoted {mark}, or name the right `delimiter`."
    if result.fields == 1:
        hint = "If the file has one column only, name a `delimiter` that no value holds."
    if result.line > result.first_line and _lacks_row_name(dialect):
        hint = "The header lacks one name, perhaps that of a column of row names: add it."
    return InputError(
        "csv.ragged",
        f"{name}, line {result.line}: found {result.found} "
        f"field{'s' if result.found != 1 else ''}, expected {result.fields} "
        f"as in line {result.first_line}{tail}.",
        hint=hint,
        details={"line": result.line, "found": result.found, "expected": result.fields},
    )


def _lacks_row_name(dialect: Dialect) -> bool:
    widths = [len(record.fields) for record in dialect.head]
    return len(widths) > 1 and set(widths[1:]) == {widths[0] + 1} and widths[0] > 1


def _preamble(name: str, dialect: Dialect, result: ScanResult) -> InputError | None:
    """Title lines above the table: single fields above lines of several."""
    widths = [len(record.fields) for record in dialect.head]
    if not widths or widths[0] != 1:
        return None
    below = Counter(width for width in widths if width > widths[0])
    if not below or sum(below.values()) * 2 < len(widths):
        return None
    usual = below.most_common(1)[0][0]
    table = next(record.line for record in dialect.head if len(record.fields) == usual)
    return InputError(
        "csv.preamble",
        f"{name}, line {result.first_line}: found {result.fields} "
        f"field{'s' if result.fields != 1 else ''}, but from line {table} on lines have {usual} "
        f"fields; the table seems to start on line {table}.",
        hint=f"Write `skip = {table - dialect.first_line}` under [source] to leave out the lines "
        "above the table.",
        details={
            "line": result.first_line,
            "table_line": table,
            "skip": table - dialect.first_line,
        },
    )


def _nul(name: str, dialect: Dialect, result: ScanResult) -> InputError:
    return InputError(
        "csv.nul",
        f"{name}, line {result.line}, {_column(dialect, result.column)}: found a NUL byte, "
        "expected text.",
        hint="The file may be binary, damaged, or written in UTF-16 (then name its `encoding`).",
        details=_details(result, dialect),
    )


def _not_utf8(name: str, dialect: Dialect, result: ScanResult) -> InputError:
    return InputError(
        "encoding.undecodable",
        f"{name}, line {result.line}, {_column(dialect, result.column)}: found bytes that are not "
        "UTF-8.",
        hint="Name the right `encoding` under [source], for instance cp1252 or iso8859-2.",
        details=_details(result, dialect),
    )


def mixed_encodings(name: str, dialect: Dialect, result: ScanResult) -> InputError:
    """Some lines are UTF-8 and some are not: no single encoding reads them all."""
    other = f"line {result.multibyte_line} is" if result.multibyte else "other lines are"
    return InputError(
        "encoding.mixed",
        f"{name}, line {result.line}, {_column(dialect, result.column)}: found the byte "
        f"0x{result.found:02X}, which is not UTF-8, while {other}.",
        hint="Repair the line, or name the `encoding` under [source] that the whole file has.",
        details=_details(result, dialect),
    )


def _after_quote(name: str, dialect: Dialect, result: ScanResult) -> InputError:
    return InputError(
        "csv.after-quote",
        f"{name}, line {result.line}, {_column(dialect, result.column)}: found text after a "
        f"closing quote ({dialect.quote}), expected {shown_delimiter(dialect.delimiter)} or a line "
        "end.",
        hint="A quote inside a quoted value is written twice; a backslash does not protect it.",
        details=_details(result, dialect),
    )


def _unterminated(name: str, dialect: Dialect, result: ScanResult) -> InputError:
    return InputError(
        "csv.unterminated-quote",
        f"{name}, line {result.line}, {_column(dialect, result.column)}: a quote ({dialect.quote}) "
        "opens here and is never closed.",
        hint='Close the quote, or set `quote = ""` when the file does not quote values.',
        details=_details(result, dialect),
    )


def no_rows(name: str, line: int) -> InputError:
    """A header and nothing below it."""
    return InputError(
        "csv.no-rows",
        f"{name}, line {line}: found a header but no row below it.",
        hint="Set `header = false` under [source] if this line is a row.",
        details={"line": line},
    )


def duplicate_name(
    name: str, line: int, column: str, places: tuple[int, int], allowed: Sequence[str] = ()
) -> InputError:
    """Two columns of one name; ``allowed`` is what the plan allows."""
    allow = [key for key in ALLOWED if key == REPEATED or key in allowed]
    first, second = places
    return InputError(
        "csv.duplicate-names",
        f"{name}, line {line}: the columns {first + 1} and {second + 1} are both named "
        f"`{_short(column)}`, expected a name of its own for each.",
        hint=f"With `allow = {json.dumps(allow)}` under [source] the later one gets a number.",
        details={"line": line, "column": column, "set": (("allow", tuple(allow)),)},
    )


def too_long(name: str, line: int) -> InputError:
    """A first record of more than 64 MiB."""
    return InputError(
        "csv.too-long",
        f"{name}, line {line}: the first line is longer than 64 MiB, expected column names.",
        hint="Check that the file is a table with line ends.",
        details={"line": line},
    )
