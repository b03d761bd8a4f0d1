"""What a diverted release will be like, from counts alone; nothing is drawn here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from dpdesk.core.jobs import CancelToken, Event, Note, Report, StepStarted
from dpdesk.engine.diverted.charts import frequency_chart
from dpdesk.engine.diverted.combined import Generalised
from dpdesk.engine.diverted.counted import COUNT, CountedValues
from dpdesk.engine.diverted.eligibility import Eligibility, refuse
from dpdesk.engine.diverted.figures import beliefs, headline_figures
from dpdesk.engine.diverted.guarantee import diverted_guarantee
from dpdesk.engine.diverted.reliability import reliability_chart
from dpdesk.engine.diverted.settings import Settings
from dpdesk.engine.diverted.told import ColumnsTell
from dpdesk.engine.method import MethodInput
from dpdesk.engine.randomised_method import Judged
from dpdesk.engine.telling import TELL

_SEARCH_STEPS = 3


def judge(given: MethodInput, token: CancelToken, report: Report) -> Judged:
    """See :meth:`~dpdesk.engine.randomised_method.RandomisedMethod.judge`."""
    settings = Settings.from_parameters(given.parameters)
    counts = CountedValues(given)
    first = counts.generalised(settings, token, _two_steps_more(report))
    steps = 1 if first is None else _SEARCH_STEPS + 1
    report(StepStarted(COUNT, steps, steps + 1))
    found = counts.eligibility(settings, first, token, report)
    refuse(found, given.source.name)
    report(StepStarted(TELL, steps + 1, steps + 1))
    told = counts.told(settings, first, token, report)
    return described(given, settings, first, found, told, counts.notes(settings, token))


def _two_steps_more(report: Report) -> Report:
    """The steps of the search for k, with the two counts that follow."""

    def passed(event: Event) -> None:
        if isinstance(event, StepStarted):
            event = replace(event, count=event.count + 2)
        report(event)

    return passed


def described(
    given: MethodInput,
    settings: Settings,
    first: Generalised | None,
    found: Sequence[Eligibility],
    told: ColumnsTell,
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
        risk={"beliefs": beliefs(found)} | told.as_json() | _levels_tell(first),
        utility=first.outcome.utility if first is not None else {},
        charts=(
            *(frequency_chart(each) for each in found),
            *(reliability_chart(each.attribute, each.counts, settings.l) for each in found),
        ),
        figures=headline_figures(settings, found, removed, lost),
        notes=(*(first.outcome.notes if first else ()), *told.notes(settings.l), *notes),
    )


def _levels_tell(first: Generalised | None) -> dict[str, object]:
    """Columns whose levels follow from values of suppressed rows as well."""
    return {} if first is None else {"levels_tell": first.outcome.risk["levels_tell"]}


def _internal(
    settings: Settings, first: Generalised | None, found: Sequence[Eligibility]
) -> dict[str, object]:
    """What stays in the agency: the counts of values, and how k was reached."""
    counts = {each.attribute: {item.value: item.rows for item in each.counts} for each in found}
    facts: dict[str, object] = {"rows_allowed": found[0].allowed, "value_counts": counts}
    return facts | (dict(first.outcome.internal) if first is not None else {})
