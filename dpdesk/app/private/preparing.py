"""From a plan to a design that is ready to be paid for; the data are opened, not looked at."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import TYPE_CHECKING

from dpdesk.app.planning import (
    ON_FILES,
    PlacedPlan,
    check_columns,
    check_protection,
    note_idle_options,
    note_without_effect,
    ranges_apart,
    read_files,
    spelled_plan,
)
from dpdesk.app.prepared import PreparedTables
from dpdesk.app.private.pinning import open_pinned, used_columns
from dpdesk.core.budget import Budget, protects
from dpdesk.core.hierarchy import Hierarchy
from dpdesk.core.jobs import CancelToken, Note, Report
from dpdesk.core.messages import msg
from dpdesk.core.parameters import ParameterValue
from dpdesk.core.plain import quoted
from dpdesk.core.plan import HierarchyBuilder, Plan
from dpdesk.core.schema import spelling
from dpdesk.engine.private.method import Design, PrivateInput, PrivateMethod
from dpdesk.engine.registry import noise_of

if TYPE_CHECKING:
    from dpdesk.app.context import AppContext
    from dpdesk.io.store import DataStore

_SHOWN = 5
_NONE_RECORDED: Mapping[str, Hierarchy] = {}
OUTSIDE = (
    " Rows with them go to the category that `outside` names, and without one into no table, not "
    "even into the total."
)
"""What becomes of missing values that a range of a hierarchy covers."""


def prepare_tables(
    context: AppContext,
    asked: PlacedPlan,
    token: CancelToken,
    report: Report,
    data: DataStore | None = None,
    recorded: Mapping[str, Hierarchy] = _NONE_RECORDED,
    *,
    spending: bool = False,
) -> PreparedTables:
    """Make a plan of a private method ready; see :func:`dpdesk.app.running.prepare`.

    The design depends on nothing of the data but the names of their columns. ``recorded`` are
    hierarchies of the plan's files as the evidence of a release keeps them; the files are not read
    then. Unlike those at hand they declare categories, as the files did. ``data`` serve
    for their names alone: to be measured or tried (``spending``), the source is read again, as the
    plan says (:mod:`dpdesk.app.private.pinning`).
    """
    plan, where, by_hand = asked.plan, asked.name, asked.hierarchies
    recorded_notes: list[str] = []

    def note(code: str, sentence: str) -> None:
        if code in ON_FILES:
            recorded_notes.append(sentence)
        report(Note(code, sentence))

    from dpdesk.io.private.row_filter import read_filter

    read_filter(plan.source, msg("{where}, [source]", where=where))
    chosen, parameters = check_protection(context, plan, where)
    method = noise_of(chosen)
    if method is None:
        raise TypeError("the method draws no noise")
    known = replace(asked, hierarchies={**by_hand, **recorded})
    ready = read_files(known, token, note, plan.attributes)
    store = data
    if store is None or spending:
        store = open_pinned(context, asked, token, report)
    try:
        plan, parameters, ready = spelled_plan(plan, method, ready, store.columns, where)
        ready = ranges_apart(ready, store, note, OUTSIDE)
        spelled = spelling(store.columns)
        place, hand_made = f"{where}, [protection]", frozenset(map(spelled, by_hand))
        given = given_columns(plan, store, parameters, ready, where, place, hand_made)
        method.check(store.columns, given.roles, parameters, place)
        design = method.design(given, token, report)
        told = design_notes(plan, method, given, store.columns, design)
    except BaseException:
        if store is not data:
            store.close()
        raise
    for found in told:
        report(found)
    return PreparedTables(
        plan=plan,
        plan_name=where,
        base=asked.base,
        method=method,
        given=given,
        design=design,
        data=store,
        home=context.home,
        notes=tuple(found.sentence for found in told),
        recorded_notes=tuple(recorded_notes),
        owns_data=store is not data,
    )


def design_notes(
    plan: Plan,
    method: PrivateMethod,
    given: PrivateInput,
    columns: Sequence[str],
    design: Design,
) -> list[Note]:
    """What is noted of a plan and its design, made of ``given``; nothing comes from the data."""
    notes: list[Note] = []

    def note(code: str, sentence: str) -> None:
        notes.append(Note(code, sentence))

    note_without_effect(plan, method, given.parameters, note)
    _note_hierarchies(plan, columns, given.asked, note)
    return [*notes, *design.notes, *budget_notes(design.charge.cost)]


def _note_hierarchies(
    plan: Plan, columns: Sequence[str], asked: AbstractSet[str], note: Callable[[str, str], None]
) -> None:
    """Tell which hierarchies, and which of their options, the method does not use."""
    used = used_columns(plan, columns)
    for name, spec in plan.attributes.items():
        if spec.hierarchy is None:
            continue
        if name not in used or name not in asked:
            why = "the settings of the method do not name the column"
            if name in used:
                why = "the settings of the method need none for this column"
            note(
                "hierarchy.unused",
                msg("The hierarchy of `{name}` is not used, because {why}.", name=name, why=why),
            )
        elif isinstance(spec.hierarchy, HierarchyBuilder):
            note_idle_options(name, spec.hierarchy, note)
            _note_listed(plan, name, spec.hierarchy, note)


def _note_listed(
    plan: Plan, name: str, builder: HierarchyBuilder, note: Callable[[str, str], None]
) -> None:
    """Tell what listed categories leave of a builder, and where texts that it keeps apart go."""
    from dpdesk.engine.private.declared import kept_apart

    listed, levels = (plan.protection.parameters.get(key) for key in ("domains", "levels"))
    chosen = listed.get(name, ()) if isinstance(listed, Mapping) else ()
    level = levels.get(name, 0) if isinstance(levels, Mapping) else 0
    if chosen and not level:
        why = "`domains` lists the categories of the column and `levels` names no level"
        note(
            "hierarchy.unused",
            msg("The hierarchy of `{name}` is not used, because {why}.", name=name, why=why),
        )
        return
    lost = [text for text in kept_apart(builder) if text not in chosen]
    if lost:
        shown = ", ".join(quoted(text) for text in lost[:_SHOWN])
        shown += ", …" if len(lost) > _SHOWN else ""
        sentence = msg(
            "Column `{name}`: its hierarchy keeps {shown} apart.", name=name, shown=shown
        )
        note("hierarchy.reading", sentence + OUTSIDE)


def budget_notes(cost: Budget) -> tuple[Note, ...]:
    """That a budget buys nothing, where it is too large for that."""
    if protects(cost):
        return ()
    sentence = msg(
        "With {cost} the noise protects no one: the odds that a person is in the data may "
        "change by a factor of more than a hundred million, and the checklist refuses it.",
        cost=cost,
    )
    return (Note("private.no-protection", sentence),)


def given_columns(
    plan: Plan,
    store: DataStore,
    parameters: Mapping[str, ParameterValue],
    ready: Mapping[str, Hierarchy],
    where: str,
    place: str,
    hand_made: frozenset[str],
) -> PrivateInput:
    """What the design may know: of the data, the names of their columns alone.

    Raises InputError ``plan.unknown-column``.
    """
    named = store.reading.header or plan.source.header is not None
    check_columns(plan, store.columns, store.name, where, named=named)
    roles = plan.column_roles(store.columns)
    return PrivateInput(roles, {**builders(plan), **ready}, parameters, place, hand_made)


def builders(plan: Plan) -> dict[str, Hierarchy | HierarchyBuilder]:
    """The hierarchies that the plan makes by a builder, by column."""
    return {
        name: spec.hierarchy
        for name, spec in plan.attributes.items()
        if isinstance(spec.hierarchy, HierarchyBuilder)
    }
