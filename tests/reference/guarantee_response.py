"""Every sentence of a guarantee of values drawn from a budget, with when it is true.

As :mod:`tests.reference.guarantee_table`, of which this is a part.
"""

from __future__ import annotations

from tests.reference.guarantee_table import (
    ASSUMES,
    CLAIM,
    LIMITS,
    PRIVATE,
    Condition,
    Entry,
    Truth,
    always,
    number,
    odds,
    risen,
    up,
)

_OTHERS = ("quasi", "sensitive", "insensitive", "weight")


def _names(text: str) -> set[str]:
    return set(text.replace(" and ", ", ").split(", "))


def _of(*roles: str) -> Condition:
    """The sentence names all columns of these roles and no other, and there are some."""

    def holds(truth: Truth, gaps: tuple[str, ...]) -> bool:
        named = {name for role in roles for name in truth.columns.get(role, ())}
        return bool(named) and _names(gaps[0]) == named

    return holds


def _loss(truth: Truth, gaps: tuple[str, ...]) -> bool:
    times, epsilon, after = gaps
    exactly = number(epsilon) == truth.epsilon
    return exactly and up(times, odds(truth.one)) and risen(truth, after)


def _rows(truth: Truth, gaps: tuple[str, ...]) -> bool:
    return number(gaps[0]) == truth.rows


def _one(truth: Truth, gaps: tuple[str, ...]) -> bool:
    return truth.rows == 1 and _rows(truth, gaps)


def _beside(truth: Truth, gaps: tuple[str, ...]) -> bool:
    return _of("drawn")(truth, gaps) and any(truth.columns.get(role) for role in _OTHERS)


RESPONSE: tuple[Entry, ...] = (
    Entry(CLAIM, "Each value of {names} was drawn by itself.", _of("drawn")),
    Entry(
        CLAIM,
        "Whatever is published, the odds between any two values that a person may truly have "
        "there, all these columns together, change by at most ×{x} (ε = {x}): a suspicion of 10 % "
        "can rise to at most {x} %.",
        _loss,
    ),
    Entry(ASSUMES, "Each person has {n} row; someone with more rows is protected less.", _one),
    Entry(ASSUMES, "Each person has {n} rows at most; someone with more is protected less.", _rows),
    Entry(
        ASSUMES,
        "The categories, their order and all settings are taken to have been fixed without looking "
        "at the data.",
        always,
    ),
    *(entry for entry in PRIVATE if "categories of {names}" in entry.text),
    Entry(ASSUMES, "What someone knows about different persons is independent.", always),
    Entry(
        ASSUMES,
        "The random numbers come from a cryptographic generator, and the manifest holds a "
        "commitment to the source: against an adversary who breaks these nothing is promised.",
        always,
    ),
    Entry(
        ASSUMES,
        "Each line of a text file counts as a row, also inside quotes: a value that contains a "
        "line end makes two rows.",
        always,
    ),
    Entry(
        ASSUMES,
        "A value that keeps its line or its record from being read can be recognised, since the "
        "other values of its row are then missing.",
        always,
    ),
    Entry(
        ASSUMES,
        "Every other release about the same persons costs as well: losses add up.",
        always,
    ),
    Entry(
        LIMITS,
        "Presence: every row of the source is released, so anyone who knows the other columns of a "
        "person sees whether that person is in the data.",
        always,
    ),
    Entry(
        LIMITS,
        "The other columns: {names} is released unchanged, and nothing protects it.",
        _of(*_OTHERS),
    ),
    Entry(
        LIMITS,
        "The other columns: {names} are released unchanged, and nothing protects them.",
        _of(*_OTHERS),
    ),
    Entry(
        LIMITS,
        "What the other columns, and other people's values, reveal about {names}: where values go "
        "together, estimates from this release show it, and anyone who finds a person's row may "
        "judge the person by them.",
        _beside,
    ),
    Entry(
        LIMITS,
        "{names}: sensitive by role, but not drawn; the true values are in the rows.",
        _of("sensitive"),
    ),
    Entry(
        LIMITS,
        "Large counts and shares of the population: they are meant to be accurate, and anyone who "
        "is known to belong to a group may be judged by them.",
        always,
    ),
    Entry(
        LIMITS,
        "A choice among several releases, or of settings, that was made after looking at the data "
        "or at results: then more was spent than is said here.",
        always,
    ),
)
