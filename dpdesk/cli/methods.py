"""The methods and their parameters in words, derived from the registry."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from dpdesk.core.messages import msg
from dpdesk.core.parameters import ChoiceParameter, Parameter

if TYPE_CHECKING:
    from dpdesk.engine.method import Method

_WIDTH = 96


def methods_help() -> str:
    """The part of ``run --help`` on the plan's ``[protection]``."""
    from dpdesk.engine.methods.registered import default_registry

    parts = ["methods, with the keys of a plan's [protection]:"]
    parts += [_method_help(method) for method in default_registry()]
    return "\n\n".join(parts) + "\n"


def _method_help(method: Method) -> str:
    lines = [
        f'  method = "{method.id}"   {method.title}, version {method.version}',
        _wrapped(method.summary, 4),
    ]
    for parameter in method.parameters:
        lines += ["", _parameter_help(parameter)]
    return "\n".join(lines)


def _parameter_help(parameter: Parameter) -> str:
    unit = f" [{parameter.unit}]" if parameter.unit else ""
    lines = [f"    {parameter.key}{unit}: {parameter.range_text()}; {_default(parameter)}"]
    if len(lines[0]) > _WIDTH:
        lines = [_wrapped(lines[0].strip(), 4, 8)]
    lines.append(_wrapped(parameter.help, 8))
    if isinstance(parameter, ChoiceParameter):
        lines += [
            _wrapped(
                msg("{file}: {note}", file=choice.value, note=choice.help or choice.label), 8, 10
            )
            for choice in parameter.choices
        ]
    return "\n".join(lines)


def _default(parameter: Parameter) -> str:
    if parameter.required:
        return "required"
    plain = parameter.as_plain(parameter.default_value())
    return "optional" if plain is None else f"default {plain}"


def _wrapped(text: str, indent: int, following: int | None = None) -> str:
    return textwrap.fill(
        text,
        _WIDTH,
        initial_indent=" " * indent,
        subsequent_indent=" " * (indent if following is None else following),
        break_long_words=False,
        break_on_hyphens=False,
    )
