"""What the protect panel decides, without any widget."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from PySide6.QtCore import QCoreApplication

from dpdesk.app.types import Candidate, Method, WorkState
from dpdesk.core.charts import Figure, format_figure
from dpdesk.core.errors import InputError
from dpdesk.core.parameters import LevelsParameter, Parameter, ShareParameter, parse_parameters
from dpdesk.core.schema import Role
from dpdesk.ui.jobs import JobFailed

DATA, ATTRIBUTES, HIERARCHIES = "data", "attributes", "hierarchies"
COMPARE, REVIEW = "compare", "review"
MOST_TILES = 6
LONGEST_NAME = 60
translate = QCoreApplication.translate


@dataclass(frozen=True)
class Missing:
    """Why nothing can be searched yet, and the panel where that can be changed."""

    panel: str
    title: str
    text: str


@dataclass(frozen=True)
class Situation:
    """All of the workbench that decides what the panel shows."""

    has_data: bool
    loading: bool
    columns: tuple[str, ...]
    work: WorkState
    method: Method | None


def what_is_missing(now: Situation) -> Missing | None:
    """What has to be done in another panel before a search can start; None when nothing."""
    if not now.has_data:
        title = translate("Protect", "Open a table of people first")
        text = translate("Protect", "Protection starts from data: a CSV, TSV or Parquet file.")
        if now.loading:
            title = translate("Protect", "The data are being read")
            text = translate("Protect", "The search starts as soon as they are there.")
        return Missing(DATA, title, text)
    if now.method is None:
        return None
    try:
        values = parse_parameters(now.method.parameters, now.work.parameters, "")
        roles = {name: now.work.role(name) for name in now.columns}
        now.method.check(now.columns, roles, values, translate("Protect", "The plan"))
    except InputError as error:
        return None if "key" in error.details else _from_error(error, now.work)
    return None


def _from_error(error: InputError, work: WorkState) -> Missing:
    title = translate("Protect", "Something is missing")
    if not work.with_role(Role.QUASI_IDENTIFIER):
        title = translate("Protect", "Tag at least one quasi-identifier")
    return Missing(place_of(error.code), title, error.hint or error.sentence)


def place_of(code: str) -> str:
    """The panel where something can be done about an error or a note with this code."""
    room = code.partition(".")[0]
    if room == "hierarchy":
        return HIERARCHIES
    if room in ("csv", "encoding", "parquet", "source", "storage", "read", "path"):
        return DATA
    return ATTRIBUTES


def place_words(panel: str) -> str:
    """Words for the button that leads to a panel."""
    words = {
        DATA: translate("Protect", "Go to Data"),
        ATTRIBUTES: translate("Protect", "Go to Attributes"),
        HIERARCHIES: translate("Protect", "Go to Hierarchies"),
        COMPARE: translate("Protect", "Compare"),
    }
    return words[panel]


def problem_place(problem: JobFailed, method: Method | None) -> str:
    """The panel that can mend a failed search; empty when a value of the form is to blame."""
    if problem.kind not in ("input", "refused"):
        return ""
    keys = {parameter.key for parameter in method.parameters} if method is not None else set()
    return "" if problem.details.get("key") in keys else place_of(problem.code)


# ---- parameters


def form_parameters(method: Method) -> tuple[Parameter, ...]:
    """The parameters that the form shows; levels are picked in a chart instead."""
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
        elif not _same(parameter, wanted, default if known is None else known):
            found[key] = wanted
    return found


def _same(parameter: Parameter, first: object, second: object) -> bool:
    if first == second:
        return True
    try:
        return parameter.parse(first, "") == parameter.parse(second, "")
    except InputError:
        return False


def by_hand(method: Method | None, work: WorkState) -> dict[str, Mapping[str, object]]:
    """Parameters of the work that were picked in a chart, by key."""
    if method is None:
        return {}
    keys = [one.key for one in method.parameters if isinstance(one, LevelsParameter)]
    values = {key: work.parameters.get(key) for key in keys}
    return {key: value for key, value in values.items() if isinstance(value, Mapping)}


def levels_words(picked: Mapping[str, object]) -> str:
    """What a point of a chart stands for: ``age 1, sex 0``."""
    parts: list[str] = []
    for key, value in picked.items():
        if isinstance(value, Mapping):
            parts += [f"{name} {level}" for name, level in value.items()]
        else:
            parts.append(f"{key} {value}")
    return ", ".join(parts)


def settings_words(method: Method | None, work: WorkState) -> str:
    """The settings that are no defaults, in a few words: ``k 25 rows · objective entropy``."""
    if method is None:
        return ""
    parts: list[str] = []
    for parameter in method.parameters:
        value = work.parameters.get(parameter.key)
        default = parameter.as_plain(parameter.default_value())
        if value is not None and not _same(parameter, value, default):
            parts.append(f"{short_label(parameter)} {value_words(parameter, value)}")
    return " · ".join(parts)


def short_label(parameter: Parameter) -> str:
    """A label as the beginning or the middle of a sentence."""
    label = parameter.label.partition(",")[0].partition(":")[0]
    return label if label[1:2].isupper() else label[:1].lower() + label[1:]


def value_words(parameter: Parameter, value: object) -> str:
    """A plain value for people, with its unit."""
    if isinstance(parameter, LevelsParameter) and isinstance(value, Mapping):
        return levels_words({parameter.key: value})
    try:
        exact = parameter.parse(value, "")
    except InputError:
        return str(value)
    if isinstance(parameter, ShareParameter) and isinstance(exact, int | Fraction):
        return format_figure(float(exact), "share")
    if isinstance(exact, int) and not isinstance(exact, bool):
        return f"{exact:,} {parameter.unit}".strip()
    return parameter.as_text(exact)


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
    """A name that says what is special about these settings, different from all others."""
    words = settings_words(method, work)
    if not words:
        return ""
    short = words if len(words) <= LONGEST_NAME else f"{words[:LONGEST_NAME].rstrip()}…"
    taken = {one.name for one in candidates}
    numbered = (f"{short} ({number})" for number in range(2, len(taken) + 2))
    return next((name for name in (short, *numbered) if name not in taken), short)
