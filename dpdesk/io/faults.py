"""One plain sentence for each way in which a delimited text can be broken."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from dpdesk.core.errors import InputError
from dpdesk.core.messages import counted, msg
from dpdesk.core.source_spec import ALLOWED, REPEATED
from dpdesk.io.sniff import Dialect, shown_delimiter

_LENGTHS_OF_TABLES = 2
"""Lengths of lines that a table with one kind of fault has."""

if TYPE_CHECKING:
    from dpdesk.io.remedies import Remedy
    from dpdesk.io.scan import ScanResult
    from dpdesk.io.transcode import LegacyGuess


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
    if remedy is None or skipping:
        return error
    return with_remedy(error, remedy, lists=_may_list_items(dialect))


def two_delimiters(name: str, dialect: Dialect, result: ScanResult, other: str) -> InputError:
    """The error for a text of which some lines are divided by another delimiter."""
    first, then = dialect.delimiter, other
    if result.fields == 1:
        first, then = then, first
    return InputError(
        "csv.two-delimiters",
        msg(
            "{name}, line {line}: found fields divided by {other}, expected {mark} as in line "
            "{first_line}.",
            name=name,
            line=result.line,
            other=shown_delimiter(then),
            mark=shown_delimiter(first),
            first_line=result.first_line,
        ),
        hint="The file itself has two delimiters, so no option reads it: save it with one.",
        details={"line": result.line},
    )


def two_encodings(error: InputError) -> InputError:
    """The refusal of a mixture, with what the encoding would make of it that reads all lines."""
    options = error.details.get("set")
    if not isinstance(options, tuple):
        return error
    encoding = str(dict(options)["encoding"])
    hint = msg(
        'The file itself has two encodings: save it in one. With `encoding = "{encoding}"` under '
        "[source] it is read, but special letters of its lines in UTF-8 become others.",
        encoding=encoding,
    )
    return InputError(error.code, error.sentence, hint=hint, details=error.details)


def unclear_encoding(name: str, guess: LegacyGuess, line: int = 0) -> InputError:
    """The error for a text that is not UTF-8 and whose letters no guess can tell."""
    return InputError(
        "encoding.unclear",
        msg(
            "{name}: the text is not UTF-8, and its letters cannot be guessed: read as {encoding} "
            "special letters follow each other, as in `{example}`.",
            name=name,
            encoding=guess.encoding,
            example=guess.example,
        ),
        hint="Name the `encoding` under [source], for instance cp1251, cp1253, shift_jis or "
        "gb18030.",
        details={"line": line} if line else {},
    )


def _may_list_items(dialect: Dialect) -> bool:
    """Whether lines of three or more different lengths may be lists instead of rows."""
    return len({len(record.fields) for record in dialect.head}) > _LENGTHS_OF_TABLES


def with_remedy(error: InputError, remedy: Remedy, *, lists: bool = False) -> InputError:
    """The same error with the options that read the text as its hint.

    ``lists`` says that each line may list items.
    """
    first, *more = remedy.lines
    if more:
        hint = msg(
            "With `{option}` and `{other}` under [source] the text is a table of {n:,} columns; "
            "use them if the rows are then correct.",
            option=first,
            other=more[0],
            n=remedy.fields,
        )
    elif remedy.even:
        hint = msg(
            "With `{option}` under [source] every line has the same number of fields, {n:,}; use "
            "it if the rows are then correct.",
            option=first,
            n=remedy.fields,
        )
    elif lists:
        hint = msg(
            "If each line lists the items of one person or basket, name these as `items` under "
            "[source]. With `{option}` the text is a table of {n:,} columns; use it if the rows "
            "are then correct.",
            option=first,
            n=remedy.fields,
        )
    else:
        hint = msg(
            "With `{option}` under [source] the text is a table of {n:,} columns; use it if the "
            "rows are then correct.",
            option=first,
            n=remedy.fields,
        )
    details = dict(error.details) | {"set": remedy.options, "skip": None}
    return InputError(error.code, error.sentence, hint=hint, details=details)


def _column(dialect: Dialect, field: int) -> str:
    """How a sentence names a column: by its name where the header gives one."""
    given = dialect.head[0].fields if dialect.header and dialect.head else ()
    if field < len(given) and given[field].strip():
        return msg("column `{name}`", name=_short(given[field]))
    return msg("column {n}", n=field + 1)


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
    tail = msg("; {missing} is the first one missing", missing=missing) if missing else ""
    hint = msg(
        "Check the line for a missing or unquoted {mark}, or name the right `delimiter`.", mark=mark
    )
    if result.fields == 1:
        hint = "If the file has only one column, name a `delimiter` that no value contains."
    if result.line > result.first_line and _lacks_row_name(dialect):
        hint = "One name is missing from the header, perhaps that of a column of row names: add it."
    return InputError(
        "csv.ragged",
        counted(
            "{name}, line {line}: found {n} field, expected {fields} as in line "
            "{first_line}{tail}.",
            "{name}, line {line}: found {n} fields, expected {fields} as in line "
            "{first_line}{tail}.",
            n=result.found,
            name=name,
            line=result.line,
            fields=result.fields,
            first_line=result.first_line,
            tail=tail,
        ),
        hint=hint,
        details={"line": result.line, "found": result.found, "expected": result.fields},
    )


def _lacks_row_name(dialect: Dialect) -> bool:
    widths = [len(record.fields) for record in dialect.head]
    return len(widths) > 1 and set(widths[1:]) == {widths[0] + 1} and widths[0] > 1


def _preamble(name: str, dialect: Dialect, result: ScanResult) -> InputError | None:
    """Title lines above the table: single fields above lines of several.

    Below a title that was found, and in several lines, they may have a delimiter in them.
    """
    widths = [len(record.fields) for record in dialect.head]
    if not widths or (widths[0] != 1 and not (dialect.skip or len({*widths[:2]}) > 1)):
        return None
    below = Counter(width for width in widths if width > widths[0])
    if not below or sum(below.values()) * 2 < len(widths):
        return None
    usual = below.most_common(1)[0][0]
    above = widths.index(usual)
    table = dialect.head[above].line
    if widths[0] != 1 and (set(widths[above:]) != {usual} or above + bool(dialect.skip) < 2):
        return None
    return InputError(
        "csv.preamble",
        counted(
            "{name}, line {first_line}: found {n} field, but from line {table} on "
            "lines have {usual} fields; the table seems to start on line {table}.",
            "{name}, line {first_line}: found {n} fields, but from line {table} on "
            "lines have {usual} fields; the table seems to start on line {table}.",
            n=result.fields,
            name=name,
            first_line=result.first_line,
            table=table,
            usual=usual,
        ),
        hint=msg(
            "Write `skip = {skip}` under [source] to leave out the lines above the table.",
            skip=dialect.skip + table - dialect.first_line,
        ),
        details={
            "line": result.first_line,
            "table_line": table,
            "skip": dialect.skip + table - dialect.first_line,
        },
    )


def _nul(name: str, dialect: Dialect, result: ScanResult) -> InputError:
    return InputError(
        "csv.nul",
        msg(
            "{name}, line {line}, {column}: found a NUL byte, expected text.",
            name=name,
            line=result.line,
            column=_column(dialect, result.column),
        ),
        hint="The file may be binary, damaged, or written in UTF-16 (then name its `encoding`).",
        details=_details(result, dialect),
    )


def _not_utf8(name: str, dialect: Dialect, result: ScanResult) -> InputError:
    return InputError(
        "encoding.undecodable",
        msg(
            "{name}, line {line}, {column}: found bytes that are not UTF-8.",
            name=name,
            line=result.line,
            column=_column(dialect, result.column),
        ),
        hint="Name the right `encoding` under [source], for instance cp1252 or iso8859-2.",
        details=_details(result, dialect),
    )


def mixed_encodings(name: str, dialect: Dialect, result: ScanResult) -> InputError:
    """Some lines are UTF-8 and some are not: no single encoding reads them all."""
    other = (
        msg("line {multibyte_line} is", multibyte_line=result.multibyte_line)
        if result.multibyte
        else "other lines are"
    )
    return InputError(
        "encoding.mixed",
        msg(
            "{name}, line {line}, {column}: found the byte 0x{found:02X}, which is "
            "not UTF-8, while {other}.",
            name=name,
            line=result.line,
            column=_column(dialect, result.column),
            found=result.found,
            other=other,
        ),
        hint="Correct the line, or name the `encoding` of the whole file under [source].",
        details=_details(result, dialect),
    )


def _after_quote(name: str, dialect: Dialect, result: ScanResult) -> InputError:
    return InputError(
        "csv.after-quote",
        msg(
            "{name}, line {line}, {column}: found text after a closing quote ({quote}), "
            "expected {delimiter} or a line end.",
            name=name,
            line=result.line,
            column=_column(dialect, result.column),
            quote=dialect.quote,
            delimiter=shown_delimiter(dialect.delimiter),
        ),
        hint="A quote inside a quoted value is written twice; a backslash does not protect it.",
        details=_details(result, dialect),
    )


def _unterminated(name: str, dialect: Dialect, result: ScanResult) -> InputError:
    return InputError(
        "csv.unterminated-quote",
        msg(
            "{name}, line {line}, {column}: a quote ({quote}) opens here and is never closed.",
            name=name,
            line=result.line,
            column=_column(dialect, result.column),
            quote=dialect.quote,
        ),
        hint='Close the quote, or set `quote = ""` when the file does not quote values.',
        details=_details(result, dialect),
    )


def no_rows(name: str, line: int) -> InputError:
    """A header and nothing below it."""
    return InputError(
        "csv.no-rows",
        msg("{name}, line {line}: found a header but no row below it.", name=name, line=line),
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
        msg(
            "{name}, line {line}: the columns {first} and {second} are both named `{short}`, "
            "expected a different name for each.",
            name=name,
            line=line,
            first=first + 1,
            second=second + 1,
            short=_short(column),
        ),
        hint=msg(
            "With `allow = {list}` under [source] the later one gets a number.",
            list=json.dumps(allow),
        ),
        details={"line": line, "column": column, "set": (("allow", tuple(allow)),)},
    )
