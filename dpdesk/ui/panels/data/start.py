"""The start screen: what the program is, how to open a table, and the way from here."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QDragEnterEvent, QDragLeaveEvent, QDropEvent
from PySide6.QtWidgets import QFrame, QGridLayout, QLabel, QPushButton, QWidget

from dpdesk.ui.theme import SPACE, Theme, ThemeManager, pixmap, set_look
from dpdesk.ui.widgets import StepHeader, column
from dpdesk.ui.widgets.flow import FlowBox
from dpdesk.ui.widgets.turning import TurningSplitter

RECENT_AT_MOST = 6
HALF_EMS = 30


class DropZone(QFrame):
    """Takes a file that is dropped on it, and offers the ways to open one.

    ``openAsked()``, ``databaseAsked()``, ``projectAsked()``, ``sampleAsked()``,
    ``pathDropped(str)``.
    """

    openAsked = Signal()
    databaseAsked = Signal()
    projectAsked = Signal()
    sampleAsked = Signal()
    pathDropped = Signal(str)

    def __init__(self, theme: ThemeManager, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        set_look(self, "drop")
        self.setAcceptDrops(True)
        self.setAccessibleName(self.tr("Drop a file here"))
        layout = column(self, margin=SPACE.xl, gap=SPACE.m)
        self._icon = QLabel()
        title = QLabel(self.tr("Drop a table of people here"))
        set_look(title, "section")
        self._formats = QLabel(
            self.tr(
                "Text tables, Parquet, Excel, SPSS, Stata, SAS, SQLite, DuckDB, fixed width with "
                "ARGUS metadata, a plan (.toml, .json), a project (.dpdesk) or a release folder."
            )
        )
        set_look(self._formats, "note")
        layout.addStretch(1)
        for label in (self._icon, title, self._formats):
            label.setAlignment(Qt.AlignmentFlag.AlignCenter)
            label.setWordWrap(label is not self._icon)
            layout.addWidget(label)
        layout.addWidget(self._buttons())
        layout.addStretch(1)
        theme.changed.connect(self._on_theme)
        self._on_theme(theme.theme)

    def _buttons(self) -> FlowBox:
        self.open_button = QPushButton(self.tr("&Open a file…"))
        set_look(self.open_button, "primary")
        self.open_button.setToolTip(self.tr("Choose a table, a plan or a project (Ctrl+O)"))
        self.open_button.clicked.connect(self.openAsked)
        self.database_button = QPushButton(self.tr("Open a data&base…"))
        self.database_button.setToolTip(
            self.tr("Open a table or a query of a PostgreSQL server (Ctrl+Shift+D)")
        )
        self.database_button.clicked.connect(self.databaseAsked)
        self.project_button = QPushButton(self.tr("Open a pro&ject…"))
        self.project_button.setToolTip(
            self.tr("Go on with a project, which keeps a work with its history (Ctrl+Shift+O)")
        )
        self.project_button.clicked.connect(self.projectAsked)
        self.sample_button = QPushButton(self.tr("Open the &sample"))
        self.sample_button.setToolTip(
            self.tr("Open 20,502 invented people that come with DPDesk, to try every step")
        )
        self.sample_button.clicked.connect(self.sampleAsked)
        buttons = FlowBox(centred=True)
        buttons.add(self.open_button)
        buttons.add(self.database_button)
        buttons.add(self.project_button)
        buttons.add(self.sample_button)
        return buttons

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Local files are welcome."""
        if any(url.isLocalFile() for url in event.mimeData().urls()):
            set_look(self, "chosen")
            event.acceptProposedAction()

    def dragLeaveEvent(self, event: QDragLeaveEvent) -> None:
        """The file went away again."""
        set_look(self, "drop")

    def dropEvent(self, event: QDropEvent) -> None:
        """Open the first file."""
        set_look(self, "drop")
        paths = [url.toLocalFile() for url in event.mimeData().urls() if url.isLocalFile()]
        if paths:
            event.acceptProposedAction()
            self.pathDropped.emit(paths[0])

    @Slot(object)
    def _on_theme(self, theme: Theme) -> None:
        self._icon.setPixmap(pixmap("drop", theme.tokens.muted, theme.icon * 2))


class RecentFiles(QFrame):
    """Files that were open before, newest first; ``chosen(str)`` when one is wanted again."""

    chosen = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        set_look(self, "card")
        self._layout = column(self, margin=SPACE.l, gap=SPACE.xs)
        title = QLabel(self.tr("Open again"))
        set_look(title, "section")
        self._layout.addWidget(title)
        self._buttons: list[QPushButton] = []
        self.hide()

    def set_paths(self, paths: Sequence[str]) -> None:
        """Offer these files."""
        for old in self._buttons:
            self._layout.removeWidget(old)
            old.hide()
            old.deleteLater()
        self._buttons = [self._made(path) for path in paths[:RECENT_AT_MOST]]
        for button in self._buttons:
            self._layout.addWidget(button)
        self.setVisible(bool(self._buttons))

    def _made(self, path: str) -> QPushButton:
        place = Path(path)
        button = QPushButton(place.name.replace("&", "&&"))
        button.setProperty("path", path)
        button.setToolTip(self.tr("Open {path}").format(path=path))
        button.setAccessibleName(self.tr("Open {name} again").format(name=place.name))
        button.setStyleSheet("text-align: left;")
        set_look(button, "quiet")
        button.clicked.connect(self._on_clicked)
        return button

    @Slot()
    def _on_clicked(self) -> None:
        sender = self.sender()
        if sender is not None:
            self.chosen.emit(str(sender.property("path")))


class StartPage(QWidget):
    """What a person sees who has never seen the program."""

    openAsked = Signal()
    databaseAsked = Signal()
    projectAsked = Signal()
    openPathAsked = Signal(str)
    sampleAsked = Signal()

    def __init__(self, theme: ThemeManager, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        layout = column(self, margin=0, gap=SPACE.l)
        layout.addWidget(StepHeader(1, self.tr("Which table do you want to protect?"), ""))
        line = QLabel(
            self.tr(
                "DPDesk turns a table of people into one that you may publish, shows what risk is "
                "left and what was lost, and proves what it claims. Nothing leaves this computer."
            )
        )
        line.setWordWrap(True)
        set_look(line, "answer")
        layout.addWidget(line)
        left = QWidget()
        files = column(left, gap=SPACE.l)
        self.zone = DropZone(theme)
        self.recent = RecentFiles()
        files.addWidget(self.zone, 1)
        files.addWidget(self.recent)
        self._halves = (left, self._steps())
        parts = TurningSplitter("start", self._halves, (1, 1))
        set_look(parts, "plain")
        parts.setSizes([1_000, 1_000])
        layout.addWidget(parts, 1)
        theme.changed.connect(self._on_theme)
        self._on_theme(theme.theme)
        self.zone.openAsked.connect(self.openAsked)
        self.zone.databaseAsked.connect(self.databaseAsked)
        self.zone.projectAsked.connect(self.projectAsked)
        self.zone.sampleAsked.connect(self.sampleAsked)
        self.zone.pathDropped.connect(self.openPathAsked)
        self.recent.chosen.connect(self.openPathAsked)

    @Slot(object)
    def _on_theme(self, theme: Theme) -> None:
        for half in self._halves:
            half.setMinimumWidth(theme.ems(HALF_EMS))

    def _steps(self) -> QFrame:
        title = QLabel(self.tr("The way to a release, in six steps"))
        title.setWordWrap(True)
        set_look(title, "section")
        title.setWordWrap(True)
        holder = QWidget()
        grid = QGridLayout(holder)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(SPACE.m)
        grid.setVerticalSpacing(SPACE.m)
        grid.setColumnStretch(1, 1)
        for number, (name, words) in enumerate(self._step_words(), start=1):
            digit = QLabel(f"{number}")
            set_look(digit, "figure")
            digit.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignRight)
            head, text = QLabel(name), QLabel(words)
            set_look(head, "strong")
            text.setWordWrap(True)
            text.setAccessibleName(f"{number} {name}: {words}")
            lines = column(step := QWidget())
            lines.addWidget(head)
            lines.addWidget(text)
            grid.addWidget(digit, number, 0)
            grid.addWidget(step, number, 1)
        made = QFrame()
        set_look(made, "card")
        layout = column(made, margin=SPACE.l, gap=SPACE.m)
        layout.addWidget(title)
        layout.addWidget(holder)
        layout.addStretch(1)
        return made

    def _step_words(self) -> tuple[tuple[str, str], ...]:
        return (
            (self.tr("Data"), self.tr("Open the table and check that it was read correctly.")),
            (
                self.tr("Attributes"),
                self.tr("Say what each column is: who it points to, and what is private."),
            ),
            (
                self.tr("Hierarchies"),
                self.tr("Say how values may become coarser, such as 37 → 35–39 → 30–39."),
            ),
            (
                self.tr("Protect"),
                self.tr("Choose how well people hide in groups; see risk and loss at once."),
            ),
            (self.tr("Compare"), self.tr("Keep several settings and compare them side by side.")),
            (
                self.tr("Review and export"),
                self.tr("Write the release, have its claims checked again, and export it."),
            ),
        )
