"""Messages: finished English texts that know of which template they are, and what fills it.

A message is the English text wherever a text is wanted: it is stored, compared and sorted as such.
Who says it in another language takes its template and values, so that nothing has to be found out
from the finished text: a name may hold full stops, commas or whole sentences.
"""

from __future__ import annotations

from collections.abc import Mapping
from string import Formatter
from typing import Self

_FORMATTER = Formatter()


class Message(str):
    """A text made of ``template``, whose ``values`` are texts or messages themselves, by name."""

    __slots__ = ("template", "values")

    template: str
    values: Mapping[str, str]

    def __new__(cls, template: str, values: Mapping[str, object]) -> Self:
        """Fill the template as :meth:`str.format` does. KeyError for a value that is missing."""
        made = super().__new__(cls, template.format(**values))
        made.template = template
        made.values = {name: _shown(values[name], *form) for name, form in _fields(template)}
        return made

    def __reduce__(self) -> tuple[object, ...]:
        """What makes it again in another process, where its numbers are texts already."""
        bare = "".join(
            _escaped(literal) + (f"{{{name}}}" if name is not None else "")
            for literal, name, _, _ in _FORMATTER.parse(self.template)
        )
        return Message, (bare, self.values)


def msg(template: str, /, **values: object) -> str:
    """The :class:`Message` of a template such as ``Column `{name}`: {rows:,} rows``."""
    return Message(template, values)


def frame(template: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The fixed parts of a template, one more than its fields, and the names of the fields."""
    literals, names = [""], []
    for literal, name, _, _ in _FORMATTER.parse(template):
        literals[-1] += literal
        if name is not None:
            names.append(name)
            literals.append("")
    return tuple(literals), tuple(names)


def _fields(template: str) -> list[tuple[str, tuple[str, str]]]:
    return [
        (name, (form or "", conversion or ""))
        for _, name, form, conversion in _FORMATTER.parse(template)
        if name is not None
    ]


def _shown(value: object, form: str, conversion: str) -> str:
    if isinstance(value, Message) and not form and not conversion:
        return value
    return f"{{0{'!' if conversion else ''}{conversion}:{form}}}".format(value)


def _escaped(literal: str) -> str:
    return literal.replace("{", "{{").replace("}", "}}")
