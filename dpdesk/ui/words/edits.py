"""Edits in the words of the form that made them, for the trail and the history."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from PySide6.QtCore import QCoreApplication

from dpdesk.app.types import Command, Method, SetMethod, SetParameters
from dpdesk.core.messages import msg
from dpdesk.core.parameters import ChoiceParameter, Parameter
from dpdesk.ui.words.settings import value_words
from dpdesk.ui.words.spoken import said

translate = QCoreApplication.translate


def worded(command: Command, method: Method | None, methods: Sequence[Method]) -> Command:
    """The same command; where it would name keys of a plan, it says what the form shows."""
    if isinstance(command, SetParameters) and not command.what and method is not None:
        return replace(command, what=changes_words(method, command.changes))
    if isinstance(command, SetMethod) and not command.what:
        chosen = next((one for one in methods if one.id == command.method), None)
        if chosen is not None:
            words = translate("Edits", "Method: {title}")
            if command.source is not None:
                words = translate("Edits", "Method: {title}; how the data are read is in the plan")
            words = words.format(title=said(chosen.title))
            return replace(command, what=words)
    return command


def changes_words(method: Method, changes: Mapping[str, object]) -> str:
    """Changed settings: ``k: 12 rows, Search: Samarati``; None stands for the default."""
    known = {parameter.key: parameter for parameter in method.parameters}
    parts: list[str] = []
    for key, value in changes.items():
        parameter = known.get(key)
        if parameter is None:
            parts.append(msg("{file}: {note}", file=key, note=value))
        elif value is None:
            words = translate("Edits", "{setting}: by default")
            parts.append(words.format(setting=_short(said(parameter.label))))
        else:
            parts.append(
                msg(
                    "{file}: {note}",
                    file=_short(said(parameter.label)),
                    note=_value(parameter, value),
                )
            )
    return ", ".join(parts)


def _value(parameter: Parameter, value: object) -> str:
    if isinstance(parameter, ChoiceParameter):
        label = next((said(one.label) for one in parameter.choices if one.value == value), "")
        return _short(label) or str(value)
    return value_words(parameter, value)


def _short(label: str) -> str:
    return label.partition(":")[0].partition(",")[0]
