"""What is still missing before something can be searched or written, and where to mend it."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QCoreApplication

from dpdesk.app.types import Method, WorkState
from dpdesk.core.errors import InputError
from dpdesk.core.parameters import parse_parameters
from dpdesk.core.schema import Role
from dpdesk.ui.jobs import JobFailed
from dpdesk.ui.words.spoken import said

DATA, ATTRIBUTES, HIERARCHIES = "data", "attributes", "hierarchies"
COMPARE, REVIEW = "compare", "review"
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
    return Missing(place_of(error.code), title, said(error.hint or error.sentence))


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
    """The panel that can mend a failed search; empty when a value of the form is to blame, or the
    method itself.
    """
    if problem.kind not in ("input", "refused") or problem.code == "plan.silent-method":
        return ""
    keys = {parameter.key for parameter in method.parameters} if method is not None else set()
    return "" if problem.details.get("key") in keys else place_of(problem.code)
