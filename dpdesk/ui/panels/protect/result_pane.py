"""The right side: what the settings would give, as sentence, figures, pictures and guarantee."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from PySide6.QtCore import QSignalBlocker, QSize, Qt, QTimer, Signal, Slot
from PySide6.QtWidgets import (
    QFrame,
    QHeaderView,
    QLabel,
    QLineEdit,
    QPushButton,
    QScrollArea,
    QWidget,
)

from dpdesk.app.types import ExplorationView
from dpdesk.core.charts import Cell, Figure, ScatterChart
from dpdesk.core.jobs import Note
from dpdesk.core.messages import msg
from dpdesk.core.release import Guarantee
from dpdesk.ui.charts import ChartView
from dpdesk.ui.forms.spin import NarrowCombo
from dpdesk.ui.jobs import JobHub, JobState
from dpdesk.ui.models import DataGrid, ListModel, Written
from dpdesk.ui.panels.protect.deck import ChartDeck
from dpdesk.ui.panels.protect.pivot import PivotPage
from dpdesk.ui.panels.protect.presenter import headline_figures
from dpdesk.ui.telling import say_expanded
from dpdesk.ui.theme import SPACE, ThemeManager, set_look
from dpdesk.ui.widgets import FigureTile, GuaranteeCard, MessageBand, column, row
from dpdesk.ui.widgets.activity import JobFollower, ShareBar, state_text
from dpdesk.ui.widgets.layouts import FlowBox, SteadyArea, announce, leave_wheel
from dpdesk.ui.words.numbers import LONG_SENTENCE, figure_words, short_name, typed_exact
from dpdesk.ui.words.settings import HIERARCHIES, place_of, place_words
from dpdesk.ui.words.spoken import in_window, said, spoken_figures, spoken_guarantee

REST_MS = 250


class ExamplePage(QWidget):
    """``asked()`` when another example is wanted."""

    asked = Signal()

    def __init__(self, theme: ThemeManager) -> None:
        super().__init__()
        layout = column(self, gap=SPACE.s)
        line = FlowBox(gap=SPACE.s)
        before, middle = QLabel(self.tr("If a cell truly held")), QLabel(self.tr("in the table"))
        self.size_ = QLineEdit("100")
        self.size_.setAccessibleName(self.tr("Example size of a cell"))
        self.size_.setToolTip(self.tr("Any size you like: an example, never a count of the data"))
        self.size_.setMaximumWidth(theme.theme.ems(14))
        self.size_.textEdited.connect(self._on_edited)
        self.table = NarrowCombo()
        self.table.setAccessibleName(self.tr("Table of the example cell"))
        self.table.set_help(self.tr("The published table to which the example cell belongs"))
        leave_wheel(self.table)
        self.table.currentIndexChanged.connect(self._on_chosen)
        for widget in (before, self.size_, middle, self.table):
            line.add(widget)
        layout.addWidget(line)
        self._wrong = QLabel(self.tr("✕ Enter a number of 0 or more, such as 100."))
        self._wrong.setWordWrap(True)
        set_look(self._wrong, "fail")
        self._wrong.hide()
        layout.addWidget(self._wrong)
        self.view = ChartView(theme)
        self.view.set_placeholder(self.tr("Enter the settings first."))
        layout.addWidget(self.view, 1)
        self._rest = QTimer(self)
        self._rest.setSingleShot(True)
        self._rest.setInterval(REST_MS)
        self._rest.timeout.connect(self.asked)

    @property
    def size_wanted(self) -> float | None:
        """The example; None while it is not a number of 0 or more."""
        number = typed_exact(self.size_.text())
        return float(number) if number is not None and number >= 0 else None

    @property
    def place(self) -> int:
        """The place of the chosen table; -1 for the last one."""
        return self.table.currentIndex()

    def show_tables(self, names: Sequence[str]) -> None:
        """Offer these tables, silently; the one that was chosen stays, else the last one."""
        if [self.table.itemText(place) for place in range(self.table.count())] == list(names):
            return
        chosen = self.table.currentText()
        with QSignalBlocker(self.table):
            self.table.clear()
            self.table.addItems(list(names))
            place = self.table.findText(chosen) if chosen else -1
            self.table.setCurrentIndex(place if place >= 0 else len(names) - 1)

    def show_example(self, chart: ScatterChart | None) -> None:
        """Show what the cell could be released as."""
        self.view.set_chart(chart)

    @Slot(str)
    def _on_edited(self, text: str) -> None:
        wrong = self.size_wanted is None
        self._wrong.setVisible(wrong)
        if not wrong:
            self._rest.start()

    @Slot(int)
    def _on_chosen(self, place: int) -> None:
        if place >= 0 and self.size_wanted is not None:
            self.asked.emit()


SHOW_AFTER_MS = 200


class SearchStrip(JobFollower):
    """One line about one job: step n of N, units, time left. Appears after 0.2 s."""

    cancelAsked = Signal()

    def __init__(self, hub: JobHub) -> None:
        super().__init__()
        self._doing = ""
        set_look(self, "sunken")
        line = row(self, gap=SPACE.m)
        line.setContentsMargins(SPACE.m, SPACE.s, SPACE.s, SPACE.s)
        self._text = QLabel()
        self._text.setWordWrap(True)
        self._bar = ShareBar(120)
        self._cancel = QPushButton(self.tr("&Cancel"))
        self._cancel.setAccessibleName(self.tr("Cancel the search"))
        self._cancel.setToolTip(self.tr("Stop searching; the last result stays (Esc)"))
        self._cancel.clicked.connect(self._on_cancel)
        line.addWidget(self._text, 1)
        line.addWidget(self._bar)
        line.addWidget(self._cancel)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self.show)
        hub.progressed.connect(self._on_progress)
        self.hide()

    def follow(self, job: int, doing: str = "") -> None:
        """Show the progress of this job; 0: of none. ``doing`` says what it does, in one word."""
        if job == self.job:
            return
        self.job = job
        self._doing = doing or self.tr("Searching")
        self._cancel.setEnabled(True)
        if job:
            self._say(f"{self._doing}…", None)
            self._timer.start(SHOW_AFTER_MS)
        else:
            self._timer.stop()
            self.hide()

    @property
    def text(self) -> str:
        """The line."""
        return self._text.text()

    def _say(self, text: str, state: JobState | None) -> None:
        self._text.setText(text)
        self._bar.show_state(state)
        self._bar.setAccessibleName(text)
        self.setAccessibleName(text)

    @Slot(object)
    def _on_progress(self, state: JobState) -> None:
        if state.job != self.job:
            return
        text = self.tr("Stopping…") if state.cancelling else state_text(state)
        self._say(msg("{file}: {note}", file=self._doing, note=text), state)
        self._cancel.setEnabled(not state.cancelling)

    @Slot()
    def _on_cancel(self) -> None:
        self._cancel.setEnabled(False)
        self._say(self.tr("Stopping…"), None)
        self.cancelAsked.emit()


GUARANTEE, FIGURES, EXAMPLE, CELLS = "guarantee", "figures", "example", "cells-page"


class SmallTile(FigureTile):
    """A figure in less room, since the picture comes first."""

    def __init__(self) -> None:
        super().__init__()
        set_look(self._value, "section")
        layout = self.layout()
        if layout is not None:
            layout.setContentsMargins(SPACE.s, SPACE.xs, SPACE.s, SPACE.xs)
            layout.setSpacing(0)

    def show_figure(self, figure: Figure) -> None:
        """Show a figure, without a unit that its label says already."""
        known = figure.unit.lower() in figure.label.lower().split()
        self.set_figure(replace(figure, unit="") if known else figure)

    def sizeHint(self) -> QSize:
        """As wide as the number and the longest word of the label."""
        metrics = self._label.fontMetrics()
        words = [metrics.horizontalAdvance(f"{word} ") for word in self._label.text().split()]
        wide = max([self._value.sizeHint().width(), *words])
        high = self._label.heightForWidth(wide) + self._value.sizeHint().height() + 3 * SPACE.xs
        return QSize(wide + 2 * SPACE.s + 2, high)

    def minimumSizeHint(self) -> QSize:
        """Nothing smaller."""
        return self.sizeHint()


class _FigureGrid(DataGrid):
    """Figures and, in what width is left, their meaning in as many lines as it needs."""

    def __init__(self, theme: ThemeManager, name: str) -> None:
        super().__init__(theme, name)
        self.setWordWrap(True)
        self.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        self.verticalHeader().hide()

    def fit_columns(self) -> None:
        """The meaning takes what the other columns leave."""
        super().fit_columns()
        last = self.horizontalHeader().count() - 1
        if last > 0:
            self.setColumnWidth(0, min(self.columnWidth(0), self._theme.theme.ems(26)))
            self.horizontalHeader().setSectionResizeMode(last, QHeaderView.ResizeMode.Stretch)


class ResultPane(QWidget):
    """Shows one view at a time.

    Signals: ``asked(str)`` a way out was taken: ``"remedy"``, ``"search"`` or ``"again"``;
    ``placeAsked(str)`` a panel was asked for; ``restAsked()`` what was stopped is wanted after all;
    ``deck`` and ``strip`` have their own. The strip stands below what scrolls: see the panel.
    """

    asked = Signal(str)
    placeAsked = Signal(str)
    restAsked = Signal()

    def __init__(self, theme: ThemeManager, hub: JobHub, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._tiles: list[SmallTile] = []
        self._compact = self._has_figures = False
        layout = column(self, gap=SPACE.s)
        self.strip = SearchStrip(hub)
        self.band = MessageBand(theme)
        self.band.triggered.connect(self._on_band)
        self._sentence = QLabel()
        self._sentence.setWordWrap(True)
        self._sentence.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        set_look(self._sentence, "strong")
        policy = self._sentence.sizePolicy()
        policy.setRetainSizeWhenHidden(True)
        self._sentence.setSizePolicy(policy)
        layout.addWidget(self._sentence)
        self._tile_box = FlowBox(gap=SPACE.xs, stretch=True)
        self.deck = ChartDeck(theme)
        self.example = ExamplePage(theme)
        words = self.tr("What could one cell be released as?")
        self.deck.add_page(EXAMPLE, self.tr("Example cell"), words, self.example)
        self.deck.offer_page(EXAMPLE, offered=False)
        self.cells = PivotPage(theme, hub)
        words = self.tr("Which cells of the table are suppressed, and why?")
        self.deck.add_page(CELLS, self.tr("Table"), words, self.cells)
        self.deck.offer_page(CELLS, offered=False)
        self.deck.add_page(
            GUARANTEE, self.tr("Guarantee"), self.tr("What is guaranteed?"), self._build_guarantee()
        )
        self.deck.add_page(
            FIGURES, self.tr("Figures"), self.tr("All figures"), self._build_figures()
        )
        layout.addWidget(self.deck, 1)
        # Below: what is being clicked stays where it is.
        for widget in (self._tile_box, self.band, self._build_notes()):
            layout.addWidget(widget)
        layout.addWidget(self._build_rest())
        self._marked = QLabel()
        self._marked.setWordWrap(True)
        set_look(self._marked, "note")
        self._claim = QLabel()
        self._claim.setWordWrap(True)
        set_look(self._claim, "note")
        layout.addWidget(self._marked)
        layout.addWidget(self._claim)
        self.clear()

    # -- what is shown

    def show_view(self, view: ExplorationView) -> None:
        """Show what a setting would give, or why it gives nothing and the way out."""
        if view.feasible:
            self.band.clear()
            words = in_window(view.sentence)
            shown = f"{'△' if view.warns else '✓'} {words}"
            if shown != self._sentence.text():
                self._sentence.setText(shown)
                announce(self, words)
        elif view.supposed:
            self.band.show_message("info", said(view.sentence), (), dismissible=False)
        else:
            remedy = (("remedy", said(view.remedy_label)),) if view.remedy else ()
            self.band.show_message("fail", said(view.sentence), remedy, dismissible=False)
        self._sentence.setVisible(view.feasible)
        better = view.feasible and bool(view.remedy)
        self._show_notes(view.notes, said(view.remedy_label) if better else "")
        self._show_figures(spoken_figures(view.figures))
        guarantee = view.guarantee
        self._show_guarantee(None if guarantee is None else spoken_guarantee(guarantee))
        self.cells.show_tables(view.tables)
        self.deck.offer_page(CELLS, offered=bool(view.tables))
        self.deck.set_charts(view.charts, pages=view.feasible)

    def show_band(self, kind: str, sentence: str, actions: Sequence[tuple[str, str]] = ()) -> None:
        """Say why there is no result, or that it is old; ids as ``asked``, or ``go:`` a panel."""
        self.band.show_message(kind, sentence, actions, dismissible=False)
        self._sentence.hide()

    def set_compact(self, compact: bool) -> None:
        """Leave the tiles out where there is little height: the picture comes first.

        The sentence says the most important numbers, and all of them have a page of their own.
        """
        self._compact = compact
        self._tile_box.setVisible(self._has_figures and not compact)
        self._write_notes()

    def clear(self) -> None:
        """Show nothing."""
        self.band.clear()
        self._sentence.hide()
        self._show_notes(())
        self._show_figures(())
        self._show_guarantee(None)
        self.show_marked("")
        self.show_rest("")
        self.cells.show_tables(())
        self.deck.set_charts(())

    def show_marked(self, words: str) -> None:
        """Say what the marked point of the map stands for."""
        self._marked.setText(
            self.tr("Marked: {levels}. Enter chooses it.").format(levels=words) if words else ""
        )
        self._marked.setVisible(bool(words))

    @property
    def sentence(self) -> str:
        """The answer on show; empty when there is none."""
        return "" if self._sentence.isHidden() else self._sentence.text()

    @property
    def tiles(self) -> tuple[SmallTile, ...]:
        """The tiles on show."""
        return tuple(tile for tile in self._tiles if not tile.isHidden())

    # -- building

    def _build_notes(self) -> QFrame:
        self._notes = QFrame()
        lines, line = column(self._notes, gap=SPACE.xs), row()
        self._note_text = QLabel()
        self._note_text.setWordWrap(True)
        set_look(self._note_text, "caution")
        self._note_button = QPushButton(place_words(HIERARCHIES))
        self._note_button.setToolTip(self.tr("Give these columns levels in between"))
        self._note_button.setAccessibleName(place_words(HIERARCHIES))
        self._note_button.clicked.connect(self._on_note)
        self._note_lines: tuple[str, ...] = ()
        self._more = QPushButton()
        self._more.setCheckable(True)
        say_expanded(self._more, expanded=False)
        self._more.setToolTip(self.tr("Show all notes on these settings, or the first one"))
        self._more.toggled.connect(self._write_notes)
        line.addWidget(self._note_text, 1)
        self._better = QPushButton()
        tip = self.tr("Use the setting of this button; most tables lose less detail with it")
        self._better.setToolTip(tip)
        self._better.clicked.connect(self._on_better)
        self._ways = FlowBox(gap=SPACE.xs)
        for button in (self._better, self._note_button):
            self._ways.add(button)
        line.addWidget(self._more, 0, Qt.AlignmentFlag.AlignTop)
        lines.addLayout(line)
        lines.addWidget(self._ways)
        return self._notes

    @Slot()
    def _on_better(self) -> None:
        self.asked.emit("remedy")

    def _build_rest(self) -> QFrame:
        """What was stopped, with a way to have it after all."""
        self._rest = QFrame()
        line = row(self._rest, gap=SPACE.s)
        self._rest_text = QLabel()
        self._rest_text.setWordWrap(True)
        set_look(self._rest_text, "note")
        self.compute = QPushButton(self.tr("Compute &it"))
        self.compute.setAccessibleName(self.tr("Compute what was stopped"))
        self.compute.setToolTip(self.tr("It runs in the background, and can be stopped again"))
        self.compute.clicked.connect(self.restAsked)
        line.addWidget(self._rest_text, 1)
        line.addWidget(self.compute, 0, Qt.AlignmentFlag.AlignTop)
        self._rest.hide()
        return self._rest

    @Slot(str)
    def show_rest(self, what: str) -> None:
        """Name what was stopped and is missing in the pictures; empty: nothing."""
        self._rest_text.setText(self.tr("Stopped, so not computed yet: {what}.").format(what=what))
        self._rest.setVisible(bool(what))

    def _build_guarantee(self) -> QScrollArea:
        self._guarantee = GuaranteeCard(self._theme)
        area = SteadyArea()
        area.setWidget(self._guarantee)
        area.setAccessibleName(self.tr("What is guaranteed"))
        area.setToolTip(self.tr("Claim, assumptions and limits of these settings"))
        return area

    def _build_figures(self) -> DataGrid:
        self._figure_model = ListModel(parent=self)
        grid = _FigureGrid(self._theme, self.tr("All figures of these settings"))
        grid.setModel(self._figure_model)
        return grid

    # -- parts

    def _show_notes(self, notes: Sequence[Note], better: str = "") -> None:
        """Show these notes, with a button for another setting where one may be ``better``."""
        self._note_lines = tuple(f"△ {in_window(note.sentence)}" for note in notes)
        self._write_notes()
        self._notes.setVisible(bool(notes))
        places = {place_of(note.code) for note in notes}
        self._note_button.setVisible(HIERARCHIES in places)
        self._better.setText(better)
        self._better.setAccessibleName(better)
        self._better.setVisible(bool(better))
        self._ways.setVisible(bool(better) or HIERARCHIES in places)

    @Slot()
    def _write_notes(self) -> None:
        """All notes, or the first one where there is little height and nobody asked for more."""
        lines, all_of_them = self._note_lines, self._more.isChecked() or not self._compact
        self._note_text.setText("\n".join(lines if all_of_them else lines[:1]))
        self._more.setVisible(self._compact and len(lines) > 1)
        words = self.tr("{n} fewer") if all_of_them else self.tr("{n} more")
        words = words.format(n=len(lines) - 1)
        self._more.setText(words)
        say_expanded(self._more, all_of_them)
        self._more.setAccessibleName(self.tr("{words} of the notes").format(words=words))

    def _show_figures(self, figures: Sequence[Figure]) -> None:
        shown = headline_figures(figures)
        while len(self._tiles) < len(shown):
            self._tiles.append(SmallTile())
            self._tile_box.add(self._tiles[-1])
        for number, tile in enumerate(self._tiles):
            tile.setVisible(number < len(shown))
            if number < len(shown):
                tile.show_figure(shown[number])
        self._has_figures = bool(shown)
        self._tile_box.setVisible(self._has_figures and not self._compact)
        columns = (self.tr("Figure"), self.tr("Value"), self.tr("Better"), self.tr("Meaning"))
        self._figure_model.set_table(columns, [self._figure_row(each) for each in figures])

    def _figure_row(self, figure: Figure) -> tuple[Cell, ...]:
        words = {"lower": self.tr("lower"), "higher": self.tr("higher")}
        text = figure_words(figure.value, figure.kind)
        unit = f" {figure.unit}" if figure.unit else ""
        return figure.label, Written(text + unit), words.get(figure.better, ""), figure.help

    def _show_guarantee(self, guarantee: Guarantee | None) -> None:
        self._claim.setVisible(guarantee is not None)
        self._guarantee.setVisible(guarantee is not None)
        if guarantee is None:
            return
        self._guarantee.set_guarantee(guarantee)
        assumes = guarantee.assumes[0] if guarantee.assumes else self.tr("nothing.")
        words = self.tr("This assumes: {assumption}")
        self._claim.setText(words.format(assumption=short_name(in_window(assumes), LONG_SENTENCE)))

    # -- reactions

    @Slot(str)
    def _on_band(self, identifier: str) -> None:
        kind, _, place = identifier.partition(":")
        if kind == "go":
            self.placeAsked.emit(place)
        else:
            self.asked.emit(identifier)

    @Slot()
    def _on_note(self) -> None:
        self.placeAsked.emit(HIERARCHIES)
