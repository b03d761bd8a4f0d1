"""Work for spare time: in order, with turns of the loop between, and nothing for who is gone."""

from __future__ import annotations

from collections.abc import Iterator

import shiboken6
from PySide6.QtCore import QObject, QTimer
from pytestqt.qtbot import QtBot

from dpdesk.ui.charts import ChartView
from dpdesk.ui.jobs import SpareTime
from dpdesk.ui.theme import ThemeManager


class Worker(QObject):
    def __init__(self, name: str, done: list[str]) -> None:
        super().__init__()
        self._name, self._done = name, done

    def work(self) -> None:
        self._done.append(self._name)


def test_pieces_come_in_order_and_others_have_their_turn_between(qtbot: QtBot) -> None:
    done: list[str] = []
    first, second, beat = Worker("first", done), Worker("second", done), Worker("beat", done)
    timer = QTimer()
    timer.timeout.connect(beat.work)
    timer.start(1)
    spare = SpareTime()
    spare.add([first.work, second.work])
    assert spare.busy
    qtbot.waitUntil(lambda: not spare.busy)
    timer.stop()
    assert [name for name in done if name != "beat"] == ["first", "second"]
    assert "beat" in done[done.index("first") : done.index("second")]


def test_a_piece_of_an_object_that_is_gone_is_left_out(qtbot: QtBot) -> None:
    done: list[str] = []
    gone, here = Worker("gone", done), Worker("here", done)
    spare = SpareTime()
    spare.add([gone.work, here.work])
    shiboken6.delete(gone)
    qtbot.waitUntil(lambda: not spare.busy)
    assert done == ["here"]


def test_steps_are_taken_one_a_turn_and_before_what_came_later(qtbot: QtBot) -> None:
    done: list[str] = []
    later = Worker("later", done)

    def steps() -> Iterator[None]:
        for name in ("first", "second", "third"):
            done.append(name)
            yield

    spare = SpareTime()
    spare.add_steps(steps())
    spare.add([later.work])
    qtbot.waitUntil(lambda: bool(done))
    assert spare.busy
    qtbot.waitUntil(lambda: not spare.busy)
    assert done == ["first", "second", "third", "later"]


def test_stopping_forgets_what_waits(qtbot: QtBot) -> None:
    done: list[str] = []
    worker = Worker("worker", done)
    spare = SpareTime()
    spare.add([worker.work])
    spare.stop()
    assert not spare.busy
    assert not done


def test_a_plot_can_be_made_before_there_is_a_chart(qtbot: QtBot, theme: ThemeManager) -> None:
    view = ChartView(theme)
    qtbot.addWidget(view)
    assert view.surface is None
    view.prepare()
    made = view.surface
    assert made is not None
    view.prepare()
    assert view.surface is made
