"""The state of the work, and the commands that change it.

The window edits exactly what a plan file says: a :class:`WorkState` is a plan in the making. It is
immutable; a command makes the next state. Hierarchies edited by hand are values until they are
saved as files beside the plan.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import TypeAlias

from dpdesk.core.hierarchy import Hierarchy
from dpdesk.core.language import ENGLISH
from dpdesk.core.messages import joined, msg
from dpdesk.core.plain import freeze_table
from dpdesk.core.plan import THE_SETTINGS as THE_SETTINGS
from dpdesk.core.plan import THE_WORK as THE_WORK
from dpdesk.core.plan import (
    AttributeSpec,
    HierarchyBuilder,
    HierarchyFile,
    HierarchySpec,
    Plan,
    Protection,
    SourceSpec,
)
from dpdesk.core.pseudonyms import PseudonymSpec
from dpdesk.core.schema import Role

HierarchyChoice: TypeAlias = "HierarchySpec | Hierarchy"


@dataclass(frozen=True)
class WorkState:
    """A plan in the making.

    ``base`` is the folder to which the paths of ``source`` and of hierarchy files are relative.
    ``roles`` holds the columns that were given a role (all others are insensitive);
    ``hierarchies`` a specification or a value per column; ``parameters`` the keys of the method as
    plain values; ``pseudonyms`` how identifiers are replaced that are kept for linkage. ``source``
    is None as long as no data file has been opened.
    """

    source: SourceSpec | None = None
    base: Path = field(default_factory=Path)
    roles: Mapping[str, Role] = field(default_factory=lambda: MappingProxyType({}))
    hierarchies: Mapping[str, HierarchyChoice] = field(default_factory=lambda: MappingProxyType({}))
    method: str = ""
    parameters: Mapping[str, object] = field(default_factory=lambda: MappingProxyType({}))
    title: str = ""
    budget: Mapping[str, object] | None = None
    language: str = ENGLISH
    pseudonyms: Mapping[str, PseudonymSpec] = field(default_factory=lambda: MappingProxyType({}))

    @classmethod
    def from_plan(cls, plan: Plan, base: Path) -> WorkState:
        """The state that edits ``plan``, whose paths are relative to ``base``."""
        attributes = plan.attributes.items()
        return cls(
            source=plan.source,
            base=base,
            roles=MappingProxyType({name: spec.role for name, spec in attributes}),
            hierarchies=MappingProxyType(
                {name: spec.hierarchy for name, spec in attributes if spec.hierarchy is not None}
            ),
            method=plan.protection.method,
            parameters=freeze_table(plan.protection.parameters),
            title=plan.title,
            budget=plan.budget,
            language=plan.language,
            pseudonyms=MappingProxyType(plan.pseudonyms),
        )

    def role(self, column: str) -> Role:
        """The role of a column; insensitive when none was given."""
        return self.roles.get(column, Role.INSENSITIVE)

    def pseudonym(self, column: str) -> PseudonymSpec | None:
        """How an identifier is replaced; None for other columns, and for those left out."""
        return self.pseudonyms.get(column) if self.role(column) is Role.IDENTIFIER else None

    def released_as(self, column: str) -> Role:
        """The role of a column, or that of a pseudonym for an identifier that is kept as one."""
        return self.role(column) if self.pseudonym(column) is None else Role.PSEUDONYM

    def with_role(self, role: Role) -> tuple[str, ...]:
        """The columns that were given this role."""
        return tuple(name for name, given in self.roles.items() if given is role)

    def hand_made(self) -> dict[str, Hierarchy]:
        """Hierarchies that exist as values only, by attribute."""
        return {
            name: choice
            for name, choice in self.hierarchies.items()
            if isinstance(choice, Hierarchy)
        }

    def to_plan(
        self, folder: Path | None = None, files: Mapping[str, str] = MappingProxyType({})
    ) -> Plan:
        """The plan that this state stands for, with paths relative to ``folder`` (None: ``base``).

        ``files`` names, per attribute with a hand-made hierarchy, the file that holds it, as the
        plan shall write it; without a name it is called ``<attribute>.csv``.
        Raises ValueError when there is no source yet.
        """
        if self.source is None:
            raise ValueError("a plan needs a source")
        moved = self if folder is None else self.based_on(folder)
        names = [*self.roles, *(name for name in self.hierarchies if name not in self.roles)]
        return Plan(
            source=moved.source or self.source,
            attributes={
                name: AttributeSpec(self.role(name), moved._spec(name, files), self.pseudonym(name))
                for name in names
            },
            protection=Protection(self.method, self.parameters),
            title=self.title,
            budget=self.budget,
            language=self.language,
        )

    def based_on(self, folder: Path) -> WorkState:
        """The same work with its paths relative to another folder."""
        return replace(
            self,
            base=folder,
            source=self.source and self.source.with_paths(lambda path: self._moved(path, folder)),
            hierarchies=MappingProxyType(
                {
                    name: HierarchyFile(self._moved(choice.path, folder))
                    if isinstance(choice, HierarchyFile)
                    else choice
                    for name, choice in self.hierarchies.items()
                }
            ),
        )

    def with_columns(self, columns: tuple[str, ...] | None) -> WorkState:
        """The work without roles and hierarchies of columns that are not there (None: all are)."""
        if columns is None:
            return self
        known = set(columns)
        kept = {name: choice for name, choice in self.hierarchies.items() if name in known}
        return replace(
            self,
            roles=MappingProxyType({n: role for n, role in self.roles.items() if n in known}),
            hierarchies=MappingProxyType(kept),
            pseudonyms=MappingProxyType({n: s for n, s in self.pseudonyms.items() if n in known}),
        )

    def _spec(self, name: str, files: Mapping[str, str]) -> HierarchySpec | None:
        choice = self.hierarchies.get(name)
        if isinstance(choice, Hierarchy):
            return HierarchyFile(files.get(name, f"{name}.csv"))
        return choice

    def _moved(self, path: str, target: Path) -> str:
        """``path``, which is relative to ``base``, as it reads from the folder ``target``."""
        if Path(path).is_absolute() or target == self.base:
            return path
        try:
            return Path(os.path.relpath(self.base / path, target)).as_posix()
        except ValueError:  # another drive has no relative path
            return str((self.base / path).absolute())


class Command(ABC):
    """A change of the work. ``label`` says it in a few plain words, for the list of changes.

    Successive commands with the same non-empty ``merge_key`` may count as one change (a slider that
    is dragged).
    """

    @property
    @abstractmethod
    def label(self) -> str:
        """What was done, in a few words."""

    @property
    def merge_key(self) -> str:
        """Equal for commands that may be merged into one; empty: never merged."""
        return ""

    @abstractmethod
    def apply(self, state: WorkState) -> WorkState:
        """The state after the change."""


@dataclass(frozen=True)
class OpenWork(Command):
    """Start from another state: a plan or a data file was opened; ``what`` says it otherwise."""

    state: WorkState
    name: str
    what: str = ""

    @property
    def label(self) -> str:
        """See :attr:`Command.label`."""
        return self.what or msg("Open {name}", name=self.name)

    def apply(self, state: WorkState) -> WorkState:
        """See :meth:`Command.apply`."""
        return self.state


@dataclass(frozen=True)
class SetSource(Command):
    """Read the data from another file, or read it in another way.

    With ``columns``, what was said of columns that the data do not have any more is forgotten.
    ``what`` says it in words.
    """

    source: SourceSpec
    base: Path | None = None
    columns: tuple[str, ...] | None = None
    what: str = ""

    @property
    def label(self) -> str:
        """See :attr:`Command.label`."""
        return self.what or msg("Read {name}", name=self.source.name)

    def apply(self, state: WorkState) -> WorkState:
        """See :meth:`Command.apply`."""
        moved = state if self.base is None else state.based_on(self.base)
        return replace(moved.with_columns(self.columns), source=self.source)


@dataclass(frozen=True)
class SetRoles(Command):
    """Give roles to one or many columns at once."""

    roles: Mapping[str, Role]

    @property
    def label(self) -> str:
        """See :attr:`Command.label`."""
        given = set(self.roles.values())
        role = next(iter(given)).value if len(given) == 1 else "several roles"
        if len(self.roles) == 1:
            return msg("{file}: {note}", file=next(iter(self.roles)), note=role)
        return msg("{roles} columns: {role}", roles=len(self.roles), role=role)

    def apply(self, state: WorkState) -> WorkState:
        """See :meth:`Command.apply`."""
        return replace(state, roles=MappingProxyType(dict(state.roles) | dict(self.roles)))


@dataclass(frozen=True)
class SetPseudonym(Command):
    """Keep an identifier as a pseudonym, or leave it out (None)."""

    column: str
    spec: PseudonymSpec | None

    @property
    def label(self) -> str:
        """See :attr:`Command.label`."""
        if self.spec is None:
            return msg("{column}: left out", column=self.column)
        return msg("{column}: kept as a pseudonym", column=self.column)

    def apply(self, state: WorkState) -> WorkState:
        """See :meth:`Command.apply`."""
        left = {name: spec for name, spec in state.pseudonyms.items() if name != self.column}
        if self.spec is None:
            return replace(state, pseudonyms=MappingProxyType(left))
        roles = MappingProxyType({**state.roles, self.column: Role.IDENTIFIER})
        return replace(
            state, roles=roles, pseudonyms=MappingProxyType({**left, self.column: self.spec})
        )


@dataclass(frozen=True)
class SetHierarchy(Command):
    """Give a column a hierarchy, or take it away (None); ``what`` says how it came about."""

    attribute: str
    choice: HierarchyChoice | None
    what: str = ""

    @property
    def label(self) -> str:
        """See :attr:`Command.label`."""
        return msg(
            "Hierarchy of {attribute}: {value}",
            attribute=self.attribute,
            value=self.what or _choice_words(self.choice),
        )

    def apply(self, state: WorkState) -> WorkState:
        """See :meth:`Command.apply`."""
        left = {name: c for name, c in state.hierarchies.items() if name != self.attribute}
        if self.choice is not None:
            left[self.attribute] = self.choice
        return replace(state, hierarchies=MappingProxyType(left))


@dataclass(frozen=True)
class SetHierarchies(Command):
    """Give several columns hierarchies at once; ``what`` says how they came about."""

    choices: Mapping[str, HierarchyChoice]
    what: str = ""

    @property
    def label(self) -> str:
        """See :attr:`Command.label`."""
        if len(self.choices) == 1:
            return msg(
                "Hierarchy of {next}: {value}",
                next=next(iter(self.choices)),
                value=self.what or "set",
            )
        return msg(
            "Hierarchies of {choices} columns: {value}",
            choices=len(self.choices),
            value=self.what or "set",
        )

    def apply(self, state: WorkState) -> WorkState:
        """See :meth:`Command.apply`."""
        merged = dict(state.hierarchies) | dict(self.choices)
        return replace(state, hierarchies=MappingProxyType(merged))


def _choice_words(choice: HierarchyChoice | None) -> str:
    if choice is None:
        return "none"
    if isinstance(choice, HierarchyFile):
        return Path(choice.path).name
    if isinstance(choice, HierarchyBuilder):
        return choice.kind
    return "edited"


@dataclass(frozen=True)
class SetMethod(Command):
    """Choose a method and start from these parameters; ``what`` says it in words.

    With ``source``, the plan says from then on how its source is read, as this one does.
    """

    method: str
    parameters: Mapping[str, object] = field(default_factory=lambda: MappingProxyType({}))
    what: str = ""
    source: SourceSpec | None = None

    @property
    def label(self) -> str:
        """See :attr:`Command.label`."""
        return self.what or f"Method {self.method}"

    def apply(self, state: WorkState) -> WorkState:
        """See :meth:`Command.apply`."""
        source = self.source or state.source
        parameters = freeze_table(self.parameters)
        return replace(state, method=self.method, parameters=parameters, source=source)


@dataclass(frozen=True)
class SetParameters(Command):
    """Change some keys of the method; None removes a key, so that its default holds.

    ``what`` says the change in the words of a form.
    """

    changes: Mapping[str, object]
    what: str = ""

    @property
    def label(self) -> str:
        """See :attr:`Command.label`."""
        return self.what or ", ".join(
            msg("{key} by default", key=key) if value is None else f"{key} = {_shown(value)}"
            for key, value in self.changes.items()
        )

    @property
    def merge_key(self) -> str:
        """See :attr:`Command.merge_key`."""
        return "parameters:" + ",".join(sorted(self.changes))

    def apply(self, state: WorkState) -> WorkState:
        """See :meth:`Command.apply`."""
        merged = dict(state.parameters) | dict(self.changes)
        kept = {key: value for key, value in merged.items() if value is not None}
        return replace(state, parameters=freeze_table(kept))


def _shown(value: object) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {item}" for key, item in value.items())
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)


_BUDGET_WORDS = {
    "population": "Population of the budget: {shown}",
    "limit": "Limit of the budget: {shown}",
    "ledger": "Ledger of the budget: {shown}",
}


@dataclass(frozen=True)
class SetBudget(Command):
    """Change keys of the plan's ``[budget]``; None takes a key away, nothing left the table."""

    changes: Mapping[str, object]

    @property
    def label(self) -> str:
        """See :attr:`Command.label`."""
        parts = (
            msg(_BUDGET_WORDS[key], shown="–" if value is None else _shown(value))
            for key, value in self.changes.items()
        )
        return joined(parts, ", ")

    @property
    def merge_key(self) -> str:
        """See :attr:`Command.merge_key`."""
        return "budget:" + ",".join(sorted(self.changes))

    def apply(self, state: WorkState) -> WorkState:
        """See :meth:`Command.apply`."""
        merged = dict(state.budget or {}) | dict(self.changes)
        kept = {key: value for key, value in merged.items() if value is not None}
        return replace(state, budget=freeze_table(kept) if kept else None)


@dataclass(frozen=True)
class SetLanguage(Command):
    """Change the language of the pages of the release."""

    language: str

    @property
    def label(self) -> str:
        """See :attr:`Command.label`."""
        return msg("Language of the pages: {code}", code=self.language)

    @property
    def merge_key(self) -> str:
        """See :attr:`Command.merge_key`."""
        return "language"

    def apply(self, state: WorkState) -> WorkState:
        """See :meth:`Command.apply`."""
        return replace(state, language=self.language)


@dataclass(frozen=True)
class SetTitle(Command):
    """Change the title."""

    title: str

    @property
    def label(self) -> str:
        """See :attr:`Command.label`."""
        return f"Title “{self.title}”" if self.title else "No title"

    @property
    def merge_key(self) -> str:
        """See :attr:`Command.merge_key`."""
        return "title"

    def apply(self, state: WorkState) -> WorkState:
        """See :meth:`Command.apply`."""
        return replace(state, title=self.title)
