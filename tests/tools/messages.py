"""The messages of the program, read out of its sources and templates."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

CLASSES = {
    "guarantee": ("engine/**/*guarantee*.py", "verifiers/claim_words.py", "engine/disclosure.py"),
    "engine": ("engine/**/*.py", "verifiers/**/*.py"),
    "core": ("core/**/*.py",),
    "io": ("io/**/*.py",),
    "project": ("project/**/*.py",),
    "app": ("app/**/*.py",),
}
"""Where the sentences of a class are made; each file counts for the first class that has it."""

_SHOWN_AS = {
    "share_text": "number",
    "format_figure": "number",
    "rounded_up": "number",
    "number_text": "number",
    "_number": "number",
    "name_list": "names",
}
_SAMPLES = {
    "int": "1,234",
    "number": "5.5",
    "name": "xyz",
    "names": "xyz",
    "phrase": "2",
    "g": "5.5",
}


@dataclass(frozen=True)
class Found:
    """A message, or a singular with its plural, where it stands, and a sentence of this form."""

    id: str | tuple[str, str]
    file: str
    line: int
    kind: str = ""
    example: str = ""


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


def candidates(root: Path, only: str | None = None) -> list[Found]:
    """Whole sentences that the program makes, as templates; kinds of placeholders are guesses."""
    found: list[Found] = []
    seen: set[Path] = set()
    for kind, patterns in CLASSES.items():
        for pattern in patterns:
            for path in sorted((root / "dpdesk").glob(pattern)):
                if path not in seen:
                    seen.add(path)
                    found += _sentences(path, root, kind)
    return [one for one in _unique(found) if only in (None, one.kind)]


def _sentences(path: Path, root: Path, kind: str) -> Iterator[Found]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    silent = _silent(tree)
    for node in ast.walk(tree):
        if id(node) in silent or not isinstance(node, ast.Constant | ast.JoinedStr):
            continue
        text = _template(node)
        if text is not None and _is_sentence(text):
            yield Found(text, _name(path, root), node.lineno, kind, _example(text))


def _silent(tree: ast.AST) -> set[int]:
    """Parts of f-strings, documentation, and what exceptions of the language say."""
    found: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            found |= {id(inner) for inner in ast.walk(node) if inner is not node}
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            found.add(id(node.value))
        elif (
            isinstance(node, ast.Raise)
            and isinstance(node.exc, ast.Call)
            and getattr(node.exc.func, "id", "") in ("ValueError", "TypeError", "KeyError")
        ):
            found |= {id(inner) for inner in ast.walk(node.exc)}
    return found


def _template(node: ast.Constant | ast.JoinedStr) -> str | None:
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None
    pieces, names = [], set()
    for piece in node.values:
        if isinstance(piece, ast.Constant):
            pieces.append(str(piece.value))
        elif isinstance(piece, ast.FormattedValue):
            name = base = _word(piece.value)
            while name in names:
                name = f"{base}_{len(names)}"
            names.add(name)
            pieces.append(f"{{{name}:{_kind(piece)}}}")
    return "".join(pieces)


def _kind(piece: ast.FormattedValue) -> str:
    spec = _template(piece.format_spec) if isinstance(piece.format_spec, ast.JoinedStr) else ""
    if spec == ",":
        return "int"
    if spec and spec[-1] in "gfe%":
        return "number"
    if isinstance(piece.value, ast.Call):
        return _SHOWN_AS.get(getattr(piece.value.func, "id", ""), "name")
    return "name"


def _word(node: ast.expr) -> str:
    for inner in ast.walk(node):
        word = inner.attr if isinstance(inner, ast.Attribute) else getattr(inner, "id", "")
        word = re.sub(r"[^a-z0-9_]", "", word.lower()).strip("_0123456789")
        if word:
            return word
    return "value"


def _is_sentence(text: str) -> bool:
    words = re.sub(r"\{[^}]*\}", "x", text)
    return len(words.split()) >= 3 and words.rstrip()[-1:] in ".?!" and bool(words.strip())


def _example(text: str) -> str:
    return re.sub(r"\{[a-z0-9_]+:([a-z]+)\}", lambda one: _SAMPLES.get(one[1], "1"), text)


def _unique(found: list[Found]) -> list[Found]:
    first: dict[object, Found] = {}
    for one in found:
        first.setdefault(one.id, one)
    return list(first.values())


def _name(path: Path, root: Path) -> str:
    return path.relative_to(root).as_posix()
