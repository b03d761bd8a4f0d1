"""Ways to release sensitive columns, compared on random queries on the data that are open.

It uses the true counts: all of it is internal, and no picture of it can be saved.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QComboBox, QLabel, QWidget

from dpdesk.app import comparing
from dpdesk.app.types import SetParameters, WorkState
from dpdesk.core.capabilities import Content
from dpdesk.core.charts import Chart
from dpdesk.core.messages import msg
from dpdesk.ui.charts import ChartView
from dpdesk.ui.jobs import JobCancelled, JobFailed
from dpdesk.ui.theme import SPACE, ThemeManager, set_look
from dpdesk.ui.widgets import column
from dpdesk.ui.widgets.choices import ChoiceStrip
from dpdesk.ui.widgets.layouts import FlowBox
from dpdesk.ui.widgets.states import button, note
from dpdesk.ui.windows.base import SideWindow
from dpdesk.ui.words.spoken import in_window, said
from dpdesk.ui.workbench import Workbench

if TYPE_CHECKING:
    from dpdesk.app.comparing import Comparison, Proposal, Redesign


COMPARE = "ways.compare"


def _words(comparison: Comparison, named: Sequence[str]) -> Iterator[str]:
    """A word or two for each chart: its own, or that of its place."""
    own = [said(chart.short) for chart in comparison.charts]
    yield from named[: len(own)] if comparison.queries else own


class WaysWindow(SideWindow):
    """:meth:`present` shows it; the comparison begins when its button is pressed."""

    channels = (COMPARE,)
    shortcuts = MappingProxyType({"Ctrl+T": "chart.toggle_table"})
    room = (110, 26)
    least = (36, 14)

    def __init__(
        self, bench: Workbench, theme: ThemeManager, parent: QWidget | None = None
    ) -> None:
        super().__init__(bench.hub, theme, parent)
        self._bench = bench
        self._compared: tuple[Comparison, ...] | None = None
        self._compared_for: WorkState | None = None
        self._proposals: tuple[Proposal, ...] = ()
        self._charts: dict[str, tuple[Chart, Comparison]] = {}
        self.setWindowTitle(self.tr("Compare ways to release – DPDesk"))
        self.setAccessibleName(self.tr("Compare ways to release"))
        self._build(theme)
        bench.changed.connect(self._on_work)
        self.follow_theme(theme)
        self._show()

    def _build(self, theme: ThemeManager) -> None:
        body = QWidget()
        layout = column(body, gap=SPACE.s)
        self.title = QLabel()
        self.title.setWordWrap(True)
        set_look(self.title, "headline")
        self.badge = note(self.tr("⚠ Internal, confidential: uses the true counts"), "caution")
        self.about = note()
        for widget in (self.title, self.badge, self.about, self.band, self.progress):
            layout.addWidget(widget)
        line = FlowBox(gap=SPACE.s)
        tip = self.tr("Measure the errors of each way on the open data")
        self.start = button(self.tr("&Compare"), tip, "primary")
        self.start.clicked.connect(self.compare)
        self.strip = ChoiceStrip(self.tr("Which comparison to look at"))
        self.strip.chosen.connect(self._on_chosen)
        tip = self.tr("Which categories of the table to merge, and what that saves and loses")
        self.propose = button(self.tr("Suggest &merges"), tip)
        self.propose.clicked.connect(self.redesign)
        line.add(self.start)
        line.add(self.propose)
        line.add(self.strip)
        layout.addWidget(line)
        layout.addWidget(self._build_proposals())
        self.chart = ChartView(theme)
        self.chart.keep_answer()
        self.chart.set_placeholder(self.tr("Press Compare: the errors will appear here."))
        self.chart.forbid_saving(self.tr("Internal: it is measured with the true counts"))
        self.sentence = note()
        layout.addWidget(self.chart, 1)
        layout.addWidget(self.sentence)
        self.frame(body, gap=SPACE.s)

    def _build_proposals(self) -> QWidget:
        """A proposal to choose, and the button that makes it part of the plan."""
        self.taking = FlowBox(gap=SPACE.s)
        self.proposals = QComboBox()
        self.proposals.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.proposals.setAccessibleName(self.tr("Suggestion"))
        self.proposals.setToolTip(self.tr("The design that the button applies to the table"))
        tip = self.tr("Apply this design to the table; it can be undone")
        self.take = button(self.tr("Change the &plan"), tip)
        self.take.clicked.connect(self.take_proposal)
        self.taking.add(self.proposals)
        self.taking.add(self.take)
        return self.taking

    # -- what is shown

    @property
    def compared(self) -> tuple[Comparison, ...] | None:
        """The last comparison."""
        return self._compared

    def present(self) -> None:
        """Show the window."""
        self._on_work()
        self.bring_in_front()
        self.start.setFocus()

    @Slot()
    def compare(self) -> None:
        """Measure, in the background."""
        data = self._bench.data
        if data is None:
            return
        title, work = self.tr("Comparing ways to release"), self._bench.work
        job = partial(comparing.compare_work, self._bench.context, data, work)
        then = partial(self._on_done, work)
        self._begin()
        self.read(COMPARE, title, job, then, self._on_failed, self._on_cancelled, quiet=False)

    @Slot()
    def redesign(self) -> None:
        """Find out which categories of the table to merge, in the background."""
        data = self._bench.data
        if data is None:
            return
        title, work = self.tr("Suggesting merges"), self._bench.work
        job = partial(comparing.redesign_work, self._bench.context, data, work)
        then = partial(self._on_proposed, work)
        self._begin()
        self.read(COMPARE, title, job, then, self._on_failed, self._on_cancelled, quiet=False)

    def _begin(self) -> None:
        self.band.clear()
        self.start.setEnabled(False)
        self.propose.setEnabled(False)

    @Slot()
    def take_proposal(self) -> None:
        """Make the chosen proposal part of the plan, as a change that can be undone."""
        place = self.proposals.currentIndex()
        if 0 <= place < len(self._proposals) and self._compared_for == self._bench.work:
            chosen = self._proposals[place]
            self._bench.apply(SetParameters(dict(chosen.changes), what=in_window(chosen.words)))

    # -- what comes back

    def _on_done(self, work: WorkState, found: tuple[Comparison, ...]) -> None:
        self._keep(work, found, ())

    def _on_proposed(self, work: WorkState, found: Redesign) -> None:
        self._keep(work, (found.comparison,), found.proposals)

    def _keep(
        self, work: WorkState, found: tuple[Comparison, ...], proposals: tuple[Proposal, ...]
    ) -> None:
        self._compared, self._compared_for, self._proposals = found, work, proposals
        self.proposals.clear()
        self.proposals.addItems([in_window(each.words) for each in proposals])
        self._show()
        self._on_work()

    def _on_failed(self, outcome: JobFailed) -> None:
        self.band.show_error(outcome)
        self._on_work()

    def _on_cancelled(self, outcome: JobCancelled) -> None:
        self._on_work()

    @Slot()
    def _on_work(self) -> None:
        """The work may be another one than was compared."""
        self._name_ways()
        busy = self._bench.hub.latest(COMPARE).busy
        ready = self._bench.data is not None and not busy
        self.start.setEnabled(ready)
        self.propose.setEnabled(ready)
        about = self._bench.context.registry.about(self._bench.work.method)
        self.propose.setVisible(about.content is Content.CELLS)
        self.taking.setVisible(bool(self._proposals))
        self.take.setEnabled(self._compared_for == self._bench.work)
        old = self._compared is not None and self._compared_for != self._bench.work
        self.chart.set_stale(old, self.tr("for other settings: compare again") if old else "")

    def _name_ways(self) -> None:
        """Say for what, and by what, ways to release are compared."""
        words = self._bench.context.registry.about(self._bench.work.method).comparison
        self.title.setText(said(words.question) if words else self.tr("Ways to release"))
        self.about.setText(said(words.about) if words else "")

    def _show(self) -> None:
        found = self._compared or ()
        self._charts = {
            f"{place}-{chart.id}": (chart, each)
            for place, each in enumerate(found)
            for chart in each.charts
        }
        named = (self.tr("Ways"), self.tr("By ℓ′"), self.tr("Small counts"))
        choices = [
            (
                f"{place}-{chart.id}",
                msg("{file}: {note}", file=each.column, note=word) if len(found) > 1 else word,
            )
            for place, each in enumerate(found)
            for chart, word in zip(each.charts, _words(each, named), strict=False)
        ]
        full = {key: chart.question for key, (chart, _) in self._charts.items()}
        self.strip.set_choices(choices, full)
        self.strip.setVisible(bool(choices))
        self._on_chosen(self.strip.current)

    @Slot(str)
    def _on_chosen(self, identifier: str) -> None:
        chart, comparison = self._charts.get(identifier, (None, None))
        self.chart.set_chart(chart)
        if comparison is None:
            self.sentence.setText("")
            return
        parts = comparison.scope, comparison.sentence
        self.sentence.setText(" ".join(in_window(each) for each in parts))
