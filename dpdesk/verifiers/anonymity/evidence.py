"""Whether the figures in the evidence are those of the manifest: reviewers read the evidence."""

from __future__ import annotations

from collections.abc import Mapping
from math import isclose

from dpdesk.core.messages import msg

_CLOSE = 1e-9


def evidence_fault(manifest: Mapping[str, object], evidence: Mapping[str, object]) -> str | None:
    """Why source, risk or figures of the evidence disagree with the manifest, or None.

    ``manifest`` has passed its own checks. Figures of the source alone (the risk before) need the
    source; only the number of its rows follows from the manifest.
    """
    told = _told(manifest)
    source, risk = _table(evidence.get("source")), _table(evidence.get("risk"))
    if not _same(source.get("rows"), told["source_rows"]):
        return "the rows of its source are not those of the manifest, released and suppressed"
    after = _table(risk.get("after"))
    for key in ("rows", "classes", "smallest_class", "highest_risk", "average_risk"):
        if not _same(after.get(key), told[key]):
            return msg("`{key}` of its risk is not what the manifest gives", key=key)
    figures = _figures(evidence.get("figures"))
    for key in (*_table(_table(manifest["result"]).get("metrics")), *_FIGURES):
        if not _same(figures.get(key), told[key]):
            return msg("`{key}` of its figures is not what the manifest gives", key=key)
    return None


_FIGURES = (
    "rows_kept",
    "rows_suppressed",
    "suppressed_share",
    "classes",
    "smallest_class",
    "highest_risk",
    "average_risk",
)


def _told(manifest: Mapping[str, object]) -> dict[str, float]:
    """What the manifest's result says, under the names that evidence uses."""
    result = _table(manifest["result"])
    numbers = {key: _number(value) for key, value in result.items() if _is_number(value)}
    kept, suppressed = numbers["rows_out"], numbers["rows_suppressed"]
    classes, smallest = numbers["classes"], numbers["smallest_class"]
    metrics = _table(result.get("metrics"))
    return numbers | {
        **{key: _number(value) for key, value in metrics.items()},
        "source_rows": kept + suppressed,
        "rows": kept,
        "rows_kept": kept,
        "suppressed_share": suppressed / (kept + suppressed),
        "highest_risk": 1 / smallest,
        "average_risk": classes / kept,
    }


def _figures(listed: object) -> dict[object, object]:
    items = listed if isinstance(listed, list) else []
    return {item.get("key"): item.get("value") for item in items if isinstance(item, Mapping)}


def _table(value: object) -> Mapping[str, object]:
    return value if isinstance(value, Mapping) else {}


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _number(value: object) -> float:
    if isinstance(value, int | float):
        return value
    raise TypeError("expected a number")


def _same(found: object, expected: float) -> bool:
    if not _is_number(found):
        return False
    return isclose(_number(found), expected, rel_tol=_CLOSE, abs_tol=_CLOSE)
