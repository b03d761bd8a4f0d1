"""Candidates: settings that were worth keeping, with what they would give."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from types import MappingProxyType
from typing import TypeAlias

from dpdesk.core.charts import Chart, Figure
from dpdesk.core.errors import InputError
from dpdesk.core.messages import msg
from dpdesk.core.release import Guarantee
from dpdesk.core.schema import Role
from dpdesk.project.work import WorkState

COMPARE_AT_MOST = 6


LevelNames: TypeAlias = "Mapping[str, tuple[str, ...]]"


@dataclass(frozen=True)
class Candidate:
    """A release that could be made: the work as it was, and what it guarantees, costs and shows.

    ``id`` is 0 until a shelf has taken the candidate; ``when`` is the time it was made.
    """

    id: int
    name: str
    work: WorkState = field(repr=False)
    guarantee: Guarantee
    figures: tuple[Figure, ...]
    charts: tuple[Chart, ...] = field(repr=False)
    result: Mapping[str, object] = field(repr=False)
    when: datetime
    level_names: LevelNames = field(default_factory=lambda: MappingProxyType({}), repr=False)
    """What people call the levels of the columns: see :attr:`Hierarchy.level_names`."""

    @property
    def scope(self) -> tuple[str, tuple[str, ...]]:
        """What two candidates must share to be compared: the data file and the QIs."""
        source = self.work.source
        path = "" if source is None else str(self.work.base / source.path)
        return path, tuple(sorted(self.work.with_role(Role.QUASI_IDENTIFIER)))


@dataclass(frozen=True)
class ShelfSnapshot:
    """A whole shelf as a value; ``next_id`` is the number that the next candidate gets."""

    candidates: tuple[Candidate, ...] = field(default=(), repr=False)
    next_id: int = 1


class CandidateShelf:
    """The candidates kept so far, in the order in which they were made."""

    def __init__(self, at_most: int = COMPARE_AT_MOST) -> None:
        self._at_most = at_most
        self._kept: dict[int, Candidate] = {}
        self._next = 1

    @classmethod
    def restored(cls, snapshot: ShelfSnapshot, at_most: int = COMPARE_AT_MOST) -> CandidateShelf:
        """The shelf of a snapshot. ValueError when numbers are used twice or again."""
        shelf = cls(at_most)
        numbers = [candidate.id for candidate in snapshot.candidates]
        if len(set(numbers)) != len(numbers) or not all(
            0 < number < snapshot.next_id for number in numbers
        ):
            raise ValueError("two candidates have one number")
        shelf._kept = {candidate.id: candidate for candidate in snapshot.candidates}
        shelf._next = snapshot.next_id
        return shelf

    def snapshot(self) -> ShelfSnapshot:
        """The whole shelf as a value."""
        return ShelfSnapshot(self.candidates, self._next)

    @property
    def candidates(self) -> tuple[Candidate, ...]:
        """All that are kept, oldest first."""
        return tuple(self._kept.values())

    @property
    def next_letters(self) -> str:
        """The letters of the next candidate that has no name of its own."""
        return _letters(self._next)

    @property
    def full(self) -> bool:
        """Whether another one needs one to be removed first."""
        return len(self._kept) >= self._at_most

    def check_room(self) -> None:
        """Raise InputError ``candidates.full`` when as many are kept as can be compared."""
        if self.full:
            raise InputError(
                "candidates.full",
                msg(
                    "{at_most} candidates are already kept, as many as can be compared.",
                    at_most=self._at_most,
                ),
                hint="Remove one of them first.",
            )

    def add(self, candidate: Candidate) -> Candidate:
        """Keep a candidate and give it its number and, when it has none, a name.

        Raises InputError ``candidates.full`` when as many are kept as can be compared.
        """
        self.check_room()
        name = candidate.name or f"Candidate {self.next_letters}"
        kept = replace(candidate, id=self._next, name=name)
        self._kept[kept.id] = kept
        self._next += 1
        return kept

    def remove(self, candidate_id: int) -> None:
        """Forget a candidate; KeyError when there is none with this number."""
        del self._kept[candidate_id]

    def rename(self, candidate_id: int, name: str) -> Candidate:
        """Give a candidate another name; an empty one is ignored."""
        kept = self._kept[candidate_id]
        if name.strip():
            kept = replace(kept, name=name.strip())
            self._kept[candidate_id] = kept
        return kept


def _letters(number: int) -> str:
    """1 → A, 26 → Z, 27 → AA, as spreadsheets count columns."""
    text = ""
    while number > 0:
        number, rest = divmod(number - 1, 26)
        text = chr(ord("A") + rest) + text
    return text
