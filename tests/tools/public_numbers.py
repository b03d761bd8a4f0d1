"""Write the tables of ``resources/docs/public-numbers.md`` from the lists of public fields.

python -m tests.tools.public_numbers
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from dpdesk.core.public_fields import COMMON, Tells
from dpdesk.engine.methods.registered import default_registry

PAGE = Path(__file__).parents[2] / "resources" / "docs" / "public-numbers.md"
_FIRST = "Every release"


def page(text: str) -> str:
    """The page with its tables made again; what stands before them stays."""
    head = text[: text.index(f"## {_FIRST}\n")]
    return head + "\n\n".join(_tables()) + "\n"


def _tables() -> Iterator[str]:
    """One table for what every release has, and one for each method."""
    sections = [(_FIRST, COMMON)]
    sections += [(method.id, method.public_fields) for method in default_registry()]
    for title, fields in sections:
        lines = [
            f"## {title}",
            "",
            "| field | tells of absent people | why |",
            "| --- | --- | --- |",
        ]
        rows: dict[tuple[Tells, str, str], list[str]] = {}
        for field in fields:
            rows.setdefault((field.tells, field.argument, field.withdrawn), []).append(field.path)
        for (tells, argument, old), paths in rows.items():
            named = ", ".join(f"`{path}`" for path in paths)
            told = f"{argument} **No longer written:** {old}." if old else argument
            lines.append(f"| {named} | {tells.value} | {told} |")
        yield "\n".join(lines)


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text("utf-8")), "utf-8")
