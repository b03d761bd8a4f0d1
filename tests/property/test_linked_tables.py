"""Linked tables and tables of ratios against readers who try everything."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dpdesk.app.context import AppContext
from dpdesk.app.planning import PlacedPlan, prepare_cells
from dpdesk.core.errors import RefusedError
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.core.tabulation import INTERVAL, IS_EXACT, IS_LEAST
from dpdesk.engine.method import CellsOutcome
from dpdesk.engine.methods.table.method import ProtectedTables
from dpdesk.engine.tables import audit, suppression
from dpdesk.io.planfile import read_plan
from tests.helpers.searching import examples
from tests.reference.table_attackers import Cell, Reader, cells_of

TOKEN = CancelToken()
SLOW = settings(
    max_examples=examples(60),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
PATHS = {"r": {"a": ("A",), "b": ("A",), "c": ("B",), "d": ("B",)}}
TABLES = (
    (("r",), ("q",)),
    (("r", "s"), ()),
    (("q",), ("s",)),
    (("r", "s"), ("q",)),
)
AMOUNTS = {"count": "", "sum": "x", "weighted": "x", "other": "y"}
MEASURES = {
    "count": '"count"',
    "sum": '{ sum = "x" }',
    "weighted": '{ sum = "x", weight = "w" }',
    "other": '{ sum = "y" }',
}


@pytest.fixture(scope="module")
def context(module_home: Path) -> Iterator[AppContext]:
    with AppContext.open(module_home) as opened:
        yield opened


@dataclass(frozen=True)
class Case:
    """Rows, and a plan of some tables of them."""

    rows: list[dict[str, str]]
    grouped: bool
    named: bool
    """Contributors are told apart by a column, so that one may have several rows."""
    tables: list[tuple[str, tuple[str, ...], tuple[str, ...], str]]
    """Name, rows, columns and measure."""
    ratio: tuple[str, str, int] | None
    lower: float
    upper: float | None
    present: bool
    singletons: bool
    sliding: float
    secondary: str
    large: bool
    largest_part: int

    @classmethod
    def drawn(cls, seed: int) -> Case:
        draw = random.Random(seed)
        signed = draw.random() < 0.15
        decided = draw.choice(["", "a", "ab", "abcd"])
        rows = []
        for _ in range(draw.randrange(5, 26)):
            r, q, s = draw.choice("abcd"), draw.choice("xyz"), draw.choice("12")
            x = draw.randrange(-9 if signed else 0, 30)
            rows.append(
                {"r": r, "q": "x" if r in decided else q, "s": s, "x": str(x)}
                | {"y": str(draw.randrange(1, 9)), "w": draw.choice("123")}
                | {"h": str(draw.randrange(9))}
            )
        kinds = draw.choice(["one", "several", "several", "measures", "ratio", "ratio"])
        asked = draw.sample(TABLES, 1 if kinds in ("one", "ratio") else draw.choice([2, 2, 3]))
        kind = draw.choice(["count", "sum", "weighted"])
        tables = [(f"t{n}", *one, kind) for n, one in enumerate(asked)]
        ratio = None
        if kinds == "measures":
            tables = [(*one[:3], draw.choice(["count", kind])) for one in tables]
        if kinds == "ratio":
            tables = [*tables, ("u0", *asked[0], "other")]
            ratio = "t0", "u0", draw.randrange(4)
            if draw.random() < 0.5:
                tables.append(("t1", *draw.choice(TABLES), draw.choice([kind, "other"])))
        return cls(
            rows,
            draw.random() < 0.5,
            draw.random() < 0.3,
            tables,
            ratio,
            draw.choice([0, 0, 0.5]),
            draw.choice([None, None, 2.0]),
            draw.random() < 0.4,
            draw.random() < 0.6,
            draw.choice([0, 0, 0.7]),
            draw.choice(["optimal", "optimal", "hitas", "heuristic"]),
            draw.random() < 0.3,
            draw.choice([1, 3, 8]),
        )

    def plan(self, folder: Path) -> Path:
        """The plan as a file, with its rows next to it."""
        names = list(self.rows[0])
        lines = [",".join(names), *(",".join(row[name] for name in names) for row in self.rows)]
        (folder / "in.csv").write_text("\n".join(lines) + "\n", "utf-8")
        path = folder / "plan.toml"
        tree = "".join(f"{leaf},{up[0]},*\n" for leaf, up in PATHS["r"].items())
        (folder / "h.csv").write_text(tree, "utf-8")
        held = "" if self.upper is None else f", upper = {self.upper}"
        held += ", present = true" if self.present else ""
        text = (
            'version = 1\n[source]\npath = "in.csv"\n'
            + ('[attributes.h]\nrole = "cluster"\n' if self.named else "")
            + ('[attributes.r]\nhierarchy = "h.csv"\n' if self.grouped else "")
            + f'[protection]\nmethod = "table"\nattacker = {{ lower = {self.lower}{held} }}\n'
            f"singletons = {str(self.singletons).lower()}\nsliding = {self.sliding}\n"
            f'secondary = "{self.secondary}"\n'
            'rule = [{ rule = "threshold", n = 3, range = 0.4 }, { rule = "p-percent", p = 15 }]\n'
        )
        for name, rows, columns, measure in self.tables:
            sides = f"rows = {list(rows)}\ncolumns = {list(columns)}\n".replace("'", '"')
            text += (
                f'[[protection.tables]]\nname = "{name}"\n{sides}measure = {MEASURES[measure]}\n'
            )
        if self.ratio is not None:
            above, below, decimals = self.ratio
            sides = text[text.rindex(f'name = "{above}"') :].split("\n")[1:3]
            text += '[[protection.tables]]\nname = "ratio"\n' + "\n".join(sides)
            text += f'\nmeasure = {{ ratio = "{above}", by = "{below}", decimals = {decimals} }}\n'
        path.write_text(text, "utf-8")
        return path

    def cells(self, found: CellsOutcome) -> list[Cell]:
        """All cells of the tables of sums, with what the files say of them."""
        names = sorted({name for _, rows, columns, _ in self.tables for name in (*rows, *columns)})
        kinds = [tuple(row[name] for name in names) for row in self.rows]
        who = [row["h"] if self.named else str(n) for n, row in enumerate(self.rows)]
        cells: list[Cell] = []
        files = {table.name: table for table in found.tables}
        for name, _, _, measure in self.tables:
            column = AMOUNTS[measure]
            amounts = [float(row[column]) if column else 1.0 for row in self.rows]
            if measure == "weighted":
                amounts = [x * float(row["w"]) for x, row in zip(amounts, self.rows, strict=True)]
            table = files[name]
            axes = [(axis.name, axis.labels) for axis in table.axes]
            paths = PATHS if self.grouped else {}
            made = cells_of(name, measure, axes, paths, self.rows, amounts, who, kinds)
            for place, cell in enumerate(made):
                cell.shown = bool(table.values[place])
                cell.inside = {key: texts[place] for key, texts in table.internal.items()}
                assert cell.value == pytest.approx(float(cell.inside["value"]))
            cells += made
        return cells


def decided(context: AppContext, case: Case, folder: Path) -> CellsOutcome | None:
    path = case.plan(folder)
    with pytest.MonkeyPatch.context() as patch:
        if case.large:
            for limit in ("LARGE", "LARGEST_PROVEN"):
                patch.setattr(suppression, limit, 0)
            patch.setattr(audit, "LARGEST_PART", case.largest_part)
        with prepare_cells(
            context, PlacedPlan(read_plan(path), folder, path.name), TOKEN, silent
        ) as ready:
            try:
                return ProtectedTables().decide(ready.given, TOKEN, silent)
            except RefusedError:
                return None


def published_ratios(
    case: Case, found: CellsOutcome, cells: Sequence[Cell]
) -> list[tuple[int, int, float, float]]:
    if case.ratio is None:
        return []
    above, below, decimals = case.ratio
    place = {(cell.table, cell.place): number for number, cell in enumerate(cells)}
    table = next(one for one in found.tables if one.name == "ratio")
    places = product(*(axis.labels for axis in table.axes))
    return [
        (place[above, each], place[below, each], float(text), 0.5 * 10.0**-decimals)
        for each, text in zip(places, table.values, strict=True)
        if text
    ]


def near(stated: str, end: float, scale: float) -> bool:
    found = float(stated) if stated else np.copysign(np.inf, end)
    return found == end or abs(found - end) <= 1e-5 * max(1.0, scale, abs(end))


@SLOW
@given(st.integers(0, 10**9))
def test_intervals_and_protection_are_those_that_any_reader_finds(
    context: AppContext, tmp_path: Path, seed: int
) -> None:
    """Exact intervals are exact, others reach at least so far; every unsafe cell is protected from
    everyone and from each contributor who is alone in a cell.
    """
    case = Case.drawn(seed)
    found = decided(context, case, tmp_path)
    if found is None:
        return
    cells = case.cells(found)
    ratios = published_ratios(case, found, cells)
    reader = Reader(cells, case.lower, case.upper or np.inf, ratios=ratios)
    for place, cell in enumerate(cells):
        if cell.shown:
            assert not cell.unsafe
            continue
        least, most = reader.interval(place)
        size = max(abs(each.value) for each in cells)
        stated = [cell.inside[end] for end in ("lower", "upper")]
        if cell.inside.get(INTERVAL, IS_EXACT) == IS_EXACT:
            assert near(stated[0], least, size), cell
            assert near(stated[1], most, size), cell
        else:
            assert cell.inside[INTERVAL] == IS_LEAST
            slack = 1e-6 * max(1.0, size)
            assert float(stated[0] or "-inf") >= least - slack
            assert float(stated[1] or "inf") <= most + slack
        if cell.unsafe:
            assert_protected(reader, place)
    assert_alone(case, cells)


def needs(cell: Cell) -> tuple[float, float, float]:
    """How far it must be able to go down and up, and how wide its interval must be."""
    return (
        cell.number("lower_required"),
        cell.number("upper_required"),
        cell.number("width_required"),
    )


def reach(reader: Reader, place: int, *, whole: bool = False) -> tuple[float, float]:
    """How far a cell can go down and up."""
    least, most = (reader.whole if whole else reader.interval)(place)
    value = reader.cells[place].value
    return value - least, most - value


def assert_protected(reader: Reader, place: int) -> None:
    down, up = reach(reader, place)
    lower, upper, wide = needs(reader.cells[place])
    slack = 1e-5 * max(1.0, abs(reader.cells[place].value))
    assert down >= lower - slack
    assert up >= upper - slack
    assert down + up >= wide - slack


def assert_alone(case: Case, cells: list[Cell]) -> None:
    """No contributor who is alone in cells comes closer than without any table."""
    alone: dict[frozenset[str], set[int]] = {}
    for place, cell in enumerate(cells):
        if case.singletons and len(cell.who) == 1:
            alone.setdefault(cell.who, set()).add(place)
    people = [(who, frozenset(known)) for who, known in alone.items()]
    people += [(frozenset(), frozenset[int]())] if case.present else []
    for who, known in people:
        view = Reader(cells, case.lower, case.upper or np.inf, case.present, knows=known)
        before = replace(view, tables=False)
        for place, cell in enumerate(cells):
            if cell.unsafe and cell.who != who:
                assert_as_before(view, before, place)


def assert_as_before(view: Reader, before: Reader, place: int) -> None:
    ends = reach(view, place)
    lower, upper, wide = needs(view.cells[place])
    slack = 1e-5 * max(1.0, abs(view.cells[place].value))
    short = ends[0] < lower - slack or ends[1] < upper - slack or sum(ends) < wide - slack
    if short:
        most = reach(before, place)
        assert ends[0] >= min(lower, most[0]) - slack
        assert ends[1] >= min(upper, most[1]) - slack
        assert sum(ends) >= min(wide, sum(min(each, wide) for each in most)) - slack


def variables(cells: Sequence[Cell]) -> dict[object, int]:
    """The unsafe cells, each once, by where it is first."""
    found: dict[object, int] = {}
    for place, cell in enumerate(cells):
        if cell.unsafe:
            found.setdefault(cell.same, place)
    return found


def told(view: Reader, *, whole: bool) -> tuple[int, int]:
    """How many unsafe cells are told exactly, and how many others more closely than required.

    As whole numbers, those alone that count, whose needs are rounded up.
    """
    exact = closer = 0
    before = replace(view, tables=False)
    for place in variables(view.cells).values():
        cell = view.cells[place]
        if whole and cell.measure != "count":
            continue
        lower, upper, wide = needs(cell)
        if wide <= lower + upper:
            wide = 0.0
        if not whole and not lower and not upper:
            upper = 1.0
        if whole:
            lower, upper, wide = (float(np.ceil(need - 1e-9)) for need in (lower, upper, wide))
        ends, most = (reach(each, place, whole=whole) for each in (view, before))
        limits = [min(lower, most[0]), min(upper, most[1])]
        limits.append(min(wide, sum(min(each, wide) for each in most)))
        have = [*ends, sum(ends)]
        if any(end < limit - 1e-6 for end, limit in zip(have, limits, strict=True)):
            if max(ends) < 1 - 1e-6:
                exact += 1
            else:
                closer += 1
    return exact, closer


@SLOW
@given(st.integers(0, 10**9))
def test_what_empty_cells_and_whole_numbers_tell_is_counted_as_any_reader_finds_it(
    context: AppContext, tmp_path: Path, seed: int
) -> None:
    case = Case.drawn(seed)
    found = decided(context, case, tmp_path)
    if found is None:
        return
    cells = case.cells(found)
    everyone = Reader(cells, case.lower, case.upper or np.inf)
    informed = replace(everyone, informed=True)
    if not case.present:
        stated = [found.internal[f"told_{how}_if_present"] for how in ("exactly", "closer")]
        assert tuple(stated) == told(informed, whole=False)
    stated = [int(str(found.internal[f"told_{how}_as_whole"])) for how in ("exactly", "closer")]
    own = told(informed if case.present else everyone, whole=True)
    if not found.internal["undecided_as_whole"]:
        assert tuple(stated) == own
        return
    assert case.large
    assert sum(stated) <= sum(own) <= sum(stated) + int(str(found.internal["undecided_as_whole"]))


@SLOW
@given(st.integers(0, 10**9))
def test_intervals_of_ratios_are_those_of_the_quotients_that_remain_possible(
    context: AppContext, tmp_path: Path, seed: int
) -> None:
    case = Case.drawn(seed)
    if case.ratio is None:
        return
    found = decided(context, case, tmp_path)
    if found is None:
        return
    cells = case.cells(found)
    reader = Reader(cells, case.lower, case.upper or np.inf)
    above, below, _ = case.ratio
    place = {(cell.table, cell.place): number for number, cell in enumerate(cells)}
    table = next(one for one in found.tables if one.name == "ratio")
    for number, each in enumerate(product(*(axis.labels for axis in table.axes))):
        inside = {key: texts[number] for key, texts in table.internal.items()}
        pair = place[above, each], place[below, each]
        assert bool(table.values[number]) is all(cells[one].shown for one in pair)
        if table.values[number]:
            continue
        least, most = reader.ratio(*pair)
        stated = inside["lower"], inside["upper"]
        if inside.get(INTERVAL, IS_EXACT) == IS_EXACT:
            assert near(stated[0], least, 1.0), each
            assert near(stated[1], most, 1.0), each
        else:
            assert float(stated[0] or "-inf") >= least - 1e-5 * max(1.0, abs(least))
            assert float(stated[1] or "inf") <= most + 1e-5 * max(1.0, abs(most))
