"""The card by which an identifier is kept as a pseudonym: key, what it joins, how it compares."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from PySide6.QtCore import QSignalBlocker, Qt, Signal, Slot
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QFrame,
    QLabel,
    QLineEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from dpdesk.core.pseudonyms import (
    DOMAIN,
    GROUP,
    NUMBER,
    PERSON,
    RELEASE,
    TEXT,
    PseudonymSpec,
    is_key_name,
)
from dpdesk.ui.theme import SPACE, set_look
from dpdesk.ui.widgets import column
from dpdesk.ui.widgets.focusing import leave_wheel


class PseudonymCard(QFrame):
    """``changed(PseudonymSpec | None)`` for the shown ``column``; ``keyAsked(str)`` makes a key."""

    changed = Signal(object)
    keyAsked = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        set_look(self, "card")
        self.column = ""
        self._spec: PseudonymSpec | None = None
        self._keys: tuple[str, ...] = ()
        layout = column(self, margin=SPACE.m, gap=SPACE.xs)
        self.keep = QCheckBox(self.tr("&Keep it as a pseudonym, for linkage"))
        self.keep.setToolTip(
            self.tr("Release a keyed text in its place, the same wherever the identifier is")
        )
        self.keep.toggled.connect(self._on_keep)
        layout.addWidget(self.keep)
        self._rest = QWidget()
        self._build_rest(column(self._rest, gap=SPACE.xs))
        layout.addWidget(self._rest)
        self.hide()

    def _build_rest(self, layout: QVBoxLayout) -> None:
        self.key = self._combo(
            layout,
            self.tr("Ke&y"),
            self.tr("Keys lie on this computer, never in a plan, project or release"),
        )
        self.key.currentIndexChanged.connect(self._on_edited)
        self._new = QWidget()
        self._build_new(column(self._new, gap=SPACE.xs))
        layout.addWidget(self._new)
        self._build_meaning(layout)
        self._problem, self._allows = QLabel(), QLabel()
        set_look(self._problem, "fail")
        set_look(self._allows, "note")
        for label in (self._problem, self._allows):
            label.setWordWrap(True)
            label.setTextFormat(Qt.TextFormat.PlainText)
            layout.addWidget(label)

    def _build_new(self, layout: QVBoxLayout) -> None:
        self.name = QLineEdit()
        self._label(layout, self.tr("Name of the ne&w key"), self.name)
        self.name.setToolTip(self.tr("What plans will call the key, such as panel 2026"))
        self.name.textChanged.connect(self._on_name)
        self.name.returnPressed.connect(self._on_make)
        self.make = QPushButton(self.tr("Make the key"))
        self.make.setToolTip(self.tr("Make a random key in a private file on this computer"))
        self.make.clicked.connect(self._on_make)
        layout.addWidget(self.make, 0, Qt.AlignmentFlag.AlignLeft)

    def _build_meaning(self, layout: QVBoxLayout) -> None:
        self.scope = self._combo(
            layout, self.tr("It &joins"), self.tr("Who can find rows of one person in two releases")
        )
        self.scope.addItem(self.tr("rows of this release alone"), RELEASE)
        self.scope.addItem(self.tr("all releases with this key and domain"), DOMAIN)
        self.scope.currentIndexChanged.connect(self._on_edited)
        self.domain = QLineEdit()
        self._label(layout, self.tr("Linkage &domain"), self.domain)
        self.domain.setToolTip(
            self.tr("Columns with the same domain have the same pseudonyms for one identifier")
        )
        self.domain.editingFinished.connect(self._on_edited)
        self.of = self._combo(
            layout,
            self.tr("&One identifier stands for"),
            self.tr("Groups of alike rows must hold k different persons, but not k households"),
        )
        self.of.addItem(self.tr("a person"), PERSON)
        self.of.addItem(self.tr("a group, such as a household"), GROUP)
        self.of.currentIndexChanged.connect(self._on_edited)
        self.values = self._combo(
            layout,
            self.tr("Co&mpare as"),
            self.tr("As whole numbers, 007 and 7 are the same identifier"),
        )
        self.values.addItem(self.tr("texts: 007 and 7 are different"), TEXT)
        self.values.addItem(self.tr("whole numbers: 007 and 7 are the same"), NUMBER)
        self.values.currentIndexChanged.connect(self._on_edited)

    @property
    def problem(self) -> str:
        """What is lacking before the column can be kept; empty when nothing is."""
        return self._problem.text()

    @property
    def allows(self) -> str:
        """What the settings let others do."""
        return self._allows.text()

    def show_column(self, name: str, spec: PseudonymSpec | None) -> None:
        """Show the card for an identifier; an empty name hides it."""
        same = name == self.column
        self.setVisible(bool(name))
        if same and spec == self._spec:
            return
        self.column, self._spec = name, spec
        if same and spec is None and self.keep.isChecked() and not self._read():
            return  # being filled in
        with QSignalBlocker(self.keep):
            self.keep.setChecked(spec is not None)
        self._put(spec or PseudonymSpec(""))
        self._refresh()

    def show_keys(self, names: Sequence[str], chosen: str = "") -> None:
        """Offer these keys; ``chosen`` was just made."""
        self._keys = tuple(names)
        self._fill_keys(chosen or str(self.key.currentData() or ""))
        self._on_edited()

    def show_problem(self, sentence: str) -> None:
        """Say why a key was not made."""
        self._problem.setText(f"✕ {sentence}")
        self._problem.show()

    def _fill_keys(self, chosen: str) -> None:
        with QSignalBlocker(self.key):
            self.key.clear()
            known = {each.casefold() for each in self._keys}
            for name in self._keys:
                self.key.addItem(name, name)
            if chosen and chosen.casefold() not in known:
                text = self.tr("{name} (not on this computer)")
                self.key.addItem(text.format(name=chosen), chosen)
            self.key.addItem(self.tr("a new key…"), "")
            place = self.key.findData(chosen, flags=Qt.MatchFlag.MatchFixedString)
            self.key.setCurrentIndex(max(0, place) if chosen else 0)

    def _put(self, spec: PseudonymSpec) -> None:
        self._fill_keys(spec.key)
        for box, value in ((self.scope, spec.scope), (self.of, spec.of)):
            with QSignalBlocker(box):
                box.setCurrentIndex(box.findData(value))
        with QSignalBlocker(self.values):
            self.values.setCurrentIndex(self.values.findData(spec.values))
        self.domain.setText(spec.domain)
        self.domain.setPlaceholderText(self.column)

    def _read(self) -> PseudonymSpec | None:
        """What the fields say; None while something is lacking."""
        key, domain = str(self.key.currentData() or ""), self.domain.text().strip()
        scope = str(self.scope.currentData())
        if not key or (scope == DOMAIN and not domain):
            return None
        return replace(
            self._spec or PseudonymSpec(key),
            key=key,
            scope=scope,
            domain=domain,
            of=str(self.of.currentData()),
            values=str(self.values.currentData()),
        )

    def _refresh(self) -> None:
        self._rest.setVisible(self.keep.isChecked())
        self.make.setEnabled(is_key_name(self.name.text().strip()))
        new, problem = not self.key.currentData(), ""
        self._new.setVisible(new)
        if new and not self._keys:
            problem = self.tr(
                "✕ There is no key on this computer yet: enter a name, and create one."
            )
        elif new:
            problem = self.tr("✕ Name the new key, and make it.")
        elif self._read() is None:
            problem = self.tr("✕ Name the linkage domain that releases shall share.")
        self._problem.setText(problem)
        self._problem.setVisible(bool(problem))
        self._allows.setText(self._words())

    def _words(self) -> str:
        if self.scope.currentData() == DOMAIN:
            return self.tr(
                "Anyone who has two releases with this domain can join them row by row, and "
                "what both reveal about a person together is protected by neither. Anyone who "
                "has the key can put names to the rows."
            )
        return self.tr(
            "Anyone can see which rows of this release belong together; other releases have "
            "other pseudonyms. Anyone who has the key can put names to the rows."
        )

    @Slot(bool)
    def _on_keep(self, on: bool) -> None:
        self._refresh()
        if not on:
            self._spec = None
            self.changed.emit(None)
        else:
            self._on_edited()

    @Slot()
    def _on_edited(self) -> None:
        self._refresh()
        found = self._read() if self.keep.isChecked() and self.column else None
        if found is not None and found != self._spec:
            self._spec = found
            self.changed.emit(found)

    @Slot()
    def _on_name(self) -> None:
        self.make.setEnabled(is_key_name(self.name.text().strip()))

    @Slot()
    def _on_make(self) -> None:
        name = self.name.text().strip()
        if is_key_name(name):
            self.name.clear()
            self.keyAsked.emit(name)

    def _combo(self, layout: QVBoxLayout, words: str, tip: str) -> QComboBox:
        box = QComboBox()
        box.setToolTip(tip)
        box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        leave_wheel(box)
        self._label(layout, words, box)
        return box

    def _label(self, layout: QVBoxLayout, words: str, field: QWidget) -> None:
        label = QLabel(words)
        label.setBuddy(field)
        field.setAccessibleName(words.replace("&", ""))
        layout.addWidget(label)
        layout.addWidget(field)
