"""Protection on request, and protection that is waived: by hand, verified, forged."""

from __future__ import annotations

import csv
import random
import shutil
from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from pathlib import Path

import pytest

from dpdesk.app.context import AppContext
from dpdesk.app.running import run_plan
from dpdesk.app.verifying import verify_release
from dpdesk.core.errors import InputError
from dpdesk.core.jobs import CancelToken, Event, Note, silent
from dpdesk.core.release import CheckStatus
from dpdesk.io.canonical import canonical_json, read_canonical
from dpdesk.io.release_folder import seal_bytes

HEAD = 'version = 1\n[source]\npath = "firms.csv"\n[attributes.firm]\nrole = "cluster"\n'
TABLE = (
    '[protection]\nmethod = "table"\nrows = ["region"]\ncolumns = ["size"]\n'
    'measure = { sum = "turnover" }\n'
)
P_PERCENT, DOMINANCE = '{ rule = "p-percent", p = 60 }', '{ rule = "dominance", n = 3, k = 75 }'
REQUEST = 'request = { column = "asked", values = ["yes", "ja"], k = 30 }\n'
WAIVE = 'waive = { column = "agrees", values = ["yes"] }\n'
REGIONS, SIZES = ("n", "s", "w", "Total"), ("large", "small", "Total")


@pytest.fixture(scope="module")
def context(module_home: Path) -> Iterator[AppContext]:
    with AppContext.open(module_home) as opened:
        yield opened


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    draw, made = random.Random(11), tmp_path_factory.mktemp("firms")
    with (made / "firms.csv").open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["firm", "region", "size", "turnover", "asked", "agrees"])
        agrees = [draw.choice(["yes", "yes", "yes", "no"]) for _ in range(25)]
        for number in range(60):
            place = draw.choice("nnnsw"), draw.choice(["small", "small", "large"])
            firm = draw.randrange(25)
            writer.writerow(
                [
                    f"f{firm}",
                    *place,
                    int(draw.lognormvariate(4, 1)) if number else "",
                    draw.choice(["no", "no", "no", "yes", "ja", ""]),
                    agrees[firm],
                ]
            )
    return made


def release(context: AppContext, folder: Path, name: str, protection: str) -> Path:
    shutil.rmtree(folder / name, ignore_errors=True)
    path = folder / f"{name}.toml"
    path.write_text(HEAD + TABLE + protection, "utf-8")
    return run_plan(context, path, folder / name, CancelToken(), silent).out


def read(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def unsafe(rows: list[dict[str, str]], rule: str, *, asks: bool, waives: bool) -> bool:
    """By the letter: whether a cell of these rows breaks the rule, or is asked to be protected."""
    gave: dict[str, int] = {}
    asked, agrees = set(), {row["firm"] for row in rows if row["turnover"]}
    for row in rows:
        if not row["turnover"]:
            continue
        gave[row["firm"]] = gave.get(row["firm"], 0) + int(row["turnover"])
        if row["asked"] in ("yes", "ja"):
            asked.add(row["firm"])
        if row["agrees"] != "yes":
            agrees.discard(row["firm"])
    total = sum(gave.values())
    if asks and any(gave[firm] > Fraction(30, 100) * total for firm in asked):
        return True
    largest = sorted(gave, key=lambda firm: (-gave[firm], firm in agrees))
    sizes = [*(gave[firm] for firm in largest), 0, 0, 0]
    looked_at = 2 if rule == P_PERCENT else 3
    if waives and all(firm in agrees for firm in largest[:looked_at]):
        return False
    if rule == P_PERCENT:
        return total - sizes[0] - sizes[1] < Fraction(60, 100) * sizes[0]
    return sum(sizes[:3]) > Fraction(75, 100) * total


def faults(context: AppContext, made: Path, source: Path | None) -> set[str]:
    given = context.registry, CancelToken(), silent, source, context.workspace
    report = verify_release(made, *given)
    return {claim.claim for claim in report.claims if claim.status is CheckStatus.FAILED} | {
        each.reason for each in report.failures
    }


@pytest.mark.parametrize(
    ("rule", "asks", "waives"), list(product([P_PERCENT, DOMINANCE], [False, True], [False, True]))
)
def test_cells_are_unsafe_by_request_and_safe_by_consent_as_the_letter_says(
    context: AppContext, folder: Path, rule: str, asks: bool, waives: bool
) -> None:
    more = (REQUEST if asks else "") + (WAIVE if waives else "")
    made = release(context, folder, "made", f"rule = [{rule}]\n{more}")
    source = read(folder / "firms.csv")
    for cell in read(made / "internal/table.csv"):
        rows = [
            row
            for row in source
            if cell["region"] in (row["region"], "Total") and cell["size"] in (row["size"], "Total")
        ]
        expected = unsafe(rows, rule, asks=asks, waives=waives)
        assert (cell["status"] == "C") is expected, cell
    for place in (None, folder / "firms.csv"):
        assert not faults(context, made, place)


def test_they_differ_from_the_rules_alone_and_stay_in_the_agency(
    context: AppContext, folder: Path
) -> None:
    plain, asked, waived, both = (
        release(context, folder, name, f"rule = [{P_PERCENT}]\n{more}")
        for name, more in (
            *(("plain", ""), ("asked", REQUEST)),
            *(("waived", WAIVE), ("both", REQUEST + WAIVE)),
        )
    )
    found = [
        {
            (row["region"], row["size"])
            for row in read(made / "internal/table.csv")
            if row["status"] == "C"
        }
        for made in (plain, asked, waived)
    ]
    assert found[2] < found[0] < found[1]
    for path in (both / "public").iterdir():
        assert b"agrees" not in path.read_bytes()
        assert b"asked" not in path.read_bytes()


def test_a_cell_whose_request_was_passed_over_is_found(context: AppContext, folder: Path) -> None:
    made = release(context, folder, "honest", f'protect = "none"\nrule = [{P_PERCENT}]\n')
    copy = folder / "forged"
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(made, copy)
    evidence = dict(read_canonical(copy / "internal/evidence.json"))
    asked = {"column": "asked", "values": ["yes", "ja"], "k": 30}
    plan = dict(evidence["plan"])  # type: ignore[call-overload]
    plan["protection"] = {**plan["protection"], "request": asked}
    evidence |= {"plan": plan, "parameters": {**evidence["parameters"], "request": asked}}  # type: ignore[dict-item]
    (copy / "internal/evidence.json").write_bytes(canonical_json(evidence))
    (copy / "internal/seal.json").write_bytes(seal_bytes(copy, CancelToken()))
    assert "cells are unsafe by the rules of the plan" in faults(
        context, copy, folder / "firms.csv"
    )


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ('request = { column = "nobody", values = ["yes"] }\n', "no column `nobody`"),
        ('waive = { column = "nobody", values = ["yes"] }\n', "no column `nobody`"),
        ('request = { column = "asked", values = ["yes"], k = 120 }\n', "request"),
        ('waive = { column = "agrees", values = [] }\n', "waive"),
        (
            'cells = { value = "turnover" }\nwaive = { column = "agrees", values = ["yes"] }\n',
            "ready",
        ),
    ],
)
def test_what_does_not_fit_is_refused(
    context: AppContext, folder: Path, more: str, said: str
) -> None:
    with pytest.raises(InputError, match=said):
        release(context, folder, "wrong", f"rule = [{P_PERCENT}]\n{more}")


def test_values_that_no_row_has_are_named_to_the_agency_alone(
    context: AppContext, folder: Path
) -> None:
    asked = 'request = { column = "asked", values = ["yes", "yess"], k = 30 }\n'
    waived = 'waive = { column = "agrees", values = ["yse"] }\n'
    path = folder / "slip.toml"
    path.write_text(f"{HEAD}{TABLE}rule = [{P_PERCENT}]\n{asked}{waived}", "utf-8")
    said: list[str] = []

    def told(event: Event) -> None:
        if isinstance(event, Note) and event.code == "table.no-such-value":
            said.append(event.sentence)

    shutil.rmtree(folder / "slip", ignore_errors=True)
    made = run_plan(context, path, folder / "slip", CancelToken(), told)
    assert {"yess" in each for each in said} == {True, False}
    assert all("asked" in each or "agrees" in each for each in said)
    assert not any("`yes`" in each for each in said)
    for public in (made.out / "public").iterdir():
        assert b"yess" not in public.read_bytes()
