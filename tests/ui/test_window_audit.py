"""What is done in the window stands in the audit log: opened, ran, viewed, decided, exported."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from dpdesk.app.types import AppContext
from dpdesk.project.audit import FILE, AuditEntry, AuditLog
from dpdesk.ui.charts.view import ChartView
from dpdesk.ui.jobs import JobHub
from dpdesk.ui.theme import ThemeManager
from tests.helpers.releases import SOURCE, write_source
from tests.helpers.sitting import Sitting

pytestmark = pytest.mark.plain


class Office(Sitting):
    """A desk with the plan open, and a person at it."""

    def entries(self) -> list[AuditEntry]:
        with AuditLog.open_home(self.context.home) as log:
            assert log.verify().ok
            return list(log.entries())

    def deeds(self) -> list[tuple[str, str]]:
        return [(entry.action, entry.subject) for entry in self.entries()]


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    return write_source(tmp_path / "work")


@pytest.fixture
def office(
    qtbot: QtBot, tmp_path: Path, hub: JobHub, theme: ThemeManager, plan: Path
) -> Iterator[Office]:
    with AppContext.open(tmp_path / "home") as context:
        made = Office(qtbot, context, hub, theme)
        made.open(plan)
        yield made
        made.end()


def test_opening_data_is_entered_with_the_hash_of_its_content(office: Office, plan: Path) -> None:
    (opened,) = office.entries()
    assert office.bench.data is not None
    assert (opened.action, opened.subject) == ("opened", str(plan.parent / SOURCE))
    assert opened.facts == {"sha256": office.bench.data.sha256}


def test_running_releasing_viewing_and_exporting_are_entered(
    office: Office, plan: Path, tmp_path: Path
) -> None:
    out, table = tmp_path / "out", tmp_path / "people.csv"
    office.bench.keep_candidate("first")
    office.quiet(lambda: len(office.bench.candidates) == 1)
    office.bench.write_release(out)
    office.quiet(lambda: office.bench.release is not None)
    office.bench.export("csv", table)
    office.quiet(table.exists)
    office.desk.open_text(str(out))
    office.quiet()
    assert office.deeds()[1:] == [
        ("ran", str(plan.parent / SOURCE)),
        ("ran", plan.name),
        ("released", str(out)),
        ("viewed", str(out)),
        ("exported", str(out)),
        ("exported", str(out)),  # what was written, by its hash
        ("viewed", str(out)),
    ]


def test_a_project_is_entered_when_it_is_opened(office: Office, tmp_path: Path) -> None:
    office.asker.answer = tmp_path / "study.dpdesk"
    office.desk.projects.ask_new()
    office.quiet(lambda: office.desk.projects.keeper.path is not None)
    office.desk.projects.close()
    office.quiet(lambda: office.desk.projects.keeper.path is None)
    office.desk.open_text(str(tmp_path / "study.dpdesk"))
    office.quiet(lambda: office.desk.projects.keeper.path is not None)
    assert ("opened", str(tmp_path / "study.dpdesk")) in office.deeds()


def test_saved_charts_and_hierarchies_are_exports(office: Office, tmp_path: Path) -> None:
    office.window.show_panel("protect")
    office.quiet(lambda: bool(office.desk.protect.findChildren(ChartView)))
    chart = next(
        one for one in office.desk.protect.findChildren(ChartView) if one.chart is not None
    )
    chart.save_as(tmp_path / "risk.csv")
    office.quiet()
    office.window.show_panel("hierarchies")
    office.quiet(lambda: office.desk.hierarchies.look is not None)
    office.desk.hierarchies.export_to(tmp_path / "towns.csv")
    office.quiet((tmp_path / "towns.csv").exists)
    exports = [(e.subject, e.facts["what"]) for e in office.entries() if e.action == "exported"]
    assert exports == [
        (str(tmp_path / "risk.csv"), "chart"),
        (str(tmp_path / "towns.csv"), "hierarchy"),
    ]


def test_without_an_entry_nothing_is_released_or_exported(office: Office, tmp_path: Path) -> None:
    (office.context.home / FILE).write_bytes(b"no log")
    office.bench.write_release(tmp_path / "out")
    office.quiet()
    assert not (tmp_path / "out").exists()
    office.window.show_panel("hierarchies")
    office.quiet(lambda: office.desk.hierarchies.look is not None)
    office.desk.hierarchies.export_to(tmp_path / "towns.csv")
    office.quiet()
    assert not (tmp_path / "towns.csv").exists()
