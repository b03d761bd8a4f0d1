"""Pages of ``resources/docs`` and the README: links lead somewhere, and what they name exists."""

from __future__ import annotations

import argparse
import ast
import re
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import dpdesk
from dpdesk.cli.arguments import build_parser

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "resources" / "docs"
README = ROOT / "README.md"
HISTORY = DOCS / "changes.md"
"""It tells of what was, so it may name what is gone."""
PAGES = [README, *sorted(DOCS.rglob("*.md"))]
OF_TODAY = [page for page in PAGES if page != HISTORY]
MADE = frozenset({"resources/program.sha256"})
"""Files that only a packaged program has."""
NOT_COMMANDS = frozenset({"pseudonym 1"})
"""What begins like a command line and is a text that is hashed."""
ROOMS = "app|cli|core|engine|io|project|report|ui|verifiers"
FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
CODE = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
PATH = re.compile(r"(?:dpdesk|tests|resources|installer)/[\w./-]*\w/?")
IN_ROOM = re.compile(rf"((?:{ROOMS})/[\w/]+\.py)(?: ([A-Za-z_][\w.]*))?")
DOTTED = re.compile(r"(?:dpdesk|tests)(?:\.\w+)+")
MODULE = re.compile(r"python -m ([\w.]+)")
COMMAND = re.compile(r"(?:^|[`(]|\.venv/bin/)dpdesk ([a-z][\w -]*)", re.MULTILINE)


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def prose(page: Path) -> str:
    """The text of a page without its blocks of code."""
    return FENCE.sub("", page.read_text("utf-8"))


def anchors(page: Path) -> set[str]:
    """What the headings of a page are called in links."""
    heads = re.findall(r"^#+ (.+)$", prose(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


def links(page: Path) -> Iterator[str]:
    """Where a page links to within the program."""
    return (link for link in LINK.findall(prose(page)) if "://" not in link)


def code_of(page: Path) -> list[str]:
    """What a page shows as code inside its sentences."""
    return CODE.findall(prose(page))


@cache
def defined(path: Path) -> frozenset[str]:
    """Functions, classes, methods and values of a module."""
    found: set[str] = set()

    def walk(body: list[ast.stmt], before: str) -> None:
        for node in body:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                found.add(before + node.name)
            if isinstance(node, ast.ClassDef):
                walk(node.body, f"{before}{node.name}.")
            if isinstance(node, ast.Assign):
                found.update(before + one.id for one in node.targets if isinstance(one, ast.Name))
            if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                found.add(before + node.target.id)

    walk(ast.parse(path.read_text("utf-8")).body, "")
    return frozenset(found)


def exists(dotted: str) -> bool:
    """Whether a dotted name is a module, or something that a module defines."""
    parts = dotted.split(".")
    for count in range(len(parts), 0, -1):
        place, rest = ROOT.joinpath(*parts[:count]), ".".join(parts[count:])
        module = place / "__init__.py" if place.is_dir() else place.with_suffix(".py")
        if not rest and (place.is_dir() or module.is_file()):
            return True
        if rest and module.is_file():
            lazy = dir(dpdesk) if place == ROOT / "dpdesk" else ()
            return rest in defined(module) or rest in lazy
    return False


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_link_of_a_page_leads_somewhere(page: Path) -> None:
    for link in links(page):
        target, _, anchor = link.partition("#")
        place = (page.parent / target).resolve() if target else page
        assert place.exists(), link
        assert not anchor or anchor in anchors(place), link


@pytest.mark.parametrize("page", OF_TODAY, ids=name_of)
def test_every_file_and_name_of_the_program_in_a_page_exists(page: Path) -> None:
    gone = []
    for text in code_of(page):
        if PATH.fullmatch(text):
            gone += [text] if text not in MADE and not (ROOT / text).exists() else []
        elif DOTTED.fullmatch(text) and not exists(text):
            gone.append(text)
        elif found := IN_ROOM.fullmatch(text):
            path = ROOT / "dpdesk" / found[1]
            if not path.is_file() or (found[2] and found[2] not in defined(path)):
                gone.append(text)
    modules = MODULE.findall(page.read_text("utf-8"))
    gone += [name for name in modules if name.startswith(("dpdesk", "tests")) and not exists(name)]
    assert gone == []


Choices = dict[str, argparse.ArgumentParser]


def actions_of(parser: argparse.ArgumentParser) -> Choices:
    """The commands below a parser, by name; none where there are none."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            return dict(action.choices)
    return {}


def fault_of(command: str) -> str:
    """What of a command line the program does not know; empty when nothing is."""
    parser, words = build_parser(), command.split()
    while words and (known := actions_of(parser)):
        word = words.pop(0)
        if word not in known:
            return word
        parser = known[word]
    options = {name for action in parser._actions for name in action.option_strings}
    return next((word for word in words if word.startswith("--") and word not in options), "")


@pytest.mark.parametrize("page", OF_TODAY, ids=name_of)
def test_every_command_of_a_page_is_one_of_the_program(page: Path) -> None:
    text = page.read_text("utf-8")
    commands = {found.strip() for found in COMMAND.findall(text)} - NOT_COMMANDS
    assert [command for command in commands if fault_of(command)] == []


@pytest.mark.parametrize(
    ("command", "fault"),
    [
        ("run plan.toml --out release", ""),
        ("review key new --person x", ""),
        ("rum plan.toml", "rum"),
        ("review kay new", "kay"),
        ("verify release --sauce x", "--sauce"),
    ],
)
def test_what_a_command_line_has_wrong_is_found(command: str, fault: str) -> None:
    assert fault_of(command) == fault


def test_every_page_can_be_reached_from_the_readme() -> None:
    found, ahead = {README}, [README]
    while ahead:
        page = ahead.pop()
        for link in links(page):
            place = (page.parent / link.partition("#")[0]).resolve()
            if place.suffix == ".md" and place.is_file() and place not in found:
                found.add(place)
                ahead.append(place)
    assert [name_of(page) for page in PAGES if page not in found] == []


def test_the_page_on_the_architecture_draws_the_layers_of_the_contract() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    contracts = settings["tool"]["importlinter"]["contracts"]
    layers = next(one["layers"] for one in contracts if "dpdesk.core" in one.get("layers", ()))
    rooms = [re.findall(r"dpdesk\.(\w+)", layer) for layer in reversed(layers)]
    page = (DOCS / "architecture.md").read_text("utf-8")
    (drawn,) = re.findall(r"^core  <-.*$", page, re.MULTILINE)
    assert [re.findall(r"\w+", part) for part in drawn.split("<-")] == rooms
    assert all(f"| `{room}` |" in page for layer in rooms for room in layer)
