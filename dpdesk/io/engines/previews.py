"""The first rows of a table that stays in an engine, before it is opened."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from pathlib import Path

from dpdesk.core.jobs import CancelToken, silent
from dpdesk.core.source_spec import POSTGRESQL, SourceSpec
from dpdesk.io.database import in_memory
from dpdesk.io.engines.statements import first_of
from dpdesk.io.reading import PREVIEW_ROWS, Reading, SourcePreview, format_of


def preview_engine(path: Path, base: Path, spec: SourceSpec, token: CancelToken) -> SourcePreview:
    """The first rows; no value touches the disk.

    Raises what opening the table raises, and InputError ``engine.closed`` for a cluster to which
    there is no connection.
    """
    if spec.engine == POSTGRESQL:
        from dpdesk.io.formats.loading import preview_foreign

        return preview_foreign(path, base, replace(spec, engine=None), token)
    from dpdesk.io.engines.spark import SparkEngine

    with (
        closing(SparkEngine(spec, path, token, silent, None)) as engine,
        closing(in_memory()) as con,
    ):
        places = range(len(engine.columns))
        head = engine.answer(first_of(engine, places, PREVIEW_ROWS, filled=False), token)
        con.register("head", head)
        kinds = [str(row[1]) for row in con.execute("DESCRIBE SELECT * FROM head").fetchall()]
        listed = (engine.text_sql(f"c{j}", kind) for j, kind in enumerate(kinds))
        rows = con.execute(f"SELECT {', '.join(listed)} FROM head").fetchall()
    reading = Reading(format_of(spec, path), encoding="utf-8", missing=spec.missing)
    return SourcePreview(reading, engine.columns, tuple(rows))
