"""The window of the budget ledger: who, what, when, what is left, limits, lost entries."""

from __future__ import annotations

import shutil
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from dpdesk.app import budgets
from dpdesk.app.ledgers import LedgerDesk, open_ledger
from dpdesk.app.types import AppContext
from dpdesk.core.budget import Draws, Noise, PureEpsilon
from dpdesk.core.charts import ScatterChart
from dpdesk.core.jobs import silent
from dpdesk.project.ledger import Witness
from dpdesk.ui.jobs import JobHub
from dpdesk.ui.theme import ThemeManager
from dpdesk.ui.windows.ledger import LedgerWindow
from dpdesk.ui.workbench import Workbench
from tests.helpers.a11y import findings
from tests.helpers.debits import SOURCE
from tests.helpers.sitting import Sitting


@pytest.fixture
def desk(bench: Workbench) -> LedgerDesk:
    budget = {"population": "residents", "limit": Decimal(2)}
    return open_ledger(bench.context, bench.context.home, budget)


@pytest.fixture
def window(bench: Workbench, theme: ThemeManager, qtbot: QtBot) -> LedgerWindow:
    made = LedgerWindow(bench.context, bench.hub, theme)
    qtbot.addWidget(made)
    return made


def spend(desk: LedgerDesk, times: int = 4) -> None:
    draws = [Draws(Noise.DISCRETE_LAPLACE, Fraction(1), Fraction(20), 5)]
    for _ in range(times):
        cost = PureEpsilon(Fraction(1, 4))
        desk.debit(desk.request(cost, SOURCE, ["age"], "cube", draws=draws, title="Table"), silent)


def shown(window: LedgerWindow, desk: LedgerDesk, qtbot: QtBot) -> None:
    window.present(desk.path)
    qtbot.waitUntil(lambda: bool(window.answer.text() or window.band.text))


def test_it_shows_who_spent_what_and_what_is_left_with_curves(
    window: LedgerWindow, desk: LedgerDesk, qtbot: QtBot
) -> None:
    spend(desk)
    shown(window, desk, qtbot)
    qtbot.waitUntil(lambda: window.chart.chart is not None)
    assert window.accounts.lines.row(0)[1:5] == ("ε = 1", "ε = 2", "ε = 1", 4)
    assert window.debits.lines.rowCount() == 4
    assert window.debits.lines.row(0)[3:] == ("ε = 0.25", "Table", "spent, outcome unknown")
    assert window.limits.lines.row(0)[3:] == ("ε = 2", "a plan", "Table")
    chart = window.chart.chart
    assert isinstance(chart, ScatterChart)
    assert chart.y_limit == 2
    simple, tight = (series.y for series in chart.series)
    assert simple.tolist() == [0.25, 0.5, 0.75, 1.0]
    assert all(tight <= simple)
    assert len(chart.table.rows) == 4
    assert findings(window) == []


def test_a_limit_is_set_here_and_raised_with_a_reason_only(
    window: LedgerWindow, desk: LedgerDesk, qtbot: QtBot
) -> None:
    spend(desk, 1)
    shown(window, desk, qtbot)
    form = window.form
    assert form.people.text() == "residents"
    form.amount.setText("3")
    form.set.click()
    qtbot.waitUntil(lambda: "needs a reason" in window.band.text)
    form.reason.setText("one more table")
    with qtbot.waitSignal(window.entered):
        form.set.click()
    qtbot.waitUntil(lambda: window.accounts.lines.row(0)[2] == "ε = 3")
    assert window.limits.lines.row(0)[3:] == ("ε = 3", "the owner", "one more table")
    form.amount.setText("much")
    form.set.click()
    assert "expected a number" in form._error.text()


def test_that_two_names_mean_the_same_people_is_declared_here(
    window: LedgerWindow, desk: LedgerDesk, qtbot: QtBot
) -> None:
    spend(desk, 2)
    shown(window, desk, qtbot)
    form = window.people
    assert form.one.text() == "residents"
    form.other.setText("townsfolk")
    form.declare.click()
    qtbot.waitUntil(lambda: "needs a reason" in window.band.text)
    form.reason.setText("both are the register")
    with qtbot.waitSignal(window.entered):
        form.declare.click()
    qtbot.waitUntil(lambda: "are the same people: both are the register" in form._known.text())
    others = open_ledger(desk.context, desk.context.home, {"population": "Townsfolk"})
    request = others.request(PureEpsilon(Fraction(2)), SOURCE, ["age"], "cube")
    refusal = others.preview(request).refusal
    assert refusal is not None
    assert "spent ε = 0.5, requested ε = 2, limit ε = 2" in refusal.sentence
    assert findings(window) == []


def test_lost_entries_are_entered_again_here(
    window: LedgerWindow, desk: LedgerDesk, qtbot: QtBot
) -> None:
    spend(desk, 1)
    old = shutil.copy(desk.path, desk.path.with_name("old"))
    spend(desk, 1)
    shutil.copy(old, desk.path)
    window.present(desk.path)
    qtbot.waitUntil(lambda: window.restore.isVisible())
    assert "old copy" in window.band.text
    window.reason.setText("a backup")
    with qtbot.waitSignal(window.entered):
        window.restore.click()
    qtbot.waitUntil(lambda: window.picture is not None)
    assert window.accounts.lines.row(0)[1] == "ε = 0.5"
    assert not window.restore.isVisible()
    assert budgets.check_ledger(desk.context, desk.path).ok


def test_before_anything_is_spent_it_says_so(
    window: LedgerWindow, desk: LedgerDesk, qtbot: QtBot
) -> None:
    shown(window, desk, qtbot)
    assert window.answer.text() == "Nothing has been spent: there is no ledger yet."
    assert not desk.path.exists()


def test_the_program_shows_at_its_start_that_the_ledger_was_put_back(
    qtbot: QtBot, tmp_path: Path, hub: JobHub, theme: ThemeManager
) -> None:
    with AppContext.open(tmp_path / "home") as context:
        desk = open_ledger(context, context.home, {"population": "residents"})
        spend(desk, 1)
        old = shutil.copy(desk.path, tmp_path / "old")
        spend(desk, 1)
        shutil.copy(old, desk.path)
        sitting = Sitting(qtbot, context, hub, theme)
        beside = sitting.desk.beside
        sitting.quiet(lambda: beside.ledger is not None and beside.ledger.restore.isVisible())
        assert "old copy" in beside.ledger.band.text if beside.ledger is not None else False
        sitting.end()


def test_a_lost_witness_is_accepted_here_and_a_lost_ledger_made_again(
    window: LedgerWindow, desk: LedgerDesk, qtbot: QtBot
) -> None:
    spend(desk, 1)
    Witness.here().path.unlink()
    window.present(desk.path)
    qtbot.waitUntil(lambda: window.accept.isVisible())
    assert window.answer.text() == "△ 3 entries; whether debits are missing is not known."
    assert "does not know this ledger" in window.warning.text()
    assert not window.restore.isVisible()
    assert findings(window) == []
    window.accept.click()
    qtbot.waitUntil(lambda: "needs a reason" in window.band.text)
    window.reason.setText("the disk broke")
    with qtbot.waitSignal(window.entered):
        window.accept.click()
    qtbot.waitUntil(lambda: window.answer.text().startswith("✓"))
    assert not window.accept.isVisible()
    desk.path.unlink()
    window.refresh()
    qtbot.waitUntil(lambda: window.restore.isVisible())
    assert "the ledger is gone" in window.band.text
    window.reason.setText("deleted by mistake")
    with qtbot.waitSignal(window.entered):
        window.restore.click()
    qtbot.waitUntil(lambda: window.answer.text().startswith("✓"))
    assert window.accounts.lines.row(0)[1] == "ε = 0.25"


def test_why_nothing_can_be_spent_is_said_in_german_too(
    window: LedgerWindow, desk: LedgerDesk, qtbot: QtBot, german: None
) -> None:
    spend(desk, 1)
    Witness.here().path.unlink()
    shown(window, desk, qtbot)
    assert "kennt dieses Budgetbuch nicht" in window.warning.text()
    assert "Bis dahin wird nichts verbraucht." in window.warning.text()
