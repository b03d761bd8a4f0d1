"""``internal/evidence.json``: what it holds, and the report that is made from it.

The report is a function of manifest, evidence and published labels, so that anybody who checks a
release can make it again and compare; nothing of a run goes into it that is not in these files.
"""

from __future__ import annotations

import platform
from collections.abc import Iterable, Mapping, Sequence
from importlib import metadata
from typing import TYPE_CHECKING

from dpdesk import __version__
from dpdesk.core.capabilities import Content
from dpdesk.core.charts import Figure, charts_as_json
from dpdesk.core.labels import NO_BOOK, Codebook
from dpdesk.core.language import speaking
from dpdesk.core.messages import TABLE, read_again
from dpdesk.core.parameters import ParameterValue, effective_parameters
from dpdesk.core.release import ClaimCheck, Manifest
from dpdesk.core.schema import Role
from dpdesk.core.systems import name_of
from dpdesk.engine.method import Method
from dpdesk.engine.registry import noise_of
from dpdesk.io.canonical import canonical_json, parse_canonical
from dpdesk.io.release_folder import FORMAT

if TYPE_CHECKING:
    from dpdesk.core.charts import Chart
    from dpdesk.core.plan import Plan
    from dpdesk.core.source_spec import SourceSpec
    from dpdesk.io.store import DataStore

ASKED = "asked"
_PATHS = frozenset({"path", "metadata", "catalog"})
COPIED = ("dpdesk", "created", "title", "method", "guarantee")
"""What the evidence says as the manifest does."""
PACKAGES = (
    *("numpy", "numba", "duckdb", "pyarrow", "jinja2", "tomlkit", "xlsxwriter", "reportlab"),
    *("pyreadstat", "psycopg"),
)
"""Libraries whose versions the evidence names."""


def plan_values(
    manifest: Manifest,
    plan: Plan,
    plan_name: str,
    method: Method,
    parameters: Mapping[str, ParameterValue],
    roles: Mapping[str, Role],
) -> dict[str, object]:
    """The part of the evidence that follows from manifest and plan."""
    stated = manifest.as_json()
    return {
        "format": FORMAT,
        **{name: stated[name] for name in COPIED},
        "plan_name": plan_name,
        "plan": plan.as_plain(),
        "parameters": effective_parameters(method.parameters, parameters, method.parameters),
        "roles": {name: role.value for name, role in roles.items()},
    }


def found_values(
    figures: Iterable[Figure], charts: Sequence[Chart], recoded: Sequence[Mapping[str, object]]
) -> dict[str, object]:
    """The part of the evidence that people look at: figures, charts, how values were replaced."""
    return {
        "figures": [
            {
                "key": figure.key,
                "label": figure.label,
                "value": figure.value,
                "kind": figure.kind,
                "unit": figure.unit,
                "help": figure.help,
            }
            for figure in figures
        ],
        "charts": charts_as_json(charts),
        "recoded": list(recoded),
    }


def recorded_checks(checks: Iterable[ClaimCheck]) -> list[dict[str, object]]:
    """Checks as the evidence holds them."""
    return [
        {
            "claim": check.claim,
            "status": check.status.value,
            "found": check.found,
            "label": check.label,
        }
        for check in checks
    ]


def asked_reading(spec: SourceSpec) -> dict[str, object]:
    """What a plan asks of the reading of its source; paths of files are left out."""
    return {key: value for key, value in spec.as_plain().items() if key not in _PATHS}


def source_facts(data: DataStore, spec: SourceSpec) -> dict[str, object]:
    """What the evidence says of the source: name, hash, rows, columns, how it was read.

    ``bytes`` is the size of the file; the hash of what a server sent has none. ``asked`` is what
    the plan named for its reading. For a private method, how many lines and values could
    not be read as well.
    """
    return {
        "name": data.name,
        "sha256": data.sha256,
        **({} if data.size is None else {"bytes": data.size}),
        "rows": data.rows,
        "columns": list(data.columns),
        "reading": data.reading.as_dict(),
        ASKED: asked_reading(spec),
        **(data.unreadable or {}),
    }


def environment() -> dict[str, object]:
    """Versions of the program and of what it computes with."""
    return {
        "dpdesk": __version__,
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.release()} ({name_of()})",
        "packages": {name: metadata.version(name) for name in PACKAGES},
    }


def review_page(
    manifest: Manifest,
    evidence: Mapping[str, object],
    method: Method,
    language: str,
    book: Codebook = NO_BOOK,
) -> bytes:
    """The bytes of ``internal/report.html`` in a language.

    ``book`` are the published labels of the dimensions of a cube. Raises TypeError, KeyError,
    ValueError and such for values of another form than a release of ours has.
    """
    recorded = parse_canonical(canonical_json(evidence))
    recorded = read_again(recorded, recorded.get(TABLE))
    with speaking(language):
        from dpdesk.report.review import ReviewContent, render_review

        content = ReviewContent(manifest, recorded, method, book)
        if noise_of(method) is not None:
            from dpdesk.report.noisy import render_report

            return render_report(content)
        if method.capabilities.content is Content.CELLS:
            from dpdesk.report import tables

            return tables.render_report(content)
        return render_review(content)
