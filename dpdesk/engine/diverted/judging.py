"""What a diverted release will be like, from counts alone; nothing is drawn here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from threading import Lock

from dpdesk.core.charts import Figure
from dpdesk.core.errors import InputError, RefusedError
from dpdesk.core.jobs import CancelToken, Event, Note, Report, StepProgress, StepStarted, silent
from dpdesk.core.parameters import ParameterValue
from dpdesk.core.schema import Role, ValueCount
from dpdesk.engine.diverted.charts import frequency_chart
from dpdesk.engine.diverted.combined import Generalised, generalise, kept_counts
from dpdesk.engine.diverted.eligibility import Eligibility, largest_common_l, refuse
from dpdesk.engine.diverted.guarantee import diverted_guarantee, name_list
from dpdesk.engine.diverted.reliability import reliability_chart
from dpdesk.engine.diverted.settings import Settings
from dpdesk.engine.diverted.values import labels_of, raw_counts, released_counts
from dpdesk.engine.method import ExplorationView, MethodInput
from dpdesk.engine.randomised_method import Judged

COUNT = "Count the sensitive values"
_SEARCH_STEPS, _SHARE_STEPS = 3, 10_000


def judge(given: MethodInput, token: CancelToken, report: Report) -> Judged:
    """See :meth:`~dpdesk.engine.randomised_method.RandomisedMethod.judge`."""
    settings = Settings.from_parameters(given.parameters)
    counts = CountedValues(given)
    first = counts.generalised(settings, token, _one_step_more(report))
    steps = 1 if first is None else _SEARCH_STEPS + 1
    report(StepStarted(COUNT, steps, steps))
    found = counts.eligibility(settings, first, token, report)
    refuse(found, given.source.name)
    return described(given, settings, first, found, counts.notes(settings, token))


def _one_step_more(report: Report) -> Report:
    """The steps of the search for k, with the count of values that follows."""

    def passed(event: Event) -> None:
        if isinstance(event, StepStarted):
            event = replace(event, count=event.count + 1)
        report(event)

    return passed


class CountedValues:
    """The value counts of sensitive columns, each counted when it is first asked for.

    Where k is given, they are counted among the rows that are left after the quasi-identifiers were
    generalised, which is done once for each k.
    """

    def __init__(self, given: MethodInput) -> None:
        self._given = given
        self._known: dict[tuple[object, ...], tuple[ValueCount, ...]] = {}
        self._searched: dict[tuple[object, ...], Generalised] = {}
        self._lock = Lock()

    def generalised(
        self, settings: Settings, token: CancelToken, report: Report
    ) -> Generalised | None:
        """What is done for k; None when no k is given. Raises RefusedError, Cancelled."""
        if settings.k is None:
            return None
        key = (settings.k, settings.max_suppression, settings.l)
        with self._lock:
            known = self._searched.get(key)
        if known is None:
            known = generalise(self._given, settings, token, report)
            with self._lock:
                self._searched[key] = known
        return known

    def eligibility(
        self, settings: Settings, first: Generalised | None, token: CancelToken, report: Report
    ) -> tuple[Eligibility, ...]:
        """Every column that is to be drawn, held against ℓ′; raises InputError, Cancelled."""
        names, found = settings.diverted(self._given.roles), []
        for place, name in enumerate(names):
            token.check()
            counts = self._counts(name, settings, first, token)
            found.append(Eligibility(name, settings.l, counts))
            report(StepProgress(COUNT, place + 1, len(names), "columns"))
        return tuple(found)

    def _counts(
        self, name: str, settings: Settings, first: Generalised | None, token: CancelToken
    ) -> tuple[ValueCount, ...]:
        level, given = settings.levels.get(name, 0), self._given
        key = (name, level, *((settings.k, settings.max_suppression, settings.l) if first else ()))
        with self._lock:
            known = self._known.get(key)
        if known is None:
            table = given.source.frequency_table((name,), token)
            labels = labels_of(table, given.hierarchies, level, given.where)
            raw = kept_counts(given, first.recoding, name, token) if first else raw_counts(table)
            known = released_counts(raw, labels)
            with self._lock:
                self._known[key] = known
        return known

    def notes(self, settings: Settings, token: CancelToken) -> tuple[Note, ...]:
        """What a newcomer should know of these columns."""
        given, diverted = self._given, settings.diverted(self._given.roles)
        notes = []
        if settings.k is None and settings.max_suppression:
            notes.append(
                Note("plan.without-effect", "`max_suppression` has no effect without `k`.")
            )
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
    first: Generalised | None,
    found: Sequence[Eligibility],
    notes: tuple[Note, ...] = (),
) -> Judged:
    """The release of columns that are all eligible."""
    rows = found[0].rows
    removed, lost = rows % settings.l, given.source.rows - rows
    diverted = settings.diverted(given.roles)
    result: dict[str, object] = {"rows_removed": removed, "rows_out": rows - removed}
    if first is not None:
        result |= {"node": first.outcome.result["node"], "rows_suppressed": lost}
    return Judged(
        guarantee=diverted_guarantee(settings.l, diverted, given.roles, removed, settings.k, lost),
        result=result,
        drawn=frozenset(diverted),
        recoding=first.recoding if first is not None else None,
        internal=_internal(settings, first, found),
        risk={"beliefs": {each.attribute: _risk(each) for each in found}},
        utility=first.outcome.utility if first is not None else {},
        charts=(
            *(frequency_chart(each) for each in found),
            *(reliability_chart(each.attribute, each.counts, settings.l) for each in found),
        ),
        figures=_figures(settings, found, removed, lost),
        notes=notes,
    )


def _internal(
    settings: Settings, first: Generalised | None, found: Sequence[Eligibility]
) -> dict[str, object]:
    """What stays in the agency: the counts of values, and how k was reached."""
    counts = {each.attribute: {item.value: item.rows for item in each.counts} for each in found}
    facts: dict[str, object] = {"groups": found[0].rows // settings.l, "value_counts": counts}
    return facts | (dict(first.outcome.internal) if first is not None else {})


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


def _figures(
    settings: Settings, found: Sequence[Eligibility], removed: int, lost: int
) -> tuple[Figure, ...]:
    suppressed = Figure(
        "rows_suppressed",
        "Rows suppressed for k",
        lost,
        "count",
        better="lower",
        help="Rows with rare combinations of quasi-identifiers.",
        about="loss",
    )
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
        *((suppressed,) if settings.k is not None else ()),
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
        return self.view_until(parameters, CancelToken(), silent)

    def view_until(
        self, parameters: Mapping[str, ParameterValue], token: CancelToken, report: Report
    ) -> ExplorationView:
        """See :meth:`~dpdesk.engine.method.PatientExploration.view_until`."""
        settings = Settings.from_parameters(parameters)
        try:
            first = self.counted.generalised(settings, token, report)
        except RefusedError as error:
            return _k_refused(error, self.given.source.rows)
        found = self.counted.eligibility(settings, first, token, silent)
        short = next((each for each in found if not each.eligible), None)
        if short is not None:
            return _refused(short, found)
        notes = self.counted.notes(settings, token)
        judged = described(self.given, settings, first, found, notes)
        sentence = (
            f"Every published value of {name_list(settings.diverted(self.given.roles))} is drawn "
            f"from {settings.l:,} values; {judged.result['rows_removed']} rows are removed."
        )
        return ExplorationView(
            True, sentence, judged.charts, judged.figures, judged.guarantee, notes=notes
        )

    def pick(self, point: int) -> Mapping[str, object]:
        """See :meth:`~dpdesk.engine.method.Exploration.pick`: there are no points."""
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


def _k_refused(error: RefusedError, rows: int) -> ExplorationView:
    """The quasi-identifiers do not reach k: with more rows suppressed they may."""
    suppressed = error.details.get("suppressed")
    remedy, label = None, ""
    if isinstance(suppressed, int) and 0 < suppressed < rows:
        share = -(-suppressed * _SHARE_STEPS // rows) / _SHARE_STEPS
        remedy, label = {"max_suppression": share}, f"Allow {share:.2%} suppressed rows"
    return ExplorationView(False, f"{error.sentence} {error.hint}", (), (), None, remedy, label)
