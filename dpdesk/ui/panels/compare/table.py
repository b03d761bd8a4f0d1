"""The table of all candidates: what differs in their plans, what they promise, what they cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from PySide6.QtCore import QCoreApplication

from dpdesk.app.types import HierarchyChoice, Method, WorkState
from dpdesk.core.charts import Figure
from dpdesk.core.plan import HierarchyBuilder, HierarchyFile
from dpdesk.ui.panels.compare.presenter import (
    Entry,
    best_of,
    difference,
    figure_text,
    pinned,
    value_of,
)
from dpdesk.ui.words.numbers import grouped
from dpdesk.ui.words.settings import value_words
from dpdesk.ui.words.spoken import said

APART = 2
STAR = "★"
translate = QCoreApplication.translate


@dataclass(frozen=True)
class CompareCell:
    """What stands in a cell; ``mark`` is a shape with a word, ``grey`` when not comparable."""

    text: str
    mark: str = ""
    grey: bool = False
    number: bool = False
    tip: str = ""

    @property
    def words(self) -> str:
        """Text and mark as they are written."""
        return f"{self.mark} {self.text}" if self.mark else self.text


@dataclass(frozen=True)
class CompareRow:
    """A line of the table; a ``heading`` has no cells."""

    label: str
    cells: tuple[CompareCell, ...] = ()
    help: str = ""

    @property
    def heading(self) -> bool:
        """Whether this line only names the lines below."""
        return not self.cells


@dataclass(frozen=True)
class CompareTable:
    """Column headings (without the first) and lines."""

    columns: tuple[str, ...]
    rows: tuple[CompareRow, ...]


def compare_table(shown: Sequence[Entry], methods: Sequence[Method]) -> CompareTable:
    """Everything about all candidates: A, B, A − B (when both are pinned), then the others."""
    shown = sorted(shown, key=_pinned_first)
    columns = [entry.label for entry in shown]
    both = pinned(shown, "A") is not None and pinned(shown, "B") is not None
    if both:
        columns.insert(APART, translate("Compare", "A − B"))
    names = [
        CompareCell(one.candidate.name, grey=bool(one.reason), tip=one.candidate.name)
        for one in shown
    ]
    rows = [
        CompareRow(translate("Compare", "Name"), _with_gap(names, both=both)),
        CompareRow(translate("Compare", "Figures (★ best of all)")),
        *_figure_rows(shown, both=both),
        CompareRow(translate("Compare", "What differs in the plans")),
        *_plan_rows(shown, methods, both=both),
        CompareRow(translate("Compare", "Guarantee")),
        _guarantee_row(shown, both=both),
    ]
    return CompareTable(tuple(columns), tuple(rows))


def _figure_rows(shown: Sequence[Entry], *, both: bool) -> list[CompareRow]:
    first = pinned(shown, "A") or shown[0]
    rows = []
    for figure in first.candidate.figures:
        found = [value_of(entry, figure.key) for entry in shown]
        values = [
            one.value
            for one, entry in zip(found, shown, strict=True)
            if one is not None and not entry.reason and one.value == one.value
        ]
        best = best_of(values, figure.better)
        if both and len(values) == APART:
            best = None  # A − B says it already
        cells = []
        for one, entry in zip(found, shown, strict=True):
            mark = ""
            if one is not None and not entry.reason and one.value == best:
                mark = STAR
            text = "–" if one is None else figure_text(_unsaid(one))
            best_words = translate("Compare", "Best of all candidates that can be compared")
            tip = entry.reason or (best_words if mark else "")
            cells.append(CompareCell(text, mark, bool(entry.reason), True, tip))
        if both:
            cells.insert(APART, _difference_cell(shown, figure.key))
        rows.append(CompareRow(figure.label, tuple(cells), figure.help))
    return rows


def _unsaid(figure: Figure) -> Figure:
    """A figure without a unit that its label says already."""
    known = figure.unit.lower() in figure.label.lower().split()
    return replace(figure, unit="") if known else figure


def _difference_cell(shown: Sequence[Entry], key: str) -> CompareCell:
    a, b = pinned(shown, "A"), pinned(shown, "B")
    one = None if a is None else value_of(a, key)
    other = None if b is None else value_of(b, key)
    if one is None or other is None:
        return CompareCell("–", number=True)
    words = difference(one, other)
    tips = {
        "A": translate("Compare", "★ A: A is better here"),
        "B": translate("Compare", "★ B: B is better here"),
    }
    return CompareCell(words, number=True, tip=tips.get(words[-1], ""))


def _plan_rows(
    shown: Sequence[Entry], methods: Sequence[Method], *, both: bool
) -> list[CompareRow]:
    known = {method.id: method for method in methods}
    facts = [_plan_facts(entry, known) for entry in shown]
    labels = list(dict.fromkeys(label for each in facts for label in each))
    rows = []
    for label in labels:
        texts = [each.get(label, "–") for each in facts]
        if len(set(texts)) > 1:
            cells = [
                CompareCell(text, grey=bool(entry.reason), tip=entry.reason)
                for text, entry in zip(texts, shown, strict=True)
            ]
            rows.append(CompareRow(label, _with_gap(cells, both=both)))
    if not rows:
        text = translate("Compare", "nothing")
        rows.append(CompareRow(text, tuple(CompareCell("") for _ in range(len(shown) + both))))
    return rows


def _plan_facts(entry: Entry, methods: Mapping[str, Method]) -> dict[str, str]:
    """Whatever a plan and its result say, in words, by label."""
    work, method = entry.candidate.work, methods.get(entry.candidate.work.method)
    facts = {translate("Compare", "Method"): work.method if method is None else said(method.title)}
    for parameter in method.parameters if method is not None else ():
        value = work.parameters.get(parameter.key)
        given = parameter.as_plain(parameter.default_value()) if value is None else value
        if given is not None:
            facts[said(parameter.label)] = value_words(parameter, given)
    facts |= _column_facts(work)
    for key, value in entry.candidate.result.items():
        if isinstance(value, Mapping) and all(isinstance(one, int) for one in value.values()):
            level = translate("Compare", "Level of {name}") if key == "node" else f"{key}: {{name}}"
            facts |= {level.format(name=name): str(one) for name, one in value.items()}
    return facts


def _column_facts(work: WorkState) -> dict[str, str]:
    role, tree = translate("Compare", "Role of {name}"), translate("Compare", "Hierarchy of {name}")
    facts = {role.format(name=name): given.value for name, given in work.roles.items()}
    facts |= {tree.format(name=name): _words(one) for name, one in work.hierarchies.items()}
    return facts


def _words(choice: HierarchyChoice) -> str:
    if isinstance(choice, HierarchyFile):
        return choice.path
    if isinstance(choice, HierarchyBuilder):
        options = ", ".join(f"{key} {value}" for key, value in choice.options.items())
        return f"{choice.kind} {options}".strip()
    counts = " → ".join(grouped(len(level)) for level in choice.labels)
    return translate("Compare", "by hand: {counts} values").format(counts=counts)


def _guarantee_row(shown: Sequence[Entry], *, both: bool) -> CompareRow:
    cells = [
        CompareCell(
            entry.candidate.guarantee.claim,
            grey=bool(entry.reason),
            tip=entry.candidate.guarantee.claim,
        )
        for entry in shown
    ]
    label = translate("Compare", "Claim")
    return CompareRow(label, _with_gap(cells, both=both))


def _pinned_first(entry: Entry) -> tuple[bool, str]:
    return not entry.pin, entry.pin


def _with_gap(cells: list[CompareCell], *, both: bool) -> tuple[CompareCell, ...]:
    """Cells with an empty one where A − B stands, for what cannot be subtracted."""
    return (*cells[:APART], CompareCell(""), *cells[APART:]) if both else tuple(cells)
