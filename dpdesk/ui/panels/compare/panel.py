"""The compare panel: candidates as points, as a table, and two of them side by side."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QSignalBlocker, Qt, Signal, Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QBoxLayout,
    QLabel,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QStackedWidget,
    QWidget,
)

from dpdesk.app.types import COMPARE_AT_MOST, OpenWork
from dpdesk.core.capabilities import ESTIMATED, UNKNOWN, Capabilities, Use
from dpdesk.core.charts import Figure
from dpdesk.ui.charts import ChartView
from dpdesk.ui.forms.spin import NarrowCombo
from dpdesk.ui.panels.compare import presenter
from dpdesk.ui.panels.compare.presenter import Entry, Pins
from dpdesk.ui.panels.compare.table import CandidateCards, CompareGrid, CompareModel, compare_table
from dpdesk.ui.shell import Mark, Panel, PanelStatus
from dpdesk.ui.theme import SPACE, Theme, ThemeManager, set_look
from dpdesk.ui.widgets import (
    EmptyState,
    GuaranteeCard,
    MessageBand,
    StepHeader,
    column,
    leave_wheel,
    row,
)
from dpdesk.ui.widgets.choices import FoldingStrip
from dpdesk.ui.widgets.layouts import FlowBox, FrontStack, SteadyArea
from dpdesk.ui.widgets.states import button
from dpdesk.ui.widgets.turning import Side, Sides
from dpdesk.ui.words.numbers import LONG_SENTENCE, short_name
from dpdesk.ui.words.spoken import said
from dpdesk.ui.workbench import Aspect, Changes, Workbench

NARROW_EMS = 84


class SideBySide(SteadyArea):
    """Two widgets of one kind with captions."""

    def __init__(
        self,
        theme: ThemeManager,
        name: str,
        first: QWidget,
        second: QWidget,
        least_ems: int = 0,
    ) -> None:
        super().__init__()
        self._theme, self._least = theme, least_ems
        self._boxes: list[QWidget] = []
        self.setAccessibleName(name)
        self.setToolTip(name)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        inner = QWidget()
        lines = column(inner, gap=SPACE.s)
        self._question = QLabel()
        self._question.setWordWrap(True)
        set_look(self._question, "section")
        self._question.hide()
        lines.addWidget(self._question)
        self._layout = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._layout.setContentsMargins(0, 0, 0, 0)
        lines.addLayout(self._layout, 1)
        self._layout.setSpacing(SPACE.m)
        self._captions: list[QLabel] = []
        for widget in (first, second):
            self._add(widget)
        self.setWidget(inner)
        theme.changed.connect(self._on_theme)
        self._on_theme(theme.theme)

    def _add(self, widget: QWidget) -> None:
        """Put a widget into a box of its own, below its caption."""
        box = QWidget()
        box.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        inside = column(box, gap=SPACE.xs)
        caption = QLabel()
        caption.setWordWrap(True)
        set_look(caption, "strong")
        caption.hide()
        self._captions.append(caption)
        inside.addWidget(caption)
        inside.addWidget(widget, 1)
        self._layout.addWidget(box, 1)
        self._boxes.append(box)

    def set_captions(self, first: str, second: str) -> None:
        """Say what stands where."""
        for caption, text in zip(self._captions, (first, second), strict=True):
            caption.setText(text)
            caption.setVisible(bool(text))

    def set_question(self, text: str) -> None:
        """Say above both what they answer."""
        self._question.setText(text)
        self._question.setVisible(bool(text))

    @Slot(object)
    def _on_theme(self, theme: Theme) -> None:
        for box in self._boxes:
            box.setMinimumHeight(theme.ems(self._least))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Beside each other as long as both stay readable."""
        super().resizeEvent(event)
        narrow = self.viewport().width() < self._theme.theme.ems(NARROW_EMS)
        wanted = QBoxLayout.Direction.TopToBottom if narrow else QBoxLayout.Direction.LeftToRight
        if self._layout.direction() != wanted:
            self._layout.setDirection(wanted)


POINTS, TABLE, GUARANTEE, CHART = "points", "table", "guarantee", "chart:"
OPEN_DATA, KEEP_DATA = "open-data", "keep-data"
LEAST_EMS, LEFT_SHARE = 36, 0.28
_SHOWN = {Aspect.CANDIDATES, Aspect.METHOD, Aspect.DATA, Aspect.RELEASE}


class ComparePanel(Panel):
    """``wantsPanel(str)`` names the panel that the user asked for; ``waysAsked()``: other ways to
    release sensitive columns are to be compared on the data; ``browseAsked(Path)``: the release
    that was made is to be looked through.
    """

    wantsPanel = Signal(str)
    waysAsked = Signal()
    browseAsked = Signal(object)

    def __init__(self, workbench: Workbench, theme: ThemeManager) -> None:
        super().__init__()
        self._bench, self._theme = workbench, theme
        self._pins = Pins()
        self._axes: tuple[str, str] = ("", "")
        self._entries: tuple[Entry, ...] = ()
        self._asked = 0
        self._build()
        self.follow(workbench.changed)
        theme.changed.connect(self._fit)
        self._fit()
        self._refresh()

    # -- what the window asks

    def status(self) -> PanelStatus:
        """What the navigation shows."""
        count = len(self._bench.candidates)
        if not count:
            return PanelStatus()
        if count == 1:
            return PanelStatus(Mark.OPEN, self.tr("1 candidate"))
        return PanelStatus(Mark.DONE, self.tr("{n} candidates").format(n=count))

    def can_run(self) -> bool:
        """Whether there is a candidate that can be made the release."""
        return presenter.pinned(self._entries, "A") is not None

    def run(self) -> None:
        """Make A the release."""
        self.make_release()

    def make_release(self, pin: str = "A") -> None:
        """Take over the work of candidate A or B, undoably, and go on to Review and export."""
        chosen = presenter.pinned(self._entries, pin)
        if chosen is None:
            return
        if chosen.elsewhere:
            self._ask_for_data(chosen)
            return
        self._take_over(chosen)

    def _take_over(self, chosen: Entry) -> None:
        self.band.clear()
        self._bench.apply(OpenWork(chosen.candidate.work, chosen.candidate.name))
        self.wantsPanel.emit("review")

    def _ask_for_data(self, chosen: Entry) -> None:
        """The data that are open are never exchanged for others without a question."""
        self._asked = chosen.candidate.id
        text = self.tr("{name}: {reason}. To release it, its data are opened again.")
        name = Path(chosen.candidate.scope[0]).name
        answers = (
            (OPEN_DATA, self.tr("Open {file} and go on").format(file=name)),
            (KEEP_DATA, self.tr("Keep the data that are open")),
        )
        words = text.format(name=chosen.candidate.name, reason=chosen.elsewhere)
        self.band.show_message("caution", words, answers, dismissible=False)

    @Slot(str)
    def _on_answer(self, answer: str) -> None:
        chosen = next((one for one in self._entries if one.candidate.id == self._asked), None)
        self.band.clear()
        if answer == OPEN_DATA and chosen is not None:
            self._take_over(chosen)

    def guide_page(self) -> str:
        """The page of the guide that says more."""
        return "protect"

    def explanation(self) -> str:
        """What F1 tells."""
        parts = (
            self.tr(
                "A candidate is a set of settings with everything that they would give. "
                "Nothing is written yet. Up to {n} can be kept at a time."
            ).format(n=COMPARE_AT_MOST),
            self.tr(
                "Pin two of them as A and B: the table then shows A − B, and their charts are "
                "side by side on the same axes. A click on a point, or Enter, pins it as A."
            ),
            self.tr(
                "Candidates with other data or other quasi-identifiers answer another "
                "question. They are greyed out, with the reason."
            ),
            self.tr(
                "“Release A…” and “Release B…” bring the settings of that candidate back and lead "
                "to the last step. Undo takes that back."
            ),
        )
        return "\n\n".join(parts)

    # -- for tests and pictures

    @property
    def pages(self) -> tuple[str, ...]:
        """Ids of all that can be looked at now."""
        a, b = presenter.pinned(self._entries, "A"), presenter.pinned(self._entries, "B")
        charts = tuple(CHART + one.id for one in presenter.shared_charts(a, b))
        return (POINTS, TABLE, *charts, GUARANTEE) if self._entries else ()

    @property
    def pins(self) -> Pins:
        """Which candidates are A and B."""
        return self._pins

    def show_page(self, identifier: str) -> None:
        """Look at something."""
        self._strip.choose(identifier)
        self._show_current()

    # -- building

    def _build(self) -> None:
        layout = column(self, margin=SPACE.l, gap=SPACE.m)
        self._header = StepHeader(5, self.tr("Which candidate is better?"), "")
        self._make = {
            "A": QPushButton(self.tr("Release &A…")),
            "B": QPushButton(self.tr("Release &B…")),
        }
        for pin, make in self._make.items():
            make.setProperty("pin", pin)
            make.clicked.connect(self._on_make)
        set_look(self._make["A"], "primary")
        layout.addWidget(self._header)
        self.band = MessageBand(self._theme)
        self.band.triggered.connect(self._on_answer)
        self._pages = QStackedWidget()
        self._empty = EmptyState(
            self._theme,
            "compare",
            self.tr("Nothing to compare yet"),
            self.tr("Keep a candidate in Protect with Ctrl+B, then another one."),
            (("protect", self.tr("Go to Protect")),),
        )
        self._empty.triggered.connect(self.wantsPanel)
        self.cards = CandidateCards()
        self.cards.pinAsked.connect(self._on_pin)
        self.cards.renameAsked.connect(self._bench.rename_candidate)
        self.cards.removeAsked.connect(self._bench.remove_candidate)
        self._content = Sides(
            self._theme,
            "compare",
            Side("cards", self.tr("Candidates"), self.cards),
            Side("view", self.tr("Comparison"), self._build_right()),
            self.cards.needed,
            share=LEFT_SHARE,
        )
        self._header.add(self._content.strip)
        self._header.add(self._build_ways())
        self._header.add(self._build_browse())
        for pin in ("B", "A"):
            self._header.add(self._make[pin])
        self._pages.addWidget(self._empty)
        self._pages.addWidget(self._content)
        layout.addWidget(self._pages, 1)
        layout.addWidget(self.band)  # below: what is being clicked stays where it is

    def _build_ways(self) -> QPushButton:
        tip = self.tr("Measure what each way to release loses on the open data")
        self._ways = button(self.tr("Compare ways &to release…"), tip)
        self._ways.clicked.connect(self.waysAsked)
        return self._ways

    def _build_browse(self) -> QPushButton:
        tip = self.tr(
            "Look through the tables of the release that is open, or ask its rows for counts"
        )
        self._browse = button(self.tr("Bro&wse the release…"), tip)
        self._browse.clicked.connect(self._on_browse)
        return self._browse

    def _build_right(self) -> QScrollArea:
        right = QWidget()
        layout = column(right, gap=SPACE.s)
        self._answer = QLabel()
        self._answer.setWordWrap(True)
        self._answer.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        set_look(self._answer, "strong")
        layout.addWidget(self._answer)
        self._strip = FoldingStrip(self.tr("What to compare"))
        self._strip.chosen.connect(self._show_current)
        layout.addWidget(self._strip)
        self._stack = FrontStack()
        self._stack.addWidget(self._build_points())
        self._model = CompareModel(self._theme, self)
        self._grid = CompareGrid(self._theme, self.tr("All candidates side by side"), self._model)
        self._views = (ChartView(self._theme), ChartView(self._theme))
        self._charts = SideBySide(
            self._theme, self.tr("Charts of A and B"), *self._views, LEAST_EMS
        )
        self._guarantees = (GuaranteeCard(self._theme), GuaranteeCard(self._theme))
        self._promises = SideBySide(
            self._theme, self.tr("Guarantees of A and B"), *self._guarantees
        )
        for widget in (self._grid, self._charts, self._promises):
            self._stack.addWidget(widget)
        layout.addWidget(self._stack, 1)
        self._assumes = QLabel()
        self._assumes.setWordWrap(True)
        set_look(self._assumes, "note")
        layout.addWidget(self._assumes)
        area = SteadyArea()
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        area.setWidget(right)
        return area

    def _build_points(self) -> QWidget:
        self._points = QWidget()
        layout = column(self._points, gap=SPACE.s)
        choices = FlowBox()
        self._x, self._y = NarrowCombo(14), NarrowCombo(14)
        leave_wheel(self._x, self._y)
        for words, box, name in (
            (self.tr("Hori&zontal"), self._x, self.tr("Figure on the horizontal axis")),
            (self.tr("Verti&cal"), self._y, self.tr("Figure on the vertical axis")),
        ):
            pair = QWidget()
            line = row(pair)
            label = QLabel(words)
            label.setBuddy(box)
            box.setAccessibleName(name)
            box.set_help(self.tr("Which figure this axis shows"))
            box.activated.connect(self._on_axis)
            line.addWidget(label)
            line.addWidget(box)
            choices.add(pair)
        layout.addWidget(choices)
        self._scatter = ChartView(self._theme)
        self._scatter.pointPicked.connect(self._on_point)
        self._scatter.pointHovered.connect(self._on_looked_at)
        self._scatter.pointSelected.connect(self._on_looked_at)
        layout.addWidget(self._scatter, 1)
        self._looked_at = QLabel()
        self._looked_at.setWordWrap(True)
        set_look(self._looked_at, "note")
        layout.addWidget(self._looked_at)
        return self._points

    # -- state

    def _refresh(self) -> None:
        candidates = self._bench.candidates
        source = self._bench.work.source
        data = "" if source is None else str(self._bench.work.base / source.path)
        self._pins = self._pins.settled(candidates, data)
        self._entries = presenter.entries(candidates, self._pins, data)
        self._pages.setCurrentWidget(self._content if candidates else self._empty)
        self._offer_release()
        known, work = self._bench.context.registry, self._bench.work
        about = known.about(work.method)
        if about.comparison is not None:
            self._ways.setToolTip(said(about.comparison.question))
        self._ways.setVisible(about.allows(Use.COMPARED) and self._bench.data is not None)
        release = self._bench.release
        made = UNKNOWN if release is None else known.about(release.method)
        self._browse.setVisible(_looked_through(made))
        line = self.tr("{n} of at most {most} candidates. Nothing is written yet.")
        self._header.set_line(line.format(n=len(candidates), most=COMPARE_AT_MOST))
        if candidates:
            self._show_entries()
        self.statusChanged.emit()

    def _offer_release(self) -> None:
        for pin, make in self._make.items():
            entry = presenter.pinned(self._entries, pin)
            make.setVisible(entry is not None)
            if entry is not None:
                text = self.tr("Release {pin}: candidate {n}, {name}")
                text = text.format(pin=pin, n=entry.candidate.id, name=entry.candidate.name)
                make.setAccessibleName(text)
                make.setToolTip(self.tr("Continue to Review and export with these settings"))
        self._content.strip.setVisible(self._content.narrow and bool(self._entries))

    def _show_entries(self) -> None:
        shown, methods = self._entries, self._bench.methods
        self.cards.show_entries(shown, methods)
        a, b = presenter.pinned(shown, "A"), presenter.pinned(shown, "B")
        figures = presenter.shared_figures(shown)
        marked = [figure for figure in figures if figure.headline] or list(figures)
        self._answer.setText(presenter.answer(a, b, marked))
        assumes = a.candidate.guarantee.assumes if a is not None else ()
        self._assumes.setText(
            self.tr("A assumes: {assumption}").format(
                assumption=short_name(assumes[0], LONG_SENTENCE)
            )
            if assumes
            else ""
        )
        self._assumes.setVisible(bool(assumes))
        self._offer_axes(figures)
        shared = presenter.shared_charts(a, b)
        full = {
            POINTS: self.tr("Which trade-off?"),
            TABLE: self.tr("What differs?"),
            GUARANTEE: self.tr("What is guaranteed?"),
        }
        full |= {CHART + one.id: said(one.question) for one in shared}
        choices = [(POINTS, self.tr("Trade-off")), (TABLE, self.tr("Table"))]
        choices += [(CHART + one.id, said(one.short or one.question)) for one in shared]
        self._strip.set_choices([*choices, (GUARANTEE, self.tr("Guarantee"))], full)
        self._show_current()

    def _offer_axes(self, figures: tuple[Figure, ...]) -> None:
        keys = [figure.key for figure in figures]
        default = presenter.default_axes(figures)
        x, y = (
            key if key in keys else other for key, other in zip(self._axes, default, strict=True)
        )
        self._axes = (x, y)
        for box, key in ((self._x, x), (self._y, y)):
            with QSignalBlocker(box):
                box.clear()
                for figure in figures:
                    box.addItem(figure.label, figure.key)
                box.setCurrentIndex(keys.index(key) if key in keys else -1)

    def _show_current(self) -> None:
        """Fill only the page that is looked at."""
        page = self._strip.current
        a, b = presenter.pinned(self._entries, "A"), presenter.pinned(self._entries, "B")
        if page == TABLE:
            self._model.set_table(compare_table(self._entries, self._bench.methods))
            self._stack.setCurrentWidget(self._grid)
        elif page.startswith(CHART) and a is not None and b is not None:
            self._show_charts(a, b, page.removeprefix(CHART))
            self._stack.setCurrentWidget(self._charts)
        elif page == GUARANTEE and a is not None:
            self._show_guarantees(a, b)
            self._stack.setCurrentWidget(self._promises)
        else:
            self._scatter.set_chart(presenter.scatter(self._entries, *self._axes))
            self._on_looked_at(-1)
            self._stack.setCurrentWidget(self._points)

    def _show_charts(self, a: Entry, b: Entry, identifier: str) -> None:
        pair = (presenter.chart_of(a, identifier), presenter.chart_of(b, identifier))
        shown = zip(self._views, presenter.same_axes(*pair), "AB", (a, b), strict=True)
        for view, chart, pin, entry in shown:
            text = self.tr("{pin}: candidate {n}")
            view.set_heading(text.format(pin=pin, n=entry.candidate.id))
            view.set_chart(chart)
        self._charts.set_question(said(pair[0].question))

    def _show_guarantees(self, a: Entry, b: Entry | None) -> None:
        for card, entry in zip(self._guarantees, (a, b), strict=True):
            card.setVisible(entry is not None)
            if entry is not None:
                card.set_guarantee(entry.candidate.guarantee)
        second = self.tr("B: none is pinned") if b is None else self._caption("B", b)
        self._promises.set_captions(self._caption("A", a), second)

    def _caption(self, pin: str, entry: Entry) -> str:
        text = self.tr("{pin}: candidate {n}, {name}")
        return text.format(pin=pin, n=entry.candidate.id, name=entry.candidate.name)

    # -- reactions

    @Slot()
    def _on_make(self) -> None:
        sender = self.sender()
        if sender is not None:
            self.make_release(str(sender.property("pin")))

    @Slot()
    def _on_browse(self) -> None:
        if self._bench.release_path is not None:
            self.browseAsked.emit(self._bench.release_path)

    def catch_up(self, changes: Changes) -> None:
        """Show the candidates as they are now."""
        if changes & _SHOWN:
            self._refresh()

    @Slot(int, str)
    def _on_pin(self, identifier: int, pin: str) -> None:
        pins = self._pins
        self._pins = pins.with_a(identifier) if pin == "A" else pins.with_b(identifier)
        self._refresh()

    @Slot(int)
    def _on_looked_at(self, identifier: int) -> None:
        """Say the figures of the point under the pointer beside those of A."""
        self._looked_at.setText(
            "\n".join(presenter.looked_at(self._entries, identifier, self._axes))
        )

    @Slot(int)
    def _on_point(self, identifier: int) -> None:
        self._on_pin(identifier, "A")

    @Slot()
    def _on_axis(self) -> None:
        self._axes = (str(self._x.currentData()), str(self._y.currentData()))
        self._show_current()

    def _fit(self) -> None:
        self._stack.setMinimumHeight(self._theme.theme.ems(LEAST_EMS))


def _looked_through(about: Capabilities) -> bool:
    """Whether releases of a method are browsed as cubes, or asked for what was drawn."""
    drawn = about.protection in ESTIMATED
    return about.allows(Use.BROWSED) or (drawn and about.allows(Use.ASKED))
