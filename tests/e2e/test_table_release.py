"""Protected tables from the plan to the verified folder, forgeries of them, and refusals."""

from __future__ import annotations

import csv
import random
import shutil
from collections.abc import Iterator, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from dpdesk.app.checklists import check_release
from dpdesk.app.context import AppContext
from dpdesk.app.running import run_plan
from dpdesk.app.verifying import verify_release
from dpdesk.core.errors import DpdeskError, InputError, StorageError
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.core.release import VerifyReport
from dpdesk.io.canonical import canonical_json, read_canonical
from dpdesk.io.release_folder import public_files, seal_bytes
from tests.reference import table_cells as reference

pytestmark = pytest.mark.cheap_prints

REGIONS = {"n1": ("north",), "n2": ("north",), "s1": ("south",)}
HEAD = '[source]\npath = "firms.csv"\n[attributes.region]\nhierarchy = "regions.csv"\n'
RULES = 'rule = [{ rule = "threshold", n = 7 }, { rule = "p-percent", p = 40 }]\n'
SUM = 'rows = ["region"]\ncolumns = ["size"]\nmeasure = { sum = "turnover" }\n'


@pytest.fixture(scope="module")
def context(module_home: Path) -> Iterator[AppContext]:
    with AppContext.open(module_home) as opened:
        yield opened


@pytest.fixture(scope="module")
def firms(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, str]]:
    draw = random.Random(3)
    return [
        {
            "region": draw.choice(["n1", "n1", "n1", "n2", "s1"]),
            "size": draw.choice(["small", "small", "small", "large"]),
            "turnover": f"{draw.randrange(1, 5000) / 100:.2f}" if number else "",
            "w": draw.choice(["1", "1.5"]),
            "group": f"g{draw.randrange(30)}",
        }
        for number in range(60)
    ]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, firms: list[dict[str, str]]) -> Path:
    made = tmp_path_factory.mktemp("firms")
    with (made / "firms.csv").open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, list(firms[0]))
        writer.writeheader()
        writer.writerows(firms)
    lines = [f"{leaf},{above[0]},*" for leaf, above in REGIONS.items()]
    (made / "regions.csv").write_text("\n".join(lines) + "\n", "utf-8")
    return made


def plan(folder: Path, name: str, protection: str, head: str = HEAD) -> Path:
    path = folder / f"{name}.toml"
    path.write_text(f'version = 1\n{head}[protection]\nmethod = "table"\n{protection}', "utf-8")
    return path


def release(context: AppContext, folder: Path, name: str, protection: str, **more: str) -> Path:
    shutil.rmtree(folder / name, ignore_errors=True)
    path = plan(folder, name, protection, **more)
    return run_plan(context, path, folder / name, CancelToken(), silent).out


def read(path: Path) -> dict[tuple[str, ...], dict[str, str]]:
    """Cells by their labels."""
    with path.open(encoding="utf-8", newline="") as stream:
        reader = csv.DictReader(stream)
        names = list(reader.fieldnames or [])
        first = names[: names.index("value")]
        return {tuple(row[name] for name in first): row for row in reader}


def verified(context: AppContext, made: Path, source: Path | None = None) -> VerifyReport:
    return verify_release(made, context.registry, CancelToken(), silent, source, context.workspace)


def forge(made: Path, copy: Path, files: Mapping[str, str], result: Mapping[str, Any]) -> Path:
    """A copy with other files and another result, hashes and seal made again."""
    shutil.copytree(made, copy)
    for name, text in files.items():
        (copy / name).write_text(text, "utf-8")
    manifest = dict(read_canonical(copy / "public/manifest.json"))
    manifest["result"] = {**manifest["result"], **result}  # type: ignore[dict-item]
    listed = public_files(copy / "public", CancelToken())
    manifest["files"] = {k: {"sha256": v.sha256, "bytes": v.bytes} for k, v in listed.items()}
    (copy / "public/manifest.json").write_bytes(canonical_json(manifest))
    evidence = dict(read_canonical(copy / "internal/evidence.json"))
    evidence["result"] = {**evidence["result"], **result}  # type: ignore[dict-item]
    (copy / "internal/evidence.json").write_bytes(canonical_json(evidence))
    (copy / "internal/seal.json").write_bytes(seal_bytes(copy, CancelToken()))
    return copy


def failed_claims(report: VerifyReport) -> set[str]:
    return {check.claim for check in report.claims if check.status.value == "failed"}


@pytest.mark.parametrize(
    ("measure", "head", "asked"),
    [
        ('measure = { sum = "turnover" }\n', "", {"value": "turnover"}),
        (
            'measure = { sum = "turnover", weight = "w" }\n',
            '[attributes.group]\nrole = "cluster"\n',
            {"value": "turnover", "weight": "w", "contributor": "group"},
        ),
        ("", '[attributes.group]\nrole = "cluster"\n', {"contributor": "group"}),
    ],
)
def test_every_cell_is_counted_and_judged_as_row_by_row(
    context: AppContext,
    folder: Path,
    firms: list[dict[str, str]],
    measure: str,
    head: str,
    asked: dict[str, str],
) -> None:
    rules = (
        'rule = [{ rule = "threshold", n = 4, range = 0.3 }, '
        '{ rule = "dominance", n = 1, k = 60 }, { rule = "pq", p = 10, q = 50 }]\n'
    )
    keys = 'rows = ["region"]\ncolumns = ["size"]\nprotect = "none"\n'
    made = release(context, folder, "counted", keys + measure + rules, head=HEAD + head)
    wanted = reference.cells(firms, ["region", "size"], {"region": REGIONS}, **asked)
    found = read(made / "internal/table.csv")
    public = read(made / "public/table.csv")
    assert len(found) == 6 * 3
    plain = [
        {"rule": "threshold", "n": 4},
        {"rule": "dominance", "n": 1, "k": 60},
        {"rule": "pq", "p": 10, "q": 50},
    ]
    unit = Fraction(0 if "value" in asked else 1)
    for place, row in found.items():
        cell = wanted.get(place, {})
        value = sum(cell.values(), Fraction(0))
        assert Fraction(row["value"]) == value
        assert public[place]["value"] == row["value"]
        assert row["frequency"] == str(len(cell))
        needs = [reference.unsafe(cell, rule, Fraction(3, 10), unit) for rule in plain]
        asks = [need for need in needs if need is not None] if cell else []
        assert (row["status"] == "C") is bool(asks), place
        assert float(row["upper_required"]) == pytest.approx(float(max(asks, default=0)))
        lower = min(max(asks, default=Fraction(0)), value)
        assert float(row["lower_required"]) == pytest.approx(float(lower))
    report = verified(context, made, folder / "firms.csv")
    assert report.failures == ()


def test_totals_stand_after_their_parts_and_are_called_as_the_plan_says(
    context: AppContext, folder: Path
) -> None:
    made = release(context, folder, "order", SUM + 'protect = "none"\ntotal = "all"\n')
    places = list(read(made / "public/table.csv"))
    assert [place[0] for place in places[::3]] == ["n1", "n2", "north", "s1", "south", "all"]
    assert [place[1] for place in places[:3]] == ["large", "small", "all"]


def test_a_mean_is_the_sum_by_the_weights(
    context: AppContext, folder: Path, firms: list[dict[str, str]]
) -> None:
    keys = 'rows = ["size"]\nmeasure = { mean = "turnover", weight = "w" }\nprotect = "none"\n'
    made = release(context, folder, "means", keys)
    rows = [firm for firm in firms if firm["turnover"] and firm["size"] == "large"]
    total = sum(Fraction(firm["turnover"]) * Fraction(firm["w"]) for firm in rows)
    mean = total / sum(Fraction(firm["w"]) for firm in rows)
    assert read(made / "public/table.csv")[("large",)]["value"] == repr(float(mean))
    assert verified(context, made, folder / "firms.csv").failures == ()


def test_unsafe_cells_are_suppressed_and_said_to_be_unprotected_without_others(
    context: AppContext, folder: Path
) -> None:
    made = release(context, folder, "primary", SUM + RULES + 'secondary = "none"\n')
    public, internal = read(made / "public/table.csv"), read(made / "internal/table.csv")
    hidden = {place for place, row in public.items() if row["status"] == "N"}
    assert hidden == {place for place, row in internal.items() if row["status"] == "C"} != set()
    assert all((row["value"] == "") is (row["status"] == "N") for row in public.values())
    facts = check_release(context, made, CancelToken(), silent)
    assert facts.checklist.item("protected-cells").status.value == "fail"
    assert verified(context, made, folder / "firms.csv").failures == ()


def suppressing(context: AppContext, folder: Path, name: str) -> Path:
    return release(context, folder, name, SUM + RULES)


def test_further_cells_protect_the_unsafe_ones(context: AppContext, folder: Path) -> None:
    made = suppressing(context, folder, "suppressed")
    internal = read(made / "internal/table.csv")
    kinds = {row["status"] for row in internal.values()}
    assert kinds == {"F", "C", "D"}
    for row in internal.values():
        value, wide = float(row["value"]), (float(row["lower"]), float(row["upper"] or "inf"))
        assert wide[0] <= value - float(row["lower_required"]) + 1e-6
        assert wide[1] >= value + float(row["upper_required"]) - 1e-6
        assert row["status"] != "F" or wide == (value, value)
    report = verified(context, made, folder / "firms.csv")
    assert report.failures == ()
    assert {check.status.value for check in report.claims if "suppressed" in check.claim} == {
        "re-checked from the public files"
    }
    found = check_release(context, made, CancelToken(), silent).checklist
    assert found.item("protected-cells").status.value == "pass"


def test_a_suppression_that_is_taken_away_fails_from_the_public_part_alone(
    context: AppContext, folder: Path
) -> None:
    made = suppressing(context, folder, "taken")
    internal = read(made / "internal/table.csv")
    public = (made / "public/table.csv").read_text("utf-8")
    result = read_canonical(made / "public/manifest.json")["result"]
    gone = int(result["suppressed"]) - 1  # type: ignore[call-overload,index]
    lines = [{**line, "suppressed": gone} for line in result["tables"]]  # type: ignore[index,call-overload]
    failed = 0
    for number, (place, row) in enumerate(internal.items()):
        if row["status"] == "F":
            continue
        cell = ",".join(place)
        shown = public.replace(f"{cell},,N", f"{cell},{row['value']},F")
        copy = forge(
            made,
            folder / f"taken-{number}",
            {"public/table.csv": shown},
            {"suppressed": gone, "tables": lines},
        )
        report = verified(context, copy / "public")
        failed += "suppressed cells stay uncertain" in failed_claims(report)
        assert not verified(context, copy).ok
    assert failed


def test_an_interval_that_is_too_narrow_fails(context: AppContext, folder: Path) -> None:
    made = suppressing(context, folder, "narrow")
    text = (made / "internal/table.csv").read_text("utf-8")
    line = next(line for line in text.splitlines() if ",C," in line)
    fields = line.split(",")
    fields[-1] = fields[2]
    changed = text.replace(line, ",".join(fields))
    forged = forge(made, folder / "narrow-forged", {"internal/table.csv": changed}, {})
    assert failed_claims(verified(context, forged)) == {"intervals of suppressed cells"}


def test_a_total_of_two_of_whom_one_is_nearly_all_is_protected_as_far_as_it_can_be(
    context: AppContext, folder: Path
) -> None:
    lines = ["p,x,90,1", "p,y,4,1", "q,x,30,5", "q,y,40,6", "q,z,50,7"]
    (folder / "two.csv").write_text("\n".join(["a,b,v,n", *lines]) + "\n", "utf-8")
    keys = 'rows = ["a"]\ncolumns = ["b"]\nmeasure = { sum = "v" }\n'
    ready = 'cells = { value = "v", frequency = "n" }\nrule = [{ rule = "threshold", n = 3 }]\n'
    head = '[source]\npath = "two.csv"\n'
    made = release(context, folder, "two", keys + ready, head=head)

    assert read(made / "internal/table.csv")["p", "Total"]["status"] == "C"
    assert verified(context, made, folder / "two.csv").failures == ()


def test_additive_rounding_keeps_sums(context: AppContext, folder: Path) -> None:
    keys = SUM + RULES + 'protect = "controlled-round"\nbase = 10\n'
    made = release(context, folder, "additive", keys)
    found = {place: int(row["value"]) for place, row in read(made / "public/table.csv").items()}
    for region in ("n1", "north", "Total"):
        parts = found[(region, "large")] + found[(region, "small")]
        assert parts == found[(region, "Total")]
    assert found[("n1", "Total")] + found[("n2", "Total")] == found[("north", "Total")]
    assert verified(context, made, folder / "firms.csv").failures == ()
    # 11.753 and 11.965 to either side are asked for, where the base leaves less than 10.
    facts = check_release(context, made, CancelToken(), silent)
    said = facts.checklist.item("protected-cells").evidence
    assert "2 of 2 unsafe cells can be determined more closely than the rules allow" in said


def test_the_public_part_tells_no_number_of_a_rule(context: AppContext, folder: Path) -> None:
    keys = SUM + 'rule = [{ rule = "p-percent", p = 17.3125 }]\nrange = 0.4375\n'
    made = release(context, folder, "secret", keys + 'secondary = "none"\ncost = "cells"\n')
    for path in (made / "public").rglob("*"):
        text = path.read_text("utf-8")
        assert "17.3125" not in text
        assert "0.4375" not in text
        assert "p-percent" not in text


def test_a_total_that_is_not_the_sum_of_its_parts_fails(context: AppContext, folder: Path) -> None:
    made = release(context, folder, "sums", SUM + 'protect = "none"\n')
    text = (made / "public/table.csv").read_text("utf-8")
    row = next(line for line in text.splitlines() if line.startswith("Total,Total,"))
    forged = forge(
        made,
        folder / "sums-forged",
        {"public/table.csv": text.replace(row, "Total,Total,1,F")},
        {},
    )
    assert "values of table.csv" in failed_claims(verified(context, forged))


def test_a_true_value_that_was_changed_inside_fails_with_the_source(
    context: AppContext, folder: Path
) -> None:
    made = release(context, folder, "inside", SUM + RULES + 'secondary = "none"\n')
    text = (made / "internal/table.csv").read_text("utf-8")
    lines = text.splitlines()
    place = next(i for i, line in enumerate(lines) if ",F," in line)
    for key, claim in (
        ("frequency", "the agency's tables are those of the source"),
        ("upper_required", "cells are unsafe by the rules of the plan"),
    ):
        column = lines[0].split(",").index(key)
        fields = lines[place].split(",")
        fields[column] = "77"
        changed = "\n".join([*lines[:place], ",".join(fields), *lines[place + 1 :]]) + "\n"
        forged = forge(made, folder / f"inside-{key}", {"internal/table.csv": changed}, {})
        assert failed_claims(verified(context, forged, folder / "firms.csv")) == {claim}


def test_an_unsafe_cell_that_is_called_safe_is_found_without_the_source(
    context: AppContext, folder: Path, tmp_path: Path
) -> None:
    """The number of its contributors stands beside it, and the threshold in the plan."""
    made = release(context, folder, "called-safe", SUM + RULES)
    header, *lines = (made / "internal/table.csv").read_text("utf-8").splitlines()
    names = header.split(",")
    cells = [dict(zip(names, line.split(","), strict=True)) for line in lines]
    assert verified(context, made).ok
    few = next(c for c in cells if c["status"] == "C" and 0 < int(c["frequency"]) < 7)
    few |= {"status": "D", "lower_required": "0", "upper_required": "0"}
    text = "\n".join([header, *(",".join(cell.values()) for cell in cells), ""])
    copy = forge(made, tmp_path / "copy", {"internal/table.csv": text}, {})
    found = verified(context, copy)
    assert any("the rules say otherwise" in each.reason for each in found.failures)


def test_linked_tables_share_their_cells(context: AppContext, folder: Path) -> None:
    keys = (
        'protect = "random-round"\nbase = 10\n'
        '[[protection.tables]]\nname = "by size"\nrows = ["region"]\ncolumns = ["size"]\n'
        '[[protection.tables]]\nname = "by region"\nrows = ["region"]\n'
    )
    made = release(context, folder, "linked", keys)
    first = read(made / "public/tables/by%20size.csv")
    second = read(made / "public/tables/by%20region.csv")
    assert {place[0]: row["value"] for place, row in first.items() if place[1] == "Total"} == {
        place[0]: row["value"] for place, row in second.items()
    }
    assert (made / "internal/tables/by%20region.csv").is_file()
    assert verified(context, made, folder / "firms.csv").failures == ()


def test_a_table_with_the_name_of_a_device_can_be_unpacked_on_every_system(
    context: AppContext, folder: Path
) -> None:
    keys = (
        'protect = "random-round"\nbase = 10\n'
        '[[protection.tables]]\nname = "con"\nrows = ["region"]\ncolumns = ["size"]\n'
        '[[protection.tables]]\nname = "Nul.1"\nrows = ["region"]\n'
    )
    made = release(context, folder, "devices", keys)
    names = sorted(path.name for path in (made / "public/tables").iterdir())
    assert names == ["%4Eul.1.csv", "%63on.csv"]
    assert verified(context, made, folder / "firms.csv").failures == ()


def test_a_table_that_is_rounded_again_has_the_same_numbers_and_a_lost_store_refuses(
    context: AppContext, folder: Path
) -> None:
    keys = SUM + 'protect = "random-round"\nbase = 7\n'
    first = release(context, folder, "rounded", keys)
    second = release(context, folder, "rounded-again", keys)
    values = (first / "public/table.csv").read_bytes()
    assert values == (second / "public/table.csv").read_bytes()
    inside = read(first / "internal/table.csv")
    for place, row in read(first / "public/table.csv").items():
        true, shown = Fraction(inside[place]["value"]), Fraction(row["value"])
        assert shown % 7 == 0
        assert abs(true - shown) < 7
    assert verified(context, first, folder / "firms.csv").failures == ()
    kept = {path: path.read_bytes() for path in (context.home / "roundings").glob("*.json")}
    for path in kept:
        path.unlink()
    with pytest.raises(StorageError) as caught:
        release(context, folder, "rounded-lost", keys)
    assert caught.value.code == "roundings.lost"
    for path, content in kept.items():  # for the tests that follow
        path.write_bytes(content)
    assert not (folder / "rounded-lost").exists()


NORTH = 'merge = { region = { "north" = ["n1", "n2"] } }\n'


def test_merged_categories_are_counted_as_rows_with_another_value(
    context: AppContext, folder: Path, firms: list[dict[str, str]]
) -> None:
    """A label of a whole group of a hierarchy is that group; no other node stays below it."""
    both = NORTH.replace("} }", '}, size = { "any size" = ["small", "large"] } }')
    made = release(context, folder, "merged", SUM + RULES + both)
    told = {"n1": "north", "n2": "north", "s1": "s1"}
    rows = [{**row, "region": told[row["region"]], "size": "any size"} for row in firms]
    paths = {"region": {"s1": ("south",)}}
    wanted = reference.cells(rows, ["region", "size"], paths, value="turnover")
    found = read(made / "internal/table.csv")
    assert set(found) == set(wanted)
    for place, cell in wanted.items():
        assert Fraction(found[place]["value"]) == sum(cell.values()), place
        assert int(found[place]["frequency"]) == len(cell)
    assert verified(context, made, folder / "firms.csv").ok
    assert verified(context, made / "public").ok


def test_a_forged_merge_fails(context: AppContext, folder: Path, tmp_path: Path) -> None:
    """That other values stand under a label is told with the source, that they do by the files."""
    made = release(context, folder, "merged", SUM + RULES + NORTH)
    table = read_canonical(made / "public/manifest.json")["result"]
    axes = [dict(one) for one in table["tables"][0]["dimensions"]]  # type: ignore[index]
    axes[0]["categories"] = ["n1", *axes[0]["categories"][1:]]
    lines = [{**table["tables"][0], "dimensions": axes}]  # type: ignore[index]
    text = (made / "public/table.csv").read_text("utf-8").replace("north", "n1")
    inside = (made / "internal/table.csv").read_text("utf-8").replace("north", "n1")
    files = {"public/table.csv": text, "internal/table.csv": inside}
    copy = forge(made, tmp_path / "copy", files, {"tables": lines})
    assert "tables are those of the settings" in (failed_claims(verified(context, copy)))


def test_a_merged_cell_is_rounded_as_the_group_that_it_is(
    context: AppContext, folder: Path
) -> None:
    keys = SUM + 'protect = "random-round"\nbase = 11\n'
    whole = read(release(context, folder, "with groups", keys) / "public/table.csv")
    head = HEAD.partition("[attributes")[0]
    merged = release(context, folder, "without", keys + NORTH, head=head)
    found = read(merged / "public/table.csv")
    assert {place[0] for place in found} == {"north", "s1", "Total"}
    assert all(row["value"] == whole[place]["value"] for place, row in found.items())


READY = """region,size,value,n,top1,top2,st
n1,small,50,5,20,15,
n1,large,30,4,25,3,
n2,small,10,2,6,4,
n2,large,20,3,10,5,S
n1,Total,80,9,25,20,
n2,Total,30,5,10,6,
Total,Total,110,14,25,20,P
"""


def test_ready_cells_have_their_absent_totals_added_up(context: AppContext, folder: Path) -> None:
    (folder / "ready.csv").write_text(READY.replace("value", "val"), "utf-8")
    keys = (
        'rows = ["region"]\ncolumns = ["size"]\nmeasure = { sum = "val" }\nsecondary = "none"\n'
        'cells = { value = "val", frequency = "n", top = ["top1", "top2"], status = "st" }\n'
        'rule = [{ rule = "p-percent", p = 10 }, { rule = "threshold", n = 4 }]\n'
    )
    made = release(context, folder, "ready", keys, head='[source]\npath = "ready.csv"\n')
    found = read(made / "internal/table.csv")
    assert found[("Total", "large")]["value"] == "50"
    assert found[("Total", "large")]["frequency"] == "7"
    unsafe = {place for place, row in found.items() if row["status"] == "C"}
    # n1, large: 30 - 25 - 3 = 2 < 2.5; n2, small: 2 < 4 contributors. n2, large was set safe.
    assert unsafe == {("n1", "large"), ("n2", "small")}
    assert float(found[("n1", "large")]["upper_required"]) == pytest.approx(0.5)
    assert verified(context, made, folder / "ready.csv").failures == ()


@pytest.mark.parametrize(
    ("protection", "code"),
    [
        ("", "table.no-dimensions"),
        ('rows = ["regoin"]\n', "table.unknown-column"),
        ('rows = ["region"]\ncolumns = ["region"]\n', "table.twice"),
        ('rows = ["region"]\nprotect = "random-round"\n', "table.base"),
        ('rows = ["region"]\nmeasure = { sum = "size" }\n', "source.not-a-number"),
        ('rows = ["region"]\nrule = [{ rule = "dominance", n = 2 }]\n', "parameter.invalid"),
        ('rows = ["region"]\nrule = [{ rule = "threshold", n = "3" }]\n', "parameter.invalid"),
        ('rows = ["size"]\ntotal = "small"\n', "table.total"),
        *(
            (f'rows = ["size", "region"]\nmerge = {{ {groups} }}\n', "table.merge")
            for groups in (
                'trade = { a = ["x"] }',
                'size = { a = ["huge"] }',
                'size = { large = ["small"] }',
                'size = { Total = ["small", "large"] }',
                'size = { a = ["small"], b = ["small"] }',
                'region = { a = ["n1", "s1"] }',
            )
        ),
        (
            'rows = ["region"]\nmerge = { region = { south = ["n1", "n2"] } }\n',
            "table.double-label",
        ),
        ('rows = ["size"]\nmerge = { size = ["small"] }\n', "parameter.invalid"),
        (
            'merge = { size = { a = ["small", "large"] } }\n'
            '[[protection.tables]]\nname = "a"\nrows = ["size"]\n',
            "table.merge",
        ),
        (
            'rows = ["size"]\nmeasure = { mean = "turnover" }\nprotect = "controlled-round"\n'
            "base = 5\n",
            "table.mean",
        ),
    ],
)
def test_what_is_wrong_with_a_plan_is_said(
    context: AppContext, folder: Path, protection: str, code: str
) -> None:
    with pytest.raises(DpdeskError) as caught:
        release(context, folder, "wrong", protection)
    assert caught.value.code == code
    assert not (folder / "wrong").exists()


def test_noise_that_was_paid_for_on_the_same_people_is_noted_and_verifies(
    context: AppContext, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dpdesk.app.witnessing.noise_paid", lambda *_: ("ε = 1",))
    made = release(context, folder, "paid", f'protect = "none"\n{SUM}')
    assert verified(context, made, folder / "firms.csv").ok
    place = made / "internal/evidence.json"
    evidence = dict(read_canonical(place))
    assert any("(ε = 1)" in str(note) for note in evidence["notes"])  # type: ignore[attr-defined]
    place.write_bytes(canonical_json({k: v for k, v in evidence.items() if k != "noise_paid"}))
    (made / "internal/seal.json").write_bytes(seal_bytes(made, CancelToken()))
    assert not verified(context, made, folder / "firms.csv").ok


def test_numbers_are_not_cut_where_no_public_page_would_say_so(
    context: AppContext, folder: Path
) -> None:
    head = HEAD.replace("[attributes", "coarsen = { turnover = { top = 9 } }\n[attributes", 1)
    with pytest.raises(InputError, match="`coarsen` applies to methods that release rows"):
        release(context, folder, "cut", SUM + RULES, head=head)


ALONE = """
a,x,-247.2,h7
a,x,283.2,h1
a,y,12.5,h0
a,z,-19.0,h1
a,z,28.8,h5
b,x,-100.0,h2
b,x,-13.7,h4
b,x,105.9,h6
b,x,11.7,h3
b,x,44.0,h4
b,z,12.5,h0
b,z,195.9,h3
c,x,-10.3,h4
c,x,19.3,h7
c,x,22.3,h1
c,x,292.9,h2
c,y,12.5,h0
c,z,-10.6,h3
c,z,36.1,h7
"""


def test_a_holding_alone_in_a_total_is_so_in_each_of_its_parts(
    context: AppContext, tmp_path: Path
) -> None:
    """It learns nothing of them that it does not know: that was taken for an attack."""
    (tmp_path / "firms.csv").write_text(f"region,size,turnover,group{ALONE}", "utf-8")
    head = '[source]\npath = "firms.csv"\n[attributes.group]\nrole = "cluster"\n'
    keys = SUM + 'rule = [{ rule = "dominance", n = 1, k = 70 }]\n'
    made = release(context, tmp_path, "alone", keys, head=head)
    inside = read(made / "internal/table.csv")
    lone = [place for place, row in inside.items() if row["frequency"] == "1"]
    assert lone == [("a", "y"), ("c", "y"), ("Total", "y")]
    assert verified(context, made).failures == ()
    assert verified(context, made, tmp_path / "firms.csv").ok


TWICE = """
a,x,20.4,h6
a,x,40.6,h9
a,x,54.2,h7
a,y,12.5,h0
a,y,13.7,h7
a,y,20.2,h3
a,y,31.4,h2
a,z,19.2,h5
b,y,11.0,h3
b,y,12.5,h0
b,y,44.6,h11
b,z,123.9,h10
b,z,19.2,h7
b,z,20.1,h10
b,z,21.4,h0
c,x,25.1,h5
c,y,10.7,h4
c,y,12.7,h3
c,y,50.3,h7
c,y,81.4,h2
c,z,12.5,h0
c,z,12.5,h5
c,z,15.7,h7
c,z,17.4,h1
c,z,18.1,h4
c,z,18.7,h3
c,z,62.5,h11
"""


def test_that_two_cells_may_be_of_one_holding_is_no_fault_where_the_source_is_away(
    context: AppContext, tmp_path: Path
) -> None:
    (tmp_path / "firms.csv").write_text(f"region,size,turnover,group{TWICE}", "utf-8")
    head = '[source]\npath = "firms.csv"\n[attributes.group]\nrole = "cluster"\n'
    keys = SUM + 'rule = [{ rule = "p-percent", p = 5 }]\n'
    made = release(context, tmp_path, "twice", keys, head=head)
    away = verified(context, made)
    assert away.failures == ()
    assert any("as contributors who are alone" in check.found for check in away.claims)
    assert verified(context, made, tmp_path / "firms.csv").ok
    inside = (made / "internal/table.csv").read_text("utf-8").splitlines()
    names = inside[0].split(",")
    place = next(n for n, line in enumerate(inside) if line.startswith("a,z,"))
    row = dict(zip(names, inside[place].split(","), strict=True))
    assert (row["status"], row["frequency"]) == ("C", "1")
    row["lower_required"] = row["upper_required"] = "900"
    inside[place] = ",".join(row.values())
    files = {"internal/table.csv": "\n".join([*inside, ""])}
    assert verified(context, forge(made, tmp_path / "forged", files, {})).failures


def test_whoever_is_alone_in_a_published_total_knows_its_empty_parts(
    context: AppContext, tmp_path: Path
) -> None:
    """Nothing can hide from them that the others are empty, where whole groups are protected."""
    rows = ["a,x"] * 3 + ["b,x"] * 5 + ["b,y"] * 8 + ["c,x"]
    (tmp_path / "people.csv").write_text("\n".join(["region,size", *rows, ""]), "utf-8")
    keys = 'rows = ["region"]\ncolumns = ["size"]\n'
    rule = 'rule = [{ rule = "threshold", n = 1, full = true }]\n'
    head = '[source]\npath = "people.csv"\n'
    made = release(context, tmp_path, "whole", keys + rule, head=head)
    found = read(made / "internal/table.csv")
    assert found[("c", "Total")]["frequency"] == "1"
    assert found[("c", "y")]["status"] == "C"
    assert verified(context, made).failures == ()
    assert verified(context, made, tmp_path / "people.csv").ok
