"""Actions, declared once; menus, command palette and the help on keys derive from them.

Use::

    actions.add(ActionSpec("compare.keep", self.tr("Save as candidate"), "run", "Ctrl+B",
                           self.tr("Keep this result for comparison")),
                self.keep, enabled=self.can_keep)      # bound methods, kept weakly
    actions.refresh()          # ask all `enabled` again
    actions.trigger("compare.keep")
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from PySide6.QtCore import QCoreApplication, QEvent, QObject, Qt, Signal, SignalInstance, Slot
from PySide6.QtGui import (
    QAction,
    QActionGroup,
    QDragEnterEvent,
    QDropEvent,
    QFocusEvent,
    QKeyEvent,
    QKeySequence,
)
from PySide6.QtWidgets import (
    QApplication,
    QFrame,
    QHeaderView,
    QLabel,
    QLineEdit,
    QMainWindow,
    QMenu,
    QTreeWidget,
    QTreeWidgetItem,
    QWidget,
)

from dpdesk.core.language import languages
from dpdesk.core.messages import msg
from dpdesk.ui.charts.view import ChartSaved
from dpdesk.ui.settings import SYSTEM, SettingsStore, own_name
from dpdesk.ui.theme import SPACE, ThemeManager, set_look
from dpdesk.ui.theme.manager import MODES, TEXT_SIZES
from dpdesk.ui.widgets.layouts import column
from dpdesk.ui.words.numbers import verbatim

MENUS = ("file", "edit", "view", "run", "help")


@dataclass(frozen=True)
class ActionSpec:
    """An action: ``menu`` is one of MENUS or empty (palette only); ``text`` may hold an ``&``.

    ``group`` separates actions of one menu: a rule stands where it changes.
    """

    id: str
    text: str
    menu: str = ""
    shortcut: str = ""
    tip: str = ""
    group: str = ""
    checkable: bool = False

    @property
    def words(self) -> str:
        """The text without its mark for a letter."""
        return self.text.replace("&&", "\0").replace("&", "").replace("\0", "&")

    @property
    def keys(self) -> str:
        """The shortcut as it stands on a keyboard."""
        return self.shortcut.replace("Return", "Enter")


class ActionSet(QObject):
    """All actions of a window; ``performed(str)`` is emitted after each."""

    performed = Signal(str)

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._window = weakref.ref(window)
        self._specs: dict[str, ActionSpec] = {}
        self._actions: dict[str, QAction] = {}
        self._handlers: dict[str, weakref.WeakMethod[Any]] = {}
        self._conditions: dict[str, weakref.WeakMethod[Any]] = {}

    def add(
        self,
        spec: ActionSpec,
        handler: Callable[[], object] | SignalInstance | None = None,
        enabled: Callable[[], bool] | None = None,
    ) -> QAction:
        """Declare an action, and the method that it calls or the signal that it sends.

        ValueError when its id or its keys are taken.
        """
        taken = {known.shortcut for known in self._specs.values() if known.shortcut}
        if spec.id in self._specs or spec.shortcut in taken:
            raise ValueError(f"action {spec.id!r} or its keys {spec.shortcut!r} are taken")
        action = QAction(spec.text, self)
        action.setData(spec.id)
        action.setToolTip(spec.tip or spec.words)
        action.setStatusTip(spec.tip)
        action.setCheckable(spec.checkable)
        if spec.shortcut:
            action.setShortcut(QKeySequence(spec.shortcut))
        if isinstance(handler, SignalInstance):
            action.triggered.connect(handler)
        elif handler is not None:
            self._handlers[spec.id] = weakref.WeakMethod(handler)
        action.triggered.connect(self._on_triggered)
        self._specs[spec.id] = spec
        self._actions[spec.id] = action
        if enabled is not None:
            self._conditions[spec.id] = weakref.WeakMethod(enabled)
        window = self._window()
        if window is not None:
            window.addAction(action)
        return action

    def action(self, identifier: str) -> QAction:
        """The action with this id, for buttons that show it."""
        return self._actions[identifier]

    @property
    def specs(self) -> tuple[ActionSpec, ...]:
        """All declarations, in order."""
        return tuple(self._specs.values())

    def refresh(self) -> None:
        """Enable and disable by the conditions."""
        for identifier, reference in self._conditions.items():
            condition = reference()
            self._actions[identifier].setEnabled(condition is not None and bool(condition()))

    def trigger(self, identifier: str) -> None:
        """Perform an action if it is enabled."""
        self._actions[identifier].trigger()

    def fill(self, menu: QMenu, name: str) -> None:
        """Put all actions of a menu into it, with rules between groups; quitting is the last."""
        wanted = [spec for spec in self._specs.values() if spec.menu == name]
        groups = sorted(dict.fromkeys(spec.group for spec in wanted), key=lambda one: one == "quit")
        for place, group in enumerate(groups):
            if place:
                menu.addSeparator()
            menu.addActions([self._actions[one.id] for one in wanted if one.group == group])

    @Slot()
    def _on_triggered(self) -> None:
        sender = self.sender()
        if not isinstance(sender, QAction):
            return
        identifier = str(sender.data())
        reference = self._handlers.get(identifier)
        handler = None if reference is None else reference()
        if handler is not None:
            handler()
        if handler is not None or reference is None:
            self.performed.emit(identifier)


_ID = Qt.ItemDataRole.UserRole
_STAYS_FOR = (
    Qt.FocusReason.ActiveWindowFocusReason,
    Qt.FocusReason.PopupFocusReason,
    Qt.FocusReason.MenuBarFocusReason,
)


def match_score(wanted: str, text: str) -> int | None:
    """How well some letters fit a text, lower is better; None when they are not all there.

    The letters must occur in order; beginnings of words and neighbours count as close.
    """
    place, score = -1, 0
    lower = text.lower()
    for letter in wanted.lower().replace(" ", ""):
        found = lower.find(letter, place + 1)
        if found < 0:
            return None
        start = found == 0 or lower[found - 1] in " -…"
        score += 0 if found == place + 1 or start else found - place
        place = found
    return score + len(text) // 8


class CommandPalette(QFrame):
    """Opens over its window, filters while typing, performs on Enter, closes on Escape.

    It also closes when the focus goes elsewhere in the window.
    """

    def __init__(self, actions: ActionSet, parent: QWidget) -> None:
        super().__init__(parent)
        self._actions = actions
        set_look(self, "card")
        self.setAccessibleName(self.tr("Commands"))
        layout = column(self, margin=SPACE.m)
        self._line = QLineEdit()
        self._line.setPlaceholderText(self.tr("Type a few letters of a command"))
        self._line.setAccessibleName(self.tr("Search commands"))
        self._line.setToolTip(self.tr("Arrow keys choose, Enter runs, Esc closes"))
        self._line.installEventFilter(self)
        self._list = QTreeWidget()
        self._list.setColumnCount(2)
        self._list.setHeaderHidden(True)
        self._list.setRootIsDecorated(False)
        self._list.setUniformRowHeights(True)
        self._list.header().setStretchLastSection(False)
        self._list.header().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        self._list.header().setSectionResizeMode(1, QHeaderView.ResizeMode.ResizeToContents)
        self._list.setAccessibleName(self.tr("Commands found"))
        self._list.setToolTip(self.tr("Commands found"))
        self._list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._none = QLabel(self.tr("No command contains these letters."))
        set_look(self._none, "note")
        for widget in (self._line, self._list, self._none):
            layout.addWidget(widget)
        self._line.textChanged.connect(self._filter)
        self._list.itemClicked.connect(self._perform)
        self.hide()

    @Slot()
    def open(self) -> None:
        """Show the palette, empty, with the focus in it."""
        parent = self.parentWidget()
        if parent is not None:
            width = min(620, parent.width() - 40)
            height = min(440, parent.height() - 80)
            self.setGeometry((parent.width() - width) // 2, 44, width, height)
        self._line.clear()
        self._filter("")
        self.show()
        self.raise_()
        self._line.setFocus(Qt.FocusReason.ShortcutFocusReason)

    @property
    def found(self) -> tuple[str, ...]:
        """Ids of the commands on show, best first."""
        return tuple(str(item.data(0, _ID)) for item in self._items())

    def _items(self) -> list[QTreeWidgetItem]:
        top = (self._list.topLevelItem(n) for n in range(self._list.topLevelItemCount()))
        return [item for item in top if item is not None]

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Keys of the line that belong to the list."""
        if isinstance(event, QFocusEvent) and event.type() == QEvent.Type.FocusOut:
            if event.reason() not in _STAYS_FOR:
                self.hide()
            return False
        if not isinstance(event, QKeyEvent):
            return super().eventFilter(watched, event)
        if event.type() == QEvent.Type.ShortcutOverride and event.key() == Qt.Key.Key_Escape:
            event.accept()
            return True
        if event.type() == QEvent.Type.KeyPress:
            return self._on_key(event)
        return super().eventFilter(watched, event)

    def _on_key(self, event: QKeyEvent) -> bool:
        key = event.key()
        if key == Qt.Key.Key_Escape:
            self.hide()
        elif key in (Qt.Key.Key_Down, Qt.Key.Key_Up):
            step = 1 if key == Qt.Key.Key_Down else -1
            items, current = self._items(), self._list.currentItem()
            place = (items.index(current) if current in items else 0) + step
            if items:
                self._list.setCurrentItem(items[min(max(place, 0), len(items) - 1)])
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._perform(self._list.currentItem())
        else:
            return False
        return True

    @Slot(str)
    def _filter(self, wanted: str) -> None:
        found = []
        for number, spec in enumerate(self._actions.specs):
            score = match_score(wanted, spec.words)
            if score is not None and spec.id != "help.palette":
                found.append((score if wanted else number, number, spec))
        self._list.clear()
        for _, _, spec in sorted(found, key=lambda entry: entry[:2]):
            action = self._actions.action(spec.id)
            item = QTreeWidgetItem([spec.words, spec.keys])
            item.setData(0, _ID, spec.id)
            item.setToolTip(0, spec.tip)
            if not action.isEnabled():
                item.setFlags(Qt.ItemFlag.NoItemFlags)
            self._list.addTopLevelItem(item)
        items = self._items()
        if items:
            self._list.setCurrentItem(items[0])
        self._list.setVisible(bool(found))
        self._none.setVisible(not found)

    def _perform(self, item: QTreeWidgetItem | None) -> None:
        if item is None or not item.flags() & Qt.ItemFlag.ItemIsEnabled:
            return
        self.hide()
        self._actions.trigger(str(item.data(0, _ID)))


def toggle_tables(panel: QWidget) -> None:
    """Turn the chart that has the focus into its table and back, or all charts of a panel."""
    from dpdesk.ui.charts import ChartView

    views = [view for view in panel.findChildren(ChartView) if view.isVisible()]
    focus = QApplication.focusWidget()
    inside = [view for view in views if focus is not None and view.isAncestorOf(focus)]
    for view in inside or views:
        view.toggle_table()


translate = QCoreApplication.translate


def opening_specs() -> list[ActionSpec]:
    """Commands of the File menu that open something; those on projects come after them."""
    text = translate("Actions", "&Open…")
    tip = translate("Actions", "Open a data file, a plan or a release")
    found = [_spec("file.open", text, "Ctrl+O", tip, "open")]
    text = translate("Actions", "Open a &release…")
    tip = translate("Actions", "Open the folder of a release, check it and export from it")
    found.append(_spec("file.release", text, "", tip, "open"))
    text = translate("Actions", "Open the sa&mple")
    tip = translate("Actions", "Open the synthetic people that come with DPDesk")
    found.append(_spec("file.sample", text, "", tip, "open"))
    return found


def working_specs() -> list[ActionSpec]:
    """The other commands of the window itself."""
    return [*_saving(), *_edit_and_run(), *_view_and_help()]


def _spec(identifier: str, text: str, keys: str, tip: str, group: str = "") -> ActionSpec:
    return ActionSpec(identifier, text, identifier.partition(".")[0], keys, tip, group)


def _saving() -> list[ActionSpec]:
    text = translate("Actions", "&Save plan")
    tip = translate("Actions", "Save roles, hierarchies and settings as a plan")
    found = [_spec("file.save", text, "Ctrl+S", tip, "save")]
    text = translate("Actions", "Save plan &as…")
    tip = translate("Actions", "Save the plan under another name")
    found.append(_spec("file.save-as", text, "Ctrl+Shift+S", tip, "save"))
    text = translate("Actions", "Copy as Pyt&hon")
    tip = translate("Actions", "Copy the plan and its run as code for a notebook or a script")
    found.append(_spec("file.python", text, "", tip, "save"))
    text = translate("Actions", "&Quit")
    tip = translate("Actions", "Close the window")
    found.append(_spec("file.quit", text, "Ctrl+Q", tip, "quit"))
    return found


def _edit_and_run() -> list[ActionSpec]:
    text, tip = translate("Actions", "&Undo"), translate("Actions", "Undo the last edit")
    found = [_spec("edit.undo", text, "Ctrl+Z", tip)]
    text, tip = translate("Actions", "&Redo"), translate("Actions", "Redo the edit")
    found.append(_spec("edit.redo", text, "Ctrl+Shift+Z", tip))
    text = translate("Actions", "&History…")
    tip = translate("Actions", "Go to any state of the work, including undone ones")
    found.append(_spec("edit.history", text, "Ctrl+H", tip))
    text = translate("Actions", "&Run this step")
    tip = translate("Actions", "Do the main action of the current step")
    found.append(_spec("run.run", text, "Ctrl+Return", tip))
    text = translate("Actions", "&Cancel the running job")
    tip = translate("Actions", "Stop the newest job; nothing is changed")
    found.append(_spec("run.cancel", text, "Esc", tip))
    return found


def _view_and_help() -> list[ActionSpec]:
    text = translate("Actions", "Chart or &table")
    tip = translate("Actions", "Show numbers as charts or as tables")
    found = [_spec("view.twin", text, "Ctrl+T", tip, "panel")]
    text = translate("Actions", "&Next region")
    tip = translate("Actions", "Move the focus to the next part of the window")
    found.append(_spec("view.region", text, "F6", tip, "panel"))
    text = translate("Actions", "&Explain this step")
    tip = translate("Actions", "Show what this step is for")
    found.append(_spec("help.explain", text, "F1", tip))
    text = translate("Actions", "&Keys")
    tip = translate("Actions", "List all keys")
    found.append(_spec("help.keys", text, "", tip))
    text = translate("Actions", "&Find a command…")
    tip = translate("Actions", "Find a command by a few letters")
    found.append(_spec("help.palette", text, "Ctrl+K", tip))
    return found


_PANEL = "view.panel-"


class PanelSteps(QObject):
    """Declares Ctrl+1 to Ctrl+6; ``asked(int)`` tells the number of the panel to go to."""

    asked = Signal(int)

    def __init__(self, titles: Sequence[str], actions: ActionSet) -> None:
        super().__init__(actions)
        actions.performed.connect(self._on_performed)
        for number, title in enumerate(titles, start=1):
            text = translate("Actions", "Go to {n} {title}").format(n=f"&{number}", title=title)
            tip = translate("Actions", "Show the step {title}").format(title=title)
            actions.add(_spec(f"{_PANEL}{number}", text, f"Ctrl+{number}", tip, "go"))

    @Slot(str)
    def _on_performed(self, identifier: str) -> None:
        if identifier.startswith(_PANEL):
            self.asked.emit(int(identifier.removeprefix(_PANEL)))


def keys_text(actions: ActionSet) -> str:
    """All actions with keys, one per line."""
    lines = [
        msg("{file}: {note}", file=spec.keys, note=spec.words)
        for spec in actions.specs
        if spec.shortcut
    ]
    more = translate(
        "Actions",
        "Alt with an underlined letter presses that button. In charts, arrow keys go from "
        "point to point and Enter chooses. F1 shows the keys of a step.",
    )
    return "\n".join([*lines, "", more])


class ViewChoices(QObject):
    """Themes, text sizes, languages: what there is, what is chosen, and commands that choose.

    ``said(kind, sentence)`` tells what a choice does later.
    """

    said = Signal(str, str)

    def __init__(self, actions: ActionSet, theme: ThemeManager, settings: SettingsStore) -> None:
        super().__init__(actions)
        self._actions, self._theme, self._settings = actions, theme, settings
        actions.performed.connect(self.choose)

    def themes(self) -> list[tuple[str, object, bool]]:
        """Words, value and whether chosen, of every theme."""
        words = {
            "system": self.tr("As the system"),
            "light": self.tr("Light"),
            "dark": self.tr("Dark"),
        }
        return [(words[mode], mode, mode == self._theme.mode) for mode in MODES]

    def sizes(self) -> list[tuple[str, object, bool]]:
        """Words, value and whether chosen, of every text size."""
        size = self._theme.text_size
        return [(f"{percent} %", percent, percent == size) for percent in TEXT_SIZES]

    def languages(self) -> list[tuple[str, object, bool]]:
        """Words, value and whether chosen, of every language; each calls itself by its own name."""
        chosen = self._settings.current.language
        found = [(self.tr("As the system"), SYSTEM), *((own_name(c), c) for c in languages())]
        return [(words, code, code == chosen) for words, code in found]

    def declare(self) -> None:
        """Declare a command for each, for the list of commands."""
        kinds = (
            ("theme", self.tr("Colours: {choice}"), self.themes()),
            ("size", self.tr("Text size: {choice}"), self.sizes()),
            ("language", self.tr("Language: {choice}"), self.languages()),
        )
        for name, template, choices in kinds:
            for words, value, _ in choices:
                text = template.format(choice=words)
                self._actions.add(ActionSpec(f"{name}.{value}", text))

    @Slot(str)
    def choose(self, identifier: str) -> None:
        """Take a theme, a text size or a language (``theme.dark``), and remember it."""
        name, _, value = identifier.partition(".")
        if name == "theme":
            self._theme.set_mode(value)
            self._settings.change(theme=self._theme.mode)
        elif name == "language":
            self._settings.change(language=value)
            words = self.tr("The window uses this language from the next start.")
            self.said.emit("info", words)
        elif name == "size":
            self._theme.set_text_size(int(value))
            self._settings.change(text_size=self._theme.text_size)


class ViewMenus(QObject):
    """Submenus that are made when their menu opens: theme, text size, language, recent files.

    ``recentAsked(path)`` tells which of the recent files to open, ``choices`` what was chosen.
    """

    recentAsked = Signal(str)

    def __init__(self, actions: ActionSet, theme: ThemeManager, settings: SettingsStore) -> None:
        super().__init__(actions)
        self._settings = settings
        self.choices = ViewChoices(actions, theme, settings)
        self.choices.declare()

    def extend(self, menu: QMenu, name: str) -> None:
        """Add submenus to the menu ``file`` or ``view``."""
        if name == "file":
            self._add_recent(menu)
        elif name == "view":
            menu.addSeparator()
            self._add_choices(menu, self.tr("&Colours"), "theme", self.choices.themes())
            self._add_choices(menu, self.tr("Text si&ze"), "size", self.choices.sizes())
            self._add_choices(menu, self.tr("&Language"), "language", self.choices.languages())

    def _add_choices(
        self, menu: QMenu, title: str, name: str, choices: Sequence[tuple[str, object, bool]]
    ) -> None:
        submenu = menu.addMenu(title)
        group = QActionGroup(submenu)
        for words, value, current in choices:
            action = QAction(words, submenu)
            action.setCheckable(True)
            action.setChecked(current)
            action.setData(f"{name}.{value}")
            group.addAction(action)
            submenu.addAction(action)
        submenu.triggered.connect(self._on_choice)

    def _add_recent(self, menu: QMenu) -> None:
        recent = self._settings.current.recent
        submenu = QMenu(self.tr("Open re&cent"), menu)
        submenu.setToolTipsVisible(True)
        for path in recent:
            action = QAction(verbatim(Path(path).name), submenu)
            action.setToolTip(path)
            action.setData(path)
            submenu.addAction(action)
        submenu.setEnabled(bool(recent))
        submenu.triggered.connect(self._on_recent)
        actions = menu.actions()
        rule = next((action for action in actions if action.isSeparator()), actions[-1])
        menu.insertMenu(rule, submenu)

    @Slot(QAction)
    def _on_recent(self, action: QAction) -> None:
        self.recentAsked.emit(str(action.data()))

    @Slot(QAction)
    def _on_choice(self, action: QAction) -> None:
        self.choices.choose(str(action.data()))


class RequestingWindow(QMainWindow):
    """A window that sends its requests; see :class:`~dpdesk.ui.main_window.MainWindow`."""

    openAsked = Signal()
    openReleaseAsked = Signal()
    openPathAsked = Signal(str)
    sampleAsked = Signal()
    saveAsked = Signal()
    saveAsAsked = Signal()
    pythonAsked = Signal()
    undoAsked = Signal()
    redoAsked = Signal()
    momentAsked = Signal(int)
    statesAsked = Signal()
    guideAsked = Signal(str)
    messageTriggered = Signal(str)
    panelChanged = Signal(str)
    chartSaved = Signal(object)

    def customEvent(self, event: QEvent) -> None:
        """A chart in the window was saved as a file."""
        if isinstance(event, ChartSaved):
            self.chartSaved.emit(event.path)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Local files may be dropped."""
        if any(url.isLocalFile() for url in event.mimeData().urls()):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        """Open the first file dropped."""
        paths = [url.toLocalFile() for url in event.mimeData().urls() if url.isLocalFile()]
        if paths:
            event.acceptProposedAction()
            self.openPathAsked.emit(paths[0])

    def requests(self) -> dict[str, SignalInstance]:
        """The signals that actions send, by their ids."""
        return {
            "file.open": self.openAsked,
            "file.release": self.openReleaseAsked,
            "file.sample": self.sampleAsked,
            "file.save": self.saveAsked,
            "file.save-as": self.saveAsAsked,
            "file.python": self.pythonAsked,
            "edit.undo": self.undoAsked,
            "edit.redo": self.redoAsked,
        }


class ProjectActions(QObject):
    """Declares the commands and tells when one is given.

    ``newAsked()``, ``openAsked()``, ``copyAsked()``, ``closeAsked()``; ``applyAsked()`` to apply
    the plan to another file.
    """

    newAsked = Signal()
    openAsked = Signal()
    copyAsked = Signal()
    closeAsked = Signal()
    applyAsked = Signal()

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._open = False
        self._has_file = False

    def set_open(self, is_open: bool) -> None:
        """Say whether a project is open."""
        self._open = is_open

    def set_work(self, *, has_file: bool) -> None:
        """Say whether there is work with a file, whose plan could be applied to another one."""
        self._has_file = has_file

    def has_file(self) -> bool:
        """Whether there is a plan to apply."""
        return self._has_file

    def is_open(self) -> bool:
        """Whether a project is open."""
        return self._open

    def declare(self, actions: ActionSet) -> None:
        """Declare the commands."""
        text, tip = self.tr("&New project…"), self.tr("Keep the work in one file that saves itself")
        actions.add(_projects_spec("new", text, "Ctrl+Shift+N", tip), self.newAsked)
        text = self.tr("Open pro&ject…")
        tip = self.tr("Continue with a project: the work, its history and its candidates")
        actions.add(_projects_spec("open", text, "Ctrl+Shift+O", tip), self.openAsked)
        text = self.tr("Sa&ve project as…")
        tip = self.tr("Save the whole project under another name, and continue there")
        actions.add(_projects_spec("copy", text, "", tip), self.copyAsked, self.is_open)
        text = self.tr("C&lose project")
        tip = self.tr("Close the project; everything in it is saved")
        actions.add(_projects_spec("close", text, "Ctrl+W", tip), self.closeAsked, self.is_open)
        text = self.tr("Appl&y the plan to another file…")
        tip = self.tr("Show what in the plan no longer fits, for instance for next year's file")
        spec = ActionSpec("file.apply-plan", text, "file", "Ctrl+Shift+Y", tip, "apply")
        actions.add(spec, self.applyAsked, self.has_file)


def _projects_spec(name: str, text: str, keys: str, tip: str) -> ActionSpec:
    return ActionSpec(f"file.project-{name}", text, "file", keys, tip, "project")
