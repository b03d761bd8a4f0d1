"""Sentences for what can go wrong between the program and the operating system."""

from __future__ import annotations

import errno
from pathlib import Path

from dpdesk.core.errors import InputError, StorageError
from dpdesk.core.messages import msg
from dpdesk.core.source_spec import MOST_COLUMNS
from dpdesk.core.systems import NotAFileError

DISK_FULL = "storage.disk-full"
LONGEST_LINE = 1 << 24
"""Bytes in UTF-8 of a line, or a record of several lines; reading it takes fifty times as many."""
_SWOLLEN, _OF_A_VALUE, _TIMES = 1 << 28, 1_000, 200
"""Bytes of texts that any file may hold, each value of it, and each byte that it takes."""
_FULL = (errno.ENOSPC, errno.EDQUOT)


def storage_error(problem: OSError, path: Path, doing: str) -> StorageError:
    """The StorageError for an OSError met while ``doing`` something with ``path``.

    Codes: ``storage.disk-full``, ``storage.missing``, ``storage.permission``, ``storage.folder``,
    ``storage.kind``, ``storage.size``, ``storage.failed``.
    """
    if problem.errno in _FULL:
        return disk_full(path)
    if isinstance(problem, FileNotFoundError) and doing == "write":
        return StorageError(
            "storage.missing",
            msg("{path}: cannot be written: there is no such folder.", path=path),
            hint="Make the folder first, or choose another one.",
            details={"path": str(path)},
        )
    if isinstance(problem, FileNotFoundError):
        return StorageError(
            "storage.missing",
            msg("{path}: there is no such file or folder.", path=path),
            hint="Check the path; paths in a plan are relative to the plan.",
            details={"path": str(path)},
        )
    if isinstance(problem, PermissionError):
        return StorageError(
            "storage.permission",
            msg("{path}: no permission to {doing} it.", path=path, doing=doing),
            hint="Ask for permission to use it, or choose another place.",
            details={"path": str(path)},
        )
    if isinstance(problem, IsADirectoryError | NotADirectoryError):
        return StorageError(
            "storage.folder",
            msg("{path}: found a folder where a file was expected, or vice versa.", path=path),
            details={"path": str(path)},
        )
    if isinstance(problem, NotAFileError) or problem.errno in (errno.ENXIO, errno.ELOOP):
        return _in_the_way(problem, path)
    if problem.errno == errno.EFBIG:
        return StorageError(
            "storage.size",
            msg("{path}: the system lets no file grow that large.", path=path),
            hint="Raise the limit on the size of files (`ulimit -f`), or choose a disk whose file "
            "system allows larger ones.",
            details={"path": str(path)},
        )
    reason = problem.strerror or type(problem).__name__
    return StorageError(
        "storage.failed",
        msg("{path}: could not {doing} it: {reason}.", path=path, doing=doing, reason=reason),
        details={"path": str(path)},
    )


def _in_the_way(problem: OSError, path: Path) -> StorageError:
    """What is no file, by its own name, also where ``path`` is the folder that it lies in."""
    place = Path(str(problem.filename or path))
    sentence = msg("{path}: found a device, expected a file.", path=place)
    if problem.errno == errno.ELOOP:
        sentence = msg("{path}: found a link, expected a file.", path=place)
    return StorageError("storage.kind", sentence, details={"path": str(place)})


def disk_full(path: Path) -> StorageError:
    """The sentence for a full disk under a path that the user named."""
    return StorageError(
        DISK_FULL,
        msg("{path}: the disk is full, so nothing was written.", path=path),
        hint="Free some space there, or choose a place on another disk.",
        details={"path": str(path)},
    )


def home_full(folder: Path) -> StorageError:
    """The sentence for a full disk under the program's own folder."""
    return StorageError(
        DISK_FULL,
        msg("{folder}: the disk is full, so nothing was kept.", folder=folder),
        hint="Temporary data are kept there: free some space, or set DPDESK_HOME to a larger disk.",
        details={"path": str(folder)},
    )


def private_error(problem: OSError, folder: Path, doing: str) -> StorageError:
    """Like :func:`storage_error` for the program's own folder."""
    return home_full(folder) if problem.errno in _FULL else storage_error(problem, folder, doing)


def retold(error: StorageError, path: Path) -> StorageError:
    """The same failure to write, told of ``path``: the one that the user knows."""
    if error.code == DISK_FULL:
        return disk_full(path)
    if isinstance(error.__cause__, OSError):
        return storage_error(error.__cause__, path, "write")
    return StorageError(
        error.code,
        msg("{path}: could not be written.", path=path),
        hint=error.hint,
        details={"path": str(path)},
    )


def check_width(name: str, columns: int) -> None:
    """Raise InputError ``read.columns`` for more columns than can be read.

    To be asked as soon as their number is known, before any row is read.
    """
    if columns > MOST_COLUMNS:
        raise InputError(
            "read.columns",
            msg(
                "{name}: found {n:,} columns, expected at most {most:,}.",
                name=name,
                n=columns,
                most=MOST_COLUMNS,
            ),
            hint="Copy the columns that you need to a separate file or table.",
            details={"columns": columns},
        )


def check_swollen(name: str, texts: int, values: int, stored: int) -> None:
    """Raise InputError ``read.swollen`` for texts of so many bytes, of ``values`` values.

    A format that stores a text once for all rows makes gigabytes of a file of ``stored`` bytes;
    what people store is shorter, or takes room in the file.
    """
    most = _SWOLLEN + _OF_A_VALUE * values + _TIMES * stored
    if texts > most:
        raise InputError(
            "read.swollen",
            msg(
                "{name}: the texts in it would take {texts:,} bytes, expected at most {most:,} of "
                "{values:,} values in a file of {stored:,} bytes.",
                name=name,
                texts=texts,
                most=most,
                values=values,
                stored=stored,
            ),
            hint="Shorten the texts, or leave their columns out.",
        )


def too_long(name: str, line: int) -> InputError:
    """A record of more than :data:`LONGEST_LINE` bytes."""
    return InputError(
        "csv.too-long",
        msg(
            "{name}, line {line}: the line, or the value in quotes that begins in it, is longer "
            "than {most:,} bytes, the most that is read.",
            name=name,
            line=line,
            most=LONGEST_LINE,
        ),
        hint="Check that the file is a table with line ends and that every quote is closed, or "
        "shorten its texts.",
        details={"line": line},
    )


def disagreement(name: str, what: str, scanned: int, loaded: int) -> InputError:
    """Two independent readers of one file disagree: the file is refused."""
    return InputError(
        "read.disagreement",
        msg(
            "{name}: two independent readers disagree on the number of {what} "
            "({scanned:,} and {loaded:,}), so the file is not used.",
            name=name,
            what=what,
            scanned=scanned,
            loaded=loaded,
        ),
        hint="Save the file again as CSV with UTF-8, commas and quoted texts; please report this.",
        details={"what": what, "scanned": scanned, "loaded": loaded},
    )


def misplaced(name: str, column: int) -> InputError:
    """Two independent readers find the bytes of a column in different rows: see above."""
    return InputError(
        "read.disagreement",
        msg(
            "{name}: two independent readers disagree on the rows in which the values of "
            "column {column:,} are, so the file is not used.",
            name=name,
            column=column,
        ),
        hint="Save the file again as CSV with UTF-8, commas and quoted texts; please report this.",
        details={"what": "rows", "column": column},
    )
