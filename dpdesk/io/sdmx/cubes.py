"""What SDMX is told of released tables: their dimensions, errors and marks, from the manifest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from dpdesk.core.cuboid import Domain
from dpdesk.core.labels import NO_BOOK, Codebook
from dpdesk.core.release import Manifest
from dpdesk.core.shapes import as_list, as_table
from dpdesk.core.tabulation import CellAxis
from dpdesk.io.sdmx.identifiers import code_id, dimension_id

AGENCY = "DPDESK"
"""Who maintains the structure where nobody says; an agency writes its own identifier there."""

VERSION = "1.0.0"
MEASURE, TABLE = "MEASURE", "TABLE"
"""The dimension that tells several measures of one release apart; several protected tables."""

Codes = Sequence[tuple[str, str]]
"""Codes of a list with their names."""
NORMAL, ESTIMATED, WITHHELD = "A", "E", "Q"
_NOISE: Codes = ((NORMAL, "Normal value: no noise was added"), (ESTIMATED, "Noise was added"))
_OF_CELLS: Codes = (
    (NORMAL, "Normal value"),
    (ESTIMATED, "The value is rounded"),
    (WITHHELD, "Missing value: suppressed"),
)
_FREE: Codes = (("F", "Free (free for publication)"),)
_CONFIDENTIAL: Codes = (
    *_FREE,
    ("N", "Not for publication"),
    ("C", "Confidential: unsafe by the rules of the agency"),
    ("D", "Secondary confidentiality: not for publication, to protect other cells"),
)


@dataclass(frozen=True)
class CubeTable:
    """One table of a release: ``error`` is the standard error of a cell, None where it varies.

    ``exact_cells`` are cells without noise, by their categories; ``exact`` says that all are.
    """

    dimensions: tuple[str, ...]
    file: str
    measure: str
    error: float | None
    exact: bool
    exact_cells: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class SdmxCube:
    """A released cube for SDMX; ``measures`` has several names where there are several.

    ``book`` holds the labels of dimensions and categories. ``before`` says, to end a sentence, for
    which numbers stated errors hold where values were changed afterwards; else it is empty.
    """

    id: str
    agency: str
    title: str
    created: str
    claim: str
    domain: Domain
    measures: tuple[str, ...]
    tables: tuple[CubeTable, ...]
    before: str
    book: Codebook
    apart: str = MEASURE
    """The dimension that tells ``measures`` apart: of protected tables, these are their names."""
    noisy: bool = True
    statuses: Codes = _NOISE
    confidentiality: Codes = _FREE
    parents: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """The group above each category, by dimension, where there is one."""

    @property
    def attributes(self) -> tuple[str, ...]:
        """What stands next to each value."""
        return ("OBS_STATUS", "CONF_STATUS", *(("STD_ERROR",) if self.noisy else ()))

    @property
    def several(self) -> bool:
        """Whether the dimension of measures is needed."""
        return len(self.measures) > 1

    @property
    def reference(self) -> str:
        """The data flow, as SDMX-CSV names it."""
        return f"{self.agency}:{self.id}({VERSION})"


def sdmx_cube(manifest: Manifest, book: Codebook = NO_BOOK, agency: str = AGENCY) -> SdmxCube:
    """Read a manifest whose release was verified. TypeError, KeyError, ValueError for others."""
    result, parameters = manifest.result, manifest.parameters
    domain = Domain.from_json(result["domains"])
    alone = _measure_text(parameters.get("measure", "count"))
    tables = tuple(_table(as_table(entry), alone) for entry in as_list(result["cuboids"]))
    return SdmxCube(
        id="CUBE_" + manifest.commitment[:12].upper(),
        agency=agency,
        title=manifest.title or "Tables",
        created=manifest.created,
        claim=manifest.guarantee.claim,
        domain=domain,
        measures=tuple(dict.fromkeys(table.measure for table in tables)),
        tables=tables,
        before=_before(parameters),
        book=book,
    )


def sdmx_tables(manifest: Manifest, agency: str = AGENCY) -> SdmxCube:
    """Protected tables for SDMX; their totals have the code ``_T``.

    TypeError, KeyError or ValueError for a manifest that holds none.
    """
    entries = [as_table(each) for each in as_list(manifest.result["tables"])]
    axes = [CellAxis.from_json(as_table(d)) for e in entries for d in as_list(e["dimensions"])]
    labels: dict[str, dict[str, None]] = {}
    above: dict[str, dict[str, set[str]]] = {}
    for axis in axes:
        for node, label in enumerate(axis.labels[:-1]):
            labels.setdefault(axis.name, {})[label] = None
            group = axis.parents[node]
            name = "" if group == len(axis.labels) - 1 else axis.labels[group]
            above.setdefault(axis.name, {}).setdefault(label, set()).add(name)
    for axis in axes:
        labels.setdefault(axis.name, {})
    names = tuple(str(entry["name"]) for entry in entries)
    return SdmxCube(
        id="TABLE_" + manifest.commitment[:12].upper(),
        agency=agency,
        title=manifest.title or "Tables",
        created=manifest.created,
        claim=manifest.guarantee.claim,
        domain=Domain(tuple(labels), tuple(map(tuple, labels.values()))),
        measures=names if len(names) > 1 else (str(entries[0]["measure"]),),
        tables=(),
        before="",
        book=NO_BOOK,
        apart=TABLE,
        noisy=False,
        statuses=_OF_CELLS,
        confidentiality=_CONFIDENTIAL,
        parents={
            name: {label: next(iter(one)) for label, one in groups.items() if len(one) == 1}
            for name, groups in above.items()
        },
    )


def _before(parameters: Mapping[str, Any]) -> str:
    """For which numbers the errors of a manifest hold, where these are not those released."""
    found = []
    if parameters.get("consistency") in ("l1", "linf"):
        found.append("as if tables had been made to agree by least squares")
    if parameters.get("nonnegative") is True:
        found.append("before negative values were removed")
    if parameters.get("integral") is True:
        found.append("before values were made whole numbers")
    return "".join(f", {each}" for each in found)


def _table(entry: Mapping[str, Any], alone: str) -> CubeTable:
    measure = str(entry.get("measure", alone))
    exact = bool(entry.get("exact", False))
    error = 0.0 if exact else float(entry["variance"]) ** 0.5
    varies = measure.startswith("average") and not exact
    return CubeTable(
        tuple(entry["dimensions"]),
        str(entry["file"]),
        measure,
        None if varies else error,
        exact,
        tuple(tuple(cell) for cell in entry.get("exact_cells", ())),
    )


def _measure_text(plain: object) -> str:
    """The one measure of the parameters, as tables of several measures call it."""
    if isinstance(plain, list | tuple) and len(plain) == 1:
        return _measure_text(plain[0])
    if isinstance(plain, Mapping):
        kind = next(key for key in ("sum", "average", "count") if key in plain)
        return f"{kind} of {plain[kind]}"
    return str(plain)


def identifiers(cube: SdmxCube) -> dict[str, str]:
    """Identifier of each dimension by its name."""
    return {name: dimension_id(name) for name in cube.domain.dimensions}


def codes(cube: SdmxCube, dimension: str) -> tuple[str, ...]:
    """Codes of the categories of a dimension, in order of the domain."""
    place = cube.domain.dimensions.index(dimension)
    return tuple(code_id(category) for category in cube.domain.categories[place])
