"""An agency's policy: the limits that every release is checked against, and who has to sign it.

A policy is a value that is read from TOML (or JSON of the same shape); unknown keys are errors. A
submission carries the whole policy, so that everybody can see against what it was checked.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import TypeAlias

from dpdesk.core.errors import InputError
from dpdesk.core.messages import msg
from dpdesk.core.parameters import (
    FlagParameter,
    IntegerParameter,
    Nested,
    Parameter,
    ParameterValue,
    ShareParameter,
    TextListParameter,
    TextParameter,
    Texts,
    exact_number,
    parse_parameters,
    plain_number,
    unknown_key,
)
from dpdesk.core.plain import MAX_DIGITS, freeze, odd_numbers, show
from dpdesk.io.planfile import is_json, line_of, parse_settings, read_settings_text, too_deep
from dpdesk.project.review.events import MOST_REVIEWERS, Mode, policy_sha256
from dpdesk.project.review.texts import text_fault

POLICY_VERSION = 1
MODES = tuple(Mode)
MOST_SIGN_OFFS = 100
_LONGEST = 1_000
_ID = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_TABLES = ("limits", "columns", "modes", "sign_offs")


@dataclass(frozen=True)
class BudgetParameter(Parameter):
    """An exact number above 0: an ε."""

    def parse(self, raw: object, where: str) -> ParameterValue:
        """See :meth:`Parameter.parse`."""
        number = None if isinstance(raw, str) else exact_number(raw)
        if number is None or number <= 0:
            raise self.invalid(where, raw)
        return number

    def range_text(self) -> str:
        """See :meth:`Parameter.range_text`."""
        return "a number above 0"


@dataclass(frozen=True)
class DominanceParameter(Parameter):
    """``{ n = 2, k = 80 }``: the n largest contributors give at most k percent of a cell."""

    def parse(self, raw: object, where: str) -> ParameterValue:
        """See :meth:`Parameter.parse`; a ``k`` of 1 or less could be meant as a share."""
        if not isinstance(raw, Mapping) or set(raw) != {"n", "k"}:
            raise self.invalid(where, raw)
        if isinstance(raw["n"], str) or isinstance(raw["k"], str):
            raise self.invalid(where, raw)
        n, percent = exact_number(raw["n"]), exact_number(raw["k"])
        if n is None or n.denominator != 1 or n < 1 or percent is None or not 1 < percent <= 100:
            raise self.invalid(where, raw)
        return Nested(freeze({"n": int(n), "k": percent}))

    def as_plain(self, value: ParameterValue) -> object:
        """See :meth:`Parameter.as_plain`."""
        if not isinstance(value, Nested) or not isinstance(value.plain, Mapping):
            return None
        return {key: plain_number(Fraction(item)) for key, item in value.plain.items()}

    def range_text(self) -> str:
        """See :meth:`Parameter.range_text`."""
        return "a table such as { n = 2, k = 80 }, k in percent"


LIMITS: tuple[Parameter, ...] = (
    IntegerParameter(
        "minimum_k",
        "Smallest class at least",
        "Every released combination of quasi-identifiers covers at least this many rows.",
        "rows",
        minimum=2,
    ),
    IntegerParameter(
        "minimum_rows",
        "Rows of the table at least",
        "A table with fewer rows is not released.",
        "rows",
        minimum=1,
    ),
    ShareParameter(
        "maximum_suppression",
        "Suppressed rows at most",
        "Share of the source's rows that the release leaves out.",
    ),
    ShareParameter(
        "maximum_group_suppression",
        "Suppressed rows of a group at most",
        "Of the rows with one original value that is not rare, the share that is left out.",
    ),
    ShareParameter(
        "maximum_average_risk",
        "Average risk at most",
        "Classes divided by rows: the mean chance that a match with a released row is right.",
    ),
    ShareParameter(
        "maximum_homogeneous",
        "Rows that give a sensitive value away at most",
        "Share of the released rows in classes whose rows all hold one value of a sensitive "
        "column.",
    ),
    IntegerParameter(
        "minimum_l",
        "Different sensitive values per class at least",
        "Distinct ℓ-diversity of every sensitive column.",
        "values",
        minimum=2,
    ),
    ShareParameter(
        "maximum_t",
        "Distance of sensitive values at most",
        "t-closeness of every sensitive column, by the equal distance, against all released rows.",
    ),
    ShareParameter(
        "maximum_unique_rows",
        "Rows with a value of their own at most",
        "Share of the released rows whose value, in one unchanged column, no one else has.",
    ),
    ShareParameter(
        "maximum_outside",
        "Rows outside the declared categories at most",
        "Share of the source's rows that a release with noise leaves out or moves because a value "
        "is none of the declared categories.",
    ),
    ShareParameter(
        "maximum_exposed",
        "Rows that one more column exposes at most",
        "Share of the released rows in groups below k for someone who also knows one unchanged "
        "column that is not sensitive.",
    ),
    IntegerParameter(
        "maximum_columns",
        "Columns at most",
        "Number of published columns.",
        "columns",
        minimum=1,
    ),
    BudgetParameter("maximum_epsilon", "ε at most", "The ε that the release spends."),
    IntegerParameter(
        "threshold",
        "Contributors to a cell at least",
        "Threshold rule of a table: cells of fewer contributors are protected.",
        "contributors",
        minimum=2,
    ),
    DominanceParameter(
        "dominance",
        "Dominance rule at least as strict as",
        "Dominance rule of a table: cells in which n contributors give more than k percent are "
        "protected.",
    ),
)
"""The limits that a policy may set, in the order in which a checklist takes them."""

_TOP: tuple[Parameter, ...] = (
    TextParameter("title", "Title", "What the policy is called.", longest=_LONGEST, default=""),
    IntegerParameter(
        "reviewers",
        "Reviewers",
        "How many people other than the author have to approve a release.",
        minimum=1,
        maximum=MOST_REVIEWERS,
        default=2,
    ),
    TextListParameter("methods", "Methods", "Methods that may be used; absent: all."),
    FlagParameter(
        "require_proven_optimal",
        "Proven optimum",
        "The release has to be the proven best of all that keep its limits.",
    ),
    FlagParameter(
        "require_source_verification",
        "Check with the source",
        "The table has to be made again from the source on the computer that checks it.",
    ),
    FlagParameter(
        "accept_not_compared",
        "Pages that were not compared",
        "Pages and sentences of another version, which cannot be made again and compared, ask for "
        "a person instead of failing.",
    ),
)
_FLAGS = ("require_proven_optimal", "require_source_verification", "accept_not_compared")
_COLUMNS: tuple[Parameter, ...] = (
    TextListParameter("forbidden", "Forbidden columns", "Names that no published column may have."),
    TextListParameter(
        "required", "Required columns", ("Columns that the published table must have.")
    ),
)
_MODES: tuple[Parameter, ...] = (
    TextListParameter("allowed", "Allowed modes", "How a release may be made."),
)

Limit: TypeAlias = "int | Fraction | Mapping[str, object]"


@dataclass(frozen=True)
class Policy:
    """What a release is checked against.

    ``limits`` holds the limits that are set, by the keys of :data:`LIMITS`: whole numbers,
    fractions, and for ``dominance`` a table of ``n`` and ``k``. ``methods`` is None when every
    method may be used. ``forbidden`` and ``required`` are column names, in which ``*`` stands for
    any characters and ``?`` for one; capitals do not matter. ``sign_offs`` are questions that
    people have to answer, by a short id.
    """

    title: str = ""
    reviewers: int = 2
    limits: Mapping[str, Limit] = field(default_factory=lambda: MappingProxyType({}))
    forbidden: tuple[str, ...] = ()
    required: tuple[str, ...] = ()
    methods: tuple[str, ...] | None = None
    modes: tuple[Mode, ...] = MODES
    require_proven_optimal: bool = False
    require_source_verification: bool = False
    accept_not_compared: bool = False
    sign_offs: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))

    @classmethod
    def from_plain(cls, raw: Mapping[str, object], where: str) -> Policy:
        """Read a policy from nested plain values (as TOML or JSON give them).

        Raises InputError ``policy.unknown-key``, ``policy.version``, ``policy.invalid`` or
        ``parameter.invalid``; the sentences start with ``where`` (the file's name), and ``path``
        among the details names the keys that lead to the fault.
        """
        _check_shape(raw, where)
        top = _read(_TOP, {k: v for k, v in raw.items() if k not in (*_TABLES, "version")}, where)
        limits = _read(LIMITS, _table(raw, "limits", where), where, "limits")
        columns = _read(_COLUMNS, _table(raw, "columns", where), where, "columns")
        modes = _read(_MODES, _table(raw, "modes", where), where, "modes")
        reviewers, methods = top["reviewers"], top["methods"]
        return cls(
            title=str(top["title"]),
            reviewers=reviewers if isinstance(reviewers, int) else 2,
            limits=MappingProxyType(
                {key: _limit(value) for key, value in limits.items() if value is not None}
            ),
            forbidden=_names(columns, "forbidden", where),
            required=_names(columns, "required", where),
            methods=methods.items if isinstance(methods, Texts) else None,
            modes=_modes(modes["allowed"], where),
            require_proven_optimal=top["require_proven_optimal"] is True,
            require_source_verification=top["require_source_verification"] is True,
            accept_not_compared=top["accept_not_compared"] is True,
            sign_offs=MappingProxyType(_sign_offs(_table(raw, "sign_offs", where), where)),
        )

    def as_plain(self) -> dict[str, object]:
        """The policy as nested plain values of JSON types; the inverse of :meth:`from_plain`."""
        plain: dict[str, object] = {"version": POLICY_VERSION}
        if self.title:
            plain["title"] = self.title
        plain["reviewers"] = self.reviewers
        if self.methods is not None:
            plain["methods"] = list(self.methods)
        for key in _FLAGS:
            if getattr(self, key):
                plain[key] = True
        if self.limits:
            plain["limits"] = {key: _plain_limit(value) for key, value in self.limits.items()}
        columns = {key: list(getattr(self, key)) for key in ("forbidden", "required")}
        if any(columns.values()):
            plain["columns"] = {key: names for key, names in columns.items() if names}
        if self.modes != MODES:
            plain["modes"] = {"allowed": [mode.value for mode in self.modes]}
        if self.sign_offs:
            plain["sign_offs"] = dict(self.sign_offs)
        return plain

    @cached_property
    def sha256(self) -> str:
        """SHA-256 (hex) of the canonical JSON of :meth:`as_plain`."""
        return policy_sha256(self.as_plain())

    def whole(self, key: str) -> int | None:
        """A limit that is a whole number; None when it is not set."""
        value = self.limits.get(key)
        return value if isinstance(value, int) else None

    def share(self, key: str) -> Fraction | None:
        """A limit that is an exact number; None when it is not set."""
        value = self.limits.get(key)
        return Fraction(value) if isinstance(value, int | Fraction) else None

    @property
    def outside_share(self) -> Fraction:
        """The share of rows outside the declared categories of a release with noise at most.

        Unlike other limits it holds without a policy too: noise on empty tables helps nobody.
        """
        limit = self.share("maximum_outside")
        return USUAL_OUTSIDE if limit is None else limit


USUAL_OUTSIDE = Fraction(1, 20)
"""The share of rows outside the declared categories that is too many where no policy names one."""

BUILT_IN = Policy(title="DPDesk's own default: two reviewers, no limits")
"""What holds where an agency has given no policy."""


class PolicyRelation(Enum):
    """How the policy of a submission stands to the policy of this computer."""

    OWN = "the agency policy of this computer"
    OTHER = "a policy other than the agency policy of this computer"
    BUILT_IN = "the built-in policy; this computer has no agency policy"
    UNKNOWN = "a policy that this computer cannot compare; it has no agency policy"


def standing_of(policy: Policy, agency: Policy | None) -> PolicyRelation:
    """How ``policy`` stands to the agency policy of this computer (None: there is none)."""
    if agency is not None:
        return PolicyRelation.OWN if policy.sha256 == agency.sha256 else PolicyRelation.OTHER
    return PolicyRelation.BUILT_IN if policy.sha256 == BUILT_IN.sha256 else PolicyRelation.UNKNOWN


def column_pattern(pattern: str) -> re.Pattern[str]:
    """A column name of a policy as an expression that a folded name matches as a whole."""
    parts = (re.escape(part) for part in re.split(r"([*?])", folded(pattern)))
    return re.compile("".join({r"\*": ".*", r"\?": "."}.get(p, p) for p in parts), re.DOTALL)


def folded(name: str) -> str:
    """A column name without differences of capitals, of composition and of outer blanks."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold()).strip()


# ---- reading -------------------------------------------------------------------------------------


def _check_shape(raw: Mapping[str, object], where: str) -> None:
    known = ("version", *(parameter.key for parameter in _TOP), *_TABLES)
    for key in raw:
        if key not in known:
            raise _at(unknown_key(key, known, where, "policy"), key)
    version = raw.get("version")
    if isinstance(version, bool) or version != POLICY_VERSION:
        found = msg("missing") if version is None else show(version)
        error = InputError(
            "policy.version",
            msg(
                "{where}: `version` is {found}, expected {version}.",
                where=where,
                found=found,
                version=POLICY_VERSION,
            ),
            hint=msg(
                "A policy begins with `version = {policy_version}`.", policy_version=POLICY_VERSION
            ),
        )
        raise _at(error, "version")
    for key, number in odd_numbers(raw):
        expected = msg(
            "a finite number of at most {most:,} digits, the first 15 of which distinguish it "
            "from a whole one",
            most=MAX_DIGITS,
        )
        raise _invalid(key, number, expected, where)


def _read(
    parameters: tuple[Parameter, ...], raw: Mapping[str, object], where: str, *table: str
) -> dict[str, ParameterValue]:
    place = ", ".join([where, *(f"[{name}]" for name in table)])
    try:
        values = parse_parameters(parameters, raw, place, "policy")
    except InputError as error:
        raise _at(error, *table, str(error.details.get("key", ""))) from None
    # As a submission holds it: what is read back must be the same policy.
    return {
        parameter.key: value
        if (value := values[parameter.key]) is None
        else parameter.parse(parameter.as_plain(value), place)
        for parameter in parameters
    }


def _table(raw: Mapping[str, object], key: str, where: str) -> Mapping[str, object]:
    value = raw.get(key, {})
    if not isinstance(value, Mapping):
        raise _invalid(key, value, msg("a table `[{key}]`", key=key), where)
    return value


def _limit(value: ParameterValue) -> Limit:
    if isinstance(value, Nested) and isinstance(value.plain, Mapping):
        return MappingProxyType({"n": value.plain["n"], "k": Fraction(value.plain["k"])})
    if isinstance(value, int | Fraction):
        return value
    raise TypeError("a limit must have been parsed")


def _plain_limit(value: Limit) -> object:
    if isinstance(value, Mapping):
        return {key: plain_number(item) for key, item in value.items()}
    return plain_number(value)


def _names(columns: Mapping[str, ParameterValue], key: str, where: str) -> tuple[str, ...]:
    value = columns[key]
    names = value.items if isinstance(value, Texts) else ()
    for name in names:
        if not folded(name) or len(name) > _LONGEST:
            raise _invalid(key, name, "names of columns", f"{where}, [columns]", "columns")
    return names


def _modes(value: ParameterValue, where: str) -> tuple[Mode, ...]:
    if not isinstance(value, Texts):
        return MODES
    expected = " and ".join(f"`{mode.value}`" for mode in MODES)
    if not value.items or not set(value.items) <= {mode.value for mode in MODES}:
        found = list(value.items)
        raise _invalid(
            "allowed",
            found,
            msg("one or both of {expected}", expected=expected),
            f"{where}, [modes]",
            "modes",
        )
    return tuple(mode for mode in MODES if mode.value in value.items)


def _sign_offs(raw: Mapping[str, object], where: str) -> dict[str, str]:
    place = f"{where}, [sign_offs]"
    if len(raw) > MOST_SIGN_OFFS:
        found = msg("{raw:,} questions", raw=len(raw))
        raise _invalid("sign_offs", found, msg("at most {limit}", limit=MOST_SIGN_OFFS), where)
    for key, question in raw.items():
        if not _ID.fullmatch(key) or len(key) > 40:
            expected = "a short name of small letters, digits and hyphens as its key"
            raise _invalid(key, question, expected, place, "sign_offs")
        fault = text_fault(question, _LONGEST, lines=False)
        if fault or not isinstance(question, str) or not question.strip():
            raise _invalid(
                key, question, "a question or a sentence on one line", place, "sign_offs"
            )
    return {key: str(question).strip() for key, question in raw.items()}


def _invalid(key: str, found: object, expected: str, where: str, *table: str) -> InputError:
    sentence = msg(
        "{where}: `{key}` is {found}, expected {expected}.",
        where=where,
        key=key,
        found=show(found),
        expected=expected,
    )
    return _at(InputError("policy.invalid", sentence), *table, *key.split("."))


def _at(error: InputError, *path: str) -> InputError:
    """The error with the keys that lead to the fault among its details."""
    details = {**error.details, "path": path}
    return InputError(error.code, error.sentence, hint=error.hint, details=details)


# Where policies come from: a file, the agency's place on this computer, or the built-in one.


AGENCY_POLICY = "policy.toml"
_HINT = 'Texts are written in quotes, such as title = "Public use files".'


@dataclass(frozen=True)
class AgencyPolicy:
    """The policy that holds on this computer; ``path`` is None for the built-in one."""

    policy: Policy
    path: Path | None

    @property
    def given(self) -> Policy | None:
        """The agency's own policy; None where the built-in one holds."""
        return None if self.path is None else self.policy


def read_policy(path: Path) -> Policy:
    """Read and check a policy file: TOML, or JSON of the same shape.

    Raises
    ------
    StorageError
        ``policy.unreadable``.
    InputError
        ``policy.syntax``, ``policy.encoding``, ``policy.nul``, and what :meth:`Policy.from_plain`
        raises. Each sentence starts with the path or the file's name and gives the line where it is
        known.
    """
    text = read_settings_text(path, "policy")
    raw = parse_settings(text, path, "policy", _HINT)
    try:
        return Policy.from_plain(raw, path.name)
    except RecursionError:
        raise too_deep(path.name, "policy") from None
    except InputError as error:
        raise _with_line(error, path, text) from None


def agency_policy(home: Path) -> AgencyPolicy:
    """The policy below ``home`` when there is one, else the built-in one.

    Raises what :func:`read_policy` raises: a policy that cannot be read is never passed over.
    """
    path = home / AGENCY_POLICY
    if not path.is_symlink() and not path.exists():
        return AgencyPolicy(BUILT_IN, None)
    return AgencyPolicy(read_policy(path), path)


def _with_line(error: InputError, path: Path, text: str) -> InputError:
    keys = error.details.get("path")
    if is_json(path, text) or not isinstance(keys, tuple):
        return error
    line = line_of(text, [str(key) for key in keys])
    if line is None or not error.sentence.startswith(path.name):
        return error
    sentence = msg(
        "{name}, line {line}{sentence}",
        name=path.name,
        line=line,
        sentence=error.sentence[len(path.name) :],
    )
    details = {**error.details, "line": line}
    return InputError(error.code, sentence, hint=error.hint, details=details)
