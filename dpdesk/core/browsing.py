"""Walking through a released cube: which dimensions stand where, what is kept, the way back.

Every state is a query; a step is a word or two and the state that it led to. Nothing here knows the
release or a front end.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import Enum

from dpdesk.core.query import Chosen, Grouping, Query


class Place(Enum):
    """Where a dimension can stand; a dimension that stands nowhere is summed up."""

    ROWS = "rows"
    COLUMNS = "columns"
    NOWHERE = "nowhere"


@dataclass(frozen=True)
class Kept:
    """The categories of a dimension that are kept, as released; the others are left out."""

    column: str
    categories: tuple[str, ...]


@dataclass(frozen=True)
class BrowseState:
    """One view of a cube: dimensions on rows and columns, filters, and the measure.

    ``percent`` shows percentages of ``"row"``, ``"column"`` or ``"all"``; ``order`` are the labels
    of a column that the rows are sorted by, and whether they fall.
    """

    rows: tuple[Grouping, ...] = ()
    columns: tuple[Grouping, ...] = ()
    kept: tuple[Kept, ...] = ()
    measure: str = ""
    percent: str = ""
    order: tuple[tuple[str | None, ...], bool] | None = None

    def query(self) -> Query:
        """What has to be asked of the release, margins included."""
        where = tuple(Chosen(each.column, each.categories) for each in self.kept)
        return Query((*self.rows, *self.columns), where, self.measure, margins=True)

    def place_of(self, column: str) -> Place:
        """Where a dimension stands."""
        if any(each.column == column for each in self.rows):
            return Place.ROWS
        if any(each.column == column for each in self.columns):
            return Place.COLUMNS
        return Place.NOWHERE

    def level_of(self, column: str) -> int:
        """The level at which a dimension is shown; 0 where it is not."""
        shown = (*self.rows, *self.columns)
        return next((each.level for each in shown if each.column == column), 0)

    def kept_of(self, column: str) -> tuple[str, ...] | None:
        """The categories that are kept of a dimension; None for all."""
        return next((each.categories for each in self.kept if each.column == column), None)

    def put(self, column: str, place: Place, at: int | None = None) -> BrowseState:
        """Put a dimension somewhere, before number ``at`` there; None: behind the others."""
        group = Grouping(column, self.level_of(column))
        rows = tuple(each for each in self.rows if each.column != column)
        columns = tuple(each for each in self.columns if each.column != column)
        if place is Place.ROWS:
            rows = _inserted(rows, group, at)
        elif place is Place.COLUMNS:
            columns = _inserted(columns, group, at)
        return replace(self, rows=rows, columns=columns, order=None)

    def at_level(self, column: str, level: int) -> BrowseState:
        """Show a dimension at another level of its hierarchy."""

        def turned(groups: tuple[Grouping, ...]) -> tuple[Grouping, ...]:
            return tuple(
                Grouping(column, level) if each.column == column else each for each in groups
            )

        return replace(self, rows=turned(self.rows), columns=turned(self.columns), order=None)

    def keep(self, column: str, categories: tuple[str, ...] | None) -> BrowseState:
        """Keep only these categories of a dimension; None: all again."""
        others = tuple(each for each in self.kept if each.column != column)
        if categories is None:
            return replace(self, kept=others)
        places = [each.column for each in self.kept]
        found = list(others)
        found.insert(
            places.index(column) if column in places else len(found), Kept(column, categories)
        )
        return replace(self, kept=tuple(found))

    def turned(self) -> BrowseState:
        """Rows and columns exchanged."""
        return replace(self, rows=self.columns, columns=self.rows, order=None)

    def sorted_by(self, column: tuple[str | None, ...]) -> BrowseState:
        """Rows sorted by a column: falling, then rising, then as they were declared."""
        falling = self.order != (column, True)
        return replace(self, order=None if self.order == (column, False) else (column, falling))


def _inserted(
    groups: tuple[Grouping, ...], group: Grouping, at: int | None
) -> tuple[Grouping, ...]:
    place = len(groups) if at is None else max(0, min(at, len(groups)))
    return (*groups[:place], group, *groups[place:])


@dataclass(frozen=True)
class Step:
    """A state and the words for what led to it."""

    words: str
    state: BrowseState


@dataclass(frozen=True)
class Trail:
    """The steps taken, and where one stands among them; a value, so undo loses nothing."""

    steps: tuple[Step, ...]
    at: int = field(default=0)

    @property
    def state(self) -> BrowseState:
        """The present state."""
        return self.steps[self.at].state

    def go(self, words: str, state: BrowseState) -> Trail:
        """Take a step; steps that were undone give way. The same state again is no step."""
        if state == self.state:
            return self
        steps = (*self.steps[: self.at + 1], Step(words, state))
        return Trail(steps, len(steps) - 1)

    def back(self, to: int | None = None) -> Trail:
        """One step back, or to the step with this number (forwards too)."""
        wanted = self.at - 1 if to is None else to
        return replace(self, at=max(0, min(wanted, len(self.steps) - 1)))

    def forth(self) -> Trail:
        """The step that was undone last, again."""
        return self.back(self.at + 1)
