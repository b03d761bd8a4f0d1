"""What programs other than DPDesk read of exported files: by piece of what a release can say.

A reader gives the value of each piece for the column at hand, in the words of the release.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as Xml

import openpyxl
import pyreadstat
from pyarrow import parquet

from dpdesk.core.export_formats import Piece
from dpdesk.io.sdmx import category_of, dimension_of

Read = Mapping[Piece, Any]
_DDI = "{ddi:codebook:2_5}"
_NATURES = {"ordinal": "ordinal", "nominal": "nominal", "interval": "scale"}
_MOMENTS = {"SDATE10": "date", "%td": "date", "E8601DA10": "date"}


def _everything(
    name: str,
    label: object,
    codes: Mapping[str, str],
    missing: Iterable[str],
    ends: tuple[float, float] | None,
    **more: Any,
) -> dict[Piece, Any]:
    """The pieces by what was found; value labels stand under each kind of them."""
    kinds = (Piece.WHOLE, Piece.FRACTION, Piece.WORD, Piece.LETTER)
    found = {Piece[key]: value for key, value in more.items()}
    found |= {key: dict(codes) for key in kinds} | {Piece.NAME: name, Piece.LABEL: label}
    return found | {Piece.MISSING: sorted(missing), Piece.RANGE: ends}


def _text(code: object) -> str:
    return f"{code:g}" if isinstance(code, float) else str(code)


def read_sav(path: Path) -> Read:
    frame, meta = pyreadstat.read_sav(path, user_missing=True)
    name, notes = meta.column_names[0], " ".join(meta.notes)
    ranges = meta.missing_ranges.get(name, [])
    wide = [(one["lo"], one["hi"]) for one in ranges if one["lo"] != one["hi"]]
    ends = (wide[0][0], float("inf") if wide[0][1] > 1e308 else wide[0][1]) if wide else None
    single = [_text(one["lo"]) for one in ranges if one["lo"] == one["hi"]]
    labels = meta.variable_value_labels.get(name, {})
    display = meta.original_variable_types[name]
    return _everything(
        name, meta.column_labels[0], {_text(key): text for key, text in labels.items()}, single,
        ends, MEASURE=meta.variable_measure[name], FORMAT=display, KIND=_MOMENTS.get(display),
        LETTERS=None, BLANKS=str(frame[name][0]), TITLE=meta.file_label, GUARANTEE=notes,
    )  # fmt: skip


def read_dta(path: Path) -> Read:
    frame, meta = pyreadstat.read_dta(path, user_missing=True)
    name = meta.column_names[0]
    labels = meta.variable_value_labels.get(name, {})
    codes = {f".{key}" if isinstance(key, str) else _text(key): t for key, t in labels.items()}
    display = meta.original_variable_types[name]
    return _everything(
        name, meta.column_labels[0], codes, [], None, FORMAT=display, KIND=_MOMENTS.get(display),
        MEASURE={"unknown": ""}.get(meta.variable_measure[name]), TITLE=meta.file_label,
        LETTERS=f".{frame[name][1]}", BLANKS=str(frame[name][0]), GUARANTEE=" ".join(meta.notes),
    )  # fmt: skip


def read_xpt(path: Path) -> Read:
    frame, meta = pyreadstat.read_xport(path)
    name = meta.column_names[0]
    display = meta.original_variable_types[name]
    rows = path.read_bytes().partition(b"HEADER RECORD*******OBS")[2][57:]
    letter = f".{chr(rows[8]).lower()}"  # pyreadstat gives no letters for this format
    return _everything(
        name, meta.column_labels[0], meta.variable_value_labels.get(name, {}), [], None,
        FORMAT=display, KIND=_MOMENTS.get(display), TITLE=meta.file_label, LETTERS=letter,
        BLANKS=str(frame[name][0]), MEASURE=None, GUARANTEE=None,
    )  # fmt: skip


def read_csv(path: Path) -> Read:
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    return {Piece.NAME: rows[0][0], Piece.BLANKS: rows[1][0]}


def read_parquet(path: Path) -> Read:
    table = parquet.read_table(path)
    said = {key.decode(): json.loads(value) for key, value in table.schema.metadata.items()}
    one = said.get("dpdesk.variables", {"variables": [{}]})["variables"][0]
    missing = one.get("missing", {})
    ends = (missing["low"], float("inf")) if missing.get("high") == "highest" else None
    values = table.column(0).to_pylist()
    return _everything(
        table.column_names[0], one.get("label"), one.get("value_labels", {}),
        missing.get("values", ()), ends, MEASURE=one.get("measure"), FORMAT=one.get("format"),
        KIND=one.get("kind"), LETTERS=values[1], BLANKS=values[0],
        TITLE=said["dpdesk.manifest"]["title"], GUARANTEE=said["dpdesk.guarantee"]["claim"],
    )  # fmt: skip


def read_xlsx(path: Path) -> Read:
    book = openpyxl.load_workbook(path)
    sheets = {
        name: [["" if cell is None else str(cell) for cell in row] for row in book[name].values]
        for name in book.sheetnames
    }
    values, about = sheets["Microdata"], dict(sheets["About"])
    named = sheets.get("Variables", [[], [""] * 8])
    one = dict(zip(named[0], named[1], strict=False))
    codes = sheets.get("Codes", [])[1:]
    ends = None
    if one.get("User-missing to") == "highest":
        ends = (float(one["User-missing from"]), float("inf"))
    return _everything(
        values[0][0], one.get("Label"), {row[1]: row[2] for row in codes if row[2]},
        [row[1] for row in codes if row[3]], ends, MEASURE=one.get("Measurement level"),
        FORMAT=one.get("Display format"), KIND=one.get("Type"), LETTERS=values[2][0],
        BLANKS=values[1][0], TITLE=about["Title"], GUARANTEE=about["Claim"],
    )  # fmt: skip


def read_csvw(path: Path) -> Read:
    document = json.loads(path.read_bytes())
    one = document["tableSchema"]["columns"][0]
    listed = {each["schema:name"]: each for each in one.get("schema:additionalProperty", ())}
    more = {name: each.get("schema:value") for name, each in listed.items()}
    wide = listed.get("range of missing values")
    ends = None
    if wide is not None and "schema:maxValue" not in wide:
        ends = (float(wide["schema:minValue"]), float("inf"))
    codes = {each["skos:notation"]: each["skos:prefLabel"] for each in one.get("dc:subject", ())}
    return _everything(
        one["titles"], one.get("dc:description"), codes, [c for c in one.get("null", ()) if c],
        ends, MEASURE=more.get("measurement level"), FORMAT=more.get("display format"),
        KIND=more.get("type"), TITLE=document["dc:title"], GUARANTEE=document["dc:description"],
    )  # fmt: skip


def read_ddi(path: Path) -> Read:
    root = Xml.parse(path).getroot()

    def texts(tag: str, under: Xml.Element = root) -> list[str]:
        return [one.text or "" for one in under.iter(f"{_DDI}{tag}")]

    variable = next(root.iter(f"{_DDI}var"))
    label = variable.find(f"{_DDI}labl")
    codes = {
        texts("catValu", one)[0]: texts("labl", one)[0]
        for one in variable.iter(f"{_DDI}catgry")
        if texts("labl", one)
    }
    wide = next(variable.iter(f"{_DDI}range"), None)
    ends = None
    if wide is not None and "max" not in wide.attrib:
        ends = (float(wide.attrib["min"]), float("inf"))
    shown = next(variable.iter(f"{_DDI}varFormat")).attrib
    return _everything(
        variable.attrib["name"], None if label is None else label.text, codes,
        [one.attrib["VALUE"] for one in variable.iter(f"{_DDI}item")], ends,
        MEASURE=_NATURES.get(variable.get("nature", "")), FORMAT=shown.get("formatname"),
        KIND=shown.get("category"), TITLE=texts("titl")[1], GUARANTEE=texts("abstract")[0],
    )  # fmt: skip


def read_structure(path: Path) -> Read:
    root = Xml.parse(path).getroot()

    def local(parent: Xml.Element, *names: str) -> list[Xml.Element]:
        return [one for one in parent.iter() if one.tag.rpartition("}")[2] in names]

    concept, listed = local(root, "Concept")[0], local(root, "Codelist")[0]
    notes = {
        local(one, "AnnotationType")[0].text: local(one, "AnnotationText")[0].text
        for one in local(concept, "Annotation")
    }
    codes = {
        category_of(code.attrib["id"]): local(code, "Name")[0].text or ""
        for code in local(listed, "Code")
        if code.attrib["id"] != "_T"
    }
    missing = [category_of(c.attrib["id"]) for c in local(listed, "Code") if local(c, "Annotation")]
    flow = local(root, "Dataflow")[0]
    return _everything(
        dimension_of(concept.attrib["id"]), local(concept, "Name")[0].text,
        {code: text for code, text in codes.items() if text != code}, missing,
        (97, float("inf")) if missing == ["97"] else None, MEASURE=notes.get("MEASUREMENT_LEVEL"),
        FORMAT=notes.get("DISPLAY_FORMAT"), KIND=notes.get("TYPE"),
        TITLE=local(flow, "Name")[0].text, GUARANTEE=local(flow, "Description")[0].text,
    )  # fmt: skip


READERS: Mapping[str, Callable[[Path], Read]] = {
    "csv": read_csv,
    "parquet": read_parquet,
    "xlsx": read_xlsx,
    "sav": read_sav,
    "dta": read_dta,
    "xpt": read_xpt,
    "csvw": read_csvw,
    "ddi": read_ddi,
    "sdmx-structure": read_structure,
    "sdmx-csv": lambda path: {},
}
