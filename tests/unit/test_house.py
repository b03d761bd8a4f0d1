"""Rules of the house that no single module can keep alone."""

from __future__ import annotations

import ast
import pkgutil
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import dpdesk
from dpdesk.engine.method import Method
from dpdesk.engine.methods.registered import default_registry

ROOT = Path(__file__).parents[2]
WINDOW_LIBRARIES = ("PySide6", "shiboken6", "pyqtgraph")
# Written in pieces, or this file would hold what it forbids.
WORKPLACE = re.compile(
    "|".join(
        (
            r"/wo" + "rk/",
            r"/ro" + "ot/",
            r"/ho" + "me/[a-z]",
            r"/fa" + "rm/",
            r"\.lib" + "rary/",
            r"\bissue" + r" (#?\d|2\b)",
            r"\bsub-?agent",
            r"\bBRIEF\b",
        )
    )
)
SOURCES = sorted(
    path
    for folder in ("dpdesk", "tests", "resources")
    for path in (ROOT / folder).rglob("*.py")
    if "__pycache__" not in path.parts
)
# The symbols of the field and of the window's marks. A padlock is no letter of any plain font: the
# window draws it as an icon.
SYMBOLS = "ε ℓ ρ δ τ σ μ Δ Σ ′ ≤ ≥ ± × ÷ √ ∞ ≈ · § − – … ✓ ✕ △ ● ○ ◎ ↻ ■ □ ▨ › → ↔ ↑ ↓ ▸ ▾ ⏎ ½ ² ₂"


def modules(package: str) -> list[str]:
    """Every module of a package of ours, itself included."""
    folder = ROOT / "dpdesk" / package
    below = pkgutil.walk_packages([str(folder)], f"dpdesk.{package}.")
    return [f"dpdesk.{package}", *(module.name for module in below)]


def loaded_after(code: str) -> set[str]:
    """Top-level names of the modules that a fresh interpreter holds after ``code``."""
    code += "\nimport sys\nprint('\\n' + ' '.join({name.split('.')[0] for name in sys.modules}))"
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return set(done.stdout.rsplit("\n", 2)[-2].split())


@pytest.mark.parametrize("package", ["core", "io", "engine", "project", "report", "app", "cli"])
def test_everything_outside_the_window_loads_no_window_library(package: str) -> None:
    code = "import importlib\n" + "".join(
        f"importlib.import_module({name!r})\n" for name in modules(package)
    )
    loaded = loaded_after(code)
    assert "dpdesk" in loaded
    assert loaded.isdisjoint(WINDOW_LIBRARIES)


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["run", "--help"]])
def test_the_command_line_starts_light(arguments: list[str]) -> None:
    code = f"""
import os, runpy, sys
os._exit = sys.exit  # a command ends its process at once, but what was loaded is still to be told
sys.argv = ["dpdesk", *{arguments!r}]
try:
    runpy.run_module("dpdesk", run_name="__main__")
except SystemExit as done:
    assert not done.code, done.code
"""
    loaded = loaded_after(code)
    assert "dpdesk" in loaded
    heavy = {"numba", "scipy", "duckdb", "pyarrow", "pandas", "jinja2", "xlsxwriter"}
    assert loaded.isdisjoint({*WINDOW_LIBRARIES, *heavy})


def test_the_compiler_starts_without_what_no_kernel_uses() -> None:
    loaded = loaded_after("from dpdesk.core.compiled import start; start()")
    assert "numba" in loaded
    assert loaded.isdisjoint({"cffi", "pycparser", "pandas"})


def test_the_window_is_painted_before_heavy_libraries_are_loaded() -> None:
    """They come in while the first screen is looked at; see ``app/warming.py``."""
    loaded = loaded_after("import dpdesk.ui.application, dpdesk.ui.desk")
    assert "PySide6" in loaded
    heavy = {"numba", "scipy", "duckdb", "pyarrow", "pandas", "jinja2", "xlsxwriter", "pyqtgraph"}
    assert loaded.isdisjoint(heavy)


def tracked_texts() -> Iterator[tuple[str, str]]:
    listing = subprocess.run(
        ["git", "-C", ROOT, "ls-files", "-z"], capture_output=True, text=True, check=False
    )
    if listing.returncode != 0:
        pytest.skip("this copy of the sources is not a git checkout")
    for name in filter(None, listing.stdout.split("\0")):
        path = ROOT / name
        if path.is_file() and b"\0" not in (content := path.read_bytes()):
            yield name, content.decode("utf-8")


def test_no_tracked_file_names_a_machine_or_a_workplace() -> None:
    found = [
        f"{name}:{number}: {line.strip()[:80]}"
        for name, text in tracked_texts()
        for number, line in enumerate(text.splitlines(), start=1)
        if WORKPLACE.search(line)
    ]
    assert found == []


def test_no_source_file_is_longer_than_800_lines() -> None:
    lengths = {path: len(path.read_text("utf-8").splitlines()) for path in SOURCES}
    assert {str(path): count for path, count in lengths.items() if count > 800} == {}


def statements(node: ast.AST) -> Iterator[ast.AST]:
    """All statements below, at any depth; walking through expressions too takes far longer."""
    for name in ("body", "orelse", "finalbody", "handlers", "cases"):
        below = getattr(node, name, None)
        for each in below if isinstance(below, list) else ():
            yield each
            yield from statements(each)


def test_no_function_is_longer_than_60_lines() -> None:
    long = []
    for path in SOURCES:
        if path.is_relative_to(ROOT / "tests"):
            continue
        for node in statements(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                lines = (node.end_lineno or node.lineno) - node.lineno + 1
                text = ast.get_docstring(node, clean=False)
                lines -= len(text.splitlines()) if text else 0
                if lines > 60:
                    long.append(f"{path.relative_to(ROOT)}: {node.name}: {lines}")
    assert long == []


OUTSIDE_THE_ENGINE = ("app", "cli", "project", "report", "ui")


def classes_of_methods() -> frozenset[str]:
    """What the engine calls kinds of methods, and the methods themselves."""
    found = {"QueryableMethod", "ComparedMethod", "RowsMethod", "CellsMethod"}
    below: list[type[object]] = [Method]
    while below:
        each = below.pop()
        if each.__module__.startswith("dpdesk."):
            found.add(each.__name__)
        below += each.__subclasses__()
    return frozenset(found)


def annotations_in(tree: ast.AST) -> Iterator[ast.AST]:
    """All nodes that only say of which type something is."""
    for node in ast.walk(tree):
        parts = [getattr(node, name, None) for name in ("annotation", "returns")]
        for part in parts:
            if isinstance(part, ast.AST):
                yield from ast.walk(part)


def questions_about_methods(tree: ast.AST) -> list[tuple[int, str]]:
    """Where code asks which method it has, or of which class: line, and what it names."""
    # An id that is a plain word stands in many texts that mean no method.
    ids = [method.id for method in default_registry() if "-" in method.id]
    classes = classes_of_methods()
    harmless = {id(node) for node in annotations_in(tree)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and node.body:
            harmless.add(id(getattr(node.body[0], "value", None)))  # what it says of itself
    found = []
    for node in ast.walk(tree):
        named = getattr(node, "id", None) or getattr(node, "attr", None)
        text = getattr(node, "value", None)
        if id(node) in harmless:
            continue
        if isinstance(node, ast.Name | ast.Attribute) and named in classes:
            found.append((node.lineno, str(named)))
        if isinstance(node, ast.Constant) and isinstance(text, str):
            found += [(node.lineno, each) for each in ids if each in text]
    return found


@pytest.mark.parametrize("layer", OUTSIDE_THE_ENGINE)
def test_nothing_outside_the_engine_asks_which_method_it_has(layer: str) -> None:
    for path in sorted((ROOT / "dpdesk" / layer).rglob("*.py")):
        found = questions_about_methods(ast.parse(path.read_text("utf-8")))
        assert not found, f"{path.relative_to(ROOT)}: ask its capabilities instead of {found}"


@pytest.mark.parametrize(
    ("code", "asks"),
    [
        ("if isinstance(method, PrivateMethod): pass", True),
        ("if isinstance(method, (engine.RowsMethod, int)): pass", True),
        ("drawn = type(method) is LDiverted", True),
        ("match method:\n    case RowsMethod(): pass", True),
        ("if method.id == 'dp-graph': pass", True),
        ("TITLES = {'k-anonymity': 'rows'}", True),
        ("def f(method: PrivateMethod) -> Method | None:\n    'Of dp-cube.'", False),
        ("from dpdesk.engine.method import Method\nfound: list[Method] = []", False),
        ("if noise_of(method) is not None: pass", False),
    ],
)
def test_questions_about_methods_are_found(code: str, asks: bool) -> None:
    assert bool(questions_about_methods(ast.parse(code))) is asks


def test_the_version_is_the_same_everywhere() -> None:
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert project["version"] == dpdesk.__version__


@pytest.mark.parametrize("name", ["DejaVuSans", "DejaVuSans-Bold"])
def test_the_bundled_font_has_every_symbol_of_the_window(name: str, qapp: object) -> None:
    from PySide6.QtGui import QRawFont

    font = QRawFont(str(ROOT / "resources" / "fonts" / f"{name}.ttf"), 12)
    assert font.isValid()
    lacking = [symbol for symbol in SYMBOLS.split() if not font.supportsCharacter(ord(symbol))]
    assert lacking == []


def test_the_font_comes_with_its_licence() -> None:
    licence = (ROOT / "resources/fonts/LICENSE.txt").read_text("utf-8")
    assert "Bitstream Vera" in licence
    assert "Permission is hereby granted" in licence
