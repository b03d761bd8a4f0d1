"""Tables of protected cells are read strictly: one way to write each number."""

from __future__ import annotations

from pathlib import Path

import pytest

from dpdesk.core.jobs import CancelToken
from dpdesk.core.tabulation import INTERNAL_COLUMNS, CellAxis, CellTable
from dpdesk.io.csvgrammar import UnreadableTableError
from dpdesk.io.table_files import read_table, write_table

AXES = (CellAxis("region", ("north", "south", "Total"), (2, 2, -1)),)


SHORTEST = ["0", "7", "-7", "12.5", "-0.25", "1e+16", "12345678901234567890", ""]
OTHERS = ["7 ", " 7", "+7", "07", "7.", ".5", "12.50", "7e0", "1_000", "\u0667", "\uff17", "-0"]
NONE = ["-0.0", "nan", "inf", "1/2", "0x7", "seven", "1e5"]


def read_back(folder: Path, value: str, *, internal: bool) -> CellTable:
    """A table in which one cell has this text, written and read."""
    values, status = ("11", value, ""), ("F", "F", "N")
    inside = dict.fromkeys(INTERNAL_COLUMNS, ("0", value, "5")) | {"status": status}
    table = CellTable("", "table.csv", AXES, values, status, inside)
    path, token = folder / table.file, CancelToken()
    write_table(table, path, token, internal=internal)
    return read_table("", path, table.file, AXES, token, internal=internal)


@pytest.mark.parametrize("internal", [False, True])
@pytest.mark.parametrize("value", SHORTEST)
def test_a_number_in_its_shortest_form_is_read(tmp_path: Path, value: str, internal: bool) -> None:
    assert read_back(tmp_path, value, internal=internal).values[1] == value


@pytest.mark.parametrize("internal", [False, True])
@pytest.mark.parametrize("value", [*OTHERS, *NONE])
def test_any_other_form_of_a_number_is_refused_with_its_row(
    tmp_path: Path, value: str, internal: bool
) -> None:
    """Python reads most of these as a number; a spreadsheet may read another, or a text."""
    with pytest.raises(UnreadableTableError, match="row 3"):
        read_back(tmp_path, value, internal=internal)
