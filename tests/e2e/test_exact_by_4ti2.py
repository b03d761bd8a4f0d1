"""A release beside exact tables for which 4ti2 was asked, checked with it and without it."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from dpdesk.app.context import AppContext
from dpdesk.app.verifying import verify_release
from dpdesk.core.graver import use_tool
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.core.release import CheckStatus, ClaimCheck
from dpdesk.engine.cubes.exact import moves, sensitivity
from dpdesk.verifiers.cubes import exact, exact_claim
from dpdesk.verifiers.cubes import exact as vectors
from tests.helpers.cubes import SEX, people, release, write_plan, write_register
from tests.helpers.forging import manifest_of, seal_again

REAL = shutil.which("4ti2-graver")
pytestmark = pytest.mark.skipif(REAL is None, reason="4ti2 is not installed here")
DOMAINS: dict[str, Any] = {"sex": list(SEX), "region": ["north", "other"]}


@pytest.fixture
def context(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[AppContext]:
    """A program that enumerates nothing itself."""
    monkeypatch.setenv("DPDESK_4TI2", str(REAL))
    monkeypatch.setattr(moves, "MOST_CELLS", 0)
    monkeypatch.setattr(vectors, "MOST_COLUMNS", 0)
    monkeypatch.setattr(exact, "MOST_COLUMNS", 0)
    monkeypatch.setattr(exact_claim, "_MOST_PARTS", 0)
    monkeypatch.setattr(sensitivity, "_FOUND", {})
    with AppContext.open(tmp_path / "home") as opened:
        yield opened


@pytest.fixture
def released(context: AppContext, tmp_path: Path) -> Path:
    register = write_register(tmp_path, people())
    exact = [["sex"], ["region"], ["age"]]
    publish = {"max_dimensions": 2}
    plan = write_plan(register, "three.toml", domains=DOMAINS, exact=exact, publish=publish)
    return release(context, plan, tmp_path / "out").out


def _change(context: AppContext, out: Path) -> tuple[bool, ClaimCheck]:
    found = verify_release(out, context.registry, CancelToken(), silent)
    return found.ok, next(each for each in found.claims if each.claim == "minimal change")


def test_the_manifest_names_the_program_and_the_check_asks_it_again(
    context: AppContext, released: Path
) -> None:
    stated: Any = manifest_of(released)["result"]
    assert stated["exact"]["minimal_change"] == stated["sensitivity"] == 8
    assert stated["exact"]["known_by"] == "4ti2"
    assert stated["exact"]["tool"].startswith("4ti2 1.")
    ok, check = _change(context, released)
    assert ok
    assert check.status is CheckStatus.CONFIRMED
    assert check.found.endswith(f"by {stated['exact']['tool']}")
    page = (released / "internal/report.html").read_text("utf-8")
    assert f"{stated['exact']['tool']} computed that number" in page


def test_without_the_program_the_check_says_what_it_needs(
    context: AppContext, released: Path
) -> None:
    use_tool(context.workspace, None)
    ok, check = _change(context, released)
    assert ok
    assert check.status is CheckStatus.NOT_CHECKED
    assert check.found.endswith("not re-checked here: needs 4ti2")


def test_without_the_program_a_feasible_enumeration_checks_it(
    context: AppContext, released: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_tool(context.workspace, None)
    monkeypatch.setattr(vectors, "MOST_COLUMNS", 64)
    monkeypatch.setattr(exact, "MOST_COLUMNS", 64)
    ok, check = _change(context, released)
    assert ok
    assert check.found == "is 8, as enumerated again in another way"


def _smaller(said: dict[str, Any]) -> None:
    said["exact"]["minimal_change"] = said["sensitivity"] = 6


def _unnamed(said: dict[str, Any]) -> None:
    del said["exact"]["tool"]


def _other_name(said: dict[str, Any]) -> None:
    said["exact"]["tool"] = "a friend"


def _own(said: dict[str, Any]) -> None:
    said["exact"]["known_by"] = "enumeration"


@pytest.mark.parametrize("forge", [_smaller, _unnamed, _other_name, _own])
def test_a_forged_statement_is_found(
    context: AppContext, released: Path, forge: Callable[[dict[str, Any]], None]
) -> None:
    said: Any = manifest_of(released)
    forge(said["result"])
    seal_again(released, said)
    found = verify_release(released, context.registry, CancelToken(), silent)
    assert not found.ok
