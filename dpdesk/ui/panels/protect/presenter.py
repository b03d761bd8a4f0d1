"""What the protect panel decides, without any widget."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QCoreApplication

from dpdesk.app.types import Candidate, Method, WorkState
from dpdesk.core.charts import Figure
from dpdesk.core.cube_parameters import PositiveParameter
from dpdesk.core.parameters import (
    IntegerParameter,
    LevelsParameter,
    Parameter,
    ShareParameter,
    exact_number,
    plain_number,
)
from dpdesk.ui.words.settings import same_value, strength_words
from dpdesk.ui.words.spoken import said

translate = QCoreApplication.translate
MOST_TILES = 6
LONGEST_NAME = 60


# ---- parameters


def form_parameters(method: Method) -> tuple[Parameter, ...]:
    """The parameters that the form shows; levels are picked in a chart where there is one."""
    if method.capabilities.spends:
        return method.parameters
    return tuple(one for one in method.parameters if not isinstance(one, LevelsParameter))


def edits(
    given: Mapping[str, object], work: WorkState, parameters: Sequence[Parameter]
) -> dict[str, object]:
    """Changes that make the work say what a form says; None takes a key away."""
    found: dict[str, object] = {}
    for parameter in parameters:
        key, wanted = parameter.key, given.get(parameter.key)
        default = parameter.as_plain(parameter.default_value())
        known = work.parameters.get(key)
        if wanted is None:
            if known is not None:
                found[key] = None
        elif not same_value(parameter, wanted, default if known is None else known):
            found[key] = wanted
    return found


def nearest_value(method: Method, key: str, value: float) -> object:
    """The value of a parameter, as a plan writes it, that is nearest to a place in a chart.

    Budgets are rounded to two digits. None when the method has no such number.
    """
    found = next((one for one in method.parameters if one.key == key), None)
    if isinstance(found, IntegerParameter):
        most = found.maximum if found.maximum is not None else max(found.minimum, round(value))
        return min(max(found.minimum, round(value)), most)
    if isinstance(found, PositiveParameter) and value > 0:
        return plain_number(exact_number(f"{value:.2g}"))
    return round(min(1.0, max(0.0, value)), 4) if isinstance(found, ShareParameter) else None


def moves(method: Method, key: str) -> bool:
    """Whether a line in a chart may move this parameter."""
    return key in (*method.live, *(BUDGET_KEYS if method.capabilities.spends else ()))


def by_hand(method: Method | None, work: WorkState) -> dict[str, Mapping[str, object]]:
    """Parameters of the work that were picked in a chart, by key."""
    if method is None or method.capabilities.spends:
        return {}
    keys = [one.key for one in method.parameters if isinstance(one, LevelsParameter)]
    values = {key: work.parameters.get(key) for key in keys}
    return {key: value for key, value in values.items() if isinstance(value, Mapping)}


# ---- methods that draw noise

TYPED = frozenset(
    (
        "drawn",
        "shares",
        "matrix",
        "domains",
        "outside",
        "theta",
        "epsilon",
        "rho",
        "delta",
        "measure",
        "publish",
        "weights",
    )
) | {"origins", "targets", "forbid", "nodes", "exact_nodes", "exact_in_nodes"}
"""Keys whose fields are typed into: one change for all that is typed."""


BUDGET_KEYS = ("epsilon", "rho")


def reached_words(method: Method | None) -> str:
    """What the navigation says of settings that work."""
    if method is not None and method.capabilities.spends:
        return translate("Protect", "planned")
    return translate("Protect", "reached")


def still_open(method: Method | None, work: WorkState) -> str:
    """What somebody has to decide before there is anything to show; empty when nothing.

    A missing budget is no hindrance: plans are drawn for a supposed one.
    """
    if method is None:
        return ""
    given = work.parameters
    if any(parameter.key == "cells" for parameter in method.parameters):
        return "" if any(map(given.get, ("rows", "columns", "tables"))) else _open_tables()
    if not method.capabilities.spends:
        return ""
    if not method.capabilities.blind:
        return _open_draws(work)
    if any(parameter.key == "ends" for parameter in method.parameters):
        return _open_ends(work)
    if any(parameter.key == "choose" for parameter in method.parameters):
        if given.get("choose"):
            return ""
        return translate(
            "Protect", "Say what is chosen: a quantile of a column, or a most frequent value."
        )
    if not given.get("dimensions"):
        return translate(
            "Protect",
            "Choose what to publish: check the columns that span the tables. Nothing is counted.",
        )
    if given.get("planner") == "pmost" and given.get("theta") is None:
        return translate("Protect", "Say which error counts as precise.")
    return ""


def _open_tables() -> str:
    return translate("Protect", "Put columns of the data to the rows or columns of the table.")


def _open_draws(work: WorkState) -> str:
    """What rows with drawn values still lack; empty when nothing."""
    given = work.parameters
    if not given.get("drawn"):
        return translate("Protect", "Name the columns to draw. No value is looked at.")
    if not given.get("domains"):
        return translate("Protect", "Declare the categories of each column to draw.")
    if given.get("epsilon") is None:
        return translate("Protect", "Give ε, the privacy loss that you are ready to spend.")
    return ""


def _open_ends(work: WorkState) -> str:
    """What a graph still lacks; empty when nothing."""
    ends = work.parameters.get("ends")
    if not isinstance(ends, list | tuple) or len(ends) < 2:
        return translate(
            "Protect",
            "Check the two columns that name the ends of an edge. Nothing is counted.",
        )
    return ""


# ---- searching


def same_search(first: WorkState | None, second: WorkState) -> bool:
    """Whether one search answers both states: they differ in parameters or title at most."""
    if first is None:
        return False
    return (first.source, first.base, first.roles, first.hierarchies, first.method) == (
        second.source,
        second.base,
        second.roles,
        second.hierarchies,
        second.method,
    )


def headline_figures(figures: Sequence[Figure]) -> tuple[Figure, ...]:
    """The figures for tiles: those that the method marks, else the first few."""
    marked = tuple(figure for figure in figures if figure.headline)
    return (marked or tuple(figures))[:MOST_TILES]


def kept_already(work: WorkState, candidates: Sequence[Candidate]) -> Candidate | None:
    """The candidate with exactly these settings, if there is one."""
    found = (one for one in candidates if one.work.parameters == work.parameters)
    return next((one for one in found if same_search(one.work, work)), None)


def candidate_name(method: Method | None, work: WorkState, candidates: Sequence[Candidate]) -> str:
    """A name: the method and how strong it is, different from all others.

    All settings stand below the name.
    """
    if method is None:
        return ""
    words = ", ".join(part for part in (said(method.title), strength_words(work)) if part)
    short = words if len(words) <= LONGEST_NAME else f"{words[:LONGEST_NAME].rstrip()}…"
    taken = {one.name for one in candidates}
    numbered = (f"{short} ({number})" for number in range(2, len(taken) + 2))
    return next((name for name in (short, *numbered) if name not in taken), short)
