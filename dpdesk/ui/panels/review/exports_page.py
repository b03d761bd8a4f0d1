"""Every format that a release can be written in, with what it keeps and what it loses."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QLabel, QPushButton, QWidget

from dpdesk.core.export_formats import FORMATS
from dpdesk.ui.theme import SPACE, set_look
from dpdesk.ui.widgets import column


class ExportsPage(QWidget):
    """A button and a sentence for each format; ``exportAsked(str)`` is emitted with a format."""

    exportAsked = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
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
        }

    def _keeps(self) -> dict[str, str]:
        return {
            "parquet": self.tr(
                "Keeps every value as text; manifest, guarantee and labels are in its metadata."
            ),
            "xlsx": self.tr(
                "Keeps every value as text; the guarantee is on the sheet About, labels and "
                "missing codes on the sheets Variables and Codes."
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
                "measurement levels; holds no data."
            ),
            "ddi": self.tr(
                "Describes the release for an archive: study, variables with labels, what was "
                "done; holds no data."
            ),
            "sdmx-csv": self.tr(
                "Keeps all tables in one file, each cell with status and standard error; names of "
                "categories are in the SDMX structure."
            ),
            "sdmx-structure": self.tr(
                "Describes the SDMX-CSV: code lists, concepts and data flow; holds no data."
            ),
        }

    @Slot()
    def _on_clicked(self) -> None:
        sender = self.sender()
        if sender is not None:
            self.exportAsked.emit(str(sender.property("format")))
