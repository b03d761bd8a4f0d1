"""Rounded tables that are too large for programs: what single sums tell of them is said."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from dpdesk.app.context import AppContext
from dpdesk.app.running import run_plan
from dpdesk.app.verifying import verify_release
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.verifiers.tables import attacks


@pytest.fixture
def context(tmp_path: Path) -> Iterator[AppContext]:
    with AppContext.open(tmp_path / "home") as opened:
        yield opened


def test_what_single_sums_tell_of_a_large_rounded_table_is_said(
    context: AppContext, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In each of two places is one person; 3 of 3 and more are as they are."""
    lines = ["a,b,c", "p,x,1", "q,y,2", *["p,y,1"] * 3, *["q,x,2"] * 3]
    (tmp_path / "in.csv").write_text("\n".join(lines) + "\n", "utf-8")
    plan = tmp_path / "plan.toml"
    plan.write_text(
        'version = 1\n[source]\npath = "in.csv"\n[protection]\nmethod = "table"\n'
        'rows = ["a", "b"]\ncolumns = ["c"]\nprotect = "random-round"\nbase = 3\n'
        'rule = [{ rule = "threshold", n = 2, range = 1 }]\n',
        "utf-8",
    )
    made = run_plan(context, plan, tmp_path / "out", CancelToken(), silent).out
    monkeypatch.setattr(attacks, "MOST_ROUNDED", 10)
    report = verify_release(
        made, context.registry, CancelToken(), silent, tmp_path / "in.csv", context.workspace
    )
    claim = next(c for c in report.claims if c.claim == "how closely changed cells can be told")
    assert "single sums" in claim.found
    assert "more than 10 cells" in claim.found
    assert claim.status.value == "cannot be checked by nature"
