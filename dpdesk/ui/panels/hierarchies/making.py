"""How a hierarchy is made: suggested, by a builder with options, from a file, or by hand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from PySide6.QtCore import QCoreApplication, QSignalBlocker, Qt, Signal, SignalInstance, Slot
from PySide6.QtWidgets import (
    QFrame,
    QLabel,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from dpdesk.app import hierarchies
from dpdesk.app.types import BuilderForm, HierarchyChoice
from dpdesk.core.parameters import Parameter
from dpdesk.core.plan import HierarchyBuilder
from dpdesk.ui.forms import ParameterForm
from dpdesk.ui.forms.spin import NarrowCombo
from dpdesk.ui.jobs import JobFailed
from dpdesk.ui.panels.hierarchies.presenter import choice_words, problem_words
from dpdesk.ui.theme import SPACE, set_look
from dpdesk.ui.widgets import Mnemonics, column, leave_wheel, row
from dpdesk.ui.widgets.layouts import FlowBox, SteadyArea
from dpdesk.ui.widgets.states import in_window
from dpdesk.ui.words.spoken import said

NONE = ""


def taken_letters() -> str:
    """Letters of the menu bar and of what stands beside the form, in the window's language."""
    return QCoreApplication.translate("Mnemonics", "FEVRHULGNMOSIXKTDPWABC")


@dataclass(frozen=True)
class Draft:
    """A choice that is being tried; the work does not have it yet."""

    choice: HierarchyBuilder | None


class MakingPane(QWidget):
    """``draftChanged(Draft)`` after every edit of the kind or an option; ``kindPicked(str)`` when
    another kind was taken, so that its options can be offered.

    ``suggestAsked``, ``importAsked``, ``exportAsked``, ``useAsked`` and ``discardAsked`` come from
    the buttons.
    """

    draftChanged = Signal(object)
    kindPicked = Signal(str)
    suggestAsked = Signal()
    importAsked = Signal()
    exportAsked = Signal()
    useAsked = Signal()
    discardAsked = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._forms: Mapping[str, BuilderForm] = hierarchies.forms()
        self._form: ParameterForm | None = None
        self._kind: str | None = None
        self._tree: object = None
        self._none = True
        area, inside = SteadyArea(), QWidget()
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        area.setWidget(inside)
        layout = column(inside, margin=SPACE.m, gap=SPACE.m)
        self._build_now(layout)
        self._build_kind(layout)
        self._build_form(layout)
        layout.addStretch(1)
        outer = column(self)
        outer.addWidget(area, 1)
        # Outside of what scrolls: the button that ends a draft must be in sight.
        self._build_draft(outer)

    # -- what is shown

    def show_choice(self, choice: HierarchyChoice | None, reason: str = "") -> None:
        """Show what the work has; a draft that was there is gone."""
        now = self.tr("Now: {how}").format(how=choice_words(choice))
        none = self.tr("No hierarchy yet: a value stays, or becomes * as a whole")
        self._now.setText(none if choice is None else now)
        self._none = choice is None
        self._reason.setText(reason)
        self._reason.setVisible(bool(reason))
        kind: str | None = NONE if choice is None else None
        options: Mapping[str, object] = {}
        if isinstance(choice, HierarchyBuilder) and choice.kind in self._forms:
            kind, options = choice.kind, choice.options
        self._set_kind(kind)
        if self._form is not None and self.draft() != Draft(_builder(choice)):
            self._form.set_values(options)
        self.show_problem(None)
        self.show_draft(False, False)

    def set_tree(self, tree: object) -> None:
        """The present groups, with which a tree by hand begins."""
        self._tree = tree

    def offer(self, builder: HierarchyBuilder) -> None:
        """Fill in options, unless the user has begun to or has taken another kind."""
        if self._form is not None and self.draft() == Draft(HierarchyBuilder(builder.kind)):
            self._form.set_values(builder.options)
            self._announce()

    def set_enabled(self, *, suggest: bool, export: bool) -> None:
        """Which buttons can be used now."""
        self.suggest.setEnabled(suggest)
        self.export.setEnabled(export)

    def draft(self) -> Draft | None:
        """What the kind and the options say now; None when no kind is chosen."""
        if self._kind is None:
            return None
        if self._kind == NONE or self._form is None:
            return Draft(None)
        parameters = self._forms[self._kind].parameters
        return Draft(HierarchyBuilder(self._kind, _given(parameters, self._form.values())))

    def form(self) -> ParameterForm | None:
        """The form of the chosen kind."""
        return self._form

    def errors(self) -> dict[str, str]:
        """Options that cannot be read."""
        return {} if self._form is None else self._form.errors()

    def show_problem(self, problem: JobFailed | None) -> None:
        """Show why the draft gives no hierarchy, beside the option if it is one."""
        form = self._forms.get(self._kind or "")
        parameters = () if form is None else form.parameters
        text = "" if problem is None else problem_words(problem, parameters)
        key = "" if problem is None else str(problem.details.get("key", ""))
        if self._form is not None:
            for parameter in parameters:
                shown = text if parameter.key == key else self.errors().get(parameter.key, "")
                self._form.show_error(parameter.key, shown)
            if key and any(one.key == key for one in parameters):
                text = ""
        self._problem.setText(f"✕ {in_window(text)}" if text else "")
        self._problem.setVisible(bool(text))

    @property
    def problem(self) -> str:
        """The problem on show that belongs to no single option."""
        return self._problem.text()

    def show_draft(self, there: bool, usable: bool) -> None:
        """Whether a draft is tried, and whether it can be used."""
        self._draft_bar.setVisible(there)
        self.use.setEnabled(usable)

    # -- building

    def _build_now(self, layout: QVBoxLayout) -> None:
        self._now, self._reason = QLabel(), QLabel()
        set_look(self._now, "strong")
        set_look(self._reason, "note")
        self._ways = QLabel(
            self.tr(
                "Build one: intervals of numbers, masked codes, groups of values, periods of dates "
                "or a tree by hand. Or import a file. “Suggest” looks at the values and picks one."
            )
        )
        for label in (self._now, self._ways, self._reason):
            label.setWordWrap(True)
            layout.addWidget(label)
        line = FlowBox()
        self.suggest = self._button(
            self.tr("&Suggest"), self.tr("Choose a way that suits the values"), self.suggestAsked
        )
        self.import_ = self._button(
            self.tr("&Import…"), self.tr("Take a hierarchy file (CSV)"), self.importAsked
        )
        self.export = self._button(
            self.tr("Expor&t…"), self.tr("Write the hierarchy as a file (CSV)"), self.exportAsked
        )
        for button in (self.suggest, self.import_, self.export):
            line.add(button)
        layout.addWidget(line)

    def _button(self, text: str, tip: str, signal: SignalInstance) -> QPushButton:
        button = QPushButton(text)
        button.setToolTip(tip)
        button.setAccessibleName(text.replace("&", "").rstrip("…"))
        button.clicked.connect(signal)
        return button

    def _build_kind(self, layout: QVBoxLayout) -> None:
        label = QLabel(self.tr("&Kind"))
        set_look(label, "strong")
        self.kind = NarrowCombo()
        leave_wheel(self.kind)
        self.kind.setAccessibleName(self.tr("Kind of hierarchy"))
        self.kind.set_help(self.tr("How values are put together"))
        self.kind.setPlaceholderText(self.tr("Choose another way…"))
        label.setBuddy(self.kind)
        self.kind.addItem(self.tr("None: value, then *"), NONE)
        for kind, form in self._forms.items():
            self.kind.addItem(said(form.title), kind)
        self._summary = QLabel()
        self._summary.setWordWrap(True)
        set_look(self._summary, "note")
        for widget in (label, self.kind, self._summary):
            layout.addWidget(widget)
        self.kind.currentIndexChanged.connect(self._on_kind)

    def _build_form(self, layout: QVBoxLayout) -> None:
        self._place = QVBoxLayout()
        layout.addLayout(self._place)

    def _build_draft(self, layout: QVBoxLayout) -> None:
        self._draft_bar = QFrame()
        set_look(self._draft_bar, "sunken")
        inner = column(self._draft_bar, margin=SPACE.s)
        note = QLabel(self.tr("The tree shows this as a preview; nothing is changed yet."))
        self._problem = QLabel()
        for label, look in ((note, "note"), (self._problem, "fail")):
            label.setWordWrap(True)
            set_look(label, look)
            inner.addWidget(label)
        self._problem.hide()
        line = row()
        self.use = self._button(
            self.tr("&Use this"), self.tr("Take this hierarchy (Ctrl+Enter)"), self.useAsked
        )
        set_look(self.use, "primary")
        self.discard = self._button(
            self.tr("&Discard"), self.tr("Go back to what it was"), self.discardAsked
        )
        line.addWidget(self.use)
        line.addWidget(self.discard)
        line.addStretch(1)
        inner.addLayout(line)
        layout.addWidget(self._draft_bar)
        self._draft_bar.hide()

    # -- reactions

    def _set_kind(self, kind: str | None) -> None:
        with QSignalBlocker(self.kind):
            self.kind.setCurrentIndex(-1 if kind is None else self.kind.findData(kind))
        self._ways.setVisible(self._none and not kind)
        if kind == self._kind:
            return
        self._kind = kind
        if self._form is not None:
            self._place.removeWidget(self._form)
            self._form.hide()
            self._form.deleteLater()
            self._form = None
        form = self._forms.get(kind or "")
        self._summary.setText("" if form is None else said(form.summary))
        self._summary.setVisible(form is not None)
        if form is not None:
            made = ParameterForm(form.parameters, mnemonics=Mnemonics(taken_letters()))
            made.valuesChanged.connect(self._on_values)
            self._place.addWidget(made)
            self._form = made

    @Slot()
    def _on_kind(self) -> None:
        kind = self.kind.currentData()
        self._set_kind(None if kind is None else str(kind))
        if self._form is not None:
            self._form.set_values({"tree": self._tree} if kind == "tree" and self._tree else {})
        self._announce()
        self.kindPicked.emit(self._kind or NONE)

    @Slot(object)
    def _on_values(self, values: object) -> None:
        self._announce()

    def _announce(self) -> None:
        draft = self.draft()
        if draft is not None:
            self.draftChanged.emit(draft)


def _builder(choice: HierarchyChoice | None) -> HierarchyBuilder | None:
    return choice if isinstance(choice, HierarchyBuilder) else None


def _given(parameters: tuple[Parameter, ...], values: Mapping[str, object]) -> dict[str, object]:
    """The options that say more than their defaults."""
    defaults = {one.key: one.as_plain(one.default_value()) for one in parameters}
    return {
        key: value for key, value in values.items() if value != defaults.get(key) and value != []
    }
