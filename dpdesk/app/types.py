"""The values that use-cases take and give, in one place for the window."""

from __future__ import annotations

from dpdesk.app.context import AppContext
from dpdesk.app.demo import DemoRelease
from dpdesk.app.exploring import Explored
from dpdesk.app.mending import Mend, MendKind, mended, mends_of
from dpdesk.app.opening import Opened, OpenedPath
from dpdesk.app.planning import PreparedRun
from dpdesk.app.private.trying import Outlook
from dpdesk.app.recipes import FitItem, FitReport, Recipe, Trial, Weight
from dpdesk.app.risk_report import RiskReport
from dpdesk.core.builder_form import BuilderForm
from dpdesk.core.release import Failure, ReleaseFacts, ReleaseSummary, VerifyReport
from dpdesk.core.schema import ColumnProfile, ColumnType, DataProfile, Role, ValueCount
from dpdesk.engine.method import (
    Detail,
    DetailPart,
    Exploration,
    ExplorationView,
    Method,
    MethodInput,
    MethodOutcome,
)
from dpdesk.io.reading import Reading, SourcePreview
from dpdesk.io.store import DataStore
from dpdesk.project.audit import AuditNote
from dpdesk.project.candidates import (
    COMPARE_AT_MOST,
    Candidate,
    CandidateShelf,
    ShelfSnapshot,
)
from dpdesk.project.file import (
    Fate,
    Lost,
    ProjectFile,
    ProjectUpdate,
    ReadOnly,
    ReleaseRecord,
    SaveState,
    SourceRecord,
)
from dpdesk.project.history import History, HistorySnapshot, Moment
from dpdesk.project.settings import LoadedSettings, Settings
from dpdesk.project.work import (
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

__all__ = [
    "COMPARE_AT_MOST",
    "AppContext",
    "AuditNote",
    "BuilderForm",
    "Candidate",
    "CandidateShelf",
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
    "Fate",
    "FitItem",
    "FitReport",
    "HierarchyChoice",
    "History",
    "HistorySnapshot",
    "LoadedSettings",
    "Lost",
    "Mend",
    "MendKind",
    "Method",
    "MethodInput",
    "MethodOutcome",
    "Moment",
    "OpenWork",
    "Opened",
    "OpenedPath",
    "Outlook",
    "PreparedRun",
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
    "Trial",
    "ValueCount",
    "VerifyReport",
    "Weight",
    "WorkState",
    "mended",
    "mends_of",
]
