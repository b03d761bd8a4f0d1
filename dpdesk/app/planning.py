"""From a plan to a run that is ready: data opened, names checked, hierarchies and keys read."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from dpdesk.app.idle_columns import left_out, unused_columns
from dpdesk.app.prepared import PreparedCells, PreparedRows
from dpdesk.core.errors import InputError
from dpdesk.core.frequency import Population
from dpdesk.core.hierarchy import Hierarchy
from dpdesk.core.jobs import CancelToken, Note, Report, silent
from dpdesk.core.messages import msg
from dpdesk.core.parameters import (
    ParameterValue,
    nearest,
    parameters_without_effect,
    parse_parameters,
)
from dpdesk.core.plain import quoted, show
from dpdesk.core.plan import AttributeSpec, HierarchyBuilder, HierarchyFile, Plan
from dpdesk.core.schema import Role, same_forms, shown_form, spelling
from dpdesk.core.source_spec import COARSER_ELSEWHERE, SourceSpec
from dpdesk.engine.method import (
    CellsInput,
    CellsMethod,
    Method,
    MethodInput,
    RowsMethod,
)
from dpdesk.engine.registry import cells_of, paid_rows_of, rows_of

if TYPE_CHECKING:
    from dpdesk.app.context import AppContext
    from dpdesk.io.store import DataStore
    from dpdesk.io.workspace import Workspace
    from dpdesk.project.work import WorkState


# Codes for missing values are none of the numbers that a range of a recoding covers.


_LISTED = 5


def missing_apart(hierarchy: Hierarchy, data: DataStore) -> tuple[Hierarchy, str]:
    """The hierarchy without codes that are declared missing and only a range covers; a note.

    Depends on what the plan and the source declare, not on the rows. The note is empty when there
    is nothing to say. Raises InputError ``source.unknown-column``.
    """
    gone = sorted(data.declared_missing(hierarchy.attribute, hierarchy.ranged))
    if not gone:
        return hierarchy, ""
    listed = ", ".join(f"`{code}`" for code in gone[:_LISTED])
    listed += ", …" if len(gone) > _LISTED else ""
    return hierarchy.without_ranged(gone), (
        msg(
            "Column `{column}`: a range of its hierarchy covers {codes}, declared missing; "
            "missing values are not part of any range.",
            column=hierarchy.attribute,
            codes=listed,
        )
    )


ON_FILES = frozenset({"hierarchy.reading", "population.reading"})
"""Notes on files that a release does not hold, so that nobody can make them again from it."""


@dataclass(frozen=True)
class PlacedPlan:
    """A plan with the folder where its paths start, and what messages call it.

    ``hierarchies`` are values at hand that replace what the plan says for their attributes.
    """

    plan: Plan
    base: Path
    name: str
    hierarchies: Mapping[str, Hierarchy] = field(default_factory=dict)


def placed(plan: Path | PlacedPlan) -> PlacedPlan:
    """A plan that is at hand, or that of a file. Raises what reading a plan raises."""
    from dpdesk.io.planfile import read_plan

    if isinstance(plan, PlacedPlan):
        return plan
    return PlacedPlan(read_plan(plan), plan.absolute().parent, plan.name)


def placed_work(work: WorkState, name: str) -> PlacedPlan:
    """The plan of the work, with the hierarchies that were made by hand."""
    return PlacedPlan(work.to_plan(), work.base, name, work.hand_made())


def prepare_rows(
    context: AppContext,
    asked: PlacedPlan,
    token: CancelToken,
    report: Report,
    data: DataStore | None = None,
    *,
    spending: bool = False,
) -> PreparedRows:
    """Make a plan that releases rows ready; see :func:`dpdesk.app.running.prepare`.

    A method that spends gets its source as the plan says it is read, as private methods do: where
    nothing is at hand, and where something may be spent on it. Raises InputError
    ``method.no-trial`` for a plan that draws noise.
    """
    plan, base, where = asked.plan, asked.base, asked.name
    chosen, parameters = check_protection(context, plan, where)
    method = rows_of(chosen)
    if method is None:
        raise _no_trial(chosen, where)
    notes = _Notes(report)
    ready = read_files(asked, token, notes.add, _Uses(method, parameters).has_hierarchy(plan))
    store = data
    if store is None or (spending and paid_rows_of(method) is not None):
        store = _opened(context, asked, method, parameters, token, report)
    try:
        plan, given = _noted(
            plan, method, parameters, ready, store, store.name, where, token, notes
        )
        file = str(given.parameters.get("population") or "")
        if file:
            place = base / file, context.workspace, token
            people = read_population(plan, given, *place)
            given = replace(given, population=people)
            for sentence in people.notes:
                told = msg("Population file {file}: {note}", file=people.name, note=sentence)
                notes.add("population.reading", told)
    except BaseException:
        if store is not data:
            store.close()
        raise
    return PreparedRows(
        plan=plan,
        plan_name=where,
        base=base,
        method=method,
        given=given,
        data=store,
        home=context.home,
        notes=tuple(notes.sentences),
        recorded_notes=tuple(notes.recorded),
        owns_data=store is not data,
    )


def _opened(
    context: AppContext,
    asked: PlacedPlan,
    method: RowsMethod,
    parameters: Mapping[str, ParameterValue],
    token: CancelToken,
    report: Report,
) -> DataStore:
    """The source, read as methods of its kind read it."""
    priced = paid_rows_of(method)
    if priced is None:
        return open_data(context, asked.plan, asked.base, token, report)
    from dpdesk.app.private.pinning import open_pinned

    drawn = priced.drawn_from(parameters)
    return open_pinned(context, asked, token, report, drawn)


def read_population(
    plan: Plan,
    given: MethodInput,
    path: Path,
    workspace: Workspace,
    token: CancelToken,
) -> Population:
    """The rows of a file of the population by the quasi-identifiers of a plan.

    It is read as the source is, with the same values that mean a missing one, and numbers are made
    coarser alike. Raises InputError
    ``plan.population`` for one without these columns, and what opening it raises.
    """
    from dpdesk.io.store import DataStore

    names = given.with_role(Role.QUASI_IDENTIFIER)
    types = tuple(each for each in plan.source.types if each[0] in names)
    coarser = tuple(each for each in plan.source.coarsen if each[0] in names)
    spec = SourceSpec(
        str(path.resolve()), missing=plan.source.missing, types=types, coarsen=coarser
    )
    with closing(DataStore.open(spec, path.parent, workspace, token, silent)) as store:
        absent = [name for name in names if name not in store.columns]
        if absent:
            raise InputError(
                "plan.population",
                msg(
                    "{file}: the column `{name}` is missing, expected each quasi-identifier of the "
                    "plan in the population.",
                    file=store.name,
                    name=absent[0],
                ),
                details={"key": "population", "attribute": absent[0]},
            )
        table = store.frequency_table(names, token)
        told = tuple(store.reading.notes)
        return Population(store.name, store.sha256, table, store.size, told)


def _noted(
    plan: Plan,
    method: RowsMethod,
    parameters: Mapping[str, ParameterValue],
    ready: Mapping[str, Hierarchy],
    store: DataStore,
    name: str,
    where: str,
    token: CancelToken,
    notes: _Notes,
) -> tuple[Plan, MethodInput]:
    """The plan as the source spells its columns, and what its method gets from the source.

    ``ready`` are the hierarchies of files; ``name`` is what the source is called in notes.
    """
    priced = paid_rows_of(method)
    if priced is None:
        _note_budget(plan, notes.add)
    note_without_effect(plan, method, parameters, notes.add)
    for sentence in store.reading.notes:
        notes.add("source.reading", msg("{file}: {note}", file=name, note=sentence))
    named = store.reading.header or plan.source.header is not None
    plan, parameters, made = spelled_plan(plan, method, ready, store.columns, where)
    uses = _Uses(method, parameters)
    check_columns(plan, store.columns, store.name, where, named=named)
    roles = uses.effective(plan.column_roles(store.columns))
    method.check(store.columns, roles, parameters, where)
    store.leave_out(left_out(plan, roles))
    # Nothing may be noted of what a column holds whose values are drawn from a budget.
    drawn = frozenset[str]() if priced is None else priced.drawn_from(parameters)
    made = {column: each for column, each in made.items() if column not in drawn}
    made = _make_hierarchies(plan, uses, roles, made, store, token, notes, where)
    if Role.QUASI_IDENTIFIER in uses.roles:
        _check_leaves(plan, roles, made, store, token, notes, where)
    seen = {column: role for column, role in roles.items() if column not in drawn}
    _note_forms(seen, store, token, notes)
    ordered = {column: made[column] for column in store.columns if column in made}
    linked, declared = plan.linkages(store.columns), plan.made_hierarchies()
    given = MethodInput(
        roles, ordered, parameters, where, source=store, linkages=linked, made=declared
    )
    return plan, replace(given, decimal=store.reading.decimal)


def prepare_cells(
    context: AppContext,
    asked: PlacedPlan,
    token: CancelToken,
    report: Report,
    data: DataStore | None = None,
) -> PreparedCells:
    """Make a plan that releases protected tables ready; see :func:`dpdesk.app.running.prepare`.

    Raises InputError ``method.no-trial`` for a plan of another kind.
    """
    from dpdesk.app.cells import edit_keys
    from dpdesk.app.marks import with_marks

    plan, base, where = with_marks(asked.plan, asked.base), asked.base, asked.name
    chosen, parameters = check_protection(context, plan, where)
    method = cells_of(chosen)
    if method is None:
        raise _no_trial(chosen, where)
    notes = _Notes(report)
    ready = read_files(asked, token, notes.add, _Uses(method, parameters).has_hierarchy(plan))
    ready |= _own_hierarchies(plan, base, token, notes)
    store = data or open_data(context, plan, base, token, report)
    try:
        plan, given = noted_cells(plan, method, ready, store, store.name, where, token, notes.add)
    except BaseException:
        if data is None:
            store.close()
        raise
    people = str((plan.budget or {}).get("population") or "")
    given = replace(given, keys=partial(edit_keys, context.home, people, store.sha256))
    return PreparedCells(
        plan=plan,
        plan_name=where,
        base=base,
        method=method,
        given=given,
        data=store,
        home=context.home,
        notes=tuple(notes.sentences),
        recorded_notes=tuple(notes.recorded),
        owns_data=data is None,
    )


def noted_cells(
    plan: Plan,
    method: CellsMethod,
    ready: Mapping[str, Hierarchy],
    store: DataStore,
    name: str,
    where: str,
    token: CancelToken,
    note: Callable[[str, str], None],
) -> tuple[Plan, CellsInput]:
    """The plan as the source spells its columns, and what its method gets from the source.

    ``ready`` are the hierarchies of files; ``name`` is what the source is called in notes.
    """
    _note_budget(plan, note)
    parameters = parse_parameters(method.parameters, plan.protection.parameters, where)
    note_without_effect(plan, method, parameters, note)
    for sentence in store.reading.notes:
        note("source.reading", msg("{file}: {note}", file=name, note=sentence))
    named = store.reading.header or plan.source.header is not None
    plan, parameters, made = spelled_plan(plan, method, ready, store.columns, where)
    check_columns(plan, store.columns, store.name, where, named=named)
    roles = _Uses(method, parameters).effective(plan.column_roles(store.columns))
    method.check(store.columns, roles, parameters, where)
    store.leave_out(unused_columns(plan, roles))
    made = ranges_apart(made, store, note)
    for column, spec in plan.attributes.items():
        if isinstance(spec.hierarchy, HierarchyBuilder) and column not in made:
            place = msg("{where}, [attributes.{name}]", where=where, name=column)
            made[column] = build_from(spec.hierarchy, column, store, token, place)
            note_idle_options(column, spec.hierarchy, note)
    mark = store.reading.decimal
    return plan, CellsInput(roles, made, parameters, where, source=store, decimal=mark)


def _own_hierarchies(
    plan: Plan, base: Path, token: CancelToken, notes: _Notes
) -> dict[str, Hierarchy]:
    """Hierarchy files that one of several tables alone has, under names of their own."""
    from dpdesk.app.cells import own_files
    from dpdesk.io.hierarchyfile import open_hierarchy

    found: dict[str, Hierarchy] = {}
    for name, (column, file) in own_files(plan).items():
        token.check()
        reading = open_hierarchy(base / file, column)
        found[name] = reading.hierarchy
        for sentence in reading.notes:
            notes.add("hierarchy.reading", sentence)
    return found


def prepared_again(
    plan: Plan,
    method: RowsMethod,
    store: DataStore,
    recorded: Mapping[str, Hierarchy],
    name: str,
    token: CancelToken,
    where: str,
) -> tuple[dict[str, Hierarchy], list[str]]:
    """The hierarchies of a release made again, and what was noted before its method ran.

    ``recorded`` are the hierarchies in its evidence, which stand for the files of the plan; all
    others are built from the data. Raises what :func:`prepare_rows` raises.
    """
    files = {
        column: recorded[column]
        for column, spec in plan.attributes.items()
        if column in recorded and isinstance(spec.hierarchy, HierarchyFile)
    }
    parameters = parse_parameters(method.parameters, plan.protection.parameters, where)
    notes = _Notes(silent)
    _, given = _noted(plan, method, parameters, files, store, name, where, token, notes)
    return dict(given.hierarchies), notes.sentences


class _Uses:
    """What a method makes of the roles of columns."""

    def __init__(self, method: Method, parameters: Mapping[str, ParameterValue]) -> None:
        self._method = method
        self._parameters = parameters
        self.roles = method.roles_with_hierarchy(parameters)

    def effective(self, roles: Mapping[str, Role]) -> dict[str, Role]:
        return dict(self._method.effective_roles(roles, self._parameters))

    def has_hierarchy(self, plan: Plan) -> set[str]:
        """The attributes of the plan whose hierarchies are used."""
        roles = self.effective({name: spec.role for name, spec in plan.attributes.items()})
        return {name for name, role in roles.items() if role in self.roles}


def check_protection(
    context: AppContext, plan: Plan, where: str
) -> tuple[Method, dict[str, ParameterValue]]:
    """The plan's method and its parameters, exactly read; needs no data.

    Raises InputError ``plan.*``, RefusedError ``plan.silent-method`` for a method that leaves out
    what nothing can be released without.
    """
    place = f"{where}, [protection]"
    method = context.registry.ready(plan.protection.method, place)
    for key in plan.protection.parameters:
        if key in method.later:
            raise InputError(
                "plan.not-available",
                msg(
                    "{place}: the key `{key}` is not available in this version.",
                    place=place,
                    key=key,
                ),
                hint="Remove it; nothing that it asks for would be checked.",
                details={"key": key},
            )
    _check_pseudonyms(context, plan, method, where)
    if plan.source.coarsen and not method.capabilities.takes_coarsened:
        raise InputError(
            "source.coarsen",
            msg(
                "{where}, [source]: `coarsen` applies to methods that release rows without noise, "
                "and {method} is not one of them.",
                where=where,
                method=method.id,
            ),
            hint=COARSER_ELSEWHERE,
            details={"key": "coarsen"},
        )
    return method, parse_parameters(method.parameters, plan.protection.parameters, place)


def _check_pseudonyms(context: AppContext, plan: Plan, method: Method, where: str) -> None:
    """The method allows pseudonyms, and their keys are at hand."""
    for name in plan.pseudonyms if method.pseudonyms else ():
        raise InputError(
            "plan.no-pseudonyms",
            msg(
                "{where}, [attributes.{name}]: a release of the method `{id}` can hold no "
                "pseudonyms, because {why}.",
                where=where,
                name=name,
                id=method.id,
                why=method.pseudonyms,
            ),
            hint="Remove the key `pseudonym`, so that the identifier is left out.",
            details={"key": "pseudonym"},
        )
    if plan.pseudonyms:
        from dpdesk.app.pseudonyms import check_keys

        check_keys(context.home, plan)


def spelled_plan(
    plan: Plan,
    method: Method,
    hierarchies: Mapping[str, Hierarchy],
    columns: Sequence[str],
    where: str,
) -> tuple[Plan, dict[str, ParameterValue], dict[str, Hierarchy]]:
    """The plan, its parameters and hierarchies with names of columns as the source writes them.

    Raises InputError ``plan.name-forms``.
    """
    spelled = spelling(columns)
    plan = plan.spelled_as(columns, where)
    place = f"{where}, [protection]"
    parameters = parse_parameters(method.parameters, plan.protection.parameters, place)
    named = {
        spelled(name): hierarchy
        if spelled(name) == name
        else replace(hierarchy, attribute=spelled(name))
        for name, hierarchy in hierarchies.items()
    }
    return plan, parameters, named


def check_columns(
    plan: Plan, columns: Sequence[str], source: str, where: str, *, named: bool = True
) -> None:
    """Raise InputError ``plan.unknown-column`` for an attribute that the data do not have.

    ``named`` is False when the file was guessed to have no line of names.
    """
    known = set(columns)
    for name in plan.attributes:
        if name in known:
            continue
        near = nearest(name, columns)
        raise InputError(
            "plan.unknown-column",
            msg(
                "{where}, [attributes.{name}]: {source} has no column `{name}`.",
                where=where,
                name=name,
                source=source,
            ),
            hint=_unknown_hint(near, columns) if named else _HEADER_HINT,
            details={"key": name, "nearest": near},
        )


_HEADER_HINT = (
    "Its first line was taken for data; if it holds the names, set `header = true` under [source]."
)


def _unknown_hint(near: str | None, columns: Sequence[str]) -> str:
    return msg("Did you mean `{near}`?", near=near) if near else _columns_hint(columns)


def _columns_hint(columns: Sequence[str]) -> str:
    shown = ", ".join(f"`{name}`" for name in columns[:8])
    return msg(
        "Its columns are {shown}{columns}.", shown=shown, columns=", …" if len(columns) > 8 else ""
    )


class _Notes:
    """Sentences that are reported as they come and kept for the evidence.

    Those on files of hierarchies and of the population are ``recorded`` apart: a release does not
    hold these files.
    """

    def __init__(self, report: Report) -> None:
        self._report = report
        self.sentences: list[str] = []
        self.recorded: list[str] = []

    def add(self, code: str, sentence: str) -> None:
        (self.recorded if code in ON_FILES else self.sentences).append(sentence)
        self._report(Note(code, sentence))


def _note_budget(plan: Plan, note: Callable[[str, str], None]) -> None:
    if set(plan.budget or ()) - {"population"}:  # whom the data are about matters to every method
        note(
            "plan.unused-budget",
            msg(
                "The plan's [budget] is not used: the method `{method}` spends none.",
                method=plan.protection.method,
            ),
        )


def _no_trial(method: Method, where: str) -> InputError:
    if cells_of(method) is not None:
        return InputError(
            "method.no-rows",
            msg(
                "{where}: `{method}` releases tables of cells, and this applies only to rows.",
                where=where,
                method=method.id,
            ),
            hint="Run the plan with `dpdesk run`; its report says which cells are unsafe.",
            details={"key": "method"},
        )
    return InputError(
        "method.no-trial",
        msg(
            "{where}: `{method}` draws noise, so trying it on the data would cost budget.",
            where=where,
            method=method.id,
        ),
        hint="Run the plan with `dpdesk run`; its errors are known before anything is spent.",
        details={"key": "method"},
    )


def note_without_effect(
    plan: Plan,
    method: Method,
    parameters: Mapping[str, ParameterValue],
    note: Callable[[str, str], None],
) -> None:
    """Tell, by code and sentence, which keys of the plan do not matter beside the others."""
    given = plan.protection.parameters
    for key, by in parameters_without_effect(method.parameters, parameters):
        if key in given:
            value = parameters[by]
            beside = f"{by} = {show(value)}" if isinstance(value, str) else by
            note(
                "plan.without-effect",
                msg("`{key}` has no effect together with `{other}`.", key=key, other=beside),
            )


def read_files(
    asked: PlacedPlan,
    token: CancelToken,
    note: Callable[[str, str], None],
    wanted: Collection[str],
) -> dict[str, Hierarchy]:
    """The hierarchies at hand and the files of the ``wanted`` columns; InputError for a bad one.

    They are read before the data so that a bad one is told at once.
    """
    from dpdesk.io.hierarchyfile import open_hierarchy

    found = dict(asked.hierarchies)
    for name, spec in asked.plan.attributes.items():
        if name in wanted and name not in found and isinstance(spec.hierarchy, HierarchyFile):
            token.check()
            reading = open_hierarchy(asked.base / spec.hierarchy.path, name)
            found[name] = reading.hierarchy
            for sentence in reading.notes:
                note("hierarchy.reading", sentence)
    return found


def open_data(
    context: AppContext, plan: Plan, base: Path, token: CancelToken, report: Report
) -> DataStore:
    """The plan's source, loaded; the caller closes it. Raises InputError, StorageError."""
    from dpdesk.io.store import DataStore

    return DataStore.open(plan.source, base, context.workspace, token, report)


def ranges_apart(
    ready: Mapping[str, Hierarchy],
    store: DataStore,
    note: Callable[[str, str], None],
    more: str = "",
) -> dict[str, Hierarchy]:
    """The hierarchies of files without codes for missing values in their ranges.

    ``more`` is added to the note.
    """
    found = dict(ready)
    for name, hierarchy in ready.items():
        if hierarchy.ranged and name in store.columns:
            found[name], sentence = missing_apart(hierarchy, store)
            if sentence:
                note("hierarchy.reading", sentence + more)
    return found


def _make_hierarchies(
    plan: Plan,
    uses: _Uses,
    roles: Mapping[str, Role],
    ready: Mapping[str, Hierarchy],
    store: DataStore,
    token: CancelToken,
    notes: _Notes,
    where: str,
) -> dict[str, Hierarchy]:
    made = ranges_apart(ready, store, notes.add)
    for name, role in roles.items():
        spec = plan.attributes.get(name, AttributeSpec()).hierarchy
        if role not in uses.roles:
            _note_unused(name, role, spec is not None, notes)
        elif name in ready:
            continue
        elif isinstance(spec, HierarchyBuilder):
            made[name] = build_from(
                spec,
                name,
                store,
                token,
                msg("{where}, [attributes.{name}]", where=where, name=name),
            )
            note_idle_options(name, spec, notes.add)
            _note_chosen_widths(name, spec, notes)
        elif role is Role.QUASI_IDENTIFIER:
            made[name] = _default(name, store, token, notes)
    return made


def build_from(
    builder: HierarchyBuilder, name: str, store: DataStore, token: CancelToken, where: str
) -> Hierarchy:
    """The hierarchy that a builder makes for the values of a column; InputError when it cannot."""
    from dpdesk.engine.hierarchies.builders import build_hierarchy

    table = store.frequency_table([name], token)
    values = table.domains[0]
    missing = [values[code] for code in sorted(table.missing[0])] if table.missing else []
    return build_hierarchy(name, builder, values, missing, where, store.reading.decimal)


def _default(name: str, store: DataStore, token: CancelToken, notes: _Notes) -> Hierarchy:
    from dpdesk.engine.hierarchies.preview import default_hierarchy

    notes.add(
        "hierarchy.default",
        msg(
            "`{column}` has no hierarchy: it is kept unchanged or replaced by `*` as a whole.",
            column=name,
        ),
    )
    return default_hierarchy(name, store.frequency_table([name], token).domains[0])


def _check_leaves(
    plan: Plan,
    roles: Mapping[str, Role],
    ready: Mapping[str, Hierarchy],
    store: DataStore,
    token: CancelToken,
    notes: _Notes,
    where: str,
) -> None:
    """Every value of a quasi-identifier has a leaf, or the error names the hierarchy's file.

    Noted are missing values that are released by the name of a group of others.
    """
    from dpdesk.engine.hierarchies.preview import align, missing_in_groups

    for name, role in roles.items():
        if role is Role.QUASI_IDENTIFIER:
            token.check()
            spec = plan.attributes[name].hierarchy
            origins = {name: spec.path} if isinstance(spec, HierarchyFile) else {}
            aligned = align(store.frequency_table([name], token), ready, where, origins)
            for value in missing_in_groups(aligned, 0):
                notes.add(
                    "hierarchy.same-label",
                    msg(
                        "Column `{column}`: {value} is a missing value, and also the name of a "
                        "group of its hierarchy; both are released as {value}.",
                        column=name,
                        value=quoted(value),
                    ),
                )


def _note_forms(
    roles: Mapping[str, Role], store: DataStore, token: CancelToken, notes: _Notes
) -> None:
    """Values that look alike and count as different ones: a group seems to hold more of them."""
    for name, role in roles.items():
        if role in (Role.QUASI_IDENTIFIER, Role.SENSITIVE):
            values = same_forms(store.frequency_table([name], token).domains[0])
            if values is not None:
                first, second = (quoted(shown_form(value)) for value in values)
                notes.add(
                    "source.value-forms",
                    msg(
                        "Column `{name}`: {first} and {second} are one value in two Unicode "
                        "forms and count as two; save the source in one form (NFC).",
                        name=name,
                        first=first,
                        second=second,
                    ),
                )


def _note_chosen_widths(name: str, spec: HierarchyBuilder, notes: _Notes) -> None:
    if spec.kind == "intervals" and not {"widths", "cuts"} & set(spec.options):
        notes.add(
            "hierarchy.from-data",
            msg(
                "The intervals of `{column}` were chosen from the range of all its values, so "
                "their width reveals something about the largest and the smallest one; give "
                "`widths` to choose them yourself.",
                column=name,
            ),
        )


def note_idle_options(
    name: str, builder: HierarchyBuilder, note: Callable[[str, str], None]
) -> None:
    """Tell which options of a builder do not matter beside the others."""
    from dpdesk.engine.hierarchies.builders import idle_options

    for key, by in idle_options(builder):
        note(
            "plan.without-effect",
            msg(
                (
                    "[attributes.{column}], hierarchy: `{key}` has no effect together with "
                    "`{other}`."
                ),
                column=name,
                key=key,
                other=by,
            ),
        )


def _note_unused(name: str, role: Role, has_hierarchy: bool, notes: _Notes) -> None:
    if has_hierarchy:
        quasi = role is Role.QUASI_IDENTIFIER
        why = "no k is asked for" if quasi else msg("its role is {role}", role=role.value)
        notes.add(
            "hierarchy.unused",
            msg("The hierarchy of `{name}` is not used, because {why}.", name=name, why=why),
        )
