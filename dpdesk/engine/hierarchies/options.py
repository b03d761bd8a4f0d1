"""Typed access to the parsed options of a builder, and the errors that builders share."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

from dpdesk.core.errors import InputError
from dpdesk.core.messages import counted, listed, msg
from dpdesk.core.parameters import (
    Nested,
    Numbers,
    ParameterValue,
    TextListParameter,
    Texts,
    nearest,
)
from dpdesk.core.plain import quoted

Options = Mapping[str, ParameterValue]
Rows = list[list[str]]
ROOT = "*"
APART = TextListParameter(
    "apart",
    "Kept apart",
    "Values that stay unchanged below the top, such as codes for missing or not applicable.",
)
"""An option of every builder that reads values: what is no number, code or date is left out."""

_DIGITS = re.compile(r"(\d+)")


def numbers(options: Options, key: str) -> tuple[Fraction, ...] | None:
    """The list of numbers given for ``key``; None when it was not given."""
    value = options.get(key)
    return value.items if isinstance(value, Numbers) else None


def texts(options: Options, key: str) -> tuple[str, ...] | None:
    """The list of texts given for ``key``; None when it was not given."""
    value = options.get(key)
    return value.items if isinstance(value, Texts) else None


def nested(options: Options, key: str) -> object:
    """The nested value given for ``key``; None when it was not given."""
    value = options.get(key)
    return value.plain if isinstance(value, Nested) else None


def number(options: Options, key: str) -> Fraction | None:
    """The number given for ``key``; None when it was not given."""
    value = options.get(key)
    return Fraction(value) if isinstance(value, int | Fraction) else None


def text(options: Options, key: str) -> str:
    """The text given for ``key`` or its default."""
    value = options.get(key)
    return value if isinstance(value, str) else ""


def option_error(where: str, sentence: str, hint: str = "", key: str = "") -> InputError:
    """The error for options that do not go together."""
    return InputError(
        "hierarchy.options",
        msg("{file}: {note}", file=where, note=sentence),
        hint=hint,
        details={"key": key},
    )


def value_error(where: str, wrong: Sequence[str], expected: str, hint: str = "") -> InputError:
    """The error for values that a builder cannot place."""
    return InputError(
        "hierarchy.value",
        msg(
            "{where}: found {shown}, expected {expected}.",
            where=where,
            shown=listed([*map(quoted, wrong)], 3),
            expected=expected,
        ),
        hint=hint,
        details={"values": tuple(wrong[:100])},
    )


def missing_values(where: str, lacking: Sequence[str], known: Iterable[str]) -> InputError:
    """The error for values of the data that a list by hand does not name."""
    near = nearest(lacking[0], list(known))
    return InputError(
        "hierarchy.missing-leaf",
        counted(
            "{where}: {shown} is in the data but not in the hierarchy, expected every value.",
            "{where}: {shown} are in the data but not in the hierarchy, expected every value.",
            n=len(lacking),
            where=where,
            shown=listed([*map(quoted, lacking)], 3),
        ),
        hint=msg("Did you mean {near}?", near=quoted(near)) if near else "Add what is missing.",
        details={"values": tuple(lacking[:100])},
    )


def natural_key(value: str) -> tuple[object, ...]:
    """Sort key that puts `9` before `10`: runs of digits compare as numbers."""
    parts = _DIGITS.split(value)
    return tuple(
        (0, *_magnitude(part), part) if index % 2 else (1, 0, part)
        for index, part in enumerate(parts)
        if part
    )


def _magnitude(digits: str) -> tuple[int, str]:
    """What compares as the number does, of any length."""
    plain = digits.lstrip("0")
    return len(plain), plain


def distinct_labels(groups: Sequence[str]) -> list[str]:
    """The labels, a repeated one made distinct by a number."""
    taken: set[str] = set(groups)
    seen: set[str] = set()
    labels: list[str] = []
    for label in groups:
        count = 2
        fresh = label
        while fresh in seen or (fresh != label and fresh in taken):
            fresh = f"{label} ({count})"
            count += 1
        seen.add(fresh)
        labels.append(fresh)
    return labels
