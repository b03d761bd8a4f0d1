"""CSV on the Web metadata of a release's table (W3C, Metadata Vocabulary for Tabular Data)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from urllib.parse import quote

from dpdesk.core.labels import Codebook, Variable


def csvw_metadata(
    url: str, columns: Sequence[str], book: Codebook, manifest: Mapping[str, object]
) -> dict[str, object]:
    """The metadata document of the CSV at ``url``: title, columns, labels, codes.

    Value labels stand as SKOS concepts under ``dc:subject`` of their column, missing codes under
    ``null``. Every value is a text, as in the release.
    """
    return {
        "@context": "http://www.w3.org/ns/csvw",
        "url": url,
        "dc:title": str(manifest.get("title", "")) or url,
        "dc:issued": str(manifest.get("created", "")),
        "dc:description": _claim(manifest),
        "dialect": {"delimiter": ",", "encoding": "utf-8", "header": True, "quoteChar": '"'},
        "tableSchema": {
            "columns": [
                _column(name, number, book.get(name)) for number, name in enumerate(columns, 1)
            ]
        },
    }


def _claim(manifest: Mapping[str, object]) -> str:
    guarantee = manifest.get("guarantee")
    return str(guarantee.get("claim", "")) if isinstance(guarantee, Mapping) else ""


def _column(name: str, number: int, variable: Variable | None) -> dict[str, object]:
    column: dict[str, object] = {
        "name": quote(name, safe="") or f"column_{number}",
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
    return column
