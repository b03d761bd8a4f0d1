"""What is read, refused and said for a private method does not depend on one person."""

from __future__ import annotations

import csv
import io
import json
import os
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from dpdesk.app.context import AppContext
from dpdesk.app.planning import PlacedPlan
from dpdesk.app.private.pinning import open_pinned
from dpdesk.app.running import run_plan
from dpdesk.cli.main import main
from dpdesk.core.errors import InputError
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.engine.noise import randomness
from dpdesk.io.planfile import read_plan
from dpdesk.io.store import DataStore
from tests.helpers.odd_rows import LINES, line, people, write_text

READ = """encoding = "utf-8"
delimiter = ","
decimal = "."
quote = "\\""
header = true
missing = [""]
types = { person = "text", sex = "text", age = "number", born = "date", pay = "number" }
date_order = "ymd"
"""
METHODS = {
    "count": (
        'method = "dp-cube"\ndimensions = ["sex", "born"]\n'
        'domains = { sex = ["f", "m", "other"], born = ["1980-01-01", "1980-01-02", "1980-01-03"] }'
    ),
    "sum": (
        'method = "dp-cube"\ndimensions = ["sex"]\ndomains = { sex = ["f", "m"] }\n'
        'measure = ["count", { sum = "pay", lower = 0, upper = 20 }]'
    ),
    "persons": (
        'method = "dp-cube"\ndimensions = ["sex"]\ndomains = { sex = ["f", "m"] }\n'
        "rows_per_person = 2"
    ),
    "graph": 'method = "dp-graph"\nends = ["person", "sex"]\nnodes = ["Åsa 1", "Åsa 2", "f", "m"]',
}
MOST = {"count": 1, "sum": 20, "persons": 1, "graph": 1}
SOME = (b'zz,"f,1,,1', b"K\xf8benhavn,f,1,,1", b"zz,f,1,1980-01-01,12,5", b"\x00", b"zz,f", b"")


@pytest.fixture
def still(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same bits for every draw, so that only the data can make two releases differ."""
    for name in ("DPDESK_HOME", "DPDESK_WITNESS"):
        monkeypatch.setenv(name, "")  # set by each run
    monkeypatch.setattr(randomness, "os", SimpleNamespace(urandom=bytes, getpid=os.getpid))


def write_plan(folder: Path, method: str, read: str = READ) -> Path:
    plan = folder / "plan.toml"
    role = '[attributes]\nperson = { role = "cluster" }\n' if method == "persons" else ""
    plan.write_text(
        f'version = 1\n[source]\npath = "people.csv"\n{read}{role}[protection]\n{METHODS[method]}\n'
        f'epsilon = 1\n[budget]\npopulation = "people"\nledger = "{folder.name}.sqlite"\n',
        "utf-8",
    )
    return plan


def run(folder: Path, method: str, capsys: Any, lines: list[bytes]) -> tuple[int, str, str]:
    """Exit code and what was said, the folder's name taken out of it; each run has its own home."""
    folder.mkdir()
    os.environ |= {"DPDESK_HOME": str(folder / "home"), "DPDESK_WITNESS": str(folder / "witness")}
    write_text(folder / "people.csv", lines)
    code = main(["run", str(write_plan(folder, method)), "--out", str(folder / "out")])
    said = capsys.readouterr()
    out, err = (text.replace(folder.name, "FOLDER") for text in (said.out, said.err))
    return code, out, err


def public(folder: Path) -> tuple[dict[str, Any], dict[str, list[list[str]]]]:
    """The manifest without what hides the source, and the rows of every table."""
    root = folder / "out/public"
    manifest = json.loads((root / "manifest.json").read_text("utf-8"))
    listed = manifest.pop("files")
    manifest.pop("commitment")
    manifest["files"] = sorted(listed)
    tables = {
        name: list(csv.reader(io.StringIO((root / name).read_text("utf-8"))))
        for name in listed
        if name.endswith(".csv")
    }
    manifest["pages"] = [(root / n).read_text("utf-8") for n in listed if n.endswith(".html")]
    return manifest, tables


def differences(first: dict[str, Any], second: dict[str, Any]) -> dict[str, float]:
    """By table, the sum of the changes of its values; everything else must be equal."""
    assert first.keys() == second.keys()
    found = {}
    for name, rows in first.items():
        assert [row[:-1] for row in rows] == [row[:-1] for row in second[name]]
        pairs = zip(rows[1:], second[name][1:], strict=True)
        found[name] = sum(abs(float(a[-1]) - float(b[-1])) for a, b in pairs)
    return found


@pytest.mark.usefixtures("still")
@pytest.mark.parametrize(("method", "odd"), list(zip(METHODS, SOME, strict=False)))
def test_a_neighbour_changes_values_within_the_bound_and_nothing_else(
    tmp_path: Path, capsys: Any, method: str, odd: bytes
) -> None:
    others = [line(row) for row in people()]
    assert odd in LINES
    said = [
        run(tmp_path / name, method, capsys, lines)
        for name, lines in (("zq-one", others), ("zq-two", [*others[:9], odd, *others[9:]]))
    ]
    assert said[0][2] == said[1][2]
    assert said[0] == said[1]
    assert said[0][0] == 0
    first, second = (public(tmp_path / name) for name in ("zq-one", "zq-two"))
    assert first[0] == second[0]
    changed = differences(first[1], second[1])
    # Consistency spreads a change of one cell, so tables may change by a little more.
    assert all(value <= 3 * MOST[method] for value in changed.values()), changed
    evidence = json.loads((tmp_path / "zq-two/out/internal/evidence.json").read_text("utf-8"))
    assert evidence["source"]["rows"] == 24 + (odd != b"")
    assert evidence["source"]["unreadable_lines"] == (odd != b"" and not _reads(odd))


def _reads(odd: bytes) -> bool:
    return odd == b"zz,f,1,,1"


@pytest.mark.parametrize("kept", [1, 5])
def test_a_plan_that_leaves_the_reading_open_is_refused_with_the_lines_to_add(
    tmp_path: Path, capsys: Any, kept: int
) -> None:
    lines = READ.splitlines(keepends=True)
    write_text(tmp_path / "people.csv", [line(row) for row in people()])
    plan = write_plan(tmp_path, "sum", "".join(lines[:kept]))
    assert main(["run", str(plan), "--out", str(tmp_path / "out")]) == 2
    *added, last = capsys.readouterr().err.splitlines()
    assert [one + "\n" for one in added] == lines[kept:]
    assert "are missing" in last
    assert "add them under [source]" in last
    assert not (tmp_path / "out").exists()
    assert not list(tmp_path.glob("*.sqlite"))
    write_plan(tmp_path, "sum", "".join(lines[:kept]) + "\n".join(added) + "\n")
    assert main(["run", str(plan), "--out", str(tmp_path / "out")]) == 0


def test_a_column_that_is_counted_by_has_a_declared_type(tmp_path: Path) -> None:
    write_text(tmp_path / "people.csv", [line(row) for row in people()])
    plan = write_plan(tmp_path, "sum", READ.replace(', pay = "number"', ""))
    with AppContext.open(tmp_path / "home") as context, pytest.raises(InputError) as caught:
        run_plan(context, plan, tmp_path / "out", CancelToken(), silent)
    assert caught.value.code == "plan.unpinned"
    (types,) = (one for one in caught.value.details["lines"] if one.startswith("types"))  # type: ignore[attr-defined]
    assert 'pay = "number"' in types


def test_values_of_another_type_than_declared_are_noted_where_nothing_is_random(
    tmp_path: Path,
) -> None:
    write_text(tmp_path / "people.csv", [line(row) for row in people()])
    plan = tmp_path / "plan.toml"
    plan.write_text(
        'version = 1\n[source]\npath = "people.csv"\ntypes = { sex = "number" }\n[attributes]\n'
        'sex = { role = "quasi-identifier" }\n[protection]\nmethod = "k-anonymity"\nk = 2\n',
        "utf-8",
    )
    with AppContext.open(tmp_path / "home") as context:
        out = run_plan(context, plan, tmp_path / "out", CancelToken(), silent).out
    notes = json.loads((out / "internal/evidence.json").read_bytes())["notes"]
    assert any("Column `sex`: " in note and "not a number, as `types`" in note for note in notes)


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * FROM data LIMIT 5",
        "SELECT * FROM data ORDER BY age",
        "SELECT DISTINCT * FROM data",
        "SELECT sex, count(*) FROM data GROUP BY sex",
        "SELECT * FROM data WHERE age > (SELECT avg(CAST(age AS DOUBLE)) FROM data)",
        "SELECT * FROM data QUALIFY row_number() OVER (ORDER BY age) < 9",
        "SELECT * FROM data WHERE length(repeat(person, 9)) > 2",
        "SELECT * FROM data WHERE replace(person, 'z', person) <> ''",
        "SELECT * FROM data WHERE regexp_replace(person, 'z', person, 'g') <> ''",
        "SELECT sex FROM data",
        "SELECT * FROM data UNION ALL SELECT * FROM data",
        "SELECT * FROM data, data",
    ],
)
def test_a_query_may_only_keep_rows_by_their_own_values(
    tmp_path: Path, capsys: Any, query: str
) -> None:
    write_text(tmp_path / "people.csv", [line(row) for row in people()])
    plan = write_plan(tmp_path, "sum", f'{READ}query = "{query}"\n')
    assert main(["run", str(plan), "--out", str(tmp_path / "out")]) == 2
    assert "query" in capsys.readouterr().err.splitlines()[-1]
    assert not (tmp_path / "out").exists()
    assert not list(tmp_path.glob("*.sqlite"))


def test_rows_are_told_apart_whatever_columns_are_called(tmp_path: Path) -> None:
    names = ("row number of dpdesk", "row_0", "row_1")
    (tmp_path / "t.csv").write_text(",".join(names) + "\n7,1,1\n7,2,1\n7,3,1\n", "utf-8")
    plan = write_plan(tmp_path, "count")
    types = ", ".join(f'"{name}" = "text"' for name in names)
    text = plan.read_text("utf-8").replace("people.csv", "t.csv")
    head, tail = text[: text.index("types")], text[text.index("date_order") :].partition("\n")[2]
    query = "SELECT * FROM data WHERE \"row number of dpdesk\" = '7' AND row_0 <> '2'"
    plan.write_text(f'{head}types = {{ {types} }}\nquery = """{query}"""\n{tail}', "utf-8")
    with AppContext.open(tmp_path / "home") as context:
        loaded = DataStore.open(
            read_plan(plan).source, tmp_path, context.workspace, CancelToken(), silent, private=True
        )
        with closing(loaded):
            assert [row[1] for row in loaded.page(0, 9)] == ["1", "3"]


def test_a_row_for_which_a_condition_cannot_be_computed_is_left_out_alone(tmp_path: Path) -> None:
    plan = write_plan(
        tmp_path, "count", f'{READ}query = "SELECT * FROM data WHERE CAST(person AS INT) < 3"\n'
    )
    found = []
    with AppContext.open(tmp_path / "home") as context:
        for odd in ([], [(3, b"zz,f,1,,1")], [(3, b"\xff")], [(3, b"2,f,1,,1")]):
            write_text(tmp_path / "people.csv", [b"1,f,1,,1", b"2,m,1,,1", b"x,m,1,,1"] * 3, odd)
            source = read_plan(plan)
            with closing(
                open_pinned(context, PlacedPlan(source, tmp_path, "p"), CancelToken(), silent)
            ) as one:
                found.append(one.rows)
    assert found == [6, 6, 6, 7]


@pytest.mark.parametrize("odd", [b"zz,f", b'zz,"f,1,,1', b"zz,f,1,,1,2,3", b"zz,\0,1,,1", b"\xff"])
def test_the_lines_to_add_are_told_of_a_file_that_other_methods_refuse(
    tmp_path: Path, capsys: Any, odd: bytes
) -> None:
    others = [line(row) for row in people()] * 20
    write_text(tmp_path / "people.csv", others, [(400, odd)])
    plan = write_plan(tmp_path, "sum", "")
    assert main(["run", str(plan), "--out", str(tmp_path / "out")]) == 2
    *added, last = capsys.readouterr().err.splitlines()
    assert "are missing" in last
    assert {one.partition(" = ")[0] for one in added} >= {"encoding", "delimiter", "types", "quote"}
    (types,) = (one for one in added if one.startswith("types"))
    assert 'age = "number"' in types
    assert 'born = "date"' in types
    write_plan(tmp_path, "sum", "\n".join(added) + "\n")
    assert main(["run", str(plan), "--out", str(tmp_path / "out")]) == 0


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_the_lines_to_add_name_an_encoding_of_two_bytes_without_a_mark(
    tmp_path: Path, capsys: Any, encoding: str
) -> None:
    text = "person,sex,age,born,pay\n" + "Åsa,f,1,1980-01-01,1\nBo,m,2,1980-01-02,2\n" * 20
    (tmp_path / "people.csv").write_bytes(text.encode(encoding))
    plan = write_plan(tmp_path, "sum", "")
    assert main(["run", str(plan), "--out", str(tmp_path / "out")]) == 2
    *added, _ = capsys.readouterr().err.splitlines()
    assert f'encoding = "{encoding}"' in added
    write_plan(tmp_path, "sum", "\n".join(added) + "\n")
    assert main(["run", str(plan), "--out", str(tmp_path / "out")]) == 0


@pytest.mark.parametrize(("method", "persons"), [("persons", 2), ("graph", 6)])
def test_a_number_written_in_several_ways_is_one_person(
    tmp_path: Path, method: str, persons: int
) -> None:
    """Where the method asks for the texts as well, as ends of edges, they stay what they are."""
    ways = [b"7", b"7.0", b"007", b"+7", b"70e-1", b"8"]
    write_text(tmp_path / "people.csv", [way + b",f,1,,1" for way in ways])
    path = write_plan(tmp_path, method, READ.replace('person = "text"', 'person = "number"'))
    text = path.read_text("utf-8")
    if "[attributes" not in text:
        path.write_text(text + '\n[attributes.person]\nrole = "cluster"\n', "utf-8")
    with (
        AppContext.open(tmp_path / "home") as context,
        closing(
            open_pinned(context, PlacedPlan(read_plan(path), tmp_path, "p"), CancelToken(), silent)
        ) as data,
    ):
        table = data.frequency_table(["person"], CancelToken())
    assert len(table.domains[0]) == persons


def test_a_name_in_two_unicode_forms_is_one_person(tmp_path: Path) -> None:
    write_text(
        tmp_path / "people.csv",
        ["\u00c5sa,f,1,,1".encode(), "A\u030asa,m,1,,1".encode(), b"Bo,f,1,,1"],
    )
    spec = read_plan(write_plan(tmp_path, "persons"))
    with (
        AppContext.open(tmp_path / "home") as context,
        closing(
            open_pinned(context, PlacedPlan(spec, tmp_path, "p"), CancelToken(), silent)
        ) as data,
    ):
        table = data.frequency_table(["person"], CancelToken())
    assert sorted(zip(table.domains[0], table.counts.tolist(), strict=True)) == [
        ("Bo", 1), ("\u00c5sa", 2),
    ]  # fmt: skip
