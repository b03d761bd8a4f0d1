"""What a diverted release will be like, from counts alone; nothing is drawn here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from threading import Lock

from dpdesk.core.charts import Figure
from dpdesk.core.jobs import CancelToken, Note, Report, StepProgress, StepStarted
from dpdesk.core.parameters import ParameterValue
from dpdesk.core.schema import Role, ValueCount
from dpdesk.engine.diverted.charts import frequency_chart
from dpdesk.engine.diverted.eligibility import Eligibility, largest_common_l, refuse
from dpdesk.engine.diverted.guarantee import diverted_guarantee, name_list
from dpdesk.engine.diverted.reliability import reliability_chart
from dpdesk.engine.diverted.settings import Settings
from dpdesk.engine.diverted.values import value_counts
from dpdesk.engine.method import ExplorationView, MethodInput
from dpdesk.engine.randomised_method import Judged

COUNT = "Count the sensitive values"


def judge(given: MethodInput, token: CancelToken, report: Report) -> Judged:
    """See :meth:`~dpdesk.engine.randomised_method.RandomisedMethod.judge`."""
    report(StepStarted(COUNT, 1, 1))
    settings = Settings.from_parameters(given.parameters)
    counts = CountedValues(given)
    found = counts.eligibility(settings, token, report)
    refuse(found, given.source.name)
    return described(given, settings, found, counts.notes(settings, token))


class CountedValues:
    """The value counts of sensitive columns, each counted when it is first asked for."""

    def __init__(self, given: MethodInput) -> None:
        self._given = given
        self._known: dict[tuple[str, int], tuple[ValueCount, ...]] = {}
        self._lock = Lock()

    def eligibility(
        self, settings: Settings, token: CancelToken, report: Report
    ) -> tuple[Eligibility, ...]:
        """Every column that is to be drawn, held against ℓ′; raises InputError, Cancelled."""
        names, found = settings.diverted(self._given.roles), []
        for place, name in enumerate(names):
            token.check()
            found.append(Eligibility(name, settings.l, self._counts(name, settings, token)))
            report(StepProgress(COUNT, place + 1, len(names), "columns"))
        return tuple(found)

    def _counts(self, name: str, settings: Settings, token: CancelToken) -> tuple[ValueCount, ...]:
        level = settings.levels.get(name, 0)
        with self._lock:
            known = self._known.get((name, level))
        if known is None:
            given = self._given
            table = given.source.frequency_table((name,), token)
            known = value_counts(table, given.hierarchies, level, given.where)
            with self._lock:
                self._known[name, level] = known
        return known

    def notes(self, settings: Settings, token: CancelToken) -> tuple[Note, ...]:
        """What a newcomer should know of these columns."""
        given, diverted = self._given, settings.diverted(self._given.roles)
        notes = []
        others = [name for name in given.with_role(Role.SENSITIVE) if name not in diverted]
        if others:
            notes.append(
                Note(
                    "diverted.not-drawn",
                    f"{name_list(others)}: sensitive by role, but not listed in `sensitive`; the "
                    "true values are released.",
                )
            )
        for name in diverted:
            table = given.source.frequency_table((name,), token)
            if table.missing and len(table.missing[0]) > 1:
                notes.append(
                    Note(
                        "diverted.missing",
                        f"`{name}` has {len(table.missing[0])} different codes of missing values; "
                        "each counts as a value of its own.",
                    )
                )
        return tuple(notes)


def described(
    given: MethodInput,
    settings: Settings,
    found: Sequence[Eligibility],
    notes: tuple[Note, ...] = (),
) -> Judged:
    """The release of columns that are all eligible."""
    rows = given.source.rows
    removed = rows % settings.l
    return Judged(
        guarantee=diverted_guarantee(
            settings.l, settings.diverted(given.roles), given.roles, removed
        ),
        result={"rows_removed": removed, "rows_out": rows - removed},
        drawn=frozenset(settings.diverted(given.roles)),
        internal={
            "groups": rows // settings.l,
            "value_counts": {
                each.attribute: {item.value: item.rows for item in each.counts} for each in found
            },
        },
        risk={each.attribute: _risk(each) for each in found},
        charts=(
            *(frequency_chart(each) for each in found),
            *(reliability_chart(each.attribute, each.counts, settings.l) for each in found),
        ),
        figures=_figures(settings, found, removed),
        notes=notes,
    )


def _risk(found: Eligibility) -> dict[str, object]:
    """What somebody who knows only the value counts believes before and after; shares of 1."""
    rarest, most = found.counts[-1].rows, found.counts[0].rows
    return {
        "values": len(found.counts),
        "rows": found.rows,
        "most_rows_of_a_value": most,
        "rows_allowed": found.allowed,
        "belief_before_rarest": rarest / found.rows,
        "belief_before_most_frequent": most / found.rows,
        "belief_after": 1 / found.l,
    }


def _figures(settings: Settings, found: Sequence[Eligibility], removed: int) -> tuple[Figure, ...]:
    return (
        Figure(
            "belief",
            "Chance that a published value is true",
            1 / settings.l,
            "share",
            better="lower",
            help="For somebody who knows only how often each value occurs.",
            headline=True,
            about="risk",
        ),
        Figure(
            "deviation",
            "Standard deviation of a count of 1,000",
            float(Fraction(1000) * (1 - Fraction(1, settings.l))) ** 0.5,
            "number",
            unit="rows",
            better="lower",
            help="Of one value, over the whole table: √(f·(1 − 1/ℓ′)), whatever the data.",
            headline=True,
            about="loss",
        ),
        Figure(
            "rows_removed",
            "Rows removed at random",
            removed,
            "count",
            better="lower",
            help="So that the number of rows is a multiple of ℓ′.",
            about="loss",
        ),
        Figure(
            "largest_l",
            "Largest ℓ′ that these columns allow",
            largest_common_l(found),
            "count",
            help="The rows over those of the most frequent value.",
        ),
    )


@dataclass(frozen=True)
class DivertedExploration:
    """Settings tried on counts: whether the columns are eligible, and what would be claimed."""

    given: MethodInput
    counted: CountedValues

    def view(self, parameters: Mapping[str, ParameterValue]) -> ExplorationView:
        """See :meth:`~dpdesk.engine.method.Exploration.view`."""
        settings = Settings.from_parameters(parameters)
        found = self.counted.eligibility(settings, CancelToken(), lambda event: None)
        short = next((each for each in found if not each.eligible), None)
        if short is not None:
            return _refused(short, found)
        notes = self.counted.notes(settings, CancelToken())
        judged = described(self.given, settings, found, notes)
        sentence = (
            f"Every published value of {name_list(settings.diverted(self.given.roles))} is drawn "
            f"from {settings.l:,} values; {judged.result['rows_removed']} rows are removed."
        )
        return ExplorationView(
            True, sentence, judged.charts, judged.figures, judged.guarantee, notes=notes
        )

    def pick(self, point: int) -> Mapping[str, object]:
        """See :meth:`~dpdesk.engine.method.Exploration.pick`: there are no points."""
        from dpdesk.core.errors import InputError

        raise InputError("exploration.no-point", "There is no point with this number.")


def _refused(short: Eligibility, found: Sequence[Eligibility]) -> ExplorationView:
    largest = largest_common_l(found)
    works = largest >= 2
    return ExplorationView(
        False,
        f"{short.sentence} {short.hint}",
        tuple(frequency_chart(each) for each in found),
        (),
        None,
        {"l": largest} if works else None,
        f"Set ℓ′ to {largest:,}" if works else "",
    )
