"""Columns, their types, roles and labels in words."""

from __future__ import annotations

from fractions import Fraction

from PySide6.QtCore import QCoreApplication

from dpdesk.app.types import ColumnProfile, ColumnType, Role
from dpdesk.core.labels import Variable
from dpdesk.core.plain import number_text
from dpdesk.ui.words.numbers import grouped, marked, shortened

translate = QCoreApplication.translate


def type_words(kind: ColumnType) -> str:
    """A column type in plain words."""
    words = {
        ColumnType.INTEGER: translate("DataPanel", "integer"),
        ColumnType.DECIMAL: translate("DataPanel", "decimal"),
        ColumnType.DATE: translate("DataPanel", "date"),
        ColumnType.BOOLEAN: translate("DataPanel", "yes/no"),
        ColumnType.TEXT: translate("DataPanel", "text"),
        ColumnType.EMPTY: translate("DataPanel", "no value"),
    }
    return words[kind]


def role_words(role: Role) -> str:
    """A role as people call it."""
    words = {
        Role.IDENTIFIER: translate("DataPanel", "identifier"),
        Role.QUASI_IDENTIFIER: translate("DataPanel", "quasi-identifier"),
        Role.SENSITIVE: translate("DataPanel", "sensitive"),
        Role.INSENSITIVE: translate("DataPanel", "insensitive"),
        Role.WEIGHT: translate("DataPanel", "weight"),
        Role.CLUSTER: translate("DataPanel", "cluster"),
        Role.PSEUDONYM: translate("DataPanel", "pseudonym"),
    }
    return words[role]


def short_share(share: float) -> str:
    """A share in few letters: whole percents where that is honest."""
    percent = share * 100
    if percent == 0:
        return "0 %"
    if percent < 1:
        return "<1 %"
    if 99 < percent < 100:
        return ">99 %"
    return f"{percent:.0f} %"


_MOST_CODES = 12


def label_of(profile: ColumnProfile | None) -> str:
    """The label of a column; empty when its source gives none."""
    return "" if profile is None else profile.label


def with_label(profile: ColumnProfile | None, value: str) -> str:
    """A value with the label of its code, where it has one; a very long one is cut."""
    if profile is None or profile.variable is None:
        return shortened(value)
    return shortened(profile.variable.shown(value))


def is_declared_missing(profile: ColumnProfile | None, value: str) -> bool:
    """Whether the source itself declares the value missing."""
    if profile is None or profile.variable is None:
        return False
    return bool(profile.variable.missing) and profile.variable.missing.holds(value)


def label_facts(profile: ColumnProfile) -> tuple[tuple[str, str], ...]:
    """Label and value of what the source says of a column; nothing when it says nothing."""
    said = profile.variable
    if said is None:
        return ()
    found = [
        (translate("Labels", "Label"), said.label),
        (translate("Labels", "Codes"), codes_words(said)),
        (translate("Labels", "Declared missing"), missing_words(said)),
    ]
    return tuple((name, text) for name, text in found if text)


def codes_words(said: Variable) -> str:
    """The labelled codes, the first dozen of them."""
    codes = [f"{code} = {label}" for code, label in said.value_labels.items()]
    more = [translate("Labels", "and {n} more").format(n=grouped(len(codes) - _MOST_CODES))]
    return "; ".join(codes[:_MOST_CODES] + (more if len(codes) > _MOST_CODES else []))


def missing_words(said: Variable) -> str:
    """The codes and the range that stand for a missing value."""
    parts = list(said.missing.values)
    if said.missing.low is not None and said.missing.high is not None:
        low, high = (_end_words(end) for end in (said.missing.low, said.missing.high))
        parts.append(f"{low} – {high}")
    return ", ".join(parts)


def _end_words(end: float) -> str:
    """An end of a range with all its digits: rounded, it would name other codes."""
    if end == float("-inf"):
        return translate("Labels", "lowest")
    if end == float("inf"):
        return translate("Labels", "highest")
    return marked(number_text(Fraction(repr(end))))
