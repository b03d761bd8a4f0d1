"""What SDMX is told of a released cube: its dimensions, tables and errors, from the manifest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dpdesk.core.cuboid import Domain
from dpdesk.core.labels import NO_BOOK, Codebook
from dpdesk.core.manifest import Manifest
from dpdesk.core.shapes import as_list, as_table
from dpdesk.io.sdmx.identifiers import code_id, dimension_id

AGENCY = "DPDESK"
"""Who maintains the structure where nobody says; an agency writes its own identifier there."""

VERSION = "1.0.0"
MEASURE = "MEASURE"
"""The dimension that tells several measures of one release apart."""


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
