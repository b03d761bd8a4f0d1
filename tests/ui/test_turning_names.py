"""Names and values that would turn the words around them, or widen a window without end."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractButton, QLabel, QLineEdit, QWidget
from pytestqt.qtbot import QtBot

from dpdesk.app.running import run_plan
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.core.shown import LONGEST_VALUE
from dpdesk.ui.browsing import BrowseWindow
from dpdesk.ui.files import file_stem
from dpdesk.ui.models.table import ListModel
from dpdesk.ui.panels.attributes import AttributesPanel
from dpdesk.ui.panels.compare import ComparePanel
from dpdesk.ui.panels.data import DataPanel
from dpdesk.ui.panels.hierarchies import HierarchiesPanel
from dpdesk.ui.panels.protect import ProtectPanel
from dpdesk.ui.panels.review import ReviewPanel
from dpdesk.ui.theme import ThemeManager
from dpdesk.ui.windows.asking import AskWindow
from dpdesk.ui.words.numbers import legible, quoted, short_name, shortened
from dpdesk.ui.words.spoken import said
from dpdesk.ui.workbench import Workbench
from tests.helpers.asking import ScriptedAsker
from tests.helpers.people_plan import open_plan
from tests.helpers.pinned import pin
from tests.helpers.sitting import shown

TURNED = "ag\u202ee\u2066 <b>x"
NAMES = {"turned": TURNED, "long": "y" * 30_000}
METHODS = {
    "k-anonymity": "k = 3\nmax_suppression = 1.0\n",
    "l-diverted": "l = 2\nsensitive = [{name}]\n",
    "dp-cube": 'dimensions = ["sex", {name}]\nepsilon = 1\n[protection.domains]\n'
    'sex = ["f", "m"]\n{name} = [{name}, "s", "w"]\n',
}


def plan_with(folder: Path, name: str, method: str) -> Path:
    """A plan over a column of this name, in which the name is a value too."""
    draw = random.Random(3)
    folder.mkdir(exist_ok=True)
    lines = [f"{draw.choice('fm')},{draw.choice([name, 's', 'w'])}" for _ in range(60)]
    (folder / "people.csv").write_text("\n".join([f"sex,{name}", *lines]) + "\n", "utf-8")
    key, plan = json.dumps(name), folder / "plan.toml"
    role = "sensitive" if method == "l-diverted" else "quasi-identifier"
    plan.write_text(
        f'version = 1\ntitle = {json.dumps(name[:100])}\n[source]\npath = "people.csv"\n'
        f'[attributes]\nsex = {{ role = "quasi-identifier" }}\n{key} = {{ role = "{role}" }}\n'
        f'[protection]\nmethod = "{method}"\n{METHODS[method].format(name=key)}',
        "utf-8",
    )
    return pin(plan) if method == "dp-cube" else plan


def odd_texts(window: QWidget) -> Iterator[str]:
    """Texts that a window draws or says and that turn, or are longer than can be drawn."""
    for one in (window, *window.findChildren(QWidget)):
        drawn = isinstance(one, QLabel | QAbstractButton) and not isinstance(one, QLineEdit)
        spoken = [one.toolTip(), one.accessibleName(), one.accessibleDescription()]
        for text in [one.text(), *spoken] if drawn else spoken:
            if legible(text) != text:
                yield f"{type(one).__name__}: {text[:200]!a}"


@pytest.mark.parametrize("method", ["k-anonymity", "l-diverted"])
@pytest.mark.parametrize("name", list(NAMES))
def test_no_panel_lets_a_name_turn_or_widen_it(
    bench: Workbench, theme: ThemeManager, qtbot: QtBot, tmp_path: Path, name: str, method: str
) -> None:
    asker = ScriptedAsker()
    kinds = (DataPanel, AttributesPanel, ProtectPanel, ComparePanel)
    panels = [shown(kind(bench, theme), qtbot) for kind in kinds]
    panels += [shown(kind(bench, theme, asker), qtbot) for kind in (HierarchiesPanel, ReviewPanel)]
    plan = plan_with(tmp_path / "work", NAMES[name], method)
    out = run_plan(bench.context, plan, tmp_path / "release", CancelToken(), silent).out
    open_plan(bench, plan, qtbot)
    for path in (None, out):
        if path is not None:
            bench.open_path(path)
            qtbot.waitUntil(lambda: bench.verified is not None and not bench.hub.busy)
        for panel in panels:
            getattr(panel, "activated", lambda: None)()
            qtbot.waitUntil(lambda: not bench.hub.busy)
            assert list(odd_texts(panel)) == []


@pytest.mark.parametrize("name", list(NAMES))
def test_a_released_cube_does_not_turn_or_widen_the_window_that_shows_it(
    bench: Workbench, theme: ThemeManager, qtbot: QtBot, tmp_path: Path, name: str
) -> None:
    plan = plan_with(tmp_path / "work", NAMES[name], "dp-cube")
    out = run_plan(bench.context, plan, tmp_path / "release", CancelToken(), silent).out
    window = BrowseWindow(bench.context, bench.hub, theme, ScriptedAsker(), lambda: None)
    qtbot.addWidget(window)
    window.open(out)
    qtbot.waitUntil(lambda: window.seen is not None and not bench.hub.busy)
    assert list(odd_texts(window)) == []
    qtbot.keyClick(window.side.chip(NAMES[name]), Qt.Key.Key_F)
    listed = window.side.keep.list.item(0).text()
    assert legible(listed) == listed
    window.step("kept", window.state.keep(NAMES[name], (NAMES[name],)))  # type: ignore[union-attr]
    qtbot.waitUntil(lambda: window.seen is not None and not bench.hub.busy)
    window.page.toggle()
    assert list(odd_texts(window)) == []
    screen = window.screen().availableSize().width()
    assert window.title.minimumSizeHint().width() < 40 * LONGEST_VALUE
    assert window.minimumSizeHint().width() < screen
    assert window.side.minimumSizeHint().width() < screen


@pytest.mark.parametrize("name", list(NAMES))
def test_released_rows_do_not_turn_the_window_that_asks_them(
    bench: Workbench, theme: ThemeManager, qtbot: QtBot, tmp_path: Path, name: str
) -> None:
    plan = plan_with(tmp_path / "work", NAMES[name], "l-diverted")
    out = run_plan(bench.context, plan, tmp_path / "release", CancelToken(), silent).out
    window = AskWindow(bench.context, bench.hub, theme, lambda: None)
    qtbot.addWidget(window)
    window.open(out)
    qtbot.waitUntil(lambda: window.found is not None and not bench.hub.busy)
    assert list(odd_texts(window)) == []
    window.side.by.setCurrentIndex(window.side.by.findData(NAMES[name]))
    window.side.by.activated.emit(window.side.by.currentIndex())
    qtbot.waitUntil(lambda: window.found is not None and not bench.hub.busy)
    assert list(odd_texts(window)) == []


@pytest.mark.parametrize("words", [shortened, short_name, quoted, said, legible])
def test_what_words_are_made_of_a_name_turns_nothing(words) -> None:  # type: ignore[no-untyped-def]
    found = words(f"a{TURNED}\x1b[31m\x00")
    assert found.isprintable()
    assert "\\u202e" in found


def test_a_model_gives_the_view_nothing_that_turns() -> None:
    model = ListModel(["name"], [(TURNED,)])
    assert "\\u202e" in str(model.index(0, 0).data())


@pytest.mark.parametrize(
    ("title", "stem"),
    [
        ("Tables 2023/24", "tables-2023-24"),
        ("../../etc/cron.d/x", "etc-cron-d-x"),
        ("\\\\host\\share", "host-share"),
        ("z" * 100_000, "z" * 60),
        ("…/…", ""),
        ("a\x00b\u202ec", "a-b-c"),
    ],
)
def test_the_name_of_a_file_leads_nowhere_else(title: str, stem: str) -> None:
    assert file_stem(title) == stem
