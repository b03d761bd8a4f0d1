"""Which categories to merge so that fewer cells have to be suppressed, and what that loses.

Tried are pairs of values of one group, at least one of which has an unsafe cell (neighbours only,
where values are in the order of numbers), dropping the innermost level of a hierarchy, and dropping
a dimension. Each is counted and judged again, and protected by the fast search. Detail is the
entropy of the innermost cells as shares of their sum; what is lost of it never falls as more is
merged. It uses the true cells: internal, and nothing is kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, pairwise

import numpy as np

from dpdesk.core.charts import Axis, BarChart, BarSeries, Cell, table_from
from dpdesk.core.errors import Cancelled, DpdeskError, RefusedError
from dpdesk.core.jobs import CancelToken, Report, StepStarted
from dpdesk.core.messages import joined, msg
from dpdesk.core.parameters import ParameterValue, Texts
from dpdesk.core.plain import quoted
from dpdesk.engine.method import CellsInput
from dpdesk.engine.methods.table.counting import Counted, count_tables
from dpdesk.engine.methods.table.deciding import bounds_of, cell_costs
from dpdesk.engine.methods.table.settings import HEURISTIC, PARAMETERS, SUPPRESS, Settings
from dpdesk.engine.querying import Comparison, Proposal, Redesign
from dpdesk.engine.tables.model import Dimension, Ints
from dpdesk.engine.tables.rules import Judgement
from dpdesk.engine.tables.suppression import suppress

MOST_PAIRS = 20
"""Pairs of one dimension that are tried, those with the most unsafe cells first."""
_MOST_BARS = 12
_NUMBER = re.compile(r"[-−]?\d+(?:[.,]\d+)?")


@dataclass(frozen=True)
class Measured:
    """A design of the table: its cells, those unsafe, those that the fast search adds (None: the
    table cannot be protected so), and the entropy of its innermost cells in bits.
    """

    cells: int
    unsafe: int
    further: int | None
    detail: float


def proposed(given: CellsInput, token: CancelToken, report: Report) -> Redesign:
    """What can be merged or dropped in the plan's table, and what comes of it, the best first.

    Raises RefusedError ``table.redesign`` for plans of several tables and of ready cells, what
    counting raises, Cancelled.
    """
    settings = Settings.from_parameters(given.parameters, given.where)
    if settings.cells is not None or given.parameters["tables"] is not None:
        raise RefusedError(
            "table.redesign",
            msg(
                "{where}: merges are proposed for a single table that is counted from rows, found "
                "several tables or cells as given.",
                where=given.where,
            ),
            hint="Make a plan of one of the tables.",
        )
    counted = count_tables(given, token)
    judged = counted.judged()
    before = _measured(counted, judged, token)
    asked = list(_proposals(given, counted, judged)) if before.unsafe else []
    found: list[tuple[Proposal, Measured]] = []
    for place, each in enumerate(asked, 1):
        token.check()
        report(StepStarted(each.words, place, len(asked)))
        try:
            other = count_tables(replace(given, parameters=_with(given, each.changes)), token)
            found.append((each, _measured(other, other.judged(), token)))
        except Cancelled:
            raise
        except DpdeskError:
            continue  # a label that is taken, or cells set by hand that are gone
    found.sort(key=lambda one: _rank(before, one[1]))
    comparison = _comparison(counted, given.source.rows, before, found)
    return Redesign(comparison, tuple(each for each, _ in found))


def _with(given: CellsInput, changes: Mapping[str, object]) -> dict[str, ParameterValue]:
    """The settings with some changed, as a plan would hold them."""
    by_key = {each.key: each for each in PARAMETERS}
    parsed = {
        key: None if value is None else by_key[key].parse(value, given.where)
        for key, value in changes.items()
    }
    return {**given.parameters, **parsed}


def _rank(before: Measured, after: Measured) -> tuple[bool, int, float]:
    return after.further is None, _hidden(after), before.detail - after.detail


def _measured(counted: Counted, judged: Judgement, token: CancelToken) -> Measured:
    asked = replace(counted.settings, protect=SUPPRESS, secondary=HEURISTIC)
    counted = replace(counted, settings=asked)
    system = counted.system
    (own,) = system.variables
    unsafe = judged.required.unsafe
    further: int | None = 0
    if unsafe.any():
        try:
            pattern = suppress(
                *(system, judged, bounds_of(counted), cell_costs(counted), token),
                how="heuristic",
                singletons=asked.singletons,
                filled=counted.filled(judged) if asked.present else None,
            )
            further = int((pattern.suppressed & ~unsafe)[own].sum())
        except RefusedError:
            further = None
    return Measured(len(own), int(unsafe[own].sum()), further, _detail(counted))


def _detail(counted: Counted) -> float:
    """Bits by which the innermost cells tell contributions apart."""
    (table,) = counted.system.tables
    cells = table.cells
    amounts = cells.values if cells.magnitude is None else cells.magnitude
    leaves = np.ix_(*(dimension.leaves for dimension in table.dimensions))
    sizes = np.abs(amounts.astype(np.float64)).reshape(table.shape)[leaves].ravel()
    shares = sizes[sizes > 0] / (sizes.sum() or 1.0)
    return float(-(shares * np.log2(shares)).sum()) + 0.0


# ---- what is tried


def _proposals(given: CellsInput, counted: Counted, judged: Judgement) -> Iterator[Proposal]:
    (table,), (own,) = counted.system.tables, counted.system.variables
    unsafe = judged.required.unsafe[own].reshape(table.shape)
    merge = counted.settings.merge
    for axis, dimension in enumerate(table.dimensions):
        others = tuple(i for i in range(len(table.shape)) if i != axis)
        found = unsafe.sum(axis=others)
        for pair in _pairs(dimension, found):
            group, words = _pair(dimension, pair)
            yield Proposal(words, {"merge": _merged(merge, dimension.name, group)})
        groups = dict(_innermost(dimension))
        if groups:
            words = msg("drop the innermost level of `{column}`", column=dimension.name)
            yield Proposal(words, {"merge": _merged(merge, dimension.name, groups)})
        if len(table.dimensions) > 1:
            yield _without(given, dimension.name, merge)


def _pairs(dimension: Dimension, unsafe: Ints) -> list[tuple[int, int]]:
    """Pairs of leaves to merge: of one group, with unsafe cells, not more than can be tried."""
    siblings: dict[int, list[int]] = {}
    for leaf in dimension.leaves.tolist():
        siblings.setdefault(int(dimension.parents[leaf]), []).append(leaf)
    found: list[tuple[int, int]] = []
    for leaves in siblings.values():
        near = ordered([dimension.labels[leaf] for leaf in leaves])
        found += pairwise(leaves) if near else combinations(leaves, 2)
    kept = [pair for pair in found if unsafe[list(pair)].any() and len(dimension.leaves) > 2]
    return sorted(kept, key=lambda pair: -int(unsafe[list(pair)].sum()))[:MOST_PAIRS]


def ordered(labels: Sequence[str]) -> bool:
    """Whether labels begin with numbers in ascending order, such as ages and their ranges."""
    found = [_NUMBER.match(label) for label in labels]
    numbers = [float(one[0].replace("−", "-").replace(",", ".")) for one in found if one]
    return len(numbers) == len(labels) and numbers == sorted(numbers)


def _pair(dimension: Dimension, pair: tuple[int, int]) -> tuple[dict[str, list[str]], str]:
    """The values of two leaves under their label, and the proposal in words.

    The label names all the values in it; that of their group, where nothing else is in it.
    """
    values = dimension.values(np.array(pair))
    parent = int(dimension.parents[pair[0]])
    whole = int((dimension.parents == parent).sum()) == len(pair)
    inside = whole and dimension.parents[parent] >= 0
    label = dimension.labels[parent] if inside else " + ".join(values)
    words = msg(
        "merge {one} and {other} of `{column}`",
        one=quoted(dimension.labels[pair[0]]),
        other=quoted(dimension.labels[pair[1]]),
        column=dimension.name,
    )
    return {label: values}, words


def _innermost(dimension: Dimension) -> Iterator[tuple[str, list[str]]]:
    """The lowest groups below the total, with the values in them."""
    leaves = {*dimension.leaves.tolist()}
    for node, label in enumerate(dimension.labels[:-1]):
        parts = np.flatnonzero(dimension.parents == node)
        if len(parts) and leaves.issuperset(parts.tolist()):
            yield label, dimension.values(parts)


def _merged(
    merge: Mapping[str, Mapping[str, tuple[str, ...]]],
    column: str,
    groups: Mapping[str, Sequence[str]],
) -> dict[str, object]:
    """The setting with further groups, in place of those whose values they take."""
    taken = {value for group in groups.values() for value in group}
    kept = {k: list(v) for k, v in merge.get(column, {}).items() if taken.isdisjoint(v)}
    others = {name: {k: list(v) for k, v in own.items()} for name, own in merge.items()}
    return {**others, column: {**kept, **{k: list(v) for k, v in groups.items()}}}


def _without(
    given: CellsInput, column: str, merge: Mapping[str, Mapping[str, tuple[str, ...]]]
) -> Proposal:
    """The table without one of its dimensions."""
    changes: dict[str, object] = {}
    for parameter in ("rows", "columns"):
        value = given.parameters[parameter]
        names = list(value.items) if isinstance(value, Texts) else []
        if column in names:
            changes[parameter] = [name for name in names if name != column]
    if column in merge:
        others = {n: {k: list(v) for k, v in own.items()} for n, own in merge.items()}
        others.pop(column)
        changes["merge"] = others or None
    return Proposal(msg("drop the dimension `{column}`", column=column), changes)


# ---- what is shown


def _comparison(
    counted: Counted, rows: int, before: Measured, found: Sequence[tuple[Proposal, Measured]]
) -> Comparison:
    (table,) = counted.system.tables
    sentence = msg(
        "{unsafe} of {cells} cells are unsafe by the rules. Detail is what the innermost cells "
        "distinguish, as entropy. The fast search is used. Anyone who knows that the data were "
        "looked at can conclude that merged values had unsafe cells.",
        unsafe=f"{before.unsafe:,}",
        cells=f"{before.cells:,}",
    )
    lines = [("Unchanged", before), *((each.words, after) for each, after in found)]
    rest: list[list[Cell]] = [
        [
            words,
            after.cells,
            after.unsafe,
            after.further,
            round(_lost(before, after), 4),
        ]
        for words, after in lines
    ]
    heads = ("Design", "Cells", "Unsafe cells", "Secondary suppressions", "Detail lost")
    drawn = lines[:_MOST_BARS]  # of the others the table tells
    chart = BarChart(
        id="redesign",
        question="What would be suppressed if categories were merged?",
        answer=_answer(before, found),
        category_axis=Axis("Design"),
        value_axis=Axis("Suppressed cells", whole=True, minimum=0),
        categories=tuple(words for words, _ in drawn),
        series=(BarSeries("Suppressed cells", tuple(float(_hidden(after)) for _, after in drawn)),),
        table=table_from(heads, rest),
        horizontal=True,
        short="Merges",
    )
    return Comparison(table.name, before.cells, rows, 0, sentence, (chart,), measure="cells")


def _hidden(measured: Measured) -> int:
    """Cells that are suppressed, unsafe ones or others."""
    return measured.unsafe + (measured.further or 0)


def _lost(before: Measured, after: Measured) -> float:
    return max(0.0, 1 - after.detail / before.detail) if before.detail else 0.0


def _answer(before: Measured, found: Sequence[tuple[Proposal, Measured]]) -> str:
    if not before.unsafe:
        return "No cell is unsafe, so nothing has to be merged."
    if not found or found[0][1].further is None:
        return "No merge was found by which the table can be protected."
    best, after = found[0]
    fewest = msg(
        "The fewest cells are suppressed with: {best}. Then {hidden} of {before} are left, and "
        "{lost} % of the detail is lost.",
        best=best.words,
        hidden=f"{_hidden(after):,}",
        before=f"{_hidden(before):,}",
        lost=f"{100 * _lost(before, after):.1f}",
    )
    gentle = _gentlest(before, found)
    if gentle is None or gentle[0] is best:
        return fewest
    other, then = gentle
    return joined(
        (
            fewest,
            msg(
                "Of what saves at least half of them, the least detail is lost with: {other}. Then "
                "{hidden} are left, and {lost} % of the detail is lost.",
                other=other.words,
                hidden=f"{_hidden(then):,}",
                lost=f"{100 * _lost(before, then):.1f}",
            ),
        )
    )


def _gentlest(
    before: Measured, found: Sequence[tuple[Proposal, Measured]]
) -> tuple[Proposal, Measured] | None:
    """What loses least of all that saves at least half of the suppressed cells."""
    saving = [
        one
        for one in found
        if one[1].further is not None and 2 * _hidden(one[1]) <= _hidden(before)
    ]
    return min(saving, key=lambda one: _lost(before, one[1]), default=None)
