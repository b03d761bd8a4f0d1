"""Settings tried on counts, for the window: nothing is drawn here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dpdesk.core.errors import InputError, RefusedError
from dpdesk.core.jobs import CancelToken, Report, silent
from dpdesk.core.messages import counted, joined, msg
from dpdesk.core.parameters import ParameterValue
from dpdesk.engine.decoys.charts import frequency_chart
from dpdesk.engine.decoys.eligibility import Eligibility, largest_common_l
from dpdesk.engine.method import ExplorationView, MethodInput
from dpdesk.engine.methods.l_diverted.guarantee import name_list
from dpdesk.engine.methods.l_diverted.judging import CountedValues, described
from dpdesk.engine.methods.l_diverted.settings import Settings

_SHARE_STEPS = 10_000


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
        told = self.counted.told(settings, first, token, silent)
        notes = self.counted.notes(settings, token)
        judged = described(self.given, settings, first, found, told, notes)
        sentence = msg(
            "Every published value of {diverted} is drawn from {l:,} values; {removed}.",
            diverted=name_list(settings.diverted(self.given.roles)),
            l=settings.l,
            removed=_removed(judged.result["rows_removed"]),
        )
        return ExplorationView(
            True,
            sentence,
            tuple(judged.charts),
            judged.figures,
            judged.guarantee,
            notes=judged.notes,
        )

    def pick(self, point: int) -> Mapping[str, object]:
        """See :meth:`~dpdesk.engine.method.Exploration.pick`: there are no points."""
        raise InputError("exploration.no-point", "There is no point with this number.")


def _removed(rows: object) -> str:
    if not isinstance(rows, int) or rows == 0:
        return msg("no row has to be removed for that")
    return counted(
        "{n:,} row is removed at random for that",
        "{n:,} rows are removed at random for that",
        n=rows,
    )


def _refused(short: Eligibility, found: Sequence[Eligibility]) -> ExplorationView:
    largest = largest_common_l(found)
    works = largest >= 2
    ordered = sorted(found, key=lambda each: each.eligible)  # what has to be changed comes first
    return ExplorationView(
        False,
        joined([short.sentence, short.hint]),
        tuple(frequency_chart(each) for each in ordered),
        (),
        None,
        {"l": largest} if works else None,
        msg("Set ℓ′ to {largest:,}", largest=largest) if works else "",
    )


def _k_refused(error: RefusedError, rows: int) -> ExplorationView:
    """The quasi-identifiers do not reach k: with more rows suppressed they may."""
    suppressed = error.details.get("suppressed")
    remedy, label = None, ""
    if isinstance(suppressed, int) and 0 < suppressed < rows:
        share = -(-suppressed * _SHARE_STEPS // rows) / _SHARE_STEPS
        remedy, label = (
            {"max_suppression": share},
            msg("Allow {share:.2%} suppressed rows", share=share),
        )
    return ExplorationView(False, error.full, (), (), None, remedy, label)
