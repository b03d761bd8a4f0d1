"""The checklist of a release with noise."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dpdesk.app.checklists import check_release
from dpdesk.app.context import AppContext
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.core.language import voice_of
from dpdesk.core.messages import TABLE, read_again
from dpdesk.project.review.checklist import Checklist
from dpdesk.project.review.policy import Policy
from dpdesk.project.review.votes import ItemStatus as Status
from tests.helpers.cubes import people, release, write_plan, write_register
from tests.helpers.forging import manifest_of, seal_again


@pytest.fixture
def context(tmp_path: Path) -> Iterator[AppContext]:
    with AppContext.open(tmp_path / "home") as opened:
        yield opened


def made(context: AppContext, folder: Path, **keys: Any) -> Path:
    return release(
        context, write_plan(write_register(folder, people()), **keys), folder / "out"
    ).out


def checklist(context: AppContext, path: Path, **policy: Any) -> Checklist:
    rules = Policy.from_plain({"version": 1, **policy}, "policy") if policy else None
    return check_release(context, path, CancelToken(), silent, rules).checklist


def test_the_questions_are_those_of_noise(context: AppContext, tmp_path: Path) -> None:
    found = checklist(context, made(context, tmp_path))
    stands = {item.id: item.status for item in found.items}
    assert stands["verified"] is Status.PASS
    assert stands["source"] is Status.NOT_APPLICABLE
    assert stands["privacy-loss"] is Status.REVIEW
    assert stands["unit"] is Status.REVIEW
    assert stands["left-out"] is Status.FAIL  # a quarter of the rows have an odd sex
    assert "smallest-class" not in stands
    assert "ε = 1" in found.item("privacy-loss").evidence
    assert "24 %" in found.item("privacy-loss").evidence
    assert "“register”" in found.item("budget").evidence


def test_rows_that_went_to_a_declared_category_are_told_by_column(
    context: AppContext, tmp_path: Path
) -> None:
    rows = people()
    domains = {"sex": ["f", "m"], "region": ["north", "south", "other"]}
    path = release(
        context, write_plan(write_register(tmp_path, rows), domains=domains), tmp_path / "out"
    ).out
    told = checklist(context, path).item("left-out").evidence
    moved = sum(region in ("zqisland", "") for _, _, region, *_ in rows)
    assert "In one column, rows were moved to a declared category for all other values: " in told
    assert f": {moved} by `region`" in told


def test_errors_of_several_measures_are_told_apart(context: AppContext, tmp_path: Path) -> None:
    measure = ["count", {"sum": "pay", "lower": 0, "upper": 1000}]
    told = checklist(context, made(context, tmp_path, measure=measure)).item("error").evidence
    assert "The largest standard deviation of the count is " in told
    assert "The largest standard deviation of the sum of pay is " in told


@pytest.mark.parametrize(("limit", "status"), [(0.9, Status.FAIL), (1, Status.PASS)])
def test_epsilon_is_held_against_the_policy(
    context: AppContext, tmp_path: Path, limit: float, status: Status
) -> None:
    found = checklist(context, made(context, tmp_path), limits={"maximum_epsilon": limit})
    assert found.item("epsilon").status is status


def test_rho_is_held_against_a_limit_of_epsilon(context: AppContext, tmp_path: Path) -> None:
    # rho 0.01 at delta 1e-6: 0.01 + 2 sqrt(0.01 * ln 1e6) = 0.7534
    path = made(context, tmp_path, rho=0.01)
    assert checklist(context, path, limits={"maximum_epsilon": 0.754}).item("epsilon").status is (
        Status.PASS
    )
    assert checklist(context, path, limits={"maximum_epsilon": 0.753}).item("epsilon").status is (
        Status.FAIL
    )


@pytest.mark.parametrize("keys", [{"epsilon": 50}, {"epsilon": 1e30}])
def test_a_budget_that_protects_nobody_is_told_before_and_refused_after(
    context: AppContext, tmp_path: Path, keys: dict[str, Any]
) -> None:
    found = checklist(context, made(context, tmp_path, **keys)).item("privacy-loss")
    assert found.status is Status.FAIL
    assert found.advice.startswith("Such a large ε protects no one.")
    stored = json.loads((tmp_path / "out/internal/evidence.json").read_text("utf-8"))
    notes = read_again(stored, stored[TABLE])["notes"]
    assert isinstance(notes, list)
    told = [note for note in notes if "the noise protects no one" in note]
    assert len(told) == 1
    assert voice_of("de").known(told[0]) not in (None, told[0])


@pytest.mark.parametrize(("column", "status"), [("Reg*", Status.FAIL), ("pay", Status.PASS)])
def test_forbidden_columns_may_be_no_dimensions(
    context: AppContext, tmp_path: Path, column: str, status: Status
) -> None:
    found = checklist(context, made(context, tmp_path), columns={"forbidden": [column]})
    assert found.item("forbidden-columns").status is status


def test_a_manifest_that_promises_more_than_its_noise_keeps_fails(
    context: AppContext, tmp_path: Path
) -> None:
    path = made(context, tmp_path)
    said: dict[str, Any] = manifest_of(path)
    said["result"]["scales"] = [scale / 3 for scale in said["result"]["scales"]]
    seal_again(path, said)
    found = checklist(context, path)
    assert found.item("verified").status is Status.FAIL
    assert found.item("privacy-loss").status is Status.FAIL
