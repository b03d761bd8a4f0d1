"""One node at one k, judged: risk before and after, loss, figures and charts.

The classes are counted here a second time, by other code than the search's, and the two counts must
agree before anything is said about a release.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.charts import Chart, Figure
from dpdesk.core.errors import RefusedError
from dpdesk.core.messages import msg
from dpdesk.engine.hierarchies.editing import Remake
from dpdesk.engine.methods.k_anonymity.charts import loss_chart, risk_chart, suppression_chart
from dpdesk.engine.methods.k_anonymity.grouping import CountedTable, GeneralisedTable, generalise
from dpdesk.engine.methods.k_anonymity.metrics import (
    AttributeUtility,
    GroupSuppression,
    LeafRows,
    NodeStatistics,
    RiskSummary,
    attribute_utilities,
    groups_hit,
    summarise_risk,
)


@dataclass(frozen=True)
class ReleasedFigures:
    """Mean ``loss`` and ``precision`` of a cell, 0 to 1, as a release may tell them.

    ``telling`` are the attributes whose released labels, or their level, are not those that the
    plan makes of the released rows alone: they follow from values of suppressed rows as well.
    """

    loss: Fraction
    precision: Fraction
    telling: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class _Counted:
    """Which leaves count, how many steps there are to the top, and whether the labels agree."""

    leaves: NDArray[np.bool_] = field(repr=False)
    height: int
    same: bool


def released_figures(
    classes: GeneralisedTable,
    statistics: NodeStatistics,
    before: LeafRows,
    after: LeafRows,
    remakes: Mapping[str, Remake],
) -> ReleasedFigures:
    """The figures of a node; ``before`` and ``after`` are rows per leaf, of all and of kept rows.

    ``remakes`` hold what makes the hierarchies that were made from values of the data.
    """
    losses, steps, telling = [], [], []
    for position, name in enumerate(classes.table.attributes):
        found = _counted(classes, position, before[position], after[position], remakes.get(name))
        if not found.same:
            telling.append(name)
        lost = _lost(classes, position, found, after[position])
        losses.append((lost + statistics.suppressed) / max(statistics.rows, 1))
        level = classes.levels[position]
        step = Fraction(min(level, found.height), found.height) if found.height else Fraction(0)
        moved = step * statistics.kept + statistics.suppressed
        steps.append(moved / max(statistics.rows, 1))
    loss = sum(losses, Fraction(0)) / len(losses)
    return ReleasedFigures(loss, 1 - sum(steps, Fraction(0)) / len(steps), tuple(telling))


def _counted(
    classes: GeneralisedTable,
    position: int,
    before: NDArray[np.float64],
    after: NDArray[np.float64],
    remake: Remake | None,
) -> _Counted:
    table = classes.table
    hierarchy, held = table.hierarchies[position], after > 0
    whole = np.ones(len(hierarchy.leaves), dtype=np.bool_)
    if remake is None:
        unseen = [code for code in table.added[position] if not held[code]]
        whole[unseen] = False
        return _Counted(whole, hierarchy.height, same=True)
    if not held.any() or (held == (before > 0)).all():
        return _Counted(whole, hierarchy.height, same=True)
    shown = [hierarchy.leaves[code] for code in np.flatnonzero(held).tolist()]
    missing = {hierarchy.leaves[code] for code in table.missing[position]}
    alone = remake(shown, [value for value in shown if value in missing])
    level = classes.levels[position]
    groups = hierarchy.ancestors(level)
    if alone is None:
        return _Counted(held, _first_whole(classes, position, held), same=False)
    alone = alone.with_untouched_leaves([value for value in shown if value in missing])
    whole = np.array([leaf in alone.leaf_codes for leaf in hierarchy.leaves], dtype=np.bool_)
    if level > alone.height:
        return _Counted(whole, alone.height, same=False)
    above = alone.ancestors(level)
    same = all(
        alone.labels[level][above[alone.leaf_codes[value]]]
        == hierarchy.labels[level][groups[hierarchy.leaf_codes[value]]]
        for value in shown
    )
    return _Counted(whole, alone.height, same)


def _first_whole(classes: GeneralisedTable, position: int, held: NDArray[np.bool_]) -> int:
    """The lowest level at which all leaves that are held are in one group."""
    hierarchy = classes.table.hierarchies[position]
    return next(
        level
        for level in range(hierarchy.height + 1)
        if len(np.unique(hierarchy.ancestors(level)[held])) == 1
    )


def _lost(
    classes: GeneralisedTable, position: int, found: _Counted, after: NDArray[np.float64]
) -> Fraction:
    """Sum over the kept cells of (leaves covered - 1)/(leaves - 1), counting ``found.leaves``."""
    above = classes.table.hierarchies[position].ancestors(classes.levels[position])
    covered = np.bincount(above, weights=found.leaves)[above].astype(np.int64)
    rows, whole = after.astype(np.int64), int(found.leaves.sum()) - 1
    return Fraction(int((rows * (covered - 1)).sum()), whole) if whole > 0 else Fraction(0)


_NONE_MADE: Mapping[str, Remake] = {}


class RowCounts(Protocol):
    """What was counted of a release."""

    @property
    def rows(self) -> int:
        """Rows of the source."""
        ...

    @property
    def kept(self) -> int:
        """Rows that stay."""
        ...

    @property
    def suppressed(self) -> int:
        """Rows that are left out."""
        ...

    @property
    def classes(self) -> int:
        """Kept classes."""
        ...

    @property
    def smallest(self) -> int:
        """Rows of the smallest kept class."""
        ...


class Judgement(ABC):
    """What is said of a release whose classes were counted, at one node or cell by cell."""

    statistics: RowCounts
    before: RiskSummary
    after: RiskSummary
    attributes: tuple[AttributeUtility, ...]
    groups: tuple[GroupSuppression, ...]

    @property
    @abstractmethod
    def metrics(self) -> Mapping[str, int | float | None]:
        """The measures of the release under the names of evidence files.

        Loss and precision are those that a release may tell.
        """

    @property
    def suppressed_share(self) -> float:
        """Suppressed share of the rows, 0 to 1."""
        return self.statistics.suppressed / self.statistics.rows if self.statistics.rows else 0.0

    @cached_property
    def public_metrics(self) -> Mapping[str, int | float | None]:
        """Those that no value of a suppressed row enters: a manifest may show them."""
        return {key: value for key, value in self.metrics.items() if key != "entropy"}

    @cached_property
    def loss(self) -> float:
        """Mean loss of a cell, 0 to 1."""
        return float(self.metrics["loss"] or 0.0)

    def charts(self) -> tuple[Chart, ...]:
        """Risk, loss, and (when rows are suppressed) whom suppression hits."""
        charts: list[Chart] = [
            risk_chart(self.before, self.after),
            loss_chart(self.attributes, self.loss, self.suppressed_share),
        ]
        hit = suppression_chart(self.groups, self.suppressed_share)
        return (*charts, hit) if hit is not None else tuple(charts)

    def figures(self) -> tuple[Figure, ...]:
        """Headline numbers of the release."""
        return (
            *self._row_figures(),
            *self._class_figures(),
            *self._risk_figures(),
            *self._loss_figures(),
        )

    def _row_figures(self) -> tuple[Figure, ...]:
        known = self.statistics
        return (
            Figure("rows_kept", "Rows kept", known.kept, "count", "rows", "higher", headline=True),
            Figure(
                "rows_suppressed", "Rows suppressed", known.suppressed, "count", "rows", "lower"
            ),
            Figure(
                "suppressed_share",
                "Share suppressed",
                self.suppressed_share,
                "share",
                better="lower",
                headline=True,
            ),
        )

    def _class_figures(self) -> tuple[Figure, ...]:
        known = self.statistics
        return (
            Figure(
                "classes",
                "Classes",
                known.classes,
                "count",
                better="higher",
                help="Different combinations of quasi-identifiers in the release.",
            ),
            Figure(
                "smallest_class",
                "Smallest class",
                known.smallest,
                "count",
                "rows",
                "higher",
                headline=True,
            ),
            Figure(
                "smallest_class_before",
                "Smallest class, original",
                self.before.smallest,
                "count",
                "rows",
                help="Rows of the smallest class before anything is generalised.",
            ),
        )

    def _risk_figures(self) -> tuple[Figure, ...]:
        return (
            Figure(
                "highest_risk",
                "Highest risk",
                self.after.highest,
                "share",
                better="lower",
                about="risk",
                help="Chance that a match is right for the rows of the smallest class, for "
                "someone who knows only the quasi-identifiers.",
            ),
            Figure(
                "average_risk",
                "Average risk",
                self.after.average,
                "share",
                better="lower",
                about="risk",
                headline=True,
                help="Mean over the released rows of 1 / class size.",
            ),
        )

    def _loss_figures(self) -> tuple[Figure, ...]:
        known = {key: _number(value) for key, value in self.metrics.items()}
        return (
            Figure(
                "loss",
                "Loss",
                known["loss"],
                "share",
                better="lower",
                headline=True,
                about="loss",
                help="Detail lost, mean over all cells; suppressed cells count fully.",
            ),
            Figure(
                "precision",
                "Precision",
                known["precision"],
                "share",
                better="higher",
                help="1 minus the mean of level / height over all cells.",
            ),
            Figure(
                "discernibility", "Discernibility", known["discernibility"], "count", "", "lower"
            ),
            Figure(
                "average_class_size",
                "Average class size",
                known["average_class_size"],
                "number",
                "× k",
                "lower",
            ),
            Figure("entropy", "Entropy loss", known["entropy"], "number", "bits", "lower"),
        )

    def risk_json(self, quasi_identifiers: Sequence[str]) -> dict[str, object]:
        """Risk for the evidence file."""
        return {
            "attacker": "prosecutor: knows the quasi-identifiers and that the person is in",
            "quasi_identifiers": list(quasi_identifiers),
            "before": self.before.as_json(),
            "after": self.after.as_json(),
        }

    def utility_json(self) -> dict[str, object]:
        """Loss for the evidence file."""
        return {
            **self.metrics,
            "suppressed_share": self.suppressed_share,
            "attributes": [each.as_json() for each in self.attributes],
            "suppression_by_group": [each.as_json() for each in self.groups],
        }


@dataclass(frozen=True, eq=False)
class Assessment(Judgement):
    """What a release at one node would be; ``statistics`` are the search's numbers for it."""

    statistics: NodeStatistics
    classes: GeneralisedTable = field(repr=False)
    before: RiskSummary
    after: RiskSummary
    attributes: tuple[AttributeUtility, ...]
    groups: tuple[GroupSuppression, ...]
    released: ReleasedFigures

    @cached_property
    def metrics(self) -> Mapping[str, int | float | None]:
        """See :attr:`Judgement.metrics`."""
        told = {"loss": float(self.released.loss), "precision": float(self.released.precision)}
        return self.statistics.metrics() | told


def assess(
    counted: CountedTable,
    statistics: NodeStatistics,
    remakes: Mapping[str, Remake] = _NONE_MADE,
) -> Assessment:
    """Judge the node of ``statistics`` on a table.

    ``remakes`` hold what makes the hierarchies that were made from values of the data.

    Raises RefusedError ``k-anonymity.self-check`` when the independent count of the classes
    disagrees with ``statistics``: then one of the two is wrong, and nothing may be released.
    """
    k, table = statistics.k, counted.table
    classes = generalise(counted, statistics.levels)
    kept = classes.kept_sizes(k)
    kept = kept[kept > 0]
    found = (
        statistics.rows - int(kept.sum()),
        len(kept),
        int(kept.min()) if len(kept) else 0,
        int((kept * kept).sum()),
    )
    if found != _numbers(statistics) or table.rows != statistics.rows:
        raise _disagreement(_numbers(statistics), found)
    before, after = counted.leaf_rows, counted.leaf_rows_of(classes.kept_rows(k))
    return Assessment(
        statistics=statistics,
        classes=classes,
        before=summarise_risk(table.counts, k),
        after=summarise_risk(kept, k),
        attributes=attribute_utilities(classes, before, after),
        groups=groups_hit(table, before, after),
        released=released_figures(classes, statistics, before, after, remakes),
    )


def disagreement(said: NodeStatistics, found: NodeStatistics | None) -> RefusedError:
    """The refusal where a search chose one node and a count of all nodes has a better one."""
    return _disagreement(_numbers(said), () if found is None else _numbers(found))


def _numbers(statistics: NodeStatistics) -> tuple[int, ...]:
    return (
        statistics.suppressed,
        statistics.classes,
        statistics.smallest,
        statistics.sum_of_squares,
    )


def _disagreement(said: tuple[int, ...], found: tuple[int, ...]) -> RefusedError:
    return RefusedError(
        "k-anonymity.self-check",
        msg(
            "The search says {said} (suppressed rows, classes, smallest class, sum of "
            "squares), an independent count gives {found}; the release was stopped.",
            said=said,
            found=found,
        ),
        hint="Please report this: it is an error in the program.",
    )


def _number(value: int | float | None) -> float:
    return float("nan") if value is None else value
