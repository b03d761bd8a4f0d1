"""An audit log as a file for others, written piece by piece however long it is."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from dpdesk.core.errors import DpdeskError, InputError, StorageError
from dpdesk.core.jobs import CancelToken
from dpdesk.io.canonical import canonical_json
from dpdesk.io.safewrite import PartialKeeper, replacing
from dpdesk.project.audit_chain import FIELDS, FIRST, AuditEntry

FORMATS = ("csv", "json")
_PIECE = 200


def write_log(
    entries: Iterator[AuditEntry],
    path: Path,
    form: str,
    keeper: PartialKeeper,
    token: CancelToken | None,
) -> int:
    """Write entries as ``csv`` or ``json``, whole or not at all; how many they were.

    The JSON file is in canonical form. Raises InputError ``audit.format``, StorageError
    ``audit-export.unwritable``, Cancelled, and what reading ``entries`` raises.
    """
    if form not in FORMATS:
        raise InputError(
            "audit.format", f'The format "{form}" is unknown, expected `csv` or `json`.'
        )
    counted = _Counted(entries, token)
    pieces = _as_json(counted) if form == "json" else _as_csv(counted)
    try:
        with replacing(path, keeper) as fresh, fresh.open("x", encoding="utf-8", newline="") as out:
            for piece in pieces:
                out.write(piece)
    except (StorageError, InputError) as error:
        if counted.failure is error:
            raise
        raise StorageError("audit-export.unwritable", error.sentence, hint=error.hint) from error
    except ValueError as error:
        sentence = f"{path}: cannot be written: {error}."
        raise StorageError("audit-export.unwritable", sentence) from error
    return counted.count


class _Counted:
    """Entries one after the other, counted; what went wrong with reading them."""

    def __init__(self, entries: Iterator[AuditEntry], token: CancelToken | None) -> None:
        self._entries, self._token = entries, token
        self.count, self.head = 0, FIRST
        self.failure: DpdeskError | None = None

    def __iter__(self) -> Iterator[AuditEntry]:
        try:
            for entry in self._entries:
                if self._token is not None and self.count % _PIECE == 0:
                    self._token.check()
                self.count, self.head = self.count + 1, entry.hash
                yield entry
        except DpdeskError as error:
            self.failure = error
            raise


def _as_csv(entries: _Counted) -> Iterator[str]:
    head: tuple[object, ...] = FIELDS
    for row in chain((head,), (entry.fields for entry in entries)):
        text = io.StringIO(newline="")
        csv.writer(text, lineterminator="\n").writerow(row)
        yield text.getvalue()


def _as_json(entries: _Counted) -> Iterator[str]:
    yield '{\n  "entries": ['
    for entry in entries:
        row = {**dict(zip(FIELDS, entry.fields, strict=True)), "details": entry.facts}
        text = canonical_json(row).decode("utf-8").rstrip("\n")
        yield ("\n    " if entries.count == 1 else ",\n    ") + text.replace("\n", "\n    ")
    yield ("\n  ]" if entries.count else "]") + ',\n  "format": 1,\n  "head": '
    yield json.dumps(entries.head, ensure_ascii=False) + "\n}\n"
