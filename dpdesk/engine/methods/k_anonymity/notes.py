"""What a newcomer should know of a chosen node: which attributes it takes away altogether."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from dpdesk.core.hierarchy import Hierarchy
from dpdesk.core.jobs import CancelToken, Note, Report, StepProgress
from dpdesk.core.messages import counted, msg
from dpdesk.core.recoding import AnyRecoding
from dpdesk.core.schema import Role
from dpdesk.engine.method import LaterCharts, MethodInput, Outcome
from dpdesk.engine.methods.k_anonymity.further_settings import released_roles
from dpdesk.engine.methods.k_anonymity.guarantee import UNCHANGED_ROLES, name_list
from dpdesk.engine.methods.k_anonymity.settings import Settings
from dpdesk.engine.recoded import rows_alone
from dpdesk.engine.telling import (
    TELL,
    Telling,
    released_alone_note,
    telling,
    telling_chart,
    telling_notes,
)

# What columns that are released unchanged tell of sensitive and of generalised ones.


EVEN = 2
"""A guess that is right more often than once in two calls for a warning."""
_PART = 100


def told_of(
    given: MethodInput, quasi: Sequence[str], token: CancelToken, report: Report
) -> tuple[Telling, ...]:
    """What the columns that are released unchanged tell of the original values of others.

    Of the sensitive ones, and of the quasi-identifiers ``quasi``: where such a column gives the
    original value away, generalising it hides nothing. Counted in all rows of the source. Raises
    Cancelled.
    """
    unchanged = [name for name, role in _roles(given).items() if role in UNCHANGED_ROLES]
    targets = (*given.with_role(Role.SENSITIVE), *quasi)
    found = []
    for place, name in enumerate(targets):
        token.check()
        others = [other for other in unchanged if other != name]
        if others:
            found.append(telling(given.source, name, others, {}, token))
        report(StepProgress(TELL, place + 1, len(targets), "columns"))
    return tuple(found)


def _roles(given: MethodInput) -> Mapping[str, Role]:
    """The roles of the columns; one of households that is left out is not released."""
    return released_roles(given.roles, Settings.from_parameters(given.parameters).handling)


def hidden_at(found: Sequence[Telling], node: Mapping[str, int]) -> list[Telling]:
    """What is told of columns whose values are hidden where quasi-identifiers are at ``node``.

    A quasi-identifier at level 0 is released as it is: there is nothing to give away.
    """
    return [each for each in found if node.get(each.column) != 0]


def notes_at(found: Sequence[Telling], node: Mapping[str, int]) -> tuple[Note, ...]:
    """Warnings where the quasi-identifiers are released at the levels of ``node``.

    Fine columns reveal a few values by coincidence, so only more than one row in a hundred is worth
    a warning.
    """
    return telling_notes(hidden_at(found, node), EVEN, _PART)


def with_telling(
    outcome: Outcome, given: MethodInput, token: CancelToken, report: Report
) -> Outcome:
    """The outcome with what columns tell of each other, and of rows, among its risks and notes.

    ``rows_alone`` are released rows whose values in all released columns no other one has: those
    of quasi-identifiers at their levels, and those that are released unchanged. Pseudonyms are left
    out, for nobody knows one of a person.
    """
    node = outcome.result.get("node")
    levels = node if isinstance(node, Mapping) else unchanged(outcome.required_recoding)
    quasi = given.with_role(Role.QUASI_IDENTIFIER)
    found = told_of(given, [name for name in quasi if levels.get(name) != 0], token, report)
    roles = (Role.QUASI_IDENTIFIER, *UNCHANGED_ROLES)
    names = [name for name, role in _roles(given).items() if role in roles]
    alone = rows_alone(given.source, names, outcome.required_recoding, token)
    told: dict[str, object] = {"telling": [each.as_json() for each in found]}
    told |= {} if alone is None else {"rows_alone": alone}
    rows = outcome.required_recoding.rows_out
    notes = (
        *outcome.notes,
        *notes_at(found, levels),
        *(() if alone is None else released_alone_note(len(names), alone, rows)),
    )
    more = telling_chart(hidden_at(found, levels), EVEN)
    charts = LaterCharts(lambda: (*outcome.charts, *more))
    return replace(outcome, risk={**outcome.risk, **told}, charts=charts, notes=notes)


def unchanged(recoding: AnyRecoding) -> dict[str, int]:
    """Level 0 of each quasi-identifier of which every released value is the original one."""
    same = {name: all(a == b for a, b in recoding.pairs(name)) for name in recoding.attributes}
    return {name: 0 for name, kept in same.items() if kept}


REMOVED = "hierarchy.removed"
COARSE = "hierarchy.coarse"
TOLD = "hierarchy.suppressed-values"


def node_notes(
    attributes: Sequence[str], hierarchies: Sequence[Hierarchy], levels: Sequence[int]
) -> tuple[Note, ...]:
    """Sentences about attributes that are released at the top level, where all values are one.

    Those whose hierarchy has no level in between are named a second time: there, more levels
    would help. Attributes with a single value lose nothing and are left out.
    """
    removed = [
        (name, hierarchy)
        for name, hierarchy, level in zip(attributes, hierarchies, levels, strict=True)
        if level == hierarchy.height and len(hierarchy.leaves) > 1
    ]
    if not removed:
        return ()
    names = [f"`{name}`" for name, _ in removed]
    roots = sorted({hierarchy.labels[-1][0] for _, hierarchy in removed})
    found = [
        Note(
            REMOVED,
            counted(
                "{names} is removed completely: every row shows {root}.",
                "{names} are removed completely: every row shows {root}.",
                n=len(names),
                names=name_list(names),
                root=name_list([f"`{root}`" for root in roots]),
            ),
        )
    ]
    coarse = [f"`{name}`" for name, h in removed if h.height == 1 and len(h.leaves) > 2]
    if coarse:
        found.append(
            Note(
                COARSE,
                counted(
                    "{coarse} has no level between the original values and the top; levels in "
                    "between could keep some of the detail.",
                    "{coarse} have no level between the original values and the top; levels in "
                    "between could keep some of the detail.",
                    n=len(coarse),
                    coarse=name_list(coarse),
                ),
            )
        )
    return tuple(found)


def levels_note(names: Sequence[str]) -> tuple[Note, ...]:
    """A warning that released levels follow from values of suppressed rows as well.

    ``names`` are the attributes whose released labels, or number of levels, the plan would make
    otherwise of the released rows alone.
    """
    return tuple(Note(TOLD, _level_words(name)) for name in names)


def _level_words(name: str) -> str:
    return msg(
        "The released values of `{column}`, or its level, reveal values that only suppressed "
        "rows have: made from the released rows alone, its levels would be different; write "
        "out in the plan what makes them, or use a hierarchy from a file.",
        column=name,
    )
