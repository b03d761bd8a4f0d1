"""The left side: what to reach, with which settings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QCoreApplication, QSize, Qt, Signal, Slot
from PySide6.QtWidgets import QFrame, QLabel, QPushButton, QScrollArea, QWidget

from dpdesk.app.private.levels import LevelChoice
from dpdesk.app.types import Method, WorkState
from dpdesk.ui.forms import ParameterForm
from dpdesk.ui.forms.cubes import CubeForm
from dpdesk.ui.forms.cubes.around import Around
from dpdesk.ui.forms.graphs import GraphForm
from dpdesk.ui.panels.protect.accuracy_box import AccuracyBox
from dpdesk.ui.panels.protect.budget_box import BudgetBox
from dpdesk.ui.panels.protect.goals import GoalCards
from dpdesk.ui.panels.protect.presenter import by_hand, edits, form_parameters
from dpdesk.ui.panels.protect.trial_box import TrialBox
from dpdesk.ui.theme import SPACE, set_look
from dpdesk.ui.widgets import Mnemonics, column, row
from dpdesk.ui.words.settings import levels_words


def reserved_letters() -> str:
    """Letters of the menu bar and of what stands beside the form."""
    return QCoreApplication.translate("Mnemonics", "FEVRHKLPUSCOI")


class SettingsPane(QScrollArea):
    """Goal cards, the form of the chosen method, levels chosen by hand, and the pause switch.

    Signals: ``methodChosen(str)``; ``edited(dict)`` changed keys with plain values (None: back to
    the default); ``searchAgainAsked()`` the choice by hand shall go; ``paused(bool)``;
    ``categoriesWanted(str, str)`` asks for categories of a dimension, as the form of a cube does.
    """

    methodChosen = Signal(str)
    edited = Signal(object)
    searchAgainAsked = Signal()
    paused = Signal(bool)
    categoriesWanted = Signal(str, str)

    def __init__(self, methods: Sequence[Method], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._method: Method | None = None
        self._work = WorkState()
        self._form: ParameterForm | None = None
        self._forms: dict[str, ParameterForm] = {}
        self._levels: Mapping[str, tuple[LevelChoice, ...]] = {}
        self.setWidgetResizable(True)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        inner = QWidget()
        self._layout = column(inner, gap=SPACE.m)
        self._layout.setContentsMargins(0, 0, SPACE.s, 0)
        head = QLabel(self.tr("What shall be reached?"))
        head.setWordWrap(True)
        set_look(head, "section")
        self._layout.addWidget(head)
        self.goals = GoalCards(methods)
        self.goals.chosen.connect(self.methodChosen)
        self._layout.addWidget(self.goals)
        self._settings_head = QLabel(self.tr("With which settings?"))
        self._settings_head.setWordWrap(True)
        set_look(self._settings_head, "section")
        self._layout.addWidget(self._settings_head)
        self._layout.addWidget(self._build_by_hand())
        self._place = column(gap=0)
        self._layout.addLayout(self._place)
        self.accuracy, self.budget, self.trial = AccuracyBox(), BudgetBox(), TrialBox()
        for box in (self.accuracy, self.trial, self.budget):
            box.hide()
            self._layout.addWidget(box)
        self._layout.addWidget(self._build_pause())
        self._layout.addStretch(1)
        self.setWidget(inner)
        for method in methods[:1]:  # the one that new work begins with
            self._form_of(method)

    def sizeHint(self) -> QSize:
        """No wider than it must be: the room belongs to the pictures."""
        return QSize(self.minimumWidth(), super().sizeHint().height())

    def least_width(self) -> int:
        """The width below which something would be cut."""
        inner, bar = self.widget(), self.verticalScrollBar().sizeHint().width()
        return bar + (inner.minimumSizeHint().width() if inner is not None else 0)

    @property
    def form(self) -> ParameterForm | None:
        """The form of the chosen method."""
        return self._form

    def show_work(
        self, method: Method | None, work: WorkState, columns: tuple[str, ...] = ()
    ) -> None:
        """Show a state of the work; fields that say the same already are left alone."""
        self._work = work
        if method is not self._method or self._form is None:
            self._method = method
            self._replace_form()
        self.goals.show_method(method.id if method is not None else next(iter(self.goals.ids), ""))
        form = self._form
        self.accuracy.setVisible(isinstance(form, CubeForm))
        spends = method is not None and bool(method.capabilities.spends)
        self.budget.setVisible(spends)
        self.trial.setVisible(spends)
        self.budget.show_budget(work.budget)
        if isinstance(form, CubeForm):
            form.show_around(Around(columns, dict(work.roles), frozenset(work.hierarchies)))
            form.show_levels(self._levels)
        if isinstance(form, GraphForm):
            form.show_columns(columns, work.roles)
        if form is not None and method is not None:
            if self._differs(form, method):
                form.set_values(work.parameters)
            self._show_by_hand(by_hand(method, work))

    def show_levels(self, choices: Mapping[str, tuple[LevelChoice, ...]]) -> None:
        """Offer these levels of hierarchies, now or when there is a form for them."""
        self._levels = choices
        if isinstance(self._form, CubeForm):
            self._form.show_levels(choices)

    def _differs(self, form: ParameterForm, method: Method) -> bool:
        """Whether the form says something else than the work; half-typed numbers say nothing."""
        found = set(edits(form.values(), self._work, form_parameters(method)))
        return bool(found - set(form.errors()) if isinstance(form, CubeForm) else found)

    def show_field_error(self, key: str, sentence: str) -> bool:
        """Show a sentence under a field; False when there is no such field."""
        return self._form is not None and self._form.show_error(key, sentence)

    # -- building

    def _build_by_hand(self) -> QFrame:
        self._hand = QFrame()
        set_look(self._hand, "band-info")
        lines = column(self._hand, margin=SPACE.s, gap=SPACE.xs)
        self._hand_text = QLabel()
        self._hand_text.setWordWrap(True)
        lines.addWidget(self._hand_text)
        line = row()
        self._again = QPushButton(self.tr("&Search again"))
        self._again.setToolTip(self.tr("Let the program choose instead of the point that you took"))
        self._again.clicked.connect(self.searchAgainAsked)
        line.addWidget(self._again)
        line.addStretch(1)
        lines.addLayout(line)
        self._hand.hide()
        return self._hand

    def _build_pause(self) -> QWidget:
        box = QWidget()
        line = row(box)
        self._pause = QPushButton(self.tr("Pa&use"))
        self._pause.setCheckable(True)
        self._pause.setToolTip(self.tr("Change settings without a new search or new charts"))
        self._pause.clicked.connect(self._on_pause)
        self._pause_note = QLabel()
        self._pause_note.setWordWrap(True)
        set_look(self._pause_note, "note")
        line.addWidget(self._pause)
        line.addWidget(self._pause_note, 1)
        self._explain_pause(False)
        return box

    def _replace_form(self) -> None:
        """Show the form of the method; forms of others stay, since they take long to be made."""
        old, self._form = self._form, None
        if old is not None:
            old.hide()
        if self._method is not None:
            form = self._form_of(self._method)
            form.set_values(self._work.parameters)
            form.show()
            self._form = form

    def _form_of(self, method: Method) -> ParameterForm:
        if method.id not in self._forms:
            letters = Mnemonics(reserved_letters())
            form = self._made_form(method, letters)
            form.hide()
            form.valuesChanged.connect(self._on_values)
            self._place.addWidget(form)
            self._forms[method.id] = form
        return self._forms[method.id]

    def _made_form(self, method: Method, letters: Mnemonics) -> ParameterForm:
        parameters = form_parameters(method)
        if any(parameter.key == "domains" for parameter in parameters):
            made = CubeForm(parameters, mnemonics=letters)
            made.categoriesWanted.connect(self.categoriesWanted)
            return made
        if any(parameter.key == "nodes" for parameter in parameters):
            return GraphForm(parameters, mnemonics=letters)
        return ParameterForm(parameters, method.live, mnemonics=letters)

    def _show_by_hand(self, picked: Mapping[str, object]) -> None:
        self._hand.setVisible(bool(picked))
        text = self.tr("Chosen by hand: {levels}").format(levels=levels_words(picked))
        self._hand_text.setText(text)
        self._again.setAccessibleName(self.tr("Search again instead of the choice by hand"))
        self._again.setAccessibleDescription(text)

    def _explain_pause(self, paused: bool) -> None:
        self._pause_note.setText(
            self.tr("Paused: charts wait for you.")
            if paused
            else self.tr("Charts follow every change.")
        )

    # -- reactions

    @Slot(object)
    def _on_values(self, values: Mapping[str, object]) -> None:
        form, method = self._form, self._method
        if form is None or method is None:
            return
        wrong = form.errors()
        found = edits(values, self._work, form_parameters(method))
        good = {key: value for key, value in found.items() if key not in wrong}
        if good:
            self.edited.emit(good)

    @Slot(bool)
    def _on_pause(self, paused: bool) -> None:
        self._explain_pause(paused)
        self.paused.emit(paused)
