"""What is added to a view in the background: when it begins, gives way, and stays stopped."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import cast

import pytest
from pytestqt.qtbot import QtBot

from dpdesk.app.types import ExplorationView, Explored
from dpdesk.core.jobs import CancelToken, Report
from dpdesk.ui.jobs import JobHub
from dpdesk.ui.panels.protect.presenter import GrowingViews, LiveAnswer
from tests.helpers.waiting import PATIENCE_SECONDS


class Slow:
    """Grows one thing, when it is let; a cancel ends it."""

    def __init__(self) -> None:
        self.asked: list[Mapping[str, object]] = []
        self.entered, self.leave = threading.Event(), threading.Event()

    def grow(
        self, parameters: Mapping[str, object], token: CancelToken, report: Report
    ) -> ExplorationView:
        """The view without anything pending."""
        self.asked.append(parameters)
        self.entered.set()
        with token.on_cancel(self.leave.set):
            assert self.leave.wait(PATIENCE_SECONDS)
        self.leave.clear()
        token.check()
        return view("")


def view(pending: str) -> ExplorationView:
    return ExplorationView(True, "8 tables.", (), (), pending=pending)


def answer(slow: Slow, pending: str = "the planner Optimal", **parameters: object) -> LiveAnswer:
    return LiveAnswer(cast(Explored, slow), parameters, view(pending))


@pytest.fixture
def growing(hub: JobHub) -> GrowingViews:
    return GrowingViews(hub)


def test_what_is_pending_is_made_and_announced(growing: GrowingViews, qtbot: QtBot) -> None:
    slow = Slow()
    slow.leave.set()
    with qtbot.waitSignal(growing.arrived) as arrived:
        growing.follow(answer(slow, epsilon=1))
    assert arrived.args is not None
    assert arrived.args[0].view.pending == ""
    assert arrived.args[0].parameters == {"epsilon": 1}
    assert growing.job == 0


def test_nothing_begins_where_nothing_is_pending(growing: GrowingViews, hub: JobHub) -> None:
    growing.follow(answer(Slow(), pending=""))
    assert not hub.busy
    assert not growing._rest.isActive()


def test_another_budget_does_not_stop_it_and_other_settings_do(
    growing: GrowingViews, qtbot: QtBot
) -> None:
    slow = Slow()
    growing.follow(answer(slow, epsilon=1, planner="base"))
    qtbot.waitUntil(slow.entered.is_set)
    first = growing.job
    growing.follow(answer(slow, epsilon=2, planner="base"))
    assert growing.job == first
    slow.entered.clear()
    growing.follow(answer(slow, epsilon=2, planner="all"))
    qtbot.waitUntil(slow.entered.is_set)
    assert growing.job != first
    assert slow.asked[-1] == {"epsilon": 2, "planner": "all"}
    with qtbot.waitSignal(growing.arrived):
        slow.leave.set()


def test_what_somebody_cancelled_is_not_begun_again_for_the_same_settings(
    growing: GrowingViews, hub: JobHub, qtbot: QtBot
) -> None:
    slow = Slow()
    growing.follow(answer(slow, epsilon=1, planner="base"))
    qtbot.waitUntil(slow.entered.is_set)
    hub.cancel(growing.job)
    qtbot.waitUntil(lambda: growing.job == 0)
    growing.follow(answer(slow, epsilon=3, planner="base"))
    assert not growing._rest.isActive()
    growing.follow(answer(slow, epsilon=3, planner="all"))
    assert growing._rest.isActive()
    growing.forget()
    assert not growing._rest.isActive()


def test_what_somebody_cancelled_is_named_and_computed_when_it_is_asked_for(
    growing: GrowingViews, hub: JobHub, qtbot: QtBot
) -> None:
    slow, named = Slow(), list[str]()
    growing.stopped.connect(named.append)
    growing.follow(answer(slow, epsilon=1, planner="base"))
    qtbot.waitUntil(slow.entered.is_set)
    with qtbot.waitSignal(growing.stopped):
        hub.cancel(growing.job)
    growing.follow(answer(slow, epsilon=3, planner="base"))
    assert named == ["", "the planner Optimal", "the planner Optimal"]
    slow.leave.set()
    with qtbot.waitSignal(growing.arrived) as arrived:
        growing.again()
    assert named[-1] == ""
    assert arrived.args is not None
    assert arrived.args[0].parameters == {"epsilon": 3, "planner": "base"}
