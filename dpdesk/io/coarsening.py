"""Numbers of columns cut at their ends and rounded, before anything else sees them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

from dpdesk.core.errors import InputError
from dpdesk.core.labels import NOTHING_MISSING
from dpdesk.core.messages import msg
from dpdesk.core.parameters import exact_number, nearest
from dpdesk.core.plain import number_text
from dpdesk.core.source_spec import COARSER_ELSEWHERE, Coarsened, SourceSpec
from dpdesk.io.csvload import RAW, Loaded
from dpdesk.io.database import query
from dpdesk.io.missing import condition

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

    from dpdesk.core.jobs import CancelToken

_CHANGED = "changed"


def coarsened(
    con: DuckDBPyConnection,
    loaded: Loaded,
    spec: SourceSpec,
    path: Path,
    token: CancelToken,
    *,
    private: bool,
) -> Loaded:
    """Replace the numbers of the table ``raw`` by those that ``spec`` makes of them.

    Missing values stay as they are. A number that is not rounded and does not change keeps its
    text; at an end, and where numbers are rounded, equal numbers have one text, so that no notation
    tells what was there before. What is done is said in the codebook, for readers of a release.
    Raises InputError ``source.coarsen`` for a value that is no number, a number that would become
    a missing value, and for private methods, which declare their own bounds;
    ``plan.unknown-column``; Cancelled.
    """
    if private:
        raise InputError(
            "source.coarsen",
            msg(
                "{name}: `coarsen` does not apply to differentially private methods.",
                name=path.name,
            ),
            hint=COARSER_ELSEWHERE,
            details={"key": "coarsen"},
        )
    notes, book, mark = [], loaded.book, loaded.reading.decimal
    for name, numbers in spec.spelled_as(loaded.names).coarsen:
        token.check()
        if name not in loaded.names:
            near = nearest(name, loaded.names)
            raise InputError(
                "plan.unknown-column",
                msg(
                    "{source}: `coarsen` names the column `{name}`, which the source does not "
                    "have.",
                    source=path.name,
                    name=name,
                ),
                hint=msg("Did you mean `{near}`?", near=near) if near else "",
                details={"key": "coarsen", "nearest": near},
            )
        rows = _replace(con, loaded, loaded.names.index(name), numbers, path, token)
        said = {key: number_text(number, mark) for key, number in numbers.given.items()}
        book = book.with_coarsened(name, said)
        notes.append(
            msg("The numbers of {rows:,} rows of `{name}` were made coarser.", rows=rows, name=name)
        )
    reading = replace(loaded.reading, notes=(*loaded.reading.notes, *notes))
    return replace(loaded, reading=reading, book=book)


def _replace(
    con: DuckDBPyConnection,
    loaded: Loaded,
    place: int,
    numbers: Coarsened,
    path: Path,
    token: CancelToken,
) -> int:
    """Change one column; how many rows it changes."""
    import pyarrow as pa

    missing = loaded.reading.missing
    user = loaded.book.missing(loaded.names[place]) if missing else NOTHING_MISSING
    column = f"{RAW}.c{place}"
    absent = condition(user, missing, column) or "false"
    mark = loaded.reading.decimal
    with query(con, token, path) as cursor:
        held = cursor.execute(
            f"SELECT {column}, min(rowid) + 1 FROM {RAW} WHERE NOT ({absent}) GROUP BY 1"
        ).fetchall()
        texts = _changes(held, numbers, mark, loaded.names[place], path)
        if not texts:
            return 0
        table = pa.table({"old": list(texts), "new": list(texts.values())})
        cursor.register(_CHANGED, table)
        _check_present(cursor, condition(user, missing, "new"), loaded.names[place], path)
        where = f"FROM {_CHANGED} WHERE {column} = {_CHANGED}.old AND NOT ({absent})"
        changed = cursor.execute(f"UPDATE {RAW} SET c{place} = {_CHANGED}.new {where}").fetchone()
        cursor.unregister(_CHANGED)
    return int(changed[0]) if changed else 0


def _check_present(cursor: DuckDBPyConnection, absent: str, name: str, path: Path) -> None:
    """Refuse numbers of which a missing value would be made."""
    if not absent:
        return
    found = cursor.execute(f"SELECT new FROM {_CHANGED} WHERE {absent} LIMIT 1").fetchone()
    if found:
        raise InputError(
            "source.coarsen",
            msg(
                "{source}: `coarsen` makes numbers of `{name}` {text}, which means a missing "
                "value in this source.",
                source=path.name,
                name=name,
                text=found[0],
            ),
            hint="Choose another end, or round to other multiples.",
            details={"key": "coarsen", "attribute": name},
        )


def _changes(
    held: Iterable[tuple[str, int]], numbers: Coarsened, mark: str, name: str, path: Path
) -> dict[str, str]:
    """What becomes of the texts of a column, of those that change."""
    found = {}
    for text, row in sorted(held, key=lambda each: each[1]):
        number = _number(text, mark)
        if number is None:
            raise InputError(
                "source.coarsen",
                msg(
                    "{source}, row {row:,}: `{name}` is `{text}`, expected a number, as `coarsen` "
                    "names this column.",
                    source=path.name,
                    row=row,
                    name=name,
                    text=text,
                ),
                hint="Name texts that mean a missing value under `missing` in [source].",
                details={"key": "coarsen", "attribute": name},
            )
        new = numbers.of(number)
        if numbers.step is not None or new != number or new in (numbers.bottom, numbers.top):
            shown = number_text(new, mark)
            if shown != text:
                found[text] = shown
    return found


def _number(text: str, mark: str) -> Fraction | None:
    """The number that a text is, with the decimal mark of its source."""
    plain = text.strip()
    if not plain or plain[0] not in f"+-{mark}0123456789":
        return None
    return exact_number(plain, mark)
