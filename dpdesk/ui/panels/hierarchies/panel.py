"""The panel Hierarchies: attributes, tree and level, effect, and how the hierarchy is made."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from PySide6.QtCore import Qt, QTimer, Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QPushButton, QSplitter, QVBoxLayout, QWidget

from dpdesk.app.types import HierarchyChoice
from dpdesk.core.plan import HierarchyBuilder
from dpdesk.core.schema import Role
from dpdesk.ui.files import FileAsker
from dpdesk.ui.jobs import JobFailed
from dpdesk.ui.panels.hierarchies import presenter
from dpdesk.ui.panels.hierarchies.effect import (
    AttributeList,
    BeforeAfterPane,
    LevelBar,
    PicturePane,
)
from dpdesk.ui.panels.hierarchies.making import AnswerStore, Draft, HierarchyActions, MakingPane
from dpdesk.ui.panels.hierarchies.tasks import Answer, Edit, HierarchyAnswer, Suggestion
from dpdesk.ui.panels.hierarchies.tree_pane import TreePane
from dpdesk.ui.shell import Panel, PanelStatus
from dpdesk.ui.theme import SPACE, Theme, ThemeManager, set_look
from dpdesk.ui.widgets import EmptyState, MessageBand, StepHeader, column
from dpdesk.ui.widgets.choices import ChoiceStrip, ListFinder
from dpdesk.ui.widgets.layouts import PageStack
from dpdesk.ui.widgets.turning import HeightKeeper, TurningSplitter
from dpdesk.ui.workbench import Aspect, Changes, Workbench

TREE, PICTURE, VALUES, MAKING = "tree", "picture", "values", "making"
WIDE_EMS = 96
LEAST_LINES = 9


class Workplace(QWidget):
    """Shows one page of several at the right of the tree; where it is narrow the tree is a page."""

    def __init__(self, theme: ThemeManager, tree: QWidget, pages: dict[str, QWidget]) -> None:
        super().__init__()
        self._theme, self._tree, self._pages = theme, tree, pages
        self._narrow: bool | None = None
        self._wished = PICTURE
        self.strip = ChoiceStrip(self.tr("What to show"))
        self.strip.chosen.connect(self.show_page)
        self._stack = PageStack()
        for page in pages.values():
            self._stack.addWidget(page)
        self._left = QWidget()
        self._left_layout: QVBoxLayout = column(self._left)
        right = QWidget()
        inner = column(right, gap=SPACE.s)
        inner.addWidget(self.strip)
        inner.addWidget(self._stack, 1)
        self._parts = QSplitter(Qt.Orientation.Horizontal)
        self._parts.setObjectName("hierarchies.parts")
        self._parts.setChildrenCollapsible(False)
        self._parts.addWidget(self._left)
        self._parts.addWidget(right)
        HeightKeeper(self, (self._left, right))
        self._parts.setSizes([530, 470])
        column(self).addWidget(self._parts)
        theme.changed.connect(self._on_theme)
        self._arrange(narrow=False)
        self._on_theme(theme.theme)

    @property
    def page(self) -> str:
        """The page in front."""
        return self.strip.current

    @property
    def narrow(self) -> bool:
        """Whether the tree is a page like the others."""
        return bool(self._narrow)

    @Slot(str)
    def show_page(self, identifier: str) -> None:
        """Bring a page to the front; the tree is always in sight where there is room."""
        self._wished = identifier
        if identifier == TREE and not self._narrow:
            return
        self.strip.choose(identifier)
        page = self._tree if identifier == TREE else self._pages[identifier]
        self._stack.setCurrentWidget(page)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """One page at a time where two do not fit."""
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        self._arrange(narrow=self.width() < self._theme.theme.ems(WIDE_EMS))

    def _arrange(self, *, narrow: bool) -> None:
        if narrow is self._narrow:
            return
        self._narrow = narrow
        words = {
            TREE: self.tr("Tree"),
            PICTURE: self.tr("Picture"),
            VALUES: self.tr("Before and after"),
            MAKING: self.tr("How it is made"),
        }
        if narrow:
            self._stack.addWidget(self._tree)
        else:
            self._stack.removeWidget(self._tree)
            self._left_layout.addWidget(self._tree)
            self._tree.show()
        self._left.setVisible(not narrow)
        offered = words if narrow else {key: words[key] for key in self._pages}
        self.strip.set_choices(tuple(offered.items()))
        wished = self._wished if self._wished in offered else PICTURE
        self.show_page(TREE if narrow and self._wished == PICTURE else wished)

    @Slot(object)
    def _on_theme(self, theme: Theme) -> None:
        self._stack.setMinimumHeight(theme.target * LEAST_LINES)
        self._fit()


DEBOUNCE_MS = 250
_MINE = {Aspect.DATA, Aspect.PROFILE, Aspect.ROLES, Aspect.HIERARCHIES, Aspect.SOURCE}
_CHOSEN = {Aspect.METHOD, Aspect.PARAMETERS}
_AGAIN: Changes = frozenset({Aspect.ROLES})  # list and show again, but keep a draft
_ATTRIBUTES, _DATA, _REMOVE, _IMPORT = "attributes", "data", "remove", "import"


class HierarchiesPanel(Panel):
    """See the package. All edits go through the workbench, so that undo takes each back."""

    def __init__(
        self,
        workbench: Workbench,
        theme: ThemeManager,
        asker: FileAsker,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._workbench, self._theme, self._asker = workbench, theme, asker
        self._looks = AnswerStore(workbench, self)
        self._actions = HierarchyActions(workbench, self)
        self._draft: Draft | None = None
        self._levels: dict[str, int] = {}
        self._shown: tuple[str, HierarchyChoice | None] | None = None
        self._look: HierarchyAnswer | None = None
        self._entries: tuple[presenter.Entry, ...] = ()
        self._roles: Mapping[str, Role] = {}
        self._problem_on_band = False
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(DEBOUNCE_MS)
        self._build()
        self._connect()
        self._refresh()

    # -- what the window asks

    def activated(self) -> None:
        """Files may have changed while another panel was in front."""
        self._looks.forget_files()
        self.later(_AGAIN)

    def status(self) -> PanelStatus:
        """How many attributes have a hierarchy, or which one needs a look."""
        bench = self._workbench
        roles, now = bench.hierarchy_roles, self._roles
        used = [one for one in self._entries if now.get(one.attribute) in roles]
        return presenter.status(used, wanted=bench.generalises)

    def point_at(self, column: str) -> None:
        """Choose an attribute."""
        self.attributes.choose(column)

    def first_focus(self) -> QWidget:
        """The list of attributes."""
        return self.attributes

    def can_run(self) -> bool:
        """Whether there is a draft to use, or something to suggest."""
        return self.making.use.isEnabled() or self.suggest_all.isEnabled()

    def run(self) -> None:
        """Use the draft; without one, suggest for all that have none."""
        if self.making.use.isEnabled():
            self._on_use()
        elif self.suggest_all.isEnabled():
            self._on_suggest_all()

    def guide_page(self) -> str:
        """The page of the guide that says more."""
        return "hierarchies"

    def explanation(self) -> str:
        """What F1 tells."""
        return self.tr(
            "A hierarchy says how a value may be made coarser, step by step: 34, then "
            "30-39, then *. The search in Protect picks one level for each attribute, so "
            "that people become alike with as little loss as possible.\n\n"
            "Suggest makes a first one. A kind with options rebuilds it; the tree shows a "
            "preview until you use it. By hand: choose values and press Ctrl+G to group "
            "them, F2 to rename a group, Ctrl+M to move values, or drag them. Every change "
            "can be undone.\n\n"
            "The level slider only previews what a level would do. Values in grey do not "
            "occur in the data; values marked ! occur but have no place in the tree."
        )

    # -- for tests and the window

    @property
    def attribute(self) -> str:
        """The attribute on show."""
        return self.attributes.attribute

    @property
    def look(self) -> HierarchyAnswer | None:
        """What is on show."""
        return self._look

    def import_from(self, path: Path) -> None:
        """Take a hierarchy file for the attribute on show."""
        if self.attribute:
            self._actions.import_file(self.attribute, path)

    def export_to(self, path: Path) -> None:
        """Write the hierarchy on show."""
        if self._look is not None:
            self._actions.export_file(self._look.examined.hierarchy, path)

    # -- building

    def _build(self) -> None:
        self.header = StepHeader(3, self.tr("How may values be made coarser?"), "")
        self.next = QPushButton(self.tr("Ne&xt: protect"))
        self.next.setToolTip(self.tr("See how much protection these hierarchies allow"))
        self.header.add(self.next)
        self.band = MessageBand(self._theme)
        self.pages = PageStack()
        self._empty_data = EmptyState(
            self._theme,
            "data",
            self.tr("No data yet"),
            self.tr("Open a data file first; then its attributes can be made coarser here."),
            ((_DATA, self.tr("Go to Data")),),
        )
        self._empty_roles = EmptyState(
            self._theme,
            "attributes",
            "",
            "",
            ((_ATTRIBUTES, self.tr("Go to Attributes")),),
        )
        for page in (self._build_work(), self._empty_roles, self._empty_data):
            self.pages.addWidget(page)
        layout = column(self, margin=SPACE.l, gap=SPACE.m)
        layout.addWidget(self.header)
        layout.addWidget(self.pages, 1)
        layout.addWidget(self.band)  # below: what is being clicked stays where it is

    def _build_work(self) -> QWidget:
        self.attributes = AttributeList(self._theme)
        self.level = LevelBar()
        self.tree_pane = TreePane(self._theme)
        self.picture = PicturePane(self._theme)
        self.before_after = BeforeAfterPane(self._theme)
        self.making = MakingPane()
        pages = {PICTURE: self.picture, VALUES: self.before_after, MAKING: self.making}
        self.workplace = Workplace(self._theme, self.tree_pane, pages)
        right = QWidget()
        layout = column(right, gap=SPACE.m)
        layout.addWidget(self.level)
        layout.addWidget(self.workplace, 1)
        return TurningSplitter("hierarchies", (self._build_left(), right), (0, 1))

    def _build_left(self) -> QWidget:
        self.suggest_all = QPushButton(self.tr("Suggest for &all"))
        self.suggest_all.setAccessibleName(self.tr("Suggest for all that have none"))
        left = QWidget()
        layout = column(left)
        layout.addWidget(ListFinder(self.attributes, self.tr("Find an attribute")))
        layout.addWidget(self.attributes, 1)
        layout.addWidget(self.suggest_all)
        return left

    def _connect(self) -> None:
        self.follow(self._workbench.changed)
        self._looks.answered.connect(self._on_answered)
        self._looks.failed.connect(self._on_failed)
        self._actions.said.connect(self._on_said)
        self._actions.failed.connect(self._on_failed)
        self._actions.editFailed.connect(self.tree_pane.edit_failed)
        self._actions.offered.connect(self._on_offered)
        self._timer.timeout.connect(self._try_draft)
        self.attributes.picked.connect(self._on_picked)
        self.level.levelChanged.connect(self._on_level)
        self.picture.valuePicked.connect(self._on_value)
        self.tree_pane.editAsked.connect(self._on_edit)
        self.making.draftChanged.connect(self._on_draft)
        self.making.kindPicked.connect(self._on_kind)
        self.making.suggestAsked.connect(self._on_suggest)
        self.making.importAsked.connect(self._on_import)
        self.making.exportAsked.connect(self._on_export)
        self.making.useAsked.connect(self._on_use)
        self.making.discardAsked.connect(self._on_discard)
        self.suggest_all.clicked.connect(self._on_suggest_all)
        self.next.clicked.connect(self._on_next)
        self.band.triggered.connect(self._on_band)
        self._empty_data.triggered.connect(self._on_band)
        self._empty_roles.triggered.connect(self._on_band)

    # -- refreshing

    def noted(self, changes: Changes) -> None:
        """Find out in the background what the navigation tells: which hierarchies do not fit."""
        if changes & _MINE and not self.isVisible():
            self._list()
            self.statusChanged.emit()

    def catch_up(self, changes: Changes) -> None:
        """Show the attributes and the hierarchy of one of them."""
        if changes & {Aspect.HIERARCHIES, Aspect.DATA}:
            self._drop_draft()
        if changes & _MINE or changes & _CHOSEN:
            self._refresh()

    def _list(self) -> None:
        """How the attributes stand; asks for looks, for all of them only while they are seen."""
        work, data = self._workbench.work, self._workbench.data
        self._roles = self._workbench.used_roles(() if data is None else data.columns)
        pairs = presenter.attributes(self._roles)
        current = self.attribute or (pairs[0][0] if pairs else "")
        for name, optional in pairs:
            choice = work.hierarchies.get(name)
            if choice is not None or (self.isVisible() and (not optional or name == current)):
                self._looks.ask(name, choice)
        self._entries = tuple(
            presenter.entry(
                name,
                optional,
                work.hierarchies.get(name),
                self._looks.answer(name, work.hierarchies.get(name)),
            )
            for name, optional in pairs
        )

    def _refresh(self) -> None:
        self._list()
        work, data = self._workbench.work, self._workbench.data
        made = Role.QUASI_IDENTIFIER
        tables = any(
            now is made and work.role(name) is not made for name, now in self._roles.items()
        )
        self.attributes.set_entries(self._entries, tables=tables)
        self._choose_page(data is not None, any(not one.optional for one in self._entries))
        lacking = presenter.without_hierarchy(work, self._roles)
        self.suggest_all.setEnabled(bool(lacking))
        self._show_current()
        self.statusChanged.emit()

    def _choose_page(self, has_data: bool, has_quasi: bool) -> None:
        needed = self._workbench.generalises
        self.next.setVisible(has_data and (has_quasi or not needed))
        self._tell_roles(needed=needed)
        if has_data and has_quasi:
            self.pages.setCurrentIndex(0)
            self.header.set_line(presenter.headline(self._entries))
            return
        self.header.set_line(self.tr("A hierarchy says how values are grouped, level by level."))
        self.pages.setCurrentWidget(self._empty_roles if has_data else self._empty_data)
        if self._workbench.loading:
            self._empty_data.set_texts(
                self.tr("Reading the data…"), self.tr("Its attributes will be listed here.")
            )
        else:
            self._empty_data.set_texts(
                self.tr("No data yet"),
                self.tr("Open a data file first; then its attributes can be made coarser here."),
            )

    def _tell_roles(self, *, needed: bool) -> None:
        """Say what is missing where there is no quasi-identifier, or that nothing is."""
        if needed:
            title = self.tr("No quasi-identifier yet")
            text = self.tr(
                "Hierarchies are for attributes that others could know about a person. Mark "
                "one attribute as a quasi-identifier."
            )
        else:
            title = self.tr("No hierarchy needed")
            text = self.tr(
                "The chosen method works without. To make one for an attribute all the same, "
                "mark it as a quasi-identifier."
            )
        self._empty_roles.set_texts(title, text)

    def _choice(self) -> HierarchyChoice | None:
        """What is looked at: the draft, else what the work has."""
        if self._draft is not None:
            return self._draft.choice
        return self._workbench.work.hierarchies.get(self.attribute)

    def _show_current(self) -> None:
        attribute = self.attribute
        own = self._workbench.work.hierarchies.get(attribute)
        if self._shown is None or self._shown[0] != attribute or self._shown[1] != own:
            self._shown = (attribute, own)
            if self._draft is None:
                self.making.show_choice(own, self._actions.why(attribute))
        choice = self._choice()
        answer = self._looks.answer(attribute, choice) if attribute else None
        if answer is None:
            self._show_waiting(attribute)
        elif answer.look is None:
            self._show_problem(answer)
        else:
            self._show_look(answer.look)
        self._show_buttons(answer)

    def _show_waiting(self, attribute: str) -> None:
        known = self._looks.latest(attribute) if attribute else None
        self._set_look(None if known is None else known.look)
        self.picture.set_stale(self._look is not None)

    def _show_problem(self, answer: Answer) -> None:
        if self._draft is not None:
            self.making.show_problem(answer.error)
            self.picture.set_stale(self._look is not None)
            return
        self._set_look(None)
        self.picture.set_nothing()
        if answer.error is not None:
            actions = ((_IMPORT, self.tr("Import another…")), (_REMOVE, self.tr("Do without")))
            self.band.show_error(answer.error, actions)
            self._problem_on_band = True

    def _show_look(self, look: HierarchyAnswer) -> None:
        if self._draft is None:
            self.making.set_tree(presenter.as_tree(look.examined.preview))
        else:
            self.making.show_problem(None)
        if self._problem_on_band:
            self._problem_on_band = False
            self.band.clear()
        self._set_look(look)
        self.picture.set_stale(False)

    def _set_look(self, look: HierarchyAnswer | None) -> None:
        self._look = look
        level = self._levels.get(self.attribute, 0)
        if look is not None:
            level = min(level, look.height)
        self.level.show_look(look, level)
        self.tree_pane.show_look(look, level)
        self._show_effect()

    def _show_effect(self) -> None:
        self.picture.show_look(self._look, self.level.level)
        self.before_after.show_look(self._look, self.level.level)

    def _show_buttons(self, answer: Answer | None) -> None:
        ready = answer is not None and answer.look is not None
        known = self._workbench.profile is not None
        self.making.set_enabled(suggest=known and bool(self.attribute), export=ready)
        if self._draft is not None:
            self.making.show_draft(True, ready and not self.making.errors())
        possible = self.suggest_all.isEnabled() and known
        tip = self.tr("Give each quasi-identifier without a hierarchy one that suits its values")
        if not known:
            tip = self.tr("Not yet: the values are still being counted")
        self.suggest_all.setToolTip(tip)
        self.suggest_all.setEnabled(possible)
        set_look(self.suggest_all, "primary" if possible and self._draft is None else "")
        set_look(self.next, "primary" if not possible and self._draft is None else "")

    # -- what the user does

    @Slot()
    def _on_next(self) -> None:
        self.wantsPanel.emit("protect")

    @Slot(str)
    def _on_picked(self, attribute: str) -> None:
        self._drop_draft()
        self.band.clear()
        work = self._workbench.work
        self._looks.ask(attribute, work.hierarchies.get(attribute))
        if attribute not in work.hierarchies:
            self.workplace.show_page(MAKING)
        elif self.workplace.page == MAKING:
            self.workplace.show_page(TREE if self.workplace.narrow else PICTURE)
        self._show_current()

    @Slot(int)
    def _on_level(self, level: int) -> None:
        self._levels[self.attribute] = level
        self.tree_pane.tree.show_level(level)
        self._show_effect()

    @Slot(int)
    def _on_value(self, code: int) -> None:
        """A bar of the picture was chosen: go to its value in the tree."""
        look, level = self._look, self.level.level
        if look is not None:
            label = look.examined.preview.hierarchy.labels[level][code]
            self.workplace.show_page(TREE)
            self.tree_pane.tree.jump_to(level, label)

    @Slot(object)
    def _on_edit(self, edit: Edit) -> None:
        if self._look is not None:
            self._actions.edit(self.attribute, self._look, edit)

    @Slot(object)
    def _on_draft(self, draft: Draft) -> None:
        own = self._workbench.work.hierarchies.get(self.attribute)
        if draft.choice == own:
            self._drop_draft()
            self._show_current()
            return
        self._draft = draft
        self.making.show_draft(True, False)
        self._timer.start()

    @Slot(str)
    def _on_kind(self, kind: str) -> None:
        if kind:
            self._actions.look_for_options(self.attribute)

    @Slot(object)
    def _on_offered(self, suggestion: Suggestion) -> None:
        builder = suggestion.builder
        if isinstance(builder, HierarchyBuilder) and suggestion.attribute == self.attribute:
            self.making.offer(builder)

    @Slot()
    def _try_draft(self) -> None:
        if self._draft is None:
            return
        if self.making.errors():
            self.making.show_problem(None)
            return
        self._looks.ask(self.attribute, self._draft.choice, "draft")
        self._show_current()

    def _drop_draft(self) -> None:
        self._timer.stop()
        if self._draft is not None:
            self._draft = None
            self._shown = None
        self.making.show_problem(None)
        self.making.show_draft(False, False)

    @Slot()
    def _on_use(self) -> None:
        if self._draft is not None and self.attribute:
            self._actions.use(self.attribute, self._draft.choice)

    @Slot()
    def _on_discard(self) -> None:
        self._drop_draft()
        self._show_current()

    @Slot()
    def _on_suggest(self) -> None:
        self._actions.suggest((self.attribute,))

    @Slot()
    def _on_suggest_all(self) -> None:
        data = self._workbench.data
        if data is not None:
            names = presenter.without_hierarchy(self._workbench.work, self._roles)
            self._actions.suggest(names)

    @Slot()
    def _on_import(self) -> None:
        path = self._asker.open_file(
            self.tr("Import a hierarchy"),
            str(self._workbench.work.base),
            self.tr("Hierarchies (*.csv *.txt *.grc *.hrc);;All files (*)"),
        )
        if path is not None:
            self.import_from(path)

    @Slot()
    def _on_export(self) -> None:
        suggestion = self._workbench.work.base / f"{self.attribute}.csv"
        path = self._asker.save_file(
            self.tr("Export the hierarchy"), str(suggestion), self.tr("Hierarchies (*.csv)")
        )
        if path is not None:
            self.export_to(path)

    @Slot(str)
    def _on_band(self, identifier: str) -> None:
        self.band.clear()
        if identifier in (_ATTRIBUTES, _DATA):
            self.wantsPanel.emit(identifier)
        elif identifier == _IMPORT:
            self._on_import()
        elif identifier == _REMOVE:
            self._actions.use(self.attribute, None)

    # -- what comes back

    @Slot()
    def _on_answered(self) -> None:
        self.take(_AGAIN)

    @Slot(str, str)
    def _on_said(self, kind: str, text: str) -> None:
        self._problem_on_band = False
        self.band.show_message(kind, text)

    @Slot(object)
    def _on_failed(self, outcome: JobFailed) -> None:
        self._problem_on_band = False
        self.band.show_error(outcome)
