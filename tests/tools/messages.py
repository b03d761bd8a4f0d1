"""The messages of the program, read out of its sources and templates."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Found:
    """A message, or a singular with its plural, and where it stands."""

    id: str | tuple[str, str]
    file: str
    line: int


def page_messages(root: Path) -> list[Found]:
    """What templates and the code of pages say."""
    from jinja2 import nodes

    from dpdesk.report.pages import template_environment

    found: list[Found] = []
    for path in sorted((root / "dpdesk/report/templates").glob("*.html")):
        tree = template_environment().parse(path.read_text(encoding="utf-8"))
        for call in tree.find_all(nodes.Call):
            if isinstance(call.node, nodes.Name) and call.node.name in ("t", "tn"):
                texts = [one.value for one in call.args if isinstance(one, nodes.Const)]
                ident = texts[0] if call.node.name == "t" else (texts[0], texts[1])
                found.append(Found(ident, _name(path, root), call.lineno))
    for folder in ("report", "core/language", "app"):
        for path in sorted((root / "dpdesk" / folder).rglob("*.py")):
            found += _code_messages(path, root)
    return _unique(found)


def _code_messages(path: Path, root: Path) -> Iterator[Found]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.Call):
            continue
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        if getattr(getattr(node.func, "value", None), "id", "") == "canvas":
            continue  # its texts are drawn, not said
        texts = [t for one in node.args for t in _constants(one)]
        if name in ("text", "m", "message") and texts:
            for text in texts:
                yield Found(text, _name(path, root), node.lineno)
        elif name == "counted" and len(texts) == 2 and not _constants(node.args[0]):
            yield Found((texts[0], texts[1]), _name(path, root), node.lineno)


def _constants(node: ast.expr) -> list[str]:
    if isinstance(node, ast.IfExp):
        return _constants(node.body) + _constants(node.orelse)
    plain = isinstance(node, ast.Constant) and isinstance(node.value, str)
    return [str(node.value)] if plain and isinstance(node, ast.Constant) else []


def window_messages(root: Path) -> list[Found]:
    """Every literal of ``tr()`` and ``translate()`` in the window."""
    found: list[Found] = []
    for path in sorted((root / "dpdesk/ui").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call):
                continue
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            place = {"tr": 0, "_tr": 0, "translate": 1}.get(name)
            if place is None or len(node.args) <= place:
                continue
            texts = filter(None, _constants(node.args[place]))
            found += [Found(text, _name(path, root), node.lineno) for text in texts]
    return _unique(found)


def program_messages(root: Path) -> list[Found]:
    """The template of every message of the program: what ``msg`` and ``counted`` are given."""
    found: list[Found] = []
    for path in sorted((root / "dpdesk").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
                continue
            name, texts = node.func.id, [t for one in node.args for t in _constants(one)]
            if name == "msg" and texts:
                found += [Found(text, _name(path, root), node.lineno) for text in texts]
            elif name == "counted" and len(texts) == 2:
                found.append(Found((texts[0], texts[1]), _name(path, root), node.lineno))
    return _unique(found)


def _unique(found: list[Found]) -> list[Found]:
    first: dict[object, Found] = {}
    for one in found:
        first.setdefault(one.id, one)
    return list(first.values())


def _name(path: Path, root: Path) -> str:
    return path.relative_to(root).as_posix()
