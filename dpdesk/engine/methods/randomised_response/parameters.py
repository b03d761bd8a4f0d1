"""The keys of a plan's ``[protection]`` for randomised response, and what a release may show."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from dpdesk.core.cube_parameters import PositiveParameter
from dpdesk.core.parameters import (
    Nested,
    NestedParameter,
    NumberTableParameter,
    Parameter,
    ParameterValue,
    StructuredParameter,
    TextListParameter,
)
from dpdesk.core.plain import fraction_of, freeze
from dpdesk.core.public_fields import PublicField, Tells, fields_of, settings
from dpdesk.engine.methods.k_anonymity.public_fields import ROLES
from dpdesk.engine.private.origins import ORIGINS_PARAMETER
from dpdesk.engine.private.settings import rows_parameter

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
        "The columns whose values are drawn; all others are released as they are.",
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
        "No other values in the drawn columns of a person make any release more likely by more "
        "than ×e^ε.",
        required=True,
    ),
    NumberTableParameter(
        "shares",
        "Shares of ε",
        "How ε is divided among the columns; equally where nothing is said. Shares that add up to "
        "ε are the ε of each column.",
    ),
    MatrixParameter(
        "matrix",
        "Chances of your own",
        "For a column, a row for each true category with the chance of each released one, in the "
        "order of `domains`; the column's ε must allow it.",
    ),
    rows_parameter(
        "Rows of a person, at most", "ε holds for a person of so many rows; nothing enforces it."
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
