"""Whether a column can be divided into groups of l different values, and what to do if not.

Source: l-diverted paper, section 4: no value may have more than N/ℓ′ rows. Removing the N mod ℓ′
rows that are left over never makes an eligible column ineligible: f ≤ N/ℓ′ implies f ≤ ⌊N/ℓ′⌋.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from dpdesk.core.charts import Axis, BarChart, BarSeries, SeriesStyle, table_from
from dpdesk.core.errors import RefusedError
from dpdesk.core.messages import counted, joined, listed, msg
from dpdesk.core.plain import EMPTY, quoted
from dpdesk.core.schema import ValueCount

_MOST_NAMED = 3


@dataclass(frozen=True)
class Eligibility:
    """One column checked against l; ``counts`` are its values with their rows, missing ones too.

    ``level`` is that of its hierarchy at which the values stand, 0 for the raw ones.
    """

    attribute: str
    l: int  # noqa: E741 - as in plans
    counts: tuple[ValueCount, ...] = field(repr=False)
    level: int = 0

    @cached_property
    def rows(self) -> int:
        """Rows in all, before any are removed."""
        return sum(item.rows for item in self.counts)

    @property
    def allowed(self) -> int:
        """The most rows that one value may have: as many as there are groups."""
        return self.rows // self.l

    @cached_property
    def too_frequent(self) -> tuple[ValueCount, ...]:
        """Values with more rows than that, the most frequent first."""
        over = [item for item in self.counts if item.rows > self.allowed]
        return tuple(sorted(over, key=lambda item: (-item.rows, item.value)))

    @property
    def eligible(self) -> bool:
        """Whether there are groups at all and no value is too frequent."""
        return self.allowed > 0 and not self.too_frequent

    @cached_property
    def largest_l(self) -> int:
        """The largest l that works: the rows over those of the most frequent value; 0 if none."""
        most = max((item.rows for item in self.counts), default=0)
        return self.rows // most if most else 0

    @cached_property
    def rows_to_remove(self) -> Mapping[str, int]:
        """The fewest rows, by value, whose removal would make the column eligible; empty if none.

        With R groups at most R rows of a value count; so R is the largest number with
        Σ min(f, R) ≥ R·ℓ′.
        """
        groups = self._most_groups()
        if self.eligible or groups == 0:
            return {}
        return {item.value: item.rows - groups for item in self.counts if item.rows > groups}

    def _most_groups(self) -> int:
        if len(self.counts) < self.l:
            return 0
        low, high = 0, self.rows // self.l
        while low < high:  # Σ min(f, R) − R·ℓ′ is concave in R and 0 at 0
            middle = (low + high + 1) // 2
            if sum(min(item.rows, middle) for item in self.counts) >= middle * self.l:
                low = middle
            else:
                high = middle - 1
        return low

    @property
    def sentence(self) -> str:
        """What is wrong, in one sentence."""
        if self.allowed == 0:
            return counted(
                "`{attribute}` has {n:,} row in all, fewer than the {l:,} that one group needs.",
                "`{attribute}` has {n:,} rows in all, fewer than the {l:,} that one group needs.",
                n=self.rows,
                attribute=self.attribute,
                l=self.l,
            )
        named = [
            msg("{value} has {rows:,}", value=quoted(item.value), rows=item.rows)
            for item in self.too_frequent
        ]
        return msg(
            "`{attribute}` cannot be divided into groups of {l:,} different values: "
            "{shown} of {rows:,} rows, and at most {allowed:,} may share a value.",
            attribute=self.attribute,
            l=self.l,
            shown=listed(named, _MOST_NAMED),
            rows=self.rows,
            allowed=self.allowed,
        )

    @property
    def hint(self) -> str:
        """What can be done, in words."""
        ways = []
        if self.largest_l >= 2:
            ways.append(msg("set l to {n:,} or less", n=self.largest_l))
        if removed := self.rows_to_remove:
            which = ", ".join(quoted(value) for value in list(removed)[:_MOST_NAMED])
            ways.append(
                counted(
                    "leave out {n:,} row with {which} yourself, which the guarantee does not cover",
                    "leave out {n:,} rows with {which} yourself, which the guarantee does not "
                    "cover",
                    n=sum(removed.values()),
                    which=which,
                )
            )
        if self.level:
            ways.append(
                msg("release it at a level below {level} of its hierarchy", level=self.level)
            )
        if not ways:
            return msg(
                "The column has {n:,} different values: too few for any l.", n=len(self.counts)
            )
        return msg(
            "What helps: {ways}; merging values does not, it makes them more frequent.",
            ways=joined(ways, " or "),
        )


def refuse(found: Sequence[Eligibility], where: str) -> None:
    """Raise RefusedError ``diverted.not-eligible`` for the first column that is not eligible.

    Its details give the remedies as data: ``values`` {value: rows}, ``allowed``, ``largest_l``,
    ``rows_to_remove`` {value: rows}.
    """
    for each in found:
        if not each.eligible:
            raise RefusedError(
                "diverted.not-eligible",
                msg("{file}: {note}", file=where, note=each.sentence),
                hint=each.hint,
                details={
                    "key": "l",
                    "attribute": each.attribute,
                    "values": {item.value: item.rows for item in each.too_frequent},
                    "allowed": each.allowed,
                    "largest_l": each.largest_l,
                    "rows_to_remove": dict(each.rows_to_remove),
                },
            )


def largest_common_l(found: Sequence[Eligibility]) -> int:
    """The largest l that works for all columns; below 2 when none does."""
    return min((each.largest_l for each in found), default=0)


# Which values of a column are too frequent for groups of different values, as a picture.


_MOST_BARS = 12


def frequency_chart(found: Eligibility) -> BarChart:
    """The most frequent values of a column beside the most rows that a value may have."""
    shown = found.counts[:_MOST_BARS]
    allowed = float(found.allowed)
    over = frozenset(place for place, item in enumerate(shown) if item.rows > found.allowed)
    return BarChart(
        id=f"frequency-{found.attribute}",
        question=msg("Is any value of {column} too frequent to be hidden?", column=found.attribute),
        answer=_answer(found),
        category_axis=Axis("Value", bare=True),
        value_axis=Axis("Rows", minimum=0, whole=True),
        categories=tuple(item.value or EMPTY for item in shown),
        series=(
            BarSeries("Rows", tuple(float(item.rows) for item in shown)),
            BarSeries(
                "Allowed", (allowed,) * len(shown), SeriesStyle.REFERENCE, outline=True, bound=True
            ),
        ),
        table=table_from(
            ("Value", "Rows", "Allowed (rows)"),
            [(item.value or EMPTY, item.rows, found.allowed) for item in found.counts[:500]],
        ),
        horizontal=True,
        hatched=over,
        short=msg("Frequencies of {column}", column=found.attribute),
    )


def _answer(found: Eligibility) -> str:
    most = found.counts[0] if found.counts else None
    if most is None:
        return "There are no rows."
    name = quoted(most.value)
    limit = msg(
        "at most {allowed:,} may have the same value in groups of {l:,}",
        allowed=found.allowed,
        l=found.l,
    )
    if most.rows > found.allowed:
        return msg(
            "Yes: {name} has {rows:,} rows, and {limit}.", name=name, rows=most.rows, limit=limit
        )
    return msg(
        "No: the most frequent, {name}, has {rows:,} rows, and {limit}.",
        name=name,
        rows=most.rows,
        limit=limit,
    )
