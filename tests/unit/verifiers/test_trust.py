"""What verifiers import, from the real import graph, against what the page on trust says."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import FrameType

import grimp
import pytest

from dpdesk.app import self_check
from dpdesk.app.checking_worker import answer
from dpdesk.app.context import AppContext
from dpdesk.app.running import run_plan
from dpdesk.core.jobs import CancelToken, silent
from tests.helpers import clinic, cubes, releases
from tests.helpers.pinned import pin

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "resources/docs/verification.md"
SECTION = "## What verifiers import of `dpdesk/core`"
RUN = "## What of `dpdesk/engine` a check runs"
GRAPH = """version = 1
title = "Friends"
[source]
path = "edges.csv"
[protection]
method = "dp-graph"
ends = ["from", "to"]
nodes = ["a", "b", "c", "d"]
exact = "degrees"
exact_nodes = ["a"]
epsilon = 1
[budget]
population = "friends"
"""


@pytest.fixture(scope="module")
def graph() -> grimp.ImportGraph:
    return grimp.build_graph("dpdesk", include_external_packages=True)


def _upstream(graph: grimp.ImportGraph) -> set[str]:
    return set(graph.find_upstream_modules("dpdesk.verifiers", as_package=True))


def test_verifiers_reach_core_and_named_libraries_alone(graph: grimp.ImportGraph) -> None:
    found = _upstream(graph)
    own = {name for name in found if name.split(".")[0] == "dpdesk"}
    assert all(name == "dpdesk" or name.startswith("dpdesk.core") for name in own), own
    libraries = {"numpy", "numba", "scipy", "highspy", "platformdirs", "pydantic", "pydantic_core"}
    assert found - own <= {*libraries, *sys.stdlib_module_names}


def test_the_page_lists_what_of_core_verifiers_reach(graph: grimp.ImportGraph) -> None:
    found = {
        name.removeprefix("dpdesk.core.").replace(".", "/")
        for name in _upstream(graph)
        if name.startswith("dpdesk.core.")
    }
    assert _listed(SECTION) == found


def _listed(section: str) -> set[str]:
    """The files in the first column of the table of a section."""
    text = PAGE.read_text("utf-8").split(section)[1].split("\n## ")[0]
    table = [line.split("|")[1] for line in text.splitlines() if line.startswith("| `")]
    return {name for cell in table for name in re.findall(r"`([a-z_/]+)`", cell)}


def test_the_page_lists_what_of_the_engine_a_check_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Methods hand over to verifiers; what else of them runs words guarantees from settings."""
    found: set[str] = set()

    def noted(frame: FrameType, event: str, _: object) -> None:
        name = frame.f_globals.get("__name__", "")
        if event == "call" and name.startswith("dpdesk.engine."):
            found.add(name.removeprefix("dpdesk.engine.").replace(".", "/"))

    def here(question: object, _: CancelToken) -> object:
        answer(question)  # imports what it needs
        sys.setprofile(noted)
        try:
            return answer(question)
        finally:
            sys.setprofile(None)

    monkeypatch.setattr(self_check, "_asked", here)
    exact = [["sex", "region"], ["sex", "age"], ["region", "age"]]
    for name in ("rows", "drawn", "cube", "graph"):
        (tmp_path / name).mkdir()
    (tmp_path / "graph/edges.csv").write_text("from,to\na,b\nb,c\nc,d\n", encoding="utf-8")
    (tmp_path / "graph/plan.toml").write_text(GRAPH, encoding="utf-8")
    register = cubes.write_register(tmp_path / "cube", cubes.people())
    clinic.write_source(tmp_path / "drawn")
    plans = [
        releases.write_source(tmp_path / "rows"),
        clinic.write_plan(tmp_path / "drawn"),
        cubes.write_plan(register, exact=exact),
        pin(tmp_path / "graph/plan.toml"),
    ]
    with AppContext.open(tmp_path / "home") as context:
        for plan in plans:
            run_plan(context, plan, plan.parent / "out", CancelToken(), silent)
    assert found == _listed(RUN)


def test_no_module_of_core_that_verifiers_reach_plans_or_remembers(
    graph: grimp.ImportGraph,
) -> None:
    """Choices of tables and grids of steps are for planning; memos would survive a release."""
    found = {name for name in _upstream(graph) if name.startswith("dpdesk.core")}
    assert not {name for name in found if "choice" in name or "grid" in name}
    for path in (ROOT / "dpdesk/verifiers").rglob("*.py"):
        source = path.read_text("utf-8")
        assert not re.search(r"functools|lru_cache|@cache\b|^_FOUND", source, re.MULTILINE), path
