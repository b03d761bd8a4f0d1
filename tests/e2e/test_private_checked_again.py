"""What the program releases with noise it confirms with the source, however that was read."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import xlsxwriter

from dpdesk.app.context import AppContext
from dpdesk.app.verifying import verify_release
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.core.release import CheckStatus
from dpdesk.engine.methods.registered import default_registry
from dpdesk.engine.noise import randomness
from tests.helpers.cubes import release
from tests.helpers.neighbours import NoNoise

_CUBE = """[protection]
method = "dp-cube"
dimensions = ["town", "sex"]
domains = { town = ["a", "b", "c"], sex = ["f", "m"] }
epsilon = 1
"""
_TEXT = """encoding = "utf-8"
delimiter = ","
decimal = "."
quote = '"'
header = true
missing = [""]
"""
_TYPES = 'types = { town = "text", sex = "text" }\n'
_WIDE = [f"d{place}" for place in range(10)]
_MANY = f"""[protection]
method = "dp-cube"
dimensions = {json.dumps(_WIDE)}
domains = {{ {", ".join(f'{name} = ["a", "b", "c", "d"]' for name in _WIDE)} }}
publish = {{ max_dimensions = 1 }}
epsilon = 1
"""


def rows() -> list[list[str]]:
    """Persons with up to four rows, who are named by one number in several forms."""
    forms = ("{}", "{}.0", "0{}", "{}.00")
    found = [["who", "town", "sex", "note"]]
    for place in range(80):
        who = forms[place % 4].format(place // 4 + 1)
        found.append([who, "abcd"[place % 4 if place % 3 else 1], "fm"[place % 2], f"n{place}"])
    return found


def text(folder: Path, above: str = "", escape: bool = False) -> str:
    """The rows as a text, below titles."""
    lines = [",".join(row) for row in rows()]
    if escape:
        lines[1] = '1,a,f,"n\\"1"'
    (folder / "people.csv").write_text(above + "\n".join(lines) + "\n", "utf-8")
    return f'path = "people.csv"\n{_TEXT}'


def some_columns(folder: Path) -> str:
    """Types of the columns that are used, and of no other."""
    return text(folder) + _TYPES + _CUBE


def more_cells_than_are_counted_at_once(folder: Path) -> str:
    """Many dimensions, whose rows are chosen where they lie."""
    with (folder / "wide.csv").open("w", encoding="utf-8", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(["id", *_WIDE])
        out.writerows([[n, *("abcde"[(n * j + j) % 5] for j in range(10))] for n in range(90)])
    kinds = ", ".join(f'{name} = "text"' for name in _WIDE)
    return f'path = "wide.csv"\n{_TEXT}types = {{ {kinds} }}\n{_MANY}'


def titles(folder: Path) -> str:
    """Lines above the table."""
    return text(folder, "People\n\n") + "skip = 2\n" + _TYPES + _CUBE


def escaped(folder: Path) -> str:
    """A mark before quotes."""
    return text(folder, escape=True) + "escape = '\\'\n" + _TYPES + _CUBE


def numbers_that_name_persons(folder: Path) -> str:
    """One person under several forms of a number."""
    types = 'types = { who = "number", town = "text", sex = "text" }\n'
    role = '[attributes]\nwho = { role = "cluster" }\n'
    return text(folder) + types + role + _CUBE + "rows_per_person = 2\n"


def sheet(folder: Path) -> str:
    """A workbook with a title."""
    with xlsxwriter.Workbook(str(folder / "people.xlsx")) as book:
        page = book.add_worksheet("people")
        for place, row in enumerate([["People"], *rows()]):
            page.write_row(place, 0, row)
    return f'path = "people.xlsx"\nheader = true\nmissing = [""]\nskip = 1\n{_TYPES}{_CUBE}'


@pytest.fixture(scope="module")
def context(module_home: Path) -> Iterator[AppContext]:
    with AppContext.open(module_home) as opened:
        yield opened


@pytest.mark.parametrize(
    "write",
    [
        some_columns,
        more_cells_than_are_counted_at_once,
        titles,
        escaped,
        numbers_that_name_persons,
        sheet,
    ],
)
def test_what_is_released_is_confirmed_with_its_source(
    write: Callable[[Path], str], context: AppContext, tmp_path: Path
) -> None:
    plan = tmp_path / "plan.toml"
    source = write(tmp_path)
    named = f'[budget]\npopulation = "{write.__name__}"\n'
    plan.write_text(f'version = 1\ntitle = "T"\n[source]\n{source}{named}', "utf-8")
    out = release(context, plan, tmp_path / "release").out
    data = next(path for path in tmp_path.iterdir() if path.stem in ("people", "wide"))
    found = verify_release(out, default_registry(), CancelToken(), silent, data)
    assert found.failures == ()
    assert {check.status for check in found.claims} == {
        CheckStatus.CONFIRMED,
        CheckStatus.NOT_CHECKABLE,
    }


@pytest.mark.parametrize("consistency", ["l2", "none"])
def test_a_release_without_its_noise_is_found_with_its_source(
    consistency: str, context: AppContext, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes = {"town": 12, "job": 9}
    domains = {name: [f"{name}{n}" for n in range(size)] for name, size in sizes.items()}
    lines = [f"town{n % 12},job{n * n % 9}" for n in range(3_000)]
    (tmp_path / "people.csv").write_text("\n".join(["town,job", *lines]) + "\n", "utf-8")
    listed = ", ".join(f"{name} = {json.dumps(each)}" for name, each in domains.items())
    plan = tmp_path / "plan.toml"
    plan.write_text(
        f'version = 1\ntitle = "T"\n[source]\npath = "people.csv"\n{_TEXT}'
        f'types = {{ town = "text", job = "text" }}\n[budget]\npopulation = "{consistency}"\n'
        f'[protection]\nmethod = "dp-cube"\ndimensions = {json.dumps(list(sizes))}\n'
        f'domains = {{ {listed} }}\nconsistency = "{consistency}"\nepsilon = 1\n',
        "utf-8",
    )
    data = tmp_path / "people.csv"
    honest = release(context, plan, tmp_path / "honest").out
    assert verify_release(honest, default_registry(), CancelToken(), silent, data).failures == ()
    with monkeypatch.context() as patch:
        patch.setattr(randomness, "SystemRandomness", NoNoise)
        quiet = release(context, plan, tmp_path / "quiet").out
    found = verify_release(quiet, default_registry(), CancelToken(), silent, data)
    failed = [check for check in found.claims if check.status is CheckStatus.FAILED]
    assert [check.found for check in failed] == [
        "cuboids/2-town-job.csv has less noise than is stated"
    ]


def test_a_graph_without_its_noise_is_found_with_its_source(
    context: AppContext, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nodes = [f"n{place}" for place in range(15)]
    edges = [(a, b) for a in range(15) for b in range(a) if (a * b) % 4 == 1]
    lines = [f"n{a},n{b}" for a, b in edges]
    data = tmp_path / "edges.csv"
    data.write_text("\n".join(["from,to", *lines]) + "\n", "utf-8")
    plan = tmp_path / "plan.toml"
    plan.write_text(
        f'version = 1\ntitle = "T"\n[source]\npath = "edges.csv"\n{_TEXT}'
        'types = { from = "text", to = "text" }\n[budget]\npopulation = "graph"\n'
        '[protection]\nmethod = "dp-graph"\nends = ["from", "to"]\n'
        f"nodes = {json.dumps(nodes)}\nepsilon = 1\n",
        "utf-8",
    )
    honest = release(context, plan, tmp_path / "honest").out
    assert verify_release(honest, default_registry(), CancelToken(), silent, data).failures == ()
    with monkeypatch.context() as patch:
        patch.setattr(randomness, "SystemRandomness", NoNoise)
        quiet = release(context, plan, tmp_path / "quiet").out
    found = verify_release(quiet, default_registry(), CancelToken(), silent, data)
    failed = [check.found for check in found.claims if check.status is CheckStatus.FAILED]
    assert failed == ["graph/edges.csv has less noise than is stated"]
