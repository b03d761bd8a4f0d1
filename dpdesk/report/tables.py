"""The two pages of protected tables: ``about.html`` for users, ``report.html`` for reviewers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from dpdesk.core.language import voice
from dpdesk.core.release import Manifest
from dpdesk.core.shapes import as_float, as_list, as_table
from dpdesk.engine.method import Method
from dpdesk.report.about import settings, stated_values
from dpdesk.report.pages import render
from dpdesk.report.review import ReviewContent, figure_line, recorded_values, role_lines
from dpdesk.report.words import plain_lines, result_lines

_MEANS, _RATIOS, _RANDOM, _CONTROLLED = "mean", "ratio", "random-round", "controlled-round"
_CELL_KEY, _ADJUST = "cell-key", "adjust"
_MOST_SHOWN = 60


@dataclass(frozen=True)
class TableLine:
    """One table as readers see it."""

    name: str
    file: str
    cells: int
    suppressed: int
    dimensions: tuple[tuple[str, str], ...]


def render_about(manifest: Manifest, method: Method) -> bytes:
    """The page for users; it depends on the manifest alone."""
    return render("about_tables.html", _common(manifest, method))


def render_report(content: ReviewContent) -> bytes:
    """The page for the reviewer."""
    manifest, evidence = content.manifest, content.evidence
    result = as_table(evidence["result"])
    kept = {key: value for key, value in result.items() if key not in manifest.result}
    values = _common(manifest, content.method) | {
        "settings": settings(content.method.parameters, as_table(evidence["parameters"])),
        **recorded_values(manifest, evidence),
        "figures": tuple(figure_line(as_table(one)) for one in as_list(evidence["figures"])),
        "roles": role_lines(evidence),
        "search": plain_lines(kept),
    }
    return render("report_tables.html", values)


def _common(manifest: Manifest, method: Method) -> dict[str, object]:
    result, parameters = manifest.result, manifest.parameters
    items = [as_table(item) for item in as_list(result["tables"])]
    protect = parameters.get("protect")
    return {
        **stated_values(manifest, method, voice().text("Protected tables")),
        "counts": tuple(result_lines(result)),
        "tables": tuple(map(_line, items)),
        "suppressed": int(as_float(result["suppressed"])),
        "apart": parameters.get("tell_apart") is True,
        "means": any(item["measure"] == _MEANS for item in items),
        "ratios": any(item["measure"] == _RATIOS for item in items),
        "rounded": protect in (_RANDOM, _CONTROLLED),
        "at_random": protect == _RANDOM,
        "base": parameters.get("base", 0),
        "by_keys": protect == _CELL_KEY,
        "by_changes": protect == _ADJUST,
        "deviation": parameters.get("deviation", 0),
    }


def _line(item: Mapping[str, object]) -> TableLine:
    axes = [as_table(each) for each in as_list(item["dimensions"])]
    return TableLine(
        str(item["name"]) or " × ".join(str(axis["dimension"]) for axis in axes),
        str(item["file"]),
        int(as_float(item["cells"])),
        int(as_float(item["suppressed"])),
        tuple((str(axis["dimension"]), _labels(as_list(axis["categories"]))) for axis in axes),
    )


def _labels(labels: list[object]) -> str:
    shown = " · ".join(map(str, labels[:_MOST_SHOWN]))
    if len(labels) <= _MOST_SHOWN:
        return shown
    return voice().text("{shown}, … ({n} in all)", shown=shown, n=len(labels))
