"""Plans: what to read, what each column is, and which protection to apply.

A plan is a value. Reading and writing plan files is the work of ``dpdesk.io``; checking the
``[protection]`` keys is the work of the method registry.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from enum import Enum
from types import MappingProxyType
from typing import TypeAlias

from dpdesk.core.errors import InputError
from dpdesk.core.home import is_address
from dpdesk.core.language import ENGLISH, languages
from dpdesk.core.messages import msg
from dpdesk.core.parameters import check_known, invalid, missing_key, one_of, text_of, with_nearest
from dpdesk.core.plain import MAX_DIGITS, freeze_table, odd_numbers, show, thaw, unlike_floats
from dpdesk.core.pseudonyms import Linkage, PseudonymSpec, read_pseudonym
from dpdesk.core.schema import PLAN_ROLES, Role, check_one_each, spelling, with_names
from dpdesk.core.source_spec import SourceSpec as SourceSpec
from dpdesk.core.source_spec import read_source

PLAN_VERSION = 1
_LONGEST_TITLE = 1_000
BUILDER_KINDS = ("intervals", "mask", "order", "dates", "tree")

_PLAN_KEYS = (
    *("version", "title", "language", "population"),
    *("source", "attributes", "protection", "budget"),
)
_ATTRIBUTE_KEYS = ("role", "hierarchy", "pseudonym")
_BUDGET_KEYS = ("ledger", "population", "limit")
_EMPTY: Mapping[str, object] = MappingProxyType({})


THE_WORK = msg("The plan")
"""How sentences name a work that no file is the plan of."""
THE_SETTINGS = msg("{work}, [protection]", work=THE_WORK)
"""The settings of its method; a window calls them so, and no key of a file."""


@dataclass(frozen=True)
class HierarchyFile:
    """A hierarchy in a CSV file; ``path`` is as written in the plan."""

    path: str


@dataclass(frozen=True)
class HierarchyBuilder:
    """A hierarchy that a builder makes: its kind and its options as frozen plain values."""

    kind: str
    options: Mapping[str, object] = field(default_factory=lambda: _EMPTY)

    def __post_init__(self) -> None:
        object.__setattr__(self, "options", freeze_table(self.options))

    def __reduce__(self) -> tuple[type[HierarchyBuilder], tuple[str, object]]:
        """Frozen tables cannot be handed to another process; thawed ones can."""
        return HierarchyBuilder, (self.kind, thaw(self.options, exact=True))


HierarchySpec: TypeAlias = "HierarchyFile | HierarchyBuilder"


@dataclass(frozen=True)
class AttributeSpec:
    """Role and hierarchy of one column; an identifier may be kept as a pseudonym."""

    role: Role = Role.INSENSITIVE
    hierarchy: HierarchySpec | None = None
    pseudonym: PseudonymSpec | None = None

    @property
    def released_as(self) -> Role:
        """The role, or that of a pseudonym for an identifier that is kept as one."""
        return self.role if self.pseudonym is None else Role.PSEUDONYM


@dataclass(frozen=True)
class Protection:
    """The method's id and its keys as the plan gives them: frozen plain values, not yet checked."""

    method: str
    parameters: Mapping[str, object] = field(default_factory=lambda: _EMPTY)

    def __post_init__(self) -> None:
        object.__setattr__(self, "parameters", freeze_table(self.parameters))


@dataclass(frozen=True)
class Plan:
    """A whole plan; columns that ``attributes`` does not name are insensitive.

    ``language`` is that of the pages of the release; what is signed is English in every case.
    """

    source: SourceSpec
    attributes: Mapping[str, AttributeSpec]
    protection: Protection
    title: str = ""
    budget: Mapping[str, object] | None = None
    language: str = ENGLISH

    def __post_init__(self) -> None:
        object.__setattr__(self, "attributes", MappingProxyType(dict(self.attributes)))
        if self.budget is not None:
            object.__setattr__(self, "budget", freeze_table(self.budget))

    @classmethod
    def from_plain(cls, raw: Mapping[str, object], where: str) -> Plan:
        """Read a plan from nested plain values (as TOML or JSON give them).

        Raises InputError with sentences that start with ``where`` (the plan's file name):
        ``plan.unknown-key``, ``plan.missing-key``, ``plan.invalid``, ``plan.version``.
        """
        check_known(raw, _PLAN_KEYS, where)
        _check_version(raw, where)
        for key, number in odd_numbers(raw):
            expected = msg(
                "a finite number of at most {most:,} digits, the first 15 of which distinguish "
                "it from a whole one",
                most=MAX_DIGITS,
            )
            raise invalid(key, number, expected, where)
        # What is computed, paid and stated is the same number only if a float can hold it.
        for key, number in unlike_floats(raw.get("protection"), "protection"):
            raise invalid(key, number, "a number of at most 15 digits", where)
        return cls(
            source=read_source(_table(raw, "source", where), where),
            attributes=_attributes(_table(raw, "attributes", where, {}), where),
            protection=_protection(_table(raw, "protection", where), where),
            title=_title(raw, where),
            budget=_budget(raw, where),
            language=_language(raw, where),
        )

    def column_roles(self, columns: Sequence[str]) -> dict[str, Role]:
        """The role of every column, in this order; one the plan is silent on is insensitive."""
        silent_on = AttributeSpec()
        return {name: self.attributes.get(name, silent_on).released_as for name in columns}

    def spelled_as(self, columns: Sequence[str], where: str) -> Plan:
        """The same plan with every name of a column as these columns of the source are written.

        Names meet by their NFC, wherever a plan has one; see :mod:`dpdesk.core.schema`.
        Raises InputError ``plan.name-forms`` where two names of the plan are one column.
        """
        spelled = spelling(columns)
        check_one_each(self.attributes, spelled, f"{where}, [attributes]")
        return replace(
            self,
            source=self.source.spelled_as(columns),
            attributes={spelled(name): spec for name, spec in self.attributes.items()},
            protection=Protection(
                self.protection.method, with_names(self.protection.parameters, spelled)
            ),
        )

    @property
    def pseudonyms(self) -> dict[str, PseudonymSpec]:
        """How identifiers are replaced that are kept for linkage, by column."""
        return {
            name: spec.pseudonym
            for name, spec in self.attributes.items()
            if spec.pseudonym is not None
        }

    def linkages(self, columns: Sequence[str]) -> dict[str, Linkage]:
        """What the pseudonyms join, by column in this order."""
        found = self.pseudonyms
        return {name: found[name].linkage for name in columns if name in found}

    def made_hierarchies(self) -> dict[str, HierarchyBuilder | None]:
        """The hierarchies of quasi-identifiers that are made from the values of the data.

        By which builder, or None for the value itself, then ``*``; those of files are left out.
        """
        return {
            name: spec.hierarchy
            for name, spec in self.attributes.items()
            if spec.role is Role.QUASI_IDENTIFIER and not isinstance(spec.hierarchy, HierarchyFile)
        }

    def as_plain(self, *, exact: bool = False) -> dict[str, object]:
        """The plan as nested plain values of JSON types; the inverse of :meth:`from_plain`.

        With ``exact``, numbers that are not whole stay decimals instead of becoming floats.
        """
        plain: dict[str, object] = {"version": PLAN_VERSION}
        if self.title:
            plain["title"] = self.title
        if self.language != ENGLISH:
            plain["language"] = self.language
        plain["source"] = self.source.as_plain()
        plain["attributes"] = {
            name: _attribute_plain(spec, exact) for name, spec in self.attributes.items()
        }
        plain["protection"] = {"method": self.protection.method} | {
            key: thaw(value, exact=exact) for key, value in self.protection.parameters.items()
        }
        if self.budget is not None:
            plain["budget"] = thaw(self.budget, exact=exact)
        return plain


def _attribute_plain(spec: AttributeSpec, exact: bool) -> dict[str, object]:
    plain: dict[str, object] = {"role": spec.role.value}
    if isinstance(spec.hierarchy, HierarchyFile):
        plain["hierarchy"] = spec.hierarchy.path
    elif isinstance(spec.hierarchy, HierarchyBuilder):
        options = {key: thaw(value, exact=exact) for key, value in spec.hierarchy.options.items()}
        plain["hierarchy"] = {"kind": spec.hierarchy.kind} | options
    if spec.pseudonym is not None:
        plain["pseudonym"] = spec.pseudonym.as_plain()
    return plain


def _check_version(raw: Mapping[str, object], where: str) -> None:
    version = raw.get("version")
    if version is None:
        raise missing_key("version", where, msg("`version = {n}`", n=PLAN_VERSION))
    if version != PLAN_VERSION or isinstance(version, bool):
        raise InputError(
            "plan.version",
            msg(
                "{where}: `version` is {found}, expected {version}.",
                where=where,
                found=show(version),
                version=PLAN_VERSION,
            ),
            hint="The plan was written for another version of DPDesk.",
            details={"key": "version"},
        )


def _title(raw: Mapping[str, object], where: str) -> str:
    title = text_of(raw, "title", where, "")
    if len(title) > _LONGEST_TITLE:
        raise invalid(
            "title", title, msg("at most {most:,} characters", most=_LONGEST_TITLE), where
        )
    return title


def _language(raw: Mapping[str, object], where: str) -> str:
    text = text_of(raw, "language", where, ENGLISH)
    known = languages()
    if text not in known:
        raise with_nearest(invalid("language", text, one_of(known), where), text, known)
    return text


def _table(
    raw: Mapping[str, object], key: str, where: str, default: Mapping[str, object] | None = None
) -> Mapping[str, object]:
    value = raw.get(key, default)
    if value is None:
        raise missing_key(key, where, msg("a table `[{key}]`", key=key))
    if not isinstance(value, Mapping):
        raise invalid(key, value, msg("a table `[{key}]`", key=key), where)
    return value


def _budget(raw: Mapping[str, object], where: str) -> Mapping[str, object] | None:
    """The table ``[budget]``; ``population`` may be at the top of the plan as well."""
    if raw.get("population") is not None:
        people = text_of(raw, "population", where, "")
        given = _table(raw, "budget", where, {})
        if given.get("population", people) != people:
            expected = msg("`{people}` as at the top of the plan", people=people)
            place = f"{where}, [budget]"
            raise invalid("population", given["population"], expected, place)
        raw = {**raw, "budget": {**given, "population": people}}
    if raw.get("budget") is None:
        return None
    budget = _table(raw, "budget", where)
    place = f"{where}, [budget]"
    check_known(budget, _BUDGET_KEYS, place)
    for key in ("ledger", "population"):
        if key in budget:
            text_of(budget, key, place, None)
    ledger = str(budget.get("ledger", ""))
    if is_address(ledger):  # taken as a path, it would be new
        raise invalid("ledger", ledger, "the path of a file, not an address", place)
    limit = budget.get("limit", 0)
    if isinstance(limit, bool) or not isinstance(limit, int | float | Decimal) or limit < 0:
        raise invalid("limit", limit, "a number of 0 or more", place)
    return budget


def _attributes(raw: Mapping[str, object], where: str) -> dict[str, AttributeSpec]:
    specs: dict[str, AttributeSpec] = {}
    for name, value in raw.items():
        place = msg("{where}, [attributes.{name}]", where=where, name=name)
        if not isinstance(value, Mapping):
            raise invalid(name, value, "a table with `role`", f"{where}, [attributes]")
        check_known(value, _ATTRIBUTE_KEYS, place)
        role, hierarchy = _role(value, place), _hierarchy(value.get("hierarchy"), place)
        specs[name] = AttributeSpec(role, hierarchy, _pseudonym(value, role, place))
    return specs


def _pseudonym(raw: Mapping[str, object], role: Role, place: str) -> PseudonymSpec | None:
    if raw.get("pseudonym") is None:
        return None
    if role is not Role.IDENTIFIER:
        raise InputError(
            "plan.pseudonym-role",
            msg(
                "{place}: `pseudonym` is used with the role {role}, expected the role identifier.",
                place=place,
                role=role.value,
            ),
            hint="Only identifiers are replaced by pseudonyms.",
            details={"key": "pseudonym"},
        )
    return read_pseudonym(raw["pseudonym"], place)


def _role(raw: Mapping[str, object], place: str) -> Role:
    text = text_of(raw, "role", place, Role.INSENSITIVE.value)
    known = tuple(role.value for role in PLAN_ROLES)
    if text not in known:
        raise with_nearest(invalid("role", text, one_of(known), place), text, known)
    return Role(text)


def _hierarchy(raw: object, place: str) -> HierarchySpec | None:
    if raw is None:
        return None
    if isinstance(raw, str) and raw:
        return HierarchyFile(raw)
    if not isinstance(raw, Mapping):
        expected = 'a file name or a builder such as { kind = "mask" }'
        raise invalid("hierarchy", raw, expected, place)
    where, expected = msg("{place}, hierarchy", place=place), one_of(BUILDER_KINDS)
    if raw.get("kind") is None:
        raise missing_key("kind", where, expected)
    kind = text_of(raw, "kind", where, None)
    if kind not in BUILDER_KINDS:
        raise with_nearest(invalid("kind", kind, expected, where), kind, BUILDER_KINDS)
    return HierarchyBuilder(kind, {key: value for key, value in raw.items() if key != "kind"})


def _protection(raw: Mapping[str, object], where: str) -> Protection:
    method = text_of(raw, "method", f"{where}, [protection]", None)
    parameters = {key: value for key, value in raw.items() if key != "method"}
    return Protection(method, parameters)


# A hierarchy that is suggested for a column, and why: a code with facts, worded by the window.


class Why(Enum):
    """What of a column decided; each names the facts that come with it."""

    FEW = "few values"
    """``n``."""
    DATES = "dates"
    """``form``, the forms found; ``other``, a form that fits as well."""
    YEARS = "years"
    """``n``, ``low``, ``high``, ``widths``."""
    NUMBERS = "numbers"
    """``n``, ``low``, ``high``, ``widths``; ``top`` and ``bottom`` where ends are coded."""
    COUNTS = "counts"
    """As NUMBERS; the name speaks of a number of things."""
    NUMBER_CODES = "number codes"
    """``n``, ``low``, ``high``: few whole numbers, whose order may mean nothing."""
    NAMED_CODES = "named codes"
    """``n``, ``low``, ``high``: numbers whose name speaks of a code."""
    CODES = "codes"
    """``n``, ``length`` (characters), ``hidden`` (at level 1), ``groups`` (that are left then)."""
    PADDED_CODES = "padded codes"
    """As CODES: numbers of different length, filled with zeros."""
    LOOSE_CODES = "loose codes"
    """``n``: codes whose beginnings put nothing together."""
    RANGES = "ranges"
    """``n``: values such as 15-24 or 65+."""
    ORDER = "order"
    """``n``: numbers whose name speaks of an order."""
    SCALE = "scale"
    """``n``, ``low``, ``high``: words of a scale, such as poor, fair, good."""
    MONTHS = "months"
    DAYS = "days"
    SECTIONS = "sections"
    """``n``, ``groups``: divisions of economic activities, and their sections."""
    RUNNING = "running numbers"
    """``n``, ``low``, ``high``: all whole numbers from 0 or 1 to many."""
    NAMES = "names"
    """``n``: texts that do not tell what belongs together."""
    STATED = "stated"
    """``file`` or ``digits``: the metadata of the file say it."""


@dataclass(frozen=True)
class SuggestedHierarchy:
    """A builder or file that suits a column and builds without error, and why.

    ``facts`` are texts to fill a sentence with, named at :class:`Why`; ``apart`` are values that
    stay outside, because they look like codes for missing.
    """

    builder: HierarchySpec
    why: Why
    facts: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    apart: tuple[str, ...] = ()
