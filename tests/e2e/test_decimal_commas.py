"""A file with decimal commas gives the release of the same file with decimal points.

Sizes of values decide where columns are cut, how far apart values are, and in which order a table
shows them.
"""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from dpdesk.cli.main import main
from tests.helpers.forging import manifest_of, seal_again

pytestmark = pytest.mark.cheap_prints

AMOUNTS = ("10.25", "1.5", "9.75", "100.5", "-3.5", "20", "3")
QUASI = """
[attributes.town]
role = "quasi-identifier"
[attributes.pay]
role = "quasi-identifier"
"""
CLOSE = """
[attributes.town]
role = "quasi-identifier"
hierarchy = { kind = "mask" }
[attributes.pay]
role = "sensitive"
[protection]
method = "k-anonymity"
k = 2
levels = { town = 0 }
max_suppression = 0.9
[[protection.require]]
model = "t-closeness"
attribute = "pay"
variant = "ordered"
t = 0.2
"""
PLANS = {
    "mondrian": QUASI + '[protection]\nmethod = "k-anonymity"\nk = 3\nalgorithm = "mondrian"\n'
    'values = "ranges"\n',
    "k-optimize": QUASI + '[protection]\nmethod = "k-anonymity"\nk = 3\nalgorithm = "k-optimize"\n',
    "nodes": QUASI + '[protection]\nmethod = "k-anonymity"\nk = 3\nalgorithm = "mondrian"\n',
    "t-closeness": CLOSE,
    "t-closeness and a share": CLOSE
    + '[[protection.require]]\nmodel = "alpha-k"\nattribute = "pay"\nalpha = 0.9\n',
    "table": '[protection]\nmethod = "table"\nrows = ["pay"]\ncolumns = ["town"]\n'
    '[[protection.rule]]\nrule = "threshold"\nn = 3\n',
}


def _rows() -> list[tuple[str, str]]:
    """Towns whose amounts are alike as texts and apart as numbers, or the other way round."""
    held = {"a": (0, 1, 2), "b": (1, 5, 6), "c": (3, 5, 4), "d": range(7)}
    return [
        (town, AMOUNTS[places[n % len(places)]]) for town, places in held.items() for n in range(11)
    ]


def _written(folder: Path, mark: str, plan: str) -> Path:
    folder.mkdir()
    lines = ["town;pay", *(f"{town};{pay.replace('.', mark)}" for town, pay in _rows())]
    (folder / "people.csv").write_text("\n".join(lines) + "\n", "utf-8")
    made = folder / "plan.toml"
    source = f'path = "people.csv"\ndelimiter = ";"\ndecimal = "{mark}"\n'
    made.write_text(f"version = 1\n[source]\n{source}{plan}", "utf-8")
    return made


def _released(out: Path) -> tuple[list[list[str]], object]:
    found = next(out.glob("public/*.csv"))
    with found.open(newline="", encoding="utf-8") as file:
        rows = [[cell.replace(",", ".") for cell in row] for row in csv.reader(file)]
    body = rows[1:] if found.name == "table.csv" else sorted(rows[1:])
    result = json.loads((out / "public/manifest.json").read_text("utf-8"))["result"]
    return [rows[0], *body], result.get("metrics")


@pytest.mark.parametrize("name", PLANS)
def test_decimal_commas_give_the_release_of_decimal_points(name: str, tmp_path: Path) -> None:
    found = []
    for mark in (".", ","):
        folder = tmp_path / ("points" if mark == "." else "commas")
        plan, out = _written(folder, mark, PLANS[name]), folder / "release"
        assert main(["run", str(plan), "--out", str(out)]) == 0
        source = folder / "people.csv"
        assert main(["verify", str(out), "--source", str(source)]) == 0
        assert main(["verify", str(out / "public")]) == 0
        found.append(_released(out))
    assert found[0] == found[1]


def test_a_forged_decimal_mark_is_found(tmp_path: Path) -> None:
    plan, out = _written(tmp_path / "commas", ",", CLOSE), tmp_path / "commas" / "release"
    assert main(["run", str(plan), "--out", str(out)]) == 0
    manifest = manifest_of(out)
    asked = manifest["guarantee"]["parameters"]["require"][0]
    assert asked["decimal"] == ","
    del asked["decimal"]
    seal_again(out, manifest)
    assert main(["verify", str(out), "--source", str(tmp_path / "commas" / "people.csv")]) == 1
