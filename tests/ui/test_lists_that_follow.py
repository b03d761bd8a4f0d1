"""Lists that people read follow what the program reads and writes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from dpdesk.app.browsing import FORMATS as VIEW_FORMATS
from dpdesk.app.opening import PLAN_ENDINGS
from dpdesk.cli.arguments import build_parser
from dpdesk.core.export_formats import (
    DESCRIPTIONS,
    DOCUMENTS,
    FORMATS,
    HOLDS,
    OF_AGENCIES,
    SUFFIXES,
    suffix_of,
)
from dpdesk.core.source_spec import (
    ENDINGS,
    ENGINES,
    FOREIGN_FORMATS,
    FRAME_ENDING,
    SPARK,
    SourceSpec,
    source_format,
)
from dpdesk.core.source_spec import FORMATS as SOURCES
from dpdesk.engine.methods.registered import default_registry
from dpdesk.io.formats.worker import _PRIVATE, _READERS
from dpdesk.ui.panels.data.presenter import format_words
from dpdesk.ui.panels.review.panel import _filters
from dpdesk.ui.panels.review.release_page import ExportsPage
from dpdesk.ui.projects import DATA_ENDINGS, OPENED_ENDINGS
from tests.helpers.waiting import PatientBot

ROOT = Path(__file__).parents[2]
DOCS = (ROOT / "resources" / "docs" / "formats.md").read_text("utf-8")


def rows_after(heading: str) -> list[list[str]]:
    """The cells of the first table below a heading of the page on formats, without its head."""
    lines = DOCS.split(f"{heading}\n", 1)[1].splitlines()
    first = next(place for place, line in enumerate(lines) if line.startswith("|"))
    found = []
    for line in lines[first:]:
        if not line.startswith("|"):
            break
        found.append([cell.strip() for cell in line.strip("|").split("|")])
    return found


def test_the_dialogs_offer_every_file_that_is_read() -> None:
    assert DATA_ENDINGS.split() == [f"*{ending}" for ending in ENDINGS]
    assert set(FOREIGN_FORMATS) < set(ENDINGS)
    rest = set(OPENED_ENDINGS.split()) - set(DATA_ENDINGS.split())
    assert rest == {*(f"*{ending}" for ending in PLAN_ENDINGS), "*.dpdesk"}


def test_every_ending_is_of_a_format_that_has_a_reader_and_every_reader_has_an_ending() -> None:
    named = {source_format(SourceSpec(f"people{ending}")) for ending in ENDINGS}
    frame = source_format(SourceSpec(f"people{FRAME_ENDING}"))  # in memory alone: no such file
    assert FRAME_ENDING not in ENDINGS
    lists = source_format(SourceSpec("people.txt", items=("tea",)))  # told by a key alone
    assert named | {*ENGINES, frame, lists} == set(SOURCES)
    stays = {SPARK}  # what lies there is counted there, and never read
    assert {*_READERS, "csv", "parquet", lists} == set(SOURCES) - stays
    assert {*_PRIVATE, "csv", "fixed", lists} - {"answer"} == set(SOURCES) - stays


def test_the_page_on_formats_names_the_endings_that_are_read() -> None:
    cells = [row[1] for row in rows_after("## What is read")[2:]]
    written = {ending for cell in cells for ending in re.findall(r"\.[a-z0-9]+", cell)}
    assert written == set(ENDINGS)


@pytest.mark.parametrize("name", sorted(set(SOURCES) - {"csv"}))
def test_the_window_has_a_name_for_each_format_that_is_read(name: str) -> None:
    assert format_words(name) != name


def test_the_page_on_formats_lists_each_format_that_is_written() -> None:
    listed = [row[0].strip("`") for row in rows_after("## What is written")[2:]]
    assert listed == list(FORMATS)
    head = rows_after("### What each format holds")[0]
    assert [cell.strip("`") for cell in head[1:]] == list(FORMATS)
    readme = (ROOT / "README.md").read_text("utf-8")
    line = next(line for line in readme.splitlines() if "dpdesk export release --format" in line)
    named = re.findall(r"--format (\S+)|[ ,](csvw|[a-z]+-[a-z]+|[a-z]+)(?=,|$)", line)
    assert {first or second for first, second in named} == set(FORMATS)


def test_every_place_that_writes_knows_the_same_formats(qtbot: PatientBot) -> None:
    page = ExportsPage()
    qtbot.addWidget(page)
    assert ("csv", *page.buttons) == FORMATS  # the public table itself has a button of its own
    filters = _filters()
    assert tuple(filters) == FORMATS
    for name, text in filters.items():
        assert f"(*{suffix_of(name)})" in text
    assert set(HOLDS) == set(FORMATS)
    assert set(DESCRIPTIONS) <= set(DOCUMENTS) <= set(FORMATS)
    assert set(SUFFIXES) <= {*DOCUMENTS, *OF_AGENCIES} <= set(FORMATS)
    assert set(VIEW_FORMATS) <= set(FORMATS)
    said = [method.capabilities.exports or frozenset() for method in default_registry()]
    assert frozenset().union(*said) == frozenset(FORMATS)


@pytest.mark.parametrize("name", FORMATS)
def test_the_command_line_takes_each_format(name: str) -> None:
    read = build_parser().parse_args(["export", "release", "--format", name, "--out", "it"])
    assert read.format == name
