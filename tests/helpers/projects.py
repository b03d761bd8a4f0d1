"""Small works, whole projects and ways to open them, for the tests of project files."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from types import MappingProxyType

import numpy as np

from dpdesk.core.charts import (
    Axis,
    BarChart,
    BarSeries,
    ChartTable,
    Figure,
    PointSeries,
    ScatterChart,
    SeriesStyle,
)
from dpdesk.core.hierarchy import Hierarchy
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.core.plan import HierarchyBuilder, HierarchyFile, SourceSpec
from dpdesk.core.pseudonyms import PseudonymSpec
from dpdesk.core.release import Guarantee
from dpdesk.core.schema import Role
from dpdesk.io.workspace import Workspace
from dpdesk.project.candidates import Candidate, CandidateShelf
from dpdesk.project.file import (
    OpeningHelpers,
    ProjectFile,
    ProjectUpdate,
    new_contents,
    write_project,
)
from dpdesk.project.history import History
from dpdesk.project.work import SetHierarchy, SetParameters, SetRoles, SetTitle, WorkState

AGE = Hierarchy.from_rows("age", [["1", "1-2", "*"], ["2", "1-2", "*"], ["9", "9", "*"]])
WHEN = datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)


def work(base: Path = Path("/plans")) -> WorkState:
    """A work that uses everything that a work can hold."""
    return WorkState(
        source=SourceSpec("data/people.csv", delimiter=";", missing=("", "?")),
        base=base,
        roles=MappingProxyType({"age": Role.QUASI_IDENTIFIER, "name": Role.IDENTIFIER}),
        hierarchies=MappingProxyType(
            {
                "age": AGE,
                "zip": HierarchyBuilder("mask", {"from": "right", "steps": [2, 3]}),
                "sex": HierarchyFile("sex.csv"),
            }
        ),
        method="k-anonymity",
        parameters=MappingProxyType({"k": 5, "max_suppression": Decimal("0.020")}),
        title="Census “24”",
        budget=MappingProxyType({"population": "residents", "limit": Decimal("2.5")}),
        pseudonyms=MappingProxyType({"name": PseudonymSpec("k", "domain", "d", 30, "group")}),
    )


def candidate(name: str = "mild", state: WorkState | None = None) -> Candidate:
    """A candidate with charts of both kinds."""
    table = ChartTable(("size", "rows"), (("1", 3), ("2", None), ("3", 0.25)))
    bars = BarChart(
        "risk",
        "How risky?",
        "Not very.",
        Axis("size", "rows"),
        Axis("rows", percent=True, minimum=0.0),
        ("1", "2"),
        (BarSeries("before", (0.1, 0.9), SeriesStyle.REFERENCE, outline=True),),
        table,
        hatched=frozenset({1, 0}),
        threshold_before=1,
    )
    series = PointSeries(
        "nodes", np.array([0.1, np.nan, np.inf]), np.array([1.0, 2.0, -0.0]), np.arange(3)
    )
    points = ScatterChart("nodes", "Which?", "This.", Axis("x"), Axis("y"), (series,), table)
    return Candidate(
        0,
        name,
        state or work(),
        Guarantee("k-anonymity", {"k": 5, "of": ["a"]}, "Claim.", ("Assumes.",), ("Not.",)),
        (Figure("rows", "Rows", 12, "count"), Figure("loss", "Loss", float("nan"), "share")),
        (bars, points),
        {"node": {"age": 1}, "metrics": {"loss": 0.1 + 0.2}, "proven_optimal": True},
        WHEN,
    )


def history(moments: int = 6) -> History:
    """A tree with two branches, gone back on, saved once."""
    made = History(work())
    for number in range(moments // 2):
        made.do(SetTitle(f"title {number}"))
    made.mark_saved()
    made.undo()
    made.do(SetRoles({"zip": Role.SENSITIVE}))
    made.do(SetHierarchy("zip", AGE))
    made.do(SetParameters({"k": 7}))
    made.undo()
    return at_one_time(made)


def at_one_time(made: History) -> History:
    """The same history, as if all of it had been done at one moment."""
    snapshot = made.snapshot()
    moments = tuple(replace(moment, when=WHEN) for moment in snapshot.moments)
    return History.restored(replace(snapshot, moments=moments))


def shelf(kept: int = 2) -> CandidateShelf:
    """A shelf from which one candidate was taken."""
    made = CandidateShelf()
    for number in range(kept + 1):
        made.add(candidate(f"number {number}"))
    made.remove(1)
    return made


def plain(value: object) -> object:
    """A value in a form in which equal contents are equal: hierarchies and arrays by value."""
    if isinstance(value, Hierarchy):
        return "hierarchy", value.attribute, value.labels, [plain(codes) for codes in value.parents]
    if isinstance(value, np.ndarray):
        return "array", str(value.dtype), value.shape, value.tobytes()
    if is_dataclass(value) and not isinstance(value, type):
        names = [item.name for item in fields(value)]
        return type(value).__name__, [(name, plain(getattr(value, name))) for name in names]
    if isinstance(value, Mapping):
        return type(value).__name__, [(plain(key), plain(item)) for key, item in value.items()]
    if isinstance(value, list | tuple):
        return type(value).__name__, [plain(item) for item in value]
    if isinstance(value, frozenset):
        return "set", sorted(value)
    return "str" if isinstance(value, str) else type(value).__name__, repr(value)


@dataclass
class Desk:
    """Opens and writes projects with a workspace of its own; closes what it opened."""

    home: Path
    workspace: Workspace = field(init=False)
    opened: list[ProjectFile] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.workspace = Workspace.open(self.home)

    def way(self, **changes: object) -> OpeningHelpers:
        """A way to open; on no network share unless said otherwise."""
        given: dict[str, object] = {"share": _nowhere, **changes}
        return OpeningHelpers(
            self.workspace,
            self.workspace.new_path,
            CancelToken(),
            silent,
            **given,  # type: ignore[arg-type]
        )

    def open(self, path: Path, **changes: object) -> ProjectFile:
        """Open a project."""
        project = ProjectFile.open(path, self.way(**changes))
        self.opened.append(project)
        return project

    def write(
        self, path: Path, made: History | None = None, kept: CandidateShelf | None = None
    ) -> Path:
        """Write a new project."""
        contents = new_contents(
            (made or history()).snapshot(), (kept or CandidateShelf()).snapshot()
        )
        return write_project(
            path, contents, (), self.workspace, self.workspace.new_path, share=_nowhere
        )

    def new(self, path: Path, made: History | None = None) -> ProjectFile:
        """Write a new project and open it."""
        return self.open(self.write(path, made))

    def close(self) -> None:
        """Close everything."""
        for project in self.opened:
            project.close(discard=True)
        self.workspace.close()


def _nowhere(path: Path) -> str:
    return ""


def save(project: ProjectFile, made: History) -> None:
    """Hand the history over and wait until it is on the disk."""
    project.save(ProjectUpdate(history=made.snapshot()))
    project.flush()


def fresh_name() -> str:
    """A name that nothing has yet."""
    return f"{uuid.uuid4().hex}.dpdesk"


Opener = Callable[..., ProjectFile]
