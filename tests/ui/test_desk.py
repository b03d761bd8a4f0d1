"""The window as a whole: what opens where, what is saved, what the edges say, what fits."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QMenu, QPushButton
from pytestqt.qtbot import QtBot

from dpdesk.app.types import AppContext, Role, SetParameters, SetRoles
from dpdesk.ui.forms.fields import FileField
from dpdesk.ui.jobs import JobHub
from dpdesk.ui.theme import ThemeManager
from dpdesk.ui.widgets import StepHeader
from tests.helpers.a11y import findings
from tests.helpers.cubes import people, write_plan, write_register
from tests.helpers.memory_settings import MemorySettings
from tests.helpers.releases import SOURCE, public_bytes, release, run_code, write_source
from tests.helpers.sitting import Sitting

pytestmark = pytest.mark.plain

STEPS = ("data", "attributes", "hierarchies", "protect", "compare", "review")


class Office(Sitting):
    """A desk, and a person who answers its file choosers."""

    def facts(self) -> dict[str, str]:
        return self.window._strip.texts


@pytest.fixture
def office(
    qtbot: QtBot, tmp_path: Path, hub: JobHub, theme: ThemeManager, settings: MemorySettings
) -> Iterator[Office]:
    with AppContext.open(tmp_path / "home") as context:
        made = Office(qtbot, context, hub, theme, settings)
        yield made
        made.end()


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    return write_source(tmp_path / "work")


def test_the_sample_opens_and_is_no_recent_file(office: Office) -> None:
    office.window.sampleAsked.emit()
    office.quiet(lambda: office.bench.profile is not None)
    assert office.bench.data is not None
    assert office.bench.data.rows == 20_502
    assert office.settings.current.recent == ()


def test_quitting_is_the_last_of_the_file_menu(office: Office) -> None:
    (menu,) = (one for one in office.window.menuBar().findChildren(QMenu) if one.title() == "&File")
    menu.aboutToShow.emit()
    words = [one.text() for one in menu.actions() if one.text()]
    assert "Open a data&base…" in words
    assert words[-1] == "&Quit"


def test_a_file_that_a_setting_names_is_chosen(office: Office, plan: Path, tmp_path: Path) -> None:
    office.open(plan)
    office.window.show_panel("protect")
    form = office.desk.protect.settings.form
    assert form is not None
    field = form.field("population")
    assert isinstance(field, FileField)
    for chosen, name in (
        (plan.parent / "register.csv", "register.csv"),
        (tmp_path / "far.csv", str(tmp_path / "far.csv")),
    ):
        office.asker.answer = chosen
        field.fileAsked.emit(field)
        assert office.bench.work.parameters["population"] == name
    office.quiet()


def test_what_was_opened_is_offered_again(office: Office, plan: Path) -> None:
    office.open(plan)
    assert office.settings.current.recent == (str(plan),)
    assert office.settings.current.last_folder == str(plan.parent)


def test_the_chooser_opens_data(office: Office, plan: Path) -> None:
    office.asker.answer = plan.parent / SOURCE
    office.window.openAsked.emit()
    office.quiet(lambda: office.bench.profile is not None)
    assert office.window.windowTitle() == f"{SOURCE} – DPDesk"
    assert office.window._corner.badge.isVisible()
    office.asker.answer = None
    office.window.openAsked.emit()
    office.quiet()
    assert office.bench.data is not None


@pytest.mark.parametrize("inside", ["", "public", "public/manifest.json"])
def test_any_part_of_a_release_opens_the_whole_of_it(
    office: Office, plan: Path, tmp_path: Path, inside: str
) -> None:
    release(plan, tmp_path / "out", office.bench.context)
    office.desk.open_text(str(tmp_path / "out" / inside))
    office.quiet(lambda: office.bench.release is not None)
    assert office.bench.release_path == tmp_path / "out"
    assert office.window.current_id == "review"
    assert office.window._corner.name == "out"


def test_the_edges_tell_what_protects_a_release_that_is_open_alone(
    office: Office, plan: Path, tmp_path: Path
) -> None:
    release(plan, tmp_path / "out", office.bench.context)
    office.desk.open_text(str(tmp_path / "out"))
    office.quiet(lambda: office.bench.release is not None)
    assert office.facts()["k"].startswith("k = ")
    assert office.facts()["rows"] == "299 rows released"


def test_the_edges_tell_the_privacy_loss_of_tables_with_noise(
    office: Office, tmp_path: Path
) -> None:
    plan = write_plan(write_register(tmp_path, people()), epsilon=0.5)
    office.open(plan)
    assert office.facts()["k"] == "ε = 0.5"
    office.bench.apply(SetParameters({"epsilon": None}))
    office.quiet()
    assert office.facts()["k"] == "ε not chosen"


def test_the_edges_tell_rows_and_groups_and_when_they_are_old(office: Office, plan: Path) -> None:
    assert office.facts()["rows"] == "no rows"
    office.open(plan)
    assert office.facts()["rows"] == "300 rows"
    office.window.show_panel("protect")
    office.quiet(lambda: "→" in office.facts()["rows"])
    assert office.facts()["rows"] == "300 → 299 rows"
    assert office.facts()["k"].startswith("smallest group 1 → ")
    office.bench.apply(SetRoles({"illness": Role.QUASI_IDENTIFIER}))
    assert office.facts()["rows"].startswith("↻ 300 → ")
    office.quiet()


def test_saving_asks_once_and_then_writes_there_again(
    office: Office, plan: Path, tmp_path: Path
) -> None:
    office.open(plan.parent / SOURCE)
    office.bench.apply(SetRoles({"town": Role.QUASI_IDENTIFIER}))
    assert office.window.windowTitle().startswith("● ")
    office.asker.answer = tmp_path / "work" / "mine"
    office.window.saveAsked.emit()
    office.quiet(lambda: not office.bench.history.changed)
    written = tmp_path / "work" / "mine.toml"
    first = written.read_text()
    office.bench.apply(SetParameters({"k": 9}))
    office.window.saveAsked.emit()
    office.quiet(lambda: not office.bench.history.changed)
    assert len(office.asker.asked) == 1
    assert written.read_text() != first


def test_the_plan_of_the_sample_is_never_written_over(office: Office, tmp_path: Path) -> None:
    office.window.sampleAsked.emit()
    office.quiet(lambda: office.bench.profile is not None)
    office.bench.apply(SetParameters({"k": 9}))
    office.window.saveAsked.emit()
    office.quiet()
    assert len(office.asker.asked) == 1
    assert office.bench.history.changed


def test_there_is_nothing_to_save_at_first(office: Office) -> None:
    office.window.saveAsked.emit()
    assert "nothing to save" in office.window._band.text
    assert office.asker.asked == []


def test_a_file_that_is_none_leaves_what_was_open(office: Office, plan: Path) -> None:
    office.open(plan)
    office.desk.open_text(str(plan.parent / "missing.csv"))
    office.quiet()
    assert office.bench.data is not None
    shown = f"{office.window._band.text} {office.desk.data.band.text}"
    assert "missing.csv" in shown


def test_undo_and_redo_go_through_the_window(office: Office, plan: Path) -> None:
    office.open(plan)
    office.bench.apply(SetParameters({"k": 9}))
    assert office.window.can_undo()
    office.window.undoAsked.emit()
    assert office.bench.work.parameters["k"] == 5
    office.window.redoAsked.emit()
    assert office.bench.work.parameters["k"] == 9
    office.quiet()


def test_a_candidate_is_kept_by_ctrl_b(office: Office, plan: Path) -> None:
    office.open(plan)
    office.window.show_panel("protect")
    office.quiet(lambda: office.desk.protect.can_keep())
    office.window.actions_.trigger("protect.keep")
    office.quiet(lambda: len(office.bench.candidates) == 1)


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.styled
def test_every_step_is_named_and_reachable(office: Office, plan: Path, step: str) -> None:
    office.window.show_panel(step)
    assert findings(office.window) == []
    office.open(plan)
    office.window.show_panel(step)
    office.quiet()
    assert findings(office.window) == []


@pytest.mark.parametrize("percent", [100, 125, 200])
@pytest.mark.styled
def test_the_window_never_needs_more_than_a_small_screen(
    office: Office, plan: Path, percent: int
) -> None:
    office.theme.set_text_size(percent)
    office.open(plan)
    for step in STEPS:
        office.window.show_panel(step)
        office.quiet()
    least = office.window.minimumSizeHint()
    assert least.width() <= 1100
    assert least.height() <= 700
    office.window.resize(1100, 700)
    assert office.window.size().width() == 1100


def change(office: Office) -> None:
    office.bench.apply(SetRoles({"illness": Role.QUASI_IDENTIFIER}))
    office.quiet()
    assert office.bench.history.changed


def press(office: Office, words: str) -> None:
    buttons = [one for one in office.window._band.findChildren(QPushButton) if one.text() == words]
    office.qtbot.mouseClick(buttons[-1], Qt.MouseButton.LeftButton)


def test_unsaved_work_is_not_replaced_unasked(office: Office, plan: Path) -> None:
    office.open(plan)
    change(office)
    kept = office.bench.work
    office.desk.open_text(str(plan.parent / SOURCE))
    office.window.sampleAsked.emit()
    office.quiet()
    assert office.bench.work == kept
    assert "unsaved changes are lost" in office.window._band.text
    press(office, "Open without saving")
    office.quiet(lambda: office.bench.profile is not None and office.bench.data is not None)
    assert office.bench.data is not None
    assert office.bench.data.rows == 20_502
    assert office.window._band.isHidden()


def test_the_plan_can_be_saved_before_another_file_is_opened(office: Office, plan: Path) -> None:
    office.open(plan)
    change(office)
    other = plan.parent / SOURCE
    office.desk.open_text(str(other))
    press(office, "Save the plan first")
    office.quiet(lambda: office.bench.plan_path is None and office.bench.profile is not None)
    assert office.bench.history.undo_label is None
    office.open(plan)
    assert office.bench.work.role("illness") is Role.QUASI_IDENTIFIER


def test_a_save_that_is_given_up_asks_again(office: Office, plan: Path) -> None:
    office.open(plan.parent / SOURCE)
    change(office)
    kept = office.bench.work
    office.asker.answer = None
    office.desk.open_text(str(plan))
    press(office, "Save the plan first")
    assert not office.window._band.isHidden()
    office.quiet()
    assert office.bench.work == kept
    assert not office.desk._open_when_saved


def test_a_release_is_chosen_by_its_folder_and_leaves_unsaved_work(
    office: Office, plan: Path, tmp_path: Path
) -> None:
    release(plan, tmp_path / "out", office.bench.context)
    office.open(plan)
    change(office)
    kept = office.bench.work
    office.asker.answer = tmp_path / "out"
    office.window.openReleaseAsked.emit()
    office.quiet(lambda: office.bench.release is not None)
    assert office.bench.release_path == tmp_path / "out"
    assert office.bench.work == kept
    assert office.window._corner.name == "zq-raw-register.csv"


def test_what_was_undone_stays_within_reach(office: Office, plan: Path) -> None:
    office.open(plan)
    office.bench.apply(SetParameters({"k": 7}))
    office.bench.undo()
    office.bench.apply(SetParameters({"k": 9}))
    button = office.window._trail.history
    assert button.text() == "History (1 set aside)"
    assert [(step.label, step.depth, step.current) for step in button.steps][-2:] == [
        ("k: 7 rows", 1, False),
        ("k: 9 rows", 0, True),
    ]
    office.qtbot.keyClick(office.window, Qt.Key.Key_H, Qt.KeyboardModifier.ControlModifier)
    menu = button._menu
    office.qtbot.waitUntil(menu.isVisible)
    office.qtbot.keyClick(menu, Qt.Key.Key_Up)
    office.qtbot.keyClick(menu, Qt.Key.Key_Return)
    assert office.bench.work.parameters["k"] == 7
    office.quiet()


def test_the_trail_speaks_as_the_form_does(office: Office, plan: Path) -> None:
    office.open(plan)
    office.bench.apply(SetParameters({"algorithm": "samarati", "max_suppression": "0.02"}))
    office.bench.apply(SetParameters({"algorithm": None}))
    assert office.window._trail._text.text().endswith(
        "Search: Samarati, Rows suppressed: 2\u00a0% › Search: default"
    )
    office.quiet()


def test_a_file_that_cannot_be_read_is_named_and_confidential(
    office: Office, tmp_path: Path
) -> None:
    (tmp_path / "bad.csv").write_text("a,b\n1,2\n3\n")
    office.desk.open_text(str(tmp_path / "bad.csv"))
    office.quiet(lambda: office.bench.open_problem is not None)
    assert office.window._corner.name == "bad.csv"
    assert office.window._corner.badge.isVisible()


def test_each_step_has_a_question_mark_that_explains_it(office: Office, plan: Path) -> None:
    office.open(plan)
    for step in STEPS:
        office.window.show_panel(step)
        marks = [
            header.help
            for header in office.window.current_panel.findChildren(StepHeader)
            if header.isVisible()
        ]
        assert len(marks) == 1, step
        marks[0].click()
        assert office.window._help_area.isVisible()
        marks[0].click()
        assert not office.window._help_area.isVisible()


@pytest.mark.parametrize(
    ("step", "name"),
    [("data", "Rows of the file"), ("attributes", "Columns and their roles")],
)
def test_the_keys_go_to_the_work_of_a_step(
    office: Office, plan: Path, step: str, name: str
) -> None:
    office.open(plan)
    office.window.activateWindow()
    number = Qt.Key(Qt.Key.Key_1.value + STEPS.index(step))
    office.qtbot.keyClick(office.window, number, Qt.KeyboardModifier.ControlModifier)
    focus = office.window.focusWidget()
    assert focus is not None
    assert focus.accessibleName() == name


def test_people_and_keys_open_by_keyboard_beside_the_window(office: Office) -> None:
    office.qtbot.keyClick(
        office.window,
        Qt.Key.Key_K,
        Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier,
    )
    office.quiet(lambda: office.desk.people is not None)
    people = office.desk.people
    assert people is not None
    assert people.isVisible()
    assert not people.isModal()
    assert office.window.isEnabled()


def test_the_work_is_copied_as_python_that_makes_the_same_bytes(
    office: Office, plan: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    office.open(plan)
    office.window.actions_.trigger("file.python")
    code = QGuiApplication.clipboard().text()
    assert office.window._band.text == "The Python code is on the clipboard."
    office.bench.write_release(tmp_path / "clicked")
    office.quiet(lambda: office.bench.release is not None)
    monkeypatch.chdir(tmp_path)
    release = run_code(code)["release"]
    assert public_bytes(release.folder) == public_bytes(tmp_path / "clicked")


def test_without_work_there_is_nothing_to_copy(office: Office) -> None:
    QGuiApplication.clipboard().setText("before")
    office.window.actions_.trigger("file.python")
    assert office.window._band.text.startswith("There is nothing to copy yet")
    assert QGuiApplication.clipboard().text() == "before"
