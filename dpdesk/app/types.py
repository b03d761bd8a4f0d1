"""The values that use-cases take and give, in one place for the window."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from enum import StrEnum
from types import MappingProxyType

from dpdesk.app.context import AppContext
from dpdesk.app.demo import DemoRelease
from dpdesk.app.exploring import Explored
from dpdesk.app.opening import Opened, OpenedPath
from dpdesk.app.prepared import PreparedRows
from dpdesk.app.private.trying import Outlook
from dpdesk.app.recipes import FitItem, FitReport, Recipe, Trial, Weight, renamed_work
from dpdesk.app.risk import RiskReport
from dpdesk.core.frequency import CellFilter, RowLook
from dpdesk.core.hierarchy import BuilderForm
from dpdesk.core.release import Failure, ReleaseFacts, ReleaseSummary, VerifyReport
from dpdesk.core.schema import ColumnProfile, ColumnType, DataProfile, Role, ValueCount
from dpdesk.core.shapes import read_json
from dpdesk.engine.method import (
    Detail,
    DetailPart,
    Exploration,
    ExplorationView,
    Method,
    MethodInput,
    Outcome,
)
from dpdesk.io.reading import Reading, SourcePreview
from dpdesk.io.store import DataStore
from dpdesk.project.audit import AuditNote
from dpdesk.project.candidates import (
    COMPARE_AT_MOST,
    Candidate,
    CandidateShelf,
    LevelNames,
    ShelfSnapshot,
)
from dpdesk.project.file import (
    Lost,
    ProjectFile,
    ProjectUpdate,
    ReadOnly,
    ReleaseRecord,
    SaveState,
    SourceRecord,
    SourceStatus,
)
from dpdesk.project.history import History, HistorySnapshot, Moment
from dpdesk.project.settings import LoadedSettings, Settings
from dpdesk.project.work import (
    THE_WORK,
    Command,
    HierarchyChoice,
    OpenWork,
    SetBudget,
    SetHierarchies,
    SetHierarchy,
    SetLanguage,
    SetMethod,
    SetParameters,
    SetPseudonym,
    SetRoles,
    SetSource,
    SetTitle,
    WorkState,
)

_RENAMES = 4


class FixKind(StrEnum):
    """What a fix does."""

    RENAME = "rename"
    TAKE_OUT = "take out"
    ROLE = "role"
    MISSING = "missing"
    LEVELS = "levels"


@dataclass(frozen=True)
class Fix:
    """One decision about a recipe and another file.

    ``column`` is a column of the recipe (RENAME, TAKE_OUT) or of the file (ROLE); ``value`` is its
    new name, its role as a plan writes it, a code for missing values (MISSING) or levels as JSON
    (LEVELS).
    """

    kind: FixKind
    column: str = ""
    value: str = ""

    def apply(self, recipe: Recipe) -> Recipe:
        """The recipe after it. ValueError when two columns would get one name."""
        if self.kind is FixKind.RENAME:
            return _renamed(recipe, self.column, self.value)
        if self.kind is FixKind.TAKE_OUT:
            return _without(recipe, self.column)
        if self.kind is FixKind.ROLE:
            return _with_role(recipe, self.column, Role(self.value))
        if self.kind is FixKind.LEVELS:
            given = {**recipe.work.parameters, "levels": read_json(self.value)}
            return replace(recipe, work=replace(recipe.work, parameters=MappingProxyType(given)))
        return _with_missing(recipe, self.value)


def fixes_of(item: FitItem, items: Sequence[FitItem] = ()) -> tuple[Fix, ...]:
    """What one click could do about an item, the likeliest first; nothing where people must think.

    ``items`` are all of the report: a lost column may be any of the new ones. An unknown column is
    never given a role by itself: each of these has to be chosen.
    """
    column, code = item.column, item.code
    if code == "column.missing":
        new = [each.column for each in items if each.code == "column.new"]
        new.sort(key=lambda name: -SequenceMatcher(None, name.lower(), column.lower()).ratio())
        names = dict.fromkeys([item.instead, *new] if item.instead else new)
        renames = [Fix(FixKind.RENAME, column, name) for name in names]
        return (*renames[:_RENAMES], Fix(FixKind.TAKE_OUT, column))
    if code == "column.new":
        roles = (Role.IDENTIFIER, Role.QUASI_IDENTIFIER, Role.SENSITIVE, Role.INSENSITIVE)
        return tuple(Fix(FixKind.ROLE, column, role.value) for role in roles)
    if code == "series.levels":
        return (Fix(FixKind.LEVELS, value=item.instead),)
    if code == "missing.candidate":
        return tuple(Fix(FixKind.MISSING, value=each.value) for each in item.values)
    return ()


def fixed(recipe: Recipe, fixes: Sequence[Fix]) -> Recipe:
    """A recipe after some fixes, in order."""
    for fix in fixes:
        recipe = fix.apply(recipe)
    return recipe


def _renamed(recipe: Recipe, old: str, new: str) -> Recipe:
    def name(column: str) -> str:
        return new if column == old else column

    return replace(
        recipe,
        work=renamed_work(recipe.work, {old: new}),
        columns=MappingProxyType({name(each): kind for each, kind in recipe.columns.items()}),
        missing_shares=MappingProxyType(
            {name(each): share for each, share in recipe.missing_shares.items()}
        ),
    )


def _without(recipe: Recipe, column: str) -> Recipe:
    work = recipe.work
    named = {*work.roles, *work.hierarchies} - {column}
    return replace(
        recipe,
        work=work.with_columns(tuple(named)),
        columns=MappingProxyType({n: kind for n, kind in recipe.columns.items() if n != column}),
    )


def _with_role(recipe: Recipe, column: str, role: Role) -> Recipe:
    roles = MappingProxyType({**recipe.work.roles, column: role})
    known = recipe.columns and {**recipe.columns, column: None}
    return replace(
        recipe, work=replace(recipe.work, roles=roles), columns=MappingProxyType(dict(known))
    )


def _with_missing(recipe: Recipe, code: str) -> Recipe:
    source = recipe.work.source
    if source is None or code in source.missing:
        return recipe
    source = replace(source, missing=(*source.missing, code))
    return replace(recipe, work=replace(recipe.work, source=source))


__all__ = [
    "COMPARE_AT_MOST",
    "THE_WORK",
    "AppContext",
    "AuditNote",
    "BuilderForm",
    "Candidate",
    "CandidateShelf",
    "CellFilter",
    "ColumnProfile",
    "ColumnType",
    "Command",
    "DataProfile",
    "DataStore",
    "DemoRelease",
    "Detail",
    "DetailPart",
    "Exploration",
    "ExplorationView",
    "Explored",
    "Failure",
    "FitItem",
    "FitReport",
    "Fix",
    "FixKind",
    "HierarchyChoice",
    "History",
    "HistorySnapshot",
    "LevelNames",
    "LoadedSettings",
    "Lost",
    "Method",
    "MethodInput",
    "Moment",
    "OpenWork",
    "Opened",
    "OpenedPath",
    "Outcome",
    "Outlook",
    "PreparedRows",
    "ProjectFile",
    "ProjectUpdate",
    "ReadOnly",
    "Reading",
    "Recipe",
    "ReleaseFacts",
    "ReleaseRecord",
    "ReleaseSummary",
    "RiskReport",
    "Role",
    "RowLook",
    "SaveState",
    "SetBudget",
    "SetHierarchies",
    "SetHierarchy",
    "SetLanguage",
    "SetMethod",
    "SetParameters",
    "SetPseudonym",
    "SetRoles",
    "SetSource",
    "SetTitle",
    "Settings",
    "ShelfSnapshot",
    "SourcePreview",
    "SourceRecord",
    "SourceStatus",
    "Trial",
    "ValueCount",
    "VerifyReport",
    "Weight",
    "WorkState",
    "fixed",
    "fixes_of",
]
