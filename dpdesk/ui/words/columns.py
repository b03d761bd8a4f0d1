"""Columns, their types and their roles in words."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from dpdesk.app.types import ColumnType, Role

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
