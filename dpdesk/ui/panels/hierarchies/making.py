"""How a hierarchy is made, and the undoable commands that change one."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from PySide6.QtCore import (
    QCoreApplication,
    QObject,
    QSignalBlocker,
    Qt,
    QTimer,
    Signal,
    SignalInstance,
    Slot,
)
from PySide6.QtWidgets import (
    QFrame,
    QLabel,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from dpdesk.app import hierarchies
from dpdesk.app.types import (
    BuilderForm,
    ColumnType,
    DataStore,
    HierarchyChoice,
    SetHierarchies,
    SetHierarchy,
)
from dpdesk.core.hierarchy import Hierarchy
from dpdesk.core.parameters import Parameter
from dpdesk.core.plan import HierarchyBuilder, HierarchyFile, HierarchySpec
from dpdesk.ui.forms import ParameterForm
from dpdesk.ui.forms.spin import NarrowCombo
from dpdesk.ui.jobs import JobCancelled, JobFailed
from dpdesk.ui.panels.hierarchies.presenter import choice_words, problem_words, reason
from dpdesk.ui.panels.hierarchies.tasks import (
    Answer,
    Edit,
    Edited,
    HierarchyAnswer,
    Imported,
    Suggestion,
    examine_choice,
    export_file,
    import_file,
    make_edit,
    suggest,
)
from dpdesk.ui.theme import SPACE, set_look
from dpdesk.ui.widgets import Mnemonics, column, leave_wheel, row
from dpdesk.ui.widgets.layouts import FlowBox, SteadyArea
from dpdesk.ui.words.spoken import in_window, said
from dpdesk.ui.workbench import Workbench


class HierarchyActions(QObject):
    """Runs the work of an action in the background, then applies its command.

    ``said(kind, text)`` is a sentence for the band, ``failed(JobFailed)`` an error for it;
    ``editFailed(str)`` says why an edit by hand was not made; ``offered(Suggestion)`` answers
    :meth:`look_for_options`.
    """

    said = Signal(str, str)
    failed = Signal(object)
    editFailed = Signal(str)
    offered = Signal(object)

    def __init__(self, workbench: Workbench, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._workbench = workbench
        self._reasons: dict[str, tuple[HierarchySpec, str]] = {}

    def why(self, attribute: str) -> str:
        """Why the present hierarchy was suggested; empty when it was not."""
        builder, sentence = self._reasons.get(attribute, (None, ""))
        return sentence if self._workbench.work.hierarchies.get(attribute) == builder else ""

    def use(self, attribute: str, choice: HierarchyBuilder | None) -> None:
        """Take a builder, or no hierarchy."""
        self._workbench.apply(SetHierarchy(attribute, choice, choice_words(choice)))

    # -- suggestions

    def suggest(self, attributes: Sequence[str]) -> None:
        """Suggest hierarchies for these; all of them are one undoable step."""
        data = self._workbench.data
        if data is None or not attributes:
            return
        kinds = {name: self._kind(name) for name in attributes}
        before = {name: self._workbench.work.hierarchies.get(name) for name in attributes}
        self._workbench.hub.latest("hierarchies.suggest").query(
            self.tr("Suggesting hierarchies"),
            partial(suggest, data, kinds, before),
            then=self._on_suggested,
            failed=self._on_failed,
        )

    def look_for_options(self, attribute: str) -> None:
        """Find the options that would be suggested, without changing anything."""
        data = self._workbench.data
        if data is None:
            return
        self._workbench.hub.latest("hierarchies.options").query(
            self.tr("Looking for options"),
            partial(suggest, data, {attribute: self._kind(attribute)}, {}),
            then=self._on_options,
            quiet=True,
        )

    def _on_options(self, found: tuple[Suggestion, ...]) -> None:
        for one in found:
            self.offered.emit(one)

    def _kind(self, attribute: str) -> ColumnType:
        profile = self._workbench.profile
        known = {} if profile is None else {one.name: one.type for one in profile.columns}
        return known.get(attribute, ColumnType.TEXT)

    def _on_suggested(self, found: tuple[Suggestion, ...]) -> None:
        fresh = {one.attribute: one for one in found if self._still_true(one)}
        suggested = {name: one.found for name, one in fresh.items() if one.found is not None}
        builders = {name: self._named(one.builder) for name, one in suggested.items()}
        for name, one in suggested.items():
            self._reasons[name] = (builders[name], reason(one))
        work = self._workbench.work
        news = {name: b for name, b in builders.items() if work.hierarchies.get(name) != b}
        if news:
            self._workbench.apply(SetHierarchies(news, self.tr("suggested")))
        self._tell_suggested(news, [one for one in fresh.values() if one.builder is None])

    def _named(self, choice: HierarchySpec) -> HierarchySpec:
        """A file by its name as seen from the plan."""
        if isinstance(choice, HierarchyFile):
            return HierarchyFile(_seen_from(self._workbench.work.base, Path(choice.path)))
        return choice

    def _still_true(self, one: Suggestion) -> bool:
        return self._workbench.work.hierarchies.get(one.attribute) == one.before

    def _tell_suggested(self, news: dict[str, HierarchySpec], none: Sequence[Suggestion]) -> None:
        if none:
            self.said.emit("caution", " ".join(one.problem for one in none))
        elif not news:
            self.said.emit("info", self.tr("There is nothing else to suggest here."))
        elif len(news) == 1:
            self.said.emit("ok", self._reasons[next(iter(news))][1])
        else:
            listed = ", ".join(f"{name} ({choice_words(b)})" for name, b in news.items())
            text = self.tr("Suggested {n} hierarchies in one step: {listed}. Look at each.")
            self.said.emit("ok", text.format(n=len(news), listed=listed))

    # -- files

    def import_file(self, attribute: str, path: Path) -> None:
        """Take a hierarchy file once it has been read without error."""
        self._workbench.hub.latest("hierarchies.import").query(
            self.tr("Reading {name}").format(name=path.name),
            partial(import_file, attribute, path.absolute()),
            then=self._on_imported,
            failed=self._on_failed,
        )

    def _on_imported(self, found: Imported) -> None:
        choice = HierarchyFile(_seen_from(self._workbench.work.base, found.path))
        self._workbench.apply(SetHierarchy(found.attribute, choice))
        if found.notes:
            self.said.emit("info", " ".join(found.notes))

    def export_file(self, hierarchy: Hierarchy, path: Path) -> None:
        """Write a hierarchy as a file."""
        self._workbench.hub.mutate(
            self.tr("Writing {name}").format(name=path.name),
            partial(export_file, self._workbench.context, hierarchy, path),
            then=self._on_exported,
            failed=self._on_failed,
        )

    def _on_exported(self, found: object) -> None:
        text = self.tr("{path} is written. It lists values of the data: keep it confidential.")
        self.said.emit("ok", text.format(path=found))

    # -- by hand

    def edit(self, attribute: str, look: HierarchyAnswer, edit: Edit) -> None:
        """Edit the tree on show by hand."""
        before = self._workbench.work.hierarchies.get(attribute)
        self._workbench.hub.latest("hierarchies.edit").query(
            self.tr("Editing the hierarchy of {name}").format(name=attribute),
            partial(make_edit, attribute, before, look.examined, edit),
            then=self._on_edited,
            failed=self._on_edit_failed,
            cancelled=self._on_edit_cancelled,
            quiet=True,
        )

    def _on_edited(self, made: Edited) -> None:
        if self._workbench.work.hierarchies.get(made.attribute) != made.before:
            self.editFailed.emit(self.tr("The hierarchy has changed in the meantime; try again."))
            return
        self._workbench.apply(SetHierarchy(made.attribute, made.hierarchy, made.edit.words))

    def _on_edit_failed(self, outcome: JobFailed) -> None:
        self.editFailed.emit(outcome.full)

    def _on_edit_cancelled(self, outcome: JobCancelled) -> None:
        self.editFailed.emit("")

    def _on_failed(self, outcome: JobFailed) -> None:
        self.failed.emit(outcome)


def _seen_from(base: Path, path: Path) -> str:
    """A path below ``base`` as relative, so that plan and files can be moved together."""
    try:
        relative = os.path.relpath(path, base)
    except ValueError:  # another drive has no relative path
        return str(path)
    return str(path) if relative.startswith("..") else Path(relative).as_posix()


KEPT_PER_ATTRIBUTE = 6


class AnswerStore(QObject):
    """Answers by data, attribute and choice.

    ``answered()`` when some have come, once for those that come together, since each is a reason to
    show all anew; ``failed(JobFailed)`` for a fault of the program.
    """

    answered = Signal()
    failed = Signal(object)

    def __init__(self, workbench: Workbench, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._workbench = workbench
        self._data: DataStore | None = None
        self._answers: dict[str, list[Answer]] = {}
        self._asked: dict[str, HierarchyChoice | None] = {}
        self._telling = QTimer(self)
        self._telling.setSingleShot(True)
        self._telling.setInterval(0)
        self._telling.timeout.connect(self.answered)

    def forget_files(self) -> None:
        """Read hierarchy files again when they are next asked for: they may have changed."""
        for attribute, answers in self._answers.items():
            kept = [one for one in answers if not isinstance(one.choice, HierarchyFile)]
            self._answers[attribute] = kept

    def answer(self, attribute: str, choice: HierarchyChoice | None) -> Answer | None:
        """What is known of a choice; None when it has not come yet."""
        self._follow_data()
        for known in reversed(self._answers.get(attribute, [])):
            if known.choice == choice:
                return known
        return None

    def latest(self, attribute: str) -> Answer | None:
        """The newest answer for an attribute that has a look, whatever its choice."""
        self._follow_data()
        known = [one for one in self._answers.get(attribute, []) if one.look is not None]
        return known[-1] if known else None

    def ask(self, attribute: str, choice: HierarchyChoice | None, channel: str = "look") -> None:
        """Find out in the background, unless it is known or on its way."""
        data = self._workbench.data
        if data is None or self.answer(attribute, choice) is not None:
            return
        name = f"hierarchies.{channel}.{attribute}"
        jobs = self._workbench.hub.latest(name)
        if jobs.busy and name in self._asked and self._asked[name] == choice:
            return
        self._asked[name] = choice
        jobs.query(
            self.tr("Counting values of {name}").format(name=attribute),
            partial(examine_choice, data, attribute, choice, self._workbench.work.base),
            then=self._on_answer,
            failed=self._on_failed,
            quiet=True,
        )

    def _follow_data(self) -> None:
        if self._workbench.data is not self._data:
            self._data = self._workbench.data
            self._answers.clear()
            self._asked.clear()

    def _on_answer(self, answer: Answer) -> None:
        self._follow_data()
        if answer.data is not self._data:
            return
        answers = self._answers.setdefault(answer.attribute, [])
        answers.append(answer)
        del answers[:-KEPT_PER_ATTRIBUTE]
        self._telling.start()

    def _on_failed(self, outcome: JobFailed) -> None:
        self.failed.emit(outcome)


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
        none = self.tr("No hierarchy yet: a value stays unchanged or becomes *")
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
            self.tr("&Suggest"), self.tr("Choose a kind that suits the values"), self.suggestAsked
        )
        self.import_ = self._button(
            self.tr("&Import…"), self.tr("Import a hierarchy file (CSV)"), self.importAsked
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
        self.kind.set_help(self.tr("How values are grouped"))
        self.kind.setPlaceholderText(self.tr("Choose another kind…"))
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
            self.tr("&Use this"), self.tr("Use this hierarchy (Ctrl+Enter)"), self.useAsked
        )
        set_look(self.use, "primary")
        self.discard = self._button(
            self.tr("&Discard"), self.tr("Go back to the previous hierarchy"), self.discardAsked
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
