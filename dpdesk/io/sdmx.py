"""The structure message (SDMX-ML 3.0) that belongs to the SDMX-CSV of a cube.

One document with code lists, concepts, the data structure definition and the data flow that
``STRUCTURE_ID`` names. Nothing in it depends on data: categories are those of the plan's domain.

Source: SDMX-ML 3.0 schemas (``SDMXMessage.xsd``, ``SDMXStructure*.xsd``).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as Xml

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.cuboid import CuboidTable, Domain
from dpdesk.core.jobs import CancelToken
from dpdesk.core.labels import NO_BOOK, Codebook, Kind, Variable
from dpdesk.core.release import Manifest
from dpdesk.core.shapes import as_list, as_table
from dpdesk.core.tabulation import CellAxis, CellTable
from dpdesk.io.cuboid_files import number_texts, text_bytes
from dpdesk.io.recode import csv_field
from dpdesk.io.xmltext import document_bytes, visible

# Identifiers of SDMX for names and categories that may be any text, and back.
#
# SDMX allows letters, digits, ``_``, ``-`` (and ``@``, ``$`` in codes) alone; the identifier of a
# dimension begins with a letter (SDMX 3.0, ``SDMXCommon.xsd``: IDType and NCNameIDType). Any other
# character is written ``_xHHHH_``, its code point in hexadecimal digits, as ISO 9075-14 writes
# names of SQL in XML; so nothing has to be looked up, and no two texts meet.


TOTAL, UNKNOWN = "_T", "_U"
"""Codes of the SDMX guidelines: the total over a dimension, and "unknown" for an empty text."""

RESERVED = frozenset(
    (
        "STRUCTURE",
        "STRUCTURE_ID",
        "STRUCTURE_NAME",
        "ACTION",
        "SERIES_KEY",
        "OBS_KEY",
        "MEASURE",
        "TABLE",
        "OBS_VALUE",
        "OBS_STATUS",
        "CONF_STATUS",
        "STD_ERROR",
        "TIME_PERIOD",
    )
)
"""Names of columns that no dimension may have."""

_ESCAPED = re.compile(r"_x([0-9A-F]{4,6})_")
_IN_CODE = re.compile(r"[A-Za-z0-9@$\-]", re.ASCII)
_IN_NAME = re.compile(r"[A-Za-z0-9\-]", re.ASCII)
_PREFIX = "D_"


def code_id(category: str) -> str:
    """The code of a category; :func:`category_of` gives it back.

    No code of a category begins with ``_`` and a letter, but for escapes, so ``_T`` and ``_U``
    stay free.
    """
    if not category:
        return UNKNOWN
    return _escaped(category, _IN_CODE, first=True)


def category_of(code: str) -> str:
    """The category of a code; the empty text of ``_U``."""
    return "" if code == UNKNOWN else _plain(code)


def dimension_id(name: str) -> str:
    """The identifier of a dimension; :func:`dimension_of` gives its name back."""
    escaped = _escaped(name, _IN_NAME, first=False)
    if (
        not escaped
        or not escaped[0].isalpha()
        or escaped in RESERVED
        or escaped.startswith(_PREFIX)
    ):
        return _PREFIX + escaped
    return escaped


def dimension_of(identifier: str) -> str:
    """The name of the dimension with an identifier."""
    return _plain(identifier.removeprefix(_PREFIX))


def _escaped(text: str, allowed: re.Pattern[str], *, first: bool) -> str:
    found = []
    for place, character in enumerate(text):
        if character == "_":
            meant = not text.startswith("_x", place) and not (first and place == 0)
        else:
            meant = allowed.fullmatch(character) is not None
        found.append(character if meant else f"_x{ord(character):04X}_")
    return "".join(found)


def _plain(text: str) -> str:
    return _ESCAPED.sub(lambda match: chr(int(match[1], 16)), text)


# What SDMX is told of released tables: their dimensions, errors and marks, from the manifest.


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
_FREE_NAMES: Codes = (("F", "Free (free for publication)"),)
_CONFIDENTIAL: Codes = (
    *_FREE_NAMES,
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
    confidentiality: Codes = _FREE_NAMES
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


# SDMX-CSV 2.0 (SDMX 3.0): all tables of a release as observations of one data flow.
#
# A table lacks dimensions that others have; there it holds the total, code ``_T``. Each row has the
# standard error of its noise in ``STD_ERROR``, and ``OBS_STATUS`` ``E`` (estimated) where there is
# noise or ``A`` (normal) where there is none. A suppressed cell of a protected table has no value
# and ``Q``, a rounded one ``E``; ``CONF_STATUS`` is its status as it was published.
#
# Source: SDMX Technical Working Group, SDMX-CSV Data Message, version 2.0.


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


_BASE = "http://www.sdmx.org/resources/sdmxml/schemas/v3_0/"
_MES, _STR, _COM = (f"{{{_BASE}{part}}}" for part in ("message", "structure", "common"))
_PREFIXES = {"mes": f"{_BASE}message", "str": f"{_BASE}structure", "com": f"{_BASE}common"}
_CONCEPTS = "CONCEPTS"


def structure_message(cube: SdmxCube) -> bytes:
    """The document, in UTF-8."""
    root = Xml.Element(f"{_MES}Structure")
    header = _put(root, f"{_MES}Header")
    _put(header, f"{_MES}ID", cube.id)
    _put(header, f"{_MES}Test", "false")
    _put(header, f"{_MES}Prepared", f"{cube.created}T00:00:00")
    _put(header, f"{_MES}Sender", id=cube.agency)
    structures = _put(root, f"{_MES}Structures")
    lists = _put(structures, f"{_STR}Codelists")
    for name, title, codes in _code_lists(cube):
        _code_list(lists, cube, name, title, codes)
    _nest(lists, cube)
    _annotate_missing(lists, cube)
    _concepts(_put(structures, f"{_STR}ConceptSchemes"), cube)
    _flow(_put(structures, f"{_STR}Dataflows"), cube)
    _definition(_put(structures, f"{_STR}DataStructures"), cube)
    return document_bytes(root, _PREFIXES)


def _put(parent: Xml.Element, tag: str, text: str = "", **attributes: str) -> Xml.Element:
    found = Xml.SubElement(parent, tag, attributes)
    if text:
        found.text = visible(text)
    return found


def _named(parent: Xml.Element, tag: str, cube: SdmxCube, name: str, title: str) -> Xml.Element:
    found = _put(parent, tag, id=name, agencyID=cube.agency, version=VERSION)
    _put(found, f"{_COM}Name", title)
    return found


def _annotate(parent: Xml.Element, kind: str, text: str) -> None:
    """Say something that SDMX has no element for; annotations stand before everything else."""
    found = parent.find(f"{_COM}Annotations")
    if found is None:
        found = Xml.Element(f"{_COM}Annotations")
        parent.insert(0, found)
    one = _put(found, f"{_COM}Annotation")
    _put(one, f"{_COM}AnnotationType", kind)
    _put(one, f"{_COM}AnnotationText", text)


def _nest(lists: Xml.Element, cube: SdmxCube) -> None:
    """Name the group above each code of a hierarchy."""
    for listed, (name, _) in zip(lists, _domain(cube), strict=False):
        above: Mapping[str, str] = cube.parents.get(name, {})
        groups = {code_id(c): code_id(group) for c, group in above.items() if group}
        for code in listed.iter(f"{_STR}Code"):
            if code.get("id") in groups:
                _put(code, f"{_STR}Parent", groups[str(code.get("id"))])


def _annotate_missing(lists: Xml.Element, cube: SdmxCube) -> None:
    """Mark the codes of categories that are declared missing."""
    for listed, (name, categories) in zip(lists, _domain(cube), strict=False):
        missing = {code_id(text) for text in categories if cube.book.missing(name).holds(text)}
        for code in listed.iter(f"{_STR}Code"):
            if code.get("id") in missing:
                _annotate(code, "USER_MISSING", "Declared missing")


def _domain(cube: SdmxCube) -> Iterator[tuple[str, tuple[str, ...]]]:
    yield from zip(cube.domain.dimensions, cube.domain.categories, strict=True)


def _code_lists(cube: SdmxCube) -> Iterator[tuple[str, str, Codes]]:
    """Identifier, name and codes of every list."""
    for place, (name, identifier) in enumerate(identifiers(cube).items()):
        variable = cube.book.get(name)
        shown = {} if variable is None else variable.value_labels
        codes = [(code_id(c), shown.get(c, c) or "empty") for c in cube.domain.categories[place]]
        yield f"CL_{identifier}", f"Categories of {name}", [(TOTAL, "Total"), *codes]
    if cube.several:
        measures = [(code_id(measure), measure) for measure in cube.measures]
        yield f"CL_{cube.apart}", _apart_name(cube), measures
    yield "CL_OBS_STATUS", _status_name(cube), cube.statuses
    yield "CL_CONF_STATUS", "Confidentiality status", cube.confidentiality


def _apart_name(cube: SdmxCube) -> str:
    return "What was measured" if cube.noisy else "Table"


def _status_name(cube: SdmxCube) -> str:
    return "Whether noise was added" if cube.noisy else "What was done to the value"


def _code_list(
    parent: Xml.Element, cube: SdmxCube, name: str, title: str, codes: Codes
) -> None:  # fmt: skip
    found = _named(parent, f"{_STR}Codelist", cube, name, title)
    for identifier, text in codes:
        code = _put(found, f"{_STR}Code", id=identifier)
        _put(code, f"{_COM}Name", text)


def _component_names(cube: SdmxCube) -> Iterator[tuple[str, str]]:
    """Identifier and name of each concept."""
    for name, identifier in identifiers(cube).items():
        variable = cube.book.get(name)
        yield identifier, (variable.label if variable is not None else "") or name
    if cube.several:
        yield cube.apart, _apart_name(cube)
    yield "OBS_VALUE", "Value" if cube.several else cube.measures[0]
    yield "OBS_STATUS", _status_name(cube)
    yield "CONF_STATUS", "Confidentiality status"
    if cube.noisy:
        yield "STD_ERROR", f"Standard error of the noise in the value{cube.before}"


def _concepts(parent: Xml.Element, cube: SdmxCube) -> None:
    scheme = _named(parent, f"{_STR}ConceptScheme", cube, _CONCEPTS, "Concepts of the tables")
    for identifier, name in _component_names(cube):
        concept = _put(scheme, f"{_STR}Concept", id=identifier)
        _put(concept, f"{_COM}Name", name)
    for concept, (name, _) in zip(scheme.iter(f"{_STR}Concept"), _domain(cube), strict=False):
        variable = cube.book.get(name) or Variable(name)
        kind = "" if variable.kind is Kind.TEXT else variable.kind.value
        extras = {"MEASUREMENT_LEVEL": variable.measure, "DISPLAY_FORMAT": variable.format}
        for extra, text in ({"TYPE": kind} | extras).items():
            if text:
                _annotate(concept, extra, text)


def _definition(parent: Xml.Element, cube: SdmxCube) -> None:
    found = _named(parent, f"{_STR}DataStructure", cube, cube.id, cube.title)
    components = _put(found, f"{_STR}DataStructureComponents")
    dimensions = _put(components, f"{_STR}DimensionList", id="DimensionDescriptor")
    names = [*identifiers(cube).values(), *([cube.apart] if cube.several else [])]
    for position, identifier in enumerate(names, 1):
        one = _put(dimensions, f"{_STR}Dimension", id=identifier, position=str(position))
        _represented(one, cube, identifier, coded=True)
    attributes = _put(components, f"{_STR}AttributeList", id="AttributeDescriptor")
    for identifier in cube.attributes:
        one = _put(attributes, f"{_STR}Attribute", id=identifier, usage="optional")
        _represented(one, cube, identifier, coded=identifier != "STD_ERROR")
        _put(_put(one, f"{_STR}AttributeRelationship"), f"{_STR}Observation")
    measures = _put(components, f"{_STR}MeasureList", id="MeasureDescriptor")
    _represented(
        _put(measures, f"{_STR}Measure", id="OBS_VALUE"), cube, "OBS_VALUE", coded=False
    )  # fmt: skip


def _represented(one: Xml.Element, cube: SdmxCube, identifier: str, *, coded: bool) -> None:
    """The concept of a component and what its values are: codes of its list, or a number."""
    scheme = f"{cube.agency}:{_CONCEPTS}({VERSION}).{identifier}"
    package = "urn:sdmx:org.sdmx.infomodel.conceptscheme.Concept"
    _put(one, f"{_STR}ConceptIdentity", f"{package}={scheme}")
    local = _put(one, f"{_STR}LocalRepresentation")
    if coded:
        listed = f"{cube.agency}:CL_{identifier}({VERSION})"
        urn = f"urn:sdmx:org.sdmx.infomodel.codelist.Codelist={listed}"
        _put(local, f"{_STR}Enumeration", urn)
    else:
        _put(local, f"{_STR}TextFormat", textType="Double")


def _flow(parent: Xml.Element, cube: SdmxCube) -> None:
    found = _named(parent, f"{_STR}Dataflow", cube, cube.id, cube.title)
    _put(found, f"{_COM}Description", cube.claim)
    package = "urn:sdmx:org.sdmx.infomodel.datastructure.DataStructure"
    _put(found, f"{_STR}Structure", f"{package}={cube.reference}")
