"""The plan and another file: what fits, what does not, and going on with it; blocks nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from PySide6.QtCore import QCoreApplication, Signal, Slot
from PySide6.QtWidgets import QFrame, QPushButton, QWidget

from dpdesk.app import auditing, examining, recipes
from dpdesk.app.types import (
    THE_WORK,
    AppContext,
    DataStore,
    FitItem,
    FitReport,
    Fix,
    FixKind,
    Recipe,
    Weight,
    fixed,
    fixes_of,
)
from dpdesk.core.errors import InputError
from dpdesk.core.jobs import CancelToken, Report
from dpdesk.core.logged import Logged
from dpdesk.core.plan import SourceSpec
from dpdesk.ui.files import FileAsker
from dpdesk.ui.jobs import JobFailed
from dpdesk.ui.projects import DATA_ENDINGS
from dpdesk.ui.theme import SPACE, ThemeManager, set_look
from dpdesk.ui.widgets import column
from dpdesk.ui.widgets.activity import JobLine
from dpdesk.ui.widgets.layouts import FlowBox
from dpdesk.ui.widgets.states import Lines, button, note
from dpdesk.ui.windows.base import SideWindow
from dpdesk.ui.words.numbers import grouped, quoted, verbatim
from dpdesk.ui.words.spoken import in_window
from dpdesk.ui.workbench import Aspect, Changes, Workbench

translate = QCoreApplication.translate

HOLD = "fitting.hold"


@dataclass(frozen=True)
class PlanComparison:
    """A recipe as it was fixed, and how it fits the file."""

    path: Path
    recipe: Recipe
    fixes: tuple[Fix, ...]
    report: FitReport


def compare_with_plan(
    context: AppContext,
    recipe: Recipe,
    fixes: tuple[Fix, ...],
    path: Path,
    data: DataStore | None,
    token: CancelToken,
    report: Report,
) -> PlanComparison:
    """Check a file against a recipe, after some fixes; changes nothing. ``data`` are the present
    ones, with whose levels those of the file are compared.
    """
    made = fixed_recipe(recipe, fixes)
    source, base = SourceSpec(path=str(path)), path.parent
    before = None if data is None else (recipe.work, data)
    found = examining.examine(context, made, source, base, token, report, before=before)
    auditing.mention(context, Logged.OPENED, path, report)
    return PlanComparison(path, made, fixes, found)


def fixed_recipe(recipe: Recipe, fixes: tuple[Fix, ...]) -> Recipe:
    """A recipe after what was decided. InputError ``recipe.decisions`` when that is impossible."""
    try:
        return fixed(recipe, fixes)
    except ValueError as error:  # the plan has changed since these were decided
        raise InputError(
            "recipe.decisions",
            translate(
                "Fitting",
                "The decisions for this file no longer fit the plan: {reason}.",
            ).format(reason=error),
            hint=translate("Fitting", "Take back the last decision."),
        ) from error


Row = tuple[str, str, int | None, str]


def headings() -> tuple[str, str, str, str]:
    """Headings of the list of items."""
    return (
        translate("Fitting", "Weight"),
        translate("Fitting", "Column"),
        translate("Fitting", "Rows"),
        translate("Fitting", "What has changed"),
    )


def row_of(item: FitItem) -> Row:
    """An item as a line; no number where no rows are counted."""
    whole = item.column or translate("Fitting", "(the file)")
    return (weight_words(item.weight), whole, item.rows or None, in_window(item.sentence))


def weight_words(weight: Weight) -> str:
    """A weight by shape and words."""
    words = {
        Weight.BLOCKS: translate("Fitting", "✕ does not fit"),
        Weight.LOOK: translate("Fitting", "△ needs a look"),
        Weight.NOTE: translate("Fitting", "– good to know"),
    }
    return words[weight]


def question(name: str) -> str:
    """The title."""
    return translate("Fitting", "Does {name} fit this plan?").format(name=name)


def answer_words(report: FitReport) -> tuple[str, str]:
    """A look and one sentence."""
    blocking, looking = len(report.of(Weight.BLOCKS)), len(report.of(Weight.LOOK))
    rows = grouped(report.profile.rows)
    if blocking:
        text = translate(
            "Fitting", "✕ Not yet with its {rows} rows: {n} of the points below prevent it."
        )
        if blocking == 1:
            text = translate(
                "Fitting", "✕ Not yet with its {rows} rows: one of the points below prevents it."
            )
        return "fail", text.format(rows=rows, n=blocking)
    if looking:
        text = translate(
            "Fitting", "△ Nothing in its {rows} rows prevents it; look at the lines marked △."
        )
        return "caution", text.format(rows=rows)
    text = translate("Fitting", "✓ Yes: nothing in its {rows} rows prevents it.")
    return "ok", text.format(rows=rows)


def trial_words(report: FitReport) -> str:
    """What the plan gives for the file; empty when that was not tried."""
    if report.trial is None:
        return ""
    parts = [translate("Fitting", "The plan gives, for this file: {claim}")]
    result = report.trial.result
    suppressed, node = result.get("rows_suppressed"), result.get("node")
    if isinstance(suppressed, int):
        text = translate("Fitting", "Rows suppressed: {n} of {rows}.")
        parts.append(text.format(n=grouped(suppressed), rows=grouped(report.profile.rows)))
    if isinstance(node, Mapping):
        levels = ", ".join(f"{name} {level}" for name, level in node.items())
        parts.append(translate("Fitting", "Levels: {levels}.").format(levels=levels))
    return " ".join(parts).replace("{claim}", in_window(report.trial.claim))


def advice_words(item: FitItem) -> str:
    """What to do about an item, in this window."""
    special = {
        "column.missing": translate(
            "Fitting", "State below what became of it; the plan itself does not change."
        ),
        "column.new": translate(
            "Fitting", ("State below what it reveals about a person; an identifier is left out.")
        ),
        "missing.candidate": translate(
            "Fitting", "If it stands for a missing value, state this below."
        ),
        "reading.other": translate(
            "Fitting",
            ("Continue with the file as it was detected, or correct the reading in Data."),
        ),
    }
    return special.get(item.code) or in_window(item.advice)


def fix_words(fix: Fix) -> str:
    """What a button does."""
    if fix.kind is FixKind.ROLE:
        roles = {
            "identifier": translate("Fitting", "“{column}” points to a person: leave it out"),
            "quasi-identifier": translate("Fitting", "“{column}” is a quasi-identifier"),
            "sensitive": translate("Fitting", "“{column}” is sensitive"),
            "insensitive": translate("Fitting", "“{column}” is harmless: release it as it is"),
        }
        return roles[fix.value].format(column=fix.column)
    words = {
        FixKind.RENAME: translate("Fitting", "“{column}” is called “{value}” now"),
        FixKind.TAKE_OUT: translate("Fitting", "Take “{column}” out of the plan"),
        FixKind.MISSING: translate("Fitting", "“{value}” stands for a missing value"),
        FixKind.LEVELS: translate("Fitting", "Keep the previous levels"),
    }
    return words[fix.kind].format(column=fix.column, value=fix.value)


def decided_words(fixes: Sequence[Fix]) -> str:
    """What was decided so far; empty when nothing was."""
    if not fixes:
        return ""
    decided = "; ".join(fix_words(fix) for fix in fixes)
    return translate("Fitting", "Decided for this file: {decided}.").format(decided=decided)


def place_of(item: FitItem) -> tuple[str, str]:
    """Where in the main window an item can be fixed: the step, and its title."""
    for start, step, title in (
        ("hierarchy.", "hierarchies", translate("Fitting", "Hierarchies")),
        ("column.type", "data", translate("Fitting", "Data")),
        ("column.", "attributes", translate("Fitting", "Attributes")),
        ("missing.", "data", translate("Fitting", "Data")),
        ("reading.", "data", translate("Fitting", "Data")),
    ):
        if item.code.startswith(start):
            return step, title
    return "protect", translate("Fitting", "Protect")


_VALUES = 12


class ItemCard(QFrame):
    """One item: sentence, advice, values, and buttons.

    ``fixAsked(Fix)``; ``jumpAsked(str, str)`` with a step and a column.
    """

    fixAsked = Signal(object)
    jumpAsked = Signal(str, str)

    def __init__(self) -> None:
        super().__init__()
        set_look(self, "card")
        self._fixes: tuple[Fix, ...] = ()
        self._place = ("", "")
        self._buttons: list[QPushButton] = []
        layout = column(self, margin=SPACE.l, gap=SPACE.s)
        self.sentence, self.advice, self.values = note("", "strong"), note("", "answer"), note()
        for label in (self.sentence, self.advice, self.values):
            layout.addWidget(label)
        self._bar = FlowBox(gap=SPACE.s)
        layout.addWidget(self._bar)
        self.hide()

    def show_item(self, item: FitItem | None, items: Sequence[FitItem] = ()) -> None:
        """Show one of the items; None: nothing."""
        self.setVisible(item is not None)
        self._fixes = () if item is None else fixes_of(item, items)
        if item is None:
            return
        self.sentence.setText(in_window(item.sentence))
        self.advice.setText(advice_words(item))
        self.advice.setVisible(bool(self.advice.text()))
        values = [
            f"{quoted(each.value)} ({grouped(each.rows)})" for each in item.values if each.rows
        ]
        more = len(values) - _VALUES
        shown = ", ".join(values[:_VALUES]) + (f" … +{grouped(more)}" if more > 0 else "")
        self.values.setText(self.tr("Values and their rows: {values}").format(values=shown))
        self.values.setVisible(bool(values))
        self._offer(item)

    def _offer(self, item: FitItem) -> None:
        for old in self._buttons:
            self._bar.remove(old)
            old.hide()
            old.deleteLater()
        self._buttons = []
        tip = self.tr(
            "Check the file against the plan with this decision; the work itself does not change"
        )
        for number, fix in enumerate(self._fixes):
            made = button(verbatim(fix_words(fix)), tip)
            made.setProperty("fix", number)
            made.clicked.connect(self._on_fix)
            self._buttons.append(made)
        step, title = place_of(item)
        self._place = (step, item.column)
        go = button(self.tr("Go to {step}").format(step=title), self.tr("Fix it in the window"))
        go.clicked.connect(self._on_jump)
        self._buttons.append(go)
        for one in self._buttons:
            self._bar.add(one)
        self._bar.updateGeometry()

    @Slot()
    def _on_fix(self) -> None:
        sender = self.sender()
        if sender is not None:
            self.fixAsked.emit(self._fixes[int(sender.property("fix"))])

    @Slot()
    def _on_jump(self) -> None:
        self.jumpAsked.emit(*self._place)


class FitPage(QWidget):
    """``otherAsked()``, ``againAsked()``, ``backAsked()``, ``adoptAsked()``; see ItemCard."""

    otherAsked = Signal()
    againAsked = Signal()
    backAsked = Signal()
    adoptAsked = Signal()

    def __init__(self, theme: ThemeManager, progress: JobLine) -> None:
        super().__init__()
        self._items: tuple[FitItem, ...] = ()
        layout = column(self, gap=SPACE.m)
        self.title, self.answer = note("", "headline"), note()
        self.trial, self.decided = note("", "answer"), note()
        layout.addWidget(self.title)
        layout.addWidget(progress)
        layout.addWidget(self.answer)
        layout.addWidget(self.trial)
        self.grid = Lines(
            theme,
            self.tr("What has changed, the most serious first"),
            self.tr("Arrow keys choose a line; all of it, and what to do, is shown below"),
        )
        self.grid.selectionModel().selectionChanged.connect(self._on_chosen)
        layout.addWidget(self.grid, 1)
        self.card = ItemCard()
        layout.addWidget(self.card)
        layout.addWidget(self.decided)
        layout.addWidget(self._build_bar())
        self.show_held(None, ())

    def ask_about(self, name: str) -> None:
        """Say which file is being checked against the plan."""
        self.title.setText(question(name))
        adopt = self.tr("C&ontinue with {name}")
        self.adopt.setText(adopt.format(name=verbatim(name)))
        self.adopt.setAccessibleName(adopt.replace("&", "").format(name=name))

    def show_held(self, report: FitReport | None, fixes: Sequence[Fix]) -> None:
        """Show how the plan fits; None: not known yet."""
        self._items = () if report is None else report.items
        self.grid.lines.set_table(headings(), [row_of(item) for item in self._items])
        self.grid.setVisible(bool(self._items))
        look, answer = ("note", "") if report is None else answer_words(report)
        set_look(self.answer, look)
        trial = "" if report is None else trial_words(report)
        for label, text in (
            (self.answer, answer),
            (self.trial, trial),
            (self.decided, decided_words(fixes)),
        ):
            label.setText(text)
            label.setVisible(bool(text))
        self.adopt.setEnabled(report is not None)
        self.again.setEnabled(report is not None)
        self.back.setVisible(bool(fixes))
        if self._items:
            self.grid.selectRow(0)
        self._on_chosen()

    def say_stale(self) -> None:
        """The plan is another one than was checked against the file."""
        text = self.tr("↻ The plan has changed since: check it against the file again.")
        set_look(self.answer, "note")
        self.answer.setText(text)
        self.answer.show()

    def say_adopted(self, sentence: str) -> None:
        """The work has gone on with the file."""
        set_look(self.answer, "ok")
        self.answer.setText(sentence)
        self.answer.show()
        self.adopt.setEnabled(False)
        self.back.hide()

    def _build_bar(self) -> FlowBox:
        bar = FlowBox(gap=SPACE.s)
        tip = self.tr("Work with this file from now on; one Undo goes back to the current one")
        self.adopt = button(self.tr("C&ontinue with the file"), tip, "primary")
        tip = self.tr("Check the file against the plan as it is in the window now")
        self.again = button(self.tr("Check it against the plan &again"), tip)
        self.back = button(
            self.tr("&Take back the last decision"), self.tr("Discard the last decision")
        )
        self.other = button(
            self.tr("Another &file…"), self.tr("Check another file against the plan")
        )
        for one, signal in (
            (self.adopt, self.adoptAsked),
            (self.again, self.againAsked),
            (self.back, self.backAsked),
            (self.other, self.otherAsked),
        ):
            one.clicked.connect(signal)
            bar.add(one)
        return bar

    @Slot()
    def _on_chosen(self) -> None:
        row = self.grid.chosen
        item = self._items[row] if 0 <= row < len(self._items) else None
        self.card.show_item(item, self._items)


_PLANNED = {Aspect.SOURCE, Aspect.ROLES, Aspect.HIERARCHIES, Aspect.METHOD, Aspect.PARAMETERS}


class FitWindow(SideWindow):
    """``jumpAsked(str, str)`` names a step and a column of the main window."""

    channels = (HOLD,)
    room = (96, 26)

    jumpAsked = Signal(str, str)

    def __init__(
        self,
        bench: Workbench,
        theme: ThemeManager,
        asker: FileAsker,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(bench.hub, theme, parent)
        self._bench, self._asker = bench, asker
        self._path: Path | None = None
        self._fixes: tuple[Fix, ...] = ()
        self._held: PlanComparison | None = None
        self._adopting = False
        self.setWindowTitle(self.tr("Another file – DPDesk"))
        self.setAccessibleName(self.tr("The plan and another file"))
        self.page = FitPage(theme, self.progress)
        self.frame(self.page, (self.band,))
        self._connect()
        self.follow_theme(theme)

    def _connect(self) -> None:
        page = self.page
        page.otherAsked.connect(self.ask)
        page.againAsked.connect(self.hold)
        page.backAsked.connect(self._on_back)
        page.adoptAsked.connect(self._on_adopt)
        page.card.fixAsked.connect(self._on_fix)
        page.card.jumpAsked.connect(self.jumpAsked)
        self._bench.changed.connect(self._on_changed)

    @property
    def held(self) -> PlanComparison | None:
        """How the plan fits the file; None while that is not known."""
        return self._held

    @Slot()
    def ask(self) -> None:
        """Ask for a file, and check it against the plan."""
        source = self._bench.work.source
        folder = "" if source is None else str((self._bench.work.base / source.path).parent)
        path = self._asker.open_file(
            self.tr("The file to which to apply the plan"),
            folder,
            self.tr("Data ({endings});;All files (*)").format(endings=DATA_ENDINGS),
        )
        if path is not None:
            self.look_at(path)

    def look_at(self, path: Path) -> None:
        """Check a file against the plan; what was decided about another one is forgotten."""
        self._path, self._fixes = path.absolute(), ()
        self.page.ask_about(path.name)
        self.bring_in_front()
        self.hold()

    @Slot()
    def hold(self) -> None:
        """Check the file against the plan as it is now, with what was decided here."""
        if self._path is None:
            return
        self.band.clear()
        self._held = None
        self.page.show_held(None, self._fixes)
        title = self.tr("Checking {name} against the plan").format(name=self._path.name)
        work = partial(
            compare_with_plan,
            *(self._bench.context, self._recipe(), self._fixes, self._path, self._bench.data),
        )
        self.read(HOLD, title, work, self._on_held, self._on_failed, self._on_cancelled)

    def _recipe(self) -> Recipe:
        """The work in hand; its file's columns, where these are known."""
        bench = self._bench
        if bench.profile is None:
            return Recipe(THE_WORK, bench.work)
        return Recipe.of_work(bench.work, bench.profile, THE_WORK)

    # -- wishes

    @Slot(object)
    def _on_fix(self, fix: Fix) -> None:
        self._fixes = (*self._fixes, fix)
        self.hold()

    @Slot()
    def _on_back(self) -> None:
        self._fixes = self._fixes[:-1]
        self.hold()

    @Slot()
    def _on_adopt(self) -> None:
        held = self._held
        if held is None:
            return
        report = held.report
        columns = [each.name for each in report.profile.columns]
        # The plan as it is now: it may have been fixed in the main window meanwhile.
        try:
            recipe = fixed_recipe(self._recipe(), self._fixes)
        except InputError as error:
            self.band.show_error(error)
            return
        self._fixes, self._adopting = (), True
        self._bench.apply(recipes.adopt(recipe, report.source, report.base, columns))
        self._adopting = False
        text = self.tr(
            "✓ The work continues with {name}; Undo goes back to the file before. What does "
            "not fit yet is listed below and leads to the step that fixes it."
        )
        if report.fits:
            text = self.tr("✓ The work continues with {name}; Undo goes back to the file before.")
        self.page.say_adopted(text.format(name=held.path.name))

    @Slot(object)
    def _on_changed(self, changes: Changes) -> None:
        if self._held is not None and changes & _PLANNED and not self._adopting:
            self.page.say_stale()

    # -- what comes back

    def _on_held(self, found: PlanComparison) -> None:
        self._held = found
        self.page.show_held(found.report, self._fixes)
        (self.page.grid if found.report.items else self.page.adopt).setFocus()

    def _on_failed(self, outcome: JobFailed) -> None:
        self.page.show_held(None, self._fixes)
        self.page.again.setEnabled(True)
        self.band.show_error(outcome)

    def _on_cancelled(self, outcome: object) -> None:
        self.page.again.setEnabled(True)
        text = self.tr("Stopped; you can check the file against the plan again at any time.")
        self.band.show_message("info", text)
