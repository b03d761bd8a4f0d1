"""Protected tables in other formats: printed crosstabs, observations, files for τ-ARGUS."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from math import lcm
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from dpdesk.app.cells import both_tables
from dpdesk.core.errors import InputError
from dpdesk.core.jobs import CancelToken
from dpdesk.core.language import voice
from dpdesk.core.messages import msg
from dpdesk.core.plain import EMPTY, thaw
from dpdesk.core.shapes import as_list, as_table
from dpdesk.core.table_parameters import BY, COUNT, MEAN, RATIO
from dpdesk.core.tabulation import PRIMARY, SECONDARY, SUPPRESSED, WIDTH, CellTable, Crosstab
from dpdesk.io.formats.argus import JjCell, argus_files, jj_text
from dpdesk.io.release_folder import PUBLIC
from dpdesk.io.tablewriters import Printed

if TYPE_CHECKING:
    from dpdesk.core.release import Manifest, ReleaseFacts
    from dpdesk.engine.tables.model import System
    from dpdesk.io.sdmx import SdmxCube

MARKS = {SUPPRESSED: "c", PRIMARY: "c1", SECONDARY: "c2"}
"""What is printed instead of a suppressed value, by its published status."""


def printed_tables(facts: ReleaseFacts, token: CancelToken) -> list[Printed]:
    """The tables of a release as people print them, in the language that is spoken.

    Raises what :func:`~dpdesk.app.cells.both_tables` raises.
    """
    manifest = facts.manifest
    published, _ = both_tables(manifest, facts.public, None, token)
    found = []
    for table in published.values():
        marks = {code: mark for code, mark in MARKS.items() if code in table.status}
        shown = [
            value or MARKS[code] for value, code in zip(table.values, table.status, strict=True)
        ]
        heading = (manifest.title or voice().text("Tables"), measure_words(manifest, table.name))
        notes = [f"{mark}  {_meaning(code)}" for code, mark in marks.items()]
        layout, empty = crosstab(manifest, table), voice().text(EMPTY)
        notes += _notes(manifest)
        found.append(Printed(table.name, heading, layout, shown, notes, empty))
    return found


def _meaning(code: str) -> str:
    say = voice()
    return {
        SUPPRESSED: say.text(
            "Suppressed so that nothing can be inferred about a single contributor."
        ),
        PRIMARY: say.text("Suppressed: the value would reveal too much about one contributor."),
        SECONDARY: say.text("Suppressed so that other suppressed values cannot be computed."),
    }[code]


def _notes(manifest: Manifest) -> list[str]:
    plain = manifest.parameters
    protect = plain.get("protect")
    if not _changed(manifest):
        return []
    say = voice()
    if protect == "cell-key":
        most = str(plain.get("deviation"))
        found = [say.text("Every count is changed at random by at most {most}.", most=most)]
    elif protect == "adjust":
        return [say.text("Values are changed so that unsafe ones are not the true ones.")]
    else:
        base = str(plain.get("base"))
        found = [say.text("Every value is rounded to a multiple of {base}.", base=base)]
    if protect != "controlled-round":
        found.append(say.text("Totals may differ from the sums of their parts."))
    return found


def _changed(manifest: Manifest) -> bool:
    return manifest.parameters.get("protect", "suppress") not in ("suppress", "none")


def measure_words(manifest: Manifest, name: str) -> str:
    """What the cells of a table hold, in the language that is spoken."""
    measure, say = _measure(manifest, name), voice()
    if not isinstance(measure, Mapping):
        return say.text("Count")
    if RATIO in measure:
        above, below = (str(measure[key]) for key in (RATIO, BY))
        return say.text("{above} divided by {below}", above=above, below=below)
    kind = MEAN if MEAN in measure else "sum"
    column = str(measure[kind])
    words = (
        say.text("Mean of {column}", column=column)
        if kind == MEAN
        else say.text("Sum of {column}", column=column)
    )
    weight = measure.get("weight")
    if weight is None:
        return words
    return say.text("{words}, weighted by {weight}", words=words, weight=str(weight))


def _asked(manifest: Manifest, name: str) -> Mapping[str, object]:
    """What the plan says of a table."""
    plain = manifest.parameters
    asked = [as_table(each) for each in as_list(plain.get("tables") or [])]
    return next((each for each in asked if each.get("name") == name), plain)


def _measure(manifest: Manifest, name: str) -> object:
    return _asked(manifest, name).get("measure") or manifest.parameters.get("measure", COUNT)


def crosstab(manifest: Manifest, table: CellTable) -> Crosstab:
    """Which dimensions of a table are its rows and which its columns, as its plan says."""
    head = set(map(str, as_list(_asked(manifest, table.name).get("columns") or [])))
    return Crosstab.of(table.axes, head)


def write_observations(facts: ReleaseFacts, cube: SdmxCube, path: Path, token: CancelToken) -> None:
    """Write protected tables as SDMX-CSV to a new file. Raises OSError, Cancelled."""
    from dpdesk.io.sdmx import write_sdmx_cells

    manifest = facts.manifest
    published, _ = both_tables(manifest, facts.public, None, token)
    rounded = _changed(manifest)
    write_sdmx_cells(cube, list(published.values()), path, rounded=rounded, token=token)


def agency_files(
    facts: ReleaseFacts, file_format: str, out: Path, token: CancelToken
) -> dict[str, bytes]:
    """Files for τ-ARGUS by their names, the one that the format is called by, ``out``, first.

    They hold true values: only a whole release folder, whose tables of the agency were verified,
    has them.

    Raises InputError ``export.public`` for a place in a folder of that name, ``export.internal``
    without the internal part, ``export.argus`` for tables that these files cannot hold; what
    :func:`~dpdesk.app.cells.both_tables` raises.
    """
    if PUBLIC in out.absolute().parts:
        raise InputError(
            "export.public",
            msg("{out}: `{format}` holds true values.", out=out, format=file_format),
            hint="Choose a folder that is not called `public`.",
        )
    if facts.internal is None:
        raise InputError(
            "export.internal",
            msg(
                "{public}: `{format}` holds true values, which only the whole release folder has.",
                public=facts.public,
                format=file_format,
            ),
            hint="Export from the whole release folder in the agency.",
        )
    _, kept = both_tables(facts.manifest, facts.public, facts.internal, token)
    assert kept is not None
    stated = map(as_table, as_list(facts.manifest.result["tables"]))
    pairs = zip(kept.values(), stated, strict=True)
    tables = [table for table, each in pairs if each["measure"] != RATIO]  # they do not add up
    if file_format == "argus":
        return argus_files(tables, out.stem)
    return {out.name: _jj(facts, tables).encode("ascii")}


def _jj(facts: ReleaseFacts, tables: Sequence[CellTable]) -> str:
    """The cells and equations of linked tables; cells that cover the same values are one."""
    manifest = facts.manifest
    stated = [as_table(each) for each in as_list(manifest.result["tables"])]
    if any(each["measure"] == MEAN for each in stated):
        raise InputError(
            "export.argus",
            msg("{public}: means do not add up, and a JJ file holds sums.", public=facts.public),
            hint="Release the sums to export them.",
        )
    system, places = _system([measure_key(manifest, table.name) for table in tables], tables)
    inside = [(table.internal, cell) for table, cell in (places[v] for v in range(len(system)))]
    values = [Fraction(columns["value"][cell]) for columns, cell in inside]
    known = as_table(manifest.parameters.get("attacker") or {})
    low, high = (Fraction(str(known[k])) if k in known else None for k in ("lower", "upper"))
    beyond = 100 * max((abs(value) for value in values), default=Fraction(1))
    signed = min(values, default=Fraction(0)) < 0
    protection = facts.evidence.plan.get("protection")
    price = str(as_table(protection).get("cost", "value")) if protection else "value"
    cells = []
    empty = system.cells.frequency == 0
    for value, fixed, (columns, cell) in zip(values, empty, inside, strict=True):
        held = Fraction(columns["frequency"][cell] or 1)
        status = "z" if fixed else "u" if columns["status"][cell] == PRIMARY else "s"
        cells.append(
            JjCell(
                value,
                {"cells": Fraction(1), "frequency": held}.get(price, abs(value)),
                status,
                -beyond if signed else (low or Fraction(0)) * value,
                beyond if signed or high is None else high * value,
                Fraction(columns["lower_required"][cell]),
                Fraction(columns["upper_required"][cell]),
                Fraction(columns[WIDTH][cell] if WIDTH in columns else 0),
            )
        )
    rows, sums = system.matrix, []
    for start, end in pairwise(rows.indptr.tolist()):
        signs = (-rows.data[start:end]).tolist()
        sums.append(list(zip(rows.indices[start:end].tolist(), signs, strict=True)))
    return jj_text(cells, sums)


def measure_key(manifest: Manifest, name: str) -> str:
    """What a table of a release measures; only tables of one measure share cells."""
    return json.dumps(thaw(_measure(manifest, name)), sort_keys=True)


def _system(
    measures: Sequence[str], tables: Sequence[CellTable]
) -> tuple[System, dict[int, tuple[CellTable, int]]]:
    """The equations of tables of the agency, and one table and cell of each of their variables."""
    from dpdesk.engine.tables.model import Cells, Dimension, System, Table, exact

    texts = [text for table in tables for text in table.internal["value"]]
    scale = lcm(*(Fraction(text).denominator for text in texts))
    linked = []
    for table, measure in zip(tables, measures, strict=True):
        columns = table.internal
        counts = np.array([int(text) if text else -1 for text in columns["frequency"]])
        values = exact([int(Fraction(text) * scale) for text in columns["value"]])
        axes = [Dimension(a.name, a.labels, np.array(a.parents, np.int64)) for a in table.axes]
        cells = Cells(values, counts.astype(np.int64))
        linked.append(Table(table.name, tuple(axes), cells, measure=measure))
    system = System.of(linked, zeros_known=False)  # a sum has all of its cells, empty ones too
    places: dict[int, tuple[CellTable, int]] = {}
    for table, own in zip(tables, system.variables, strict=True):
        for cell, variable in enumerate(own.tolist()):
            places.setdefault(variable, (table, cell))
    return system, places
