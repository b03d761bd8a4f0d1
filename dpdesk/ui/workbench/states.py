"""The tree of states of the work as a list: the present way straight on, other branches aside."""

from __future__ import annotations

from dpdesk.app.types import History
from dpdesk.ui.shell.history import HistoryStep


def history_steps(history: History) -> tuple[HistoryStep, ...]:
    """Every state, each after the one it came from; branches stand before what followed later."""
    way = {moment.id for moment in (*history.path(), *history.ahead())}
    current = history.current.id
    waiting = [(history.path()[0], 0)]
    found: list[HistoryStep] = []
    while waiting:
        moment, depth = waiting.pop()
        found.append(HistoryStep(moment.id, moment.label, depth, moment.id == current, moment.when))
        children = history.branches(moment.id)
        straight = next((one for one in children if one.id in way), None)
        if straight is None and children:
            straight = children[-1]
        if straight is not None:
            waiting.append((straight, depth))
        aside = [one for one in children if one is not straight]
        waiting.extend((one, depth + 1) for one in reversed(aside))
    return tuple(found)
