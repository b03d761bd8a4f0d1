"""Counts changed by cell keys, from the plan to the verified folder."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from pathlib import Path

import pytest

from dpdesk.app.context import AppContext
from dpdesk.core.errors import DpdeskError, InputError, StorageError
from dpdesk.engine.tables.cellkeys import PerturbationTable
from dpdesk.io.canonical import read_canonical
from tests.e2e.test_table_release import failed_claims, forge, read, release, verified
from tests.reference import cell_keys as reference

HEAD = '[source]\npath = "people.csv"\n'
KEYED = 'protect = "cell-key"\ndeviation = 4\nvariance = 2.5\n'
TWO = 'rows = ["town"]\ncolumns = ["sex"]\n'
PEOPLE = [
    {"town": town, "sex": sex, "club": "yes" if town == "n" else "no"}
    for town, sex, count in (("n", "f", 30), ("n", "m", 2), ("s", "f", 1), ("s", "m", 40))
    for _ in range(count)
]


@pytest.fixture(scope="module")
def context(module_home: Path) -> Iterator[AppContext]:
    with AppContext.open(module_home) as opened:
        yield opened


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("people")
    rows = [",".join(one.values()) for one in PEOPLE]
    (made / "people.csv").write_text("\n".join(["town,sex,club", *rows, ""]), "utf-8")
    return made


def keys_at_home(context: AppContext) -> list[int]:
    """The keys of all rows, as they are kept."""
    (kept,) = (context.home / "roundings").glob("*.json")
    texts = str(read_canonical(kept)["keys"])
    return [int(texts[i : i + 16], 16) for i in range(0, len(texts), 16)]


def test_every_count_is_changed_by_the_keys_of_its_rows_and_stays_so(
    context: AppContext, folder: Path
) -> None:
    first = release(context, folder, "keyed", TWO + KEYED, head=HEAD)
    again = release(context, folder, "again", TWO + KEYED, head=HEAD)
    assert (first / "public/table.csv").read_bytes() == (again / "public/table.csv").read_bytes()
    keys = keys_at_home(context)
    assert len(set(keys)) == len(PEOPLE)
    shares = PerturbationTable.of(4, Fraction(5, 2)).shares
    shown = read(first / "public/table.csv")
    for town, sex in product(("n", "s", "Total"), ("f", "m", "Total")):
        own = [
            key
            for row, key in zip(PEOPLE, keys, strict=True)
            if town in (row["town"], "Total") and sex in (row["sex"], "Total")
        ]
        assert int(shown[(town, sex)]["value"]) == reference.changed(len(own), own, shares)
    assert verified(context, first, folder / "people.csv").failures == ()


def test_the_same_rows_change_alike_in_tables_of_other_columns(
    context: AppContext, folder: Path
) -> None:
    towns = release(context, folder, "towns", TWO + KEYED, head=HEAD)
    clubs = release(context, folder, "clubs", TWO.replace("town", "club") + KEYED, head=HEAD)
    by_town, by_club = read(towns / "public/table.csv"), read(clubs / "public/table.csv")
    for sex in ("f", "m", "Total"):
        assert by_town[("n", sex)]["value"] == by_club[("yes", sex)]["value"]
        assert by_town[("Total", sex)]["value"] == by_club[("Total", sex)]["value"]


def test_a_count_that_was_changed_too_far_fails(context: AppContext, folder: Path) -> None:
    made = release(context, folder, "whole", TWO + KEYED, head=HEAD)
    text = (made / "public/table.csv").read_text("utf-8")
    value = read(made / "public/table.csv")[("s", "m")]["value"]
    other = text.replace(f"s,m,{value},F", "s,m,60,F")
    assert other != text
    forged = forge(made, folder / "forged", {"public/table.csv": other}, {})
    report = verified(context, forged, folder / "people.csv")
    assert failed_claims(report) == {"the agency's tables"}


def test_lost_keys_refuse(context: AppContext, folder: Path) -> None:
    release(context, folder, "before", TWO + KEYED, head=HEAD)
    (kept,) = (context.home / "roundings").glob("*.json")
    content = kept.read_bytes()
    for damaged, code in ((b"", "roundings.lost"), (b"{}", "roundings.damaged")):
        kept.unlink()
        if damaged:
            kept.write_bytes(damaged)
            kept.chmod(0o600)
        with pytest.raises(StorageError) as caught:
            release(context, folder, "after", TWO + KEYED, head=HEAD)
        assert caught.value.code == code
        kept.write_bytes(content)


@pytest.mark.parametrize(
    ("keys", "code"),
    [
        (TWO + KEYED.replace("deviation = 4", "deviation = 2"), "table.variance"),
        (TWO + KEYED.replace("2.5", "4"), "table.variance"),
        (TWO + KEYED + 'measure = { sum = "club" }\n', "table.cell-key"),
        (TWO + KEYED + 'cells = { value = "club" }\n', "table.cell-key"),
    ],
)
def test_plans_that_cannot_be_are_refused(
    context: AppContext, folder: Path, keys: str, code: str
) -> None:
    with pytest.raises(DpdeskError) as caught:
        release(context, folder, "refused", keys, head=HEAD)
    assert isinstance(caught.value, InputError)
    assert caught.value.code == code
    assert not (folder / "refused").exists()
