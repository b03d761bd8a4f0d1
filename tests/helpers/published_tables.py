"""Published tables as files, written by other code than the program's."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from dpdesk.core.jobs import CancelToken
from dpdesk.io.published import PublishedCsv
from dpdesk.io.workspace import Workspace


def write_table(path: Path, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> Path:
    """RFC 4180 with LF; an empty field that is alone in its line is quoted."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)
    path.write_bytes(text.getvalue().encode("utf-8"))
    return path


def published(path: Path, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> PublishedCsv:
    """A table written to ``path`` and opened as the verifier opens it."""
    return PublishedCsv(write_table(path, columns, rows), CancelToken())


@contextmanager
def workspace(home: Path) -> Iterator[Workspace]:
    """A private workspace for as long as the block lasts."""
    found = Workspace.open(home)
    try:
        yield found
    finally:
        found.close()
