"""What the agency is told of single cells of a table that it is about to release."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from dpdesk.core.jobs import CancelToken
from dpdesk.core.messages import counted as counted_text
from dpdesk.core.messages import joined, listed, msg
from dpdesk.core.plain import grouped_decimal, quoted
from dpdesk.core.table_parameters import MEAN
from dpdesk.core.tabulation import INTERVAL, IS_LEAST, CellStory, CellTable, Crosstab, cell_words
from dpdesk.engine.methods.table.counting import rules_of
from dpdesk.engine.methods.table.deciding import (
    Decision,
    bounds_of,
    cell_costs,
    number_texts,
    plain_amount,
    too_close,
)
from dpdesk.engine.methods.table.ratio_settings import RatioSpec
from dpdesk.engine.methods.table.settings import SUPPRESS
from dpdesk.engine.tables.audit import audit
from dpdesk.engine.tables.model import exact
from dpdesk.engine.tables.rules import Rule

MOST_AUDITED = 600
"""Suppressed cells up to which is computed what publishing one of them would give away."""
_NAMED = 3


@dataclass(frozen=True, eq=False)
class Look:
    """A :class:`~dpdesk.core.tabulation.TableLook` of a decision."""

    decision: Decision
    number: int
    table: CellTable

    @cached_property
    def layout(self) -> Crosstab:
        """See :class:`~dpdesk.core.tabulation.TableLook`."""
        head = self.decision.counted.settings.tables[self.number].head
        return Crosstab.of(self.table.axes, head)

    def story(self, cell: int, token: CancelToken) -> CellStory:
        """See :class:`~dpdesk.core.tabulation.TableLook`."""
        system = self.decision.counted.system
        variable = int(system.variables[self.number][cell])
        told = _Teller(self.decision, self.number, cell, variable)
        place = cell_words(system.tables[self.number].place(cell))
        return CellStory(place, tuple(told.sentences(self.table, token)))


@dataclass(frozen=True, eq=False)
class RatioLook:
    """A look at a table of ratios, between those at the tables that it divides."""

    ratio: RatioSpec
    above: Look
    below: Look
    table: CellTable

    @cached_property
    def layout(self) -> Crosstab:
        """See :class:`~dpdesk.core.tabulation.TableLook`."""
        return Crosstab.of(self.table.axes, self.ratio.head)

    def story(self, cell: int, token: CancelToken) -> CellStory:
        """See :class:`~dpdesk.core.tabulation.TableLook`; its sums have stories of their own."""
        parts = {quoted(look.table.name): look.table for look in (self.above, self.below)}
        place = self.above.story(cell, token).place
        told = [msg("The value is {value}.", value=_figure(self.table.internal["value"][cell]))]
        gone = [name for name, table in parts.items() if not table.values[cell]]
        ends = self.table.internal["lower"][cell], self.table.internal["upper"][cell]
        if self.table.values[cell]:
            said = msg(
                "Published, as in {tables}: everyone who has both can compute it.",
                tables=listed(list(parts)),
            )
            return CellStory(place, (*told, said))
        told.append(
            msg(
                "Suppressed, because the cell is suppressed in {tables}: next to the other table, "
                "the ratio would give it.",
                tables=listed(gone),
            )
        )
        told.append(_told(*ends, least=_is_least(self.table, cell)))
        return CellStory(place, tuple(told))


def looks(decision: Decision, tables: Sequence[CellTable]) -> tuple[Look | RatioLook, ...]:
    """A look at each table of a decision, in the order of the plan."""
    ratios = {ratio.place: ratio for ratio in decision.counted.settings.ratios}
    sums = [table for place, table in enumerate(tables) if place not in ratios]
    own = [Look(decision, number, table) for number, table in enumerate(sums)]
    waiting = iter(own)
    return tuple(
        RatioLook(ratios[place], own[ratios[place].above], own[ratios[place].below], table)
        if place in ratios
        else next(waiting)
        for place, table in enumerate(tables)
    )


@dataclass(frozen=True, eq=False)
class _Teller:
    decision: Decision
    number: int
    cell: int
    variable: int

    def sentences(self, table: CellTable, token: CancelToken) -> Iterator[str]:
        """All that is told of the cell."""
        inside, cell = table.internal, self.cell
        value, frequency = inside["value"][cell], inside["frequency"][cell]
        if frequency:
            yield counted_text(
                "The value is {value}, from {n:,} contributor.",
                "The value is {value}, from {n:,} contributors.",
                n=int(frequency),
                value=_figure(value),
            )
        else:
            yield msg("The value is {value}.", value=_figure(value))
        if self.decision.counted.system.known[self.variable]:
            yield "No one contributes to it: everyone knows that it is 0."
            return
        unsafe = bool(self.decision.judged.required.unsafe[self.variable])
        yield from self._rules()
        if unsafe:
            yield self._wanted()
            yield from self._width()
        settings = self.decision.counted.settings
        if settings.protect != SUPPRESS:
            if settings.changes:
                yield msg("It is published as {value}.", value=_figure(table.values[cell]))
            return
        if self.decision.protected.hidden[self.variable]:
            yield _told(inside["lower"][cell], inside["upper"][cell], least=_is_least(table, cell))
            yield from self._learned(unsafe=unsafe)
        yield from self._costs(unsafe, token)

    def _texts(self, *amounts: Fraction | int) -> list[str]:
        """Amounts of the grid as they stand in the table; of means as sums."""
        scale = self.decision.counted.scales[self.number]
        return [_figure(each) for each in number_texts(exact(amounts), scale)]

    def _rules(self) -> Iterator[str]:
        judged, counted = self.decision.judged, self.decision.counted
        if judged.by_hand[self.variable]:
            yield "Unsafe: its status says so, or a contributor asked for it."
        if judged.published[self.variable]:
            yield "Its status says that it must be published."
        for rule, found in zip(rules_of(counted.settings), judged.by_rule, strict=True):
            if found[self.variable]:
                yield self._rule(rule)

    def _rule(self, rule: Rule) -> str:
        cells = self.decision.counted.system.cells
        if rule.kind == "full":
            return (
                "Unsafe: all contributors of a group are in one cell, so that the cells next to it "
                "are known to be empty."
            )
        if rule.kind == "request":
            return msg(
                "Unsafe: a contributor who asked for protection gave more than {share} % of it.",
                share=plain_amount(rule.share),
            )
        if rule.kind == "threshold":
            return counted_text(
                "Unsafe: {n} contributor, and the rule requires {least}.",
                "Unsafe: {n} contributors, and the rule requires {least}.",
                n=int(cells.frequency[self.variable]),
                least=rule.largest,
            )
        size = (cells.values if cells.magnitude is None else cells.magnitude)[self.variable]
        top = [] if cells.top is None else [abs(each) for each in cells.top[self.variable].tolist()]
        share = plain_amount(rule.share)
        if rule.kind == "dominance":
            part = Fraction(sum(top[: rule.largest])) / size * 100 if size else Fraction(0)
            amounts = {"part": f"{float(part):.1f}", "share": str(share)}
            if size != abs(cells.values[self.variable]):
                return counted_text(
                    "Unsafe: the largest contributor accounts for {part} % of all contributions, "
                    "whatever their sign, more than {share} %.",
                    "Unsafe: the {n} largest contributors account for {part} % of all "
                    "contributions, whatever their sign, more than {share} %.",
                    n=rule.largest,
                    **amounts,
                )
            return counted_text(
                "Unsafe: the largest contributor accounts for {part} % of the value, "
                "more than {share} %.",
                "Unsafe: the {n} largest contributors account for {part} % of the value, more "
                "than {share} %.",
                n=rule.largest,
                **amounts,
            )
        first, second = (*top, 0, 0)[:2]
        largest, rest = self._texts(first, size - first - second)
        if first == size:
            return msg(
                "Unsafe: it is a single contribution, {largest}, and the rule requires {share} % "
                "of it.",
                largest=largest,
                share=str(share),
            )
        return msg(
            "Unsafe: the second largest contributor can estimate the largest contribution, "
            "{largest}, to within {rest}, and the rule requires {share} % of it.",
            largest=largest,
            rest=rest,
            share=str(share),
        )

    def _wanted(self) -> str:
        """What must seem possible; of a mean, of the sum behind it."""
        required, value = self.decision.judged.required, self._value
        low, high = self._texts(
            value - required.lower[self.variable], value + required.upper[self.variable]
        )
        if self.decision.counted.settings.tables[self.number].measure.kind == MEAN:
            return msg("Its sum must seem possible as {low} and as {high}.", low=low, high=high)
        return msg("It must seem possible that it is {low}, or {high}.", low=low, high=high)

    def _width(self) -> Iterator[str]:
        """How wide its interval must be; of a mean, that of the sum behind it."""
        asked = self.decision.judged.required.sliding
        if asked is not None and asked[self.variable] > 0:
            wide = self._texts(asked[self.variable])[0]
            yield msg(
                "What it could be must span at least {width}, wherever that lies.", width=wide
            )

    @property
    def _value(self) -> Fraction:
        return Fraction(self.decision.counted.system.cells.values[self.variable])

    def _learned(self, *, unsafe: bool) -> Iterator[str]:
        """Whether what readers can tell of a suppressed cell is little enough."""
        if unsafe:
            protected = self.decision.protected
            wide = not too_close(self.decision, protected.lower, protected.upper)[self.variable]
            yield "✓ That is as far as required." if wide else "✕ That is closer than required."
        alone = int(self.decision.counted.system.cells.frequency[self.variable]) == 1
        if alone and self.decision.counted.settings.singletons:
            yield (
                "Its only contributor knows it, and was taken into account as an attacker of "
                "other unsafe cells."
            )

    def _costs(self, unsafe: bool, token: CancelToken) -> Iterator[str]:
        """What suppressing it costs, and what publishing it would give away."""
        decision, hidden = self.decision, self.decision.protected.hidden
        amount = Fraction(cell_costs(decision.counted)[self.variable])
        cost = _figure(str(plain_amount(amount)))
        if not hidden[self.variable]:
            yield msg("Published. Suppressing it would cost {cost}.", cost=cost)
            return
        if unsafe:
            yield (
                "If it were published, everyone would know its value: only other rules would "
                "allow that."
            )
            return
        yield msg("Suppressed to protect others, at a cost of {cost}.", cost=cost)
        if int(hidden.sum()) > MOST_AUDITED:
            yield "The table is too large to compute right away what publishing it would reveal."
            return
        system = decision.counted.system
        without = hidden.copy()
        without[self.variable] = False
        found = audit(system, without, bounds_of(decision.counted), token)
        exposed = np.flatnonzero(
            too_close(decision, found.lower, found.upper)
            & ~too_close(decision, decision.protected.lower, decision.protected.upper)
        )
        if not len(exposed):
            yield (
                "If it were published, readers would come no closer to an unsafe cell than "
                "allowed; it protects against contributors, or cells elsewhere."
            )
            return
        names = [
            joined(("`", cell_words(system.cell_of(int(each))[1]), "`"), "") for each in exposed
        ]
        yield counted_text(
            "If it were published, readers would come too close to {n} unsafe cell: {cells}.",
            "If it were published, readers would come too close to {n} unsafe cells: {cells}.",
            n=len(names),
            cells=listed(names, _NAMED),
        )


def _is_least(table: CellTable, cell: int) -> bool:
    """Whether the interval of a cell is at least as wide as recorded, and perhaps wider."""
    kinds = table.internal.get(INTERVAL)
    return kinds is not None and kinds[cell] == IS_LEAST


def _told(lower: str, upper: str, *, least: bool) -> str:
    """What readers can tell of a suppressed cell; with ``least`` it may be less."""
    ends = {"lower": _figure(lower) if lower else "", "upper": _figure(upper) if upper else ""}
    if least and lower and upper:
        return msg(
            "Suppressed: to readers everything between {lower} and {upper} seems possible, and "
            "perhaps more: in a table as large as this the ends were not computed.",
            **ends,
        )
    if least and lower:
        return msg(
            "Suppressed: to readers everything from {lower} upwards seems possible, and perhaps "
            "more: in a table as large as this the ends were not computed.",
            lower=ends["lower"],
        )
    if lower and upper:
        return msg("Suppressed: readers can tell that it is between {lower} and {upper}.", **ends)
    if lower:
        return msg("Suppressed: readers can tell that it is at least {lower}.", lower=ends["lower"])
    if upper:
        return msg("Suppressed: readers can tell that it is at most {upper}.", upper=ends["upper"])
    return "Suppressed: readers can determine neither a lower nor an upper bound."


def _figure(number: str) -> str:
    return grouped_decimal(number, rounded=True)
