"""The left side: what to reach, with which settings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from textwrap import wrap

from PySide6.QtCore import QCoreApplication, QEvent, QSignalBlocker, QSize, Qt, Signal, Slot
from PySide6.QtGui import QKeyEvent, QMouseEvent
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractSpinBox,
    QApplication,
    QButtonGroup,
    QFormLayout,
    QFrame,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QPushButton,
    QRadioButton,
    QWidget,
)

from dpdesk.app.private.labelling import LevelChoice
from dpdesk.app.private.trial import Trial
from dpdesk.app.private.trying import declaring
from dpdesk.app.types import LevelNames, Method, Outlook, WorkState
from dpdesk.core.parameters import exact_number, plain_number
from dpdesk.ui.forms import ParameterForm
from dpdesk.ui.forms.columns import FormContext
from dpdesk.ui.forms.cubes import CubeForm
from dpdesk.ui.forms.form import GraphForm, TableForm
from dpdesk.ui.forms.spin import NarrowCombo
from dpdesk.ui.jobs import SpareTime
from dpdesk.ui.panels.protect.presenter import by_hand, edits, form_parameters
from dpdesk.ui.theme import SPACE, set_look
from dpdesk.ui.widgets import Badge, Mnemonics, column, row
from dpdesk.ui.widgets.layouts import HoldingArea, first_focusable, leave_wheel
from dpdesk.ui.words.numbers import marked, typed_exact, verbatim
from dpdesk.ui.words.settings import (
    NO_NAMES,
    control_labels,
    levels_words,
    outlook_words,
    trial_lines,
)
from dpdesk.ui.words.spoken import in_window, said, set_controls

SIGNS = {"epsilon": "ε", "rho": "ρ"}

_EDITORS = (QLineEdit, QPlainTextEdit, QAbstractSpinBox)


class AccuracyBox(QFrame):
    """``asked()`` when another answer is wanted; ``taken(str, str)`` carries a key and a budget."""

    asked = Signal()
    taken = Signal(str, str)

    def __init__(self) -> None:
        super().__init__()
        set_look(self, "card")
        self._answer: tuple[str, str] | None = None
        layout = column(self, margin=SPACE.m, gap=SPACE.s)
        head = QLabel(self.tr("How exact must it be?"))
        head.setWordWrap(True)
        set_look(head, "section")
        layout.addWidget(head)
        line = row()
        sign, self._of = QLabel("±"), QLabel(self.tr("in the cells of"))
        self.width_ = QLineEdit()
        self.width_.setAccessibleName(self.tr("Target error of a cell"))
        self.width_.setToolTip(
            self.tr(
                "Largest error of a cell in 95 of 100 cases, in units of the measure; before "
                "negative numbers are removed, and as if tables agreed by least squares"
            )
        )
        self.width_.setPlaceholderText("50")
        self.width_.textEdited.connect(self._on_changed)
        self.table = NarrowCombo()
        self.table.setAccessibleName(self.tr("Table that must be this exact"))
        self.table.set_help(self.tr("The table whose cells may have at most this error"))
        leave_wheel(self.table)
        self.table.currentIndexChanged.connect(self._on_changed)
        for widget in (sign, self.width_, self._of):
            line.addWidget(widget)
        line.addStretch(1)
        layout.addLayout(line)
        layout.addWidget(self.table)
        self.words = QLabel()
        self.words.setWordWrap(True)
        set_look(self.words, "note")
        layout.addWidget(self.words)
        self.take = QPushButton()
        self.take.setToolTip(self.tr("Plan with the least budget that reaches this accuracy"))
        self.take.clicked.connect(self._on_take)
        layout.addWidget(self.take)
        self.show_tables(())
        self.show_answer(None)

    @property
    def wanted(self) -> float | None:
        """The error that cells may have; None while it is no number above 0."""
        number = typed_exact(self.width_.text())
        return float(number) if number is not None and number > 0 else None

    @property
    def place(self) -> int:
        """The place of the chosen table among those that are published; -1 for none."""
        return self.table.currentIndex()

    def show_tables(self, names: Sequence[str]) -> None:
        """Offer these tables, silently; the one that was chosen stays."""
        self.table.setVisible(bool(names))
        self._of.setVisible(bool(names))
        known = [self.table.itemText(place) for place in range(self.table.count())]
        if known == list(names):
            return
        chosen = self.table.currentText()
        with QSignalBlocker(self.table):
            self.table.clear()
            self.table.addItems(list(names))
            place = self.table.findText(chosen) if chosen else len(names) - 1
            self.table.setCurrentIndex(max(0, place) if names else -1)

    def show_answer(self, answer: tuple[str, str] | None, problem: str = "") -> None:
        """The key and the least budget; None while there is nothing to say, or with a problem."""
        self._answer = answer
        self.take.setVisible(answer is not None)
        if problem:
            self.words.setText(f"✕ {in_window(problem)}")
            return
        if answer is None:
            typed = bool(self.width_.text().strip())
            self.words.setText(
                self.tr("✕ Enter a number above 0, such as 50.")
                if typed and self.wanted is None
                else self.tr("Choose dimensions and categories; then an error gives its budget.")
                if not self.table.count()
                else self.tr("Enter an error to see the budget that it needs.")
            )
            return
        sign = SIGNS.get(answer[0], answer[0])
        text = self.tr("Set {sign} to {budget}").format(sign=sign, budget=answer[1])
        self.words.setText(
            self.tr("This needs {sign} {budget}, rounded up.").format(sign=sign, budget=answer[1])
        )
        self.take.setText(text)
        self.take.setAccessibleName(text)

    @Slot()
    def _on_changed(self) -> None:
        self.show_answer(None)
        if self.wanted is not None:
            self.asked.emit()

    @Slot()
    def _on_take(self) -> None:
        if self._answer is not None:
            self.taken.emit(*self._answer)


class BudgetBox(QFrame):
    """``edited(dict)`` carries changed keys of the plan's budget; None takes a key away.

    ``read()`` comes after each change of the limit, when :attr:`unread` may be another.
    """

    edited = Signal(object)
    read = Signal()

    def __init__(self) -> None:
        super().__init__()
        set_look(self, "card")
        self._given: Mapping[str, object] = {}
        layout = column(self, margin=SPACE.m, gap=SPACE.s)
        head = QLabel(self.tr("From which budget?"))
        head.setWordWrap(True)
        set_look(head, "section")
        layout.addWidget(head)
        lines = QFormLayout()
        lines.setRowWrapPolicy(QFormLayout.RowWrapPolicy.WrapLongRows)
        lines.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        self.population = self._line(
            lines,
            self.tr("People"),
            self.tr("for instance residents 2024"),
            self.tr("Whom the data are about: spending adds up under this name"),
        )
        self.limit = self._line(
            lines,
            self.tr("Limit"),
            self.tr("no limit"),
            self.tr(
                "With the release it becomes the limit for these people: it binds every plan "
                "and can be raised only with a reason (View › Budget ledger)"
            ),
        )
        layout.addLayout(lines)
        self._error, self._words = QLabel(), QLabel()
        for label, look in ((self._error, "fail"), (self._words, "note")):
            label.setWordWrap(True)
            set_look(label, look)
            layout.addWidget(label)
        self.population.textEdited.connect(self._on_population)
        self.limit.textEdited.connect(self._on_limit)
        self.limit.editingFinished.connect(self._check)
        self._error.hide()
        self.show_outlook(None, "")

    def show_budget(self, budget: Mapping[str, object] | None) -> None:
        """Show the plan's budget, silently."""
        self._given = budget or {}
        population = str(self._given.get("population", ""))
        if self.population.text().strip() != population:
            self.population.setText(population)
            self.population.setCursorPosition(0)
        limit = self._given.get("limit")
        if typed_exact(self.limit.text()) != exact_number(limit):
            typed = self.limit.text() and self.limit.hasFocus() and limit is None
            if not typed:
                self.limit.setText("" if limit is None else marked(str(limit)))

    def show_outlook(self, outlook: Outlook | None, problem: str) -> None:
        """Say what the ledger says, or why it says nothing."""
        text = f"✕ {in_window(problem)}" if problem else ""
        if outlook is not None:
            text = "\n".join(
                (outlook_words(outlook), *(f"△ {in_window(one)}" for one in outlook.notes))
            )
        self._words.setText(text or self.tr("Nothing is spent before the release."))
        self.setAccessibleDescription(self._words.text())

    @property
    def words(self) -> str:
        """What is said."""
        return self._words.text()

    def changeEvent(self, event: QEvent) -> None:
        """Another size of letters: examples are to be read in full."""
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            for line in self.findChildren(QLineEdit):
                whole = line.fontMetrics().horizontalAdvance(line.placeholderText())
                line.setMinimumWidth(whole + SPACE.l * 2)

    @property
    def unread(self) -> tuple[str, ...]:
        """The label of the limit where what is written there is no limit."""
        return (self.tr("Limit"),) if self._wrong and not self.isHidden() else ()

    @property
    def _wrong(self) -> bool:
        number = typed_exact(self.limit.text())
        return bool(self.limit.text().strip()) and (number is None or number < 0)

    def _line(self, lines: QFormLayout, name: str, example: str, tip: str) -> QLineEdit:
        label, line = QLabel(name), QLineEdit()
        label.setBuddy(line)
        line.setAccessibleName(self.tr("{name} of the budget").format(name=name))
        line.setPlaceholderText(example)
        line.setToolTip(tip)
        lines.addRow(label, line)
        return line

    @Slot(str)
    def _on_population(self, text: str) -> None:
        self.edited.emit({"population": text.strip() or None})

    @Slot(str)
    def _on_limit(self, text: str) -> None:
        number = typed_exact(text)
        if not self._wrong:
            self._error.hide()
            self.edited.emit({"limit": None if number is None else plain_number(number)})
        self.read.emit()

    @Slot()
    def _check(self) -> None:
        words = self.tr("✕ The limit is “{text}”, expected a number such as 2.0.")
        self._error.setText(words.format(text=self.limit.text().strip()))
        self._error.setVisible(self._wrong)


TITLE_LETTERS = 32


class GoalButton(QRadioButton):
    """``taken()`` when a click, Space or Enter chooses; walking by arrow keys is not yet that."""

    taken = Signal()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """A click ends the choice."""
        super().mouseReleaseEvent(event)
        if self.isChecked() and event.button() is Qt.MouseButton.LeftButton:
            self.taken.emit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """So do these keys."""
        if event.key() in (Qt.Key.Key_Space, Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.click()
            self.taken.emit()
        else:
            super().keyPressEvent(event)


class GoalCard(QFrame):
    """A method that can be chosen: by its button, or by a click anywhere on the card.

    What they do and promise all say when they are pointed at, so that there is room for settings.
    """

    def __init__(self, method: Method) -> None:
        super().__init__()
        self.method_id = method.id
        layout = column(self, gap=0)
        title, summary, promise = map(said, (method.title, method.summary, method.promise))
        # The words of a radio button do not wrap by themselves.
        lines = "\n".join(wrap(title, TITLE_LETTERS, break_long_words=False)) or title
        self.button = GoalButton(verbatim(lines))
        set_look(self.button, "goal-of-lines" if "\n" in lines else "goal")  # room for the focus
        self.button.setProperty("method-id", method.id)
        self.button.setAccessibleName(title)
        self.button.setAccessibleDescription(f"{summary} {promise}")
        self.button.setToolTip(f"{summary} {promise}")
        layout.addWidget(self.button)
        self.show_chosen(chosen=False, alone=False)

    def show_chosen(self, *, chosen: bool, alone: bool) -> None:
        """Look chosen or not; ``alone`` while the others are folded away."""
        self.button.setChecked(chosen)
        set_look(self, "chosen" if chosen else "not-chosen")
        self.setVisible(chosen or not alone)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """A click anywhere chooses."""
        if event.button() is Qt.MouseButton.LeftButton and self.isEnabled():
            self.button.click()
            self.button.taken.emit()
        event.accept()


class GoalCards(QWidget):
    """All methods; ``chosen(str)`` carries the id of the one that the user takes.

    Once one is taken the others are folded away, and come back by a button.
    """

    chosen = Signal(str)

    def __init__(self, methods: Sequence[Method]) -> None:
        super().__init__()
        self.setAccessibleName(self.tr("Goal"))
        layout = column(self, gap=0)
        self._group = QButtonGroup(self)
        self._cards: dict[str, GoalCard] = {}
        self._shown, self._folded = "", False
        for method in methods:
            card = GoalCard(method)
            card.button.taken.connect(self._on_taken)
            self._cards[method.id] = card
            self._group.addButton(card.button)
            layout.addWidget(card)
        self._others = QPushButton(self.tr("Other protection…"))
        self._others.setToolTip(self.tr("List all kinds of protection again"))
        self._others.clicked.connect(self._on_others)
        layout.addSpacing(SPACE.xs)
        layout.addWidget(self._others)
        self._group.buttonClicked.connect(self._on_clicked)
        self._show()

    @property
    def ids(self) -> tuple[str, ...]:
        """Ids of all methods, in order."""
        return tuple(self._cards)

    def card(self, identifier: str) -> GoalCard:
        """The card of a method; KeyError when there is none."""
        return self._cards[identifier]

    def show_method(self, identifier: str) -> None:
        """Show which method is chosen, silently; one that work begins with leaves all in sight."""
        walking = any(card.button.hasFocus() for card in self._cards.values())
        if identifier != self._shown and not walking:
            self._folded = identifier != next(iter(self._cards), "")
        self._shown = identifier
        self._show()

    def _show(self) -> None:
        for key, card in self._cards.items():
            card.show_chosen(chosen=key == self._shown, alone=self._folded)
        self._others.setVisible(self._folded)

    @Slot(QAbstractButton)
    def _on_clicked(self, button: QAbstractButton) -> None:
        self._shown = str(button.property("method-id"))
        self._show()
        self.chosen.emit(self._shown)

    @Slot()
    def _on_taken(self) -> None:
        self._folded = True
        self._show()

    @Slot()
    def _on_others(self) -> None:
        self._folded = False
        self._show()
        self._cards[self._shown].button.setFocus(Qt.FocusReason.OtherFocusReason)


class TrialBox(QFrame):
    """``asked()`` when the categories are to be tried on the data."""

    asked = Signal()

    def __init__(self) -> None:
        super().__init__()
        set_look(self, "card")
        layout = column(self, margin=SPACE.m, gap=SPACE.s)
        head = QLabel(self.tr("Do the categories cover the rows?"))
        head.setWordWrap(True)
        set_look(head, "section")
        layout.addWidget(head)
        line = row()
        self.button = QPushButton(self.tr("Try them on the data"))
        self.button.setToolTip(
            self.tr(
                "Counts the rows outside the declared categories. It looks at the data and is "
                "entered in the audit log; nothing is spent."
            )
        )
        self.button.clicked.connect(self.asked)
        line.addWidget(self.button)
        line.addStretch(1)
        why = self.tr("What a trial finds depends on individual rows: it must not leave the agency")
        self._badge = Badge(self.tr("CONFIDENTIAL"), why)
        line.addWidget(self._badge, 0, Qt.AlignmentFlag.AlignVCenter)
        layout.addLayout(line)
        self._words = QLabel()
        self._words.setTextFormat(Qt.TextFormat.PlainText)
        self._words.setWordWrap(True)
        layout.addWidget(self._words)
        self.show_trial(None)

    @property
    def words(self) -> str:
        """What is said."""
        return self._words.text()

    def show_trial(self, trial: Trial | None, problem: str = "") -> None:
        """Say what was found, or why nothing was; None: not tried with these settings."""
        look, text = "note", self.tr("Not tried with these settings yet.")
        if problem:
            look, text = "fail", f"✕ {problem}"
        elif trial is not None:
            look = "ok" if trial.ok else "fail"
            closing = self.tr(
                "What you decide after this, including not to publish, is not covered by ε."
            )
            text = "\n".join((*trial_lines(trial), closing))
        set_look(self._words, look)
        self._words.setText(text)
        self._badge.setVisible(trial is not None)
        self.setAccessibleName(self.tr("Do the categories cover the rows?"))
        self.setAccessibleDescription(text)


def reserved_letters() -> str:
    """Letters of the menu bar and of what stands beside the form."""
    return QCoreApplication.translate("Mnemonics", "FEVRHKLPUSCOI")


class SettingsPane(HoldingArea):
    """Goal cards, the form of the chosen method, levels chosen by hand, and the pause switch.

    Signals: ``methodChosen(str)``; ``edited(dict, bool)`` changed keys with plain values (None:
    back to the default), and whether they go on with what is being typed into one field;
    ``searchAgainAsked()`` the choice by hand shall go; ``paused(bool)``;
    ``categoriesWanted(str, str)`` asks for categories of a dimension, as the form of a cube does,
    ``fileAsked(FileField)`` for the file that a setting names; ``read()`` after each change, when
    :attr:`unread` may be another.
    """

    methodChosen = Signal(str)
    edited = Signal(object, bool)
    searchAgainAsked = Signal()
    paused = Signal(bool)
    categoriesWanted = Signal(str, str)
    fileAsked = Signal(object)
    read = Signal()

    def __init__(self, methods: Sequence[Method], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._method: Method | None = None
        self._work = WorkState()
        self._form: ParameterForm | None = None
        self._forms: dict[str, ParameterForm] = {}
        self._ahead = SpareTime(self)
        self._levels: Mapping[str, tuple[LevelChoice, ...]] = {}
        self._typing: QWidget | None = None
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        inner = QWidget()
        self._layout = column(inner, gap=SPACE.m)
        self._layout.setContentsMargins(0, 0, SPACE.s, 0)
        head = QLabel(self.tr("Which protection?"))
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
        self.budget.read.connect(self.read)
        for box in (self.accuracy, self.trial, self.budget):
            box.hide()
            self._layout.addWidget(box)
        self._layout.addWidget(self._build_pause())
        self._layout.addStretch(1)
        self.setWidget(inner)
        application = QApplication.instance()
        if isinstance(application, QApplication):
            application.focusChanged.connect(self._on_focus)
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
        self,
        method: Method | None,
        work: WorkState,
        columns: tuple[str, ...] = (),
        names: LevelNames = NO_NAMES,
    ) -> None:
        """Show a state of the work; fields that say the same already are left alone.

        ``names`` are those of the levels of the columns.
        """
        before, self._work = self._work, work
        set_controls({} if method is None else control_labels(method, columns))
        if method is not self._method or self._form is None:
            self._method = method
            self._replace_form()
        self.goals.show_method(method.id if method is not None else next(iter(self.goals.ids), ""))
        form = self._form
        self.accuracy.setVisible(
            isinstance(form, CubeForm) and form.field_or_none("publish") is not None
        )
        spends = method is not None and bool(method.capabilities.spends)
        self.budget.setVisible(spends)
        self.trial.setVisible(spends)
        self.budget.show_budget(work.budget)
        if isinstance(form, CubeForm):
            named = frozenset(work.hierarchies)
            form.show_around(FormContext(columns, dict(work.roles), named, declaring(work)))
            form.show_levels(self._levels)
        elif form is not None:
            form.show_columns(FormContext(columns, dict(work.roles), levels=dict(names)))
        if form is not None and method is not None:
            self._show_values(form, method, before)
            self._show_by_hand(by_hand(method, work), names)

    def prepare(self, method: Method | None) -> None:
        """Make the form of a method soon, in pieces, before anybody sees it."""
        if method is not None and method.id not in self._forms:
            self._ahead.add([partial(self._kept_form, method), partial(self._form_of, method)])

    def show_levels(self, choices: Mapping[str, tuple[LevelChoice, ...]]) -> None:
        """Offer these levels of hierarchies, now or when there is a form for them."""
        self._levels = choices
        if isinstance(self._form, CubeForm):
            self._form.show_levels(choices)

    def _show_values(self, form: ParameterForm, method: Method, before: WorkState) -> None:
        """Show what the form says otherwise than the work; what is unfinished stays as it is."""
        old, new = before.parameters, self._work.parameters
        unfinished = {key for key in form.errors() if old.get(key) == new.get(key)}
        if set(edits(form.values(), self._work, form_parameters(method))) - unfinished:
            form.set_values(new, unfinished)

    @property
    def unread(self) -> tuple[str, ...]:
        """Labels of fields that say something else than the work, but nothing that can be used."""
        form, method = self._form, self._method
        if form is None or method is None:
            return ()
        parameters, wrong = form_parameters(method), form.errors()
        found = edits(form.values(), self._work, parameters) if wrong else {}
        labels = [said(one.label) for one in parameters if one.key in wrong and one.key in found]
        return (*labels, *self.budget.unread)

    def show_field_error(self, key: str, sentence: str) -> bool:
        """Show a sentence under a field; False when there is no such field."""
        return self._form is not None and self._form.show_error(key, sentence)

    def has_field(self, key: str) -> bool:
        """Whether the form has a field for a setting."""
        return self._form is not None and self._form.field_or_none(key) is not None

    def show_field(self, key: str) -> None:
        """Bring the field of a setting in sight, ready to be typed into."""
        field = None if self._form is None else self._form.field_or_none(key)
        if self._form is not None and field is not None:
            self._form.unfold(key)
            target = first_focusable(field)
            if target is not None:
                target.setFocus(Qt.FocusReason.OtherFocusReason)
            self.ensureWidgetVisible(field, 0, field.height() // 2)

    def propose_categories(self) -> None:
        """Ask for categories of all dimensions that have none, and bring their field in sight."""
        if isinstance(self._form, CubeForm):
            domains = self._form.domains
            self.ensureWidgetVisible(domains, 0, domains.height() // 2)
            domains.ask_for_all()

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
        self._again.setToolTip(
            self.tr("Let the program choose instead of the point that you chose")
        )
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
            for place, box in enumerate((self.accuracy, self.budget), start=1):
                form.put_among(place, box)
            form.set_values(self._work.parameters)
            form.show()
            self._form = form

    def _form_of(self, method: Method) -> ParameterForm:
        form = self._kept_form(method)
        if self._place.indexOf(form) < 0:
            self._place.addWidget(form)
        return form

    def _kept_form(self, method: Method) -> ParameterForm:
        """The form of a method, which may not have its place yet."""
        if method.id not in self._forms:
            letters = Mnemonics(reserved_letters())
            form = self._made_form(method, letters)
            form.hide()
            form.valuesChanged.connect(self._on_values)
            form.fileAsked.connect(self.fileAsked)
            self._forms[method.id] = form
        return self._forms[method.id]

    def _made_form(self, method: Method, letters: Mnemonics) -> ParameterForm:
        """A form in its place from the start: it would move with all that it holds."""
        parameters, place = form_parameters(method), self.widget()
        if any(parameter.key == "domains" for parameter in parameters):
            made = CubeForm(parameters, place, letters)
            made.categoriesWanted.connect(self.categoriesWanted)
            return made
        if any(parameter.key == "nodes" for parameter in parameters):
            return GraphForm(parameters, (), place, letters)
        if any(parameter.key == "cells" for parameter in parameters):
            return TableForm(parameters, place, letters)
        return ParameterForm(parameters, method.live, place, letters)

    def _show_by_hand(self, picked: Mapping[str, object], names: LevelNames) -> None:
        self._hand.setVisible(bool(picked))
        text = self.tr("Chosen by hand: {levels}").format(levels=levels_words(picked, names))
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
            editor = QApplication.focusWidget()
            same = editor is not None and editor is self._typing
            stepping = isinstance(editor, NarrowCombo) and editor.by_keys
            self._typing = editor if stepping or isinstance(editor, _EDITORS) else None
            self.edited.emit(good, same)
        self.read.emit()

    @Slot()
    def _on_focus(self) -> None:
        self._typing = None

    @Slot(bool)
    def _on_pause(self, paused: bool) -> None:
        self._explain_pause(paused)
        self.paused.emit(paused)
