"""Intervals that must be wide wherever they lie, from the plan to forged releases."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from dpdesk.app.context import AppContext
from dpdesk.io.canonical import read_canonical
from tests.e2e.test_ratio_tables import firms
from tests.e2e.test_table_cases import released, sound
from tests.e2e.test_table_release import failed_claims, forge, read, verified

pytestmark = pytest.mark.cheap_prints

TWO = 'rows = ["r"]\ncolumns = ["q"]\n'
RULE = 'rule = [{ rule = "threshold", n = 3 }]\n'
ATTACK = "protection of unsafe cells"


@pytest.fixture(scope="module")
def context(module_home: Path) -> Iterator[AppContext]:
    with AppContext.open(module_home) as opened:
        yield opened


@pytest.mark.parametrize(
    "measure",
    ["", 'measure = { sum = "x", weight = "w" }\n', 'measure = { mean = "x", weight = "y" }\n'],
)
@pytest.mark.parametrize("secondary", ["optimal", "heuristic", "hitas"])
def test_unsafe_cells_span_what_is_asked(
    context: AppContext, tmp_path: Path, measure: str, secondary: str
) -> None:
    keys = f'{TWO}{RULE}{measure}secondary = "{secondary}"\nsliding = 0.9\n'
    keys += "attacker = { lower = 0.5, upper = 1.6, present = true }\n"
    made = released(context, tmp_path, firms(6), keys)
    for row in read(made / "internal/table.csv").values():
        if row["status"] == "C":
            wide = float(row["upper"]) - float(row["lower"])
            assert wide >= float(row["width_required"]) - 1e-6 > 0
            assert float(row["width_required"]) == pytest.approx(0.9 * float(row["value"]))
        else:
            assert row["width_required"] == "0"
    assert sound(context, made)
    assert "width_required" not in (made / "public/table.csv").read_text("utf-8")
    assert "sliding" not in (made / "public/manifest.json").read_text("utf-8")


@pytest.mark.parametrize("measure", ["", 'measure = { sum = "x" }\n'])
def test_what_published_empty_cells_tell_of_widths_is_found_again(
    context: AppContext, tmp_path: Path, measure: str
) -> None:
    """Widths that hold for everyone but those who see that no suppressed cell is empty."""
    told = 0
    for seed in range(4):
        keys = f"{TWO}{RULE}{measure}singletons = false\nsliding = 1\n".replace("n = 3", "n = 6")
        folder = tmp_path / str(seed)
        folder.mkdir()
        made = released(context, folder, firms(seed, 26), keys)
        assert sound(context, made)
        found = read_canonical(made / "internal/evidence.json")["result"]
        assert isinstance(found, dict)
        told += int(str(found["told_exactly_if_present"]))
        told += int(str(found["told_closer_if_present"]))
    assert bool(told) is not bool(measure)


def test_forged_widths_fail(context: AppContext, tmp_path: Path) -> None:
    keys = f"{TWO}{RULE}singletons = false\nattacker = {{ lower = 0.5, upper = 1.6 }}\n"
    made = released(context, tmp_path, firms(6), f"{keys}sliding = 1\n")
    cells = read(made / "internal/table.csv")
    source, file = tmp_path / "in.csv", "internal/table.csv"
    text = (made / file).read_text("utf-8")
    row = next(row for row in cells.values() if row["status"] == "C")
    wide = float(row["upper"]) - float(row["lower"])
    more = text.replace(f",{row['width_required']}\n", f",{wide + 1:g}\n")
    assert more != text
    copy = forge(made, tmp_path / "more", {file: more}, {})
    assert ATTACK in failed_claims(verified(context, copy))
    less = text.replace(f",{row['width_required']}\n", ",0\n")
    copy = forge(made, tmp_path / "less", {file: less}, {})
    assert verified(context, copy).ok
    assert "cells are unsafe by the rules of the plan" in failed_claims(
        verified(context, copy, source)
    )
    lines = [line.rpartition(",")[0] for line in text.splitlines()]
    copy = forge(made, tmp_path / "none", {file: "\n".join([*lines, ""])}, {})
    assert failed_claims(verified(context, copy, source))
