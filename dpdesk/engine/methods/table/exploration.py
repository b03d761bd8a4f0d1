"""Trying settings of protected tables: each view counts and protects.

Nothing is drawn or kept but the keys of rows by which a sample or a swap chooses: the tables that
are tried are then those that a run makes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from itertools import chain, product
from operator import ne

from dpdesk.core.charts import Axis, BarChart, BarSeries, Cell, ChartTable
from dpdesk.core.errors import Cancelled, DpdeskError
from dpdesk.core.jobs import CancelToken, Report, silent
from dpdesk.core.messages import counted, msg
from dpdesk.core.parameters import ParameterValue
from dpdesk.core.plain import EMPTY
from dpdesk.core.tabulation import PRIMARY, PUBLISHED, SECONDARY
from dpdesk.engine.method import CellsInput, CellsOutcome, ExplorationView, unusable
from dpdesk.engine.methods.table.deciding import decision, outcome_of, printed
from dpdesk.engine.methods.table.settings import (
    ADJUST,
    CELL_KEY,
    CONTROLLED,
    NONE,
    RANDOM,
    SUPPRESS,
    Settings,
)
from dpdesk.engine.methods.table.stories import looks
from dpdesk.engine.tables.cellkeys import KEYS, PerturbationTable
from dpdesk.engine.tables.rounding import NO_ROUNDING


class TableExploration:
    """An :class:`~dpdesk.engine.method.Exploration` of protected tables."""

    def __init__(self, given: CellsInput) -> None:
        self._given = given

    def view(self, parameters: Mapping[str, ParameterValue]) -> ExplorationView:
        """What comes of these settings; unusable ones say what is wrong."""
        return self.view_until(parameters, CancelToken(), silent)

    def view_until(
        self, parameters: Mapping[str, ParameterValue], token: CancelToken, report: Report
    ) -> ExplorationView:
        """See :meth:`view`; searching may take long. Raises Cancelled."""
        # What is explored has the lines of a file that the settings name.
        marks = self._given.parameters["marks"] if parameters["marks"] is not None else None
        asked = {**parameters, "marks": marks}
        try:
            made = decision(replace(self._given, parameters=asked), token, report)
        except Cancelled:
            raise
        except DpdeskError as error:
            return _with_way_out(unusable(error), error)
        outcome, settings = outcome_of(made), made.counted.settings
        bare = _without_rules(outcome, settings)
        said = _sentence(outcome, settings, bare=bare)
        return ExplorationView(
            True,
            said,
            (_chart(outcome, said, hides=settings.protect == SUPPRESS), *_changes(settings)),
            outcome.figures,
            outcome.guarantee,
            notes=outcome.notes,
            tables=looks(made, outcome.tables),
            warns=bare or settings.protect == NONE,
        )

    def pick(self, point: int) -> Mapping[str, object]:
        """Nothing is chosen by a point of a chart."""
        return {}


def _with_way_out(view: ExplorationView, error: DpdeskError) -> ExplorationView:
    """The view of refused settings with the nearest ones that work, where they are known."""
    if error.code != NO_ROUNDING:
        return view
    base = error.details["base"]
    if base is None:
        return replace(view, remedy={"protect": RANDOM}, remedy_label=msg("Round at random"))
    label = msg("Round to multiples of {base}", base=base)
    return replace(view, remedy={"base": base}, remedy_label=label)


_MARKS = {PUBLISHED: "✓ published", PRIMARY: "✕ unsafe", SECONDARY: "△ protects others"}
_SAFE = {PUBLISHED: "✓ safe", PRIMARY: _MARKS[PRIMARY]}
_MOST_ROWS = 2_000


def _chart(outcome: CellsOutcome, answer: str, *, hides: bool) -> BarChart:
    """How many cells are published, unsafe, or protect others; its table lists the cells.

    Where nothing ``hides`` cells, all are published, and are safe or not.
    """
    marks = _MARKS if hides else _SAFE
    found = Counter(status for table in outcome.tables for status in table.internal["status"])
    rows: list[tuple[Cell, ...]] = []
    for table in outcome.tables:
        inside = table.internal
        for place, (axes, status) in enumerate(
            zip(product(*(axis.labels for axis in table.axes)), inside["status"], strict=True)
        ):
            if len(rows) < _MOST_ROWS:
                numbers = (inside[key][place] for key in ("value", "frequency", "lower", "upper"))
                rows.append((" × ".join(label or EMPTY for label in axes), marks[status], *numbers))
    return BarChart(
        id="cells",
        question=(
            "Which cells are unsafe, and which protect them?"
            if hides
            else "Which cells are unsafe?"
        ),
        answer=answer,
        short="Cells",
        category_axis=Axis("Cells", bare=True),
        value_axis=Axis("Number of cells", whole=True, minimum=0),
        categories=tuple(marks.values()),
        series=(BarSeries("Cells", tuple(float(found[status]) for status in marks)),),
        table=ChartTable(("Cell", "Status", "Value", "Contributors", "From", "To"), tuple(rows)),
    )


def _changes(settings: Settings) -> Iterator[BarChart]:
    """How likely each change by cell keys is; its table has the chances of small counts too."""
    if settings.protect != CELL_KEY:
        return
    most = settings.deviation
    changes = range(-most, most + 1)
    table = PerturbationTable.of(most, settings.variance)
    lines = [
        (
            *(None,) * (most - count),
            *(float(Fraction(share, KEYS)) for share in table.shares[count]),
        )
        for count in range(1, most + 1)
    ]
    yield BarChart(
        id="changes",
        question="How likely is each change of a count?",
        short="Changes",
        answer=msg("Counts change by {most} at most; small ones never fall below 0.", most=most),
        category_axis=Axis("Change"),
        value_axis=Axis("Chance", minimum=0),
        categories=tuple(f"{change:+d}" if change else "0" for change in changes),
        series=(BarSeries("Large counts", tuple(chance or 0.0 for chance in lines[-1])),),
        table=ChartTable(
            ("Count", *(f"{change:+d}" if change else "0" for change in changes)),
            tuple((count, *line) for count, line in enumerate(lines, 1)),
        ),
    )


def _without_rules(outcome: CellsOutcome, settings: Settings) -> bool:
    """Whether nothing says which cells are unsafe, where unsafe cells are what is protected."""
    unsafe = settings.rules or printed(outcome.tables, PRIMARY)
    return not unsafe and settings.protect in (SUPPRESS, ADJUST)


def _sentence(outcome: CellsOutcome, settings: Settings, *, bare: bool) -> str:
    cells = outcome.result["cells"]
    if bare:
        return msg(
            "No rule says which of {cells} cells are unsafe: all are published as they are. Add a "
            "rule, such as a threshold of 3 contributors.",
            cells=f"{cells:,}",
        )
    if not (settings.rules or printed(outcome.tables, PRIMARY)):
        return msg(
            "No rule says which of {cells} cells are unsafe; {treatment}.",
            cells=f"{cells:,}",
            treatment=_treatment(outcome, settings),
        )
    return counted(
        "Of {cells} cells, {n} is unsafe by the rules; {treatment}.",
        "Of {cells} cells, {n} are unsafe by the rules; {treatment}.",
        n=printed(outcome.tables, PRIMARY),
        cells=f"{cells:,}",
        treatment=_treatment(outcome, settings),
    )


def _treatment(outcome: CellsOutcome, settings: Settings) -> str:
    """What is done to the cells."""
    if settings.protect == SUPPRESS:
        return msg("suppressed: {suppressed}", suppressed=f"{outcome.result['suppressed']:,}")
    if settings.protect in (RANDOM, CONTROLLED):
        return msg("all are rounded to multiples of {base}", base=f"{settings.base:,}")
    if settings.protect == CELL_KEY:
        return msg("each count changes by at most {most}", most=settings.deviation)
    if settings.protect == ADJUST:
        pairs = [(one.values, one.internal["value"]) for one in outcome.tables]
        changed = sum(map(ne, chain(*(a for a, _ in pairs)), chain(*(b for _, b in pairs))))
        return msg("changed: {changed}", changed=f"{changed:,}")
    return msg("nothing is protected")
