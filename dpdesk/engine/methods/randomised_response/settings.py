"""What a plan says of randomised response, checked: columns, categories, ε, chances."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cached_property
from math import lcm
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.budget import Draws, Neighbours, Noise, ProtectedUnit, PureEpsilon, amount
from dpdesk.core.cube_parameters import PositiveParameter
from dpdesk.core.errors import InputError
from dpdesk.core.jobs import CancelToken
from dpdesk.core.messages import counted, listed, msg
from dpdesk.core.parameters import (
    Nested,
    NestedParameter,
    NumberTableParameter,
    Parameter,
    ParameterValue,
    StructuredParameter,
    TextListParameter,
    numbers_of,
)
from dpdesk.core.plain import fraction_of, freeze, number_text, quoted
from dpdesk.core.public_fields import PublicField, Tells, fields_of, settings
from dpdesk.core.release import Guarantee
from dpdesk.core.schema import Role
from dpdesk.engine.decoys.partition import PIECE, uniform
from dpdesk.engine.methods.k_anonymity.public_fields import ROLES
from dpdesk.engine.private.declared import DeclaredDimension, DeclaredDomain, declare
from dpdesk.engine.private.guarantee_words import (
    CHOOSING,
    FIXED,
    GENERATOR,
    INDEPENDENT,
    LINES,
    OTHERS,
    origin_words,
    plain,
    suspicion_after,
    times_words,
)
from dpdesk.engine.private.method import Charge
from dpdesk.engine.private.origins import ORIGINS_PARAMETER, recorded_origins
from dpdesk.engine.private.settings import check_named, misfit, rows_parameter, texts_of

if TYPE_CHECKING:
    from dpdesk.engine.noise.randomness import RandomSource


# The keys of a plan's ``[protection]`` for randomised response, and what a release may show.


Matrix = tuple[tuple[Fraction, ...], ...]


@dataclass(frozen=True)
class MatrixParameter(StructuredParameter):
    """For some columns a square matrix of chances; each row adds up to 1."""

    def parse(self, raw: object, where: str) -> ParameterValue:
        """See :meth:`Parameter.parse`; a form's text is ``answer: 3/4 1/4; 1/3 2/3``, columns
        parted by ``|``.
        """
        tables = dict(_typed(raw)) if isinstance(raw, str) else raw
        if not isinstance(tables, Mapping):
            raise self.invalid(where, raw)
        plain: dict[str, object] = {}
        for name, rows in tables.items():
            try:
                found = read_matrix(rows)
            except (TypeError, ValueError, ZeroDivisionError):
                raise self.invalid(where, rows) from None
            plain[str(name)] = [[str(each) for each in row] for row in found]
        return Nested(freeze(dict(sorted(plain.items())))) if plain else None

    def as_text(self, value: ParameterValue) -> str:
        """See :meth:`Parameter.as_text`."""
        plain = self.as_plain(value)
        tables = plain if isinstance(plain, Mapping) else {}
        return " | ".join(
            f"{name}: {'; '.join(' '.join(row) for row in rows)}" for name, rows in tables.items()
        )

    def range_text(self) -> str:
        """See :meth:`Parameter.range_text`."""
        return (
            "for a column a list of rows of chances that each add up to 1, such as "
            '{ answer = [["0.75", "0.25"], ["1/3", "2/3"]] }'
        )


def _typed(text: str) -> Iterator[tuple[str, list[list[str]]]]:
    """The tables of a form's text; a name without rows gives an empty table."""
    for part in filter(str.strip, text.split("|")):
        name, _, rows = part.rpartition(":")
        yield name.strip(), [row.split() for row in rows.split(";")]


def read_matrix(raw: object) -> Matrix:
    """A square matrix of chances, each row of which adds up to 1. ValueError, TypeError otherwise;
    the message says what is wrong.
    """
    if not isinstance(raw, Sequence) or isinstance(raw, str):
        raise TypeError("it is not a list of rows")
    rows = tuple(tuple(_chance(each) for each in row) for row in raw)
    if not rows or any(len(row) != len(rows) for row in rows):
        raise ValueError("it is not square")
    if any(sum(row) != 1 for row in rows):
        raise ValueError("the chances of a row do not add up to 1")
    return rows


def _chance(raw: object) -> Fraction:
    if isinstance(raw, bool) or not isinstance(raw, int | float | str | Decimal | Fraction):
        raise TypeError("a chance is not a number")
    found = raw if isinstance(raw, Fraction) else fraction_of(str(raw))
    if not 0 <= found <= 1:
        raise ValueError("a chance is below 0 or above 1")
    return found


PARAMETERS: tuple[Parameter, ...] = (
    TextListParameter(
        "drawn",
        "Columns to draw",
        "The columns whose values are drawn; all others are released unchanged.",
        required=True,
    ),
    NestedParameter(
        "domains",
        "Declared categories",
        "Categories of each column to draw, to be declared without looking at the data.",
        required=True,
        example='{ answer = ["yes", "no", "other"] }',
    ),
    ORIGINS_PARAMETER,
    NestedParameter(
        "outside",
        "Everything else",
        "The declared category that stands for all texts outside the domain, before it is drawn; "
        "without one, the category `other`.",
        example='{ answer = "other" }',
    ),
    PositiveParameter(
        "epsilon",
        "ε, the privacy loss",
        "No other values in the drawn columns of a person make any release more likely by a "
        "factor of more than e^ε.",
        required=True,
    ),
    NumberTableParameter(
        "shares",
        "Shares of ε",
        "How ε is divided among the columns; equally if nothing is given. Shares that add up to ε "
        "are the ε of each column.",
        usual="equal",
    ),
    MatrixParameter(
        "matrix",
        "Custom chances",
        "For a column, a row for each true category with the chance of each released one, in the "
        "order of `domains`; the column's ε must allow it.",
    ),
    rows_parameter(
        "Rows of a person, at most",
        "ε holds for a person with up to this many rows; nothing enforces it.",
    ),
)
PUBLIC_FIELDS: tuple[PublicField, ...] = (
    *settings("drawn[]", "domains.*[]", "origins.*", "outside.*", "epsilon", "shares.*"),
    *settings("matrix.*[][]", "rows_per_person"),
    *fields_of(
        Tells.NOTHING,
        "A setting of the plan, said again with the guarantee.",
        "guarantee.parameters.epsilon",
        "guarantee.parameters.neighbours",
        "guarantee.parameters.rows_per_person",
        "guarantee.parameters.drawn[]",
    ),
    *ROLES,
    *fields_of(
        Tells.NOTHING,
        "The chances with which values are drawn, from the plan alone; the same for any data.",
        "result.chances[].column",
        "result.chances[].whole",
        "result.chances[].stay",
        "result.chances[].move",
        "result.outside.*",
    ),
    PublicField(
        "result.rows_out",
        Tells.COUNT,
        "Counted from the released rows alone; all rows of the source are released, and the "
        "guarantee does not hide who is among them.",
    ),
)


# With which chances a value is released as which: exact, in whole parts of a whole number.
#
# Source: Warner 1965 for two categories, the k-ary form by the course text: the true category with
# e^ε/(e^ε + k − 1), each other one with 1/(e^ε + k − 1). These are irrational, so the drawn chances
# are the nearest that cost no more: each other category has ⌈2^52/(e^ε + k − 1)⌉ parts of 2^52, the
# true one what is left. Rounding up there makes the largest ratio smaller, never larger than e^ε.


Floats = NDArray[np.float64]
PARTS = 1 << 52
"""The whole of which shares of k-ary randomised response are parts: exact in any JSON reader."""
MOST_PARTS = 10**15
MOST_CATEGORIES, MOST_OF_MATRIX = 10_000, 64
_LARGEST = 40
"""An ε above which e^ε exceeds the whole, so that other categories have one part each."""
_DIGITS = 80


def power_of_e(exponent: Fraction) -> tuple[Fraction, Fraction]:
    """Two numbers between which e^exponent lies, for an exponent from 0 to 100."""
    with localcontext() as context:
        context.prec = _DIGITS
        given = Decimal(exponent.numerator) / Decimal(exponent.denominator)
        slip = Fraction(1, 10 ** (_DIGITS - 10))
        found = Fraction(given.exp())  # correctly rounded; the exponent itself is off by a slip
    return found * (1 - slip), found * (1 + slip)


@dataclass(frozen=True)
class Chances:
    """The chances of a column: ``parts[x][y]`` of ``whole`` that x is released as y.

    Of k-ary randomised response (``matrix`` None) two numbers say it all: ``stay`` and ``move``.
    """

    categories: int
    whole: int
    stay: int = 0
    move: int = 0
    matrix: Matrix | None = field(default=None, repr=False)

    @classmethod
    def k_ary(cls, categories: int, epsilon: Fraction) -> Chances:
        """Those of the least error at this ε; ValueError where it is too small to be drawn."""
        low, _ = power_of_e(min(epsilon, Fraction(_LARGEST)))
        share = PARTS / (low + categories - 1)
        move = -(-share.numerator // share.denominator)
        stay = PARTS - (categories - 1) * move
        if stay <= move:
            raise ValueError("ε is too small for chances of so many categories")
        return cls(categories, PARTS, stay, move)

    @classmethod
    def of(cls, matrix: Matrix) -> Chances:
        """Those of a matrix whose rows add up to 1."""
        whole = lcm(*(each.denominator for row in matrix for each in row))
        return cls(len(matrix), whole, matrix=matrix)

    def parts(self, true: int) -> NDArray[np.uint64]:
        """Of how many parts each category is released where this one is true."""
        if self.matrix is not None:
            return np.array([int(each * self.whole) for each in self.matrix[true]], np.uint64)
        found = np.full(self.categories, self.move, np.uint64)
        found[true] = self.stay
        return found

    def draw(
        self, codes: NDArray[np.int32], source: RandomSource, token: CancelToken
    ) -> NDArray[np.int32]:
        """A released category for each true one, each drawn by itself. Raises Cancelled."""
        found = np.empty(len(codes), np.int32)
        for start in range(0, len(codes), PIECE):
            token.check()
            true = codes[start : start + PIECE]
            lots = uniform(self.whole, len(true), source)
            found[start : start + PIECE] = self._drawn(true, lots)
            lots.fill(0)
        return found

    def _drawn(self, true: NDArray[np.int32], lots: NDArray[np.uint64]) -> NDArray[np.int32]:
        if self.matrix is not None:
            found = np.empty(len(true), np.int32)
            for value in range(self.categories):
                mine = true == value
                ends = np.cumsum(self.parts(value))
                found[mine] = np.searchsorted(ends, lots[mine], side="right")
            return found
        moved = lots >= np.uint64(self.stay)
        lots = np.where(moved, lots - np.uint64(self.stay), np.uint64(0))
        other = (lots // np.uint64(self.move)).astype(np.int32)
        return np.where(moved, other + (other >= true), true).astype(np.int32)


def largest_ratio(matrix: Matrix) -> Fraction | None:
    """By how much the chance of a released category differs at most; None: without bound."""
    largest = Fraction(1)
    for column in zip(*matrix, strict=True):
        if not any(column):
            continue
        if not all(column):
            return None
        largest = max(largest, max(column) / min(column))
    return largest


def inverse(matrix: Matrix) -> Matrix | None:
    """The inverse, exactly; None where there is none."""
    size = len(matrix)
    rows = [
        [*row, *(Fraction(place == other) for other in range(size))]
        for place, row in enumerate(matrix)
    ]
    for place in range(size):
        pivot = next((at for at in range(place, size) if rows[at][place]), None)
        if pivot is None:
            return None
        rows[place], rows[pivot] = rows[pivot], rows[place]
        first = rows[place][place]
        rows[place] = [each / first for each in rows[place]]
        for other in range(size):
            factor = rows[other][place]
            if other != place and factor:
                rows[other] = [
                    a - factor * b for a, b in zip(rows[other], rows[place], strict=True)
                ]
    return tuple(tuple(row[size:]) for row in rows)


def weights(chances: Chances, wanted: NDArray[np.bool_]) -> tuple[Floats, Floats]:
    """What each released category counts in an unbiased estimate of the rows of wanted ones.

    With the second moment of that for each true category. Source: the inverse of the matrix of
    chances applied to the indicator; for k-ary response (1[y wanted] − w·q)/(p − q), w wanted
    categories, p and q the chances to stay and to move to one other.
    """
    if chances.matrix is None:
        whole = float(chances.whole)
        p, q = chances.stay / whole, chances.move / whole
        many = int(wanted.sum())
        gap = (chances.stay - chances.move) / whole
        found: Floats = (wanted.astype(np.float64) - many * q) / gap
        inside, outside = (1 - many * q) / gap, -many * q / gap
        chance = np.where(wanted, p + (many - 1) * q, many * q)
        second: Floats = chance * inside**2 + (1 - chance) * outside**2
        return found, second
    inverted = inverse(chances.matrix)
    if inverted is None:
        raise ValueError("the matrix of chances has no inverse")
    chosen = np.flatnonzero(wanted).tolist()
    found = np.array([float(sum(row[place] for place in chosen)) for row in inverted])
    table = np.array([[float(each) for each in row] for row in chances.matrix])
    moments: Floats = table @ found**2
    return found, moments


def stated(chances: Mapping[str, Chances]) -> list[dict[str, object]]:
    """The chances as a result states them; those of a matrix stand among the settings."""
    return [
        {
            "column": name,
            "whole": each.whole,
            **({} if each.matrix is not None else {"stay": each.stay, "move": each.move}),
        }
        for name, each in chances.items()
    ]


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

    @property
    def declared(self) -> DeclaredDomain:
        """The columns with their categories."""
        return DeclaredDomain(self.columns)

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
            "a released category has the chance 0 for some true categories only, so no ε allows "
            "the matrix"
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
            hint="Give the column another role, and set `rows_per_person` to the largest "
            "number of rows of a person.",
            details=error.details,
        )


# What randomised response promises, and what it does not.
#
# The sentences follow from one fact, which tests enumerate: each drawn value depends on its own
# true value and on coins alone, and no true value makes a drawn one more likely by more than ×e^ε
# of its column. Values of one row are drawn independently, so that these factors multiply.


MODEL = "randomised-response"
_MOST_NAMES = 12
_KEYS = {
    Role.QUASI_IDENTIFIER: "quasi_identifiers",
    **{role: role.value for role in (Role.SENSITIVE, Role.INSENSITIVE, Role.WEIGHT)},
}


def response_guarantee(
    epsilon: Fraction,
    rows: int,
    drawn: Sequence[str],
    roles: Mapping[str, Role],
    origins: Mapping[str, str],
) -> Guarantee:
    """The guarantee for persons of ``rows`` rows or fewer.

    ``roles`` holds all released columns but the ``drawn`` ones, in source order; identifiers may be
    among them and are never named. ``origins`` says where categories of the drawn ones come
    from, as far as the plan knows it. The parameters give every released column, so a verifier can
    write the same words again.
    """
    parameters: dict[str, object] = {
        "epsilon": plain(epsilon),
        "neighbours": "value",
        "rows_per_person": rows,
        "drawn": list(drawn),
    }
    for role, key in _KEYS.items():
        if own := [name for name, given in roles.items() if given is role]:
            parameters[key] = own
    others = [name for name, role in roles.items() if role in _KEYS]
    names = listed(drawn, _MOST_NAMES)
    return Guarantee(
        model=MODEL,
        parameters=parameters,
        claim=msg(
            "Each value of {columns} was drawn by itself. Whatever is published, the odds between "
            "any two values that a person may truly have there, all these columns together, change "
            "by at most ×{times} (ε = {epsilon}): a suspicion of 10 % can rise to at most "
            "{after} %.",
            columns=names,
            times=times_words(float(epsilon)),
            epsilon=number_text(epsilon),
            after=suspicion_after(float(epsilon)),
        ),
        assumes=(
            counted(
                "Each person has {n:,} row; someone with more rows is protected less.",
                "Each person has {n:,} rows at most; someone with more is protected less.",
                n=rows,
            ),
            FIXED,
            *origin_words(drawn, drawn, origins),
            INDEPENDENT,
            GENERATOR,
            LINES,
            "A value that keeps its line or its record from being read can be recognised, since "
            "the other values of its row are then missing.",
            OTHERS,
        ),
        does_not_cover=_not_covered(names, roles, others),
    )


def _not_covered(names: str, roles: Mapping[str, Role], others: Sequence[str]) -> tuple[str, ...]:
    limits = [
        "Presence: every row of the source is released, so anyone who knows the other columns of a "
        "person sees whether that person is in the data.",
    ]
    if others:
        limits += [
            counted(
                "The other columns: {names} is released unchanged, and nothing protects it.",
                "The other columns: {names} are released unchanged, and nothing protects them.",
                n=len(others),
                names=listed(others, _MOST_NAMES),
            ),
            msg(
                "What the other columns, and other people's values, reveal about {columns}: where "
                "values go together, estimates from this release show it, and anyone who finds a "
                "person's row may judge the person by them.",
                columns=names,
            ),
        ]
    same = [name for name, role in roles.items() if role is Role.SENSITIVE]
    if same:
        limits.append(
            msg(
                "{columns}: sensitive by role, but not drawn; the true values are in the rows.",
                columns=listed(same, _MOST_NAMES),
            )
        )
    return (
        *limits,
        "Large counts and shares of the population: they are meant to be accurate, and anyone who "
        "is known to belong to a group may be judged by them.",
        CHOOSING,
    )
