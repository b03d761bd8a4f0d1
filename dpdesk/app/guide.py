"""The guide to methods and hierarchy builders, written from their own specifications.

``python -m dpdesk.app.guide`` prints it; ``resources/docs/methods.md`` holds what it prints.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence

from dpdesk.core.parameters import ChoiceParameter, Parameter
from dpdesk.engine.method import Method

_HEAD = """\
# Methods and hierarchy builders

This page is made from the program's own specifications: the same that the forms of the window, the
checks of a plan and `dpdesk run --help` come from.
"""


def method_guide(methods: Iterable[Method]) -> str:
    """Markdown on every method with its keys in a plan, and on every hierarchy builder."""
    parts = [_HEAD, *(_method(method) for method in methods), _builders()]
    return "\n".join(parts)


def _method(method: Method) -> str:
    lines = [
        f'## {method.title}: `method = "{method.id}"`',
        "",
        f"{method.summary} {method.promise}",
        "",
        *_table(method.parameters),
    ]
    for parameter in method.parameters:
        if isinstance(parameter, ChoiceParameter):
            lines += ["", f"`{parameter.key}`:", ""]
            lines += [
                f"- `{choice.value}`: {choice.label}{'. ' + choice.help if choice.help else ''}"
                for choice in parameter.choices
            ]
    return "\n".join(lines) + "\n"


def _builders() -> str:
    from dpdesk.engine.hierarchies.builders import builder_forms

    lines = ["## Hierarchy builders", ""]
    for kind, form in builder_forms().items():
        lines += [f'### {form.title}: `kind = "{kind}"`', "", form.summary, ""]
        lines += [*_table(form.parameters), ""]
    return "\n".join(lines).rstrip() + "\n"


def _table(parameters: Sequence[Parameter]) -> list[str]:
    lines = ["| key | value | unless given | what it does |", "| --- | --- | --- | --- |"]
    for parameter in parameters:
        unit = f" ({parameter.unit})" if parameter.unit else ""
        cells = (f"`{parameter.key}`{unit}", parameter.range_text(), _default(parameter))
        lines.append("| " + " | ".join(_cell(text) for text in (*cells, parameter.help)) + " |")
    return lines


def _default(parameter: Parameter) -> str:
    if parameter.required:
        return "required"
    plain = parameter.as_plain(parameter.default_value())
    return "–" if plain in (None, "", []) else f"`{plain}`"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def main() -> int:
    """Print the guide."""
    from dpdesk.engine.methods.registered import default_registry

    sys.stdout.write(method_guide(default_registry()))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
