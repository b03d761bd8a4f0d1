"""Swapped rows as the verifier looks at them, against a reading household by household."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpdesk.core.errors import Cancelled
from dpdesk.core.frequency import CodedColumn
from dpdesk.core.jobs import CancelToken
from dpdesk.core.schema import Role
from dpdesk.core.tabulation import RowEdit
from dpdesk.engine.tables.edits import Units, number_of, swapped
from dpdesk.verifiers.tables.edits import other_edit
from dpdesk.verifiers.tables.source import Given
from tests.reference import swaps as reference

TOKEN = CancelToken()
WRONG = {
    "": "",
    "one other": "did not change with one other",
    "match": "does not match",
    "swaps": " swaps, expected ",
}


@dataclass
class Columns:
    """A source of coded columns."""

    codes: dict[str, np.ndarray]
    missing: frozenset[int] = frozenset()

    @property
    def rows(self) -> int:
        return len(next(iter(self.codes.values())))

    def coded_columns(self, names: Sequence[str], token: CancelToken) -> list[CodedColumn]:
        lost = self.missing
        return [
            CodedColumn(n, (), self.codes[n], lost if n.startswith("place") else frozenset())
            for n in names
        ]


@dataclass
class Plan:
    """What the verifier gets."""

    source: Columns
    parameters: dict[str, Any]
    roles: dict[str, Role] = field(default_factory=lambda: {"house": Role.CLUSTER})
    hierarchies: dict[str, Any] = field(default_factory=dict)


def drawn(seed: int) -> tuple[Plan, np.ndarray, Fraction]:
    """Households, a swap of them and its share."""
    rng = np.random.default_rng(seed)
    count = int(rng.integers(1, 20))
    house = rng.permutation(np.repeat(np.arange(count), rng.integers(1, 4, count)))
    columns = {"house": house, "place": rng.integers(0, 4, count)[house]}
    for mark in range(int(rng.integers(0, 3))):
        columns[f"mark{mark}"] = rng.integers(0, 2, len(house))
    share = Fraction(int(rng.integers(1, 101)), 100)
    names = [name for name in columns if name.startswith("mark")]
    plan = Plan(Columns(columns, frozenset({3})), {})
    plan.parameters["swap"] = {"columns": ["place"], "match": names, "share": share}
    marks = np.stack([columns[n] for n in names], axis=1) if names else np.empty((len(house), 0))
    keys = rng.integers(0, 2**64, len(house), np.uint64)
    units = Units.by(house)
    free = columns["place"] != 3
    taken = swapped(units, columns["place"], marks.astype(int), share, keys, free, TOKEN)
    return plan, taken, share


@given(st.integers(0, 10**6), st.integers(0, 4))
@settings(max_examples=300, deadline=None)
def test_swaps_and_forged_ones_are_judged_as_household_by_household(seed: int, forged: int) -> None:
    plan, taken, share = drawn(seed)
    rng = np.random.default_rng(seed)
    for _ in range(forged):
        taken[rng.integers(len(taken))] = rng.integers(len(taken))
    columns = plan.source.codes
    rows = reference.households(columns["house"].tolist())
    marks = [codes.tolist() for name, codes in columns.items() if name.startswith("mark")]
    place = columns["place"].tolist()
    most = number_of(share / 2, len(rows))
    stays = [each == 3 for each in place]
    wanted = reference.fault(rows, taken.tolist(), [place], marks, stays, most)
    edit = RowEdit(np.ones(len(taken), dtype=bool), taken, ("place",))
    found = other_edit(cast(Given, plan), edit, TOKEN)
    assert WRONG[wanted] in found
    assert bool(wanted) is bool(found)
    assert wanted == "" or forged


def test_looking_at_swaps_can_be_stopped() -> None:
    plan, taken, _ = drawn(1)
    stopped = CancelToken()
    stopped.cancel()
    edit = RowEdit(np.ones(len(taken), dtype=bool), taken, ("place",))
    with pytest.raises(Cancelled):
        other_edit(cast(Given, plan), edit, stopped)
