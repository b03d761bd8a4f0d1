"""The values that use-cases take and give, in one place for the window."""

from __future__ import annotations

from dpdesk.app.context import AppContext
from dpdesk.app.demo import DemoRelease
from dpdesk.app.exploring import Explored
from dpdesk.app.opening import Opened, OpenedPath
from dpdesk.app.planning import PreparedRun
from dpdesk.app.risk import RiskReport
from dpdesk.core.builder_form import BuilderForm
from dpdesk.engine.method import (
    Exploration,
    ExplorationView,
    Method,
    MethodInput,
    MethodOutcome,
)
from dpdesk.project.candidates import COMPARE_AT_MOST, Candidate, CandidateShelf
from dpdesk.project.history import History, Moment
from dpdesk.project.settings import LoadedSettings, Settings
from dpdesk.project.work import (
    Command,
    HierarchyChoice,
    OpenWork,
    SetHierarchies,
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
    "BuilderForm",
    "Candidate",
    "CandidateShelf",
    "Command",
    "DemoRelease",
    "Exploration",
    "ExplorationView",
    "Explored",
    "HierarchyChoice",
    "History",
    "LoadedSettings",
    "Method",
    "MethodInput",
    "MethodOutcome",
    "Moment",
    "OpenWork",
    "Opened",
    "OpenedPath",
    "PreparedRun",
    "RiskReport",
    "SetHierarchies",
    "SetHierarchy",
    "SetMethod",
    "SetParameters",
    "SetRoles",
    "SetSource",
    "SetTitle",
    "Settings",
    "WorkState",
]
