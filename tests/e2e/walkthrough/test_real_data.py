"""Real files, released from the window as somebody would who sees it for the first time."""

from __future__ import annotations

import csv
import shutil
from collections import Counter
from pathlib import Path

import pytest
from PySide6.QtCore import Qt

from tests.helpers.person import Person

CTRL = Qt.KeyboardModifier.ControlModifier
COLUMNS = "Columns and their roles"
LOCAL = "Whole columns generalised, single cells suppressed"


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "quasi"),
    [
        ("nist/national2019.csv", ("AGEP", "SEX", "RAC1P", "MSP", "EDU", "PUMA")),
        ("eusilc/eusilcS.csv", ("age", "rb090", "db040", "pb220a", "hsize")),
        ("sdcmicro/testdata.csv", ("sex", "age", "urbrur", "water", "roof", "relat")),
    ],
)
def test_a_newcomer_releases_real_data_and_wipes_no_column(
    person: Person, real_data: Path, tmp_path: Path, name: str, quasi: tuple[str, ...]
) -> None:
    table = tmp_path / Path(name).name
    shutil.copy(real_data / name, table)
    person.asker.answer = table
    person.click("Open a file…")
    person.settled(lambda: person.desk.workbench.profile is not None)
    person.shoot("data")
    person.click("Next: attributes")
    for column in quasi:
        person.pick(COLUMNS, column)
        person.press_in(COLUMNS, Qt.Key.Key_Q)
    person.settled()
    person.shoot("attributes")
    person.go(3)
    person.click("Suggest for all that have none")
    person.settled()
    person.shoot("hierarchies")
    person.go(4)
    person.settled(lambda: person.desk.workbench.explored is not None)
    person.choose("Model", LOCAL)
    person.reads("(100 %) are kept in")
    person.shoot("protect")
    person.go(6)
    out = tmp_path / "release"
    person.type("Folder of the release", str(out))
    person.settled()
    person.click("Write the release")
    person.settled(lambda: person.desk.workbench.release is not None)
    person.reads("none failed")
    person.shoot("released")
    _keeps_its_promise(out, quasi)


def _keeps_its_promise(out: Path, quasi: tuple[str, ...]) -> None:
    with (out / "public" / "microdata.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    classes = Counter(tuple(row[name] for name in quasi) for row in rows)
    assert rows
    assert all(len({row[name] for row in rows} - {"*"}) > 1 for name in quasi)
    assert min(classes.values()) >= 5
