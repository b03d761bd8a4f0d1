"""What a plan says of randomised response, checked: columns, categories, ε, chances."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

from dpdesk.core.budget import Draws, Neighbours, Noise, ProtectedUnit, PureEpsilon, amount
from dpdesk.core.errors import InputError
from dpdesk.core.messages import msg
from dpdesk.core.parameters import Nested, ParameterValue, numbers_of
from dpdesk.core.plain import quoted
from dpdesk.core.schema import Role
from dpdesk.engine.methods.randomised_response.chances import (
    MOST_CATEGORIES,
    MOST_OF_MATRIX,
    MOST_PARTS,
    Chances,
    inverse,
    largest_ratio,
    power_of_e,
)
from dpdesk.engine.methods.randomised_response.parameters import read_matrix
from dpdesk.engine.private.declared import DeclaredDimension, declare
from dpdesk.engine.private.method import Charge
from dpdesk.engine.private.origins import recorded_origins
from dpdesk.engine.private.settings import check_named, misfit, texts_of

_CODE = "response.settings"


@dataclass(frozen=True)
class Settings:
    """The checked parameters. ``columns`` are as the plan declares them, in its order.

    ``origins`` says where categories come from, as far as the plan knows it.
    """

    columns: tuple[DeclaredDimension, ...] = field(repr=False)
    epsilon: Fraction
    shares: Mapping[str, Fraction]
    matrices: Mapping[str, object] = field(repr=False)
    rows_per_person: int
    origins: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def read(cls, values: Mapping[str, ParameterValue], where: str) -> Settings:
        """Raises InputError ``response.*``, ``cube.domain``, ``cube.origins``, ``cube.outside``."""
        names = texts_of(values["drawn"])
        if not names or len(set(names)) < len(names):
            raise misfit(_CODE, where, "`drawn` names no column, or one twice", "drawn")
        domains, outside = _table(values["domains"]), _table(values.get("outside"))
        shares, matrices = numbers_of(values.get("shares")), _table(values.get("matrix"))
        tables = {"domains": domains, "outside": outside, "shares": shares, "matrix": matrices}
        for key, table in tables.items():
            strange = next((name for name in table if name not in names), None)
            if strange is not None:
                sentence = msg(
                    "`{key}` names {column}, which is not in `drawn`",
                    key=key,
                    column=quoted(strange),
                )
                raise misfit(_CODE, where, sentence, key)
        columns = tuple(_declared(name, domains, outside, where) for name in names)
        rows = values["rows_per_person"]
        if not isinstance(rows, int):
            raise TypeError("rows_per_person must have been parsed")
        epsilon = amount(values["epsilon"], "epsilon")
        divided = _divided(names, shares, epsilon, where)
        origins = recorded_origins(values.get("origins"), names, where)
        return cls(columns, epsilon, divided, matrices, rows, origins)

    @property
    def names(self) -> tuple[str, ...]:
        """The drawn columns, in the order of the plan."""
        return tuple(each.name for each in self.columns)

    @cached_property
    def chances(self) -> Mapping[str, Chances]:
        """The chances of each column, which its ε allows. Raises InputError ``response.*``."""
        found: dict[str, Chances] = {}
        for each in self.columns:
            epsilon = self.shares[each.name] / self.rows_per_person
            raw = self.matrices.get(each.name)
            found[each.name] = (
                _k_ary(each, epsilon) if raw is None else _of_matrix(each, raw, epsilon)
            )
        return found

    @property
    def charge(self) -> Charge:
        """What a release costs: ε, added up over the columns."""
        draws = tuple(Draws(Noise.PURE, self.shares[name], Fraction(1)) for name in self.names)
        unit = ProtectedUnit(self.rows_per_person)
        return Charge(PureEpsilon(self.epsilon), draws, Neighbours.VALUE, unit)

    def elsewhere(self) -> dict[str, str]:
        """By column, the category that stands for every text without one of its own."""
        return {each.name: each.categories[each.outside or 0] for each in self.columns}


def _table(value: ParameterValue) -> Mapping[str, object]:
    plain = value.plain if isinstance(value, Nested) else {}
    return plain if isinstance(plain, Mapping) else {}


def _divided(
    names: Sequence[str], shares: Mapping[str, Fraction], epsilon: Fraction, where: str
) -> dict[str, Fraction]:
    """ε of each column; they add up to ``epsilon``."""
    if shares and (set(shares) != set(names) or not all(shares.values())):
        sentence = "`shares` needs a number above 0 for each column of `drawn`"
        raise misfit(_CODE, where, sentence, "shares")
    total = sum(shares.values(), Fraction(0))
    return {
        name: epsilon * shares[name] / total if shares else epsilon / len(names) for name in names
    }


def _declared(
    name: str, domains: Mapping[str, object], outside: Mapping[str, object], where: str
) -> DeclaredDimension:
    listed, other = domains.get(name), outside.get(name)
    if not isinstance(listed, list | tuple):
        sentence = msg("`domains` lists no categories of {column}", column=quoted(name))
        raise misfit("response.domain", where, sentence, "domains")
    if len(listed) > MOST_CATEGORIES or len(listed) < 2:
        sentence = msg(
            "{column} has {n:,} categories, expected 2 to {most:,}",
            column=quoted(name),
            n=len(listed),
            most=MOST_CATEGORIES,
        )
        raise misfit("response.domain", where, sentence, "domains")
    if any(isinstance(text, list | tuple | Mapping) for text in listed):
        sentence = msg(
            "`domains` gives {column} a category that is not a text", column=quoted(name)
        )
        raise misfit("response.domain", where, sentence, "domains")
    found = declare(
        name, list(map(str, listed)), None, 0, None if other is None else str(other), where
    )
    if found.outside is None:
        sentence = msg(
            "no category of {column} is named that stands for all other texts", column=quoted(name)
        )
        error = misfit("response.outside", where, sentence, "outside")
        hint = (
            "Name one in `outside`, or add `other` to `domains`: a row that was left out would "
            "show its value."
        )
        raise InputError(error.code, error.sentence, hint=hint, details=error.details)
    return found


def _k_ary(column: DeclaredDimension, epsilon: Fraction) -> Chances:
    try:
        return Chances.k_ary(len(column.categories), epsilon)
    except ValueError:
        raise InputError(
            "response.epsilon",
            msg(
                "{column}: its ε is too small for so many categories to be drawn.",
                column=quoted(column.name),
            ),
            details={"key": "epsilon"},
        ) from None


def _of_matrix(column: DeclaredDimension, raw: object, epsilon: Fraction) -> Chances:
    matrix = read_matrix(raw)
    size = len(column.categories)
    if len(matrix) != size or size > MOST_OF_MATRIX:
        sentence = msg(
            "its matrix has {n:,} rows, expected one for each of {m:,} categories, at most {most}",
            n=len(matrix),
            m=size,
            most=MOST_OF_MATRIX,
        )
        raise _matrix_error(column, sentence)
    chances, ratio = Chances.of(matrix), largest_ratio(matrix)
    if chances.whole > MOST_PARTS:
        raise _matrix_error(column, "its chances have too many digits, expected 15 at most")
    if ratio is None:
        sentence = (
            "a released category has the chance 0 for some true category alone, so no ε "
            "allows the matrix"
        )
        raise _matrix_error(column, sentence)
    if not allowed(ratio, epsilon):
        sentence = msg(
            "the chances of a released category differ by up to ×{ratio:.6g}, and the ε of the "
            "column allows ×{most:.6g} for a row",
            ratio=float(ratio),
            most=float(power_of_e(min(epsilon, Fraction(100)))[0]),
        )
        raise _matrix_error(column, sentence)
    if inverse(matrix) is None:
        raise _matrix_error(column, "nothing can be estimated from it: it has no inverse")
    return chances


def allowed(ratio: Fraction, epsilon: Fraction) -> bool:
    """Whether e^ε is the ratio or more, for certain."""
    return epsilon > 100 or ratio <= power_of_e(epsilon)[0]


def _matrix_error(column: DeclaredDimension, sentence: str) -> InputError:
    return InputError(
        "response.matrix",
        msg("{column}: {reason}.", column=quoted(column.name), reason=sentence),
        details={"key": "matrix", "attribute": column.name},
    )


def check_settings(
    columns: Sequence[str],
    roles: Mapping[str, Role],
    parameters: Mapping[str, ParameterValue],
    where: str,
) -> None:
    """Check settings, columns and roles against each other. Raises InputError."""
    found = Settings.read(parameters, where)
    _ = found.chances
    for name in found.names:
        check_named(name, columns, "drawn", where)
        if roles.get(name) not in (Role.SENSITIVE, Role.INSENSITIVE):
            sentence = msg(
                "{column} has the role {role}, and only sensitive and insensitive columns can be "
                "drawn",
                column=quoted(name),
                role=roles.get(name, Role.INSENSITIVE).value,
            )
            raise misfit("response.role", where, sentence, "drawn")
    clustered = next((name for name, role in roles.items() if role is Role.CLUSTER), None)
    if clustered is not None:
        sentence = msg(
            "{column} says whose rows belong together, and rows are drawn one by one",
            column=quoted(clustered),
        )
        error = misfit("response.cluster", where, sentence, "rows_per_person")
        raise InputError(
            error.code,
            error.sentence,
            hint="Give the column another role, and `rows_per_person` the most rows of a person.",
            details=error.details,
        )
