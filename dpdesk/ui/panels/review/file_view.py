"""What is to be decided, next to the decision: the file itself, and pictures of the differences."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, QUrl, Slot
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QLabel, QPlainTextEdit, QPushButton, QWidget

from dpdesk.app.review.review_picture import FileLook
from dpdesk.core.charts import Chart
from dpdesk.ui.charts import ChartView
from dpdesk.ui.jobs import JobHub
from dpdesk.ui.models import DataGrid, TableModel
from dpdesk.ui.theme import SPACE, ThemeManager, set_look
from dpdesk.ui.widgets import column
from dpdesk.ui.widgets.choices import FoldingStrip
from dpdesk.ui.widgets.layouts import FrontStack
from dpdesk.ui.widgets.states import LonelyBrowser
from dpdesk.ui.words.numbers import columns_words, grouped, legible, rows_words
from dpdesk.ui.words.spoken import said, spoken

FILE = "file"


class FileView(QWidget):
    """A file and pictures of a release, one at a time."""

    def __init__(self, theme: ThemeManager, hub: JobHub) -> None:
        super().__init__()
        layout = column(self, gap=SPACE.xs)
        self.strip = FoldingStrip(self.tr("The file, or pictures of the differences"))
        self.strip.chosen.connect(self._show)
        self.note = QLabel()
        self.note.setWordWrap(True)
        set_look(self.note, "note")
        self._look: FileLook | None = None
        self._charts: dict[str, Chart] = {}
        self._model = TableModel(hub, self)
        self.grid = DataGrid(theme, self.tr("Rows of the file"))
        self.grid.setModel(self._model)
        self.page, self.text = LonelyBrowser(), QPlainTextEdit()
        self.page.setOpenLinks(False)
        self.page.setAccessibleName(self.tr("Page of the release"))
        self.page.setToolTip(self.tr("What is on the page that is to be decided"))
        self.text.setReadOnly(True)
        self.text.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.text.setTabChangesFocus(True)
        self.page.setTabChangesFocus(True)
        self.text.setAccessibleName(self.tr("Text of the file"))
        self.text.setToolTip(self.tr("What is in the file that is to be decided"))
        self.chart = ChartView(theme)
        self.open = QPushButton(self.tr("Open with another program…"))
        self.open.setToolTip(self.tr("Open the file with the default program for its type"))
        self.open.clicked.connect(self._on_open)
        self._stack = FrontStack()
        for widget in (self.grid, self.page, self.text, self.chart):
            self._stack.addWidget(widget)
        layout.addWidget(self.strip)
        layout.addWidget(self.note)
        layout.addWidget(self.open, 0, Qt.AlignmentFlag.AlignLeft)
        layout.addWidget(self._stack, 1)
        layout.addStretch(0)
        self._show()

    def show_file(self, look: FileLook | None) -> None:
        """Show a file; None: there is none to decide on."""
        self._look = look
        self._model.set_source(None if look is None else look.rows)
        self.page.setHtml("" if look is None else look.page)
        self.text.setPlainText(
            "" if look is None else "\n".join(map(legible, look.text.splitlines()))
        )
        self._offer()
        if look is not None:
            self.strip.choose(FILE)
        self._show()

    def show_pictures(self, charts: Sequence[Chart]) -> None:
        """Offer these pictures."""
        if list(charts) != list(self._charts.values()):
            self._charts = {chart.id: chart for chart in charts}
            self._offer()
            self._show()

    def _offer(self) -> None:
        file = [(FILE, self.tr("The file"))] if self._look is not None else []
        shown = [(key, spoken(one)) for key, one in self._charts.items()]
        pictures = [(key, one.short or one.question) for key, one in shown]
        self.strip.set_choices([*file, *pictures], {key: one.question for key, one in shown})
        self.strip.setVisible(bool(file or pictures))

    @Slot()
    def _show(self) -> None:
        key, look = self.strip.current, self._look
        self.note.setText("")
        if key in self._charts:
            self.chart.set_chart(self._charts[key])
            self._stack.setCurrentWidget(self.chart)
        elif look is not None:
            self._stack.setCurrentWidget(
                self.grid if look.rows is not None else self.page if look.page else self.text
            )
            self.note.setText(self._words(look))
        self._stack.setVisible(key in self._charts or (look is not None and look.shown))
        self.note.setVisible(bool(self.note.text()))
        another = look is not None and look.path is not None and key not in self._charts
        self.open.setVisible(another)
        self.setVisible(look is not None or bool(self._charts))

    @Slot()
    def _on_open(self) -> None:
        path = None if self._look is None else self._look.path
        if path is not None and not QDesktopServices.openUrl(QUrl.fromLocalFile(str(path))):
            text = self.tr("No program was found that opens {path}.")
            self.note.setText(text.format(path=path))

    def _words(self, look: FileLook) -> str:
        rows = look.rows
        if look.absent:
            return self.tr("✕ This file is not in the folder of the release.")
        if look.foreign:
            return self.tr("This file cannot be shown here: open it with the program for its type.")
        if look.printed:
            return self.tr(
                "This is the page that the PDF prints. The check makes both again and compares "
                "them byte for byte."
            )
        if look.fault:
            return f"✕ {said(look.fault)}"
        if rows is None:
            return ""
        text = f"{rows_words(rows.total)}, {columns_words(len(rows.columns))}"
        if rows.count < rows.total:
            text = self.tr("{size}; the first {n} are shown").format(
                size=text, n=grouped(rows.count)
            )
        return text
