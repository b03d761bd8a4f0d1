"""The first page of the guide, followed to the letter: what it says to press is there to press."""

from __future__ import annotations

import csv
import re
from collections import Counter
from pathlib import Path

import pytest
from PySide6.QtCore import Qt

from dpdesk.app.guide import guide_pages
from tests.helpers.person import Person

BUTTON = re.compile(r"[Pp]ress \*\*([^*]+)\*\*")
LETTER = re.compile(r"[Pp]ress the letter (\w)")
CHOSEN = re.compile(r"Choose `(\w+)`")
FIGURE = re.compile(r"\d+,\d{3}")
COLUMNS, ATTRIBUTES = "Columns and their roles", "Attributes"


@pytest.fixture
def steps(person: Person) -> list[str]:
    """The numbered steps of the page, each on one line."""
    page = next(one for one in guide_pages(person.desk.workbench.methods, "en"))
    text = re.sub(r"\n {2,}", " ", page.text)
    return [line for line in text.splitlines() if re.match(r"\d+\. ", line)]


def test_the_first_release_of_the_guide_can_be_made_by_its_words_alone(
    person: Person, steps: list[str], tmp_path: Path
) -> None:
    out, given = tmp_path / "release", tmp_path / "given.csv"
    person.asker.answer = given
    for step in steps:
        _do(person, step, out)
        person.settled()
        person.reads(*FIGURE.findall(step))
    quasi = [name for name in _header(given) if name in _stated(person)]
    assert len(quasi) == 6
    with given.open(newline="", encoding="utf-8") as file:
        rows = [tuple(row[name] for name in quasi) for row in csv.DictReader(file)]
    assert min(Counter(rows).values()) == 5
    assert len(rows) == 19_847
    assert (out / "public").is_dir()
    assert (out / "internal").is_dir()


def _do(person: Person, step: str, out: Path) -> None:
    """What a step says; each step must say something that this knows, or be one to read."""
    in_attributes = person.desk.window.current_panel is person.desk.attributes
    for name in CHOSEN.findall(step):
        person.pick(COLUMNS if in_attributes else ATTRIBUTES, name)
    for letter in LETTER.findall(step):
        person.press_in(COLUMNS, Qt.Key[f"Key_{letter}"])
    if "Move **Level**" in step:
        person.slide("Level shown, slider", Qt.Key.Key_Right, 1)
    if "Move k to 10" in step:
        person.slide("k, the smallest class, slider", Qt.Key.Key_Right, 5)
        person.settled()
        person.reads("smallest group 1 → 10")
    if "Choose a new folder" in step:
        person.type("Folder of the release", str(out))
    for pressed in BUTTON.findall(step):
        person.settled()
        person.click(pressed)


def _header(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()[0].split(",")


def _stated(person: Person) -> set[str]:
    """The quasi-identifiers that the page names, as columns."""
    page = next(one for one in guide_pages(person.desk.workbench.methods, "en"))
    listed = re.search(r"combination of\s+(.+?)\s+is\s+shared", page.text, re.DOTALL)
    assert listed is not None
    words = re.split(r",\s*|\s+and\s+", listed[1])
    return {re.sub(r"\s+", "_", word) for word in words}
