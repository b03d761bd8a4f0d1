"""A reader of SDMX-CSV with its structure, written from the specifications alone."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from xml.etree import ElementTree as Xml

_BASE = "{http://www.sdmx.org/resources/sdmxml/schemas/v3_0/"
STRUCTURE, COMMON = f"{_BASE}structure}}", f"{_BASE}common}}"


@dataclass(frozen=True)
class Observation:
    """Categories by the names of their dimensions (those that are not totalled), and figures."""

    key: tuple[tuple[str, str], ...]
    measure: str
    value: float
    status: str
    error: float | None


def name_of(element: Xml.Element) -> str:
    """The name of an artefact."""
    found = element.find(f"{COMMON}Name")
    assert found is not None
    return found.text or ""


def read_observations(data: bytes, structure: bytes) -> list[Observation]:
    """All observations; AssertionError when data and structure do not fit each other."""
    root = Xml.fromstring(structure)
    lists = _lists(root)
    concepts = {one.attrib["id"]: name_of(one) for one in root.iter(f"{STRUCTURE}Concept")}
    flow = next(root.iter(f"{STRUCTURE}Dataflow")).attrib
    reference = f"{flow['agencyID']}:{flow['id']}({flow['version']})"
    dimensions = [one.attrib["id"] for one in root.iter(f"{STRUCTURE}Dimension")]
    found = []
    for row in csv.DictReader(io.StringIO(data.decode("utf-8"), newline=""), strict=True):
        assert (row["STRUCTURE"], row["STRUCTURE_ID"], row["ACTION"]) == (
            "dataflow",
            reference,
            "I",
        )
        assert row["CONF_STATUS"] in lists["CL_CONF_STATUS"]
        assert row["OBS_STATUS"] in lists["CL_OBS_STATUS"]
        named = {one: lists[f"CL_{one}"][row[one]] for one in dimensions}
        measure = named.pop("MEASURE", "")
        key = tuple((concepts[one], text) for one, text in named.items() if row[one] != "_T")
        error = float(row["STD_ERROR"]) if row["STD_ERROR"] else None
        found.append(Observation(key, measure, float(row["OBS_VALUE"]), row["OBS_STATUS"], error))
    return found


def _lists(root: Xml.Element) -> dict[str, dict[str, str]]:
    """Names of the codes of every code list."""
    return {
        one.attrib["id"]: {
            code.attrib["id"]: name_of(code) for code in one.iter(f"{STRUCTURE}Code")
        }
        for one in root.iter(f"{STRUCTURE}Codelist")
    }
