"""Methods that nobody has heard of, in every panel of the window: what they do not say is said to
be missing, and nothing is said in their place.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtWidgets import QAbstractButton, QLabel, QTextEdit, QWidget
from pytestqt.qtbot import QtBot

from dpdesk.app.context import AppContext
from dpdesk.app.running import run_plan
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.ui.panels.attributes import AttributesPanel
from dpdesk.ui.panels.compare import ComparePanel
from dpdesk.ui.panels.data import DataPanel
from dpdesk.ui.panels.hierarchies import HierarchiesPanel
from dpdesk.ui.panels.protect import ProtectPanel
from dpdesk.ui.panels.review import ReviewPanel
from dpdesk.ui.theme import ThemeManager
from dpdesk.ui.words.settings import planned_words
from dpdesk.ui.workbench import Workbench
from tests.contract.test_toys_everywhere import NOTHING, knowing, planned
from tests.contract.toys import ROWS, saying
from tests.helpers.asking import ScriptedAsker
from tests.helpers.people_plan import open_plan
from tests.helpers.sitting import shown

pytestmark = pytest.mark.cheap_prints

KINDS = ("silent", "rows", "promising", "tables")


@pytest.fixture
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def context(private_home: Path, kind: str) -> Iterator[AppContext]:
    with AppContext.open(private_home) as opened:
        yield knowing(opened, kind)


@pytest.fixture
def panels(bench: Workbench, theme: ThemeManager, qtbot: QtBot) -> dict[str, QWidget]:
    asker = ScriptedAsker()
    return {
        "data": shown(DataPanel(bench, theme), qtbot),
        "attributes": shown(AttributesPanel(bench, theme), qtbot),
        "hierarchies": shown(HierarchiesPanel(bench, theme, asker), qtbot),
        "protect": shown(ProtectPanel(bench, theme), qtbot),
        "compare": shown(ComparePanel(bench, theme), qtbot),
        "review": shown(ReviewPanel(bench, theme, asker), qtbot),
    }


def words_in(panel: QWidget) -> str:
    """All that a panel shows."""
    found = [one.text() for one in panel.findChildren(QLabel) if one.isVisibleTo(panel)]
    found += [one.text() for one in panel.findChildren(QAbstractButton) if one.isVisibleTo(panel)]
    found += [one.toPlainText() for one in panel.findChildren(QTextEdit) if one.isVisibleTo(panel)]
    return "\n".join(found)


def gone_through(panels: dict[str, QWidget], bench: Workbench, qtbot: QtBot) -> dict[str, str]:
    """What each panel shows when it has been looked at."""
    found = {}
    for name, panel in panels.items():
        activated = getattr(panel, "activated", None)
        if activated is not None:
            activated()
        qtbot.waitUntil(lambda: not bench.hub.busy)
        found[name] = words_in(panel)
    return found


@pytest.mark.parametrize("kind", KINDS, indirect=True)
def test_a_plan_of_a_toy_is_shown_in_every_panel_by_what_the_toy_says(
    panels: dict[str, QWidget], bench: Workbench, qtbot: QtBot, tmp_path: Path, kind: str
) -> None:
    open_plan(bench, planned(tmp_path, kind), qtbot)
    said = gone_through(panels, bench, qtbot)
    review = panels["review"]
    assert isinstance(review, ReviewPanel)
    accused = "says that it spends nothing of a privacy budget"  # a question that fails
    assert (accused in said["review"]) is (kind == "promising")
    assert not NOTHING.search("\n".join(said.values()).replace(accused, ""))
    if kind == "silent":
        assert "does not say" in said["protect"]
        assert "does not say" in said["review"]
        assert "Go to Attributes" not in said["protect"]
        assert not review.preparing.can_write
    else:
        assert "does not say" not in said["protect"]
    method = bench.method
    assert bool(planned_words(method, bench.work)) is (kind == "tables")
    assert bench.spends is (kind == "tables")


@pytest.mark.parametrize("kind", KINDS, indirect=True)
def test_a_release_of_a_toy_is_shown_by_what_the_toy_says(
    panels: dict[str, QWidget], bench: Workbench, qtbot: QtBot, tmp_path: Path, kind: str
) -> None:
    plan, room = planned(tmp_path, kind), bench.context
    maker = saying(room, "rows", ROWS) if kind == "silent" else room
    out = run_plan(maker, plan, tmp_path / "release", CancelToken(), silent).out
    bench.open_path(out)
    qtbot.waitUntil(lambda: bench.verified is not None and not bench.hub.busy)
    said = gone_through(panels, bench, qtbot)
    assert bench.verified is not None
    assert bench.verified.ok is (kind != "silent")
    if kind in ("silent", "tables"):
        assert not NOTHING.search("\n".join(said.values()))
    if kind == "silent":
        assert "does not say what it releases" in said["review"]
        exports = panels["review"].release.exports  # type: ignore[attr-defined]
        assert not any(one.isVisibleTo(panels["review"]) for one in exports.buttons.values())


@pytest.mark.usefixtures("german")
@pytest.mark.parametrize("kind", ["silent"], indirect=True)
def test_what_a_toy_does_not_say_is_said_to_be_missing_in_german(
    panels: dict[str, QWidget], bench: Workbench, qtbot: QtBot, tmp_path: Path, kind: str
) -> None:
    """Also where it is more than one thing."""
    open_plan(bench, planned(tmp_path, kind), qtbot)
    found = gone_through(panels, bench, qtbot)
    for name in ("protect", "review"):
        assert "does not say" not in found[name]
        assert "sagt nicht, was es veröffentlicht; auch nicht, was es verbraucht" in found[name]
