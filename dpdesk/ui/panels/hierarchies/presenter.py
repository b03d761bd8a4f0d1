"""What the panel says, decided without widgets: attributes, levels, reasons, and the tree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from PySide6.QtCore import (
    QAbstractItemModel,
    QCoreApplication,
    QMimeData,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    Qt,
    Signal,
    Slot,
)
from PySide6.QtGui import QColor, QFont

from dpdesk.app import hierarchies
from dpdesk.app.types import HierarchyChoice, WorkState
from dpdesk.core.hierarchy import HierarchyPreview
from dpdesk.core.parameters import Parameter
from dpdesk.core.plan import HierarchyBuilder, HierarchyFile, SuggestedHierarchy, Why
from dpdesk.core.schema import Role
from dpdesk.ui.jobs import JobFailed
from dpdesk.ui.models.table import guarded
from dpdesk.ui.panels.hierarchies.tasks import Answer, Edit, EditKind, HierarchyAnswer, shown
from dpdesk.ui.shell import Mark, PanelStatus
from dpdesk.ui.theme import Theme, ThemeManager
from dpdesk.ui.words.numbers import grouped, marked_within, quoted, short_name
from dpdesk.ui.words.spoken import inside, said

translate = QCoreApplication.translate
TREE_FORM_AT_MOST = 500


class State(Enum):
    """How an attribute stands; the value is the sign before its words."""

    NONE = "–"
    COUNTING = "…"
    READY = "✓"
    LACKING = "!"
    FAILED = "✕"


@dataclass(frozen=True)
class Entry:
    """An attribute of the list; ``optional`` when it may do without a hierarchy."""

    attribute: str
    optional: bool
    state: State
    note: str

    @property
    def text(self) -> str:
        """Two lines: the name, then sign and words."""
        return f"{self.attribute}\n{self.state.value} {self.note}"


def attributes(roles: Mapping[str, Role]) -> tuple[tuple[str, bool], ...]:
    """Attributes with whether they are optional: quasi-identifiers, then sensitive ones.

    ``roles`` are those of the columns, in the order of the source.
    """
    needed = [name for name, role in roles.items() if role is Role.QUASI_IDENTIFIER]
    optional = [name for name, role in roles.items() if role is Role.SENSITIVE]
    return (*((name, False) for name in needed), *((name, True) for name in optional))


def entry(
    attribute: str, optional: bool, choice: HierarchyChoice | None, answer: Answer | None
) -> Entry:
    """How an attribute stands, given what its choice turned out to be (None: not yet known)."""
    if choice is None and (answer is None or answer.look is not None):
        none = translate("Hierarchies", "none: value, then *")
        return Entry(attribute, optional, State.NONE, none)
    if answer is None:
        return Entry(attribute, optional, State.COUNTING, choice_words(choice))
    if answer.look is None:
        return Entry(attribute, optional, State.FAILED, translate("Hierarchies", "cannot be used"))
    lacking = len(answer.look.examined.lacking)
    if lacking:
        words = translate("Hierarchies", "1 value has no place")
        if lacking > 1:
            words = translate("Hierarchies", "{n} values have no place").format(n=grouped(lacking))
        return Entry(attribute, optional, State.LACKING, words)
    note = translate("Hierarchies", "{height} levels · {how}").format(
        height=answer.look.height + 1, how=choice_words(choice)
    )
    return Entry(attribute, optional, State.READY, note)


def choice_words(choice: HierarchyChoice | None) -> str:
    """How a hierarchy is made, in a few words."""
    if choice is None:
        return translate("Hierarchies", "none: value, then *")
    if isinstance(choice, HierarchyFile):
        return Path(choice.path).name
    if isinstance(choice, HierarchyBuilder):
        form = hierarchies.forms().get(choice.kind)
        return choice.kind if form is None else inside(said(form.title))
    return translate("Hierarchies", "edited by hand")


def status(entries: Sequence[Entry], *, wanted: bool = True) -> PanelStatus:
    """What the navigation shows; ``wanted``: the method makes rows alike by quasi-identifiers."""
    needed = [one for one in entries if not one.optional]
    bad = [one for one in entries if one.state in (State.LACKING, State.FAILED)]
    if wanted and not needed:
        return PanelStatus(Mark.OPEN, translate("Hierarchies", "mark a quasi-identifier first"))
    if bad:
        words = translate("Hierarchies", "look at {name}")
        return PanelStatus(Mark.ATTENTION, words.format(name=bad[0].attribute))
    made = sum(one.state is State.READY for one in needed)
    if not wanted:
        return PanelStatus(Mark.DONE if made and made == len(needed) else Mark.OPEN, "")
    words = translate("Hierarchies", "{n} of {total} have one")
    mark = Mark.DONE if made == len(needed) else Mark.OPEN
    return PanelStatus(mark, words.format(n=made, total=len(needed)))


def headline(entries: Sequence[Entry]) -> str:
    """One sentence under the title: how far the step is."""
    needed = [one for one in entries if not one.optional]
    made = sum(one.state is not State.NONE for one in needed)
    bad = [one for one in entries if one.state in (State.LACKING, State.FAILED)]
    if bad:
        return translate("Hierarchies", "{name} needs a look: {note}.").format(
            name=bad[0].attribute, note=bad[0].note
        )
    if made == len(needed):
        return translate(
            "Hierarchies",
            "Each of the {total} quasi-identifiers has a hierarchy. The level shown is "
            "only a preview: it is set in Protect.",
        ).format(total=len(needed))
    return translate(
        "Hierarchies",
        "{n} of {total} quasi-identifiers have a hierarchy; without one, a value stays "
        "unchanged or becomes *. The level shown is only a preview: it is set in "
        "Protect.",
    ).format(n=made, total=len(needed))


def level_name(look: HierarchyAnswer, level: int) -> str:
    """What a level holds, in a few words."""
    if level == 0:
        return translate("Hierarchies", "Values as in the data")
    if level == look.height:
        return translate("Hierarchies", "Everything together")
    labels = look.examined.preview.hierarchy.labels[level]
    order = look.shape.order[level][:2]
    examples = translate("Hierarchies", " and ").join(short_name(labels[code]) for code in order)
    return translate("Hierarchies", "Groups such as {examples}").format(examples=examples)


def effect_sentence(look: HierarchyAnswer, level: int) -> str:
    """What a level does to the column, in one sentence."""
    effect = look.effects[level]
    if effect.rows_changed == 0:
        return translate("Hierarchies", "Level {level} leaves every row as it is.").format(
            level=level
        )
    total = int(look.examined.preview.rows[0].sum())
    if effect.smallest_after == effect.smallest_before:
        template = translate(
            "Hierarchies",
            "Level {level} turns {before} values into {after} and changes {rows} of {total} rows; "
            "the smallest group still has {small} rows.",
        )
    else:
        template = translate(
            "Hierarchies",
            "Level {level} turns {before} values into {after} and changes {rows} of {total} rows; "
            "the smallest group grows from {small} to {large} rows.",
        )
    return template.format(
        level=level,
        before=grouped(effect.distinct_before),
        after=grouped(effect.distinct_after),
        rows=grouped(effect.rows_changed),
        total=grouped(total),
        small=grouped(effect.smallest_before),
        large=grouped(effect.smallest_after),
    )


def lacking_sentence(look: HierarchyAnswer) -> str:
    """Which values have no place in the tree; empty when each has one."""
    lacking = look.examined.lacking
    if not lacking:
        return ""
    rows = sum(count.rows for count in lacking)
    if len(lacking) == 1:
        template = translate(
            "Hierarchies",
            "1 value of the data ({rows} rows) has no place in the tree; each value needs "
            "one. Click it to go there.",
        )
    else:
        template = translate(
            "Hierarchies",
            "{n} values of the data ({rows} rows) have no place in the tree; each value "
            "needs one. Click one to go there.",
        )
    return template.format(n=grouped(len(lacking)), rows=grouped(rows))


def problem_words(problem: JobFailed, parameters: Sequence[Parameter]) -> str:
    """Why options give no hierarchy, in the words of their form and without the place of a plan.

    The place ends with the kind in brackets, as in ``people.csv, hierarchy of `age` (intervals)``.
    """
    place, colon, rest = problem.sentence.partition("): ")
    sentence = rest if colon and "hierarchy of" in place else problem.sentence
    text = f"{sentence} {problem.hint}".strip()
    for parameter in parameters:
        text = text.replace(f"`{parameter.key}`", quoted(said(parameter.label)))
    return text[:1].upper() + text[1:]


def as_tree(preview: HierarchyPreview) -> object:
    """The groups of a hierarchy as a tree that a form can edit; None when it is too large.

    Missing tokens are left out: a builder keeps them as they are.
    """
    hierarchy = preview.hierarchy
    if len(hierarchy.leaves) > TREE_FORM_AT_MOST:
        return None
    rows = [row for code, row in enumerate(hierarchy.rows()) if code not in preview.missing]
    if hierarchy.height < 2:
        return [row[0] for row in rows]
    tree: dict[str, object] = {}
    for row in rows:
        _plant(tree, [label or shown(label) for label in reversed(row[1:-1])], row[0])
    return tree


def _plant(tree: dict[str, object], groups: Sequence[str], leaf: str) -> None:
    node = tree
    for label in groups[:-1]:
        inner = node.setdefault(label, {})
        assert isinstance(inner, dict)
        node = inner
    leaves = node.setdefault(groups[-1], [])
    assert isinstance(leaves, list)
    leaves.append(leaf)


def without_hierarchy(work: WorkState, roles: Mapping[str, Role]) -> tuple[str, ...]:
    """Quasi-identifiers that have none."""
    return tuple(
        name
        for name, optional in attributes(roles)
        if not optional and name not in work.hierarchies
    )


def reason(found: SuggestedHierarchy) -> str:
    """Why this was suggested, in one sentence, with a second for what it leaves apart."""
    facts = {key: marked_within(text) for key, text in found.facts.items()}
    sentences = [_main(found).format(**facts), *_ends(found)]
    if "other" in found.facts:
        sentences.append(
            translate("Hierarchies", "They could be {other} as well: check the format.").format(
                other=found.facts["other"]
            )
        )
    if len(found.apart) == 1:
        text = translate(
            "Hierarchies", "{value} is kept separate: it looks like a code for a missing value."
        )
        sentences.append(text.format(value=shown(found.apart[0])))
    elif found.apart:
        text = translate(
            "Hierarchies", "{values} are kept separate: they look like codes for missing values."
        )
        sentences.append(text.format(values=", ".join(shown(one) for one in found.apart)))
    return " ".join(sentences)


def _main(found: SuggestedHierarchy) -> str:
    if found.why is Why.STATED:
        if "file" in found.facts:
            return translate("Hierarchies", "Suggested {file}: the metadata of the source name it.")
        return translate(
            "Hierarchies",
            "Suggested masking by {digits} digits: the metadata of the source say that the codes "
            "are made of them.",
        )
    return {**_of_numbers(), **_of_known_words(), **_of_others()}[found.why]


def _of_numbers() -> dict[Why, str]:
    return {
        Why.YEARS: translate(
            "Hierarchies", "Suggested intervals of {widths}: {n} years from {low} to {high}."
        ),
        Why.NUMBERS: translate(
            "Hierarchies", "Suggested intervals of {widths}: {n} numbers from {low} to {high}."
        ),
        Why.COUNTS: translate(
            "Hierarchies",
            "Suggested intervals of {widths}: {n} numbers from {low} to {high}, and the "
            "name suggests a count.",
        ),
        Why.NUMBER_CODES: translate(
            "Hierarchies",
            "Suggested value, then *: {n} whole numbers from {low} to {high} are usually "
            "codes, whose order has no meaning. Choose intervals if they measure or count "
            "something.",
        ),
        Why.NAMED_CODES: translate(
            "Hierarchies",
            "Suggested value, then *: {n} numbers from {low} to {high}, and the name "
            "suggests codes, whose order has no meaning. A file or the tree can say what "
            "belongs together.",
        ),
        Why.RUNNING: translate(
            "Hierarchies",
            "Suggested value, then *: all {n} numbers from {low} to {high} occur, so they "
            "only number the records. Choose intervals if they measure something.",
        ),
        Why.ORDER: translate(
            "Hierarchies",
            "Suggested neighbours in pairs: {n} numbers from {low} to {high}, and the name "
            "suggests an order.",
        ),
    }


def _of_known_words() -> dict[Why, str]:
    return {
        Why.SCALE: translate(
            "Hierarchies",
            "Suggested neighbours in order: {n} words of a scale, from {low} to {high}.",
        ),
        Why.MONTHS: translate(
            "Hierarchies", "Suggested quarters and half-years: the values are months."
        ),
        Why.DAYS: translate(
            "Hierarchies", "Suggested work days and the weekend: the values are days of the week."
        ),
        Why.SECTIONS: translate(
            "Hierarchies",
            "Suggested sections of economic activities (NACE Rev. 2, ISIC Rev. 4): {n} divisions "
            "make {groups} sections. Another revision needs a file.",
        ),
    }


def _of_others() -> dict[Why, str]:
    return {
        Why.FEW: translate(
            "Hierarchies", "Suggested value, then *: there are only {n} distinct values."
        ),
        Why.DATES: translate(
            "Hierarchies", "Suggested periods: the values are dates written as {form}."
        ),
        Why.CODES: translate(
            "Hierarchies",
            "Suggested masking from the right: {n} codes of {length} characters make {groups} "
            "groups without the last {hidden}.",
        ),
        Why.PADDED_CODES: translate(
            "Hierarchies",
            "Suggested masking from the right: {n} codes, filled with zeros to {length} digits, "
            "make {groups} groups without the last {hidden}.",
        ),
        Why.LOOSE_CODES: translate(
            "Hierarchies",
            "Suggested value, then *: the beginnings of the {n} codes group hardly any of them.",
        ),
        Why.RANGES: translate(
            "Hierarchies", "Suggested neighbours in pairs: the values are {n} ranges in order."
        ),
        Why.NAMES: translate(
            "Hierarchies",
            "Suggested value, then *: the {n} names do not show what belongs together. Group "
            "values in the tree, or take a file.",
        ),
    }


def _ends(found: SuggestedHierarchy) -> list[str]:
    """A sentence on coded ends, when there are any."""
    low, high = found.facts.get("bottom"), found.facts.get("top")
    if low is not None and high is not None:
        text = translate(
            "Hierarchies",
            "Few rows are below {low}, or {high} and above: each of these ranges is one group.",
        )
    elif high is not None:
        text = translate("Hierarchies", "Few rows are {high} and above: this range is one group.")
    elif low is not None:
        text = translate("Hierarchies", "Few rows are below {low}: this range is one group.")
    else:
        return []
    return [text.format(low=low, high=high)]


Index = QModelIndex | QPersistentModelIndex
_ROOT = QModelIndex()
MIME = "application/x-dpdesk-hierarchy-values"
VALUE, ROWS, BELOW = range(3)
_PLAIN = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable
_TOP_LEAF = _PLAIN | Qt.ItemFlag.ItemNeverHasChildren
_LEAF = _TOP_LEAF | Qt.ItemFlag.ItemIsDragEnabled
_TOP = _PLAIN | Qt.ItemFlag.ItemIsDropEnabled
_TOP_NAME = _TOP | Qt.ItemFlag.ItemIsEditable
_GROUP = _TOP | Qt.ItemFlag.ItemIsDragEnabled
_GROUP_NAME = _GROUP | Qt.ItemFlag.ItemIsEditable
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter


class HierarchyModel(QAbstractItemModel):
    """Nodes are numbered as in :class:`TreeShape`; the number is the index's internal id.

    ``editAsked(Edit)`` carries what typing over a name or dropping values means.
    """

    editAsked = Signal(object)

    def __init__(self, theme: ThemeManager, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._look: HierarchyAnswer | None = None
        self._level = 0
        self._known: dict[int, list[int]] = {}
        self._leaves = self._nodes = 0
        self._dragged: tuple[int, tuple[str, ...]] | None = None
        self._headings = (self.tr("Value"), self.tr("Rows"), self.tr("Values"))
        theme.changed.connect(self._on_theme)
        self._on_theme(theme.theme)

    @property
    def look(self) -> HierarchyAnswer | None:
        """What is shown."""
        return self._look

    def set_look(self, look: HierarchyAnswer | None) -> None:
        """Show another hierarchy."""
        self.beginResetModel()
        self._look = look
        self._known = {}
        sizes = [] if look is None else [len(one) for one in look.shape.lacking]
        self._leaves, self._nodes = (sizes[0], sum(sizes)) if sizes else (0, 0)
        self.endResetModel()

    def set_level(self, level: int) -> None:
        """Emphasise the values of a level."""
        self._level = level

    # -- nodes

    def node(self, index: Index) -> tuple[int, int]:
        """Level and code of an index."""
        assert self._look is not None
        return self._look.shape.node(index.internalId())

    def index_of(self, level: int, code: int) -> QModelIndex:
        """The index of a node."""
        if self._look is None:
            return QModelIndex()
        shape = self._look.shape
        return self.createIndex(shape.row(level, code), 0, shape.number(level, code))

    def find(self, level: int, label: str) -> QModelIndex:
        """The index of a value, by its text."""
        if self._look is None or not 0 <= level <= self._look.height:
            return QModelIndex()
        labels = self._look.examined.preview.hierarchy.labels[level]
        return self.index_of(level, labels.index(label)) if label in labels else QModelIndex()

    def search(self, text: str) -> list[tuple[int, int]]:
        """Level and code of all nodes that hold these words, groups before their values."""
        words = text.casefold().split()
        if self._look is None or not words:
            return []
        levels = self._look.examined.preview.hierarchy.labels
        return [
            (level, code)
            for level in reversed(range(len(levels)))
            for code, label in enumerate(levels[level])
            if all(word in label.casefold() for word in words)
        ]

    def label(self, level: int, code: int) -> str:
        """The text of a node."""
        assert self._look is not None
        return self._look.examined.preview.hierarchy.labels[level][code]

    def children_between(self, parent: Index, first: int, last: int) -> tuple[int, list[int]]:
        """Level and codes of some children of a node."""
        assert self._look is not None
        shape = self._look.shape
        if not parent.isValid():
            return shape.height, [0]
        level, code = self.node(parent)
        return level - 1, shape.children(level, code, first, last).tolist()

    # -- the model's own duties

    def index(self, row: int, column: int, parent: Index = _ROOT) -> QModelIndex:
        """The index of a child."""
        if self._look is None or not 0 <= column < len(self._headings) or row < 0:
            return QModelIndex()
        if not parent.isValid():
            shape = self._look.shape
            top = shape.number(shape.height, 0)
            return self.createIndex(0, column, top) if row == 0 else QModelIndex()
        children = self._children(parent.internalId())
        if parent.column() != 0 or row >= len(children):
            return QModelIndex()
        return self.createIndex(row, column, children[row])

    def _children(self, number: int) -> list[int]:
        """Numbers of the children of a node; kept, because a view asks for each row alone."""
        known = self._known.get(number)
        if known is None:
            assert self._look is not None
            shape = self._look.shape
            level, code = shape.node(number)
            known = []
            if level:
                count = shape.child_count(level, code)
                known = (
                    shape.children(level, code, 0, count - 1) + shape.offsets[level - 1]
                ).tolist()
            self._known[number] = known
        return known

    def parent(self, index: Index = _ROOT) -> QModelIndex:  # type: ignore[override]
        """The node above."""
        if self._look is None or not index.isValid():
            return QModelIndex()
        level, code = self.node(index)
        if level == self._look.height:
            return QModelIndex()
        above = int(self._look.examined.preview.hierarchy.parents[level][code])
        return self.index_of(level + 1, above)

    def rowCount(self, parent: Index = _ROOT) -> int:
        """Number of children."""
        if self._look is None or parent.column() > 0:
            return 0
        if not parent.isValid():
            return 1
        return len(self._children(parent.internalId()))

    def hasChildren(self, parent: Index = _ROOT) -> bool:
        """Whether a node can be unfolded; the values of the data cannot."""
        if self._look is None or parent.column() > 0:
            return False
        return not parent.isValid() or parent.internalId() >= self._leaves

    def columnCount(self, parent: Index = _ROOT) -> int:
        """Value, rows, values below."""
        return len(self._headings)

    @guarded
    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> object:
        """Headings."""
        if orientation is not Qt.Orientation.Horizontal or not 0 <= section < len(self._headings):
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return self._headings[section]
        if role == Qt.ItemDataRole.TextAlignmentRole and section != VALUE:
            return _RIGHT
        return None

    @guarded
    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Texts, and how they look."""
        if self._look is None or not index.isValid():
            return None
        level, code = self.node(index)
        if role == Qt.ItemDataRole.DisplayRole:
            return self._text(level, code, index.column())
        if role == Qt.ItemDataRole.EditRole:
            return self.label(level, code)
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _RIGHT if index.column() != VALUE else None
        if role == Qt.ItemDataRole.ForegroundRole:
            return self._colour(level, code)
        if role == Qt.ItemDataRole.FontRole:
            return self._bold if level == self._level else None
        if role in (Qt.ItemDataRole.ToolTipRole, Qt.ItemDataRole.AccessibleTextRole):
            return self._words(level, code)
        return None

    def flags(self, index: Index) -> Qt.ItemFlag:
        """Values can be dragged, groups take drops, names of groups can be typed over."""
        if self._look is None or not index.isValid():
            return Qt.ItemFlag.NoItemFlags
        number = index.internalId()
        if number < self._leaves:
            return _TOP_LEAF if self._leaves == self._nodes else _LEAF
        if number == self._nodes - 1:
            return _TOP_NAME if index.column() == VALUE else _TOP
        return _GROUP_NAME if index.column() == VALUE else _GROUP

    def setData(self, index: Index, value: object, role: int = Qt.ItemDataRole.EditRole) -> bool:
        """Ask for another name; the tree changes when the edit has been made."""
        if role != Qt.ItemDataRole.EditRole or not index.isValid():
            return False
        level, code = self.node(index)
        old = self.label(level, code)
        if str(value) != old:
            self.editAsked.emit(Edit(EditKind.RENAME, level, (old,), str(value)))
        return False

    # -- drag and drop

    def supportedDropActions(self) -> Qt.DropAction:
        """Values are moved."""
        return Qt.DropAction.MoveAction

    def mimeTypes(self) -> list[str]:
        """Values of this tree only."""
        return [MIME]

    def mimeData(self, indexes: Sequence[QModelIndex]) -> QMimeData:
        """Remember what is dragged; the bytes only mark it as ours."""
        nodes = [self.node(index) for index in indexes if index.column() == VALUE]
        levels = {level for level, _ in nodes}
        self._dragged = None
        if len(levels) == 1:
            values = tuple(self.label(level, code) for level, code in nodes)
            self._dragged = (levels.pop(), values)
        data = QMimeData()
        data.setData(MIME, b"values")
        return data

    def canDropMimeData(
        self, data: QMimeData, action: Qt.DropAction, row: int, column: int, parent: Index
    ) -> bool:
        """Only groups of the level above take the values."""
        if not data.hasFormat(MIME) or self._dragged is None or not parent.isValid():
            return False
        return self.node(parent)[0] == self._dragged[0] + 1

    def dropMimeData(
        self, data: QMimeData, action: Qt.DropAction, row: int, column: int, parent: Index
    ) -> bool:
        """Ask for the move; the view must not remove rows by itself."""
        if not self.canDropMimeData(data, action, row, column, parent) or self._dragged is None:
            return False
        level, values = self._dragged
        self.editAsked.emit(Edit(EditKind.MOVE, level, values, self.label(*self.node(parent))))
        return False

    # -- texts

    def _rows(self, level: int, code: int) -> int:
        assert self._look is not None
        return int(self._look.examined.preview.rows[level][code])

    def _below(self, level: int, code: int) -> int:
        assert self._look is not None
        return self._look.shape.child_count(level, code)

    def _text(self, level: int, code: int, column: int) -> str:
        if column == ROWS:
            return grouped(self._rows(level, code))
        if column == BELOW:
            return grouped(self._below(level, code)) if level else ""
        label = self.label(level, code)
        name = shown(label)
        if self._is_missing(level, code):
            words = self.tr("{name} · missing") if label else self.tr("missing (empty)")
            return words.format(name=name)
        return f"! {name}" if self._lacks(level, code) else name

    def _is_missing(self, level: int, code: int) -> bool:
        assert self._look is not None
        return level < self._look.height and bool(self._look.shape.missing[level][code])

    def _lacks(self, level: int, code: int) -> bool:
        assert self._look is not None
        return bool(self._look.shape.lacking[level][code])

    def _colour(self, level: int, code: int) -> QColor | None:
        if self._lacks(level, code):
            return self._caution
        if self._rows(level, code) == 0:
            return self._pale
        return None

    def _words(self, level: int, code: int) -> str:
        name = shown(self.label(level, code))
        rows = self._rows(level, code)
        if self._lacks(level, code):
            template = self.tr("{name}: in the data ({rows} rows), but without a place in the tree")
        elif self._is_missing(level, code):
            template = self.tr("{name}: a missing value, {rows} rows")
        elif rows == 0:
            template = self.tr("{name}: does not occur in the data")
        elif level == 0:
            template = self.tr("{name}: {rows} rows")
        else:
            template = self.tr("{name}: {rows} rows, level {level}, {below} values below")
        return template.format(
            name=name, rows=grouped(rows), level=level, below=grouped(self._below(level, code))
        )

    @Slot(object)
    def _on_theme(self, theme: Theme) -> None:
        tokens = theme.tokens
        self._caution, self._pale = QColor(tokens.caution), QColor(tokens.muted)
        self._bold: QFont = theme.font(bold=True)
