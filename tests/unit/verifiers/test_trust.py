"""What verifiers import, from the real import graph, against what the page on trust says."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import grimp
import pytest

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "resources/docs/verification.md"
SECTION = "## What verifiers import of `dpdesk/core`"


@pytest.fixture(scope="module")
def graph() -> grimp.ImportGraph:
    return grimp.build_graph("dpdesk", include_external_packages=True)


def _upstream(graph: grimp.ImportGraph) -> set[str]:
    return set(graph.find_upstream_modules("dpdesk.verifiers", as_package=True))


def test_verifiers_reach_core_and_libraries_of_numbers_alone(graph: grimp.ImportGraph) -> None:
    found = _upstream(graph)
    own = {name for name in found if name.split(".")[0] == "dpdesk"}
    assert all(name == "dpdesk" or name.startswith("dpdesk.core") for name in own), own
    assert found - own <= {*("numpy", "numba", "platformdirs", *sys.stdlib_module_names)}


def test_the_page_lists_what_of_core_verifiers_reach(graph: grimp.ImportGraph) -> None:
    found = {
        name.removeprefix("dpdesk.core.").replace(".", "/")
        for name in _upstream(graph)
        if name.startswith("dpdesk.core.")
    }
    text = PAGE.read_text("utf-8").split(SECTION)[1].split("\n## ")[0]
    table = [line.split("|")[1] for line in text.splitlines() if line.startswith("| `")]
    listed = {name for cell in table for name in re.findall(r"`([a-z_/]+)`", cell)}
    assert listed == found


def test_no_module_of_core_that_verifiers_reach_plans_or_remembers(
    graph: grimp.ImportGraph,
) -> None:
    """Choices of tables and grids of steps are for planning; memos would survive a release."""
    found = {name for name in _upstream(graph) if name.startswith("dpdesk.core")}
    assert not {name for name in found if "choice" in name or "grid" in name}
    for path in (ROOT / "dpdesk/verifiers").rglob("*.py"):
        source = path.read_text("utf-8")
        assert not re.search(r"functools|lru_cache|@cache\b|^_FOUND", source, re.MULTILINE), path
