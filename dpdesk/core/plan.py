"""Plans: what to read, what each column is, and which protection to apply.

A plan is a value. Reading and writing plan files is the work of ``dpdesk.io``; checking the
``[protection]`` keys is the work of the method registry.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from types import MappingProxyType
from typing import TypeAlias

from dpdesk.core.errors import InputError
from dpdesk.core.parameters import nearest, unknown_key
from dpdesk.core.plain import MAX_DIGITS, freeze_table, odd_numbers, show, thaw
from dpdesk.core.schema import Role

PLAN_VERSION = 1
BUILDER_KINDS = ("intervals", "mask", "order", "dates", "tree")

_PLAN_KEYS = ("version", "title", "source", "attributes", "protection", "budget")
_SOURCE_KEYS = ("path", "delimiter", "encoding", "decimal", "quote", "header", "missing")
_NO_QUOTES = ",;\t| \r\n"
_LATER_SOURCE_KEYS = ("table", "query", "columns", "widths")
_ATTRIBUTE_KEYS = ("role", "hierarchy")
_BUDGET_KEYS = ("ledger", "population", "limit")
_EMPTY: Mapping[str, object] = MappingProxyType({})


@dataclass(frozen=True)
class SourceSpec:
    """Which file to read and how; None means: detect.

    ``missing`` lists the texts that stand for a missing value; the default is the empty field only,
    an empty tuple says that nothing is missing. ``quote`` may be the empty string (no quoting).
    """

    path: str
    delimiter: str | None = None
    encoding: str | None = None
    decimal: str | None = None
    quote: str | None = None
    header: bool | None = None
    missing: tuple[str, ...] = ("",)


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


HierarchySpec: TypeAlias = "HierarchyFile | HierarchyBuilder"


@dataclass(frozen=True)
class AttributeSpec:
    """Role and hierarchy of one column."""

    role: Role = Role.INSENSITIVE
    hierarchy: HierarchySpec | None = None


@dataclass(frozen=True)
class Protection:
    """The method's id and its keys as the plan gives them: frozen plain values, not yet checked."""

    method: str
    parameters: Mapping[str, object] = field(default_factory=lambda: _EMPTY)

    def __post_init__(self) -> None:
        object.__setattr__(self, "parameters", freeze_table(self.parameters))


@dataclass(frozen=True)
class Plan:
    """A whole plan; columns that ``attributes`` does not name are insensitive."""

    source: SourceSpec
    attributes: Mapping[str, AttributeSpec]
    protection: Protection
    title: str = ""
    budget: Mapping[str, object] | None = None

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
        _known(raw, _PLAN_KEYS, where)
        _check_version(raw, where)
        for key, number in odd_numbers(raw):
            expected = f"a finite number of at most {MAX_DIGITS:,} digits"
            raise _invalid(key, number, expected, where)
        return cls(
            source=_source(_table(raw, "source", where), where),
            attributes=_attributes(_table(raw, "attributes", where, {}), where),
            protection=_protection(_table(raw, "protection", where), where),
            title=_text(raw, "title", where, ""),
            budget=None if raw.get("budget") is None else _budget(raw, where),
        )

    def column_roles(self, columns: Sequence[str]) -> dict[str, Role]:
        """The role of every column, in this order; one the plan is silent on is insensitive."""
        silent_on = AttributeSpec()
        return {name: self.attributes.get(name, silent_on).role for name in columns}

    def as_plain(self, *, exact: bool = False) -> dict[str, object]:
        """The plan as nested plain values of JSON types; the inverse of :meth:`from_plain`.

        With ``exact``, numbers that are not whole stay decimals instead of becoming floats.
        """
        plain: dict[str, object] = {"version": PLAN_VERSION}
        if self.title:
            plain["title"] = self.title
        source: dict[str, object] = {"path": self.source.path}
        for key in _SOURCE_KEYS[1:-1]:
            value = getattr(self.source, key)
            if value is not None:
                source[key] = value
        if self.source.missing != ("",):
            source["missing"] = list(self.source.missing)
        plain["source"] = source
        plain["attributes"] = {
            name: _attribute_plain(spec, exact) for name, spec in self.attributes.items()
        }
        plain["protection"] = {"method": self.protection.method} | {
            key: thaw(value, exact=exact) for key, value in self.protection.parameters.items()
        }
        if self.budget is not None:
            plain["budget"] = thaw(self.budget, exact=exact)
        return plain

    def with_protection(self, protection: Protection) -> Plan:
        """The same plan with another protection."""
        return replace(self, protection=protection)


def _attribute_plain(spec: AttributeSpec, exact: bool) -> dict[str, object]:
    plain: dict[str, object] = {"role": spec.role.value}
    if isinstance(spec.hierarchy, HierarchyFile):
        plain["hierarchy"] = spec.hierarchy.path
    elif isinstance(spec.hierarchy, HierarchyBuilder):
        options = {key: thaw(value, exact=exact) for key, value in spec.hierarchy.options.items()}
        plain["hierarchy"] = {"kind": spec.hierarchy.kind} | options
    return plain


def _check_version(raw: Mapping[str, object], where: str) -> None:
    version = raw.get("version")
    if version is None:
        raise _missing("version", where, f"`version = {PLAN_VERSION}`")
    if version != PLAN_VERSION or isinstance(version, bool):
        raise InputError(
            "plan.version",
            f"{where}: `version` is {show(version)}, expected {PLAN_VERSION}.",
            hint="The plan was written for another version of DPDesk.",
            details={"key": "version"},
        )


def _known(raw: Mapping[str, object], known: tuple[str, ...], where: str) -> None:
    for key in raw:
        if key not in known:
            raise unknown_key(key, known, where)


def _missing(key: str, where: str, expected: str) -> InputError:
    return InputError(
        "plan.missing-key",
        f"{where}: the key `{key}` is missing, expected {expected}.",
        details={"key": key},
    )


def _invalid(key: str, found: object, expected: str, where: str) -> InputError:
    return InputError(
        "plan.invalid",
        f"{where}: `{key}` is {show(found)}, expected {expected}.",
        details={"key": key},
    )


def _not_available(key: str, what: str, hint: str, where: str) -> InputError:
    return InputError(
        "plan.not-available",
        f"{where}: {what} not available in this version.",
        hint=hint,
        details={"key": key},
    )


def _table(
    raw: Mapping[str, object], key: str, where: str, default: Mapping[str, object] | None = None
) -> Mapping[str, object]:
    value = raw.get(key, default)
    if value is None:
        raise _missing(key, where, f"a table `[{key}]`")
    if not isinstance(value, Mapping):
        raise _invalid(key, value, f"a table `[{key}]`", where)
    return value


def _text(raw: Mapping[str, object], key: str, where: str, default: str | None) -> str:
    value = raw.get(key, default)
    if value is None:
        raise _missing(key, where, "a text")
    if not isinstance(value, str):
        raise _invalid(key, value, "a text", where)
    return value


def _source(raw: Mapping[str, object], where: str) -> SourceSpec:
    place = f"{where}, [source]"
    path = _source_path(raw, place)
    optional = {
        key: _text(raw, key, place, None)
        for key in ("delimiter", "encoding", "decimal", "quote")
        if key in raw
    }
    for key, longest in (("delimiter", 1), ("decimal", 1), ("quote", 1)):
        if key in optional and len(optional[key]) > longest:
            raise _invalid(key, optional[key], "one character", place)
    quote = optional.get("quote", "")
    if quote and (quote.isalnum() or quote in _NO_QUOTES or quote == optional.get("delimiter")):
        raise _invalid("quote", quote, "a quote such as `\"` or `'`, or an empty text", place)
    if optional.get("delimiter") == "":
        raise _invalid("delimiter", "", "one character", place)
    if "decimal" in optional and optional["decimal"] not in (".", ","):
        raise _invalid("decimal", optional["decimal"], "`.` or `,`", place)
    header = raw.get("header")
    if header is not None and not isinstance(header, bool):
        raise _invalid("header", header, "true or false", place)
    missing = raw.get("missing", [""])
    if not isinstance(missing, list | tuple) or not all(isinstance(item, str) for item in missing):
        raise _invalid("missing", missing, "a list of texts", place)
    return SourceSpec(
        path=path, header=header, missing=tuple(str(item) for item in missing), **optional
    )


def _source_path(raw: Mapping[str, object], place: str) -> str:
    for key in raw:
        if key in _LATER_SOURCE_KEYS:
            hint = "Give a CSV or Parquet file as `path`."
            raise _not_available(key, f"the key `{key}` is", hint, place)
    _known(raw, _SOURCE_KEYS, place)
    path = _text(raw, "path", place, None)
    if not path or "\0" in path:
        raise _invalid("path", path, "the path of a file", place)
    if "://" in path:
        hint = "Export the table as a CSV or Parquet file."
        raise _not_available("path", "databases as a source are", hint, place)
    return path


def _budget(raw: Mapping[str, object], where: str) -> Mapping[str, object]:
    budget = _table(raw, "budget", where)
    place = f"{where}, [budget]"
    _known(budget, _BUDGET_KEYS, place)
    for key in ("ledger", "population"):
        if key in budget:
            _text(budget, key, place, None)
    limit = budget.get("limit", 0)
    if isinstance(limit, bool) or not isinstance(limit, int | float | Decimal) or limit < 0:
        raise _invalid("limit", limit, "a number of 0 or more", place)
    return budget


def _attributes(raw: Mapping[str, object], where: str) -> dict[str, AttributeSpec]:
    specs: dict[str, AttributeSpec] = {}
    for name, value in raw.items():
        place = f"{where}, [attributes.{name}]"
        if not isinstance(value, Mapping):
            raise _invalid(name, value, "a table with `role`", f"{where}, [attributes]")
        _known(value, _ATTRIBUTE_KEYS, place)
        specs[name] = AttributeSpec(_role(value, place), _hierarchy(value.get("hierarchy"), place))
    return specs


def _role(raw: Mapping[str, object], place: str) -> Role:
    text = _text(raw, "role", place, Role.INSENSITIVE.value)
    known = tuple(role.value for role in Role)
    if text not in known:
        raise _with_nearest(_invalid("role", text, _one_of(known), place), text, known)
    return Role(text)


def _one_of(known: tuple[str, ...]) -> str:
    return "one of " + ", ".join(f"`{word}`" for word in known)


def _with_nearest(error: InputError, word: str, known: tuple[str, ...]) -> InputError:
    near = nearest(word, known)
    hint = f"Did you mean `{near}`?" if near else ""
    return InputError(error.code, error.sentence, hint=hint, details=error.details)


def _hierarchy(raw: object, place: str) -> HierarchySpec | None:
    if raw is None:
        return None
    if isinstance(raw, str) and raw:
        return HierarchyFile(raw)
    if not isinstance(raw, Mapping):
        expected = 'a file name or a builder such as { kind = "mask" }'
        raise _invalid("hierarchy", raw, expected, place)
    where, expected = f"{place}, hierarchy", _one_of(BUILDER_KINDS)
    if raw.get("kind") is None:
        raise _missing("kind", where, expected)
    kind = _text(raw, "kind", where, None)
    if kind not in BUILDER_KINDS:
        raise _with_nearest(_invalid("kind", kind, expected, where), kind, BUILDER_KINDS)
    return HierarchyBuilder(kind, {key: value for key, value in raw.items() if key != "kind"})


def _protection(raw: Mapping[str, object], where: str) -> Protection:
    method = _text(raw, "method", f"{where}, [protection]", None)
    parameters = {key: value for key, value in raw.items() if key != "method"}
    return Protection(method, parameters)
