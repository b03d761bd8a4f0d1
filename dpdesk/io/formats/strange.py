"""The note about a number that is no moment."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpdesk.core.labels import Kind, Variable
from dpdesk.io.formats.numbers import number_text
from dpdesk.io.formats.table import Notes


def note_strange(notes: Notes, variable: Variable, numbers: Any, strange: Any, start: int) -> None:
    """Note the first of the numbers marked as ``strange``, and how many there are.

    ``start`` is the number of rows above those of ``numbers``.
    """
    places = np.flatnonzero(strange)
    if not len(places):
        return
    first = int(places[0])
    what = {Kind.TIME: "time of a day"}.get(variable.kind, "date of the years 1 to 9999")
    notes.add(
        f"strange {variable.name}",
        f"Row {start + first + 1:,}, column `{variable.name}`: the number "
        f"{number_text(numbers[first])} is no {what}; it is kept as a number.",
        len(places),
    )
