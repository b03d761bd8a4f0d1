"""The codebook of published microdata: every variable with labels, missing codes and counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from xml.etree import ElementTree as Xml

from dpdesk.core.labels import Kind, Variable
from dpdesk.core.release import Manifest
from dpdesk.core.shapes import as_list
from dpdesk.io.ddi.columns import Category, ColumnContent
from dpdesk.io.ddi.document import (
    FileContent,
    codebook_bytes,
    nature,
    new_codebook,
    put,
    put_about,
    put_file,
    put_invalid,
)
from dpdesk.io.formats.moments import shows

_FILE = "F1"
_PROGRAMS = (("sav", "SPSS"), ("xpt", "SAS"))
_DATES = {Kind.DATE: "date", Kind.DATETIME: "date", Kind.TIME: "time"}


def microdata_codebook(
    manifest: Manifest, method: str, file: FileContent, columns: Sequence[ColumnContent]
) -> bytes:
    """The document; ``method`` is the method's name for people."""
    root = new_codebook(manifest, method, "Microdata, protected against disclosure")
    put_file(root, _FILE, file)
    described = put(root, "dataDscr")
    for number, column in enumerate(columns, 1):
        _variable(described, number, column, _treatment(column.variable.name, manifest))
    put_about(root)
    return codebook_bytes(root)


def _treatment(name: str, manifest: Manifest) -> str:
    """What was done to a column, in one sentence; empty for one that is released as it is."""
    stated = manifest.guarantee.parameters
    if name in as_list(stated.get("diverted", [])):
        return (
            "Values were drawn at random. For someone who knows only how often each occurs, each "
            f"is true with a chance of 1 in {stated['l']}; other columns may tell more."
        )
    if name in as_list(stated.get("drawn", [])):
        return (
            "Each value was kept or replaced at random, with known chances; counts are estimated "
            "from them, see the manifest."
        )
    if name == "group" and "separated" in stated:
        return "Number of a group, drawn at random; the values of each group stand apart."
    if name not in as_list(stated.get("quasi_identifiers", [])):
        return ""
    levels = manifest.result.get("node")
    if not isinstance(levels, Mapping) or name not in levels:
        return "Values are generalised or left out where the protection needed it."
    if levels[name] == 0:
        return "Values are not generalised."
    return f"Values are generalised: each is that of level {levels[name]} of the hierarchy."


def _variable(
    parent: Xml.Element, number: int, column: ColumnContent, treatment: str
) -> None:  # fmt: skip
    variable = column.variable
    continuous = column.numeric and not variable.value_labels and variable.measure in ("", "scale")
    attributes = {"intrvl": "contin" if continuous else "discrete"}
    attributes |= nature(variable)
    found = put(parent, "var", ID=f"V{number}", name=variable.name, files=_FILE, **attributes)
    put(found, "location", StartPos=str(number), fileid=_FILE)
    if variable.label:
        put(found, "labl", variable.label)
    put_invalid(found, variable.missing)
    put(found, "sumStat", str(column.valid), type="vald")
    put(found, "sumStat", str(column.invalid), type="invd")
    if column.user_missing:
        text = f"Of the invalid cases {column.user_missing} have a code declared missing."
        put(found, "txt", text)
    if treatment:
        put(found, "txt", treatment)
    for category in column.categories:
        _category(found, category)
    put(found, "varFormat", type="numeric" if column.numeric else "character", **_format(variable))


def _format(variable: Variable) -> dict[str, str]:
    """Attributes of the format of a column: dates, and the format's name in its program."""
    found = {"category": _DATES[variable.kind]} if variable.kind in _DATES else {}
    if variable.format:
        known = (word for form, word in _PROGRAMS if shows(form, variable.format, variable.kind))
        found |= {"formatname": variable.format, "schema": next(known, "other")}
    return found


def _category(parent: Xml.Element, category: Category) -> None:
    found = put(parent, "catgry", **({"missing": "Y"} if category.missing else {}))
    put(found, "catValu", category.value)
    if category.label:
        put(found, "labl", category.label)
    put(found, "catStat", str(category.rows), type="freq")
