"""One node at one k, judged: risk before and after, loss, figures and charts.

The classes are counted here a second time, by other code than the search's, and the two counts must
agree before anything is said about a release.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from dpdesk.core.charts import Chart, Figure
from dpdesk.core.errors import RefusedError
from dpdesk.engine.anonymity.charts import loss_chart, risk_chart, suppression_chart
from dpdesk.engine.anonymity.grouping import GeneralisedTable, generalise
from dpdesk.engine.anonymity.metrics import NodeStatistics
from dpdesk.engine.anonymity.risk import RiskSummary, summarise_risk
from dpdesk.engine.anonymity.utility import (
    AttributeUtility,
    GroupSuppression,
    attribute_utilities,
    suppression_by_group,
)
from dpdesk.engine.hierarchies.alignment import AlignedTable


@dataclass(frozen=True, eq=False)
class Assessment:
    """What a release at one node would be; ``statistics`` are the search's numbers for it."""

    statistics: NodeStatistics
    classes: GeneralisedTable = field(repr=False)
    before: RiskSummary
    after: RiskSummary
    attributes: tuple[AttributeUtility, ...]
    groups: tuple[GroupSuppression, ...]

    @property
    def suppressed_share(self) -> float:
        """Suppressed share of the rows, 0 to 1."""
        return self.statistics.suppressed / self.statistics.rows if self.statistics.rows else 0.0

    def charts(self) -> tuple[Chart, ...]:
        """Risk, loss, and (when rows are suppressed) whom suppression hits."""
        charts: list[Chart] = [
            risk_chart(self.before, self.after),
            loss_chart(self.attributes, float(self.statistics.loss), self.suppressed_share),
        ]
        hit = suppression_chart(self.groups, self.suppressed_share)
        return (*charts, hit) if hit is not None else tuple(charts)

    def figures(self) -> tuple[Figure, ...]:
        """Headline numbers of the release."""
        return (*self._release_figures(), *self._loss_figures())

    def _release_figures(self) -> tuple[Figure, ...]:
        known = self.statistics
        return (
            Figure("rows_kept", "Rows kept", known.kept, "count", "rows", "higher"),
            Figure(
                "rows_suppressed", "Rows suppressed", known.suppressed, "count", "rows", "lower"
            ),
            Figure(
                "suppressed_share",
                "Rows suppressed, share",
                self.suppressed_share,
                "share",
                better="lower",
            ),
            Figure(
                "classes",
                "Classes",
                known.classes,
                "count",
                better="higher",
                help="Different combinations of quasi-identifiers in the release.",
            ),
            Figure("smallest_class", "Smallest class", known.smallest, "count", "rows", "higher"),
            Figure(
                "highest_risk",
                "Highest risk",
                self.after.highest,
                "share",
                better="lower",
                help="Chance that a match is right for the rows of the smallest class.",
            ),
            Figure(
                "average_risk",
                "Average risk",
                self.after.average,
                "share",
                better="lower",
                help="Mean over the released rows of 1 / class size.",
            ),
        )

    def _loss_figures(self) -> tuple[Figure, ...]:
        known = self.statistics
        size = known.average_class_size
        return (
            Figure(
                "loss",
                "Loss",
                float(known.loss),
                "share",
                better="lower",
                help="Detail lost, mean over all cells; suppressed cells count fully.",
            ),
            Figure(
                "precision",
                "Precision",
                float(known.precision),
                "share",
                better="higher",
                help="1 minus the mean of level / height over all cells.",
            ),
            Figure("discernibility", "Discernibility", known.discernibility, "count", "", "lower"),
            Figure(
                "average_class_size",
                "Average class size",
                float("nan") if size is None else float(size),
                "number",
                "× k",
                "lower",
            ),
            Figure("entropy", "Entropy loss", known.entropy, "number", "bits", "lower"),
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
            **self.statistics.metrics(),
            "suppressed_share": self.suppressed_share,
            "attributes": [each.as_json() for each in self.attributes],
            "suppression_by_group": [each.as_json() for each in self.groups],
        }


def assess(table: AlignedTable, statistics: NodeStatistics) -> Assessment:
    """Judge the node of ``statistics`` on ``table``.

    Raises RefusedError ``k-anonymity.self-check`` when the independent count of the classes
    disagrees with ``statistics``: then one of the two is wrong, and nothing may be released.
    """
    k = statistics.k
    classes = generalise(table, statistics.levels)
    kept = classes.sizes[classes.kept(k)]
    counted = (
        statistics.rows - int(kept.sum()),
        len(kept),
        int(kept.min()) if len(kept) else 0,
        int((kept * kept).sum()),
    )
    said = (
        statistics.suppressed,
        statistics.classes,
        statistics.smallest,
        statistics.sum_of_squares,
    )
    if counted != said or table.rows != statistics.rows:
        raise RefusedError(
            "k-anonymity.self-check",
            f"The search says {said} (suppressed rows, classes, smallest class, sum of squares), "
            f"an independent count gives {counted}; the release was stopped.",
            hint="Please report this: it is a fault of the program.",
        )
    return Assessment(
        statistics=statistics,
        classes=classes,
        before=summarise_risk(table.counts, k),
        after=summarise_risk(kept, k),
        attributes=attribute_utilities(classes, k),
        groups=suppression_by_group(classes, k),
    )
