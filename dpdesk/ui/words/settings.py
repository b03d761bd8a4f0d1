"""Settings of a method in a few words."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from dpdesk.app.types import Method, WorkState
from dpdesk.core.errors import InputError
from dpdesk.core.parameters import LevelsParameter, Parameter, ShareParameter
from dpdesk.ui.words.numbers import figure_words, grouped
from dpdesk.ui.words.spoken import inside, said


def levels_words(picked: Mapping[str, object]) -> str:
    """What a point of a chart stands for: ``age 1, sex 0``."""
    parts: list[str] = []
    for key, value in picked.items():
        if isinstance(value, Mapping):
            parts += [f"{name} {level}" for name, level in value.items()]
        else:
            parts.append(f"{key} {value}")
    return ", ".join(parts)


def settings_words(method: Method | None, work: WorkState) -> str:
    """The settings that are no defaults, in a few words: ``k 25 rows · objective entropy``."""
    if method is None:
        return ""
    parts: list[str] = []
    for parameter in method.parameters:
        value = work.parameters.get(parameter.key)
        default = parameter.as_plain(parameter.default_value())
        if value is not None and not same_value(parameter, value, default):
            parts.append(f"{short_label(parameter)} {value_words(parameter, value)}")
    return " · ".join(parts)


def short_label(parameter: Parameter) -> str:
    """A label as the beginning or the middle of a sentence."""
    return inside(said(parameter.label).partition(",")[0].partition(":")[0])


def value_words(parameter: Parameter, value: object) -> str:
    """A plain value for people, with its unit."""
    if isinstance(parameter, LevelsParameter) and isinstance(value, Mapping):
        return levels_words({parameter.key: value})
    try:
        exact = parameter.parse(value, "")
    except InputError:
        return str(value)
    if isinstance(parameter, ShareParameter) and isinstance(exact, int | Fraction):
        return figure_words(float(exact), "share")
    if isinstance(exact, int) and not isinstance(exact, bool):
        return f"{grouped(exact)} {said(parameter.unit)}".strip()
    return parameter.as_text(exact).replace("\n", ", ")


def same_value(parameter: Parameter, first: object, second: object) -> bool:
    """Whether two plain values of a parameter mean the same."""
    if first == second:
        return True
    try:
        return parameter.parse(first, "") == parameter.parse(second, "")
    except InputError:
        return False
