"""Names and values may hold markup: nothing in the window takes it for such."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication, QLabel, QMessageBox, QToolTip, QWidget
from pytestqt.qtbot import QtBot

import dpdesk.ui
from dpdesk.core.charts import Axis
from dpdesk.core.pivot import BrowseState, Step, Trail
from dpdesk.ui.browsing.window import TrailLine
from dpdesk.ui.theme import ThemeManager
from dpdesk.ui.widgets.choices import ChoiceStrip
from dpdesk.ui.widgets.states import LonelyBrowser

HOSTILE = "<b>age</b><img src='file:///etc/hostname'><a href='x'>"
RICH = (
    "setHtml",
    "RichText",
    "MarkdownText",
    "setMarkdown",
    "QTextBrowser",
    "QTextEdit",
    "<b>",
    "<i>",
    "<br>",
)
CONTROLS = ("QPushButton", "QRadioButton", "QCheckBox", "QToolButton", "QGroupBox", "QAction")
NAMED = ("name", "title", "column", "table", "words")


def test_labels_boxes_and_tooltips_show_markup_as_it_is_written(
    qtbot: QtBot, theme: ThemeManager
) -> None:
    theme.apply()
    window = QWidget()
    qtbot.addWidget(window)
    label, box = QLabel(HOSTILE, window), QMessageBox(window)
    box.setText(HOSTILE)
    window.show()
    QToolTip.showText(QPoint(1, 1), HOSTILE, window)
    tips = [one for one in QApplication.allWidgets() if one.metaObject().className() == "QTipLabel"]
    assert tips
    for one in (label, *box.findChildren(QLabel), *tips):
        assert isinstance(one, QLabel)
        one.ensurePolished()
        assert one.textFormat() is Qt.TextFormat.PlainText
    QToolTip.hideText()


def test_ampersands_of_names_are_seen_on_choices_and_steps(qtbot: QtBot) -> None:
    """Qt takes a single one for the mark of a letter to press: `R&D` would be shown as `RD`."""
    choices, steps = ChoiceStrip("Pictures"), TrailLine()
    qtbot.addWidget(choices)
    qtbot.addWidget(steps)
    choices.set_choices([("a", "R&D")])
    steps.show_trail(Trail((Step("All & sundry", BrowseState()), Step("R&D", BrowseState()))))
    assert choices.button("a").text() == "R&&D"
    assert choices.button("a").shortcut().isEmpty()
    assert [one.text() for one in steps.buttons] == ["All && sundry", "› R&&D"]
    assert choices.button("a").accessibleName().startswith("R&D")


def test_ampersands_are_doubled_in_one_place() -> None:
    """Where a name goes to a button, the words for it come from `verbatim`."""
    room = Path(str(dpdesk.ui.__file__)).parent
    found = [
        path.relative_to(room).as_posix()
        for path in sorted(room.rglob("*.py"))
        if '"&", "&&"' in path.read_text(encoding="utf-8")
    ]
    assert found == ["words/numbers.py"]
    bare = []
    for path in sorted(room.rglob("*.py")):
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(call, ast.Call) and _sets_a_letter(call):
                bare += [
                    f"{path.name}: {ast.unparse(one)}"
                    for argument in call.args
                    for one in ast.walk(argument)
                    if isinstance(one, ast.Attribute) and one.attr in NAMED
                    if not isinstance(argument, ast.Call)
                    or getattr(argument.func, "id", "") != "verbatim"
                ]
    assert not bare


def _sets_a_letter(call: ast.Call) -> bool:
    """Whether the call makes a control of which the text may hold the letter to press."""
    return getattr(call.func, "id", "") in CONTROLS


def test_titles_of_axes_show_markup_as_it_is_written(qtbot: QtBot) -> None:
    from dpdesk.ui.charts.axes import NumberAxis

    axis = NumberAxis("bottom")
    axis.describe(Axis(HOSTILE))
    assert axis.label.toPlainText().strip() == HOSTILE


@pytest.mark.parametrize("written", ["{0}", "file://{0}", "{1}"])
def test_a_page_of_a_release_shows_no_picture_of_this_computer(
    qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, written: str
) -> None:
    picture = QImage(80, 80, QImage.Format.Format_RGB32)
    picture.fill(Qt.GlobalColor.red)
    assert picture.save(str(tmp_path / "own.png"))
    monkeypatch.chdir(tmp_path)
    page = LonelyBrowser()
    qtbot.addWidget(page)
    page.resize(300, 200)
    page.setHtml(f"<p>before<img src='{written.format(tmp_path / 'own.png', 'own.png')}'>after")
    page.show()
    seen = page.grab().toImage()
    points = (seen.pixelColor(x, y) for x in range(0, 300, 5) for y in range(0, 200, 5))
    assert not any(point == Qt.GlobalColor.red for point in points)


@cache
def _modules_of_the_window() -> list[tuple[str, frozenset[str], tuple[str, ...]]]:
    """Each with the names that it uses, and its texts with markup."""
    found = []
    for path in sorted(Path(str(dpdesk.ui.__file__)).parent.rglob("*.py")):
        nodes = [*ast.walk(ast.parse(path.read_text(encoding="utf-8")))]
        names = frozenset(getattr(node, "attr", getattr(node, "id", "")) for node in nodes)
        texts = (node.value for node in nodes if isinstance(node, ast.Constant))
        marked = (text for text in texts if isinstance(text, str) and "<" in text)
        found.append((path.name, names, tuple(marked)))
    return found


@pytest.mark.parametrize("word", RICH)
def test_no_module_of_the_window_asks_for_rich_text(word: str) -> None:
    """What must be styled is styled by the sheet; what needs markup escapes it and says so.

    Pages of a release are markup by nature: the reviewer's viewer shows them, and loads nothing.
    Those of the guide come with the program, and no text of data is in them.
    """
    found = [
        name
        for name, names, texts in _modules_of_the_window()
        if word in names or ("<" in word and any(word in text for text in texts))
    ]
    pages = {
        "setHtml": {"decide_page.py"},
        "QTextBrowser": {"states.py"},
        "setMarkdown": {"guide.py"},
    }
    assert set(found) == pages.get(word, set())
