"""Reading options that a plan of a private method must name: checked, and detected for the plan.

What is detected depends on the rows, so that one person could change how all others are read. It
is written into the plan once, before anything is spent, and stands there from then on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpdesk.core.errors import InputError
from dpdesk.core.jobs import CancelToken, Report
from dpdesk.core.messages import counted, msg
from dpdesk.core.plan import Plan, SourceSpec
from dpdesk.core.schema import ColumnType, DataProfile, Role, form
from dpdesk.core.source_spec import (
    DATE,
    FORMATS,
    NUMBER,
    TEXT,
    applies,
    lines_of,
    source_format,
    unnamed,
    untyped,
)
from dpdesk.project.work import THE_WORK

if TYPE_CHECKING:
    from dpdesk.app.context import AppContext
    from dpdesk.app.planning import PlacedPlan
    from dpdesk.io.reading import Reading
    from dpdesk.io.store import DataStore
    from dpdesk.io.workspace import Workspace

_TYPES = {ColumnType.INTEGER: NUMBER, ColumnType.DECIMAL: NUMBER, ColumnType.DATE: DATE}
_ISO = "ymd"
_UNTOLD = "utf-8"
"""The encoding of files that need not tell it, since they are all in it."""
_DETECTED = ("encoding", "delimiter", "decimal", "quote", "header")
_RARE = ("skip", "escape")
"""What is detected too, and named in a plan where there is something to name."""


def open_pinned(
    context: AppContext,
    asked: PlacedPlan,
    token: CancelToken,
    report: Report,
    drawn: frozenset[str] | None = None,
) -> DataStore:
    """The plan's source, read as the plan says and no row can change; the caller closes it.

    ``drawn`` are the columns that rows are released with other values of: then all columns need a
    type, and no row may be left out by what it holds there (InputError ``plan.drawn-filter``).

    Raises InputError ``plan.unpinned`` when the plan leaves something to be detected; its details
    have the ``lines`` to add. StorageError, Cancelled.
    """
    from dpdesk.io.private.row_filter import read_filter
    from dpdesk.io.reading import format_of, resolve_source

    plan, base, where = asked.plan, asked.base, asked.name
    spec = plan.source
    tree = read_filter(spec, msg("{where}, [source]", where=where))
    named = frozenset[str]() if tree is None else tree.named
    _check_filter(named, drawn or frozenset(), where)
    keys = unnamed(spec, format_of(spec, resolve_source(spec, base)))
    if keys:
        raise _unpinned(context, spec, base, keys, where, token)
    given = plan, spec, base, context.workspace, token, report
    store = read_pinned(*given, drawn or frozenset())
    used = used_columns(plan, store.columns, named) if drawn is None else store.columns
    if not untyped(spec, used):
        return store
    store.close()
    raise _unpinned(context, spec, base, ("types",), where, token)


def _check_filter(named: frozenset[str], drawn: frozenset[str], where: str) -> None:
    """Raise InputError ``plan.drawn-filter`` where a query asks what a drawn column holds."""
    from dpdesk.io.query_tree import folded

    queried = {form(name) for name in named}
    for name in sorted(drawn):
        if form(folded(name)) in queried:
            raise InputError(
                "plan.drawn-filter",
                msg(
                    "{where}, [source]: the query names `{name}`, whose values are drawn: which "
                    "rows are left would reveal them.",
                    where=where,
                    name=name,
                ),
                hint="Leave the column out of the query.",
                details={"key": "query", "attribute": name},
            )


def read_pinned(
    plan: Plan,
    spec: SourceSpec,
    base: Path,
    workspace: Workspace,
    token: CancelToken,
    report: Report,
    drawn: frozenset[str] = frozenset(),
) -> DataStore:
    """The source ``spec``, which names all that is needed, as a method of this plan reads it.

    ``drawn`` are the columns that rows are released with other values of. A run and a check of its
    release read it alike. Raises what opening a store raises.
    """
    from dpdesk.io.store import DataStore

    given = spec, base, workspace, token, report
    return DataStore.open(*given, private=True, person=_person(plan), drawn=drawn)


def _person(plan: Plan) -> str | None:
    """The column that names persons, where the method does not ask for its texts as well."""
    said = {form(text) for text in texts_in(plan.protection.parameters)}
    roles = ((name, spec.role) for name, spec in plan.attributes.items())
    named = [name for name, role in roles if role is Role.CLUSTER and form(name) not in said]
    return named[0] if named else None


def used_columns(
    plan: Plan, columns: Sequence[str], named: frozenset[str] = frozenset()
) -> tuple[str, ...]:
    """Those columns of the source that a plan's method may read, or that its query names."""
    from dpdesk.io.query_tree import folded

    plan = plan.spelled_as(columns, THE_WORK)
    roles = plan.column_roles(columns)
    said = set(texts_in(plan.protection.parameters))
    queried = {form(name) for name in named}
    return tuple(
        name
        for name in columns
        if name in said or roles[name] is Role.CLUSTER or form(folded(name)) in queried
    )


def texts_in(value: object) -> Iterator[str]:
    """All texts in a plain value, keys of tables as well."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield str(key)
            yield from texts_in(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from texts_in(item)


def pinned_source(spec: SourceSpec, reading: Reading, profile: DataProfile) -> SourceSpec:
    """The source with all that a private method must have named, as it was detected.

    ``reading`` and ``profile`` are of the data as ``spec`` has them read; what it names stays.
    """
    given = dict(spec.spelled_as([column.name for column in profile.columns]).types)
    types: dict[str, str] = {}
    order = spec.date_order
    for column in profile.columns:
        kind = given.get(column.name, _TYPES.get(column.type, TEXT))
        if kind == DATE and column.date_order:
            order = order or column.date_order
            kind = DATE if column.date_order in (order, _ISO) else TEXT
        types[column.name] = kind
    keys = [key for key in FORMATS[reading.format].pinned if key in _DETECTED]
    found = {key: getattr(reading, key) for key in keys if getattr(spec, key) is None}
    found |= {key: getattr(reading, key) or None for key in _RARE if getattr(spec, key) is None}
    if "encoding" in found:
        found["encoding"] = found["encoding"].lower() or _UNTOLD
    return replace(
        spec,
        types=tuple(types.items()) if applies("types", reading.format) else spec.types,
        date_order=(order or _ISO) if DATE in types.values() else None,
        missing_named=spec.missing == ("",) and applies("missing", reading.format),
        **found,
    )


def is_pinned(spec: SourceSpec, columns: Sequence[str]) -> bool:
    """Whether a source names all that a private method must have named, for these columns."""
    return not unnamed(spec, source_format(spec)) and not untyped(spec, columns)


def as_read(spec: SourceSpec, reading: Reading) -> SourceSpec:
    """The source without what would be detected all the same: equal ones give equal data."""
    same: dict[str, Any] = {
        key: None for key in (*_DETECTED, *_RARE) if getattr(spec, key) == getattr(reading, key)
    }
    return replace(spec.without_types(), missing_named=False, **same)


def _unpinned(
    context: AppContext,
    spec: SourceSpec,
    base: Path,
    keys: Sequence[str],
    where: str,
    token: CancelToken,
) -> InputError:
    """The refusal of a plan that leaves something open, with the lines that say what is found."""
    if spec.engine is not None:
        raise _undetected(spec, keys, where)
    found, problem = _detected(context, spec, base, token)
    wanted = (*keys, "types", "date_order") if "types" in keys else keys
    wanted = (*wanted, *(key for key in _RARE if getattr(spec, key) is None))
    lines = lines_of(found, tuple(dict.fromkeys(wanted)))
    named = ", ".join(f"`{line.partition(' = ')[0]}`" for line in lines)
    hint = "Check the lines above, which say what is detected now, and add them under [source]."
    if problem is not None:
        hint = msg(
            "Check the lines above and add them under [source]; they say what the "
            "beginning of the source shows, since other methods refuse it: {sentence}",
            sentence=problem.sentence,
        )
    return InputError(
        "plan.unpinned",
        counted(
            "{where}, [source]: the key {named} is missing; for a differentially private method "
            "the plan alone decides how the source is read.",
            "{where}, [source]: the keys {named} are missing; for a differentially private method "
            "the plan alone decides how the source is read.",
            n=len(lines),
            where=where,
            named=named,
        ),
        hint=hint,
        details={"keys": tuple(keys), "lines": lines},
    )


def _undetected(spec: SourceSpec, keys: Sequence[str], where: str) -> InputError:
    """The refusal for a table that stays in an engine, of which nothing is detected."""
    return InputError(
        "plan.unpinned",
        counted(
            "{where}, [source]: the key {named} is missing; for a differentially private method "
            "the plan alone decides how the source is read.",
            "{where}, [source]: the keys {named} are missing; for a differentially private method "
            "the plan alone decides how the source is read.",
            n=len(keys),
            where=where,
            named=", ".join(f"`{key}`" for key in keys),
        ),
        hint="Of a table that stays in an engine nothing is detected: say which texts are missing "
        'values, such as missing = [""], and the type of each column that the plan names, such as '
        'types = { age = "number" }.',
        details={"keys": tuple(keys), "lines": ()},
    )


def _detected(
    context: AppContext, spec: SourceSpec, base: Path, token: CancelToken
) -> tuple[SourceSpec, InputError | None]:
    """The source with all that is detected; what refuses it where rows are not read one by one.

    Raises that error where the source cannot be read for a private method either.
    """
    from dpdesk.io.store import DataStore

    plain = spec.without_types()
    try:
        data = DataStore.open(plain, base, context.workspace, token, _quiet)
    except InputError as problem:
        wide = _wide_encoding(problem)
        if wide and spec.encoding is None:
            return _detected(context, replace(spec, encoding=wide), base, token)
        try:
            return _detected_by_head(context, spec, base, token), problem
        except InputError:
            raise problem from None
    with closing(data):
        return pinned_source(spec, data.reading, data.profile(token, _quiet)), None


def _wide_encoding(problem: InputError) -> str:
    """The encoding that reads a text whose header has a zero behind each letter; empty without."""
    if problem.code != "csv.nul" or problem.details.get("line") != 1:
        return ""
    options = problem.details.get("set")
    return str(dict(options).get("encoding", "")) if isinstance(options, tuple) else ""


def _detected_by_head(
    context: AppContext, spec: SourceSpec, base: Path, token: CancelToken
) -> SourceSpec:
    """The source with what its head shows, and types that most of its readable values have."""
    from dpdesk.io.preview import preview_source
    from dpdesk.io.private.foreign import column_names
    from dpdesk.io.private.values import UNREADABLE
    from dpdesk.io.reading import resolve_source
    from dpdesk.io.store import DataStore

    head = preview_source(replace(spec.without_types(), query=None), base, token)
    reading = head.reading
    if head.problem is not None and reading.format == "csv" and not reading.delimiter:
        reading = replace(reading, delimiter=",", encoding=_UNTOLD, quote='"')
    found = pinned_source(spec, reading, DataProfile(spec.name, 0, (), {}))
    path, names = resolve_source(spec, base), head.columns
    if not names and reading.format != "csv":
        names = column_names(path, base, found, token)
    # A value that cannot be read says nothing of the type of the others.
    types, missing = tuple((name, TEXT) for name in names), (*spec.missing, UNREADABLE)
    source = replace(found, types=types, date_order=None, missing=missing, query=None)
    data = DataStore.open(source, base, context.workspace, token, _quiet, private=True)
    with closing(data):
        return pinned_source(spec, reading, data.profile(token, _quiet))


def _quiet(event: object) -> None:
    """What such a reading finds is not recorded in the notes of a release."""
