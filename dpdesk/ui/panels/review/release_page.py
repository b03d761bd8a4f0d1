"""A release that was written or opened: what it claims, what checking shows, where it can go."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import (
    QItemSelection,
    QModelIndex,
    QPersistentModelIndex,
    QSize,
    Qt,
    Signal,
    Slot,
)
from PySide6.QtGui import QBrush, QColor, QFont
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QGridLayout,
    QHeaderView,
    QLabel,
    QPushButton,
    QScrollArea,
    QStackedWidget,
    QWidget,
)

from dpdesk.core.charts import Chart
from dpdesk.core.export_formats import FORMATS
from dpdesk.core.messages import msg
from dpdesk.core.release import Guarantee
from dpdesk.ui.charts import ChartView
from dpdesk.ui.jobs import JobHub
from dpdesk.ui.models import DataGrid, ListModel
from dpdesk.ui.models.table import guarded
from dpdesk.ui.panels.review.presenter import (
    CheckRow,
    FileLine,
    FileLists,
    State,
    Verdict,
    size_text,
)
from dpdesk.ui.panels.review.questions import SOURCE
from dpdesk.ui.panels.review.scrolling import Page, SideBySide, Turning, scrolled
from dpdesk.ui.panels.review.tables_page import TablesPage
from dpdesk.ui.theme import SPACE, Theme, ThemeManager, set_look
from dpdesk.ui.widgets import Badge, GuaranteeCard, MessageBand, column, row, splitter
from dpdesk.ui.widgets.activity import JobLine
from dpdesk.ui.widgets.choices import ChoiceStrip
from dpdesk.ui.widgets.layouts import FlowBox
from dpdesk.ui.words.numbers import grouped
from dpdesk.ui.words.settings import place_words

Index = QModelIndex | QPersistentModelIndex
LEAST_ROWS = 4


class CheckModel(ListModel):
    """Shape and word of the state, then the claim; failed lines in their colour."""

    def __init__(self, theme: ThemeManager, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self._theme = theme
        self._checks: tuple[CheckRow, ...] = ()

    def set_checks(self, rows: Sequence[CheckRow]) -> None:
        """Show these checks."""
        self._checks = tuple(rows)
        cells = [(row.mark, row.claim) for row in rows]
        self.set_table((self.tr("Status"), self.tr("What was checked")), cells)

    def check(self, number: int) -> CheckRow | None:
        """The check in a line."""
        return self._checks[number] if 0 <= number < len(self._checks) else None

    @guarded
    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """See ListModel; the state has a colour beside its shape and word."""
        check = self.check(index.row()) if index.isValid() else None
        if check is not None and role == Qt.ItemDataRole.ForegroundRole and index.column() == 0:
            tokens = self._theme.tokens
            colours = {State.FAILED: tokens.fail, State.CONFIRMED: tokens.accent}
            return QBrush(QColor(colours.get(check.state, tokens.muted)))
        if check is not None and role == Qt.ItemDataRole.FontRole and check.state is State.FAILED:
            font = QFont(self._theme.theme.font())
            font.setBold(True)
            return font
        if check is not None and role == Qt.ItemDataRole.ToolTipRole:
            return msg("{file}: {note}", file=check.claim, note=check.found)
        return super().data(index, role)


class CheckList(QWidget):
    """Lines above, the evidence of the chosen one below, with what can be done about it.

    ``goAsked(str)`` leads to where that is done: a step of the work, or ``"source"``;
    ``setAsked(object)`` wants settings of the plan to be changed so that it is done.
    """

    goAsked = Signal(str)
    setAsked = Signal(object)

    def __init__(self, theme: ThemeManager, name: str, name_split: str) -> None:
        super().__init__()
        self._theme = theme
        self.model = CheckModel(theme, self)
        self.grid = DataGrid(theme, name)
        self.grid.setToolTip(self.tr("Arrow keys choose a line; its evidence is shown below"))
        self.grid.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.grid.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.grid.setModel(self.model)
        self.grid.verticalHeader().hide()
        self.grid.setShowGrid(False)
        self._set_widths()
        self.grid.selectionModel().selectionChanged.connect(self._on_selected)
        layout = column(self, gap=0)
        self._split = splitter(
            name_split, (self.grid, self._build_evidence()), (2, 1), Qt.Orientation.Vertical
        )
        layout.addWidget(self._split)
        theme.changed.connect(self._on_theme)
        self._on_theme(theme.theme)

    def sizeHint(self) -> QSize:
        """The least: whatever more it liked to have would be taken from the lines above it."""
        return QSize(super().sizeHint().width(), self.minimumSizeHint().height())

    def show_checks(self, rows: Sequence[CheckRow]) -> None:
        """Show these checks, the first one chosen (a failed one stands first)."""
        self.model.set_checks(rows)
        self._set_widths()
        if rows:
            self.grid.selectRow(0)
            self._show(rows[0])

    @property
    def evidence(self) -> str:
        """The evidence on show, as text."""
        labels = (self._claim, self._state, self._found, self._advice, self._file)
        return "\n".join(label.text() for label in labels if label.text())

    def _build_evidence(self) -> QScrollArea:
        frame = QFrame()
        set_look(frame, "card")
        layout = column(frame, margin=SPACE.m, gap=SPACE.xs)
        self._claim, self._state = QLabel(), QLabel()
        self._found, self._advice, self._file = QLabel(), QLabel(), QLabel()
        set_look(self._claim, "strong")
        set_look(self._state, "note")
        set_look(self._file, "note")
        self.go = QPushButton()
        self.go.clicked.connect(self._on_go)
        self.go.hide()
        head = row(gap=SPACE.m)
        head.addWidget(self._claim, 1)
        head.addWidget(self.go, 0, Qt.AlignmentFlag.AlignTop)
        layout.addLayout(head)
        for label in (self._claim, self._state, self._found, self._advice, self._file):
            label.setWordWrap(True)
            label.setTextFormat(Qt.TextFormat.PlainText)
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            if label is not self._claim:
                layout.addWidget(label)
        layout.addStretch(1)
        return scrolled(frame, self.tr("Evidence of the chosen line"))

    def _set_widths(self) -> None:
        header = self.grid.horizontalHeader()
        if self.model.columnCount():
            header.setSectionResizeMode(0, QHeaderView.ResizeMode.Interactive)
            header.setSectionResizeMode(1, QHeaderView.ResizeMode.Stretch)

    @Slot(QItemSelection, QItemSelection)
    def _on_selected(self, chosen: QItemSelection, left: QItemSelection) -> None:
        rows = self.grid.selectionModel().selectedRows()
        check = self.model.check(rows[0].row()) if rows else None
        if check is not None:
            self._show(check)

    def _show(self, check: CheckRow) -> None:
        self._claim.setText(check.claim)
        self._state.setText(f"{check.state.value} {check.word}")
        looks = {State.FAILED: "fail", State.CONFIRMED: "ok", State.JUDGE: "caution"}
        set_look(self._state, looks.get(check.state, "note"))
        self._found.setText(check.found)
        self._advice.setText(f"→ {check.advice}" if check.advice else "")
        self._advice.setVisible(bool(check.advice))
        self._offer(check)
        place = check.path
        if check.digest:
            parts = [check.digest[n : n + 8] for n in range(0, len(check.digest), 8)]
            place = self.tr("{file}, SHA-256 {hash}").format(file=place, hash=" ".join(parts))
        if check.key:
            text = self.tr("{place} · in the manifest: {key}") if place else "{key}"
            place = text.format(place=place, key=check.key)
        self._file.setText(place)

    def _offer(self, check: CheckRow) -> None:
        """The button that leads to where something can be done about a line."""
        self._place, self._remedy = check.place, check.remedy
        words = self.tr("Choose the source…") if check.place == SOURCE else ""
        words = words or (self.tr("Change this setting") if check.remedy else "")
        words = words or (place_words(check.place) if check.place else "")
        self.go.setText(words)
        self.go.setAccessibleName(msg("{file}: {note}", file=words, note=check.claim))
        self.go.setToolTip(check.advice)
        self.go.setVisible(bool(words))

    @Slot()
    def _on_go(self) -> None:
        if self._remedy:
            self.setAsked.emit(dict(self._remedy))
        else:
            self.goAsked.emit(self._place)

    @Slot(object)
    def _on_theme(self, theme: Theme) -> None:
        self._set_widths()
        self.grid.setMinimumHeight(LEAST_ROWS * theme.row)


class Questions(QWidget):
    """What a reviewer decides of a release, above it what it comes to in one sentence."""

    def __init__(self, theme: ThemeManager, name: str) -> None:
        super().__init__()
        layout = column(self, gap=SPACE.s)
        self._verdict = QLabel()
        self._verdict.setWordWrap(True)
        layout.addWidget(self._verdict)
        self.list = CheckList(theme, self.tr("Questions of the checklist"), name)
        layout.addWidget(self.list, 1)
        layout.addStretch(0)

    @property
    def sentence(self) -> str:
        """What the list comes to."""
        return self._verdict.text()

    def show_rows(self, rows: Sequence[CheckRow], verdict: Verdict) -> None:
        """Show the questions and what they come to."""
        marks = {"fail": "✕", "caution": "△", "ok": "✓"}
        self._verdict.setText(f"{marks[verdict.kind]} {verdict.sentence}")
        set_look(self._verdict, verdict.kind)
        self.list.show_checks(rows)
        self.list.show()

    def show_waiting(self, text: str) -> None:
        """Say why there is no list (yet)."""
        self._verdict.setText(text)
        set_look(self._verdict, "note")
        self.list.show_checks(())
        self.list.hide()


class ExportsPage(QWidget):
    """A button and a sentence for each format; ``exportAsked(str)`` is emitted with a format."""

    exportAsked = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self._layout = column(self, margin=SPACE.s, gap=SPACE.m)
        self.buttons: dict[str, QPushButton] = {}
        self._rows: dict[str, QWidget] = {}
        names, sentences = self._names(), self._keeps()
        for form in FORMATS[1:]:
            self._add(form, names[form], sentences[form])
        self._layout.addStretch(1)

    def show_fitting(self, exports: frozenset[str] | None) -> None:
        """Offer the formats that the method of a release says it fits; none where it does not."""
        for form, line in self._rows.items():
            line.setVisible(exports is not None and form in exports)

    def set_enabled(self, can: bool, excel: bool) -> None:
        """Whether anything can be written, and an Excel sheet."""
        for form, button in self.buttons.items():
            button.setEnabled(can and (excel or form != "xlsx"))

    def _add(self, form: str, name: str, sentence: str) -> None:
        button, words = QPushButton(f"{name}…"), QLabel(sentence)
        button.setProperty("format", form)
        button.setAccessibleName(self.tr("Export as {what}").format(what=name))
        button.setAccessibleDescription(sentence)
        button.setToolTip(sentence)
        button.clicked.connect(self._on_clicked)
        words.setWordWrap(True)
        set_look(words, "note")
        line = QWidget()
        inner = column(line, gap=SPACE.xs)
        inner.addWidget(button, 0, Qt.AlignmentFlag.AlignLeft)
        inner.addWidget(words)
        self._layout.addWidget(line)
        self.buttons[form], self._rows[form] = button, line

    def _names(self) -> dict[str, str]:
        return {
            "parquet": self.tr("Parquet"),
            "xlsx": self.tr("Excel"),
            "sav": self.tr("SPSS"),
            "dta": self.tr("Stata"),
            "xpt": self.tr("SAS"),
            "csvw": self.tr("CSV on the Web"),
            "ddi": self.tr("DDI Codebook"),
            "sdmx-csv": self.tr("SDMX-CSV"),
            "sdmx-structure": self.tr("SDMX structure"),
            "synthetic": self.tr("Synthetic rows"),
            "argus": self.tr("Tables for τ-ARGUS (internal)"),
            "jj": self.tr("JJ file (internal)"),
        }

    def _keeps(self) -> dict[str, str]:
        return {
            "parquet": self.tr(
                "Keeps every value as text; manifest, guarantee and labels are in its metadata."
            ),
            "xlsx": self.tr(
                "Keeps every value as text, protected tables as they are printed; the guarantee is "
                "on the sheet About, labels and missing codes on the sheets Variables and Codes."
            ),
            "sav": self.tr(
                "Keeps variable labels, value labels, user-missing values, measurement levels and "
                "the guarantee; names that SPSS refuses are changed."
            ),
            "dta": self.tr(
                "Keeps variable labels, labels of whole numbers, lettered missing values and the "
                "guarantee; loses labels of texts, measurement levels and which other codes mean "
                "missing."
            ),
            "xpt": self.tr(
                "Keeps variable labels and lettered missing values; loses value labels, "
                "measurement levels, which codes mean missing, and the guarantee."
            ),
            "csvw": self.tr(
                "Describes microdata.csv for programs: columns, labels, missing codes and "
                "measurement levels; contains no data."
            ),
            "ddi": self.tr(
                "Describes the release for an archive: study, variables with labels, what was "
                "done; contains no data."
            ),
            "sdmx-csv": self.tr(
                "Keeps all tables in one file, each cell with its status and, where there is "
                "noise, standard error; names of categories are in the SDMX structure."
            ),
            "sdmx-structure": self.tr(
                "Describes the SDMX-CSV: code lists, concepts and data flow; contains no data."
            ),
            "synthetic": self.tr(
                "Rows drawn from a model of the released tables, to try out programs and for "
                "analyses of what is in the tables; no row is about a person."
            ),
            "argus": self.tr(
                "Internal, with true values: values, metadata, hierarchies and statuses as τ-ARGUS "
                "reads ready tables. Keep the files in the agency."
            ),
            "jj": self.tr(
                "Internal, with true values: cells, their required protection and the sums "
                "between them, for cell suppression solvers. Keep the file in the agency."
            ),
        }

    @Slot()
    def _on_clicked(self) -> None:
        sender = self.sender()
        if sender is not None:
            self.exportAsked.emit(str(sender.property("format")))


class FileCard(QFrame):
    """Files of one folder with size and purpose."""

    def __init__(self, head: str, badge: str, why: str) -> None:
        super().__init__()
        self._head = head
        set_look(self, "card")
        layout = column(self, margin=SPACE.l, gap=SPACE.s)
        line = row()
        title = QLabel(head)
        title.setWordWrap(True)
        title.setMinimumWidth(1)
        set_look(title, "section")
        line.addWidget(title, 1)
        if badge:
            line.addWidget(Badge(badge, why))
        layout.addLayout(line)
        self._place = QWidget()
        self._grid = QGridLayout(self._place)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(SPACE.m)
        self._grid.setVerticalSpacing(0)
        self._grid.setColumnStretch(0, 1)
        layout.addWidget(self._place)

    def show_files(self, files: Sequence[FileLine]) -> None:
        """Show these files."""
        while self._grid.count():
            item = self._grid.takeAt(0)
            widget = item.widget() if item is not None else None
            if widget is not None:
                widget.hide()
                widget.deleteLater()
        for number, one in enumerate(files):
            name, size, text = QLabel(one.name), QLabel(size_text(one.size)), QLabel(one.sentence)
            set_look(name, "strong")
            set_look(text, "note")
            text.setWordWrap(True)
            text.setContentsMargins(0, 0, 0, SPACE.s)
            if one.size is not None:
                size.setToolTip(self.tr("{n} bytes").format(n=grouped(one.size)))
            self._grid.addWidget(name, 2 * number, 0)
            self._grid.addWidget(size, 2 * number, 1, Qt.AlignmentFlag.AlignRight)
            self._grid.addWidget(text, 2 * number + 1, 0, 1, 2)
        said = "; ".join(f"{one.name}, {size_text(one.size)}: {one.sentence}" for one in files)
        self.setAccessibleName(msg("{file}: {note}", file=self._head, note=said))


class FileCards(QWidget):
    """Both parts, one below the other."""

    def __init__(self) -> None:
        super().__init__()
        layout = column(self, gap=SPACE.m)
        self._public = FileCard(self.tr("public/ is published"), "", "")
        self._internal = FileCard(
            self.tr("internal/ stays with you"),
            self.tr("CONFIDENTIAL"),
            self.tr("It states facts about the raw data; never pass it on with the public part."),
        )
        self._absent = QLabel(
            self.tr("The internal part is not here: only the public part was opened.")
        )
        self._absent.setWordWrap(True)
        set_look(self._absent, "note")
        for widget in (self._public, self._internal, self._absent):
            layout.addWidget(widget)
        layout.addStretch(1)

    def show_lists(self, lists: FileLists) -> None:
        """Show the files of a release."""
        self._public.show_files(lists.public)
        self._internal.show_files(lists.internal or ())
        self._internal.setVisible(lists.internal is not None)
        self._absent.setVisible(lists.internal is None)


QUESTIONS, CHECKS, PROMISE, FILES = "questions", "checks", "promise", "files"
PICTURE, TABLES, EXPORTS = "picture", "tables", "exports"
VERIFY, SIGN_OFF = "verify", "sign-off"
LEAST_LINES = (10, 10)


class ReleasePage(Page):
    """Signals are wishes: ``bandTriggered(str)``, ``exportAsked(str)`` with a format,
    ``openAsked(str)`` with ``"report"``, ``"about"``, ``"browse"``, ``"folder"`` or ``"python"``,
    ``packAsked()`` for the evidence pack.
    """

    bandTriggered = Signal(str)
    settingsAsked = Signal(object)
    exportAsked = Signal(str)
    openAsked = Signal(str)
    packAsked = Signal()

    def __init__(self, theme: ThemeManager, hub: JobHub, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        layout = column(self, gap=SPACE.m)
        self.stale_band, self.band = MessageBand(theme), MessageBand(theme)
        self.stale_band.triggered.connect(self.bandTriggered)
        self.give_band = MessageBand(theme)
        self.job_line = JobLine(hub)
        self.checks = CheckList(theme, self.tr("Checks of this release"), "review-checks")
        self.questions = Questions(theme, "review-questions")
        self.questions.list.goAsked.connect(self.bandTriggered)
        self.questions.list.setAsked.connect(self.settingsAsked)
        lists = (
            (QUESTIONS, self.tr("What reviewers ask"), self.questions),
            (CHECKS, self.tr("What the files show"), self.checks),
        )
        self.left = Turning(self.tr("The questions, or the checks"), lists)
        self.again = self._build_again()
        parts = (self.left, self._build_right(theme))
        self._sides = SideBySide(theme, "review-release", parts, LEAST_LINES)
        layout.addWidget(self._sides, 1)
        self._chart.leastChanged.connect(self._hold_picture)
        layout.addWidget(self.stale_band)  # here, because nothing that is clicked gives way to it
        layout.addWidget(self.band)
        layout.addWidget(self._build_bar())

    # -- what is shown

    def show_verdict(self, verdict: Verdict, *, source: bool) -> None:
        """The answer in one sentence; ``source`` says whether the source could settle more."""
        self.band.show_message(verdict.kind, verdict.sentence, dismissible=False)
        self._again[SOURCE].setVisible(source)

    def show_stale(self, text: str, actions: Sequence[tuple[str, str]]) -> None:
        """Say that the work has changed since; an empty text takes the sentence away."""
        if text:
            self.stale_band.show_message("caution", f"↻ {text}", actions, dismissible=False)
        else:
            self.stale_band.clear()

    def show_checks(self, rows: Sequence[CheckRow]) -> None:
        """The checklist."""
        self.checks.show_checks(rows)

    def show_questions(self, rows: Sequence[CheckRow] | None, verdict: Verdict | None) -> None:
        """The checklist that reviewers get; None where there is none (yet)."""
        if rows is None or verdict is None:
            self.questions.show_waiting(
                self.tr(
                    "The checklist is made from the whole release folder: the internal part is "
                    "not here, or it is still being read."
                )
            )
        else:
            self.questions.show_rows(rows, verdict)

    def show_guarantee(
        self, guarantee: Guarantee | None, *, compared: bool, failed: bool = False
    ) -> None:
        """Claim, assumptions and limits as the manifest has them; ``compared`` with this program's.

        Above sentences that were compared with nothing stands that they were not, and above those
        of a release that ``failed`` its check that nobody can rely on them.
        """
        none = self.tr("The manifest contains no readable guarantee.")
        broken = self.tr(
            "✕ Do not rely on these sentences: they are in the manifest, but the release "
            "failed its check."
        )
        unlike = self.tr(
            "△ These sentences were not compared: they were written with other texts than "
            "this program's."
        )
        self._guarantee.setVisible(guarantee is not None)
        self._no_guarantee.setText(none if guarantee is None else broken if failed else unlike)
        self._no_guarantee.setVisible(guarantee is None or failed or not compared)
        set_look(self._no_guarantee, "fail" if failed else "note")
        if guarantee is not None:
            self._guarantee.set_guarantee(guarantee)

    def show_picture(
        self,
        chart: Chart | None,
        *,
        tables: bool = False,
        cube: bool = False,
        drawn: bool = False,
    ) -> None:
        """The risk before and after, where the internal part tells it; or ``tables`` with noise.

        Those of a ``cube`` can be browsed, rows with ``drawn`` values can be asked for counts.
        """
        choices = [(PROMISE, self.tr("What is promised")), (FILES, self.tr("Which files"))]
        if chart is not None:
            choices.append((PICTURE, self.tr("How risky")))
        choices.append((EXPORTS, self.tr("Which formats")))
        if tables:
            choices.append((TABLES, self.tr("Which numbers")))
        self.strip.set_choices(choices)
        self._opens["browse"].setVisible(cube)
        self._opens["ask"].setVisible(drawn)
        self._chart.set_chart(chart)
        self._on_chosen(self.strip.current)

    def show_files(self, lists: FileLists) -> None:
        """The files of both parts."""
        self.files.show_lists(lists)

    def set_can_export(self, can: bool, excel: bool, note: str, *, signed_off: bool) -> None:
        """Enable the formats; ``note`` says who signed, and what limits there are.

        Until a release is signed off the next step is the review, not the export.
        """
        self._csv.setEnabled(can)
        set_look(self._csv, "primary" if signed_off else "")
        self._sign.setVisible(not signed_off)
        self.exports.set_enabled(can, excel)
        self._note.setText(note)

    def set_can_save_pack(self, can: bool, *, whole: bool) -> None:
        """Offer the evidence pack of a ``whole`` release; ``can`` says whether nothing is busy."""
        self._pack.setVisible(whole)
        self._pack.setEnabled(can)

    def set_can_open(self, *, report: bool, about: bool) -> None:
        """Whether there are pages to open."""
        self._opens["report"].setVisible(report)
        self._opens["about"].setEnabled(about)

    # -- building

    def _build_again(self) -> FlowBox:
        """The buttons that check again; the panel has the place for them."""
        line = FlowBox(gap=SPACE.s)
        texts = {
            VERIFY: (self.tr("Verify a&gain"), self.tr("Read all files and check them again")),
            SOURCE: (
                self.tr("Chec&k with the source…"),
                self.tr("Use the data file to settle what the public files cannot"),
            ),
        }
        self._again: dict[str, QPushButton] = {}
        for key, (text, tip) in texts.items():
            button = QPushButton(text)
            button.setProperty("does", key)
            button.setAccessibleName(text.replace("&", ""))
            button.setToolTip(tip)
            button.clicked.connect(self._on_again)
            line.add(button)
            self._again[key] = button
        return line

    def _build_right(self, theme: ThemeManager) -> QWidget:
        side = QWidget()
        layout = column(side, gap=SPACE.s)
        self.strip = ChoiceStrip(self.tr("What to look at in addition to the checks"))
        self.strip.chosen.connect(self._on_chosen)
        layout.addWidget(self.strip)
        self._pages = QStackedWidget()
        self._guarantee = GuaranteeCard(theme)
        self._no_guarantee = QLabel()
        self._no_guarantee.setWordWrap(True)
        promise = QWidget()
        words = column(promise, gap=SPACE.s)
        words.addWidget(self._no_guarantee)
        words.addWidget(self._guarantee)
        words.addStretch(1)
        self.files = FileCards()
        self._chart = ChartView(theme)
        self.tables = TablesPage(theme)
        self.exports = ExportsPage()
        self.exports.exportAsked.connect(self.exportAsked)
        self._by_name: dict[str, QWidget] = {
            PROMISE: scrolled(promise, self.tr("What is promised")),
            FILES: scrolled(self.files, self.tr("Which files")),
            PICTURE: self._chart,
            EXPORTS: scrolled(self.exports, self.tr("Which formats")),
            TABLES: self.tables,
        }
        for page in self._by_name.values():
            self._pages.addWidget(page)
        layout.addWidget(self._pages, 1)
        return side

    def _build_bar(self) -> QFrame:
        frame = QFrame()
        set_look(frame, "card")
        layout = column(frame, margin=SPACE.m, gap=SPACE.s)
        line = FlowBox(gap=SPACE.s)
        self._opens: dict[str, QPushButton] = {}
        self._add_exports(line)
        self._add_opens(line)
        layout.addWidget(line)
        layout.addWidget(self.job_line)
        layout.addWidget(self.give_band)
        self._note = QLabel()
        self._note.setWordWrap(True)
        set_look(self._note, "note")
        layout.addWidget(self._note)
        return frame

    def _add_exports(self, line: FlowBox) -> None:
        texts = (
            (self.tr("E&xport as CSV…"), self.tr("Export as CSV"),
             self.tr("Text that every program reads: the published table, byte for byte")),
            (self.tr("Other for&mats…"), self.tr("Other formats"),
             self.tr("Statistics programs, Excel, archives, SDMX: what each keeps and loses")),
            (self.tr("Evi&dence pack…"), self.tr("Save evidence pack"),
             self.tr("Report, checks, decisions, signatures, ledger and software in one PDF or "
                     "web page; confidential")),
        )  # fmt: skip
        slots = (self._on_csv, self._on_formats, self.packAsked)
        buttons = []
        for (text, name, tip), slot in zip(texts, slots, strict=True):
            button = QPushButton(text)
            button.setAccessibleName(name)
            button.setToolTip(tip)
            button.clicked.connect(slot)
            line.add(button)
            buttons.append(button)
        self._csv, self._formats, self._pack = buttons
        self._sign = QPushButton(self.tr("Revie&w and sign-off"))
        self._sign.setAccessibleName(self.tr("Review and sign-off, the next step"))
        self._sign.setToolTip(self.tr("Who signed what, what is to be decided, and the next step"))
        self._sign.clicked.connect(self._on_sign)
        set_look(self._sign, "primary")
        line.add(self._sign)

    def _add_opens(self, line: FlowBox) -> None:
        texts = {
            "report": (
                self.tr("Re&port"),
                self.tr("Open report"),
                self.tr("Open the report for the reviewer; confidential"),
            ),
            "about": (
                self.tr("&User page"),
                self.tr("Open user page"),
                self.tr("Open the page for users of the data"),
            ),
            "browse": (
                self.tr("&Browse the tables…"),
                self.tr("Browse the tables"),
                self.tr("Look through the tables: roll up, drill down, slice, pivot, with errors"),
            ),
            "ask": (
                self.tr("As&k…"),
                self.tr("Ask for counts"),
                self.tr("Build conditions by clicking; estimates with their errors"),
            ),
            "folder": (
                self.tr("F&older"),
                self.tr("Open folder"),
                self.tr("Show the release folder"),
            ),
            "python": (
                self.tr("Copy as P&ython"),
                self.tr("Copy as Python"),
                self.tr("Copy the check of this release and its exports as code for a notebook"),
            ),
        }
        for key, (text, name, tip) in texts.items():
            button = QPushButton(text)
            button.setProperty("opens", key)
            button.setAccessibleName(name)
            button.setToolTip(tip)
            button.clicked.connect(self._on_open)
            line.add(button)
            self._opens[key] = button

    # -- reactions

    @Slot()
    def _on_again(self) -> None:
        sender = self.sender()
        if sender is not None:
            self.bandTriggered.emit(str(sender.property("does")))

    @Slot(str)
    def _on_chosen(self, identifier: str) -> None:
        page = self._by_name.get(identifier)
        if page is not None:
            self._pages.setCurrentWidget(page)
        self._hold_picture()

    @Slot()
    def _hold_picture(self) -> None:
        """While the picture is in front, its part is as high as the picture needs."""
        above = self.strip.heightForWidth(self._chart.width()) + SPACE.s
        shown = self._pages.currentWidget() is self._chart
        least = self._chart.least_height(self._chart.width()) + above
        self._sides.set_least(1, least if shown else 0)

    @Slot()
    def _on_sign(self) -> None:
        self.bandTriggered.emit(SIGN_OFF)

    @Slot()
    def _on_csv(self) -> None:
        self.exportAsked.emit("csv")

    @Slot()
    def _on_formats(self) -> None:
        """Turn to the formats, and put the focus on the first one."""
        self.strip.choose(EXPORTS)
        self._on_chosen(EXPORTS)
        shown = (one for one in self.exports.buttons.values() if one.isVisibleTo(self.exports))
        first = next(shown, None)
        if first is not None:
            first.setFocus(Qt.FocusReason.OtherFocusReason)

    @Slot()
    def _on_open(self) -> None:
        sender = self.sender()
        if sender is not None:
            self.openAsked.emit(str(sender.property("opens")))
