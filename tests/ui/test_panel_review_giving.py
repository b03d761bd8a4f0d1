"""What leaves the review panel: every format with its sentence, and the evidence pack."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from dpdesk.app.types import AppContext
from dpdesk.core.export_formats import FORMATS, OF_CUBES, OF_ROWS
from dpdesk.ui.jobs import JobHub
from dpdesk.ui.panels.review import ReviewPanel
from dpdesk.ui.panels.review.release_page import EXPORTS
from dpdesk.ui.theme import ThemeManager
from dpdesk.ui.workbench import Workbench
from tests.helpers import cubes
from tests.helpers.a11y import findings
from tests.helpers.asking import ScriptedAsker
from tests.helpers.ddi_structure import faults
from tests.helpers.releases import release, run_code, write_source


class Room:
    """The panel on a release."""

    def __init__(self, qtbot: QtBot, context: AppContext, hub: JobHub, theme: ThemeManager) -> None:
        self.qtbot, self.hub, self.asker = qtbot, hub, ScriptedAsker()
        self.bench = Workbench(context, hub)
        with theme.building():
            self.panel = ReviewPanel(self.bench, theme, self.asker)
        qtbot.addWidget(self.panel)
        self.panel.resize(1000, 640)
        self.panel.show()
        self.told: list[tuple[str, str]] = []
        self.panel.messageRaised.connect(self._on_told)

    def _on_told(self, kind: str, text: str) -> None:
        self.told.append((kind, text))

    def open(self, folder: Path) -> None:
        self.bench.open_path(folder)
        self.quiet(lambda: self.panel.can_run())

    def quiet(self, condition: Callable[[], bool]) -> None:
        self.qtbot.waitUntil(lambda: condition() and not self.hub.busy)

    def button(self, name: str) -> QPushButton:
        found = [b for b in self.panel.findChildren(QPushButton) if b.accessibleName() == name]
        assert len(found) == 1, f"{len(found)} buttons are called {name}"
        return found[0]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """One release of microdata and one of tables."""
    folder = tmp_path_factory.mktemp("made")
    with AppContext.open(folder / "home") as context:
        release(write_source(folder / "work"), folder / "microdata", context)
        register = cubes.write_register(folder / "data", cubes.people())
        cubes.release(context, cubes.write_plan(register, "plan.toml"), folder / "tables")
    return {name: folder / name for name in ("microdata", "tables")}


@pytest.fixture
def room(qtbot: QtBot, tmp_path: Path, hub: JobHub, theme: ThemeManager) -> Iterator[Room]:
    with AppContext.open(tmp_path / "home") as context:
        found = Room(qtbot, context, hub, theme)
        yield found
        hub.cancel_all()
        found.quiet(lambda: True)
        found.bench.close()


@pytest.mark.parametrize("kind", ["microdata", "tables"])
def test_every_format_that_fits_is_offered_with_what_it_keeps(
    room: Room, made: dict[str, Path], kind: str
) -> None:
    room.open(made[kind])
    room.button("Other formats").click()
    assert room.panel.release.strip.current == EXPORTS
    page = room.panel.release.exports
    shown = {form for form, one in page.buttons.items() if one.isVisible()}
    assert shown == {
        form for form in FORMATS[1:] if form in (OF_CUBES if kind == "tables" else OF_ROWS)
    }
    assert all(one.isEnabled() for form, one in page.buttons.items() if form in shown)
    sentences = {one.accessibleDescription() for one in page.buttons.values()}
    assert len(sentences) == len(page.buttons)
    assert all(one.hasFocus() for one in [page.buttons["parquet"]])
    assert findings(room.panel) == []


def test_a_codebook_is_written_under_the_name_that_was_chosen(
    room: Room, made: dict[str, Path], tmp_path: Path
) -> None:
    room.open(made["microdata"])
    room.asker.answer = tmp_path / "given"
    room.button("Export as DDI Codebook").click()
    room.quiet(lambda: bool(room.told))
    assert room.asker.asked[-1][1].endswith("microdata-codebook.xml")
    assert faults((tmp_path / "given.xml").read_bytes()) == []
    assert room.told == [("ok", f"The description of the release is in {tmp_path / 'given.xml'}.")]


def test_what_a_format_cannot_hold_is_said_below_the_buttons(
    room: Room, made: dict[str, Path], tmp_path: Path
) -> None:
    room.open(made["microdata"])
    band = room.panel.release.give_band
    room.asker.answer = tmp_path / "given.xpt"
    room.button("Export as SAS").click()
    room.quiet(lambda: bool(room.told))
    assert band.kind == "info"
    assert "The guarantee of the release is left out" in band.text
    room.asker.answer = tmp_path / "given.parquet"
    room.button("Export as Parquet").click()
    room.quiet(lambda: len(room.told) == 2)
    assert not band.isVisible()


def test_the_evidence_pack_is_saved_as_a_page_or_a_pdf_by_its_name(
    room: Room, made: dict[str, Path], tmp_path: Path
) -> None:
    room.open(made["tables"])
    room.quiet(lambda: room.panel.looker.picture is not None)
    for name, begin in (("pack", b"%PDF-"), ("pack.html", b"<!DOCTYPE html>")):
        room.told.clear()
        room.asker.answer = tmp_path / name
        room.button("Save evidence pack").click()
        assert not room.button("Save evidence pack").isEnabled()
        room.quiet(lambda: bool(room.told))
        path = tmp_path / (name if "." in name else f"{name}.pdf")
        assert path.read_bytes().startswith(begin)
        assert room.told == [("ok", f"The evidence pack is in {path}; it is confidential.")]
        assert room.button("Save evidence pack").isEnabled()


def test_what_forbids_the_pack_is_said_above_the_buttons(
    room: Room, made: dict[str, Path], tmp_path: Path
) -> None:
    room.open(made["microdata"])
    room.quiet(lambda: room.panel.looker.picture is not None)
    there = tmp_path / "old.html"
    there.write_text("old")
    room.asker.answer = there
    room.button("Save evidence pack").click()
    band = room.panel.release.give_band
    room.quiet(lambda: bool(band.text))
    assert band.kind == "fail"
    assert "the file already exists" in band.text
    assert there.read_text() == "old"
    assert room.told == []
    room.asker.answer = tmp_path / "new.html"
    room.button("Save evidence pack").click()
    assert band.text == ""
    room.quiet(lambda: bool(room.told))


def test_a_pack_can_be_cancelled(room: Room, made: dict[str, Path], tmp_path: Path) -> None:
    room.open(made["microdata"])
    room.quiet(lambda: room.panel.looker.picture is not None)
    room.asker.answer = tmp_path / "pack.pdf"
    room.button("Save evidence pack").click()
    assert "pack.pdf" in room.panel.release.job_line.text
    room.hub.cancel(room.panel.release.job_line.job)
    room.quiet(lambda: not room.panel.giving.busy)
    assert list(tmp_path.glob("pack*")) == []
    assert room.panel.release.give_band.text == ""
    assert room.told == []


def test_the_public_part_alone_has_no_pack(
    room: Room, made: dict[str, Path], tmp_path: Path
) -> None:
    alone = shutil.copytree(made["microdata"] / "public", tmp_path / "alone")
    room.open(alone)
    assert not room.button("Save evidence pack").isVisible()
    assert room.button("Other formats").isVisible()


def test_the_check_and_the_exports_are_copied_as_python(
    room: Room, made: dict[str, Path], tmp_path: Path
) -> None:
    room.open(made["microdata"])
    room.asker.answer = tmp_path / "given.parquet"
    room.button("Export as Parquet").click()
    room.quiet(lambda: bool(room.told))
    room.button("Copy as Python").click()
    assert room.told[-1] == ("ok", "The Python code is on the clipboard.")
    code = QGuiApplication.clipboard().text()
    names = run_code(code.replace("given.parquet", "again.parquet"))
    assert names["found"].ok
    one, other = (tmp_path / f"{name}.parquet" for name in ("given", "again"))
    assert one.read_bytes() == other.read_bytes()
