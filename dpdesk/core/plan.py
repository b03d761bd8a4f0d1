"""Plans: what to read, what each column is, and which protection to apply.

A plan is a value. Reading and writing plan files is the work of ``dpdesk.io``; checking the
``[protection]`` keys is the work of the method registry.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from types import MappingProxyType
from typing import TypeAlias

from dpdesk.core.errors import InputError
from dpdesk.core.parameters import nearest, unknown_key
from dpdesk.core.schema import Role

PLAN_VERSION = 1
BUILDER_KINDS = ("intervals", "mask", "order", "dates", "tree")

_PLAN_KEYS = ("version", "title", "source", "attributes", "protection", "budget")
_SOURCE_KEYS = ("path", "delimiter", "encoding", "decimal", "quote", "header", "missing")
_ATTRIBUTE_KEYS = ("role", "hierarchy")


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
    """A hierarchy that a builder makes: its kind and its options as plain values."""

    kind: str
    options: Mapping[str, object] = field(default_factory=lambda: MappingProxyType({}))


HierarchySpec: TypeAlias = "HierarchyFile | HierarchyBuilder"


@dataclass(frozen=True)
class AttributeSpec:
    """Role and hierarchy of one column."""

    role: Role = Role.INSENSITIVE
    hierarchy: HierarchySpec | None = None


@dataclass(frozen=True)
class Protection:
    """The method's id and its keys as the plan gives them (not yet checked)."""

    method: str
    parameters: Mapping[str, object] = field(default_factory=lambda: MappingProxyType({}))


@dataclass(frozen=True)
class Plan:
    """A whole plan; columns that ``attributes`` does not name are insensitive."""

    source: SourceSpec
    attributes: Mapping[str, AttributeSpec]
    protection: Protection
    title: str = ""
    budget: Mapping[str, object] | None = None

    @classmethod
    def from_plain(cls, raw: Mapping[str, object], where: str) -> Plan:
        """Read a plan from nested plain values (as TOML or JSON give them).

        Raises InputError with sentences that start with ``where`` (the plan's file name):
        ``plan.unknown-key``, ``plan.missing-key``, ``plan.invalid``, ``plan.version``.
        """
        _known(raw, _PLAN_KEYS, where)
        version = raw.get("version")
        if version is None:
            raise _missing("version", where, f"`version = {PLAN_VERSION}`")
        if version != PLAN_VERSION or isinstance(version, bool):
            raise InputError(
                "plan.version",
                f"{where}: `version` is {version}, expected {PLAN_VERSION}.",
                hint="The plan was written for another version of DPDesk.",
            )
        budget = raw.get("budget")
        return cls(
            source=_source(_table(raw, "source", where), where),
            attributes=MappingProxyType(_attributes(_table(raw, "attributes", where, {}), where)),
            protection=_protection(_table(raw, "protection", where), where),
            title=_text(raw, "title", where, ""),
            budget=None if budget is None else MappingProxyType(_table(raw, "budget", where)),
        )

    def as_plain(self) -> dict[str, object]:
        """The plan as nested plain values; the inverse of :meth:`from_plain`."""
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
            name: _attribute_plain(spec) for name, spec in self.attributes.items()
        }
        plain["protection"] = {"method": self.protection.method} | {
            key: _plain(value) for key, value in self.protection.parameters.items()
        }
        if self.budget is not None:
            plain["budget"] = {key: _plain(value) for key, value in self.budget.items()}
        return plain

    def with_protection(self, protection: Protection) -> Plan:
        """The same plan with another protection."""
        return replace(self, protection=protection)


def _attribute_plain(spec: AttributeSpec) -> dict[str, object]:
    plain: dict[str, object] = {"role": spec.role.value}
    if isinstance(spec.hierarchy, HierarchyFile):
        plain["hierarchy"] = spec.hierarchy.path
    elif isinstance(spec.hierarchy, HierarchyBuilder):
        options = {key: _plain(value) for key, value in spec.hierarchy.options.items()}
        plain["hierarchy"] = {"kind": spec.hierarchy.kind} | options
    return plain


def _plain(value: object) -> object:
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value


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
    shown = f'"{found}"' if isinstance(found, str) else f"{found}"
    return InputError(
        "plan.invalid", f"{where}: `{key}` is {shown}, expected {expected}.", details={"key": key}
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
    _known(raw, _SOURCE_KEYS, place)
    path = _text(raw, "path", place, None)
    optional = {
        key: _text(raw, key, place, None)
        for key in ("delimiter", "encoding", "decimal", "quote")
        if key in raw
    }
    for key, longest in (("delimiter", 1), ("decimal", 1), ("quote", 1)):
        if key in optional and len(optional[key]) > longest:
            raise _invalid(key, optional[key], "one character", place)
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
    known = [role.value for role in Role]
    if text not in known:
        error = _invalid("role", text, "one of " + ", ".join(f"`{role}`" for role in known), place)
        near = nearest(text, known)
        raise InputError(
            error.code,
            error.sentence,
            details=error.details,
            hint=f"Did you mean `{near}`?" if near else "",
        )
    return Role(text)


def _hierarchy(raw: object, place: str) -> HierarchySpec | None:
    if raw is None:
        return None
    if isinstance(raw, str):
        return HierarchyFile(raw)
    if not isinstance(raw, Mapping):
        raise _invalid(
            "hierarchy", raw, 'a file name or a builder such as { kind = "mask" }', place
        )
    kind = _text(raw, "kind", f"{place}, hierarchy", None)
    if kind not in BUILDER_KINDS:
        raise _invalid(
            "kind",
            kind,
            "one of " + ", ".join(f"`{k}`" for k in BUILDER_KINDS),
            f"{place}, hierarchy",
        )
    options = {key: value for key, value in raw.items() if key != "kind"}
    return HierarchyBuilder(kind, MappingProxyType(options))


def _protection(raw: Mapping[str, object], where: str) -> Protection:
    method = _text(raw, "method", f"{where}, [protection]", None)
    parameters = {key: value for key, value in raw.items() if key != "method"}
    return Protection(method, MappingProxyType(parameters))
