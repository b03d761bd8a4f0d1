"""The review panel over real releases: prepare, write, check, export, tamper, open."""

from __future__ import annotations

import gc
import shutil
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QComboBox, QLabel, QLineEdit, QPushButton, QWidget
from pytestqt.qtbot import QtBot
from shiboken6 import delete

from dpdesk.app.types import AppContext, SetParameters
from dpdesk.core.plain import thaw
from dpdesk.core.release import Guarantee
from dpdesk.ui.jobs import JobHub
from dpdesk.ui.panels.review import ReviewPanel
from dpdesk.ui.panels.review.panel import PREPARE, RELEASE
from dpdesk.ui.panels.review.release_page import FILES, PICTURE, ReleasePage
from dpdesk.ui.shell import Mark
from dpdesk.ui.theme import ThemeManager
from dpdesk.ui.workbench import Workbench
from tests.helpers.a11y import findings
from tests.helpers.asking import ScriptedAsker
from tests.helpers.forging import manifest_of, seal_again
from tests.helpers.releases import SOURCE, release, write_source

pytestmark = pytest.mark.cheap_prints


class Room:
    """The panel with its workbench."""

    def __init__(self, qtbot: QtBot, context: AppContext, hub: JobHub, theme: ThemeManager) -> None:
        self.qtbot, self.hub, self.theme = qtbot, hub, theme
        self.asker = ScriptedAsker()
        self.bench = Workbench(context, hub)
        with theme.building():
            self.panel = ReviewPanel(self.bench, theme, self.asker)
        qtbot.addWidget(self.panel)
        self.panel.resize(1000, 640)
        self.panel.show()
        self.panel.activated()

    def quiet(self, condition: Callable[[], bool] = lambda: True) -> None:
        self.qtbot.waitUntil(lambda: condition() and not self.hub.busy)

    def open(self, path: Path) -> None:
        self.bench.open_path(path)
        self.quiet()

    def button(self, name: str) -> QPushButton:
        found = [
            one for one in self.panel.findChildren(QPushButton) if one.accessibleName() == name
        ]
        assert len(found) == 1, f"{len(found)} buttons are called {name}"
        return found[0]

    def field(self, name: str) -> QLineEdit:
        found = [one for one in self.panel.findChildren(QLineEdit) if one.accessibleName() == name]
        assert len(found) == 1
        return found[0]

    def write(self, out: Path) -> None:
        folder = self.field("Folder of the release")
        folder.clear()
        self.qtbot.keyClicks(folder, str(out))
        self.quiet(lambda: self.panel.can_run())
        self.button("Write the release").click()
        self.quiet(lambda: self.bench.release_path == out)


@pytest.fixture
def room(qtbot: QtBot, tmp_path: Path, hub: JobHub, theme: ThemeManager) -> Iterator[Room]:
    with AppContext.open(tmp_path / "home") as context:
        made = Room(qtbot, context, hub, theme)
        yield made
        hub.cancel_all()
        made.quiet()
        made.bench.close()


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    return write_source(tmp_path / "work")


def test_without_data_or_release_it_says_what_to_do(room: Room) -> None:
    wanted: list[str] = []
    room.panel.wantsPanel.connect(wanted.append)
    assert not room.panel.can_run()
    assert room.panel.status().mark is Mark.OPEN
    room.button("Go to Data").click()
    assert wanted == ["data"]
    assert findings(room.panel) == []


def test_what_would_be_released_is_shown_before_anything_is_written(
    room: Room, plan: Path, tmp_path: Path
) -> None:
    room.open(plan)
    claim = room.panel.prepare.findChildren(QWidget)
    names = [one.accessibleName() for one in claim]
    assert any(name.startswith("For someone who knows only age and town") for name in names)
    assert any("zq_person_number" in name and "Left out" in name for name in names)
    assert room.field("Folder of the release").text().endswith("town-survey-release")
    assert not (tmp_path / "work" / "town-survey-release").exists()
    assert room.panel.can_run()
    assert findings(room.panel) == []


def test_the_checklist_stands_there_before_anything_is_written(
    room: Room, plan: Path, tmp_path: Path
) -> None:
    wanted: list[str] = []
    room.panel.wantsPanel.connect(wanted.append)
    room.open(plan)
    questions = room.panel.prepare.questions
    assert questions.isVisible()
    assert "are for a person to judge" in questions.sentence
    rows = [questions.list.model.row(n) for n in range(questions.list.model.rowCount())]
    marks = [mark[0] for mark, _ in rows]
    assert marks.count("△") > 2
    assert marks == sorted(marks, key=lambda mark: ["✕", "△"].index(mark) if mark in "✕△" else 2)
    asked = [question for _, question in rows].index(
        "Does suppression affect some people more than others?"
    )
    questions.list.grid.selectRow(asked)
    assert "→ " in questions.list.evidence
    questions.list.go.click()
    assert wanted == ["protect"]
    # It was made from a release of its own, of which nothing is left.
    assert not list((tmp_path / "home" / "work").rglob("manifest.json"))
    assert not (tmp_path / "work" / "town-survey-release").exists()


def test_a_button_of_the_checklist_changes_the_setting_that_it_is_about(
    room: Room, tmp_path: Path
) -> None:
    (tmp_path / "sizes.csv").write_text("size\n" + "a\nb\nc\n" + "d\n" * 9, "utf-8")
    path = tmp_path / "sizes.toml"
    path.write_text(
        'version = 1\n[source]\npath = "sizes.csv"\n[protection]\nmethod = "table"\n'
        'rows = ["size"]\nrule = [{ rule = "threshold", n = 3 }]\nattacker = { upper = 4 }\n',
        "utf-8",
    )
    wanted: list[str] = []
    room.panel.wantsPanel.connect(wanted.append)
    room.open(path)
    asked = room.panel.prepare.questions.list
    found = [asked.model.row(n)[1] for n in range(asked.model.rowCount())]
    asked.grid.selectRow(found.index("Do published empty cells reveal more?"))
    assert asked.go.text() == "Change this setting"
    asked.go.click()
    assert thaw(room.bench.work.parameters["attacker"]) == {"upper": 4, "present": True}
    assert wanted == ["protect"]
    room.bench.undo()
    assert thaw(room.bench.work.parameters["attacker"]) == {"upper": 4}


def test_what_was_asked_before_is_asked_of_the_release_and_comes_before_the_export(
    room: Room, plan: Path, tmp_path: Path
) -> None:
    room.open(plan)
    ahead = room.panel.prepare.questions
    before = [ahead.list.model.row(n) for n in range(ahead.list.model.rowCount())]
    room.write(tmp_path / "out")
    page = room.panel.release
    assert page.questions.isVisible()
    after = [page.questions.list.model.row(n) for n in range(page.questions.list.model.rowCount())]
    from_source = ("△ to be judged", "Was the table made again from its source?")
    assert [row for row in after if row != from_source] == before
    assert room.button("Export as CSV").property("look") != "primary"
    room.button("Review and sign-off, the next step").click()
    standing = room.panel.sign.standing
    assert standing.questions.isVisible()
    assert standing.questions.sentence == page.questions.sentence


def test_a_release_is_written_checked_and_shown(room: Room, plan: Path, tmp_path: Path) -> None:
    room.open(plan)
    room.write(tmp_path / "out")
    assert room.bench.verified is not None
    assert room.bench.verified.ok
    assert room.panel.status().mark is Mark.DONE
    page = room.panel.release
    assert page.band.kind == "ok"
    assert "none failed" in page.band.text
    marks = [row[0] for row in (page.checks.model.row(n) for n in range(3))]
    assert marks == ["✓ re-checked"] * 3
    assert findings(room.panel) == []
    page.checks.grid.selectRow(2)
    assert "counted" in page.checks.evidence
    assert "SHA-256" in page.checks.evidence


def test_the_title_is_typed_undone_and_published(room: Room, plan: Path, tmp_path: Path) -> None:
    room.open(plan)
    title = room.field("Title of the release")
    title.clear()
    room.qtbot.keyClicks(title, "Town 2024")
    assert room.bench.work.title == "Town 2024"
    room.bench.undo()
    assert title.text() == "Town survey"
    room.bench.redo()
    assert title.text() == "Town 2024"
    room.write(tmp_path / "out")
    assert room.bench.release is not None
    assert room.bench.release.title == "Town 2024"


def test_the_language_of_the_pages_is_chosen_undone_and_released(
    room: Room, plan: Path, tmp_path: Path
) -> None:
    room.open(plan)
    boxes = room.panel.prepare.findChildren(QComboBox)
    [box] = [one for one in boxes if one.accessibleName() == "Language of the pages"]
    assert box.currentData() == "en"
    box.setFocus()
    room.qtbot.keyClick(box, Qt.Key.Key_Down)
    assert room.bench.work.language == box.currentData() == "de"
    room.bench.undo()
    assert box.currentData() == "en"
    room.bench.redo()
    room.write(tmp_path / "out")
    page = (tmp_path / "out" / "public" / "about.html").read_bytes()
    assert page.startswith(b'<!DOCTYPE html>\n<html lang="de">')


def test_a_folder_in_use_is_named_below_its_field_and_nothing_is_written(
    room: Room, plan: Path, tmp_path: Path
) -> None:
    room.open(plan)
    folder = room.field("Folder of the release")
    folder.clear()
    room.qtbot.keyClicks(folder, str(tmp_path / "work"))
    room.quiet()
    assert "already contains files" in folder.accessibleDescription()
    assert not room.button("Write the release").isEnabled()
    assert not room.panel.can_run()


def test_browsing_suggests_a_new_folder_below_the_chosen_one(
    room: Room, plan: Path, tmp_path: Path
) -> None:
    room.open(plan)
    (tmp_path / "elsewhere" / "town-survey-release").mkdir(parents=True)
    room.asker.answer = tmp_path / "elsewhere"
    room.button("Browse… for the folder of the release").click()
    expected = str(tmp_path / "elsewhere" / "town-survey-release-2")
    room.quiet(lambda: room.field("Folder of the release").text() == expected)


def test_settings_that_cannot_be_released_are_refused_with_a_way_out(
    room: Room, plan: Path
) -> None:
    room.open(plan)
    room.bench.apply(
        SetParameters({"k": 200, "max_suppression": 0, "levels": {"age": 0, "town": 0}})
    )
    room.quiet()
    wanted: list[str] = []
    room.panel.wantsPanel.connect(wanted.append)
    assert not room.panel.can_run()
    assert room.panel.prepare.band.kind == "fail"
    room.button("Change the settings").click()
    assert wanted == ["protect"]
    room.bench.undo()
    room.quiet(lambda: room.panel.can_run())
    assert room.panel.prepare.band.text == ""


def test_what_a_form_shows_and_cannot_use_keeps_a_release_from_being_made(
    room: Room, plan: Path
) -> None:
    room.open(plan)
    room.quiet(lambda: room.panel.can_run())
    room.bench.set_unread(("Importance",))
    assert not room.panel.can_run()
    assert "“Importance”" in room.panel.prepare.band.text
    wanted: list[str] = []
    room.panel.wantsPanel.connect(wanted.append)
    room.button("Go to Protect").click()
    assert wanted == ["protect"]
    room.bench.set_unread(())
    room.quiet(lambda: room.panel.can_run())


def test_other_settings_are_worked_out_again(room: Room, plan: Path) -> None:
    room.open(plan)
    room.bench.apply(SetParameters({"k": 7}))
    room.quiet(lambda: room.panel.preparing.preview.current)
    candidate = room.panel.preparing.preview.candidate
    assert candidate is not None
    assert candidate.guarantee.parameters["k"] == 7


@pytest.mark.parametrize("form", ["csv", "parquet", "xlsx"])
def test_a_verified_release_is_exported(room: Room, plan: Path, tmp_path: Path, form: str) -> None:
    room.open(plan)
    room.write(tmp_path / "out")
    told: list[tuple[str, str]] = []
    room.panel.messageRaised.connect(lambda kind, text: told.append((kind, text)))
    target = tmp_path / "given"
    room.asker.answer = target
    names = {"csv": "Export as CSV", "parquet": "Export as Parquet", "xlsx": "Export as Excel"}
    room.button(names[form]).click()
    room.quiet(lambda: bool(told))
    written = tmp_path / f"given.{form}"
    assert written.stat().st_size > 100
    assert told == [("ok", f"The public table is in {written}.")]
    assert room.asker.asked[-1][1].endswith(f"out.{form}")
    if form == "csv":
        assert written.read_bytes() == (tmp_path / "out/public/microdata.csv").read_bytes()


def test_nothing_is_exported_when_nobody_names_a_file(
    room: Room, plan: Path, tmp_path: Path
) -> None:
    room.open(plan)
    room.write(tmp_path / "out")
    before = sorted(tmp_path.rglob("*"))
    room.button("Export as CSV").click()
    room.quiet()
    assert sorted(tmp_path.rglob("*")) == before


def test_a_changed_file_fails_the_check_and_forbids_export(
    room: Room, plan: Path, tmp_path: Path
) -> None:
    room.open(plan)
    room.write(tmp_path / "out")
    with (tmp_path / "out/public/microdata.csv").open("ab") as file:
        file.write(b"more\n")
    room.button("Verify again").click()
    room.quiet(lambda: room.panel.release.band.kind == "fail")
    assert "public/microdata.csv" in room.panel.release.band.text
    assert room.panel.release.checks.model.row(0)[0] == "✕ failed"
    for name in ("Export as CSV", "Export as Parquet", "Export as Excel"):
        assert not room.button(name).isEnabled()
    assert not room.panel.can_run()
    assert room.panel.status().mark is Mark.ATTENTION


def test_the_source_settles_what_the_public_files_cannot(
    room: Room, plan: Path, tmp_path: Path
) -> None:
    room.open(plan)
    room.write(tmp_path / "out")
    rows = room.panel.release.checks.model
    marks = [str(rows.row(n)[0]) for n in range(rows.rowCount())]
    waiting = sum(mark.startswith("○") for mark in marks)
    assert waiting > 1
    before = list(room.asker.asked)
    room.button("Check with the source…").click()
    room.quiet(lambda: room.bench.verified_with is not None)
    marks = [str(rows.row(n)[0]) for n in range(rows.rowCount())]
    assert room.asker.asked == before, "the file that is open is the source"
    assert sum(mark.startswith("○") for mark in marks) < waiting
    assert not any(mark.startswith("✕") for mark in marks)


def test_a_wrong_source_is_named_and_fails(room: Room, plan: Path, tmp_path: Path) -> None:
    room.open(plan)
    room.write(tmp_path / "out")
    other = tmp_path / "other.csv"
    other.write_text("a,b\n1,2\n")
    (tmp_path / "work" / SOURCE).unlink()
    room.asker.answer = other
    room.button("Check with the source…").click()
    room.quiet(lambda: room.bench.verified_with is not None)
    assert room.panel.release.band.kind == "fail"
    assert "is not the source" in room.panel.release.band.text


def test_a_change_of_the_work_marks_the_release_as_older(
    room: Room, plan: Path, tmp_path: Path
) -> None:
    room.open(plan)
    room.write(tmp_path / "out")
    room.bench.apply(SetParameters({"k": 9}))
    room.quiet()
    assert "↻" in room.panel.release.stale_band.text
    assert "(settings)" in room.panel.release.stale_band.text
    assert room.panel.status().mark is Mark.STALE
    room.bench.undo()
    room.quiet()
    assert room.panel.release.stale_band.text == ""
    assert room.panel.status().mark is Mark.DONE


def test_checking_again_keeps_knowing_the_work(room: Room, plan: Path, tmp_path: Path) -> None:
    room.open(plan)
    room.write(tmp_path / "out")
    room.bench.apply(SetParameters({"k": 9}))
    room.button("Verify again").click()
    room.quiet()
    assert room.panel.status().mark is Mark.STALE


def test_another_release_is_prepared_beside_the_first(
    room: Room, plan: Path, tmp_path: Path
) -> None:
    room.open(plan)
    room.write(tmp_path / "out")
    room.panel.strip.button(PREPARE).click()
    room.quiet()
    assert room.panel.prepare.isVisible()
    assert room.field("Folder of the release").text() == str(tmp_path / "town-survey-release")
    room.panel.strip.button(RELEASE).click()
    assert room.panel.release.isVisible()


def test_a_release_folder_is_opened_from_the_empty_panel(
    room: Room, plan: Path, tmp_path: Path
) -> None:
    release(plan, tmp_path / "out", room.bench.context)
    room.asker.answer = tmp_path / "out"
    room.button("Open a release folder…").click()
    room.quiet(lambda: room.bench.release is not None)
    assert room.panel.release.isVisible()
    assert room.panel.release.band.kind == "ok"
    assert not room.panel.strip.button(RELEASE).text().startswith("Prepare")
    room.panel.release.strip.button(FILES).click()
    room.panel.release.strip.button(PICTURE).click()
    assert findings(room.panel) == []


def test_a_public_part_alone_is_opened_as_unsealed(room: Room, plan: Path, tmp_path: Path) -> None:
    release(plan, tmp_path / "out", room.bench.context)
    shutil.copytree(tmp_path / "out" / "public", tmp_path / "given")
    room.open(tmp_path / "given")
    page = room.panel.release
    assert page.band.kind == "caution"
    assert page.checks.model.row(1)[0] == "○ unsealed"
    buttons = {
        one.accessibleName() for one in room.panel.findChildren(QPushButton) if one.isVisible()
    }
    assert "Check with the source…" not in buttons
    assert "Open report" not in buttons
    assert room.button("Export as CSV").isEnabled()
    assert findings(room.panel) == []


def test_pages_of_a_release_that_does_not_verify_are_not_opened(
    room: Room, plan: Path, tmp_path: Path
) -> None:
    made = release(plan, tmp_path / "out", room.bench.context).out
    page = made / "internal/report.html"
    page.write_text(page.read_text("utf-8").replace("<main>", "<main><p>1 in 1,000</p>"), "utf-8")
    seal_again(made, manifest_of(made))
    room.open(made)
    assert room.panel.release.band.kind == "fail"
    names = {
        one.accessibleName()
        for one in room.panel.findChildren(QPushButton)
        if one.isVisible() and one.isEnabled()
    }
    assert not names & {"Open report", "Open user page"}
    assert "Open folder" in names


def test_pages_and_folder_are_opened_by_the_system(
    room: Room, plan: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []

    def note(url: QUrl) -> bool:
        opened.append(url.toLocalFile())
        return len(opened) < 3

    monkeypatch.setattr(QDesktopServices, "openUrl", note)
    release(plan, tmp_path / "out", room.bench.context)
    room.open(tmp_path / "out")
    told: list[str] = []
    room.panel.messageRaised.connect(lambda kind, text: told.append(text))
    for name in ("Open report", "Open user page", "Open folder"):
        room.button(name).click()
    out = tmp_path / "out"
    expected = [out / "internal/report.html", out / "public/about.html", out]
    assert opened == [str(path) for path in expected]
    assert told == [f"No program was found that opens {out}."]


def test_cancelling_while_writing_leaves_nothing(room: Room, tmp_path: Path) -> None:
    plan = write_source(tmp_path / "much", rows=60_000)
    room.open(plan)
    folder = room.field("Folder of the release")
    folder.clear()
    room.qtbot.keyClicks(folder, str(tmp_path / "out"))
    room.quiet(lambda: room.panel.can_run())
    room.button("Write the release").click()
    assert room.panel.prepare.job_line.isVisible()
    assert not room.button("Write the release").isEnabled()
    cancel = [
        one
        for one in room.panel.prepare.findChildren(QPushButton)
        if one.accessibleName() == "Cancel what is running here"
    ]
    cancel[0].click()
    room.quiet()
    assert not (tmp_path / "out").exists()
    assert room.bench.release is None
    assert not room.panel.prepare.job_line.isVisible()
    assert room.button("Write the release").isEnabled()


@pytest.mark.parametrize("mode", ["light", "dark"])
@pytest.mark.parametrize("percent", [100, 125, 200])
def test_it_fits_the_smallest_window(
    room: Room, plan: Path, tmp_path: Path, mode: str, percent: int
) -> None:
    room.theme.set_mode(mode)
    room.theme.set_text_size(percent)
    for step in (lambda: None, lambda: room.open(plan), lambda: room.write(tmp_path / "out")):
        step()
        least = room.panel.minimumSizeHint()
        assert least.width() <= 1100 - 170 * percent // 100
        assert least.height() <= 700 - 45 * percent // 100


def test_a_panel_that_is_gone_is_held_by_nothing(
    qtbot: QtBot, tmp_path: Path, hub: JobHub, theme: ThemeManager, plan: Path
) -> None:
    with AppContext.open(tmp_path / "home") as context:
        bench = Workbench(context, hub)
        with theme.building():
            made = ReviewPanel(bench, theme, ScriptedAsker())
        bench.open_path(plan)
        qtbot.waitUntil(lambda: bench.profile is not None and not hub.busy)
        made.activated()
        qtbot.waitUntil(lambda: not hub.busy)
        gone = weakref.ref(made)
        delete(made)
        del made
        gc.collect()
        assert gone() is None
        bench.apply(SetParameters({"k": 7}))
        bench.close()


@pytest.mark.parametrize("compared", [True, False])
def test_sentences_that_were_compared_with_nothing_are_no_promise(
    qtbot: QtBot, hub: JobHub, theme: ThemeManager, compared: bool
) -> None:
    page = ReleasePage(theme, hub)
    qtbot.addWidget(page)
    guarantee = Guarantee("k-anonymity", {}, "A chance of 1 in 1,000.", (), ())
    page.show_guarantee(guarantee, compared=compared)
    shown = [one.text() for one in page.findChildren(QLabel) if not one.isHidden()]
    assert any("1 in 1,000" in text for text in shown)
    assert any("were not compared" in text for text in shown) is not compared


def test_above_the_promise_of_a_release_that_failed_stands_that_nobody_can_rely_on_it(
    qtbot: QtBot, hub: JobHub, theme: ThemeManager
) -> None:
    page = ReleasePage(theme, hub)
    qtbot.addWidget(page)
    guarantee = Guarantee("k-anonymity", {}, "A chance of 1 in 1,000.", (), ())

    def told() -> bool:
        shown = [one.text() for one in page.findChildren(QLabel) if not one.isHidden()]
        return any("Do not rely on these sentences" in text for text in shown)

    page.show_guarantee(guarantee, compared=True, failed=True)
    assert told()
    page.show_guarantee(guarantee, compared=True)
    assert not told()
