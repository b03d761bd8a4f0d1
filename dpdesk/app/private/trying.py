"""Trying the settings of a method that draws noise: no data are looked at, nothing is spent."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from dpdesk.app.ledgers import open_ledger
from dpdesk.app.planning import placed_work, ranges_apart, read_files
from dpdesk.app.private.pinning import texts_in
from dpdesk.app.private.preparing import OUTSIDE, budget_notes, given_columns
from dpdesk.core.errors import InputError
from dpdesk.core.jobs import CancelToken, Note, Report
from dpdesk.core.messages import msg
from dpdesk.core.parameters import parse_parameters
from dpdesk.core.plan import HierarchyBuilder, HierarchyFile
from dpdesk.engine.private.method import PrivateInput, PrivateMethod
from dpdesk.engine.registry import noise_of, priced_of
from dpdesk.project.work import THE_SETTINGS, THE_WORK, WorkState

if TYPE_CHECKING:
    from dpdesk.app.context import AppContext
    from dpdesk.io.store import DataStore

_NUMBER = re.compile(r"-?[0-9]+([.,][0-9]+)?")


@dataclass(frozen=True)
class Outlook:
    """What the ledger says before a release, and what it would say afterwards; texts for people.

    ``account`` names whose budget it is; ``limit`` and ``left`` are empty where nothing limits it.
    ``refusal`` is why it would be refused now, empty when it would not; ``again`` says whether
    something was spent before.
    """

    account: str
    cost: str
    spent: str
    after: str
    limit: str = ""
    left: str = ""
    refusal: str = ""
    hint: str = ""
    again: bool = False
    notes: tuple[str, ...] = ()


def trying_input(
    context: AppContext, data: DataStore, work: WorkState, token: CancelToken, report: Report
) -> tuple[PrivateMethod, PrivateInput]:
    """What designs of this work may know, but for its parameters; of the data, the names alone.

    Raises InputError for hierarchy files that cannot be read and for columns that are not there.
    """
    plan = work.to_plan()
    method = noise_of(context.registry.ready(plan.protection.method, THE_SETTINGS))
    if method is None:
        raise TypeError("not a private method")
    by_hand = work.hand_made()

    def note(code: str, sentence: str) -> None:
        report(Note(code, sentence))

    files = read_files(placed_work(work, THE_WORK), token, note, plan.attributes)
    files = ranges_apart(files, data, note, OUTSIDE)
    given = given_columns(plan, data, {}, files, THE_WORK, THE_SETTINGS, frozenset(by_hand))
    return method, given


def outlook(context: AppContext, data: DataStore, work: WorkState, token: CancelToken) -> Outlook:
    """What the ledger of the work says of a release of it; nothing is debited, no file is made.

    Raises InputError for settings that are not complete, ``plan.invalid``, ``budget.amount``;
    StorageError ``ledger.*``.
    """
    method = priced_of(context.registry.ready(work.method, THE_SETTINGS))
    if method is None:
        raise TypeError("not a method that spends")
    roles = {name: work.released_as(name) for name in data.columns}
    charge = method.price(roles, parse_parameters(method.parameters, work.parameters, THE_SETTINGS))
    desk, said = open_ledger(context, work.base, work.budget), set(texts_in(work.parameters))
    request = desk.request(
        charge.cost,
        data.sha256,
        data.columns,
        charge.purpose(method.title),
        neighbours=charge.neighbours,
        unit=charge.unit,
        title=work.title,
        content=data.content([name for name in data.columns if name in said], token),
    )
    found = desk.preview(request)
    refusal = found.refusal
    return Outlook(
        account=str(found.key),
        cost=str(charge.cost),
        spent=str(found.spent),
        after=str(found.after),
        limit="" if found.limit is None else str(found.limit),
        left="" if found.left is None else str(found.left),
        refusal="" if refusal is None else refusal.sentence,
        hint="" if refusal is None else refusal.hint,
        again=found.spent.count > 0,
        notes=tuple(note.sentence for note in (*found.notes, *budget_notes(charge.cost))),
    )


def declared_categories(
    work: WorkState, column: str, level: int, token: CancelToken
) -> tuple[str, ...]:
    """The categories that the hierarchy of a column declares at a level, in its order.

    Raises InputError ``cube.no-domain``, ``cube.level`` and what reading the file raises.
    """
    from dpdesk.engine.private.declared import declare
    from dpdesk.io.hierarchyfile import open_hierarchy

    choice = work.hierarchies.get(column)
    if isinstance(choice, HierarchyFile):
        token.check()
        reading = open_hierarchy(work.base / choice.path, column)
        return declare(column, None, reading.hierarchy, level, None, THE_SETTINGS).categories
    if isinstance(choice, HierarchyBuilder):
        return declare(column, None, choice, level, None, THE_SETTINGS).categories
    raise InputError(
        "cube.no-domain",
        msg("`{column}` has no hierarchy file that declares its categories.", column=column),
        hint="Enter them, or give the column a hierarchy file in Hierarchies.",
        details={"key": "domains"},
    )


def declaring(work: WorkState) -> frozenset[str]:
    """The columns whose hierarchies declare their categories, at the levels that the work asks for.

    A hierarchy file does; one that is made from the data, or edited beside them, does not.
    """
    from dpdesk.engine.private.declared import declare

    levels = work.parameters.get("levels")
    levels = levels if isinstance(levels, Mapping) else {}

    def declares(column: str, choice: object) -> bool:
        if not isinstance(choice, HierarchyBuilder):
            return isinstance(choice, HierarchyFile)
        asked = levels.get(column, 0)
        level = asked if isinstance(asked, int) else 0
        try:
            declare(column, None, choice, level, None, THE_SETTINGS)
        except InputError:
            return False
        return True

    return frozenset(name for name, choice in work.hierarchies.items() if declares(name, choice))


def listed_codes(data: DataStore, column: str) -> tuple[str, ...]:
    """The codes that the file itself lists for a column, without those that mean missing.

    Such a list says nothing about any person; empty where the file has none.
    """
    variable = data.book.get(column)
    if variable is None:
        return ()
    return tuple(code for code in variable.value_labels if not variable.missing.holds(code))


def values_in_data(data: DataStore, column: str, token: CancelToken) -> tuple[str, ...]:
    """The values of a column, numbers by size before texts by their letters.

    A suggestion that somebody must confirm, never a domain.
    """
    table = data.frequency_table([column], token)
    return tuple(sorted((str(value) for value in table.domains[0]), key=_by_size))


def _by_size(value: str) -> tuple[bool, Fraction, str]:
    number = _NUMBER.fullmatch(value) is not None
    return not number, Fraction(value.replace(",", ".")) if number else Fraction(0), value
