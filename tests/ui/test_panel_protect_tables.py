"""Protected tables in the window: building them by dragging, folding, and stories of cells."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt
from PySide6.QtGui import QDropEvent
from PySide6.QtWidgets import QCheckBox, QComboBox, QLabel, QPushButton
from pytestqt.qtbot import QtBot

from dpdesk.app.types import SetParameters
from dpdesk.core.parameters import Parameter
from dpdesk.core.plain import thaw
from dpdesk.core.schema import Role
from dpdesk.core.tabulation import CellAxis, CellStory, CellTable, Crosstab
from dpdesk.engine.methods.registered import default_registry
from dpdesk.ui.forms.columns import FormContext
from dpdesk.ui.forms.form import Shelf, ShelfField, TableForm
from dpdesk.ui.forms.records import RecordsField
from dpdesk.ui.jobs import JobHub
from dpdesk.ui.panels.protect import ProtectPanel
from dpdesk.ui.panels.protect.pivot import PivotPage
from dpdesk.ui.theme import ThemeManager
from dpdesk.ui.widgets.layouts import FrontStack, least_height
from dpdesk.ui.workbench import Workbench
from tests.helpers.a11y import findings
from tests.helpers.events import settle
from tests.helpers.fits import misfits
from tests.helpers.people_plan import open_plan
from tests.helpers.sitting import shown

pytestmark = pytest.mark.plain

PLAN = """version = 1
[source]
path = "firms.csv"
[attributes.region]
hierarchy = "regions.csv"
[protection]
method = "table"
rows = ["region"]
columns = ["size"]
measure = { sum = "turnover" }
rule = [{ rule = "threshold", n = 3 }, { rule = "p-percent", p = 20 }]
"""


def write_firms(folder: Path) -> Path:
    counts = {"n1": (5, 4), "n2": (4, 1), "s1": (6, 3), "s2": (3, 4)}
    lines = ["region,size,turnover"]
    for region, (small, large) in counts.items():
        lines += [f"{region},small,{10 + n}" for n in range(small)]
        lines += [f"{region},large,{100 + n}" for n in range(large)]
    (folder / "firms.csv").write_text("\n".join(lines) + "\n", "utf-8")
    groups = "n1,North,*\nn2,North,*\ns1,South,*\ns2,South,*\n"
    (folder / "regions.csv").write_text(groups, "utf-8")
    path = folder / "plan.toml"
    path.write_text(PLAN, "utf-8")
    return path


@pytest.fixture
def panel(bench: Workbench, theme: ThemeManager, qtbot: QtBot, tmp_path: Path) -> ProtectPanel:
    """The panel with a table and its protection."""
    with theme.building():
        panel = ProtectPanel(bench, theme)
    made = shown(panel, qtbot)
    open_plan(bench, write_firms(tmp_path), qtbot)
    made.activated()
    qtbot.waitUntil(lambda: not bench.stale and not made.busy)
    return made


def texts(page: PivotPage) -> list[list[str]]:
    model = page.model
    heads = [str(model.headerData(n, Qt.Orientation.Vertical)) for n in range(model.rowCount())]
    return [
        [head.strip(), *(str(model.index(line, n).data()) for n in range(model.columnCount()))]
        for line, head in enumerate(heads)
    ]


@pytest.mark.styled
def test_cells_show_their_status_and_groups_fold(panel: ProtectPanel, qtbot: QtBot) -> None:
    panel.result.deck.show_page("cells-page")
    page = panel.result.cells
    assert [line[0] for line in texts(page)] == [
        "▾ Total", "▾ North", "n1", "n2", "▾ South", "s1", "s2"
    ]  # fmt: skip
    assert page.model.columnCount() == 3
    marked = {line[0]: line[1:] for line in texts(page)}
    assert marked["n2"][1] == "✕ 100"
    assert any(value.startswith("△") for line in texts(page) for value in line)
    place = page.model.index(3, 1)
    words = place.data(Qt.ItemDataRole.AccessibleTextRole)
    assert words == "n2 × large: ✕ 100, unsafe"
    assert place.data(Qt.ItemDataRole.BackgroundRole) is not None
    page.grid.setFocus()
    page.grid.setCurrentIndex(page.model.index(1, 0))
    qtbot.keyClick(page.grid, Qt.Key.Key_Space)
    assert [line[0] for line in texts(page)] == ["▾ Total", "▸ North", "▾ South", "s1", "s2"]
    qtbot.keyClick(page.grid, Qt.Key.Key_Space, Qt.KeyboardModifier.ControlModifier)
    assert page.model.columnCount() == 1
    page.unfold.click()
    assert (page.model.rowCount(), page.model.columnCount()) == (7, 3)
    page.fold.click()
    assert [line[0] for line in texts(page)] == ["▾ Total", "▸ North", "▸ South"]
    page.unfold.click()
    page.as_published.click()
    shown = {line[0]: line[1:] for line in texts(page)}
    assert shown["n2"][1:] == shown["n1"][1:] == ["c", "c"]
    place = page.model.index(3, 1)
    assert place.data(Qt.ItemDataRole.AccessibleTextRole) == "n2 × large: c, suppressed"
    helper = page.model.index(2, 1).data(Qt.ItemDataRole.BackgroundRole)
    assert place.data(Qt.ItemDataRole.BackgroundRole) == helper  # not told apart by colour either
    assert "c suppressed   without a sign: published" in labels(page)
    page.as_published.click()
    assert "✕ unsafe   △ protects others   without a sign: published" in labels(page)
    assert findings(panel) == []


@pytest.mark.styled
def test_labels_of_lines_stand_exactly_beside_their_cells(panel: ProtectPanel) -> None:
    panel.result.deck.show_page("cells-page")
    grid = panel.result.cells.grid
    for header in (grid.verticalHeader(), grid.horizontalHeader()):
        assert header.viewport().pos() == QPoint(0, 0)


def labels(page: PivotPage) -> list[str]:
    """What stands around the table."""
    return [one.text() for one in page.findChildren(QLabel) if one.isVisible()]


@pytest.mark.styled
def test_all_that_is_told_of_a_cell_can_be_read(
    panel: ProtectPanel, theme: ThemeManager, qtbot: QtBot
) -> None:
    """There may be more sentences than lines in the room below the table: they scroll."""
    page = panel.result.cells
    panel.result.deck.show_page("cells-page")
    page.grid.setCurrentIndex(page.model.index(3, 1))
    qtbot.waitUntil(lambda: "everyone would know its value" in page.told)
    for percent in (100, 200):
        theme.set_text_size(percent)

        def whole() -> None:
            panel.grab()
            assert misfits(page) == []

        qtbot.waitUntil(whole)
    assert page.story.verticalScrollBar().maximum() > 0
    assert findings(panel) == []


def told_of(page: PivotPage, line: int, column: int, qtbot: QtBot) -> str:
    page.grid.setCurrentIndex(page.model.index(line, column))
    place = page.model.look.layout  # type: ignore[union-attr]
    assert place is not None
    qtbot.waitUntil(lambda: bool(page.told))
    text = page.told
    page._tell(None)
    return text


def test_a_chosen_cell_tells_why_and_what_it_costs(panel: ProtectPanel, qtbot: QtBot) -> None:
    page = panel.result.cells
    found = texts(page)
    unsafe = told_of(page, 3, 1, qtbot)
    assert "The value is 100, from 1 contributor." in unsafe
    assert "Unsafe: 1 contributor, and the rule requires 3." in unsafe
    assert (
        "Unsafe: it is a single contribution, 100, and the rule requires 20\u00a0% of it." in unsafe
    )
    assert "It must seem possible that it is 80, or 120." in unsafe
    assert "✓ That is as far as required." in unsafe
    line, column = next(
        (n, m)
        for n, row in enumerate(found)
        for m, value in enumerate(row[1:])
        if value.startswith("△")
    )
    helper = told_of(page, line, column, qtbot)
    assert "Suppressed to protect others, at a cost of" in helper
    assert "If it were published, readers would come too close to" in helper
    total = told_of(page, 0, 0, qtbot)
    assert "Published. Suppressing it would cost" in total


def form(qtbot: QtBot, columns: tuple[str, ...] = ("a", "b", "c", "id")) -> TableForm:
    method = default_registry().get("table", "here")
    parameters: tuple[Parameter, ...] = method.parameters
    made = TableForm(parameters)
    qtbot.addWidget(made)
    made.show_columns(FormContext(columns, {"id": Role.IDENTIFIER}))
    made.set_values({"rows": ["a"], "columns": []})
    made.show()
    return made


def shelf(made: TableForm, key: str) -> Shelf:
    field = made.field(key)
    assert isinstance(field, ShelfField)
    return field.shelf


def choose(page: PivotPage, words: str, qtbot: QtBot) -> None:
    """Choose the cell that is called so, and wait for its story."""
    model = page.model
    (place,) = (
        model.index(line, column)
        for line, column in product(range(model.rowCount()), range(model.columnCount()))
        if str(model.index(line, column).data(Qt.ItemDataRole.AccessibleTextRole)).startswith(
            f"{words}: "
        )
    )
    page.grid.setCurrentIndex(place)
    qtbot.waitUntil(lambda: bool(page.told))


def set_by_hand(page: PivotPage, place: int, qtbot: QtBot) -> None:
    """As a person does in the box."""
    page.hand.setFocus()
    page.hand.setCurrentIndex(place)
    page.hand.activated.emit(place)


@pytest.mark.styled
def test_the_status_of_a_cell_is_set_where_it_is_looked_at(
    panel: ProtectPanel, bench: Workbench, qtbot: QtBot
) -> None:
    panel.result.deck.show_page("cells-page")
    page = panel.result.cells
    assert not page.by_hand.isVisible()
    choose(page, "s1 × small", qtbot)
    assert page.hand.isEnabled()
    assert page.hand.currentIndex() == 0
    before = bench.work
    set_by_hand(page, 2, qtbot)
    assert thaw(bench.work.parameters["marks"]) == [["s1", "small", "U"]]
    qtbot.waitUntil(lambda: not bench.stale and not panel.busy and bool(page.told))
    assert page.hand.currentIndex() == 2  # the same cell is on show
    cell = page.grid.currentIndex()
    assert str(cell.data()).startswith("✕")
    set_by_hand(page, 0, qtbot)
    assert bench.work.parameters.get("marks") is None
    bench.undo()
    bench.undo()
    assert bench.work == before
    qtbot.waitUntil(lambda: not bench.stale and not panel.busy)
    assert findings(panel) == []


@pytest.mark.styled
def test_statuses_of_linked_tables_are_set_by_the_name_of_the_table(
    panel: ProtectPanel, bench: Workbench, qtbot: QtBot
) -> None:
    tables = [
        {"name": "by size", "rows": ["region"], "columns": ["size"]},
        {"name": "regions", "rows": ["region"]},
    ]
    gone = {"rows": None, "columns": None, "measure": None}
    rule = [{"rule": "threshold", "n": 3}]
    bench.apply(SetParameters({"tables": tables, "rule": rule, **gone}))
    qtbot.waitUntil(lambda: not bench.stale and not panel.busy)
    panel.result.deck.show_page("cells-page")
    page = panel.result.cells
    page.choice.setCurrentIndex(1)
    assert page.choice.currentText() == "regions"
    choose(page, "n1 × All", qtbot)
    set_by_hand(page, 2, qtbot)
    assert thaw(bench.work.parameters["marks"]) == {"regions": [["n1", "U"]]}
    qtbot.waitUntil(lambda: not bench.stale and not panel.busy and bool(page.told))
    assert page.choice.currentText() == "regions"
    assert page.hand.currentIndex() == 2
    assert str(page.grid.currentIndex().data()).startswith("✕")
    page.choice.setCurrentIndex(0)
    choose(page, "n1 × large", qtbot)
    set_by_hand(page, 3, qtbot)
    marks = thaw(bench.work.parameters["marks"])
    assert marks == {"regions": [["n1", "U"]], "by size": [["n1", "large", "P"]]}
    qtbot.waitUntil(lambda: not bench.stale and not panel.busy)
    assert findings(panel) == []


def test_unsafe_cells_are_changed_where_that_is_chosen(
    bench: Workbench, theme: ThemeManager, qtbot: QtBot, tmp_path: Path
) -> None:
    """The table shows true values with their marks until it is shown as published."""
    with theme.building():
        panel = ProtectPanel(bench, theme)
    made = shown(panel, qtbot)
    path = write_firms(tmp_path)
    path.write_text(PLAN + 'protect = "adjust"\n', "utf-8")
    open_plan(bench, path, qtbot)
    made.activated()
    qtbot.waitUntil(lambda: not bench.stale and not made.busy)
    assert made.settings.form is not None
    assert made.settings.form.values()["protect"] == "adjust"
    made.result.deck.show_page("cells-page")
    page = made.result.cells
    true = {line[0]: line[1:] for line in texts(page)}
    page.as_published.click()
    published = {line[0]: line[1:] for line in texts(page)}
    assert true["n2"][1] == "✕ 100"
    assert abs(int(published["n2"][1]) - 100) >= 20
    assert f"It is published as {published['n2'][1]}." in told_of(page, 3, 1, qtbot)


def test_new_tables_reckon_with_readers_who_see_that_cells_are_not_empty(
    bench: Workbench, theme: ThemeManager, qtbot: QtBot, tmp_path: Path
) -> None:
    """The form shows it as a setting; a plan without it keeps its meaning, and is told of it."""
    with theme.building():
        panel = ProtectPanel(bench, theme)
    made = shown(panel, qtbot)
    (tmp_path / "sizes.csv").write_text("size\n" + "a\nb\nc\n" + "d\n" * 9, "utf-8")
    rule = 'rule = [{ rule = "threshold", n = 3 }]\n'
    path = tmp_path / "plan.toml"
    path.write_text(
        'version = 1\n[source]\npath = "sizes.csv"\n'
        f'[protection]\nmethod = "table"\nrows = ["size"]\n{rule}',
        "utf-8",
    )
    open_plan(bench, path, qtbot)
    made.activated()
    qtbot.waitUntil(lambda: not bench.stale and not made.busy)
    told = made.result._note_text.text()
    assert "3 unsafe cells can be computed exactly" in told
    assert "“That no suppressed cell is empty” under “What everyone knows of a cell”" in told
    assert "attacker" not in bench.work.parameters

    bench.choose_method(next(method for method in bench.methods if method.id == "table"))

    assert thaw(bench.work.parameters["attacker"]) == {"lower": 0, "present": True}
    assert made.settings.form is not None
    assert made.settings.form.values()["attacker"] == {"lower": 0, "present": True}
    known = made.settings.form.field("attacker")
    assert isinstance(known, RecordsField)
    mark = known.lines[0].fields["present"].control
    assert isinstance(mark, QCheckBox)
    assert mark.isChecked()
    assert mark.text() == "That no suppressed cell is empty"


def test_columns_move_between_shelves_by_keys(qtbot: QtBot) -> None:
    made = form(qtbot)
    assert made.rest.names == ["b", "c"]
    heard: list[Mapping[str, object]] = []
    made.valuesChanged.connect(heard.append)
    made.rest.setCurrentRow(1)
    qtbot.keyClick(made.rest, Qt.Key.Key_C)
    assert (heard[-1]["rows"], heard[-1]["columns"]) == (["a"], ["c"])
    made.rest.setCurrentRow(0)
    qtbot.keyClick(made.rest, Qt.Key.Key_R)
    assert shelf(made, "rows").names == ["a", "b"]
    shelf(made, "rows").setCurrentRow(1)
    qtbot.keyClick(shelf(made, "rows"), Qt.Key.Key_Up, Qt.KeyboardModifier.AltModifier)
    assert heard[-1]["rows"] == ["b", "a"]
    shelf(made, "rows").setCurrentRow(0)
    qtbot.keyClick(shelf(made, "rows"), Qt.Key.Key_C)
    assert (heard[-1]["rows"], heard[-1]["columns"]) == (["a"], ["c", "b"])
    shelf(made, "columns").setCurrentRow(0)
    qtbot.keyClick(shelf(made, "columns"), Qt.Key.Key_Delete)
    assert made.rest.names == ["c"]
    assert len(heard) == 5


class _Drop(QDropEvent):
    """A drop from a shelf: Qt knows the source of real ones."""

    def __init__(self, source: Shelf, place: QPoint) -> None:
        self.data = QMimeData()
        super().__init__(
            QPointF(place),
            Qt.DropAction.CopyAction,
            self.data,
            Qt.MouseButton.LeftButton,
            Qt.KeyboardModifier.NoModifier,
        )
        self._source = source

    def source(self) -> Shelf:
        return self._source


def test_a_column_that_is_dropped_leaves_the_shelf_that_it_came_from(qtbot: QtBot) -> None:
    made = form(qtbot)
    made.rest.setCurrentRow(0)
    target = shelf(made, "rows")
    target.dropEvent(_Drop(made.rest, target.visualItemRect(target.item(0)).center()))
    assert made.values()["rows"] == ["b", "a"]
    assert made.rest.names == ["c"]
    target.setCurrentRow(1)
    made.rest.dropEvent(_Drop(target, QPoint(1, 1)))
    assert (target.names, made.rest.names) == (["b"], ["a", "c"])


class _Long:
    """A table of many lines, of which only cells in sight may be asked for."""

    def __init__(self, lines: int) -> None:
        labels = (*(f"r{n}" for n in range(lines)), "Total")
        axes = (
            CellAxis("row", labels, (*[lines] * lines, -1)),
            CellAxis("head", ("x", "y", "Total"), (2, 2, -1)),
        )
        cells = len(labels) * 3
        inside = {"value": ("1",) * cells, "status": ("F",) * cells}
        self.table = CellTable("", "table.csv", axes, ("1",) * cells, ("F",) * cells, inside)
        self.layout = Crosstab.of(axes, {"head"})

    def story(self, cell: int, token: object) -> CellStory:
        return CellStory(str(cell), ("One.",))


@pytest.mark.parametrize(
    ("value", "shown", "whole"),
    [
        ("9792075.108643934", "9,792,075.11", "9,792,075.108643934"),
        ("-0.0000123456", "-0.000012346", "-0.0000123456"),
        ("3.14159", "3.1416", "3.14159"),
        ("12.5", "12.5", "12.5"),
        ("120000000000000000001", "120,000,000,000,000,000,001", "120,000,000,000,000,000,001"),
        ("", "", ""),
    ],
)
def test_long_decimals_are_rounded_for_the_eye_and_copied_whole(
    theme: ThemeManager, hub: JobHub, qtbot: QtBot, value: str, shown: str, whole: str
) -> None:
    page = PivotPage(theme, hub)
    qtbot.addWidget(page)
    look = _Long(5)
    look.table = replace(look.table, internal={**look.table.internal, "value": (value,) * 50})
    page.show_tables([look])
    place = page.model.index(0, 0)
    assert str(place.data()) == shown
    assert str(place.data(Qt.ItemDataRole.EditRole)) == whole
    assert whole in place.data(Qt.ItemDataRole.ToolTipRole)


def test_a_category_without_text_has_words(theme: ThemeManager, hub: JobHub, qtbot: QtBot) -> None:
    page = PivotPage(theme, hub)
    qtbot.addWidget(page)
    look = _Long(5)
    axes = tuple(replace(axis, labels=("", *axis.labels[1:])) for axis in look.table.axes)
    look.table, look.layout = replace(look.table, axes=axes), Crosstab.of(axes, {"head"})
    page.show_tables([look])
    heads = [str(page.model.headerData(n, way)) for way in Qt.Orientation for n in range(3)]
    assert sum("(empty)" in head for head in heads) == 2
    assert "All" not in heads


@pytest.mark.styled
def test_a_long_table_asks_for_the_cells_in_sight_alone(
    theme: ThemeManager, hub: JobHub, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = PivotPage(theme, hub)
    qtbot.addWidget(page)
    page.resize(700, 500)
    page.show_tables([_Long(5_000)])
    asked: set[int] = set()
    usual = page.model._text

    def text(cell: int, status: str, *, whole: bool) -> str:
        asked.add(cell)
        return usual(cell, status, whole=whole)

    monkeypatch.setattr(page.model, "_text", text)
    page.show()
    qtbot.waitExposed(page)
    page.grid.scrollToBottom()
    page.grid.viewport().grab()
    assert asked
    assert len(asked) < 400
    assert page.grid.findChildren(type(page.choice)) == []


def test_a_first_table_is_searched_once_its_dimensions_are_named(
    bench: Workbench, theme: ThemeManager, qtbot: QtBot, tmp_path: Path
) -> None:
    with theme.building():
        panel = ProtectPanel(bench, theme)
    made = shown(panel, qtbot)
    write_firms(tmp_path)
    bench.open_path(tmp_path / "firms.csv")
    qtbot.waitUntil(lambda: bench.profile is not None and not made.busy)
    bench.choose_method(next(one for one in bench.methods if one.id == "table"))
    made.activated()
    qtbot.waitUntil(lambda: bench.explore_problem is not None and not made.busy)
    assert "base" not in bench.work.parameters  # nothing is rounded yet
    bench.apply(SetParameters({"rows": ("region",)}))
    bench.apply(SetParameters({"columns": ("size",)}))
    qtbot.waitUntil(lambda: not bench.stale and not made.busy)
    assert bench.explore_problem is None
    assert not made.result.band.text
    assert made.result.sentence.startswith("△ No rule says which of 15 cells are unsafe")


def test_a_measure_without_its_column_stays_while_other_settings_change(
    panel: ProtectPanel, bench: Workbench, qtbot: QtBot
) -> None:
    """What is not finished is not in the plan, and no other edit takes it back."""
    form = panel.settings.form
    assert isinstance(form, TableForm)
    measure, rules = form.field("measure"), form.field("rule")
    assert isinstance(measure, RecordsField)
    assert isinstance(rules, RecordsField)
    (line,) = measure.lines
    line.kind.setCurrentText("Number of rows")
    qtbot.waitUntil(lambda: bench.work.parameters.get("measure") == "count" and not panel.busy)
    line.kind.setCurrentText("Mean of a column")
    rules.lines[1].remove.click()
    qtbot.waitUntil(lambda: len(bench.work.parameters["rule"]) == 1 and not panel.busy)
    assert line.kind.currentText() == "Mean of a column"
    bench.undo()
    qtbot.waitUntil(lambda: len(rules.lines) == 2 and not panel.busy)
    assert line.kind.currentText() == "Mean of a column"
    column = line.fields["mean"].control
    assert isinstance(column, QComboBox)
    column.setCurrentText("turnover")
    qtbot.waitUntil(lambda: "mean" in thaw(bench.work.parameters["measure"]))


def test_a_search_that_failed_is_settled_by_settings_that_were_searched(
    panel: ProtectPanel, bench: Workbench, qtbot: QtBot
) -> None:
    """Cell keys change no sums; what is chosen next is shown, and not the refusal."""
    form = panel.settings.form
    assert isinstance(form, TableForm)
    protect = form.field("protect").control
    assert isinstance(protect, QComboBox)
    first = panel.result.sentence
    protect.setCurrentText("Change counts by cell keys")
    qtbot.waitUntil(lambda: "cell keys" in panel.result.band.text and not panel.busy)
    assert not panel.result.sentence
    protect.setCurrentText("Leave the table as it is")
    qtbot.waitUntil(lambda: panel.result.sentence.startswith("△ Of 21 cells"))
    assert not panel.result.band.text
    protect.setCurrentText("Suppress cells")
    qtbot.waitUntil(lambda: panel.result.sentence == first)


RATIOS = """version = 1
[source]
path = "firms.csv"
[protection]
method = "table"
marks = { staff = [["s2", "small", "U"], ["s2", "small", "SPL", "4"]] }
sliding = 0.5
rule = [{ rule = "threshold", n = 3 }]
[[protection.tables]]
name = "turnover"
rows = ["region"]
columns = ["size"]
measure = { sum = "turnover" }
[[protection.tables]]
name = "staff"
rows = ["region"]
columns = ["size"]
measure = { sum = "staff" }
[[protection.tables]]
name = "per head"
rows = ["region"]
columns = ["size"]
measure = { ratio = "turnover", by = "staff", decimals = 1 }
"""


@pytest.mark.styled
def test_ratios_stand_next_to_their_sums_and_tell_why_they_are_suppressed(
    bench: Workbench, theme: ThemeManager, qtbot: QtBot, tmp_path: Path
) -> None:
    with theme.building():
        panel = ProtectPanel(bench, theme)
    made = shown(panel, qtbot)
    write_firms(tmp_path)
    lines = (tmp_path / "firms.csv").read_text("utf-8").splitlines()
    rows = [f"{line},{1 + n % 3}" for n, line in enumerate(lines[1:])]
    (tmp_path / "firms.csv").write_text("\n".join([f"{lines[0]},staff", *rows, ""]), "utf-8")
    path = tmp_path / "plan.toml"
    path.write_text(RATIOS, "utf-8")
    open_plan(bench, path, qtbot)
    made.activated()
    qtbot.waitUntil(lambda: not bench.stale and not made.busy)
    made.result.deck.show_page("cells-page")
    page = made.result.cells
    assert [page.choice.itemText(n) for n in range(page.choice.count())] == [
        "turnover",
        "staff",
        "per head",
    ]
    page.choice.setCurrentIndex(1)
    page.choice.activated.emit(1)
    at = [line[0] for line in texts(page)].index("s2")
    assert "What it could be must span at least 4, wherever that lies." in told_of(
        page, at, 2, qtbot
    )
    page.choice.setCurrentIndex(2)
    page.choice.activated.emit(2)
    told = told_of(page, at, 2, qtbot)
    assert "Suppressed, because the cell is suppressed in" in told
    assert "readers can tell that it is at least" in told
    total = told_of(page, 0, 0, qtbot)
    assert "Published, as in “turnover” and “staff”: everyone who has both can compute it." in total
    form = made.settings.form
    assert form is not None
    assert form.values()["sliding"] == 0.5
    if folder := os.environ.get("DPDESK_SHOTS"):
        panel.resize(1280, 800)
        panel.grab().save(f"{folder}/ratios.png")
    assert findings(panel) == []


@pytest.mark.styled
def test_the_line_above_a_table_may_wrap_and_covers_nothing(
    hub: JobHub, theme: ThemeManager, qtbot: QtBot
) -> None:
    """The page asks for as many lines as its buttons take at its width."""
    page = PivotPage(theme, hub)
    stack = FrontStack()
    stack.addWidget(page)
    shown(stack, qtbot)
    stack.resize(1200, 700)
    whole = page.minimumSizeHint().height()
    stack.resize(page.minimumSizeHint().width(), 700)
    settle()
    assert page.minimumSizeHint().height() > whole
    assert stack.minimumSizeHint().height() >= least_height(page, page.width())
    stack.resize(stack.width(), stack.minimumSizeHint().height())
    assert misfits(page) == []


def test_where_no_rounding_exists_the_nearest_base_is_a_button_away(
    bench: Workbench, theme: ThemeManager, qtbot: QtBot, tmp_path: Path
) -> None:
    counts = (0, 1, 1, 0, 0, 1, 0, 1, 0, 1, 1, 1, 1, 1, 0, 1)
    cells = zip(product("pq", "rstu", "vw"), counts, strict=True)
    lines = ["region,age,sex", *(",".join(cell) for cell, count in cells if count)]
    (tmp_path / "people.csv").write_text("\n".join(lines) + "\n", "utf-8")
    path = tmp_path / "plan.toml"
    path.write_text(
        'version = 1\n[source]\npath = "people.csv"\n[protection]\nmethod = "table"\n'
        'rows = ["region", "age"]\ncolumns = ["sex"]\nprotect = "controlled-round"\nbase = 2\n',
        "utf-8",
    )
    with theme.building():
        panel = ProtectPanel(bench, theme)
    made = shown(panel, qtbot)
    open_plan(bench, path, qtbot)
    made.activated()
    qtbot.waitUntil(lambda: not bench.stale and not made.busy)
    (way,) = (one for one in made.result.band.findChildren(QPushButton) if one.isVisible())
    assert way.text() == "Round to multiples of 3"

    way.click()

    qtbot.waitUntil(lambda: not bench.stale and not made.busy)
    assert bench.work.parameters["base"] == 3
    told = "No rule says which of 45 cells are unsafe; all are rounded to multiples of 3."
    assert told in made.result._sentence.text()
