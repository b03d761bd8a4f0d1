"""Recipes: a plan with its hierarchies, held against another file, and taken over to it.

Next year's file is seldom quite like this year's: a column has another name, a code is new, a value
has no place in its hierarchy. :func:`examine` says what no longer fits and what to do about it,
without changing anything; :func:`adopt` moves the work to the new file when that is asked for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from dpdesk.core.errors import DpdeskError, InputError, RefusedError
from dpdesk.core.hierarchy import Hierarchy
from dpdesk.core.jobs import CancelToken, Note, Report, StepStarted
from dpdesk.core.plain import freeze_table
from dpdesk.core.plan import Plan, SourceSpec
from dpdesk.core.schema import ColumnType, DataProfile, ValueCount
from dpdesk.project.work import HierarchyChoice, OpenWork, WorkState

if TYPE_CHECKING:
    from dpdesk.app.context import AppContext
    from dpdesk.engine.method import MethodOutcome
    from dpdesk.engine.private_method import Design
    from dpdesk.io.store import DataStore
    from dpdesk.project.review.protocol import Protocol

STEP = "Hold the file against the plan"
_OPTIONS = ("delimiter", "encoding", "decimal", "quote", "header")
_KEYS_OF_COLUMNS = frozenset({"levels", "domains"})
_LISTS_OF_COLUMNS = frozenset({"sensitive", "dimensions", "rows", "columns", "attribute"})


class Weight(StrEnum):
    """How much an item matters."""

    BLOCKS = "does not fit"
    LOOK = "to be looked at"
    NOTE = "good to know"


@dataclass(frozen=True)
class FitItem:
    """One thing that is not as it was.

    ``code`` is stable, ``column`` is empty where the whole file is meant. ``rows`` are the rows of
    the file that it touches, ``values`` the most frequent values concerned. ``instead`` is a column
    or value of the file that may be meant.
    """

    code: str
    weight: Weight
    sentence: str
    advice: str = ""
    column: str = ""
    rows: int = 0
    values: tuple[ValueCount, ...] = ()
    instead: str = ""

    def as_json(self) -> dict[str, object]:
        """The item as JSON values."""
        return {
            "code": self.code,
            "weight": self.weight.value,
            "column": self.column,
            "sentence": self.sentence,
            "advice": self.advice,
            "rows": self.rows,
            "values": [{"value": each.value, "rows": each.rows} for each in self.values],
            "instead": self.instead,
        }


@dataclass(frozen=True)
class Recipe:
    """What is to be done again: the work, and what is known of the file that it was made for.

    ``columns`` are that file's columns with their types (None: not known); empty when nothing is
    known. ``reading`` is how it was read; ``missing_shares`` the share of missing values by column.
    """

    name: str
    work: WorkState
    columns: Mapping[str, ColumnType | None] = field(default_factory=lambda: MappingProxyType({}))
    reading: Mapping[str, object] = field(default_factory=lambda: MappingProxyType({}))
    missing_shares: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))

    @classmethod
    def of_plan(cls, plan: Plan, base: Path, name: str) -> Recipe:
        """A plan as a recipe; its own source, where it still is, tells columns and reading."""
        from dpdesk.io.preview import preview_source

        work = WorkState.from_plan(plan, base)
        preview = preview_source(plan.source, base)
        if preview.problem is not None:
            return cls(name, work)
        columns = MappingProxyType(dict.fromkeys(preview.columns))
        return cls(name, work, columns, MappingProxyType(preview.reading.as_dict()))

    @classmethod
    def of_work(cls, work: WorkState, profile: DataProfile, name: str) -> Recipe:
        """The work in hand as a recipe; ``profile`` is that of its data."""
        return cls(
            name,
            work,
            MappingProxyType({column.name: column.type for column in profile.columns}),
            MappingProxyType(dict(profile.reading)),
            MappingProxyType({each.name: each.missing_share for each in profile.columns}),
        )

    @classmethod
    def of_protocol(cls, protocol: Protocol, name: str) -> Recipe:
        """A locked protocol as a recipe."""
        columns = {column.name: column.type for column in protocol.columns}
        work = protocol.work(SourceSpec(""), Path())
        return cls(name, work, MappingProxyType(columns), {"decimal": protocol.decimal})


@dataclass(frozen=True)
class Trial:
    """What the recipe gives for the file: the ``result`` as a manifest would have it."""

    result: Mapping[str, object]
    claim: str


@dataclass(frozen=True, eq=False)
class FitReport:
    """How a recipe fits a file; nothing has been changed.

    ``source`` and ``base`` say how the file was read; ``items`` come with what blocks first.
    ``trial`` is None when something blocks, or when no trial was asked for.
    """

    recipe: str
    source: SourceSpec
    base: Path
    profile: DataProfile
    items: tuple[FitItem, ...]
    trial: Trial | None = None

    @property
    def fits(self) -> bool:
        """Whether nothing stands in the way."""
        return not self.of(Weight.BLOCKS)

    def of(self, weight: Weight) -> tuple[FitItem, ...]:
        """The items of a weight."""
        return tuple(item for item in self.items if item.weight is weight)

    @property
    def renames(self) -> Mapping[str, str]:
        """Columns of the recipe that the file may have under another name."""
        missing = (item for item in self.items if item.code == "column.missing" and item.instead)
        return {item.column: item.instead for item in missing}

    def as_json(self) -> dict[str, object]:
        """The report as JSON values."""
        return {
            "plan": self.recipe,
            "fits": self.fits,
            "items": [item.as_json() for item in self.items],
            "result": None if self.trial is None else dict(self.trial.result),
        }


def examine(
    context: AppContext,
    recipe: Recipe,
    source: SourceSpec,
    base: Path,
    token: CancelToken,
    report: Report,
    *,
    data: DataStore | None = None,
    trial: bool = True,
) -> FitReport:
    """Hold a file against a recipe.

    ``source`` names the file below ``base``; options that it leaves open are those of the recipe,
    and where the file cannot be read by these, what is detected. ``data`` is the file when it is
    open already (it stays open). With ``trial`` the search is run too, when nothing else blocks.

    Raises InputError and StorageError for a file that cannot be read at all, and Cancelled.
    """
    from dpdesk.app.fitting import Examination

    report(StepStarted(STEP, 1, 1))
    opened = (
        _Opened(source, data, []) if data else _open(context, recipe, source, base, token, report)
    )
    try:
        profile = opened.data.profile(token, report)
        found = Examination(recipe, opened.data, profile, base, token)
        items = [*opened.items, *found.items()]
        result = None
        if trial and not any(item.weight is Weight.BLOCKS for item in items):
            result, more = _try(context, recipe, opened, base, token, report)
            items += more
    finally:
        if data is None:
            opened.data.close()
    order = list(Weight)
    items.sort(key=lambda item: order.index(item.weight))
    return FitReport(recipe.name, opened.source, base, profile, tuple(items), result)


def adopt(
    recipe: Recipe,
    source: SourceSpec,
    base: Path,
    columns: Sequence[str],
    renames: Mapping[str, str] = MappingProxyType({}),
) -> OpenWork:
    """The command that moves the work to another file, as :func:`examine` read it.

    ``columns`` are the file's; what the recipe says of others is forgotten. ``renames`` gives
    columns of the recipe their names in the file. ValueError when two would get one name.
    """
    work = renamed_work(recipe.work.based_on(base), renames).with_columns(tuple(columns))
    name = Path(source.path).name
    return OpenWork(replace(work, source=source), name, f"Apply the plan to {name}")


def merged_source(recipe: Recipe, source: SourceSpec) -> SourceSpec:
    """How a recipe reads another file: options that ``source`` leaves open are the recipe's."""
    known = recipe.work.source
    if known is None:
        return source
    given = {key: getattr(source, key) for key in _OPTIONS}
    options = {key: getattr(known, key) if value is None else value for key, value in given.items()}
    missing = known.missing if source.missing == SourceSpec("").missing else source.missing
    return replace(source, missing=missing, **options)


# ---- opening -------------------------------------------------------------------------------------


@dataclass
class _Opened:
    source: SourceSpec
    data: DataStore
    items: list[FitItem]


def _open(
    context: AppContext,
    recipe: Recipe,
    source: SourceSpec,
    base: Path,
    token: CancelToken,
    report: Report,
) -> _Opened:
    """The file by the recipe's options; where it cannot be read by them, as detected."""
    from dpdesk.app.opening import open_data

    wanted = merged_source(recipe, source)
    try:
        return _Opened(wanted, open_data(context, wanted, base, token, report), [])
    except InputError as error:
        detected = replace(source, missing=wanted.missing)
        if detected == wanted:
            raise
        data = open_data(context, detected, base, token, report)
        set_ = ", ".join(f"`{key}`" for key in _OPTIONS if getattr(wanted, key) is not None)
        item = FitItem(
            "reading.other",
            Weight.BLOCKS,
            f"The file cannot be read as the plan says ({set_}): {error.sentence}",
            "Take these options out of [source], or give those of the new file.",
        )
        return _Opened(detected, data, [item])


# ---- trying --------------------------------------------------------------------------------------


def _try(
    context: AppContext,
    recipe: Recipe,
    opened: _Opened,
    base: Path,
    token: CancelToken,
    report: Report,
) -> tuple[Trial | None, list[FitItem]]:
    """Run the search on the file, or make the design of a method with noise; writes nothing."""
    notes: list[FitItem] = []

    def listen(event: object) -> None:
        if not isinstance(event, Note):
            report(event)  # type: ignore[arg-type]
        elif not event.code.startswith("source."):
            notes.append(FitItem(event.code, Weight.NOTE, event.sentence))

    work = replace(recipe.work.based_on(base), source=opened.source)
    try:
        outcome = _outcome(context, work, recipe.name, opened, token, listen)
    except (InputError, RefusedError) as error:
        return None, [*notes, _refused(error)]
    return Trial(outcome.result, outcome.guarantee.claim), notes


def _outcome(
    context: AppContext,
    work: WorkState,
    name: str,
    opened: _Opened,
    token: CancelToken,
    report: Report,
) -> MethodOutcome | Design:
    from dpdesk.app.planning import prepare
    from dpdesk.app.private.preparing import prepare_private
    from dpdesk.engine.private_method import PrivateMethod

    plan, at_hand, base = work.to_plan(), work.hand_made(), work.base
    method = context.registry.get(plan.protection.method, name)
    if isinstance(method, PrivateMethod):
        return prepare_private(
            context, plan, base, name, token, report, opened.data, at_hand
        ).design
    ready = prepare(context, plan, base, name, token, report, opened.data, at_hand)
    return ready.method.run(ready.given, token, report)


def _refused(error: DpdeskError) -> FitItem:
    advice = error.hint or "Change the settings of the plan, then hold the file against it again."
    return FitItem(f"trial.{error.code}", Weight.BLOCKS, error.sentence, advice)


# ---- renaming ------------------------------------------------------------------------------------


def renamed_work(work: WorkState, renames: Mapping[str, str]) -> WorkState:
    """The work with other names for some columns. ValueError when two would get one name."""
    if not renames:
        return work
    names = [renames.get(name, name) for name in work.roles]
    if len(set(names)) != len(names):
        raise ValueError("two columns of the plan would get one name")
    return replace(
        work,
        roles=MappingProxyType(dict(zip(names, work.roles.values(), strict=True))),
        hierarchies=MappingProxyType(
            {
                renames.get(name, name): _named(choice, renames.get(name, name))
                for name, choice in work.hierarchies.items()
            }
        ),
        parameters=freeze_table(_renamed_keys(work.parameters, renames)),
    )


def _named(choice: HierarchyChoice, name: str) -> HierarchyChoice:
    return replace(choice, attribute=name) if isinstance(choice, Hierarchy) else choice


def _renamed_keys(table: Mapping[str, object], renames: Mapping[str, str]) -> dict[str, object]:
    """Parameters that speak of columns, with the new names; all others as they are."""
    found: dict[str, object] = {}
    for key, value in table.items():
        if key in _KEYS_OF_COLUMNS and isinstance(value, Mapping):
            found[key] = {renames.get(name, name): item for name, item in value.items()}
        elif key in _LISTS_OF_COLUMNS:
            found[key] = _renamed_items(value, renames)
        elif isinstance(value, tuple) and all(isinstance(item, Mapping) for item in value):
            found[key] = [_renamed_keys(item, renames) for item in value]
        else:
            found[key] = value
    return found


def _renamed_items(value: object, renames: Mapping[str, str]) -> object:
    if isinstance(value, str):
        return renames.get(value, value)
    if isinstance(value, tuple):
        return [_renamed_items(item, renames) for item in value]
    return value
