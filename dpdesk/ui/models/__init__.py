"""Models for tables.

``TableModel``       rows of any number over a :class:`RowSource`, fetched page by page in jobs
``CellModel``        what the models of tables have in common
``ListModel``        a small table held whole: headings and rows of plain values
``DataGrid``         a table view with fixed row heights that never asks for all rows
``format_cell``      the one place where a value becomes text
"""

from dpdesk.ui.models.table import (
    PLACEHOLDER,
    CellModel,
    DataGrid,
    ListModel,
    RowSource,
    TableModel,
    Written,
    alignment,
    format_cell,
)

__all__ = [
    "PLACEHOLDER",
    "CellModel",
    "DataGrid",
    "ListModel",
    "RowSource",
    "TableModel",
    "Written",
    "alignment",
    "format_cell",
]
