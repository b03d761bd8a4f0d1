"""The structure message (SDMX-ML 3.0) that belongs to the SDMX-CSV of a cube.

One document with code lists, concepts, the data structure definition and the data flow that
``STRUCTURE_ID`` names. Nothing in it depends on data: categories are those of the plan's domain.

Source: SDMX-ML 3.0 schemas (``SDMXMessage.xsd``, ``SDMXStructure*.xsd``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from xml.etree import ElementTree as Xml

from dpdesk.core.labels import Kind, Variable
from dpdesk.io.sdmx.cubes import VERSION, Codes, SdmxCube, identifiers
from dpdesk.io.sdmx.identifiers import TOTAL, code_id
from dpdesk.io.xmltext import document_bytes, visible

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
