"""The plan checked against another file, in the window: told before anything changes, one undo."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from dpdesk.app.types import AppContext, Role, SetParameters
from dpdesk.project.audit import AuditLog
from dpdesk.ui.jobs import JobHub
from dpdesk.ui.theme import ThemeManager
from dpdesk.ui.windows.fitting import FitWindow
from tests.helpers.a11y import findings
from tests.helpers.sitting import Sitting

PLAN = """\
version = 1
[source]
path = "old.csv"
[attributes]
town = { role = "quasi-identifier", hierarchy = "towns.csv" }
pay = { role = "sensitive" }
[protection]
method = "k-anonymity"
k = 2
"""
ROWS = [("Ashford", "low"), ("Ashford", "high"), ("Brook", "low"), ("Brook", "high")] * 5


def write(path: Path, head: str, rows: Sequence[Sequence[str]]) -> Path:
    path.write_text("".join(f"{line}\n" for line in (head, *(",".join(r) for r in rows))), "utf-8")
    return path


class Office(Sitting):
    """A desk with the plan open, and a person at it."""

    def hold(self, path: Path) -> FitWindow:
        self.asker.answer = path
        self.window.actions_.refresh()
        self.window.actions_.trigger("file.apply-plan")
        fit = self.desk.beside.fit
        assert fit is not None
        self.quiet(lambda: fit.held is not None or bool(fit.band.text))
        return fit

    def click(self, fit: FitWindow, name: str) -> None:
        self.qtbot.waitUntil(lambda: bool(self._buttons(fit, name)))
        (found,) = self._buttons(fit, name)
        assert found.isEnabled()
        found.click()
        self.quiet()

    @staticmethod
    def _buttons(fit: FitWindow, name: str) -> list[QPushButton]:
        buttons = fit.findChildren(QPushButton)
        return [one for one in buttons if one.accessibleName() == name and one.isVisible()]

    def choose(self, fit: FitWindow, code: str, column: str = "") -> None:
        assert fit.held is not None
        items = fit.held.report.items
        row = next(n for n, i in enumerate(items) if i.code == code and column in ("", i.column))
        fit.page.grid.selectRow(row)


@pytest.fixture
def office(qtbot: QtBot, tmp_path: Path, hub: JobHub, theme: ThemeManager) -> Iterator[Office]:
    (tmp_path / "plan.toml").write_text(PLAN, "utf-8")
    (tmp_path / "towns.csv").write_text("Ashford;*\nBrook;*\n", "utf-8")
    write(tmp_path / "old.csv", "town,pay", ROWS)
    with AppContext.open(tmp_path / "home") as context:
        made = Office(qtbot, context, hub, theme)
        made.window.actions_.refresh()
        assert not made.window.actions_.action("file.apply-plan").isEnabled()
        made.open(tmp_path / "plan.toml")
        yield made
        made.end()


def test_a_file_that_fits_is_taken_over_as_one_change(office: Office, tmp_path: Path) -> None:
    new = write(tmp_path / "new.csv", "town,pay", [*ROWS, *ROWS])
    before, moments = office.bench.work, len(office.bench.history.path())
    fit = office.hold(new)
    assert fit.page.title.text() == "Does new.csv fit this plan?"
    assert fit.page.answer.text() == "✓ Yes: nothing in its 40 rows prevents it."
    assert "every released value of it covers at least 2 rows" in fit.page.trial.text()
    assert findings(fit) == []
    assert office.bench.work is before
    office.click(fit, "Continue with new.csv")
    office.quiet(lambda: office.bench.data is not None and office.bench.data.rows == 40)
    assert len(office.bench.history.path()) == moments + 1
    assert office.bench.history.undo_label == "Apply the plan to new.csv"
    assert office.bench.work.role("town") is Role.QUASI_IDENTIFIER
    assert "Undo goes back" in fit.page.answer.text()
    office.bench.undo()
    office.quiet(lambda: office.bench.data is not None and office.bench.data.rows == 20)
    assert office.bench.work == before


def test_a_renamed_column_is_mapped_with_one_click_and_taken_back(
    office: Office, tmp_path: Path
) -> None:
    fit = office.hold(write(tmp_path / "new.csv", "Town name,pay", ROWS))
    assert fit.page.answer.text().startswith("✕ Not yet")
    office.choose(fit, "column.missing")
    office.click(fit, "“town” is called “Town name” now")
    assert fit.page.answer.text().startswith("✓ Yes")
    assert "“town” is called “Town name” now" in fit.page.decided.text()
    office.click(fit, "Take back the last decision")
    assert fit.page.answer.text().startswith("✕ Not yet")
    assert fit.page.decided.text() == ""
    office.choose(fit, "column.missing")
    office.click(fit, "“town” is called “Town name” now")
    office.click(fit, "Continue with new.csv")
    work = office.bench.work
    assert work.role("Town name") is Role.QUASI_IDENTIFIER
    assert "Town name" in work.hierarchies
    office.quiet(lambda: office.bench.data is not None)
    assert office.bench.data is not None
    assert office.bench.data.columns == ("Town name", "pay")


def test_a_new_column_is_given_a_role_before_anything_changes(
    office: Office, tmp_path: Path
) -> None:
    rows = [(*row, f"person {number}") for number, row in enumerate(ROWS)]
    fit = office.hold(write(tmp_path / "new.csv", "town,pay,name", rows))
    office.choose(fit, "column.new", "name")
    office.click(fit, "“name” points to a person: leave it out")
    assert fit.page.answer.text().startswith("✓ Yes")
    assert office.bench.work.role("name") is Role.INSENSITIVE
    office.click(fit, "Continue with new.csv")
    assert office.bench.work.role("name") is Role.IDENTIFIER


def test_values_without_a_leaf_are_listed_and_lead_to_their_hierarchy(
    office: Office, tmp_path: Path
) -> None:
    rows = [*ROWS, ("Cliffe", "low"), ("Cliffe", "high"), ("Dene", "low")]
    fit = office.hold(write(tmp_path / "new.csv", "town,pay", rows))
    office.choose(fit, "hierarchy.missing-leaf")
    assert fit.page.card.values.text() == "Values and their rows: “Cliffe” (2), “Dene” (1)"
    assert "together 3 rows of 23" in fit.page.card.sentence.text()
    office.click(fit, "Continue with new.csv")
    assert "does not fit yet" in fit.page.answer.text()
    office.quiet(lambda: office.bench.profile is not None)
    office.click(fit, "Go to Hierarchies")
    assert office.window.current_id == "hierarchies"
    assert office.desk.hierarchies.attribute == "town"


def test_a_plan_that_changes_meanwhile_is_told_and_never_lost(
    office: Office, tmp_path: Path
) -> None:
    fit = office.hold(write(tmp_path / "new.csv", "town,pay", ROWS))
    office.bench.apply(SetParameters({"k": 7}))
    office.quiet()
    assert fit.page.answer.text().startswith("↻ The plan has changed")
    office.click(fit, "Continue with new.csv")
    assert office.bench.work.parameters["k"] == 7
    office.click(fit, "Check it against the plan again")
    assert fit.page.answer.text().startswith("✓")


def test_settings_that_the_file_cannot_meet_lead_to_protect(office: Office, tmp_path: Path) -> None:
    fit = office.hold(write(tmp_path / "new.csv", "town,pay", ROWS[:1]))
    assert fit.page.answer.text().startswith("✕ Not yet")
    office.click(fit, "Go to Protect")
    assert office.window.current_id == "protect"


def test_a_file_that_cannot_be_read_is_named_and_nothing_changes(
    office: Office, tmp_path: Path
) -> None:
    before = office.bench.work
    fit = office.hold(tmp_path / "gone.csv")
    assert "gone.csv" in fit.band.text
    assert not fit.page.adopt.isEnabled()
    assert office.bench.work is before
    office.qtbot.keyClick(fit, Qt.Key.Key_Escape)
    assert not fit.isVisible()


def test_looking_at_a_file_is_entered_in_the_audit_log(office: Office, tmp_path: Path) -> None:
    new = write(tmp_path / "new.csv", "town,pay", ROWS)
    office.hold(new)
    with AuditLog.open_home(office.bench.context.home) as log:
        newest = log.newest()
    assert newest is not None
    assert (newest.action, newest.subject) == ("opened", str(new))


def test_nobody_has_to_choose_a_file(office: Office) -> None:
    office.asker.answer = None
    office.window.actions_.trigger("file.apply-plan")
    assert office.desk.beside.fit is None or not office.desk.beside.fit.isVisible()


def test_items_lead_to_the_column_in_the_step_that_fixes_them(
    office: Office, tmp_path: Path
) -> None:
    rows = [(town, str(n), "x") for n, (town, _) in enumerate(ROWS)]
    fit = office.hold(write(tmp_path / "new.csv", "town,pay,extra", rows))
    office.choose(fit, "column.type", "pay")
    office.click(fit, "Go to Data")
    assert office.window.current_id == "data"
    assert office.desk.data.table.grid.currentIndex().column() == 1
    office.click(fit, "Continue with new.csv")
    office.quiet(lambda: office.bench.profile is not None)
    office.choose(fit, "column.new", "extra")
    office.click(fit, "Go to Attributes")
    assert office.window.current_id == "attributes"
    grid = office.desk.attributes.grid
    assert [office.desk.attributes.model.rows[n].name for n in grid.chosen()] == ["extra"]
