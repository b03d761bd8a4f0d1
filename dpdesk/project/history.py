"""Undo and redo as a tree, in which no branch is ever lost.

Going back and then changing something else starts a new branch; the old one stays and can be gone
to. Redo follows the branch that was visited last.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from types import MappingProxyType

from dpdesk.project.work import Command, WorkState


@dataclass(frozen=True)
class Moment:
    """One state of the work in the tree: where it came from, by which change, and when."""

    id: int
    parent: int | None
    label: str
    state: WorkState = field(repr=False)
    merge_key: str = field(default="", repr=False)
    when: datetime | None = field(default=None, repr=False, compare=False)


@dataclass(frozen=True)
class HistorySnapshot:
    """A whole tree as a value: what is stored, and from what a tree is made again.

    ``moments`` lie in the order of their ids, which count from 0; ``followed`` says per moment
    which branch redo would take; ``saved`` is the moment that the plan file holds.
    """

    moments: tuple[Moment, ...] = field(repr=False)
    current: int = 0
    saved: int | None = None
    followed: Mapping[int, int] = field(default_factory=lambda: MappingProxyType({}))


class History:
    """All states that the work has had, and where in the tree the work stands."""

    def __init__(self, state: WorkState, label: str = "Start") -> None:
        self._moments: list[Moment] = [Moment(0, None, label, state, when=_now())]
        self._children: dict[int, list[int]] = {0: []}
        self._last_visited: dict[int, int] = {}
        self._current = 0
        self._saved: int | None = None

    @classmethod
    def restored(cls, snapshot: HistorySnapshot) -> History:
        """The tree of a snapshot. ValueError when it is no tree with dense ids."""
        moments, ids = snapshot.moments, range(len(snapshot.moments))
        if not moments or moments[0].parent is not None:
            raise ValueError("a history begins with a moment that has no parent")
        history = cls(moments[0].state)
        history._moments = list(moments)
        history._children = {number: [] for number in ids}
        for number, moment in enumerate(moments):
            parent = moment.parent
            if moment.id != number or (number and (parent is None or not 0 <= parent < number)):
                raise ValueError(f"moment {number} of the history hangs nowhere")
            if parent is not None:
                history._children[parent].append(number)
        for parent, child in snapshot.followed.items():
            if child not in history._children.get(parent, ()):
                raise ValueError(f"moment {child} does not follow moment {parent}")
        if snapshot.current not in ids or snapshot.saved not in (None, *ids):
            raise ValueError("the history stands at a moment that it does not have")
        history._last_visited = dict(snapshot.followed)
        history._current, history._saved = snapshot.current, snapshot.saved
        return history

    def snapshot(self) -> HistorySnapshot:
        """The whole tree as a value; moments are shared, not copied."""
        return HistorySnapshot(
            tuple(self._moments),
            self._current,
            self._saved,
            MappingProxyType(dict(self._last_visited)),
        )

    @property
    def current(self) -> Moment:
        """Where the work stands."""
        return self._moments[self._current]

    @property
    def state(self) -> WorkState:
        """The state of the work now."""
        return self.current.state

    @property
    def changed(self) -> bool:
        """Whether the state differs from the one that was saved last (or from the first one)."""
        saved = self._moments[0 if self._saved is None else self._saved]
        return saved.state != self.state

    def mark_saved(self) -> None:
        """The present state is what the file holds."""
        self._saved = self._current

    def do(self, command: Command, merge: bool = False) -> Moment:
        """Make a change; a change without effect makes no moment.

        With ``merge``, a change of the same kind as the last one replaces it, so that a dragged
        slider is undone at once. A moment that was saved or has branches is never replaced.
        """
        state = command.apply(self.state)
        if state == self.state:
            return self.current
        if merge and self._may_replace(command):
            old = self.current
            self._moments[old.id] = Moment(
                old.id, old.parent, command.label, state, command.merge_key, _now()
            )
            return self.current
        number, key = len(self._moments), command.merge_key
        moment = Moment(number, self._current, command.label, state, key, _now())
        self._moments.append(moment)
        self._children[moment.id] = []
        self._children[self._current].append(moment.id)
        self._visit(moment.id)
        return moment

    def _may_replace(self, command: Command) -> bool:
        here = self.current
        return (
            bool(command.merge_key)
            and command.merge_key == here.merge_key
            and not self._children[here.id]
            and here.id != self._saved
        )

    def _visit(self, moment_id: int) -> None:
        self._current = moment_id
        child, parent = moment_id, self._moments[moment_id].parent
        while parent is not None:
            self._last_visited[parent] = child
            child, parent = parent, self._moments[parent].parent

    @property
    def undo_label(self) -> str | None:
        """What undo would take back; None when there is nothing."""
        return None if self.current.parent is None else self.current.label

    @property
    def redo_label(self) -> str | None:
        """What redo would do again; None when there is nothing."""
        following = self._last_visited.get(self._current)
        return None if following is None else self._moments[following].label

    def undo(self) -> WorkState:
        """Take the last change back; at the first state nothing happens."""
        if self.current.parent is not None:
            self._current = self.current.parent
        return self.state

    def redo(self) -> WorkState:
        """Do again what was undone, along the branch visited last."""
        following = self._last_visited.get(self._current)
        if following is not None:
            self._current = following
        return self.state

    def go_to(self, moment_id: int) -> WorkState:
        """Go to any moment of the tree; KeyError when there is none with this id."""
        if not 0 <= moment_id < len(self._moments):
            raise KeyError(moment_id)
        self._visit(moment_id)
        return self.state

    def path(self) -> tuple[Moment, ...]:
        """The moments from the first one to the present one: the breadcrumb."""
        found = [self.current]
        while found[-1].parent is not None:
            found.append(self._moments[found[-1].parent])
        return tuple(reversed(found))

    def ahead(self) -> tuple[Moment, ...]:
        """What redo would visit, in order."""
        found: list[Moment] = []
        following = self._last_visited.get(self._current)
        while following is not None:
            found.append(self._moments[following])
            following = self._last_visited.get(following)
        return tuple(found)

    def branches(self, moment_id: int) -> tuple[Moment, ...]:
        """The moments that follow directly on one moment, oldest first."""
        return tuple(self._moments[child] for child in self._children[moment_id])

    def moments(self) -> tuple[Moment, ...]:
        """All moments in the order in which they were made."""
        return tuple(self._moments)


def _now() -> datetime:
    return datetime.now(UTC).replace(microsecond=0)
