"""The navigation and the status bar tell what applies to the chosen method, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from dpdesk.app.types import AppContext, SetParameters
from dpdesk.core.capabilities import Content, Protection
from dpdesk.ui.jobs import JobHub
from dpdesk.ui.shell.navigation import Navigation
from dpdesk.ui.theme import ThemeManager
from tests.helpers.memory_settings import MemorySettings
from tests.helpers.releases import SOURCE, write_source
from tests.helpers.sitting import Sitting

pytestmark = pytest.mark.plain


@pytest.fixture
def sitting(
    qtbot: QtBot, tmp_path: Path, hub: JobHub, theme: ThemeManager, settings: MemorySettings
) -> Iterator[Sitting]:
    with AppContext.open(tmp_path / "home") as context:
        made = Sitting(qtbot, context, hub, theme, settings)
        made.open(write_source(tmp_path / "work").parent / SOURCE)
        yield made
        made.end()


def told(sitting: Sitting) -> str:
    """What the steps of roles and hierarchies say, and the status bar."""
    steps = sitting.window.findChild(Navigation)
    words = [steps.item(place).data(Qt.ItemDataRole.AccessibleTextRole) for place in (1, 2)]
    return " ".join((*words, sitting.window._strip.texts["k"]))


def test_only_methods_that_make_rows_alike_ask_for_quasi_identifiers(sitting: Sitting) -> None:
    alike, others = [], []
    for method in sitting.bench.methods:
        sitting.bench.choose_method(method)
        sitting.quiet()
        words = told(sitting)
        sitting.window.show_panel("attributes")
        sitting.quiet()
        enabled = sitting.desk.attributes.next_button.isEnabled()
        sitting.window.show_panel("data")
        if method.capabilities.protection is Protection.CLASSES:
            alike.append(method.id)
            assert words.count("mark a quasi-identifier") == 2, method.id
            assert "smallest group" in words, method.id
            assert not enabled, method.id
        else:
            others.append(method.id)
            assert "quasi-identifier" not in words, method.id
            assert "smallest group" not in words, method.id
            assert enabled, method.id
    assert alike
    assert len(others) > 5


def test_rows_that_are_made_alike_before_they_are_drawn_ask_as_well(sitting: Sitting) -> None:
    drawn = (
        one for one in sitting.bench.methods if one.capabilities.protection is Protection.DRAWN
    )
    sitting.bench.choose_method(next(drawn))
    sitting.bench.apply(SetParameters({"k": 3}))
    sitting.quiet()
    assert told(sitting).count("mark a quasi-identifier") == 2


def test_where_no_hierarchy_is_needed_the_step_says_so(sitting: Sitting) -> None:
    cells = (one for one in sitting.bench.methods if one.capabilities.content is Content.CELLS)
    sitting.window.show_panel("hierarchies")
    sitting.quiet()
    assert sitting.desk.hierarchies._empty_roles.accessibleName() == "No quasi-identifier yet"
    sitting.bench.choose_method(next(cells))
    sitting.quiet()
    assert sitting.desk.hierarchies._empty_roles.accessibleName() == "No hierarchy needed"
    assert sitting.desk.hierarchies.next.isVisibleTo(sitting.desk.hierarchies)
