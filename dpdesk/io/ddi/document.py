"""The parts of a codebook that all releases share: study, method, guarantee, files.

Element order and attributes are those of DDI Codebook 2.5 (``codebook.xsd`` of the DDI Alliance,
2012-01-17). Everything comes from the manifest and the published files; nothing internal is read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Any
from xml.etree import ElementTree as Xml

from dpdesk.core.labels import UserMissing, Variable
from dpdesk.core.messages import msg
from dpdesk.core.release import Manifest
from dpdesk.io.formats.numbers import number_text
from dpdesk.io.xmltext import document_bytes, visible

NAMESPACE = "ddi:codebook:2_5"
_PLACE = "http://www.ddialliance.org/Specification/DDI-Codebook/2.5/XMLSchema/codebook.xsd"
_XSI = "http://www.w3.org/2001/XMLSchema-instance"
_XML = "http://www.w3.org/XML/1998/namespace"
_NATURES = {"nominal": "nominal", "ordinal": "ordinal", "scale": "interval"}


@dataclass(frozen=True)
class FileContent:
    """A data file: its path in the public part, cases and variables, hash by the manifest."""

    path: str
    cases: int
    variables: int
    sha256: str


def put(parent: Xml.Element, tag: str, text: str = "", **attributes: str) -> Xml.Element:
    """A new child element in the namespace of the codebook."""
    shown = {key: visible(value) for key, value in attributes.items()}
    found = Xml.SubElement(parent, f"{{{NAMESPACE}}}{tag}", shown)
    if text:
        found.text = visible(text)
    return found


def new_codebook(manifest: Manifest, method: str, kind: str) -> Xml.Element:
    """A codebook of document and study; ``method`` and ``kind`` are words for people."""
    root = Xml.Element(f"{{{NAMESPACE}}}codeBook", {"version": "2.5"})
    root.set(f"{{{_XSI}}}schemaLocation", f"{NAMESPACE} {_PLACE}")
    root.set(f"{{{_XML}}}lang", "en")
    title = manifest.title or f"Release by {method}"
    _citation(put(root, "docDscr"), manifest, f"Codebook: {title}")
    study = put(root, "stdyDscr")
    _citation(study, manifest, title)
    about = put(study, "stdyInfo")
    put(about, "abstract", manifest.guarantee.claim)
    put(put(about, "sumDscr"), "dataKind", kind)
    _method(put(study, "method"), manifest, method)
    return root


def _citation(parent: Xml.Element, manifest: Manifest, title: str) -> None:
    citation = put(parent, "citation")
    names = put(citation, "titlStmt")
    put(names, "titl", title)
    put(names, "IDNo", manifest.commitment)
    made = put(citation, "prodStmt")
    day = manifest.created
    put(made, "prodDate", day, date=day)
    put(made, "software", "DPDesk", version=manifest.dpdesk)


def _method(parent: Xml.Element, manifest: Manifest, method: str) -> None:
    """The anonymisation: guarantee with assumptions and limits, method, settings, result."""
    guarantee = manifest.guarantee
    put(parent, "notes", guarantee.claim, type="guarantee")
    for sentence in guarantee.assumes:
        put(parent, "notes", sentence, type="assumption")
    for sentence in guarantee.does_not_cover:
        put(parent, "notes", sentence, type="limit")
    put(parent, "dataProcessing", f"The data were protected by {method}.", type="anonymisation")
    for name, value in (*settings(manifest.parameters), *_outcome(manifest.result)):
        put(
            parent,
            "dataProcessing",
            msg("{file}: {note}", file=name, note=value),
            type="anonymisation setting",
        )


def settings(parameters: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The public settings as names and texts; domains stand with their variables."""
    for name, value in parameters.items():
        if name != "domains":
            yield name, plain_text(value)


def _outcome(result: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    names = ("rows_out", "rows_suppressed", "rows_removed", "classes", "smallest_class")
    for name in names:
        if name in result:
            yield name, plain_text(result[name])


def plain_text(value: object) -> str:
    """A setting in words: lists with commas, tables as ``name = value``."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        return "; ".join(f"{key} = {plain_text(one)}" for key, one in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(plain_text(one) for one in value)
    return str(value)


def put_file(root: Xml.Element, identifier: str, content: FileContent) -> None:
    """Describe a data file."""
    described = put(root, "fileDscr", ID=identifier, URI=content.path)
    text = put(described, "fileTxt")
    put(text, "fileName", content.path)
    size = put(text, "dimensns")
    put(size, "caseQnty", str(content.cases))
    put(size, "varQnty", str(content.variables))
    put(text, "fileType", "text/csv", charset="UTF-8")
    put(text, "format", "comma-delimited, with a header")
    put(described, "notes", content.sha256, type="SHA-256")


def nature(variable: Variable) -> dict[str, str]:
    """The attribute that tells the measurement level of a column, where it is known."""
    found = _NATURES.get(variable.measure)
    return {"nature": found} if found else {}


def put_invalid(parent: Xml.Element, missing: UserMissing) -> None:
    """List the values of a column that are declared missing."""
    if not missing.declared:
        return
    found = put(parent, "invalrng")
    for value in missing.values:
        put(found, "item", VALUE=value)
    if missing.low is not None and missing.high is not None:
        ends = {"min": missing.low, "max": missing.high}
        put(found, "range", **{key: number_text(end) for key, end in ends.items() if isfinite(end)})


def put_about(root: Xml.Element) -> None:
    """Name the page for users of the data; the last part of a codebook."""
    page = put(root, "otherMat", level="study", URI="about.html")
    put(page, "labl", "What was done, how large the error is, how to use the data")


def codebook_bytes(root: Xml.Element) -> bytes:
    """The document in UTF-8."""
    return document_bytes(root, {"": NAMESPACE, "xsi": _XSI})
