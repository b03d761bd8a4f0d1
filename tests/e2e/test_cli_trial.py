"""``dpdesk trial``: what lies outside the declared categories is seen before a budget is spent."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dpdesk.app.checklists import check_release
from dpdesk.app.context import AppContext
from dpdesk.app.private.trial import try_plan, try_work
from dpdesk.cli.main import main
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.io.planfile import read_plan
from dpdesk.io.store import DataStore
from dpdesk.project.audit import AuditLog
from dpdesk.project.review.policy import Policy
from dpdesk.project.review.votes import ItemStatus as Status
from dpdesk.project.work import WorkState
from tests.helpers.cubes import release, write_plan, write_register
from tests.helpers.pinned import pin

Rows = list[tuple[str, str, str, str, str]]


def coded(count: int = 200) -> Rows:
    """A register where sex is 1 or 2, and one row in a hundred has an odd region."""
    return [
        (f"p{n}", "12"[n % 2], "zq" if n % 100 == 7 else "north", "41", "100") for n in range(count)
    ]


@pytest.fixture
def context(private_home: Path) -> Iterator[AppContext]:
    with AppContext.open(private_home) as opened:
        yield opened


def plan_of(folder: Path, rows: Rows, **keys: Any) -> Path:
    return write_plan(write_register(folder, rows), budget="limit = 2.0", **keys)


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, dict[str, Any], str]:
    code = main(["trial", *arguments, "--json"])
    printed = capsys.readouterr()
    return code, json.loads(printed.out.splitlines()[-1]), printed.err


def test_wrong_categories_are_seen_before_a_budget_is_spent(
    tmp_path: Path, private_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = plan_of(tmp_path, coded(), domains={"sex": ["male", "female"], "region": ["north"]})
    code, found, error = said(capsys, str(plan))
    assert code == 1
    assert "column sex: 200 of 200 rows are outside the declared categories" in error
    sex, region, age = found["columns"]
    assert (sex["column"], sex["outside"], sex["share"]) == ("sex", 200, 1.0)
    assert {one["value"]: one["rows"] for one in sex["values"]} == {"1": 100, "2": 100}
    assert (region["outside"], region["values"]) == (2, [{"value": "zq", "rows": 2}])
    assert age["outside"] == 0
    assert (found["rows"], found["left_out"], found["ok"]) == (200, 200, False)
    assert not (private_home / "ledger.sqlite").exists()
    with AuditLog.open_home(private_home) as log:
        (entry,) = log.entries_of("tried on the data")
    assert "200" not in entry.details
    main(["trial", str(plan)])
    assert "Internal: a look at the data" in capsys.readouterr().out


def test_a_few_rows_outside_pass_and_more_are_a_matter_of_the_policy(
    tmp_path: Path, private_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = plan_of(tmp_path, coded(), domains={"sex": ["1", "2"], "region": ["north"]})
    code, found, _ = said(capsys, str(plan))
    assert (code, found["left_out"], found["limit"]) == (0, 2, 0.05)
    (private_home / "policy.toml").write_text("version = 1\n[limits]\nmaximum_outside = 0.005\n")
    assert said(capsys, str(plan))[0] == 1


def test_a_category_for_all_others_may_take_half_of_the_rows_and_not_more(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    domains = {"sex": ["1", "other"], "region": ["north", "other"]}
    plan = plan_of(tmp_path, coded(), domains=domains)
    code, found, _ = said(capsys, str(plan))
    assert (code, found["columns"][0]["outside"], found["left_out"]) == (0, 100, 0)
    domains["sex"] = ["male", "other"]
    code, found, _ = said(capsys, str(plan_of(tmp_path / "b", coded(), domains=domains)))
    assert (code, found["columns"][0]["taker"]) == (1, "other")


def test_a_plan_without_noise_has_nothing_to_try(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = plan_of(tmp_path, coded())
    text = plan.read_text("utf-8")
    head = text.partition("[protection]")[0]
    plan.write_text(f'{head}[protection]\nmethod = "k-anonymity"\nk = 2\n', "utf-8")
    assert main(["trial", str(plan)]) == 2
    assert "spends no budget" in capsys.readouterr().err


def test_the_checklist_fails_a_release_whose_categories_miss_the_rows(
    context: AppContext, tmp_path: Path
) -> None:
    domains = {"sex": ["male", "female"], "region": ["north"]}
    out = release(context, plan_of(tmp_path, coded(), domains=domains), tmp_path / "out").out
    item = check_release(context, out, CancelToken(), silent, None).checklist.item("left-out")
    assert item.status is Status.FAIL
    assert "200 rows (100 %) have a value outside the declared categories" in item.evidence
    assert "5 %" in item.evidence
    policy = Policy.from_plain({"version": 1, "limits": {"maximum_outside": 1}}, "policy")
    item = check_release(context, out, CancelToken(), silent, policy).checklist.item("left-out")
    assert item.status is Status.REVIEW


def test_a_run_says_nothing_of_rows_outside_and_the_guarantee_what_it_does_not_cover(
    context: AppContext, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told = []
    for number, rows in enumerate((coded(), [*coded(), ("q", "x", "y", "z", "-")])):
        plan = plan_of(tmp_path / str(number), rows, domains={"sex": ["1"], "region": ["north"]})
        assert main(["run", str(plan), "--out", str(tmp_path / f"out{number}")]) == 0
        printed = capsys.readouterr()
        told.append(printed.out.replace(f"out{number}", "out") + printed.err)
        manifest = json.loads((tmp_path / f"out{number}/public/manifest.json").read_text("utf-8"))
        limits = manifest["guarantee"]["does_not_cover"]
        assert any("trial runs" in sentence for sentence in limits)
    assert "outside" not in told[0]


def test_the_window_tries_the_rows_that_a_release_would_count(
    tmp_path: Path, context: AppContext
) -> None:
    folder = write_register(tmp_path, coded())
    plan = pin(
        write_plan(folder, budget="limit = 2.0", domains={"sex": ["1", "2"], "region": ["north"]})
    )
    text = plan.read_text("utf-8")
    changed = text.replace('sex = "text"', 'sex = "date"')
    assert changed != text
    plan.write_text(changed.replace("[source]\n", '[source]\ndate_order = "ymd"\n'), "utf-8")
    token = CancelToken()
    work = WorkState.from_plan(read_plan(plan), plan.parent)
    source = replace(work.source, types=(), date_order=None)
    with closing(DataStore.open(source, work.base, context.workspace, token, silent)) as data:
        tried = try_work(context, data, work, token, silent)
    assert tried == try_plan(context, plan, token, silent)
    # As dates, which the open data do not have them for, the codes are none of the categories.
    assert tried.found.columns[0].rows == 200
