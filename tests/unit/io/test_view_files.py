"""Views of a cube as Excel files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import openpyxl
import pytest

from dpdesk.core.jobs import CancelToken
from dpdesk.core.pivot import CubeGrid, pivot_of
from dpdesk.core.query import COVERING_95
from dpdesk.io.view_files import write_view_xlsx
from dpdesk.io.workspace import Workspace


@pytest.mark.parametrize(
    ("interval", "sheet"),
    [(COVERING_95, "Plus-minus 95 %"), ("95 % if made to agree by least squares", "Plus-minus")],
)
def test_a_sheet_promises_95_percent_only_where_they_hold(
    interval: str, sheet: str, tmp_path: Path
) -> None:
    value, half = np.array([0.5312, 0.25, np.nan]), np.array([0.0032, 0.2, np.nan])
    labels = (("f", "m", None),)
    grid = CubeGrid(("sex",), labels, "average", value, half / 2, half, interval=interval)
    path = tmp_path / "view.xlsx"
    workspace = Workspace.open(tmp_path / "home")
    try:
        write_view_xlsx(pivot_of(grid, 1), [("Title", "x")], path, workspace, CancelToken())
    finally:
        workspace.close()
    book = openpyxl.load_workbook(path)
    assert book.sheetnames == ["Values", sheet, "About"]
    cell = book[sheet].cell(2, 2)
    assert (cell.value, cell.number_format) == (0.0032, "#,##0.0000")
