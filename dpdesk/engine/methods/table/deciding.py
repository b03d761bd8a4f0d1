"""From counted cells to the tables of a release: what is suppressed or rounded, and its figures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from dpdesk.core.charts import Figure
from dpdesk.core.jobs import CancelToken, Note, Report, StepStarted
from dpdesk.core.messages import counted as counted_text
from dpdesk.core.messages import msg
from dpdesk.core.plain import grouped_decimal, quoted
from dpdesk.core.table_parameters import MEAN
from dpdesk.core.tabulation import (
    INTERVAL,
    IS_LEAST,
    MOVED_COLUMNS,
    PRIMARY,
    PUBLISHED,
    SECONDARY,
    SUPPRESSED,
    WIDTH,
    CellAxis,
    CellTable,
)
from dpdesk.engine.method import CellsInput, CellsOutcome
from dpdesk.engine.methods.table.counting import Counted, count_tables
from dpdesk.engine.methods.table.guarantee import Promise, table_guarantee
from dpdesk.engine.methods.table.ratios import in_plan_order, with_ratios
from dpdesk.engine.methods.table.settings import (
    ADJUST,
    CELL_KEY,
    CONTROLLED,
    FREQUENCY,
    NONE,
    RANDOM,
    SUPPRESS,
    VALUE,
    Settings,
)
from dpdesk.engine.tables.model import Bounds, Exact, Flags, Floats, Table, exact
from dpdesk.engine.tables.rules import Judgement

COUNT_CELLS, PROTECT = "Count the cells", "Protect the table"
_NEAR = 1e-6


@dataclass(frozen=True, eq=False)
class Protected:
    """What is published of each variable, and what an attacker can say of it at most.

    ``lower`` and ``upper`` are on the grid (inf: no bound); ``released`` what is published.
    ``internal`` are figures of the search.
    """

    hidden: Flags
    released: Exact
    lower: Floats
    upper: Floats
    internal: dict[str, object] = field(default_factory=dict)
    notes: tuple[Note, ...] = ()
    columns: tuple[Mapping[str, tuple[str, ...]], ...] = ()
    """Of each table, ``MOVED_COLUMNS``; empty where all intervals are exact."""


@dataclass(frozen=True, eq=False)
class Decision:
    """A protected system of tables."""

    counted: Counted
    judged: Judgement
    protected: Protected


def decide(given: CellsInput, token: CancelToken, report: Report) -> CellsOutcome:
    """See :meth:`CellsMethod.decide`."""
    return outcome_of(decision(given, token, report))


def decision(given: CellsInput, token: CancelToken, report: Report) -> Decision:
    """Count, judge and protect. Raises what :meth:`CellsMethod.decide` raises."""
    report(StepStarted(COUNT_CELLS, 1, 2))
    counted = count_tables(given, token)
    judged = counted.judged()
    report(StepStarted(PROTECT, 2, 2))
    return Decision(counted, judged, protect(counted, judged, token, report))


def made_again(
    given: CellsInput,
    recorded: Mapping[str, object],
    published: Mapping[str, CellTable],
    kept: Mapping[str, CellTable],
    token: CancelToken,
) -> CellsOutcome:
    """See :meth:`CellsMethod.made_again`."""
    counted = count_tables(given, token)
    settings, system = counted.settings, counted.system
    judged = counted.judged()
    hidden = np.zeros(len(system), dtype=bool)
    released = system.cells.values.copy()
    ends = np.full((2, len(system)), np.inf)
    for place, spec in enumerate(settings.tables):
        own, scale = system.variables[place], counted.scales[place]
        hidden[own] = [not text for text in published[spec.file].values]
        if settings.changes:
            texts = published[spec.file].values
            released[own] = exact([int(Fraction(text) * 10**scale) for text in texts])
        if settings.protect == SUPPRESS:
            inside = kept[spec.file].internal
            for end, key in zip(ends, ("lower", "upper"), strict=True):
                numbers = [float(text) * 10**scale if text else np.inf for text in inside[key]]
                end[own] = numbers
    searched = {key: recorded[key] for key in (BOUND, *TOLD, *WHOLE) if key in recorded}
    tables = [kept[spec.file].internal for spec in settings.tables]
    columns = tuple({key: one[key] for key in MOVED_COLUMNS} for one in tables if INTERVAL in one)
    if columns:
        least = np.zeros(len(system), dtype=bool)
        for own, one in zip(system.variables, columns, strict=True):
            least[own] |= np.array(one[INTERVAL]) == IS_LEAST
        if least.any():
            searched[AT_LEAST] = int(least.sum())
    protected = Protected(hidden, released, ends[0], ends[1], searched, columns=columns)
    return outcome_of(Decision(counted, judged, protected))


TOGETHER = "together"
"""What is known of sums that the tables have in common, where there are several."""
AT_LEAST = "at_least"
"""Of how many suppressed cells the intervals reach at least as far as is recorded; the others are
exact."""
BOUND = "bound"
"""The proven least cost: what of the figures only the search can tell."""
TOLD = "told_exactly_if_present", "told_closer_if_present"
"""How many unsafe cells are known exactly, and how many more closer than required, to readers who
conclude that no suppressed cell is empty. Programs for it are as long as those of the search."""

WHOLE = "told_exactly_as_whole", "told_closer_as_whole", "undecided_as_whole"
"""How many unsafe counts are known exactly, and how many more closely than required, to readers who
use that counts are whole numbers, and of how many that was not decided."""


def cost_of(counted: Counted, chosen: Flags) -> int | float:
    """What suppressing cells costs, in the plan's measure of cost."""
    return plain_amount(sum((cell_costs(counted)[chosen]).tolist(), Fraction(0)))


def cell_costs(counted: Counted) -> Exact:
    """The cost of each cell: set by hand, or as the plan says; values in units of the table."""
    cells, settings = counted.system.cells, counted.settings
    if settings.cost == VALUE:
        plain = list(map(Fraction, np.abs(cells.values), counted.units))
    elif settings.cost == FREQUENCY:
        plain = [Fraction(max(0, n)) for n in cells.frequency.tolist()]
    else:
        plain = [Fraction(1)] * len(cells)
    if cells.cost is not None:
        by_hand = cells.cost.tolist()
        plain = [p if c != c else Fraction(str(c)) for p, c in zip(plain, by_hand, strict=True)]
    return exact(plain)


def change_costs(counted: Counted) -> Exact:
    """What changing each cell by a grid unit costs: 1 for a unit of the table, or as set by hand.

    A cost of 0 counts as 1.
    """
    by_hand = counted.system.cells.cost
    plain = [1.0] * len(counted.units) if by_hand is None else by_hand.tolist()
    whole = [Fraction(str(cost)) if cost > 0 else Fraction(1) for cost in plain]
    return exact([cost / unit for cost, unit in zip(whole, counted.units.tolist(), strict=True)])


def protect(counted: Counted, judged: Judgement, token: CancelToken, report: Report) -> Protected:
    """Protect the cells as the plan asks, but for random draws."""
    cells, settings = counted.system.cells, counted.settings
    if settings.protect in (NONE, RANDOM, CELL_KEY):
        amounts = cells.values.astype(np.float64)
        nothing = np.zeros(len(cells), dtype=bool)
        return Protected(nothing, cells.values, amounts, amounts)
    from dpdesk.engine.methods.table import protecting

    works = {SUPPRESS: protecting.suppressed, ADJUST: protecting.changed}
    work = works.get(settings.protect, protecting.rounded)
    return work(counted, judged, token, report)


def outcome_of(decision: Decision) -> CellsOutcome:
    """The outcome of protected tables: files, figures, guarantee."""
    counted, protected = decision.counted, decision.protected
    settings, unsafe = counted.settings, decision.judged.required.unsafe
    sums = [_table(decision, place) for place in range(len(settings.tables))]
    tables = with_ratios(settings.ratios, sums, apart=settings.tell_apart)
    measures = in_plan_order(settings.ratios, [spec.measure.kind for spec in settings.tables])
    hidden = protected.hidden
    internal: dict[str, object] = {
        "primary": int(unsafe.sum()),
        "secondary": int((hidden & ~unsafe).sum()),
        **protected.internal,
    }
    if settings.protect == SUPPRESS and settings.secondary != NONE and counted.together:
        internal[TOGETHER] = counted.together
    if settings.protect == SUPPRESS:
        internal["cost"] = cost_of(counted, hidden & ~unsafe)
        bound = Fraction(str(internal.setdefault(BOUND, 0)))
        internal["proven_optimal"] = bound >= Fraction(str(internal["cost"]))
    if settings.changes:
        change = np.abs(protected.released - counted.system.cells.values)
        if settings.protect == ADJUST:
            internal["cost"] = plain_amount(sum(change * change_costs(counted), Fraction(0)))
            bound = Fraction(str(internal.setdefault(BOUND, 0)))
            internal["proven_optimal"] = bound >= Fraction(str(internal["cost"]))
        moved = sum(map(Fraction, change.tolist(), counted.units.tolist()), Fraction(0))
        internal["distance"] = plain_amount(moved)
        if settings.protect == CONTROLLED and BOUND in internal:
            bound = Fraction(str(internal[BOUND]))
            internal["proven_optimal"] = bound >= Fraction(str(internal["distance"]))
    result: dict[str, object] = {
        "cells": sum(len(table.values) for table in tables),
        "suppressed": sum(table.suppressed for table in tables),
        "tables": [
            {
                "name": table.name,
                "file": table.file,
                "dimensions": [axis.as_json() for axis in table.axes],
                "measure": measure,
                "cells": len(table.values),
                "suppressed": table.suppressed,
            }
            for table, measure in zip(tables, measures, strict=True)
        ],
    }
    return CellsOutcome(
        guarantee=table_guarantee(Promise.of(settings)),
        result=result,
        internal=internal,
        figures=_figures(settings, result, tables),
        notes=(*_notes(counted, printed(tables, PRIMARY), internal), *protected.notes),
        tables=tables,
        edit=counted.edit,
    )


def _notes(counted: Counted, unsafe: int, internal: Mapping[str, object]) -> list[Note]:
    """What the agency should know before it releases this."""
    settings, found = counted.settings, []
    if counted.left_out:
        found.append(
            Note(
                "table.left-out",
                counted_text(
                    "{n} row has no value or no weight and counts in no cell.",
                    "{n} rows have no value or no weight and count in no cell.",
                    n=counted.left_out,
                ),
            )
        )
    marked, known = counted.system.cells.status, counted.system.known
    empty = 0 if marked is None else int(((marked == "U") & known).sum())
    if empty:
        found.append(
            Note(
                "table.empty",
                counted_text(
                    "{n} cell is marked as unsafe, and no one contributes to it: it is published "
                    "as empty.",
                    "{n} cells are marked as unsafe, and no one contributes to them: they are "
                    "published as empty.",
                    n=empty,
                ),
            )
        )
    if settings.protect == NONE and unsafe:
        found.append(
            Note(
                "table.unprotected",
                counted_text(
                    "{n} cell is unsafe by the rules, and nothing protects it.",
                    "{n} cells are unsafe by the rules, and nothing protects them.",
                    n=unsafe,
                ),
            )
        )
    found += _unseen(counted)
    found += _told_if_present(internal)
    found += _told_as_whole(internal)
    found += _not_proven(settings, internal)
    found += _not_exact(internal)
    if settings.protect == SUPPRESS and settings.secondary == NONE and unsafe:
        sentence = "Only unsafe cells are suppressed: many can be computed back from totals."
        found.append(Note("table.no-secondary", sentence))
    return found


def _unseen(counted: Counted) -> Iterator[Note]:
    """Values by which contributors ask for protection or do without it, and no row has."""
    for setting, column, value in counted.unseen:
        said = msg(
            "`{setting}` names {value} of `{column}`, which no row of the data has.",
            setting=setting,
            value=quoted(value),
            column=column,
        )
        yield Note("table.no-such-value", said)


def _not_exact(internal: Mapping[str, object]) -> Iterator[Note]:
    """That intervals of suppressed cells may be wider than recorded."""
    if internal.get(AT_LEAST):
        said = counted_text(
            "The interval of {n:,} suppressed cell reaches at least as far as recorded: moves that "
            "keep all sums show it, and no program was solved for its ends.",
            "The intervals of {n:,} suppressed cells reach at least as far as recorded: moves that "
            "keep all sums show it, and no programs were solved for their ends.",
            n=int(str(internal[AT_LEAST])),
        )
        yield Note("table.at-least", said)


def _not_proven(settings: Settings, internal: Mapping[str, object]) -> Iterator[Note]:
    """That a search ended before it had proven the optimum."""
    if internal.get("proven_optimal") is not False:
        return
    cost, bound = (
        grouped_decimal(str(amount), rounded=True)
        for amount in (internal.get("cost", internal.get("distance")), internal[BOUND])
    )
    if settings.protect in (ADJUST, CONTROLLED):
        said = msg(
            "The changes of all cells come to {cost}; it is proven that less than {bound} is not "
            "enough, and nothing is known about what lies between the two.",
            cost=cost,
            bound=bound,
        )
    else:
        said = msg(
            "The secondary suppressions cost {cost}; it is proven that less than {bound} is not "
            "enough, and nothing is known about what lies between the two.",
            cost=cost,
            bound=bound,
        )
    yield Note("table.not-proven", said)


def _told_if_present(internal: Mapping[str, object]) -> Iterator[Note]:
    """What follows from empty cells that are published, where that is not protected."""
    exact, closer = (int(str(internal.get(key, 0))) for key in TOLD)
    if exact:
        yield Note(
            "table.told-exactly",
            counted_text(
                "{n} unsafe cell can be computed exactly by readers who conclude from the "
                "published empty cells that no suppressed one is empty. `present = true` in "
                "`attacker` protects it.",
                "{n} unsafe cells can be computed exactly by readers who conclude from the "
                "published empty cells that no suppressed one is empty. `present = true` in "
                "`attacker` protects them.",
                n=exact,
            ),
        )
    if closer:
        yield Note(
            "table.told-closer",
            counted_text(
                "{n} unsafe cell can be determined more closely than the rules allow by readers "
                "who conclude from the published empty cells that no suppressed one is empty. "
                "`present = true` in `attacker` protects it.",
                "{n} unsafe cells can be determined more closely than the rules allow by readers "
                "who conclude from the published empty cells that no suppressed one is empty. "
                "`present = true` in `attacker` protects them.",
                n=closer,
            ),
        )


def _told_as_whole(internal: Mapping[str, object]) -> Iterator[Note]:
    """What follows from counts being whole numbers."""
    told = sum(int(str(internal.get(key, 0))) for key in WHOLE[:2])
    if told:
        yield Note(
            "table.told-as-whole",
            counted_text(
                "{n} unsafe count can be determined more closely than the rules allow by readers "
                "who use that counts are whole numbers. A wider `range` of the rule can protect "
                "it.",
                "{n} unsafe counts can be determined more closely than the rules allow by readers "
                "who use that counts are whole numbers. A wider `range` of the rule can protect "
                "them.",
                n=told,
            ),
        )


def printed(tables: Sequence[CellTable], status: str) -> int:
    """How many printed cells have a status, as ``cells`` and ``suppressed`` count them.

    ``primary`` and ``secondary`` count a cell once that is printed in several places.
    """
    return sum(table.internal["status"].count(status) for table in tables)


def _figures(
    settings: Settings, result: dict[str, object], tables: Sequence[CellTable]
) -> tuple[Figure, ...]:
    figures = [
        Figure("cells", "Cells", float(str(result["cells"])), "count"),
        Figure("unsafe_cells", "Unsafe cells", float(printed(tables, PRIMARY)), "count"),
    ]
    if settings.protect == SUPPRESS:
        figures += [
            Figure(
                "suppressed_cells", "Suppressed cells", float(str(result["suppressed"])), "count"
            ),
            Figure(
                "secondary_cells",
                "Of which to protect others",
                float(printed(tables, SECONDARY)),
                "count",
            ),
        ]
    return tuple(figures)


def _table(decision: Decision, place: int) -> CellTable:
    """One table as its files hold it."""
    counted, protected, judged = decision.counted, decision.protected, decision.judged
    settings, system = counted.settings, counted.system
    spec, table, own = settings.tables[place], system.tables[place], system.variables[place]
    scale, unsafe = counted.scales[place], judged.required.unsafe[own]
    hidden = protected.hidden[own]
    divisors = _divisors(counted, place) if spec.measure.kind == MEAN else None
    released = number_texts(protected.released[own], scale, divisors)
    values = tuple("" if gone else text for gone, text in zip(hidden, released, strict=True))
    told = np.where(hidden, np.where(unsafe, PRIMARY, SECONDARY), PUBLISHED)
    public = told if settings.tell_apart else np.where(hidden, SUPPRESSED, PUBLISHED)
    inside = told if settings.protect == SUPPRESS else np.where(unsafe, PRIMARY, PUBLISHED)
    texts = number_texts(system.cells.values[own], scale, divisors)
    ends = [
        tuple(
            known if not (gone or settings.changes) else text if np.isfinite(end) else ""
            for known, gone, end, text in zip(
                texts,
                hidden,
                each[own],
                number_texts(_exact(each[own]), scale, divisors),
                strict=True,
            )
        )
        for each in (protected.lower, protected.upper)
    ]
    required = judged.required
    internal = {
        "value": tuple(texts),
        "status": tuple(inside.tolist()),
        "frequency": tuple(str(n) if n >= 0 else "" for n in system.cells.frequency[own].tolist()),
        "lower_required": tuple(number_texts(required.lower[own], scale, divisors)),
        "upper_required": tuple(number_texts(required.upper[own], scale, divisors)),
        "lower": ends[0],
        "upper": ends[1],
        **(protected.columns[place] if protected.columns else {}),
    }
    if required.sliding is not None and settings.protect == SUPPRESS:
        internal[WIDTH] = tuple(number_texts(required.sliding[own], scale, divisors))
    axes = _axes(table)
    return CellTable(spec.name, spec.file, axes, values, tuple(public.tolist()), internal)


def _exact(ends: Floats) -> Exact:
    """Floats as fractions; what is not finite as 0."""
    return exact([Fraction(end) if np.isfinite(end) else 0 for end in ends.tolist()])


def _axes(table: Table) -> tuple[CellAxis, ...]:
    return tuple(
        CellAxis(each.name, each.labels, tuple(each.parents.tolist())) for each in table.dimensions
    )


def _divisors(counted: Counted, place: int) -> list[Fraction]:
    """The sums of weights by which sums become means."""
    found = counted.weights[place]
    assert found is not None
    weights, scale = found
    return [Fraction(weight, 10**scale) for weight in weights.tolist()]


def number_texts(amounts: Exact, scale: int, divisors: list[Fraction] | None = None) -> list[str]:
    """Amounts of a grid as the shortest texts that read back as the same number."""
    if divisors is None:
        return [_number(amount, scale) for amount in amounts.tolist()]
    pairs = zip(amounts.tolist(), divisors, strict=True)
    return [_number(Fraction(amount) / by if by else 0, scale) for amount, by in pairs]


def _number(amount: int | Fraction, scale: int) -> str:
    value = Fraction(amount) / 10**scale
    return str(value.numerator) if value.denominator == 1 else repr(float(value))


def plain_amount(value: Fraction) -> int | float:
    """An exact amount as JSON writes it."""
    return int(value) if value.denominator == 1 else float(value)


def near(counted: Counted, released: Exact) -> Protected:
    """Values that were rounded to multiples of the base, or changed, and what they leave open."""
    hidden = np.zeros(len(released), dtype=bool)
    amounts, values = released.astype(np.float64), counted.system.cells.values
    moved = (released != values).astype(bool)
    reach = counted.settings.base or counted.settings.deviation
    most = (reach * counted.units).astype(np.float64)
    wide = np.where(counted.system.known & ~moved, 0.0, most)
    least = np.minimum(bounds_of(counted).lower, 0.0)  # 0: nothing of the measure is negative
    return Protected(hidden, released, np.maximum(amounts - wide, least), amounts + wide)


def bounds_of(counted: Counted) -> Bounds:
    """What everyone knows of each cell: that some value is negative tells of its measure alone."""
    settings, values = counted.settings, counted.system.cells.values
    upper = None if settings.upper is None else float(settings.upper)
    found = Bounds(*np.zeros((2, len(values))))
    for measure in {spec.measure.words for spec in settings.tables}:
        own = np.unique(
            np.concatenate(
                [
                    each
                    for each, spec in zip(counted.system.variables, settings.tables, strict=True)
                    if spec.measure.words == measure
                ]
            )
        )
        part = Bounds.of(values[own], float(settings.lower), upper)
        found.lower[own], found.upper[own] = part.lower, part.upper
    return found


def too_close(decision: Decision, lower: Floats, upper: Floats) -> Flags:
    """The unsafe cells of which an interval does not reach as far as required."""
    required, values = decision.judged.required, decision.counted.system.cells.values
    low = (values - required.lower).astype(np.float64)
    high = (values + required.upper).astype(np.float64)
    room = _NEAR * np.maximum(1.0, np.abs(values.astype(np.float64)))
    found: Flags = required.unsafe & ((lower > low + room) | (upper < high - room))
    if required.sliding is not None:
        found |= required.unsafe & (upper - lower < required.sliding.astype(np.float64) - room)
    return found
