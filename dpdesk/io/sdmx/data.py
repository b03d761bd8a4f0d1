"""SDMX-CSV 2.0 (SDMX 3.0): all tables of a release as observations of one data flow.

A table lacks dimensions that others have; there it holds the total, code ``_T``. Each row has the
standard error of its noise in ``STD_ERROR``, and ``OBS_STATUS`` ``E`` (estimated) where there is
noise or ``A`` (normal) where there is none. A suppressed cell of a protected table has no value and
``Q``, a rounded one ``E``; ``CONF_STATUS`` is its status as it was published.

Source: SDMX Technical Working Group, SDMX-CSV Data Message, version 2.0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.cuboid import CuboidTable
from dpdesk.core.jobs import CancelToken
from dpdesk.core.tabulation import CellTable
from dpdesk.io.cuboid_files import number_texts, text_bytes
from dpdesk.io.recode import csv_field
from dpdesk.io.sdmx.cubes import (
    ESTIMATED,
    NORMAL,
    WITHHELD,
    CubeTable,
    SdmxCube,
    codes,
    identifiers,
)
from dpdesk.io.sdmx.identifiers import TOTAL, code_id

_PIECE = 1 << 17
_INFORMATION, _FREE = "I", "F"


def header_of(cube: SdmxCube) -> list[str]:
    """Names of the columns."""
    dimensions = [*identifiers(cube).values(), *([cube.apart] if cube.several else [])]
    values = ["OBS_VALUE", *cube.attributes]
    return ["STRUCTURE", "STRUCTURE_ID", "ACTION", *dimensions, *values]


def write_sdmx_csv(
    cube: SdmxCube,
    tables: Mapping[str, CuboidTable],
    path: Path,
    token: CancelToken,
    done: Callable[[int], None],
) -> None:
    """Write one new file with all ``tables``, by file as the manifest names them.

    ``done`` is told the number of rows. Raises OSError, Cancelled.
    """
    rows = 0
    with path.open("xb") as file:
        file.write((",".join(header_of(cube)) + "\n").encode("ascii"))
        for table in cube.tables:
            for count, lines in _lines(cube, table, tables[table.file], token):
                file.write(lines)
                rows += count
                done(rows)


def write_sdmx_cells(
    cube: SdmxCube, tables: Sequence[CellTable], path: Path, *, rounded: bool, token: CancelToken
) -> None:
    """Write one new file with all protected ``tables``. Raises OSError, Cancelled."""
    head = f"dataflow,{csv_field(cube.reference)},{_INFORMATION}"
    shown = ESTIMATED if rounded else NORMAL
    with path.open("xb") as file:
        file.write((",".join(header_of(cube)) + "\n").encode("ascii"))
        for table in tables:
            token.check()
            own = {axis.name: place for place, axis in enumerate(table.axes)}
            coded = [[*map(code_id, axis.labels[:-1]), TOTAL] for axis in table.axes]
            tail = [code_id(table.name)] if cube.several else []
            places = product(*coded)
            lines = []
            for place, value, status in zip(places, table.values, table.status, strict=True):
                at = [place[own[n]] if n in own else TOTAL for n in cube.domain.dimensions]
                said = [value, shown if value else WITHHELD, status]
                lines.append(",".join([head, *at, *tail, *said]))
            file.write("".join(f"{line}\n" for line in lines).encode("ascii"))


def _lines(
    cube: SdmxCube, table: CubeTable, found: CuboidTable, token: CancelToken
) -> Iterator[tuple[int, memoryview]]:
    """The rows of a table in pieces: their number and text."""
    import pyarrow as pa
    import pyarrow.compute as pc

    values = found.values.reshape(-1)
    coded = {name: pa.array(codes(cube, name)) for name in table.dimensions}
    head = f"dataflow,{csv_field(cube.reference)},{_INFORMATION}"
    tail = [pa.scalar(code_id(table.measure))] if cube.several else []
    exact = _exact_places(table, found)
    for start in range(0, len(values), _PIECE):
        token.check()
        piece = values[start : start + _PIECE]
        places = found.domain.codes(start, len(piece))
        by_name = dict(zip(found.domain.dimensions, places, strict=True))
        columns = [pa.scalar(head)]
        for name in cube.domain.dimensions:
            one = by_name.get(name)
            columns.append(pa.scalar(TOTAL) if one is None else coded[name].take(pa.array(one)))
        status, error = _errors(table, exact, start, len(piece))
        columns += [*tail, number_texts(piece), status, pa.scalar(_FREE), error]
        lines = pc.binary_join_element_wise(*columns, ",")
        yield len(piece), text_bytes(pc.binary_join_element_wise(lines, pa.scalar(""), "\n"))


def _exact_places(table: CubeTable, found: CuboidTable) -> NDArray[np.int64]:
    """Places of the cells without noise in a table that has noise elsewhere."""
    domain = found.domain
    places = []
    for cell in table.exact_cells:
        index = tuple(
            categories.index(text) for categories, text in zip(domain.categories, cell, strict=True)
        )
        places.append(int(np.ravel_multi_index(index, domain.shape)))
    return np.array(sorted(places), dtype=np.int64)


def _errors(table: CubeTable, exact: NDArray[np.int64], start: int, count: int) -> tuple[Any, Any]:
    """Status and standard error of ``count`` cells from ``start`` on."""
    import pyarrow as pa

    noisy = "" if table.error is None else number_texts(np.array([table.error]))[0].as_py()
    status = pa.array([ESTIMATED, NORMAL])
    error = pa.array([noisy, "0"])
    free = np.full(count, int(table.exact), dtype=np.int32)
    inside = exact[(exact >= start) & (exact < start + count)] - start
    free[inside] = 1
    return status.take(pa.array(free)), error.take(pa.array(free))
