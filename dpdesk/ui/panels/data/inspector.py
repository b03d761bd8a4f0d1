"""What is known of one column: facts, the suggested role with its reason, a picture."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QGridLayout, QLabel, QWidget

from dpdesk.app.describing import Distribution
from dpdesk.app.types import ColumnProfile
from dpdesk.core.messages import msg
from dpdesk.ui.charts import ChartView
from dpdesk.ui.panels.data.presenter import distribution_chart, facts, translate
from dpdesk.ui.theme import SPACE, ThemeManager, set_look
from dpdesk.ui.widgets import column
from dpdesk.ui.widgets.elided import ElidedLabel
from dpdesk.ui.widgets.side import SideArea
from dpdesk.ui.words.columns import role_words
from dpdesk.ui.words.spoken import said


class ColumnInspector(SideArea):
    """Describes one column."""

    def __init__(self, theme: ThemeManager, parent: QWidget | None = None) -> None:
        name = translate("DataPanel", "The chosen column")
        tip = translate("DataPanel", "What is known of the column that is chosen in the table")
        super().__init__(theme, name, tip, parent)
        self._name = ElidedLabel()
        set_look(self._name, "section")
        self.chart = ChartView(theme)
        self.chart.keep_answer()
        self.add(self._name)
        self.add(self.chart, tall=True)
        for widget in (self._build_suggestion(), self._build_facts()):
            self.add(widget)
        self.show_nothing()

    def _build_facts(self) -> QWidget:
        holder = QWidget()
        self._facts = QGridLayout(holder)
        self._facts.setContentsMargins(0, 0, 0, 0)
        self._facts.setHorizontalSpacing(SPACE.m)
        self._facts.setVerticalSpacing(SPACE.xs)
        self._facts.setColumnStretch(0, 1)
        return holder

    def _build_suggestion(self) -> QFrame:
        self._suggestion = QFrame()
        set_look(self._suggestion, "sunken")
        layout = column(self._suggestion, margin=SPACE.s, gap=SPACE.xs)
        self._role, self._reason = QLabel(), QLabel()
        for label, look in ((self._role, "strong"), (self._reason, "note")):
            set_look(label, look)
            label.setWordWrap(True)
            label.setTextFormat(Qt.TextFormat.PlainText)
            layout.addWidget(label)
        return self._suggestion

    def show_nothing(self, name: str = "") -> None:
        """No column, or one whose values are still being counted."""
        waiting = self.tr("Counting its values…")
        self._name.setText(name or self.tr("No column chosen"))
        self._set_facts(())
        self._suggestion.hide()
        self.chart.set_chart(None)
        self.chart.set_placeholder(
            waiting if name else self.tr("Choose a column to see what it holds.")
        )

    def show_column(self, profile: ColumnProfile, spread: Distribution | None) -> None:
        """Describe a column; ``spread`` None while it is being counted."""
        self._name.setText(profile.name)
        self._set_facts(facts(profile))
        role = role_words(profile.suggestion.role)
        self._role.setText(self.tr("Suggested role: {role}").format(role=role))
        self._reason.setText(said(profile.suggestion.reason))
        self._suggestion.show()
        chart = None if spread is None else distribution_chart(spread, profile)
        self.chart.set_chart(chart)
        if chart is None:
            empty = self.tr("There is no value to show.")
            self.chart.set_placeholder(self.tr("Counting…") if spread is None else empty)

    def _set_facts(self, shown: tuple[tuple[str, str], ...]) -> None:
        while self._facts.count():
            item = self._facts.takeAt(0)
            widget = item.widget() if item is not None else None
            if widget is not None:
                widget.hide()
                widget.deleteLater()
        for number, (label, value) in enumerate(shown):
            left, right = QLabel(label), ElidedLabel(value)
            set_look(left, "note")
            left.setWordWrap(True)
            right.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
            right.setAccessibleName(msg("{file}: {note}", file=label, note=value))
            self._facts.addWidget(left, number, 0)
            self._facts.addWidget(right, number, 1)
