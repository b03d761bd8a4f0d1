"""Protected tables of small, odd sources: good ones are released and verify, bad ones are named."""

from __future__ import annotations

import csv
import json
import random
import shutil
from collections.abc import Iterator, Sequence
from itertools import combinations, product
from pathlib import Path

import pytest
from scipy.optimize import linprog

from dpdesk.app.checklists import check_release
from dpdesk.app.context import AppContext
from dpdesk.app.running import run_plan
from dpdesk.app.verifying import verify_release
from dpdesk.core.errors import DpdeskError
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.core.release import CheckStatus
from dpdesk.engine.tables import common
from dpdesk.project.review.questions import Item
from dpdesk.project.review.votes import ItemStatus
from dpdesk.verifiers.tables import attacks, source
from dpdesk.verifiers.tables.verification import AS_WHOLE, ATTACK, RANGES, TOGETHER, WHOLE
from dpdesk.verifiers.tables.verification import PRESENT as TOLD_BY_EMPTY
from tests.helpers.forging import manifest_of, seal_again

pytestmark = pytest.mark.cheap_prints

Cells = dict[tuple[str, ...], dict[str, str]]
FEW = 'rule = [{ rule = "threshold", n = 3 }]\n'
TWO = 'rows = ["r"]\ncolumns = ["q"]\n'
SUM = 'measure = { sum = "x" }\n'
COUNTS_AND_SUMS = (
    '[[protection.tables]]\nname = "n"\nrows = ["r"]\ncolumns = ["q"]\n'
    '[[protection.tables]]\nname = "x"\nrows = ["r"]\ncolumns = ["q"]\nmeasure = { sum = "x" }\n'
)
READY = 'cells = { value = "x", frequency = "n", top = ["t1", "t2"], cost = "c" }\n'


@pytest.fixture(scope="module")
def context(module_home: Path) -> Iterator[AppContext]:
    with AppContext.open(module_home) as opened:
        yield opened


def released(
    context: AppContext, folder: Path, lines: Sequence[str], keys: str, name: str = "out"
) -> Path:
    (folder / "in.csv").write_text("\n".join(lines) + "\n", "utf-8")
    plan = folder / "plan.toml"
    head = 'version = 1\n[source]\npath = "in.csv"\n[protection]\nmethod = "table"\n'
    plan.write_text(head + keys, "utf-8")
    shutil.rmtree(folder / name, ignore_errors=True)
    return run_plan(context, plan, folder / name, CancelToken(), silent).out


def read(path: Path) -> Cells:
    with path.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    names = list(rows[0])[: list(rows[0]).index("value")]
    return {tuple(row[name] for name in names): row for row in rows}


def sound(context: AppContext, made: Path) -> bool:
    source = made.parent / "in.csv"
    report = verify_release(made, context.registry, CancelToken(), silent, source)
    return report.failures == ()


@pytest.mark.parametrize(
    ("lines", "keys"),
    [
        # The first row alone tells two cells apart.
        (["r,x", "B,-2.18", "A,0", "A,0.05"], f'rows = ["r"]\n{SUM}'),
        # A contributor's 0 is known beforehand where everyone knows a share of the value.
        *(
            (
                ["r,q,x", "A,f,0", "A,m,5", "A,m,6", "B,f,4", "B,f,9", "B,m,8", "B,m,2"],
                f'{TWO}{SUM}attacker = {{ lower = 0, upper = 2, present = {present} }}\n'
                'rule = [{ rule = "threshold", n = 2 }]\n',
            )
            for present in ("false", "true")
        ),
        # Everything is suppressed, so that nothing is bounded from above.
        (["r,x", "A,1", "B,1"], f'rows = ["r"]\n{FEW}'),
        # The published ones do not show that others are negative.
        (["r,x", "A,-5", "A,3", "B,2", "B,2", "B,7", "C,-4", "C,1"], f'rows = ["r"]\n{SUM}{FEW}'),
        # Who is alone in a total is alone in its part; everyone knows an upper bound.
        (
            ["r,q,x", "A,f,5", "A,m,8", "A,m,9", "B,f,327", "B,m,4", "B,m,1", "C,m,626"],
            f'{TWO}{SUM}attacker = {{ lower = 0.5, upper = 1.5 }}\n'
            'rule = [{ rule = "threshold", n = 5, range = 0 }, { rule = "p-percent", p = 10 }]\n',
        ),
        # Counts have another grid than the sums that are protected with them.
        (["r,q,x", "A,f,0.5", "A,f,1.25", "A,m,3", "A,m,2", "B,f,4.5", "B,m,8"],
         f"{FEW}{COUNTS_AND_SUMS}"),
        # Small cells next to very large ones.
        (
            ["r,x", "A,1000000000000000", "A,999999999999999", "A,1", "B,11", "B,0", "B,0", "C,5"],
            f'rows = ["r"]\n{SUM}{FEW}',
        ),
    ],
)  # fmt: skip
def test_a_good_source_is_released_and_verifies(
    context: AppContext, tmp_path: Path, lines: list[str], keys: str
) -> None:
    assert sound(context, released(context, tmp_path, lines, keys))


def test_an_empty_cell_that_is_marked_as_unsafe_is_published_and_noted(
    context: AppContext, tmp_path: Path
) -> None:
    lines = ["r,q,x,n,s", "A,f,0,0,U", "A,m,5,4,", "B,f,7,5,", "B,m,9,6,"]
    keys = f'{TWO}{SUM}cells = {{ value = "x", frequency = "n", status = "s" }}\n'
    made = released(context, tmp_path, lines, keys)
    assert read(made / "public/table.csv")["A", "f"]["status"] == "F"
    assert "1 cell is marked as unsafe" in (made / "internal/evidence.json").read_text("utf-8")
    assert sound(context, made)


def test_intervals_of_small_cells_next_to_large_ones_are_exact(
    context: AppContext, tmp_path: Path
) -> None:
    lines = ["r,x", "A,2000000000000000", "A,1", "A,1", "B,4", "B,4", "B,3", "C,4", "C,1"]
    made = released(context, tmp_path, lines, f'rows = ["r"]\n{SUM}{FEW}')
    cells = read(made / "internal/table.csv")
    ends = {place[0]: (row["lower"], row["upper"]) for place, row in cells.items()}
    assert ends["B"] == ends["C"] == ("0", "16")


@pytest.mark.parametrize("protect", ["controlled-round", "random-round"])
def test_counts_and_sums_are_rounded_to_the_same_base(
    context: AppContext, tmp_path: Path, protect: str
) -> None:
    lines = ["r,q,x", "A,f,0.55", "A,f,1.25", "A,m,3", "A,m,9", "B,f,4.5", "B,m,8", "B,m,2.25"]
    keys = f'protect = "{protect}"\nbase = 5\n{COUNTS_AND_SUMS}'
    made = released(context, tmp_path, lines, keys)
    for name in ("n", "x"):
        inside = read(made / f"internal/tables/{name}.csv")
        for place, row in read(made / f"public/tables/{name}.csv").items():
            assert int(row["value"]) % 5 == 0
            assert abs(int(row["value"]) - float(inside[place]["value"])) < 5
    assert sound(context, made)


@pytest.mark.parametrize("keys", [COUNTS_AND_SUMS, f"{TWO}{SUM}", TWO])
def test_unsafe_cells_are_changed_and_totals_stay_sums(
    context: AppContext, tmp_path: Path, keys: str
) -> None:
    lines = ["r,q,x", "A,f,0.55", "A,f,1.25", "A,m,3", "A,m,9", "B,f,4.5", "B,m,8", "B,m,2.25"]
    lines += ["A,m,1", "A,m,2.5", "C,f,1", "C,f,1", "C,f,7"]
    made = released(context, tmp_path, lines, f'protect = "adjust"\n{FEW}{keys}')

    kept = json.loads((made / "internal/evidence.json").read_text("utf-8"))["result"]
    assert kept["proven_optimal"] is True
    assert kept["bound"] == kept["cost"] == kept["distance"]
    files = [path.relative_to(made / "public") for path in (made / "public").rglob("*.csv")]
    assert files
    for file in files:
        inside, shown = read(made / "internal" / file), read(made / "public" / file)
        for place, row in inside.items():
            value = float(shown[place]["value"])
            if row["status"] == "C":
                needs = float(row["lower_required"]), float(row["upper_required"])
                change = value - float(row["value"])
                assert change >= needs[1] or -change >= needs[0]
                assert change
            if row["frequency"] == "0":
                assert value == 0
        assert {row["status"] for row in shown.values()} == {"F"}
    assert sound(context, made)
    item = asked(context, made)["protected-cells"]
    assert (item.status, "another value" in item.evidence) == (ItemStatus.REVIEW, True)


def test_the_same_rows_are_rounded_alike_whatever_dimensions_show_them(
    context: AppContext, tmp_path: Path
) -> None:
    """All m are in B, so three tables of three plans show one number under three names."""
    for turn in range(6):
        folder = tmp_path / str(turn)
        folder.mkdir()
        lines = ["r,q", *["A,f"] * (turn + 3), *["B,m"] * 13, *["B,f"] * 4]
        keys = 'protect = "random-round"\nbase = 5\n'
        shown = {
            read(released(context, folder, lines, keys + dims, name) / "public/table.csv")[place][
                "value"
            ]
            for name, dims, place in (
                ("first", 'rows = ["q"]\n', ("m",)),
                ("second", TWO, ("B", "m")),
                ("third", TWO, ("Total", "m")),
            )
        }
        assert len(shown) == 1


@pytest.mark.parametrize("column", ["lower", "upper", "lower_required"])
def test_what_is_said_of_the_second_place_of_a_cell_is_compared(
    context: AppContext, tmp_path: Path, column: str
) -> None:
    """All of A are f, so that its total is the same cell: one interval, one required protection."""
    lines = ["r,q", *["A,f"] * 2, *["B,f"] * 2, *["B,m"] * 9, *["C,f"] * 9, *["C,m"] * 8]
    made = released(context, tmp_path, lines, TWO + FEW)
    assert sound(context, made)
    path = made / "internal/table.csv"
    for place in (("A", "f"), ("A", "Total")):
        cells = read(path)
        assert cells[place]["status"] == "C"
        cells[place][column] = str(float(cells[place][column] or 99) + 0.25)
        copy = tmp_path / place[1]
        shutil.copytree(made, copy)
        with (copy / "internal/table.csv").open("w", encoding="utf-8", newline="") as stream:
            writer = csv.DictWriter(stream, list(cells[place]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(cells.values())
        seal_again(copy, manifest_of(copy))
        assert not sound(context, copy)


def test_what_is_too_much_to_attack_again_is_counted(
    context: AppContext, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = ["r,q", *["A,f"] * 2, "A,m", *["B,f"] * 2, *["B,m"] * 2, *["C,f"] * 9, *["C,m"] * 8]
    made = released(context, tmp_path, lines, TWO + FEW)
    monkeypatch.setattr(attacks, "MOST_PROGRAMS", 4)
    monkeypatch.setattr(attacks, "MOST_INTERVALS", 2)
    report = verify_release(made, context.registry, CancelToken(), silent)
    assert report.failures == ()
    told = {check.claim: check.found for check in report.claims}
    assert "2 of 4 were attacked" in told[ATTACK]
    assert "2 of 8 intervals were compared" in told[RANGES]


def test_large_rounded_tables_by_two_dimensions_are_attacked(
    context: AppContext, tmp_path: Path
) -> None:
    draw = random.Random(4)
    lines = ["r,q", *(f"{draw.randrange(75)},{draw.randrange(75)}" for _ in range(20_000))]
    made = released(context, tmp_path, lines, TWO + FEW + 'protect = "random-round"\nbase = 5\n')
    report = verify_release(made, context.registry, CancelToken(), silent)
    told = {check.claim: check.found for check in report.claims}
    assert "not attacked" not in told["how closely changed cells can be told"]


def told(made: Path) -> dict[str, set[int]]:
    """The possible counts of each row, by trying all: suppressed ones are not empty."""
    cells = {row[0]: line["value"] for row, line in read(made / "public/table.csv").items()}
    hidden = [name for name, value in cells.items() if not value]
    rest = int(cells["Total"]) - sum(int(v) for k, v in cells.items() if v and k != "Total")
    fits = [
        parts for parts in product(range(1, rest + 1), repeat=len(hidden)) if sum(parts) == rest
    ]
    return {name: {parts[at] for parts in fits} for at, name in enumerate(hidden)}


THREE_ONES = ["r", *"abc", *"d" * 5, *"e" * 6]
PRESENT = "attacker = { lower = 0, present = true }\n"


def checked(context: AppContext, made: Path) -> dict[str, tuple[CheckStatus, str]]:
    report = verify_release(made, context.registry, CancelToken(), silent, made.parent / "in.csv")
    return {check.claim: (check.status, check.found) for check in report.claims}


def asked(context: AppContext, made: Path) -> dict[str, Item]:
    checklist = check_release(context, made, CancelToken(), silent).checklist
    return {item.id: item for item in checklist.items}


def test_that_empty_cells_are_published_gives_no_small_count_away_where_the_plan_asks(
    context: AppContext, tmp_path: Path
) -> None:
    made = released(context, tmp_path, THREE_ONES, 'rows = ["r"]\n' + FEW + PRESENT)

    possible = told(made)

    assert set(possible) > {"a", "b", "c"}
    assert all(len(found) > 1 for found in possible.values())
    assert sound(context, made)
    kept = json.loads((made / "internal/evidence.json").read_text("utf-8"))
    assert "told_exactly_if_present" not in kept["result"]
    assert "empty-cells" not in asked(context, made)


def test_without_that_the_optimum_is_that_of_the_plan_and_what_is_told_is_said(
    context: AppContext, tmp_path: Path
) -> None:
    """Three ones in one row: who takes none of them to be 0 knows each exactly."""
    made = released(context, tmp_path, THREE_ONES, 'rows = ["r"]\n' + FEW)

    assert told(made) == {"a": {1}, "b": {1}, "c": {1}}
    kept = json.loads((made / "internal/evidence.json").read_text("utf-8"))
    assert (kept["result"]["cost"], kept["result"]["proven_optimal"]) == (0, True)
    assert kept["result"]["told_exactly_if_present"] == 3
    assert kept["result"]["told_closer_if_present"] == 0
    public = (made / "public/manifest.json").read_text("utf-8")
    assert "told_exactly" not in public
    words = json.loads(public)["guarantee"]
    assert "does not conclude that suppressed cells are not empty" in words["claim"]
    assert any("at least 1" in limit for limit in words["does_not_cover"])
    assert sound(context, made)
    status, found = checked(context, made)[TOLD_BY_EMPTY]
    assert (status, "exactly: 3;" in found) == (CheckStatus.CONFIRMED, True)
    item = asked(context, made)["empty-cells"]
    assert item.status is ItemStatus.FAIL
    assert "present = true" in item.advice
    assert any(note.startswith("3 unsafe cells can be computed exactly") for note in kept["notes"])


PARTS_OF_PERSONS = [int(digit) for digit in "6010113311244111"]
"""A table of 2 × 2 × 2 × 2 in which some counts move far enough by parts of a person alone."""


def test_what_whole_numbers_tell_of_counts_is_counted_said_and_counted_again(
    context: AppContext, tmp_path: Path
) -> None:
    places = zip(PARTS_OF_PERSONS, product("st", repeat=4), strict=True)
    lines = ["a,b,c,d", *(",".join(place) for n, place in places for _ in range(n))]
    keys = (
        'rows = ["a", "b"]\ncolumns = ["c", "d"]\nsingletons = false\n'
        'attacker = { lower = 0 }\nrule = [{ rule = "threshold", n = 3, range = 2.5 }]\n'
    )
    made = released(context, tmp_path, lines, keys)

    kept = json.loads((made / "internal/evidence.json").read_text("utf-8"))
    numbers = [kept["result"][key] for key in WHOLE]
    assert numbers[0] == numbers[2] == 0 < numbers[1]
    assert any("use that counts are whole numbers" in note for note in kept["notes"])
    public = (made / "public/manifest.json").read_text("utf-8")
    assert "as_whole" not in public
    assert "Distances are over all numbers" in public
    assert sound(context, made)
    status, found = checked(context, made)[AS_WHOLE]
    assert (status, f"allow: {numbers[1]};" in found) == (CheckStatus.CONFIRMED, True)
    item = asked(context, made)["whole-numbers"]
    assert item.status is ItemStatus.REVIEW

    for key, other in ((WHOLE[1], 0), (WHOLE[0], 1), (WHOLE[2], 1)):
        forged = json.loads(json.dumps(kept))
        forged["result"][key] = other
        (made / "internal/evidence.json").write_text(json.dumps(forged), "utf-8")
        seal_again(made, manifest_of(made))
        status, _ = checked(context, made)[AS_WHOLE]
        assert status in (CheckStatus.FAILED, CheckStatus.NOT_CHECKED)


def test_a_suppressed_sum_of_0_cannot_be_computed(context: AppContext, tmp_path: Path) -> None:
    lines = ["r,q,x", "a,s,0", *(f"{r},{q},{20 + n}" for r in "ab" for q in "st" for n in range(3))]
    lines = [line for line in lines if line[:3] != "a,s" or line.endswith(",0")]
    made = released(context, tmp_path, lines, TWO + SUM + FEW + PRESENT)

    cells = read(made / "internal/table.csv")

    assert cells["a", "s"]["value"] == cells["a", "s"]["lower"] == "0"
    assert float(cells["a", "s"]["upper"]) > 0
    assert sound(context, made)


def test_that_a_whole_group_is_in_one_cell_stays_open_where_the_plan_asks(
    context: AppContext, tmp_path: Path
) -> None:
    lines = ["r,q", *["A,f"] * 5, *["B,f"] * 4, *["B,m"] * 6, *["C,f"] * 7, *["C,m"] * 8]
    rule = 'rule = [{ rule = "threshold", n = 3, full = true }]\n'
    made = released(context, tmp_path, lines, TWO + rule)
    cells = read(made / "internal/table.csv")
    assert {place for place, row in cells.items() if row["status"] == "C"} == {
        ("A", "f"),
        ("A", "m"),
    }
    assert float(cells[("A", "m")]["upper"]) >= 1
    assert float(cells[("A", "f")]["lower"]) <= 4
    assert read(made / "public/table.csv")[("A", "m")]["value"] == ""
    assert sound(context, made)


READY_LINES = ("r,q,x,n,t1,t2,c", "A,f,100,5,50,20,", "A,m,60,4,30,10,", "B,f,70,3,60,5,")


@pytest.mark.parametrize(
    ("last", "found"),
    [
        ("B,m,80,0,20,20,", "found 0 next to a value"),
        ("B,m,80,,20,20,", "found nothing next to a value"),
        ("B,m,80,-3,20,20,", "found a number below 0"),
        ("B,m,,6,20,20,", "found nothing"),
        ("B,m,80,6,70,20,", "less than the largest contributions"),
        ("B,m,80,6,20,,", "less than the value"),
        ("B,m,80,6,20,20,-1", "found a number below 0"),
    ],
)
def test_ready_cells_that_contradict_themselves_are_refused(
    context: AppContext, tmp_path: Path, last: str, found: str
) -> None:
    keys = f'{TWO}{SUM}{READY}rule = [{{ rule = "p-percent", p = 10 }}]\n'
    with pytest.raises(DpdeskError) as caught:
        released(context, tmp_path, [*READY_LINES, last], keys)
    assert caught.value.code == "table.cells"
    assert "cell B × m" in caught.value.line
    assert found in caught.value.line


def test_ready_means_are_refused(context: AppContext, tmp_path: Path) -> None:
    with pytest.raises(DpdeskError) as caught:
        released(context, tmp_path, READY_LINES, f'{TWO}measure = {{ mean = "x" }}\n{READY}')
    assert caught.value.code == "table.mean"


def test_a_mean_without_weights_is_refused(context: AppContext, tmp_path: Path) -> None:
    keys = 'rows = ["r"]\nmeasure = { mean = "x", weight = "w" }\n'
    with pytest.raises(DpdeskError) as caught:
        released(context, tmp_path, ["r,x,w", "A,1,0", "A,2,0", "B,3,1"], keys)
    assert caught.value.code == "table.weights"


def test_who_gave_a_whole_ready_cell_is_alone_in_it(context: AppContext, tmp_path: Path) -> None:
    """B and D hold one contributor each: with only these two suppressed, each knew the other."""
    lines = ["r,x,t1,t2", "A,90,40,30", "B,10,10,0", "C,95,40,30", "D,12,12,0"]
    keys = (
        f'rows = ["r"]\n{SUM}cells = {{ value = "x", top = ["t1", "t2"] }}\n'
        'rule = [{ rule = "p-percent", p = 10 }]\n'
    )
    cells = read(released(context, tmp_path, lines, keys) / "internal/table.csv")
    hidden = {place[0] for place, row in cells.items() if row["status"] != "F"}
    assert {"B", "D"} < hidden


CYCLE = """n1,small,coal,3 n1,small,wood,6 n1,small,wood,6 n1,small,wood,4 n1,small,wood,3
n1,large,food,9 n1,large,coal,9 n1,large,coal,2 n1,large,coal,5 n2,small,coal,7
n2,small,coal,6 n2,small,coal,5 n2,small,wood,8 n2,large,food,8 n2,large,food,4
n2,large,coal,3 n2,large,coal,5 s1,small,food,1 s1,small,food,7 s1,large,food,1"""
"""Firms by region, size and trade, of which each two are the dimensions of a table."""


def test_sums_of_one_finer_table_may_tell_more_and_the_guarantee_says_so(
    context: AppContext, tmp_path: Path
) -> None:
    """The reader uses nothing but the finer table, none of whose cells is negative."""
    dims = ("region", "size", "trade")
    lines = ["region,size,trade,turnover", *CYCLE.split()]
    keys = 'measure = { sum = "turnover" }\nrule = [{ rule = "p-percent", p = 50 }]\n' + "".join(
        f'[[protection.tables]]\nname = "{a}{b}"\nrows = ["{a}"]\ncolumns = ["{b}"]\n'
        for a, b in combinations(dims, 2)
    )
    made = released(context, tmp_path, lines, keys)
    fine = list(product(*(sorted({line.split(",")[i] for line in lines[1:]}) for i in range(3))))
    known, told = [], []
    for line in manifest_of(made)["result"]["tables"]:
        names = [each["dimension"] for each in line["dimensions"]]
        with (made / "public" / line["file"]).open(encoding="utf-8", newline="") as stream:
            for row in csv.DictReader(stream):
                asked = [(dims.index(name), row[name]) for name in names if row[name] != "Total"]
                if row["value"]:
                    known.append([all(cell[i] == text for i, text in asked) for cell in fine])
                    told.append(float(row["value"]))
    unsafe = [float(cell[0] == "n2" and cell[2] == "wood") for cell in fine]
    found = linprog(unsafe, A_eq=known, b_eq=told, bounds=(0, None))
    assert found.success
    assert 8 - found.fun < 4  # the rule asks for a distance of 4, which each table by itself gives
    assert sound(context, made)
    said = manifest_of(made)["guarantee"]["does_not_cover"]
    assert any(each.startswith("Sums of finer tables: ") for each in said)


TOWNS = (
    'rule = [{ rule = "threshold", n = 3 }]\nattacker = { lower = 0 }\n'
    '[[protection.tables]]\nname = "districts"\nrows = ["district"]\ncolumns = ["sex"]\n'
    '[[protection.tables]]\nname = "towns"\nrows = ["town"]\ncolumns = ["sex"]\n'
)
ALIKE = '[[protection.tables]]\nname = "districts"\nrows = ["district"]\n' + (
    '[[protection.tables]]\nname = "crossed"\nrows = ["district"]\ncolumns = ["sex"]\n'
)
THIRD = '[[protection.tables]]\nname = "trades"\nrows = ["trade"]\n'
OF_TOWNS = ("c1,1,f,a", "c1,1,m,b", "c2,1,m,c", "c3,2,f,a", "c4,2,m,b") * 4
OF_CELLS = ("town,district,v", "c1,Total,9", "c2,Total,8", "Total,1,9", "Total,2,8")


@pytest.mark.parametrize(
    ("keys", "known", "status"),
    [
        (TOWNS, "used", ItemStatus.PASS),
        (TOWNS.replace("n = 3", "n = 3, full = true"), "empty", ItemStatus.FAIL),
        (FEW + ALIKE, "alone", ItemStatus.PASS),
        (FEW.replace("n = 3", "n = 3, full = true") + ALIKE, "alone", ItemStatus.PASS),
        (TOWNS + THIRD, "used", ItemStatus.PASS),
        (TOWNS + THIRD, "partly", ItemStatus.FAIL),
        ('cells = { value = "v" }\n[[protection.tables]]\nname = "t"\nrows = ["town"]\n'
         '[[protection.tables]]\nname = "d"\nrows = ["district"]\n', "ready", ItemStatus.FAIL),
    ],
)  # fmt: skip
def test_where_sums_that_tables_share_are_not_reckoned_with_a_person_decides(
    keys: str,
    known: str,
    status: ItemStatus,
    context: AppContext,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if known == "partly":
        monkeypatch.setattr(common, "MOST_LEAVES", 4)
        monkeypatch.setattr(source, "MOST_LEAVES", 4)
    lines = OF_CELLS if known == "ready" else ("town,district,sex,trade", *OF_TOWNS)
    made = released(context, tmp_path, lines, keys)

    token, data = CancelToken(), tmp_path / "in.csv"
    found = check_release(context, made, token, silent, source=data)
    report, checklist = found.facts.report, found.checklist
    assert not report.failures
    item = {item.id: item for item in checklist.items}["tables-together"]
    assert item.status is status
    assert [c.status for c in report.claims if c.claim == TOGETHER] == [CheckStatus.CONFIRMED]

    evidence = json.loads((made / "internal/evidence.json").read_text("utf-8"))
    assert evidence["result"]["together"] == known
    for other in ("alone", "used", "partly", "empty", "ready", None):
        if other != known:
            forged = json.loads(json.dumps(evidence))
            forged["result"] |= {"together": other}
            (made / "internal/evidence.json").write_text(json.dumps(forged), "utf-8")
            seal_again(made, manifest_of(made))
            assert not sound(context, made), other


def test_what_several_tables_tell_is_said_where_there_are_several(
    context: AppContext, tmp_path: Path
) -> None:
    lines = ("town,district,sex,trade", *OF_TOWNS)
    for keys, several in ((TOWNS, True), (FEW + 'rows = ["town"]\n', False)):
        made = released(context, tmp_path, lines, keys)
        said = manifest_of(made)["guarantee"]["does_not_cover"]
        found = [each for each in said if "several tables" in each]
        assert len(found) == 2 * several
        assert sound(context, made)
