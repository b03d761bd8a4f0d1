"""Methods of every kind that say all of themselves, and the same ones that leave something out.

A release is made with a method that says everything, and then read where the method of the same
name says less: each room that needs what is missing refuses.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from dpdesk.app.browsing import open_cube
from dpdesk.app.buying import TableRequest, make_offer
from dpdesk.app.checklists import ItemStatus, check_release
from dpdesk.app.comparing import compare_plan
from dpdesk.app.context import AppContext
from dpdesk.app.exporting import export_release
from dpdesk.app.querying import open_release
from dpdesk.app.risk import plan_risk, release_risk
from dpdesk.app.running import run_plan
from dpdesk.app.shops import shop_of_file
from dpdesk.app.verifying import verify_release
from dpdesk.core.capabilities import (
    UNKNOWN,
    Capabilities,
    Content,
    Protection,
    Spending,
    Use,
)
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.engine.registry import Registry
from tests.contract.toys import KINDS, NEEDED, ROWS, SAID, refused, saying, toy, write_plan


@pytest.fixture(scope="module")
def context(module_home: Path) -> Iterator[AppContext]:
    with AppContext.open(module_home) as opened:
        yield opened


@pytest.fixture(scope="module")
def made(context: AppContext, tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Path]:
    found = {}
    for kind, said in SAID.items():
        folder = tmp_path_factory.mktemp(kind)
        plan, room = write_plan(folder, kind), saying(context, kind, said)
        found[kind] = run_plan(room, plan, folder / "release", CancelToken(), silent).out
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_a_method_that_says_everything_is_let_into_every_room_that_it_names(
    context: AppContext, made: Mapping[str, Path], tmp_path: Path, kind: str
) -> None:
    room, release, token = saying(context, kind, SAID[kind]), made[kind], CancelToken()
    report = verify_release(release, room.registry, token, silent)
    assert report.failures == ()
    uses = SAID[kind].uses or frozenset()
    opened = refused(lambda: open_release(room, release, token, silent))
    assert opened == ("" if Use.ASKED in uses else "query.no-answers")
    browsed = refused(lambda: open_cube(room, release, token, silent))
    assert browsed == ("" if Use.BROWSED in uses else "browse.no-cube")
    risk = refused(lambda: release_risk(room, release, token))
    assert risk == ("release.unreadable" if kind == "rows" else "")  # it names no columns to count
    out = tmp_path / "table.csv"
    export_release(release, "csv", out, room.workspace, token, silent, registry=room.registry)
    assert out.is_file()
    found = check_release(room, release, token, silent).checklist
    assert not any(item.id == "known-method" for item in found.items)


@pytest.mark.parametrize("kind", ["tables", "graph"])
def test_a_budget_of_fifty_is_counted_and_never_passes(
    context: AppContext, made: Mapping[str, Path], kind: str
) -> None:
    room = saying(context, kind, SAID[kind])
    found = check_release(room, made[kind], CancelToken(), silent).checklist
    telling = [item for item in found.items if "50" in item.evidence]
    assert telling
    assert any(item.status is ItemStatus.FAIL for item in found.items)
    assert not any("spends no" in item.evidence for item in found.items)


@pytest.mark.parametrize(("kind", "missing"), [(k, name) for k in KINDS for name in NEEDED[k]])
def test_nothing_is_run_or_spent_with_a_method_that_leaves_out_what_a_release_needs(
    context: AppContext, tmp_path: Path, kind: str, missing: str
) -> None:
    room = saying(context, kind, replace(SAID[kind], **{missing: None}))
    plan, out = write_plan(tmp_path, kind), tmp_path / "out"
    assert refused(lambda: run_plan(room, plan, out, CancelToken(), silent)) == "plan.silent-method"
    assert refused(lambda: plan_risk(room, plan, CancelToken(), silent)) == "plan.silent-method"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["people.csv", "plan.toml"]


@pytest.mark.parametrize(("kind", "missing"), [(k, name) for k in KINDS for name in NEEDED[k]])
def test_a_release_of_such_a_method_opens_in_no_room(
    context: AppContext, made: Mapping[str, Path], tmp_path: Path, kind: str, missing: str
) -> None:
    room, release = saying(context, kind, replace(SAID[kind], **{missing: None})), made[kind]
    token, out = CancelToken(), tmp_path / "table.csv"
    found = verify_release(release, room.registry, token, silent)
    assert any("the method does not say" in failure.reason for failure in found.failures)
    assert refused(lambda: open_release(room, release, token, silent)) == "release.not-intact"
    assert refused(lambda: open_cube(room, release, token, silent)) == "release.not-intact"
    export = refused(
        lambda: export_release(
            release, "csv", out, room.workspace, token, silent, registry=room.registry
        )
    )
    assert export == "export.not-verified"
    listed = check_release(room, release, token, silent).checklist
    assert listed.item("known-method").status is ItemStatus.FAIL
    assert listed.item("verified").status is ItemStatus.FAIL


@pytest.mark.parametrize("kind", KINDS)
def test_what_else_it_leaves_out_is_refused_where_it_is_needed(
    context: AppContext, made: Mapping[str, Path], tmp_path: Path, kind: str
) -> None:
    said = replace(SAID[kind], protection=None, exports=None, uses=None)
    room, release, token = saying(context, kind, said), made[kind], CancelToken()
    assert refused(lambda: release_risk(room, release, token)) == "risk.silent-method"
    assert refused(lambda: open_release(room, release, token, silent)) == "query.no-answers"
    assert refused(lambda: open_cube(room, release, token, silent)) == "browse.no-cube"
    out = tmp_path / "table.csv"
    export = refused(
        lambda: export_release(
            release, "csv", out, room.workspace, token, silent, registry=room.registry
        )
    )
    assert export == "export.silent-method"
    assert not out.exists()
    plan = write_plan(tmp_path, kind)
    assert refused(lambda: plan_risk(room, plan, token, silent)) == "risk.silent-method"
    wish = TableRequest(("sex",), ("epsilon", 1))  # type: ignore[arg-type]
    shop = shop_of_file(plan)
    assert refused(lambda: make_offer(room, shop, wish, (), token, silent)) == "buy.no-cube"
    if kind in ("rows", "drawn"):
        assert refused(lambda: compare_plan(room, plan, token, silent)) == "compare.method"
    listed = check_release(room, release, token, silent).checklist.item("known-method")
    assert listed.status is ItemStatus.FAIL
    for words in ("how it protects", "which formats", "what its releases can be used for"):
        assert words in listed.evidence


@pytest.mark.parametrize("kind", KINDS)
def test_a_release_of_a_method_that_nobody_knows_opens_in_no_room(
    context: AppContext, made: Mapping[str, Path], kind: str
) -> None:
    token = CancelToken()
    assert not verify_release(made[kind], context.registry, token, silent).ok
    assert refused(lambda: open_release(context, made[kind], token, silent))
    assert refused(lambda: release_risk(context, made[kind], token)) == "risk.silent-method"


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("tables", replace(SAID["tables"], spending=Spending.NOTHING)),
        ("tables", replace(SAID["tables"], content=Content.ROWS)),
        ("graph", replace(SAID["graph"], protection=Protection.CLASSES)),
        ("rows", replace(ROWS, spending=Spending.PERSONS)),
        ("rows", replace(ROWS, content=Content.TABLES)),
        ("rows", replace(ROWS, uses=frozenset({Use.ASKED}))),
        ("rows", replace(ROWS, uses=frozenset({Use.COMPARED}))),
    ],
)
def test_a_method_that_says_what_cannot_be_is_not_registered(kind: str, said: Capabilities) -> None:
    with pytest.raises(ValueError, match="toy-"):
        Registry((toy(kind, said),))


def test_a_method_without_a_word_of_itself_can_be_registered_and_says_nothing() -> None:
    registry = Registry((toy("rows", UNKNOWN),))
    assert registry.about("toy-rows") == UNKNOWN
    assert registry.about("no such method") == UNKNOWN
