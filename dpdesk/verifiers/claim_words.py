"""What the keys of a result of rows claim, in plain words, for people who review a release."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from dpdesk.core.published import ClaimCheck

_WORDS = {
    "rows_out": "Rows in the table",
    "rows_suppressed": "Rows left out",
    "suppression within max_suppression": "No more rows left out than allowed",
    "rows_removed": "Rows removed at random",
    "classes": "Number of classes",
    "groups": "Number of groups",
    "smallest_group": "Rows in the smallest group",
    "smallest_class": "Rows in the smallest class",
    "node": "Level of each quasi-identifier",
    "metrics, loss": "Detail lost",
    "metrics, precision": "Precision",
    "metrics, discernibility": "Discernibility",
    "metrics, average_class_size": "Average class size",
    "metrics, entropy": "Information lost",
}
_OPTIMA = {
    "optimal": "No other levels are better by the objective",
    "samarati": "No fewer generalisation steps are enough",
}


def in_words(
    checks: Sequence[ClaimCheck], manifest: Mapping[str, object]
) -> tuple[ClaimCheck, ...]:
    """The checks with plain words for their claims; what an optimum means depends on the search."""
    return tuple(replace(check, label=_label(check.claim, manifest)) for check in checks)


def _label(claim: str, manifest: Mapping[str, object]) -> str:
    if claim != "proven_optimal":
        return _WORDS.get(claim, "")
    result, parameters = manifest.get("result"), manifest.get("parameters")
    if not isinstance(result, Mapping) or result.get("proven_optimal") is not True:
        return "Better levels may exist: no optimum is claimed"
    if "node" not in result:
        return "No other release of this kind loses less"
    search = parameters.get("algorithm") if isinstance(parameters, Mapping) else None
    return _OPTIMA.get(str(search), "The search found its optimum")
