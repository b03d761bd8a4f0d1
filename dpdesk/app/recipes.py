"""Recipes: a plan with its hierarchies, checked against another file, and taken over to it.

Next year's file is seldom quite like this year's: a column has another name, a code is new, a value
has no place in its hierarchy. :func:`dpdesk.app.examining.examine` says what no longer fits and
what to do about it, without changing anything; :func:`adopt` moves the work to the new file when
that is asked for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType

from dpdesk.core.hierarchy import Hierarchy
from dpdesk.core.jobs import CancelToken
from dpdesk.core.messages import msg
from dpdesk.core.plain import freeze_table
from dpdesk.core.plan import Plan, SourceSpec
from dpdesk.core.schema import (
    ColumnType,
    DataProfile,
    Spelling,
    ValueCount,
    check_one_each,
    spelling,
    with_names,
)
from dpdesk.core.source_spec import applies, given_keys, source_format
from dpdesk.project.work import THE_WORK, HierarchyChoice, OpenWork, WorkState

STEP = "Check the file against the plan"


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

    def spelled_as(self, columns: Sequence[str]) -> Recipe:
        """The recipe with names of columns as a file writes them, in whatever Unicode form.

        Raises InputError ``plan.name-forms`` where two names of the recipe are one column.
        """
        spelled = spelling(columns)
        return replace(
            self,
            work=spelled_work(self.work, columns),
            columns=MappingProxyType({spelled(name): one for name, one in self.columns.items()}),
            missing_shares=MappingProxyType(
                {spelled(name): share for name, share in self.missing_shares.items()}
            ),
        )

    @classmethod
    def of_plan(cls, plan: Plan, base: Path, name: str, token: CancelToken | None = None) -> Recipe:
        """A plan as a recipe; its own source, where it still is, tells columns and reading."""
        from dpdesk.io.preview import preview_source

        work = WorkState.from_plan(plan, base)
        preview = preview_source(plan.source, base, token)
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
    spelled = recipe.spelled_as(columns).work
    work = renamed_work(spelled.based_on(base), renames).with_columns(tuple(columns))
    name = source.name
    return OpenWork(replace(work, source=source), name, msg("Apply the plan to {name}", name=name))


def merged_source(recipe: Recipe, source: SourceSpec) -> SourceSpec:
    """How a recipe reads another file: options that ``source`` leaves open are the recipe's.

    Those that do not apply to the other file's format (the delimiter of a text for a workbook) are
    left out.
    """
    known = recipe.work.source
    if known is None:
        return source
    known = known.with_paths(lambda path: str(Path(recipe.work.base, path)))
    described = replace(
        source,
        columns=source.columns or known.columns,
        metadata=source.metadata or known.metadata,
        items=source.items or known.items,
    )
    file_format, open_keys = source_format(described), set(given_keys(known))
    open_keys -= {"path", *given_keys(source)}
    taken = {key: getattr(known, key) for key in open_keys if applies(key, file_format)}
    return replace(source, **taken)


# ---- renaming ------------------------------------------------------------------------------------


def renamed_work(work: WorkState, renames: Mapping[str, str]) -> WorkState:
    """The work with other names for some columns. ValueError when two would get one name."""
    if not renames:
        return work
    names = [renames.get(name, name) for name in work.roles]
    if len(set(names)) != len(names):
        raise ValueError("two columns of the plan would get one name")
    return _with_names(work, lambda name: renames.get(name, name))


def spelled_work(work: WorkState, columns: Sequence[str]) -> WorkState:
    """The work with names of columns as these columns of its data are written.

    Raises InputError ``plan.name-forms`` where two names of the work are one column.
    """
    spelled = spelling(columns)
    check_one_each(dict.fromkeys((*work.roles, *work.hierarchies)), spelled, THE_WORK)
    source = work.source and work.source.spelled_as(columns)
    return _with_names(replace(work, source=source), spelled)


def _with_names(work: WorkState, spelled: Spelling) -> WorkState:
    return replace(
        work,
        roles=MappingProxyType({spelled(name): role for name, role in work.roles.items()}),
        hierarchies=MappingProxyType(
            {
                spelled(name): _named(choice, spelled(name))
                for name, choice in work.hierarchies.items()
            }
        ),
        parameters=freeze_table(with_names(work.parameters, spelled)),
        pseudonyms=MappingProxyType(
            {spelled(name): spec for name, spec in work.pseudonyms.items()}
        ),
    )


def _named(choice: HierarchyChoice, name: str) -> HierarchyChoice:
    return replace(choice, attribute=name) if isinstance(choice, Hierarchy) else choice
