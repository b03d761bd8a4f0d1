"""How often each sensitive value occurs, counted when it is first asked for."""

from __future__ import annotations

from threading import Lock

from dpdesk.core.jobs import CancelToken, Note, Report, StepProgress
from dpdesk.core.messages import msg
from dpdesk.core.schema import Role, ValueCount
from dpdesk.engine.decoys.eligibility import Eligibility
from dpdesk.engine.method import MethodInput
from dpdesk.engine.methods.l_diverted.column_telling import ColumnsTell, columns_tell
from dpdesk.engine.methods.l_diverted.combined import Generalised, generalise, kept_counts
from dpdesk.engine.methods.l_diverted.guarantee import name_list
from dpdesk.engine.methods.l_diverted.settings import Settings
from dpdesk.engine.methods.l_diverted.values import labels_of, raw_counts, released_counts

COUNT = "Count the sensitive values"


class CountedValues:
    """The value counts of sensitive columns, each counted when it is first asked for.

    Where k is given, they are counted among the rows that are left after the quasi-identifiers were
    generalised, which is done once for each k.
    """

    def __init__(self, given: MethodInput) -> None:
        self._given = given
        self._known: dict[tuple[object, ...], tuple[ValueCount, ...]] = {}
        self._searched: dict[tuple[object, ...], Generalised] = {}
        self._told: dict[tuple[object, ...], ColumnsTell] = {}
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
        """Every column that is to be drawn, checked against ℓ′; raises InputError, Cancelled."""
        names, found = settings.diverted(self._given.roles), []
        for place, name in enumerate(names):
            token.check()
            counts = self._counts(name, settings, first, token)
            found.append(Eligibility(name, settings.l, counts, settings.levels.get(name, 0)))
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

    def told(
        self, settings: Settings, first: Generalised | None, token: CancelToken, report: Report
    ) -> ColumnsTell:
        """What the columns that are not drawn tell of those that are. Raises Cancelled."""
        recoding = None if first is None else first.recoding
        key = (
            settings.diverted(self._given.roles),
            tuple(sorted(settings.levels.items())),
            () if first is None else (settings.k, settings.max_suppression, settings.l),
        )
        with self._lock:
            known = self._told.get(key)
        if known is None:
            known = columns_tell(self._given, settings, recoding, token, report)
            with self._lock:
                self._told[key] = known
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
                    msg(
                        "{columns}: sensitive by role, but not listed in `sensitive`; the true "
                        "values are released.",
                        columns=name_list(others),
                    ),
                )
            )
        for name in diverted:
            table = given.source.frequency_table((name,), token)
            if table.missing and len(table.missing[0]) > 1:
                notes.append(
                    Note(
                        "diverted.missing",
                        msg(
                            "`{column}` has {n} different codes of missing values; each counts "
                            "as a value of its own.",
                            column=name,
                            n=len(table.missing[0]),
                        ),
                    )
                )
        return tuple(notes)
