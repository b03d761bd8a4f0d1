"""Tables of ratios: published where both of their sums are, and nowhere else."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest
from scipy.optimize import linprog

from dpdesk.app.checklists import check_release
from dpdesk.app.context import AppContext
from dpdesk.core.errors import InputError
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.core.tabulation import INTERVAL, CellAxis, CellStory, CellTable
from dpdesk.engine.methods.table.ratio_settings import RatioSpec
from dpdesk.engine.methods.table.stories import Look, RatioLook
from dpdesk.project.review.votes import ItemStatus
from tests.e2e.test_table_cases import released, sound
from tests.e2e.test_table_release import failed_claims, forge, read, verified

pytestmark = pytest.mark.cheap_prints

TABLES = """[[protection.tables]]
name = "turnover"
rows = ["r"]
columns = ["q"]
measure = { sum = "x", weight = "w" }
[[protection.tables]]
name = "per head"
rows = ["r"]
columns = ["q"]
measure = { ratio = "turnover", by = "staff"DECIMALS }
[[protection.tables]]
name = "staff"
rows = ["r"]
columns = ["q"]
measure = { sum = "y", weight = "w" }
"""
RULES = 'rule = [{ rule = "threshold", n = 3 }, { rule = "p-percent", p = 20 }]\n'
RATIO = "ratios are those of published sums"
Cells = dict[tuple[str, ...], dict[str, str]]


def keys(decimals: int | None = None, more: str = RULES) -> str:
    return more + TABLES.replace("DECIMALS", "" if decimals is None else f", decimals = {decimals}")


def firms(seed: int, count: int = 34) -> list[str]:
    draw = random.Random(seed)
    rows = ["r,q,x,y,w"]
    for _ in range(count):
        staff = draw.choice([1, 2, 3, 5, 8, 40])
        place = draw.choice("aaaabbbc"), draw.choice("fffmmk")
        rows.append(f"{place[0]},{place[1]},{staff * draw.randrange(20, 90) / 4},{staff},1.5")
    return rows


@pytest.fixture(scope="module")
def context(module_home: Path) -> Iterator[AppContext]:
    with AppContext.open(module_home) as opened:
        yield opened


def tables(made: Path, part: str = "public") -> tuple[Cells, Cells, Cells]:
    names = ("turnover", "per%20head", "staff")
    one, two, three = (read(made / f"{part}/tables/{name}.csv") for name in names)
    return one, two, three


@pytest.mark.parametrize("decimals", [None, 0, 2])
def test_ratios_are_published_where_both_sums_are(
    context: AppContext, tmp_path: Path, decimals: int | None
) -> None:
    made = released(context, tmp_path, firms(1), keys(decimals))
    above, ratio, below = tables(made)
    gone = 0
    for cell, row in ratio.items():
        shown = above[cell]["value"], below[cell]["value"]
        assert bool(row["value"]) is all(shown)
        gone += not row["value"]
        if not row["value"]:
            continue
        quotient = float(shown[0]) / float(shown[1]) if float(shown[1]) else 0.0
        wanted = quotient if decimals is None else round(quotient, decimals)
        assert float(row["value"]) == pytest.approx(wanted, abs=1e-9)
    assert 0 < gone < len(ratio)
    assert sound(context, made)
    assert verified(context, made / "public").ok
    names = [item["name"] for item in read_result(made)["tables"]]
    assert names == ["turnover", "per head", "staff"]
    about = (made / "public/about.html").read_text("utf-8")
    assert "divided by that of another" in about
    checked = check_release(context, made, CancelToken(), silent)
    assert not [each for each in checked.checklist.items if each.status is ItemStatus.FAIL]


def read_result(made: Path) -> dict[str, list[dict[str, object]]]:
    from dpdesk.io.canonical import read_canonical

    found = read_canonical(made / "public/manifest.json")["result"]
    assert isinstance(found, dict)
    return found


def attacked(
    sums: Cells, others: Cells, ratios: Cells, half: float, goal: tuple[str, ...]
) -> tuple[float, float]:
    """Between what a reader of three tables can tell a suppressed sum to lie: both sums of every
    cell as unknowns, the published ratios as intervals of their rounding.
    """
    cells = list(sums)
    place = {cell: number for number, cell in enumerate(cells)}
    count = len(cells)
    equal, known, upper = [], [], []
    for shift, table in ((0, sums), (count, others)):
        for cell in cells:
            if table[cell]["value"]:
                row = np.zeros(2 * count)
                row[shift + place[cell]] = 1
                equal.append(row)
                known.append(float(table[cell]["value"]))
        for axis in (0, 1):
            for rest in {cell[1 - axis] for cell in cells}:
                line = [cell for cell in cells if cell[1 - axis] == rest]
                row = np.zeros(2 * count)
                for cell in line:
                    row[shift + place[cell]] = -1.0 if cell[axis] == "Total" else 1.0
                equal.append(row)
                known.append(0.0)
    for cell, shown in ratios.items():
        if shown["value"]:
            for sign in (1.0, -1.0):
                row = np.zeros(2 * count)
                row[place[cell]] = sign
                row[count + place[cell]] = -sign * (float(shown["value"]) + sign * half)
                upper.append(row)
    found = []
    for sign in (1.0, -1.0):
        cost = np.zeros(2 * count)
        cost[place[goal]] = sign
        solved = linprog(
            cost,
            A_ub=np.array(upper) if upper else None,
            b_ub=np.full(len(upper), 1e-7) if upper else None,
            A_eq=np.array(equal),
            b_eq=np.array(known),
            bounds=(0, None),
        )
        found.append(sign * solved.fun if solved.status == 0 else -sign * np.inf)
    return found[0], found[1]


@pytest.mark.parametrize("seed", range(12))
def test_published_ratios_tell_nothing_of_suppressed_sums(
    context: AppContext, tmp_path: Path, seed: int
) -> None:
    made = released(context, tmp_path, firms(seed), keys(2))
    above, ratio, below = tables(made)
    inside = tables(made, "internal")
    none: Cells = {cell: {**row, "value": ""} for cell, row in ratio.items()}
    for sums, others, kept in ((above, below, inside[0]),):
        for cell, row in sums.items():
            if row["value"]:
                continue
            told = attacked(sums, others, ratio, 0.005, cell)
            assert told == pytest.approx(attacked(sums, others, none, 0.0, cell), abs=1e-4)
            recorded = [float(kept[cell][key] or "inf") for key in ("lower", "upper")]
            assert told == pytest.approx(recorded, rel=1e-5, abs=1e-4)


def test_a_ratio_that_should_be_suppressed_closes_the_interval(
    context: AppContext, tmp_path: Path
) -> None:
    """What the rule prevents: whoever knows two of the three knows the third."""
    rows = [f"a,f,{x},10,1" for x in (40, 41, 43, 44)] + ["a,m,500,9,1", "a,m,20,9,1"]
    rows += ["a,m,21,9,1", *(f"b,{q},{x},8,1" for q in "fm" for x in (50, 51, 52, 53))]
    made = released(context, tmp_path, ["r,q,x,y,w", *rows], keys(2))
    above, ratio, below = tables(made)
    inside = tables(made, "internal")[1]
    wrong = [c for c in ratio if not above[c]["value"] and below[c]["value"]]
    assert wrong
    other = {**ratio, wrong[0]: {**ratio[wrong[0]], "value": inside[wrong[0]]["value"]}}
    low, high = attacked(above, below, other, 0.005, wrong[0])
    assert high - low <= 0.0101 * float(below[wrong[0]]["value"]) + 1e-4


def lines_of(path: Path) -> tuple[str, list[str]]:
    head, *lines = path.read_text("utf-8").splitlines()
    return head, lines


def changed(made: Path, part: str, cell: int, value: str, status: str) -> str:
    head, lines = lines_of(made / f"{part}/tables/per%20head.csv")
    fields = lines[cell].split(",")
    lines[cell] = ",".join([*fields[:2], value, status])
    return "\n".join([head, *lines, ""])


def test_forged_ratios_fail(context: AppContext, tmp_path: Path) -> None:
    made = released(context, tmp_path, firms(3), keys(1))
    above, ratio, below = tables(made)
    inside = list(tables(made, "internal")[1].values())
    cells, name = list(ratio), "public/tables/per%20head.csv"
    half = next(
        n for n, c in enumerate(cells) if bool(above[c]["value"]) is not bool(below[c]["value"])
    )
    both = next(n for n, c in enumerate(cells) if not above[c]["value"] and not below[c]["value"])
    shown = next(n for n, c in enumerate(cells) if float(ratio[c]["value"] or 0) > 1)
    value = f"{float(ratio[cells[shown]]['value']) + 0.1:.1f}"
    forgeries: dict[str, Mapping[str, str]] = {
        "half": {name: changed(made, "public", half, inside[half]["value"], "F")},
        "both": {name: changed(made, "public", both, inside[both]["value"], "F")},
        "other": {name: changed(made, "public", shown, value, "F")},
    }
    for called, files in forgeries.items():
        gone = sum(not row["value"] for row in ratio.values()) - (called != "other")
        result = read_result(made)
        own = [
            {**item, "suppressed": gone} if item["name"] == "per head" else item
            for item in result["tables"]
        ]
        total = sum(int(str(item["suppressed"])) for item in own)
        copy = forge(made, tmp_path / called, files, {"tables": own, "suppressed": total})
        assert RATIO in failed_claims(verified(context, copy)), called
        assert RATIO in failed_claims(verified(context, copy / "public")), called
    kept = "internal/tables/per%20head.csv"
    text = (made / kept).read_text("utf-8")
    row = inside[half]
    narrow = text.replace(
        f",{row['lower']},{row['upper']}\n", f",{row['value']},{row['upper']}\n", 1
    )
    assert narrow != text
    copy = forge(made, tmp_path / "narrow", {kept: narrow}, {})
    assert RATIO in failed_claims(verified(context, copy))


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ('by = "staff"', 'by = "people"', "two other tables"),
        ('by = "staff"', 'by = "turnover"', "two other tables"),
        ('measure = { sum = "y", weight = "w" }', 'measure = { mean = "y" }', "counts or sums"),
        ('name = "staff"\nrows = ["r"]', 'name = "staff"\nrows = ["q"]', "twice"),
        ('columns = ["q"]\nmeasure = { ratio', 'measure = { ratio', "the `rows` and `columns`"),
        (RULES, 'protect = "controlled-round"\nbase = 5\n', "no other protection"),
        (RULES, 'cells = { value = "x" }\n', "no cells as given"),
    ],
)  # fmt: skip
def test_ratios_that_cannot_be_are_refused(
    context: AppContext, tmp_path: Path, old: str, new: str, expected: str
) -> None:
    text = keys()
    assert old in text
    with pytest.raises(InputError, match=expected):
        released(context, tmp_path, firms(1), text.replace(old, new, 1))


def test_a_cell_that_is_divided_by_0_is_named(context: AppContext, tmp_path: Path) -> None:
    rows = [*firms(1), "c,k,3,0,1"]
    rows = [row for row in rows if not row.startswith("c,k") or row.endswith(",0,1")]
    with pytest.raises(InputError, match=r"`per head` divides by 0 in the cell c × k\."):
        released(context, tmp_path, rows, keys())


def test_values_with_rows_in_one_table_alone_are_named(context: AppContext, tmp_path: Path) -> None:
    rows = [*firms(1), "d,f,3,,1"]
    with pytest.raises(InputError, match="different values of `r`"):
        released(context, tmp_path, rows, keys())


def test_ratios_by_a_count_with_negative_sums(context: AppContext, tmp_path: Path) -> None:
    draw = random.Random(8)
    rows = ["r,q,x"]
    for r, q in product("abc", "fm"):
        rows += [f"{r},{q},{draw.randrange(-40, 90)}" for _ in range(draw.choice([2, 5, 7]))]
    text = (
        f'{RULES}[[protection.tables]]\nname = "s"\nrows = ["r", "q"]\nmeasure = {{ sum = "x" }}\n'
        '[[protection.tables]]\nname = "n"\nrows = ["r", "q"]\n[[protection.tables]]\n'
        'name = "each"\nrows = ["r", "q"]\nmeasure = { ratio = "s", by = "n" }\n'
    )
    made = released(context, tmp_path, rows, text)
    assert sound(context, made)
    assert any(not row["value"] for row in read(made / "public/tables/each.csv").values())


@pytest.mark.parametrize(
    ("ends", "kind", "told"),
    [
        (("2", "3"), "exact", "readers can tell that it is between 2 and 3."),
        (("2", "3"), "at least", "everything between 2 and 3 seems possible, and perhaps more"),
        (("2", ""), "exact", "readers can tell that it is at least 2."),
        (("2", ""), "at least", "everything from 2 upwards seems possible, and perhaps more"),
        (("", "3"), "exact", "readers can tell that it is at most 3."),
        (("", ""), "at least", "neither a lower nor an upper bound"),
    ],
)
def test_a_look_at_a_ratio_says_what_its_ends_are(
    ends: tuple[str, str], kind: str, told: str
) -> None:
    """In large tables the intervals of sums, and so those of ratios, may be wider than recorded."""
    inside = {"value": ("2.5",), "lower": (ends[0],), "upper": (ends[1],), INTERVAL: (kind,)}
    table = CellTable("r", "r.csv", (CellAxis("a", ("Total",), (-1,)),), ("",), ("N",), inside)
    sums = SimpleNamespace(table=table, story=lambda cell, token: CellStory("Total", ()))
    look = RatioLook(cast(RatioSpec, None), cast(Look, sums), cast(Look, sums), table)
    assert told in look.story(0, CancelToken()).sentences[-1]
