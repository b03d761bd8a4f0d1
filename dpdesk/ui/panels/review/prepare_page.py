"""Before a release: what would be released, under which title, and into which folder."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import (
    QComboBox,
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QScrollArea,
    QWidget,
)

from dpdesk.app.types import Candidate
from dpdesk.core.language import languages
from dpdesk.core.messages import msg
from dpdesk.ui.charts import ChartView
from dpdesk.ui.jobs import JobHub
from dpdesk.ui.language import own_name
from dpdesk.ui.panels.review.job_line import JobLine
from dpdesk.ui.panels.review.presenter import Treatments, figures_words
from dpdesk.ui.panels.review.scrolling import Page, SideBySide, scrolled
from dpdesk.ui.theme import SPACE, ThemeManager, set_look
from dpdesk.ui.widgets import GuaranteeCard, MessageBand, column, row
from dpdesk.ui.words.numbers import legible

_MOST_LINES = 4  # left out, generalised, as they are, as pseudonyms


class TreatmentCard(QFrame):
    """Columns that are left out, generalised, released as they are."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        set_look(self, "card")
        layout = column(self, margin=SPACE.l, gap=SPACE.xs)
        head = QLabel(self.tr("What becomes of the columns"))
        head.setWordWrap(True)
        set_look(head, "section")
        layout.addWidget(head)
        self._lines: list[tuple[QLabel, QLabel]] = []
        for _ in range(_MOST_LINES):
            name, text = QLabel(), QLabel()
            set_look(name, "note")
            text.setWordWrap(True)
            text.setMinimumWidth(1)  # lists of names break wherever they must
            text.setTextFormat(Qt.TextFormat.PlainText)
            text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            layout.addWidget(name)
            layout.addWidget(text)
            self._lines.append((name, text))
        layout.addStretch(1)

    def set_fates(self, fates: Treatments) -> None:
        """Show them."""
        lines = [(head, legible(words)) for head, words in fates.lines()]
        for place, (name, text) in enumerate(self._lines):
            head, words = lines[place] if place < len(lines) else ("", "")
            name.setText(head)
            text.setText(words)
            name.setVisible(bool(head))
            text.setVisible(bool(head))
        self.setAccessibleName(
            ". ".join(msg("{file}: {note}", file=head, note=words) for head, words in lines)
        )


LEAST_LINES = (11, 7)


class PreparePage(Page):
    """Preview at the top, the form that writes the release below.

    ``titleEdited(str)`` and ``folderEdited(str)`` follow the keys; ``languageChosen(str)`` gives a
    code such as ``de``; ``browseAsked()``, ``writeAsked()`` and ``bandTriggered(str)`` are wishes.
    """

    titleEdited = Signal(str)
    languageChosen = Signal(str)
    folderEdited = Signal(str)
    browseAsked = Signal()
    writeAsked = Signal()
    bandTriggered = Signal(str)

    def __init__(self, theme: ThemeManager, hub: JobHub, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        layout = column(self, gap=SPACE.m)
        self.band = MessageBand(theme)
        self.band.triggered.connect(self.bandTriggered)
        layout.addWidget(self.band)
        self._figures = QLabel()
        self._figures.setWordWrap(True)
        set_look(self._figures, "answer")
        layout.addWidget(self._figures)
        self._chart = ChartView(theme)
        parts = (self._chart, self._build_words(theme))
        layout.addWidget(SideBySide(theme, "review-prepare", parts, LEAST_LINES), 1)
        layout.addWidget(self._build_form(hub))

    # -- what is shown

    def show_candidate(self, candidate: Candidate | None, fates: Treatments | None) -> None:
        """Show what would be released; None while it is being worked out."""
        if candidate is None or fates is None:
            return
        self._words.show()
        self._guarantee.set_guarantee(candidate.guarantee)
        self._fates.set_fates(fates)
        chart = candidate.charts[0] if candidate.charts else None
        self._chart.set_chart(chart)
        self._chart.setVisible(chart is not None)
        self._figures.setText(figures_words(candidate.figures))
        self._figures.show()

    def show_waiting(self, text: str) -> None:
        """Say why there is no preview (yet); takes an old one away."""
        self._words.hide()
        self._chart.setVisible(True)
        self._chart.set_chart(None)
        self._chart.set_placeholder(text)
        self._figures.hide()

    def set_stale(self, stale: bool, reason: str = "") -> None:
        """Dim the picture while newer numbers are being worked out."""
        self._chart.set_stale(stale, reason)

    def show_title(self, title: str) -> None:
        """Write the title into its field, unless it says so already."""
        if self._title.text() != title:
            self._title.setText(title)

    def show_language(self, code: str) -> None:
        """Show the language of the pages."""
        self._language.setCurrentIndex(max(self._language.findData(code), 0))

    def show_folder(self, folder: str) -> None:
        """Write the folder into its field."""
        if self._folder.text() != folder:
            self._folder.setText(folder)

    @property
    def folder(self) -> str:
        """The folder as typed."""
        return self._folder.text()

    def show_folder_problem(self, sentence: str) -> None:
        """Say below the field what is wrong with the folder; empty: nothing."""
        self._folder_error.setText(f"✕ {sentence}" if sentence else "")
        self._folder_error.setVisible(bool(sentence))
        self._folder.setProperty("invalid", bool(sentence))
        self._folder.setAccessibleDescription(sentence)
        style = self._folder.style()
        style.unpolish(self._folder)
        style.polish(self._folder)

    def set_can_write(self, can: bool, reason: str = "") -> None:
        """Enable the button, or say why it is not."""
        self._write.setEnabled(can)
        tip = self.tr("Write public/ and internal/ into a new folder, and check them (Ctrl+Enter)")
        self._write.setToolTip(tip if can or not reason else reason)

    def show_cost(self, words: str) -> None:
        """Name what writing costs on the button; empty: it costs nothing."""
        text = words.replace("&", "&&") or self.tr("&Write the release")
        self._write.setText(text)
        self._write.setAccessibleName(words or self.tr("Write the release"))

    # -- building

    def _build_words(self, theme: ThemeManager) -> QScrollArea:
        inner = QWidget()
        layout = column(inner, gap=SPACE.m)
        layout.setContentsMargins(0, 0, SPACE.s, 0)
        self._guarantee = GuaranteeCard(theme)
        self._fates = TreatmentCard()
        layout.addWidget(self._guarantee)
        layout.addWidget(self._fates)
        layout.addStretch(1)
        self._words = scrolled(inner, self.tr("What would be released, in words"))
        return self._words

    def _build_form(self, hub: JobHub) -> QFrame:
        frame = QFrame()
        set_look(frame, "card")
        layout = column(frame, margin=SPACE.m, gap=SPACE.s)
        fields = QGridLayout()
        fields.setHorizontalSpacing(SPACE.m)
        fields.setVerticalSpacing(SPACE.s)
        self._add_title(fields)
        self._add_folder(fields)
        layout.addLayout(fields)
        self._folder_error = QLabel()
        self._folder_error.setWordWrap(True)
        set_look(self._folder_error, "fail")
        self._folder_error.hide()
        layout.addWidget(self._folder_error)
        self.job_line = JobLine(hub)
        layout.addWidget(self.job_line)
        layout.addLayout(self._build_last_line())
        return frame

    def _add_title(self, fields: QGridLayout) -> None:
        label = QLabel(self.tr("&Title"))
        self._title = QLineEdit()
        self._title.setAccessibleName(self.tr("Title of the release"))
        self._title.setPlaceholderText(self.tr("Published with the data, for instance its name"))
        self._title.setToolTip(self.tr("Published in the manifest and on the page for users"))
        self._title.textEdited.connect(self.titleEdited)
        label.setBuddy(self._title)
        fields.addWidget(label, 0, 0)
        fields.addWidget(self._title, 0, 1)
        fields.addWidget(self._build_language(), 0, 2)

    def _build_language(self) -> QComboBox:
        self._language = QComboBox()
        for code in languages():
            words = self.tr("Pages: {language}").format(language=own_name(code))
            self._language.addItem(words, code)
        self._language.setAccessibleName(self.tr("Language of the pages"))
        self._language.setToolTip(
            self.tr("Language of about.html and of the report; what is signed stays English")
        )
        self._language.activated.connect(self._on_language)
        return self._language

    def _add_folder(self, fields: QGridLayout) -> None:
        label = QLabel(self.tr("F&older"))
        self._folder = QLineEdit()
        self._folder.setAccessibleName(self.tr("Folder of the release"))
        self._folder.setToolTip(self.tr("A new or empty folder; it is made when it is missing"))
        self._folder.textEdited.connect(self.folderEdited)
        label.setBuddy(self._folder)
        browse = QPushButton(self.tr("&Browse…"))
        browse.setAccessibleName(self.tr("Choose where the release folder is made"))
        browse.setToolTip(self.tr("Choose where the release folder is made"))
        browse.clicked.connect(self._on_browse)
        fields.addWidget(label, 1, 0)
        fields.addWidget(self._folder, 1, 1)
        fields.addWidget(browse, 1, 2)
        fields.setColumnStretch(1, 1)

    def _build_last_line(self) -> QHBoxLayout:
        line = row(gap=SPACE.m)
        self._note = QLabel(
            self.tr(
                "The folder gets two parts: public/ is what leaves, internal/ stays with you. "
                "It appears whole or not at all."
            )
        )
        self._note.setWordWrap(True)
        set_look(self._note, "note")
        self._write = QPushButton(self.tr("&Write the release"))
        self._write.setAccessibleName(self.tr("Write the release"))
        set_look(self._write, "primary")
        self._write.clicked.connect(self._on_write)
        line.addWidget(self._note, 1)
        line.addWidget(self._write)
        self.set_can_write(False)
        return line

    @Slot(int)
    def _on_language(self, place: int) -> None:
        self.languageChosen.emit(str(self._language.itemData(place)))

    @Slot()
    def _on_browse(self) -> None:
        self.browseAsked.emit()

    @Slot()
    def _on_write(self) -> None:
        self.writeAsked.emit()
