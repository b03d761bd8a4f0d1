"""What the columns that are not drawn tell of the drawn ones, measured before anything is drawn.

A drawn value is the true one with a chance of 1 in ℓ′ for someone to whom nothing else tells it.
The other columns are released truly (or at a level, where k is given), so what they tell is not
changed by the draw: for a row that an occupation follows from, the draw hides nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

from dpdesk.core.jobs import CancelToken, Note, Report, StepProgress
from dpdesk.core.recoding import Recoding
from dpdesk.core.schema import Role
from dpdesk.engine.method import MethodInput
from dpdesk.engine.methods.l_diverted.settings import Settings
from dpdesk.engine.methods.l_diverted.values import labels_of
from dpdesk.engine.recoded import rows_alone
from dpdesk.engine.telling import TELL, Telling, telling
from dpdesk.engine.telling_words import alone_note, telling_notes


@dataclass(frozen=True)
class ColumnsTell:
    """What other columns tell of each drawn one, and the rows that are alone with their values.

    ``columns`` is the number of columns that are not drawn; ``alone`` are the rows whose released
    values there no other row has, None where every column is drawn. Rows that are suppressed for k
    are not among them; k makes rows alike in the quasi-identifiers alone.
    """

    drawn: tuple[Telling, ...]
    columns: int
    alone: int | None

    def notes(self, size: int) -> tuple[Note, ...]:
        """Warnings where more is told than a chance of 1 in ``size``."""
        rows = self.drawn[0].rows if self.drawn else 0
        return (
            *telling_notes(self.drawn, size),
            *alone_note(self.columns, self.alone or 0, rows),
        )

    def as_json(self) -> dict[str, object]:
        """The form in which the risk of evidence has it."""
        told: dict[str, object] = {"telling": [each.as_json() for each in self.drawn]}
        return told if self.alone is None else told | {"rows_alone": self.alone}


def columns_tell(
    given: MethodInput,
    settings: Settings,
    recoding: Recoding | None,
    token: CancelToken,
    report: Report,
) -> ColumnsTell:
    """Measure it in all rows of the source; ``recoding`` is what was done to columns for k.

    Raises InputError ``diverted.levels``, Cancelled.
    """
    drawn = settings.diverted(given.roles)
    others = [
        name
        for name, role in given.roles.items()
        if role is not Role.IDENTIFIER and name not in drawn
    ]
    mapping = {} if recoding is None else recoding.mapping
    found = []
    for place, name in enumerate(drawn):
        labels = dict(mapping)
        if level := settings.levels.get(name, 0):
            table = given.source.frequency_table((name,), token)
            labels[name] = labels_of(table, given.hierarchies, level, given.where)
        found.append(telling(given.source, name, others, labels, token))
        report(StepProgress(TELL, place + 1, len(drawn), "columns"))
    alone = rows_alone(given.source, others, recoding, token) if others else None
    return ColumnsTell(tuple(found), len(others), alone)
