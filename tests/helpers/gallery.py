"""Pictures of every part of the window: light, dark, and at twice the text size.

Run ``python -m tests.helpers.gallery FOLDER`` from the checkout; it needs no display. Looking at
the pictures is the test.
"""

from __future__ import annotations

import os
import sys
from fractions import Fraction
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtWidgets import QApplication, QPushButton, QWidget

from dpdesk.core.charts import Figure
from dpdesk.core.parameters import (
    Choice,
    ChoiceParameter,
    Condition,
    IntegerParameter,
    LevelsParameter,
    Parameter,
    ShareParameter,
)
from dpdesk.core.release import Guarantee
from dpdesk.ui.charts import ChartView
from dpdesk.ui.forms import ParameterForm
from dpdesk.ui.jobs import JobHub, JobState
from dpdesk.ui.main_window import MainWindow
from dpdesk.ui.models import DataGrid, ListModel
from dpdesk.ui.shell import Mark, Panel, PanelEntry, PanelStatus
from dpdesk.ui.shell.bars import StatusFacts
from dpdesk.ui.theme import ThemeManager, set_look
from dpdesk.ui.widgets import (
    ActivityList,
    Badge,
    EmptyState,
    FigureTile,
    GuaranteeCard,
    MessageBand,
    Mnemonics,
    StepHeader,
    card,
    column,
    row,
    splitter,
)
from dpdesk.ui.widgets.activity import JobRow
from tests.helpers.memory_settings import MemorySettings, PlainSettings
from tests.helpers.sample_charts import lattice_chart, loss_chart, risk_chart, size_chart

PARAMETERS: tuple[Parameter, ...] = (
    IntegerParameter(
        "k",
        "Smallest group",
        "Every released combination covers at least this many rows.",
        "rows",
        True,
        minimum=2,
        suggested=5,
    ),
    ShareParameter(
        "max_suppression",
        "Suppressed at most",
        "Share of the rows that may be left out.",
        default=Fraction(1, 50),
    ),
    ChoiceParameter(
        "algorithm",
        "Search",
        "How the generalisation is found.",
        choices=(
            Choice("optimal", "Best of all", "Looks at every combination of levels."),
            Choice("samarati", "Samarati", "Lowest combination of levels that suffices."),
        ),
        default="samarati",
    ),
    ChoiceParameter(
        "prefer",
        "Prefer",
        "Which of several lowest combinations.",
        applies=Condition("algorithm", ("samarati",)),
        choices=(Choice("height", "Lowest levels"), Choice("classes", "Most groups")),
        default="height",
    ),
    LevelsParameter("levels", "Levels by hand", "Exactly these levels."),
)
GUARANTEE = Guarantee(
    "k-anonymity",
    {"k": 5},
    "For someone who knows only age, sex and region of a person, a match is right with a chance of "
    "at most 1 in 5: every released combination of these covers at least 5 rows.",
    ("age, sex and region are all they know.", "One row per person.", "One release."),
    ("A value that the whole group shares.",),
)
STATES = (
    PanelStatus(Mark.DONE, "45,222 rows, 9 columns"),
    PanelStatus(Mark.DONE, "3 quasi-identifiers"),
    PanelStatus(Mark.ATTENTION, "occupation has no hierarchy"),
    PanelStatus(Mark.OPEN, "k = 5 reached"),
    PanelStatus(Mark.STALE, "settings changed"),
    PanelStatus(Mark.LOCKED, "release first"),
)
TITLES = ("Data", "Attributes", "Hierarchies", "Protect", "Compare", "Review and export")
ICONS = ("data", "attributes", "hierarchies", "protect", "compare", "review")


class ProtectLike(Panel):
    """A panel such as the protect panel may look."""

    def __init__(self, theme: ThemeManager) -> None:
        super().__init__()
        layout = column(self, margin=16, gap=12)
        header = StepHeader(4, "Protect", "Choose how much each person is hidden among others.")
        header.add(Badge("CONFIDENTIAL", "Raw data is open."))
        layout.addWidget(header)
        form = ParameterForm(PARAMETERS, ("k", "max_suppression"), mnemonics=Mnemonics())
        form.set_values({"algorithm": "samarati", "levels": {"age": 2, "sex": 0}})
        form.show_error("max_suppression", "At most 1 share of 1 can be suppressed.")
        run = QPushButton("Run")
        run.setToolTip("Run (Ctrl+Enter)")
        set_look(run, "primary")
        chart, scatter = ChartView(theme), ChartView(theme)
        chart.set_chart(size_chart())
        scatter.set_chart(lattice_chart())
        right = splitter("protect-right", (chart, scatter), (1, 1))
        layout.addWidget(splitter("protect", (card(form, run), right), (0, 1)), 1)
        tiles = row()
        for figure in (
            Figure("rows", "Rows released", 44_871, "count"),
            Figure("risk", "Highest risk of a match", 0.2, "share"),
            Figure("loss", "Information loss", 0.3127, "share"),
        ):
            tile = FigureTile()
            tile.set_figure(figure, before=45_222 if figure.key == "rows" else 1.0)
            tiles.addWidget(tile)
        layout.addLayout(tiles)

    def explanation(self) -> str:
        return "Groups of people with the same values.\n\nA larger group hides each person better."


def parts(theme: ThemeManager, hub: JobHub) -> QWidget:
    """One page with every small part."""
    page = QWidget()
    set_look(page, "panel")
    layout = column(page, margin=16, gap=12)
    for kind, text in (
        ("info", "The file was read with delimiter “;” and encoding windows-1252."),
        ("ok", "The release was written and verified."),
        ("caution", "zip is 98 % unique: is it an identifier?"),
        ("fail", "people.csv, row 812, `age`: `4O`, expected a number."),
    ):
        band = MessageBand(theme)
        band.show_message(kind, text, (("show", "Show row"),) if kind == "fail" else ())
        layout.addWidget(band)
    empty = EmptyState(
        theme,
        "drop",
        "Open a table of people",
        "Drop a CSV, TSV or Parquet file here. Nothing leaves this computer.",
        (("open", "Open file…"), ("sample", "Open sample")),
        drop=True,
    )
    guarantee = GuaranteeCard(theme)
    guarantee.set_guarantee(GUARANTEE)
    middle = row()
    middle.addWidget(empty, 1)
    middle.addWidget(guarantee, 1)
    layout.addLayout(middle, 1)
    model = ListModel(
        ("value", "rows", "share"),
        (("Never-married", 14_598, 0.3228), ("", 12, 0.0003), ("Widowed", None, None)),
        page,
    )
    grid = DataGrid(theme, "Values")
    grid.setModel(model)
    layout.addWidget(grid)
    activity = ActivityList(hub)
    for state in (
        JobState(1, "Searching", False, "Walking the lattice", 2, 3, 7_200, 12_960, "nodes", 31.0),
        JobState(2, "Writing", False, "Sorting", cancelling=True),
    ):
        activity._layout.addWidget(JobRow(state, activity))
    activity.show()
    layout.addWidget(activity)
    buttons = row()
    for text, look, enabled in (
        ("Export…", "primary", True),
        ("Verify", "", True),
        ("Sign…", "", False),
        ("Sign…", "primary", False),
        ("Reset", "quiet", True),
    ):
        button = QPushButton(text)
        button.setEnabled(enabled)
        set_look(button, look)
        buttons.addWidget(button)
    buttons.addStretch(1)
    layout.addLayout(buttons)
    return page


def charts(theme: ThemeManager) -> QWidget:
    """All charts, one stale, one as table, one empty."""
    page = QWidget()
    set_look(page, "panel")
    lines = column(page, margin=12)
    views = [ChartView(theme) for _ in range(6)]
    made = (size_chart(), risk_chart(), loss_chart(), lattice_chart(), loss_chart(), None)
    for view, chart in zip(views, made, strict=True):
        view.set_chart(chart)
    views[1].set_stale(True)
    views[3].select_point(77)
    views[4].toggle_table()
    views[5].set_placeholder("Mark a quasi-identifier to see the risk")
    for first in range(0, 6, 3):
        line = row()
        for view in views[first : first + 3]:
            line.addWidget(view, 1)
        lines.addLayout(line, 1)
    return page


def window(theme: ThemeManager, hub: JobHub) -> MainWindow:
    """The main window around a panel."""
    settings = MemorySettings(PlainSettings(recent=("/data/people.csv",)))
    entries = []
    for title, icon, state in zip(TITLES, ICONS, STATES, strict=True):
        panel = ProtectLike(theme) if title == "Protect" else Panel()
        panel.status = lambda state=state: state  # type: ignore[method-assign,misc]
        entries.append(PanelEntry(title.split()[0].lower(), title, panel, icon))
    made = MainWindow(hub, theme, settings, entries)
    made.show_panel("protect")
    made.set_document("census24.csv", confidential=True)
    made.set_facts(StatusFacts(45_222, 44_871, 1, 5))
    made.set_history(("load census24.csv", "tag age", "k = 5"), "k = 5", None)
    made.show_message("ok", "The plan has been saved as people.toml.")
    return made


def shoot(folder: Path) -> None:
    """Write all pictures."""
    application = QApplication.instance() or QApplication([])
    assert isinstance(application, QApplication)
    folder.mkdir(parents=True, exist_ok=True)
    hub = JobHub()
    for mode, percent in (("light", 100), ("dark", 100), ("light", 200)):
        theme = ThemeManager(application, mode, percent)
        theme.apply()
        scale = 1.0 if percent == 100 else 1.6
        shown = {"parts": parts(theme, hub), "charts": charts(theme), "window": window(theme, hub)}
        for name, widget in shown.items():
            width, height = (1500, 900) if name == "charts" else (1360, 900)
            widget.resize(round(width * scale), round(height * scale))
            widget.show()
            for _ in range(5):
                application.processEvents()
            widget.grab().save(str(folder / f"{name}-{mode}-{percent}.png"))
        if percent == 100:
            palette_of = shown["window"]
            assert isinstance(palette_of, MainWindow)
            palette_of.on_explain()
            palette_of.on_palette()
            for _ in range(3):
                application.processEvents()
            palette_of.grab().save(str(folder / f"palette-{mode}-{percent}.png"))
        for widget in shown.values():
            widget.hide()
        theme.detach()


if __name__ == "__main__":
    shoot(Path(sys.argv[1]))
