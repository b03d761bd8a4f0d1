"""The types that front ends need, in one place: they import the app and the core alone."""

from dpdesk.app.context import AppContext
from dpdesk.app.exploring import Explored
from dpdesk.core.release import Failure, ReleaseFacts, ReleaseSummary, VerifyReport
from dpdesk.core.schema import ColumnProfile, ColumnType, DataProfile, Role, ValueCount
from dpdesk.engine.method import Exploration, ExplorationView, Method
from dpdesk.io.reading import Reading, SourcePreview
from dpdesk.io.store import DataStore
from dpdesk.project.candidates import COMPARE_AT_MOST, Candidate, CandidateShelf
from dpdesk.project.history import History, Moment
from dpdesk.project.settings import Settings
from dpdesk.project.work import (
    Command,
    HierarchyChoice,
    OpenWork,
    SetHierarchy,
    SetMethod,
    SetParameters,
    SetRoles,
    SetSource,
    SetTitle,
    WorkState,
)

__all__ = [
    "COMPARE_AT_MOST",
    "AppContext",
    "Candidate",
    "CandidateShelf",
    "ColumnProfile",
    "ColumnType",
    "Command",
    "DataProfile",
    "DataStore",
    "Exploration",
    "ExplorationView",
    "Explored",
    "Failure",
    "HierarchyChoice",
    "History",
    "Method",
    "Moment",
    "OpenWork",
    "Reading",
    "ReleaseFacts",
    "ReleaseSummary",
    "Role",
    "SetHierarchy",
    "SetMethod",
    "SetParameters",
    "SetRoles",
    "SetSource",
    "SetTitle",
    "Settings",
    "SourcePreview",
    "ValueCount",
    "VerifyReport",
    "WorkState",
]
