"""One plain sentence for each way in which a statistical file cannot be read."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from dpdesk.core.errors import DpdeskError, InputError
from dpdesk.core.messages import msg
from dpdesk.io.failures import check_width
from dpdesk.io.formats.endings import Endings, is_same_encoding
from dpdesk.io.formats.spss import layout as sav_layout
from dpdesk.io.formats.table import Notes, damaged

_KINDS = {".sav": "SPSS", ".zsav": "SPSS", ".dta": "Stata", ".sas7bdat": "SAS", ".xpt": "SAS"}

_NO_CONVERTER, _NO_MEMORY = "unsupported character set", "allocate memory"
_RELEASE, _UTF8 = b"<stata_dta><header><release>", (b"118", b"119", b"120", b"121")

_SAS_ENCODING, _SAS_ANY = 70, (b"\x00", b"\xcc")
"""Where the header of a SAS file names its encoding, and what stands there when it names none."""
_SAS_HELD = {
    b"\x41": "WINDOWS-1255",
    b"\x44": "WINDOWS-1258",
    b"\xa7": "ISO-2022-JP",
    b"\xa8": "ISO-2022-KR",
    b"\xa9": "ISO-2022-CN",
    b"\xac": "ISO-2022-CN-EXT",
}
"""What stands there for the encodings that the library must not convert."""
_RENAMED = re.compile(r"_duplicated\d+$")
_EXAMPLE = 40
"""Characters of a text that stand in a sentence."""
_ENDING_HINT = (
    "Name the right `encoding` under [source], for instance cp1252, or correct the text in its "
    "program."
)


def kind_name(path: Path) -> str:
    """The program whose format the ending says."""
    return _KINDS.get(path.suffix.lower(), "statistical")


def no_rows(name: str, columns: int) -> InputError:
    """The error for a table without rows."""
    return InputError(
        "read.no-rows",
        msg("{name}: found {columns} columns and no rows.", name=name, columns=columns),
    )


def names_encoding(path: Path, file_format: str) -> bool:
    """Whether a file of SPSS, Stata or SAS names the encoding of its texts."""
    if file_format == "sav":
        return sav_layout.names_encoding(path)
    if file_format == "dta":
        return encoding_of_release(path) is not None
    with path.open("rb") as file:
        file.seek(_SAS_ENCODING)
        return file.read(1) not in _SAS_ANY


def told_encoding(path: Path, file_format: str) -> str:
    """The encoding that a file of SPSS or SAS tells, as far as the library must not convert it."""
    if file_format == "sav":
        return sav_layout.told_encoding(path)
    if file_format == "dta":
        return ""
    with path.open("rb") as file:
        file.seek(_SAS_ENCODING)
        return _SAS_HELD.get(file.read(1), "")


def encoding_of_release(path: Path) -> str | None:
    """The encoding that the release of a Stata file has (UTF-8 from 118 on); None for others."""
    with path.open("rb") as file:
        start = file.read(len(_RELEASE) + 3)
    is_stata = start.startswith(_RELEASE)
    return "UTF-8" if is_stata and start.endswith(_UTF8) else None


def unreadable(
    path: Path,
    error: Exception,
    encoding: str | None,
    row: int | None = None,
    column: str | None = None,
    named: str = "",
) -> DpdeskError:
    """The error for what the reading library says of a file.

    ``encoding`` is that of the plan, ``named`` that of the file.
    """
    text = str(error)
    if _NO_CONVERTER in text:
        return _unknown_encoding(path, encoding, named)
    about_text = any(word in text for word in ("onvert", "ncoding", "character set"))
    if about_text or isinstance(error, UnicodeError):
        return _encoding(path, encoding, named, row, column)
    if _NO_MEMORY in text:
        what = "the file is damaged: a length in it is wrong, or bytes were added to it"
        return damaged(path.name, what, row)
    reason = text[:1].lower() + text[1:200].rstrip(".")
    what = msg(
        "the file is not a valid {kind_name} file, or it is damaged ({reason})",
        kind_name=kind_name(path),
        reason=reason,
    )
    if row is not None:
        what = msg("the file breaks off or is damaged here ({reason})", reason=reason)
    return damaged(path.name, what, row)


def _unknown_encoding(path: Path, encoding: str | None, named: str) -> InputError:
    found = (
        msg("the file names the encoding {named}", named=named)
        if named
        else "the file names an encoding"
    )
    if encoding:
        found = msg("the plan names the encoding {encoding}", encoding=encoding)
    return InputError(
        "encoding.unknown",
        msg("{name}: {found}, which is not known here.", name=path.name, found=found),
        hint="Name the right `encoding` under [source], for instance cp1252 or utf-8.",
        details={"encoding": encoding or named},
    )


def _encoding(
    path: Path, encoding: str | None, named: str, row: int | None, column: str | None
) -> InputError:
    place = path.name
    details: dict[str, object] = {}
    if row is not None:
        place, details["row"] = msg("{place}, row {row:,}", place=place, row=row), row
    if column is not None:
        place, details["column"] = (
            msg("{place}, column `{column}`", place=place, column=column),
            column,
        )
    known = encoding or named
    read_as = (
        msg("the encoding {known}", known=known) if known else "the encoding that the file names"
    )
    return InputError(
        "encoding.undecodable",
        msg("{place}: found bytes that are not text in {read_as}.", place=place, read_as=read_as),
        hint="Name the right `encoding` under [source], for instance cp1252 or utf-8.",
        details=details,
    )


def breaks_off(name: str, row: int, column: str, encoding: str) -> InputError:
    """The error for a text whose last bytes are the beginning of a character alone."""
    return InputError(
        "encoding.undecodable",
        msg(
            "{name}, row {row:,}, column `{column}`: the text ends with bytes that are not a whole "
            "character in the encoding {encoding}.",
            name=name,
            row=row,
            column=column,
            encoding=encoding,
        ),
        hint=_ENDING_HINT,
        details={"row": row, "column": column},
    )


def label_breaks_off(name: str, column: str, what: str, encoding: str) -> InputError:
    """The error for a label of that kind; ``what`` says which of the column."""
    return InputError(
        "encoding.undecodable",
        msg(
            "{name}, column `{column}`: {what} ends with bytes that are not a whole character in "
            "the encoding {encoding}.",
            name=name,
            column=column,
            what=what,
            encoding=encoding,
        ),
        hint=_ENDING_HINT,
        details={"column": column},
    )


def no_text(name: str, column: str, what: str, encoding: str) -> InputError:
    """The error for such a label that holds bytes which are no text."""
    return InputError(
        "encoding.undecodable",
        msg(
            "{name}, column `{column}`: {what} contains bytes that are not text in the "
            "encoding {encoding}.",
            name=name,
            column=column,
            what=what,
            encoding=encoding,
        ),
        hint="Name the right `encoding` under [source], for instance cp1252 or utf-8.",
        details={"column": column},
    )


def nul_in_label(name: str, column: str, what: str) -> InputError:
    """The error for a name that holds a NUL; ``what`` says which of the column."""
    return InputError(
        "read.nul",
        msg(
            "{name}, column `{column}`: {what} holds a NUL character, at which other programs "
            "stop reading it.",
            name=name,
            column=column,
            what=what,
        ),
        hint="Correct it in the program that wrote it.",
        details={"column": column},
    )


def note_nul(notes: Notes, column: str, what: str) -> None:
    """Note a label that holds a NUL; ``what`` says which of the column."""
    notes.add(
        f"nul label {column}",
        msg(
            (
                "Column `{column}`: {what} contains a NUL character; what comes after it is "
                "left out."
            ),
            column=column,
            what=what,
        ),
    )


def note_guess(notes: Notes, encoding: str, example: str) -> None:
    """Note once that the file does not name its encoding, with the first text that shows it."""
    if "guess" not in notes:
        notes.add(
            "guess",
            msg(
                "The file does not name its encoding; it is read as {encoding}, a guess "
                "(`{example}`). Name the `encoding` if letters look wrong.",
                encoding=encoding,
                example=example[:_EXAMPLE],
            ),
        )


def note_other_encoding(notes: Notes, named: str, taken: str) -> None:
    """Note an SPSS file that is read in another encoding than the one whose name it holds."""
    if named and taken and not is_same_encoding(named, taken):
        notes.add(
            "encoding",
            msg(
                "The file names the encoding {named}, but is read as {taken}, which its code "
                "page says. Name the `encoding` if letters look wrong.",
                named=named,
                taken=taken,
            ),
        )


def note_cut(notes: Notes, row: int, column: str, count: int) -> None:
    """Note texts of a column that were cut off inside a character, the first in that row."""
    notes.add(
        f"cut {column}",
        msg(
            "Row {row:,}, column `{column}`: the text is cut off inside its last character, "
            "which is left out.",
            row=row,
            column=column,
        ),
        count,
    )


def note_unseen(notes: Notes, endings: Endings) -> None:
    """Note an encoding in which texts that end inside a character cannot be told."""
    if endings.unseen:
        notes.add(
            "unseen",
            msg(
                "Texts in the encoding {encoding} cannot be searched for ones that are cut off "
                "inside their last character; that character is left out.",
                encoding=endings.encoding,
            ),
        )


def note_cut_label(notes: Notes, column: str, what: str) -> None:
    """Note a label that was; ``what`` says which of the column."""
    notes.add(
        f"cut label {column}",
        msg(
            "Column `{column}`: {what} is cut off inside its last character, which is left out.",
            column=column,
            what=what,
        ),
    )


def check_names(file: str, names: Sequence[str]) -> None:
    """Raise InputError ``read.names`` for a column without a name, or two of the same name.

    Columns of the same name would be read as one; other programs make up names for them. Raises
    ``read.columns`` for too many of them.
    """
    check_width(file, len(names))
    seen: dict[str, int] = {}
    for number, name in enumerate(names, start=1):
        if not name:
            raise InputError(
                "read.names",
                msg("{file}: column {number:,} has no name.", file=file, number=number),
                hint="Give the column a name in its program.",
                details={"column": number},
            )
        first = seen.setdefault(name, number)
        if first != number:
            raise InputError(
                "read.names",
                msg(
                    "{file}: columns {first:,} and {number:,} have the same name, `{name}`.",
                    file=file,
                    first=first,
                    number=number,
                    name=name,
                ),
                hint="Give each column a different name in its program.",
                details={"column": name},
            )


def nameless(file: str) -> InputError:
    """The error for a file with two or more columns without a name."""
    return InputError(
        "read.names",
        msg("{file}: two or more columns have no name.", file=file),
        hint="Give each column a name of its own in its program.",
    )


def check_told_names(file: str, names: Sequence[str | None], doubled: bool) -> None:
    """Raise what :func:`check_names` does; ``names`` are as the reading library gives them.

    An empty name is None, and where there are ``doubled`` ones, the later are renamed.
    """
    plain = (name or "" for name in names)
    check_names(file, [_RENAMED.sub("", name) if doubled else name for name in plain])


def nul_in_text(name: str, row: int, column: str) -> InputError:
    """The error for a text that holds a NUL, at which the program would end it."""
    return InputError(
        "read.nul",
        msg(
            "{name}, row {row:,}, column `{column}`: found a NUL character, expected text.",
            name=name,
            row=row,
            column=column,
        ),
        hint="Correct the value in its program, or leave the column out.",
        details={"row": row, "column": column},
    )
