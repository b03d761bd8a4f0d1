"""The files of a release as a reviewer reads them next to the decision: tables, pages and texts."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpdesk.core.charts import Chart, ChartValueError, charts_from_json
from dpdesk.core.errors import DpdeskError
from dpdesk.core.jobs import CancelToken
from dpdesk.core.shapes import read_json

if TYPE_CHECKING:
    from dpdesk.core.release import ReleaseFacts

MOST_BYTES = 2_000_000
"""The most that is shown of a page or a text."""
MOST_CELLS = 5_000_000
"""The most cells of a table that are held; the rows behind them are counted."""


_PDF = b"%PDF"


class FileRows:
    """Rows of a published table, as the models of tables want them; ``total`` are in the file."""

    def __init__(self, columns: Sequence[str], table: Any, total: int) -> None:
        self.columns, self._table, self.total = tuple(columns), table, total
        self.count: int = table.num_rows

    def page(self, start: int, count: int) -> tuple[tuple[str, ...], ...]:
        """Rows from ``start`` on, as they stand in the file."""
        part = self._table.slice(start, count)
        return tuple(zip(*(column.to_pylist() for column in part.columns), strict=True))


@dataclass(frozen=True)
class FileLook:
    """What is shown of a file: its rows, a page or a text; else why there is none.

    ``absent``: it is not in the folder; ``foreign``: it is for another program, as the file at
    ``path``; ``printed``: it is the print of the page that is shown; ``fault`` is a sentence on
    what is wrong with it.
    """

    name: str
    rows: FileRows | None = None
    page: str = ""
    text: str = ""
    absent: bool = False
    foreign: bool = False
    printed: bool = False
    path: Path | None = None
    fault: str = ""

    @property
    def shown(self) -> bool:
        """Whether there is something to see."""
        return not (self.absent or self.foreign or self.fault)


def look_at_file(release: Path, name: str, token: CancelToken) -> FileLook:
    """A file of a release; it may be anyone's, and nothing outside the folder is read."""
    path = release / name
    try:
        inside = path.resolve().is_relative_to(release.resolve()) and not path.is_symlink()
        if not inside or not path.is_file():
            return FileLook(name, absent=True)
        if path.suffix == ".csv":
            return FileLook(name, rows=_rows(path, token))
        content = _start_of(path)
        source = path.with_suffix(".html")
        if content.startswith(_PDF) and source.is_file() and not source.is_symlink():
            page = _start_of(source).decode("utf-8", "replace")
            return FileLook(name, page=page, printed=True, path=path)
    except (OSError, ValueError, DpdeskError) as error:
        reason = getattr(error, "sentence", "") or str(error)
        return FileLook(name, fault=reason)
    if content.startswith(_PDF) or b"\0" in content:
        return FileLook(name, foreign=True, path=path)
    text = content.decode("utf-8", "replace")
    if path.suffix == ".html":
        return FileLook(name, page=text)
    return FileLook(name, text=_indented(text) if path.suffix == ".json" else text)


def _start_of(path: Path) -> bytes:
    with path.open("rb") as stream:
        return stream.read(MOST_BYTES)


def _rows(path: Path, token: CancelToken) -> FileRows:
    import pyarrow as pa

    from dpdesk.io.published import PublishedCsv

    published = PublishedCsv(path, token)
    parts, held = [], 0
    for part in published.batches(published.columns, token):
        parts.append(part)
        held += part.num_rows * part.num_columns
        if held >= MOST_CELLS:
            break
    empty = pa.table({name: pa.array([], pa.string()) for name in published.columns})
    table = pa.concat_tables(parts) if parts else empty
    return FileRows(published.columns, table, published.rows)


def _indented(text: str) -> str:
    try:
        return json.dumps(read_json(text), ensure_ascii=False, indent=2)
    except ValueError:
        return text


def pictures_of(facts: ReleaseFacts) -> tuple[Chart, ...]:
    """The pictures of the differences that the internal part keeps; none without it."""
    try:
        return charts_from_json(list(facts.evidence.charts))
    except ChartValueError:
        return ()
