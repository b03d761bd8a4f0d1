"""A release that was written or opened: what it claims, what checking shows, where it can go."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import (
    QFrame,
    QLabel,
    QPushButton,
    QStackedWidget,
    QWidget,
)

from dpdesk.core.charts import Chart
from dpdesk.core.guarantee import Guarantee
from dpdesk.ui.charts import ChartView
from dpdesk.ui.jobs import JobHub
from dpdesk.ui.panels.review.check_list import CheckList
from dpdesk.ui.panels.review.checks import CheckRow, Verdict
from dpdesk.ui.panels.review.exports_page import ExportsPage
from dpdesk.ui.panels.review.file_cards import FileCards
from dpdesk.ui.panels.review.files import FileLists
from dpdesk.ui.panels.review.job_line import JobLine
from dpdesk.ui.panels.review.scrolling import Page, SideBySide, scrolled
from dpdesk.ui.panels.review.tables_page import TablesPage
from dpdesk.ui.theme import SPACE, ThemeManager, set_look
from dpdesk.ui.widgets import GuaranteeCard, MessageBand, column
from dpdesk.ui.widgets.choices import ChoiceStrip
from dpdesk.ui.widgets.flow import FlowBox

PROMISE, FILES, PICTURE, TABLES = "promise", "files", "picture", "tables"
EXPORTS = "exports"
VERIFY, SOURCE = "verify", "source"
LEAST_LINES = (9, 9)


class ReleasePage(Page):
    """Signals are wishes: ``bandTriggered(str)``, ``exportAsked(str)`` with a format,
    ``openAsked(str)`` with ``"report"``, ``"about"``, ``"browse"`` or ``"folder"``,
    ``packAsked()`` for the evidence pack.
    """

    bandTriggered = Signal(str)
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
        layout.addWidget(self.stale_band)
        layout.addWidget(self.band)
        self.checks = CheckList(theme)
        self.again = self._build_again()
        parts = (self.checks, self._build_right(theme))
        self._sides = SideBySide(theme, "review-release", parts, LEAST_LINES)
        layout.addWidget(self._sides, 1)
        self._chart.leastChanged.connect(self._hold_picture)
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

    def show_guarantee(self, guarantee: Guarantee | None) -> None:
        """Claim, assumptions and limits as the manifest has them."""
        self._guarantee.setVisible(guarantee is not None)
        self._no_guarantee.setVisible(guarantee is None)
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

    def set_can_export(self, can: bool, excel: bool, note: str) -> None:
        """Enable the formats; ``note`` says who signed, and what limits there are."""
        self._csv.setEnabled(can)
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
                self.tr("Settle what the public files cannot, with the data file"),
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
        self.strip = ChoiceStrip(self.tr("What to look at beside the checks"))
        self.strip.chosen.connect(self._on_chosen)
        layout.addWidget(self.strip)
        self._pages = QStackedWidget()
        self._guarantee = GuaranteeCard(theme)
        self._no_guarantee = QLabel(self.tr("The manifest gives no guarantee that can be read."))
        self._no_guarantee.setWordWrap(True)
        promise = QWidget()
        words = column(promise, gap=SPACE.s)
        words.addWidget(self._guarantee)
        words.addWidget(self._no_guarantee)
        words.addStretch(1)
        self.files = FileCards()
        self._chart = ChartView(theme)
        self.tables = TablesPage(theme)
        self.exports = ExportsPage()
        self.exports.exportAsked.connect(self.exportAsked)
        self._by_name = {
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
        set_look(self._csv, "primary")

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
                self.tr("Open what users of the data read"),
            ),
            "browse": (
                self.tr("&Browse…"),
                self.tr("Browse the tables"),
                self.tr("Look through the tables: roll up, drill down, slice, pivot, with errors"),
            ),
            "ask": (
                self.tr("As&k…"),
                self.tr("Ask for counts"),
                self.tr("Put conditions together by clicking; estimates with their errors"),
            ),
            "folder": (
                self.tr("F&older"),
                self.tr("Open folder"),
                self.tr("Show the release folder"),
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
