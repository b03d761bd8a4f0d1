"""All protections of the same tables compared, against plain loops over their cells."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from dpdesk.app.checklists import check_release
from dpdesk.app.comparing import compare_plan, redesign_plan
from dpdesk.app.context import AppContext
from dpdesk.app.planning import PlacedPlan, prepare_cells
from dpdesk.app.running import run_plan
from dpdesk.cli.main import main
from dpdesk.core.charts import BarChart
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.engine.methods.table.comparing import Loss, Shown, hellinger
from dpdesk.engine.methods.table.method import ProtectedTables
from dpdesk.engine.querying import Comparison
from dpdesk.engine.tables.model import Cells, Dimension, Table, exact
from dpdesk.io.planfile import read_plan
from tests.e2e.test_table_release import plan
from tests.reference import table_losses as reference

HEAD = '[source]\npath = "people.csv"\n'
TWO = 'rows = ["town"]\ncolumns = ["sex"]\nrule = [{ rule = "threshold", n = 3 }]\n'
COUNTS = {
    ("n", "f"): 30,
    ("n", "m"): 2,
    ("s", "f"): 11,
    ("s", "m"): 40,
    ("w", "f"): 6,
    ("w", "m"): 9,
}
TOWNS, SEXES = ("n", "s", "w", "Total"), ("f", "m", "Total")


@pytest.fixture(scope="module")
def context(module_home: Path) -> Iterator[AppContext]:
    with AppContext.open(module_home) as opened:
        yield opened


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("people")
    rows = [f"{town},{sex},{number}" for (town, sex), n in COUNTS.items() for number in range(n)]
    (made / "people.csv").write_text("\n".join(["town,sex,pay", *rows, ""]), "utf-8")
    return made


def compared(context: AppContext, folder: Path, keys: str) -> Comparison:
    path = plan(folder, "compared", keys, head=HEAD)
    (found,) = compare_plan(context, path, CancelToken(), silent)
    return found


def lines(found: Comparison, chart: int = 0) -> dict[object, tuple[object, ...]]:
    return {row[0]: row[1:] for row in found.charts[chart].table.rows}


def small() -> tuple[Table, dict[reference.Place, float]]:
    """The counts as a table with margins."""
    true = {
        (town, sex): float(
            sum(n for (t, s), n in COUNTS.items() if town in (t, "Total") and sex in (s, "Total"))
        )
        for town, sex in product(TOWNS, SEXES)
    }
    axes = Dimension.flat("town", TOWNS[:-1]), Dimension.flat("sex", SEXES[:-1])
    values = [int(n) for n in true.values()]
    cells = Cells(exact(values), np.array(values))
    return Table("t", axes, cells), true


@pytest.mark.parametrize("seed", range(5))
def test_losses_are_those_of_plain_loops(seed: int) -> None:
    table, true = small()
    draw = np.random.default_rng(seed)
    shown = {place: value + draw.integers(-9, 10) for place, value in true.items()}
    hidden = draw.random(len(true)) < 0.3
    gone = [place for place, flag in zip(true, hidden, strict=True) if flag]
    amounts = np.array(list(shown.values()))
    found = Loss.of(table, np.array(list(true.values())), Shown(hidden, amounts))
    expected = reference.losses(true, shown, gone, "Total")
    dimensions = {str(j): share for j, share in enumerate(found.dimensions)}
    mine = {key: getattr(found, key) for key in expected if not key.isdigit()} | dimensions
    assert mine == pytest.approx(expected)


def test_distances_of_tables_without_anything_in_them() -> None:
    nothing, something = np.zeros(3), np.array([1.0, 0.0, 2.0])
    assert hellinger(nothing, -nothing) == 0.0
    assert hellinger(something, something * 4) == pytest.approx(0.0)
    assert hellinger(something, nothing) == hellinger(nothing, something) == 1.0
    assert hellinger(something, np.array([0.0, 5.0, 0.0])) == pytest.approx(1.0)


def test_every_protection_is_compared_on_the_same_table(context: AppContext, folder: Path) -> None:
    found = compared(context, folder, TWO + 'protect = "cell-key"\ndeviation = 3\nvariance = 1\n')
    measured = lines(found)
    assert list(measured) == [
        "Only unsafe cells suppressed",
        "Suppressed at the least cost",
        "Suppressed by the fast search",
        "Rounded to multiples of 5, additively",
        "Unsafe cells changed, additively",
        "Rounded to multiples of 5 at random",
        "Changed by cell keys, by 3 at most",
        "Noise with ε = 1",
        "Noise with ε = 0.1",
    ]
    assert (found.size, found.rows, found.queries) == (12, sum(COUNTS.values()), 0)
    # One cell has two people. Alone it is known exactly; with three others, as their middle.
    assert measured["Only unsafe cells suppressed"] == (1, 0.0051, 0.0, 0.0, 0.0, "✓", 1)
    planned = measured["Suppressed at the least cost"]
    # n,m (2) with w,m (9), n,f (30) and w,f (6): the least of all rectangles through it.
    assert planned[0] == 4
    assert planned[1] == pytest.approx(47 / (4 * 98), abs=5e-5)
    assert planned[-1] == 0
    assert measured["Unsafe cells changed, additively"][-1] is None
    for label in list(measured)[3:]:
        assert measured[label][0] == 0
    assert [row[5] for row in measured.values()] == ["✓"] * 5 + ["–"] * 2 + ["✓"] * 2
    charts = found.charts
    assert isinstance(charts[1], BarChart)
    assert [one.name for one in charts[1].series] == ["town", "sex"]
    assert list(lines(found, 1)) == list(measured)


def test_sums_and_means_are_compared_by_what_can_protect_them(
    context: AppContext, folder: Path
) -> None:
    sums = lines(compared(context, folder, TWO + 'measure = { sum = "pay" }\n'))
    assert not any("keys" in str(label) or "Noise" in str(label) for label in sums)
    assert len(sums) == 6
    means = lines(compared(context, folder, TWO + 'measure = { mean = "pay" }\n'))
    assert all("uppressed" in str(label) for label in means)


def test_a_way_that_is_not_possible_is_named(context: AppContext, folder: Path) -> None:
    margins = "n,Total,2,P\ns,Total,2,P\nTotal,f,2,P\nTotal,m,2,P\nTotal,Total,4,P\n"
    ready = f"town,sex,n,st\nn,f,1,P\nn,m,1,U\ns,f,1,P\ns,m,1,P\n{margins}"
    (folder / "ready.csv").write_text(ready, "utf-8")
    keys = 'rows = ["town"]\ncolumns = ["sex"]\ncells = { value = "n", status = "st" }\n'
    path = plan(folder, "ready", keys, head='[source]\npath = "ready.csv"\n')
    (found,) = compare_plan(context, path, CancelToken(), silent)
    assert "One protection is not possible: " in found.sentence
    assert "Suppressed at the least cost" not in lines(found)
    assert "Rounded to multiples of 5 at random" in lines(found)


def test_the_command_line_prints_a_line_for_each_way(
    context: AppContext, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["compare", str(plan(folder, "line", TWO, head=HEAD))]) == 0
    out = capsys.readouterr().out
    assert "town × sex, 12 cells: 98 rows (internal: uses the truth)" in out
    assert sum(line.startswith("Noise with ε = 1 ") for line in out.splitlines()) == 2
    assert "Hellinger distance" in out


def test_merges_are_proposed_on_the_command_line(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = plan(folder, "merges", TWO, head=HEAD)
    assert main(["compare", str(path), "--redesign", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["redesign"]
    lines = {line[0]: line[1:] for line in found["charts"][0]["rows"]}
    assert lines["Unchanged"][:2] == [12, 1]
    merged = lines["merge `n` and `w` of `town`"]
    assert merged[:3] == [9, 0, 0]
    both = {"merge": {"town": {"n + w": ["n", "w"]}}}
    assert both in [each["changes"] for each in found["proposals"]]
    assert all(len(each["changes"]) == 1 for each in found["proposals"])


def test_merges_are_not_proposed_for_several_tables(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    keys = '[[protection.tables]]\nname = "a"\nrows = ["town"]\n'
    assert main(["compare", str(plan(folder, "several", keys, head=HEAD)), "--redesign"]) == 1
    assert "a single table that is counted from rows" in " ".join(capsys.readouterr().err.split())


def test_unsafe_cells_are_counted_alike_wherever_their_number_stands(
    context: AppContext, tmp_path: Path
) -> None:
    """A group of one value is printed next to it: both cells are, and count as, two."""
    rows = [f"{town},{sex},{number}" for (town, sex), n in COUNTS.items() for number in range(n)]
    (tmp_path / "people.csv").write_text("\n".join(["town,sex,pay", *rows, ""]), "utf-8")
    (tmp_path / "towns.csv").write_text("n,north,*\ns,south,*\nw,south,*\n", "utf-8")
    tree = '[attributes]\ntown = { role = "quasi-identifier", hierarchy = "towns.csv" }\n'
    path = plan(tmp_path, "plan", TWO, head=HEAD + tree)
    (found,) = compare_plan(context, path, CancelToken(), silent)
    assert found.sentence.startswith("2 of 18 cells are unsafe by the rules.")
    proposed = redesign_plan(context, path, CancelToken(), silent)
    assert proposed.comparison.charts[0].table.rows[0][2] == 2
    with prepare_cells(
        context, PlacedPlan(read_plan(path), tmp_path, path.name), CancelToken(), silent
    ) as it:
        view = ProtectedTables().explore(it.given, CancelToken(), silent).view(it.given.parameters)
    assert view.sentence.startswith("Of 18 cells, 2 are unsafe by the rules;")
    made = run_plan(context, path, tmp_path / "out", CancelToken(), silent).out
    with (made / "internal/table.csv").open(encoding="utf-8", newline="") as stream:
        statuses = [row["status"] for row in csv.DictReader(stream)]
    kept = json.loads((made / "internal/evidence.json").read_text("utf-8"))
    figures = {each["key"]: each["value"] for each in kept["figures"]}
    assert statuses.count("C") == figures["unsafe_cells"] == 2
    assert statuses.count("D") == figures["secondary_cells"]
    assert figures["suppressed_cells"] == figures["unsafe_cells"] + figures["secondary_cells"]
    assert kept["result"]["primary"] == 1  # a cell of the same people counts once
    checked = check_release(context, made, CancelToken(), silent)
    assert any("2 cells are unsafe" in str(each.evidence) for each in checked.checklist.items)
