"""CSV on the Web metadata of a release's table (W3C, Metadata Vocabulary for Tabular Data)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import isfinite
from pathlib import Path
from urllib.parse import quote

from dpdesk.core.labels import Codebook, Kind, Variable, variable_from_plain
from dpdesk.core.messages import msg
from dpdesk.core.release import Manifest
from dpdesk.io.canonical import UnreadableJsonError, read_canonical
from dpdesk.io.formats.numbers import number_text

# ``public/variables.json``, read back: labels of a release's columns.


_FORMAT = 1


def read_variables(path: Path, columns: Sequence[str]) -> Codebook:
    """What the file says of ``columns``, those of the release's table.

    Raises UnreadableJsonError for a file that is not in the form that a release has, or that
    describes other columns; OSError.
    """
    book = read_labels(path)
    names = [variable.name for variable in book.variables]
    if names != [name for name in columns if name in names]:
        raise UnreadableJsonError("describes columns that the table has not, or in another order")
    return book


def read_labels(path: Path) -> Codebook:
    """What the file says, of whatever columns; raises as :func:`read_variables` does."""
    return labels_of(read_canonical(path))


def labels_of(raw: Mapping[str, object]) -> Codebook:
    """What the content of such a file says; UnreadableJsonError for another form."""
    if raw.get("format") != _FORMAT or set(raw) != {"format", "variables"}:
        raise UnreadableJsonError(
            msg("is not a list of variables of format {format}", format=_FORMAT)
        )
    listed = raw["variables"]
    if not isinstance(listed, list):
        raise UnreadableJsonError("`variables` is not a list")
    return Codebook(tuple(_variable(item) for item in listed))


def _variable(raw: object) -> Variable:
    try:
        variable = variable_from_plain(raw)  # type: ignore[arg-type]
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise UnreadableJsonError("describes a variable in a way that is not known") from error
    if variable.as_plain() != raw or variable.role or variable.hierarchy:
        raise UnreadableJsonError(msg("says more about `{name}` than is known", name=variable.name))
    return variable


NEWEST = 3
FORMS = (NEWEST, 2, 1)
"""Forms of the document; releases of earlier versions of the program have earlier ones."""
_DIALECT = {"delimiter": ",", "encoding": "utf-8", "header": True, "quoteChar": '"'}


def csvw_metadata(
    url: str,
    columns: Sequence[str],
    book: Codebook,
    manifest: Manifest,
    form: int = NEWEST,
) -> dict[str, object]:
    """The metadata document of the CSV at ``url``: title, columns, labels, codes.

    Value labels stand as SKOS concepts under ``dc:subject`` of their column, missing codes under
    ``null``, and what CSVW has no words for as values of properties (schema.org) under
    ``schema:additionalProperty``: kind, measurement level, display format, the range of missing
    values. Every value is a text, as in the release. The dialect says that no row is a comment: a
    reader would leave out rows that begin with ``#`` otherwise (Metadata Vocabulary, 5.9).
    Documents of ``form`` 1 lack the properties, those of ``form`` 2 and 1 what the dialect
    says of comments, and names of columns may hold ``-``, ``.`` and ``~`` there.
    """
    return {
        "@context": "http://www.w3.org/ns/csvw",
        "url": url,
        "dc:title": manifest.title or url,
        "dc:issued": manifest.created,
        "dc:description": _claim(manifest),
        "dialect": _DIALECT | ({"commentPrefix": None} if form > 2 else {}),
        "tableSchema": {
            "columns": [
                _column(name, number, book.get(name), form)
                for number, name in enumerate(columns, 1)
            ]
        },
    }


def _claim(manifest: Manifest) -> str:
    return manifest.guarantee.claim


def _column(name: str, number: int, variable: Variable | None, form: int) -> dict[str, object]:
    plain = _varname(name) if form > 2 else quote(name, safe="")
    column: dict[str, object] = {
        "name": plain or f"column_{number}",
        "titles": name,
        "datatype": "string",
    }
    if variable is None:
        return column
    if variable.label:
        column["dc:description"] = variable.label
    if variable.missing.values:
        column["null"] = ["", *variable.missing.values]
    if variable.value_labels:
        column["dc:subject"] = [
            {"@type": "skos:Concept", "skos:notation": code, "skos:prefLabel": label}
            for code, label in sorted(variable.value_labels.items())
        ]
    if form > 1 and (properties := list(_properties(variable))):
        column["schema:additionalProperty"] = properties
    return column


def _varname(name: str) -> str:
    """The name as CSVW allows it: letters, digits, ``_`` not in front, others by number (%xx)."""
    text = quote(name, safe="")
    for sign in "-.~":  # these stay in addresses
        text = text.replace(sign, f"%{ord(sign):02X}")
    return f"%5F{text[1:]}" if text.startswith("_") else text


def _properties(variable: Variable) -> Iterator[dict[str, object]]:
    """What is known of a column beside labels and single missing values."""

    def put(name: str, **values: object) -> dict[str, object]:
        found = {f"schema:{key}": value for key, value in values.items()}
        return {"@type": "schema:PropertyValue", "schema:name": name} | found

    if variable.kind is not Kind.TEXT:
        yield put("type", value=variable.kind.value)
    if variable.measure:
        yield put("measurement level", value=variable.measure)
    if variable.format:
        yield put("display format", value=variable.format)
    missing = variable.missing
    if missing.low is not None and missing.high is not None:
        ends = {"minValue": missing.low, "maxValue": missing.high}
        held = {key: number_text(end) for key, end in ends.items() if isfinite(end)}
        yield put("range of missing values", **held)
    places = {"minValue": "bottom", "maxValue": "top"}
    done = variable.coarsened
    if cut := {key: done[place] for key, place in places.items() if place in done}:
        yield put("numbers cut to", **cut)
    if "round" in done:
        yield put("numbers rounded to multiples of", value=done["round"])
    if missing.letters:
        yield put("lettered missing values", value=".a to .z, .A to .Z, ._")
