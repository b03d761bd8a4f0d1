"""Releases of graphs from a plan: written, checked, forged, asked, exported, reviewed."""

from __future__ import annotations

import csv
import json
import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dpdesk.app.checklists import check_release
from dpdesk.app.context import AppContext
from dpdesk.app.idle_entries import IDLE_CLAIM
from dpdesk.app.private.browsing import preview_table, released_tables
from dpdesk.app.running import run_plan
from dpdesk.app.texts import TEXTS_CLAIM
from dpdesk.app.verifying import read_release, verify_release
from dpdesk.cli.main import main
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.core.release import CheckStatus
from dpdesk.project.review.votes import ItemStatus
from tests.helpers.cubes import toml
from tests.helpers.forging import PAGES, RECORDED, check_found, forged, manifest_of, seal_again
from tests.helpers.pinned import pin
from tests.reference.graphs import pairs as every_pair
from tests.reference.graphs import sums

Said = dict[str, Any]
Forgery = Callable[[Said, Path], None]
SIDES = ("out-degrees", "in-degrees")
NODES = [f"n{i}" for i in range(8)]
EDGES = [(0, 1), (0, 2), (1, 2), (2, 3), (3, 4), (4, 5), (5, 6), (6, 7), (0, 7), (2, 6)]
PLANS: dict[str, dict[str, Any]] = {
    "all": {"exact": "degrees"},
    "some": {"exact": "degrees", "exact_nodes": ["n0", "n5"], "exact_edges": True, "rho": 0.5},
    "plain": {},
    "directed": {"graph": "directed", "exact": "degrees", "exact_in_nodes": ["n1", "n2"]},
    "both": {"graph": "directed", "exact": "degrees"},
    "replaced": {"graph": "directed", "exact": "out-degrees", "neighbours": "replace"},
}


@pytest.fixture(scope="module")
def context(module_home: Path) -> Iterator[AppContext]:
    with AppContext.open(module_home) as opened:
        yield opened


def write_plan(folder: Path, name: str, **keys: Any) -> Path:
    rows = [(f"n{a}", f"n{b}") for a, b in EDGES]
    rows += [(b, a) for a, b in rows[:3]] + [("n3", "n3"), ("nobody", "n1")]
    with (folder / "edges.csv").open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream, lineterminator="\n").writerows([("from", "to"), *rows])
    given = {"ends": ["from", "to"], "nodes": NODES} | keys
    given |= {} if "rho" in keys else {"epsilon": 1}
    lines = "\n".join(f"{key} = {toml(value)}" for key, value in given.items())
    plan = folder / f"{name}.toml"
    head = 'version = 1\ntitle = "Who knows whom"\n[source]\npath = "edges.csv"\n'
    tail = '[budget]\npopulation = "members"\n'
    plan.write_text(f'{head}[protection]\nmethod = "dp-graph"\n{lines}\n{tail}', "utf-8")
    return pin(plan)


@pytest.fixture(scope="module")
def genuine(context: AppContext, tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Path]:
    folder = tmp_path_factory.mktemp("data")
    made = {}
    for name, keys in PLANS.items():
        plan = write_plan(folder, name, **keys)
        made[name] = run_plan(context, plan, folder / name, CancelToken(), silent).out
    return made


def rows_of(path: Path) -> list[list[str]]:
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.reader(stream))


def degrees() -> dict[str, int]:
    return {node: sum(int(node[1:]) in edge for edge in EDGES) for node in NODES}


def test_every_claim_is_checked_again(context: AppContext, genuine: Mapping[str, Path]) -> None:
    for folder in genuine.values():
        found = verify_release(folder, context.registry, CancelToken(), silent)
        assert found.ok, found.failures
        open_claims = {c.claim for c in found.claims if c.status is not CheckStatus.CONFIRMED}
        assert open_claims == {"differential privacy", IDLE_CLAIM, *RECORDED}


def test_an_undirected_edge_is_written_once_and_exact_degrees_are_true(
    genuine: Mapping[str, Path],
) -> None:
    public = genuine["all"] / "public"
    head, *rows = rows_of(public / "graph/edges.csv")
    assert head == ["from", "to", "value"]
    pairs = [(row[0], row[1]) for row in rows]
    assert pairs == [(a, b) for i, a in enumerate(NODES) for b in NODES[i + 1 :]]
    assert dict(rows_of(public / "graph/degrees.csv")[1:]) == {
        node: str(degree) for node, degree in degrees().items()
    }
    assert rows_of(public / "graph/edge-count.csv") == [["value"], [str(len(EDGES))]]
    for node, degree in degrees().items():
        total = sum(float(row[2]) for row in rows if node in row[:2])
        assert total == pytest.approx(degree, abs=1e-8)


def test_only_the_named_degrees_are_exact(genuine: Mapping[str, Path]) -> None:
    result: Any = manifest_of(genuine["some"])["result"]
    item = next(c for c in result["cuboids"] if c["table"] == "degrees")
    assert (item["exact"], item["exact_cells"]) == (False, [["n0"], ["n5"]])
    assert [pair[1] == 0 for pair in item["variances"]] == [False, True]
    shown = dict(rows_of(genuine["some"] / "public/graph/degrees.csv")[1:])
    assert {node: float(shown[node]) for node in ("n0", "n5")} == {
        node: degrees()[node] for node in ("n0", "n5")
    }
    assert result["exact"] == {"minimal_change": 6}


def test_pages_tell_what_is_exact_and_why_averaging_fails(genuine: Mapping[str, Path]) -> None:
    for page in ("public/about.html", "internal/report.html"):
        text = (genuine["all"] / page).read_text("utf-8")
        assert "all degrees" in text
        assert "The averaging attack, and why it fails" in text
        assert "×2.72" in text
    text = (genuine["plain"] / "public/about.html").read_text("utf-8")
    assert "averaging attack" not in text
    inside = (genuine["all"] / "internal/report.html").read_text("utf-8")
    assert "rows_that_repeat_an_edge" in inside or "repeat an edge" in inside


def write_rows(path: Path, rows: list[list[str]]) -> None:
    path.write_text("\n".join(",".join(row) for row in rows) + "\n", "utf-8", newline="")


def shortest(value: float) -> str:
    return str(int(value)) if value.is_integer() else repr(value)


def edit_first(public: Path, name: str, by: float) -> None:
    path = public / f"graph/{name}.csv"
    rows = rows_of(path)
    value = float(rows[1][-1]) + by
    rows[1][-1] = shortest(value)
    write_rows(path, rows)


def another_edge(said: Said, public: Path) -> None:
    edit_first(public, "edges", 1)


def another_degree(said: Said, public: Path) -> None:
    edit_first(public, "degrees", 1)


def another_number_of_edges(said: Said, public: Path) -> None:
    edit_first(public, "edge-count", 1)


def half_an_edge(said: Said, public: Path) -> None:
    edit_first(public, "edges", 0.5)
    edit_first(public, "edge-count", 0.5)
    rows = rows_of(public / "graph/degrees.csv")
    for row in rows[1:3]:
        row[1] = repr(float(row[1]) + 0.5)
    text = "\n".join(",".join(row) for row in rows) + "\n"
    (public / "graph/degrees.csv").write_text(text, "utf-8", newline="")


def an_impossible_graph(said: Said, public: Path) -> None:
    """Agreeing sums of edges whose degrees no graph has: one node with eight edges."""
    rows = rows_of(public / "graph/edges.csv")
    for row in rows[1:]:
        row[2] = repr(float(row[2]) + (2 if "n0" in row[:2] else 0))
    (public / "graph/edges.csv").write_text(
        "\n".join(",".join(row) for row in rows) + "\n", "utf-8", newline=""
    )
    shown = rows_of(public / "graph/degrees.csv")
    for row in shown[1:]:
        row[1] = str(int(row[1]) + (14 if row[0] == "n0" else 2))
    text = "\n".join(",".join(row) for row in shown) + "\n"
    (public / "graph/degrees.csv").write_text(text, "utf-8", newline="")
    edit_first(public, "edge-count", 14)


def an_impossible_directed_graph(said: Said, public: Path) -> None:
    """Agreeing sums of edges: n0 goes to each other node, but n1 has no edge that comes."""
    out, into = (
        [int(row[1]) for row in rows_of(public / f"graph/{kind}.csv")[1:]] for kind in SIDES
    )
    size, wanted = len(NODES), ([7, 1, *[0] * 6], [0, 0, 3, *[1] * 5])
    more = np.array([*wanted[0], *wanted[1]]) - [*out, *into]
    places = every_pair(size, directed=True)
    matrix = sums(size, range(size), range(size), directed=True, total=False)
    change = np.linalg.lstsq(matrix.astype(float), more, rcond=None)[0]
    by_pair = dict(zip(places, change.tolist(), strict=True))
    rows = rows_of(public / "graph/edges.csv")
    for row in rows[1:]:
        row[2] = shortest(float(row[2]) + by_pair[NODES.index(row[0]), NODES.index(row[1])])
    write_rows(public / "graph/edges.csv", rows)
    for kind, numbers in zip(SIDES, wanted, strict=True):
        shown = rows_of(public / f"graph/{kind}.csv")
        for row, number in zip(shown[1:], numbers, strict=True):
            row[1] = str(number)
        write_rows(public / f"graph/{kind}.csv", shown)
    edit_first(public, "edge-count", 8 - sum(out))


def ends_in_the_other_order(said: Said, public: Path) -> None:
    path = public / "graph/edges.csv"
    rows = rows_of(path)
    rows[1][:2] = rows[1][1::-1]
    path.write_text("\n".join(",".join(row) for row in rows) + "\n", "utf-8", newline="")


def a_pair_less(said: Said, public: Path) -> None:
    path = public / "graph/edges.csv"
    path.write_text("\n".join(path.read_text("utf-8").splitlines()[:-1]) + "\n", "utf-8")


def other_nodes(said: Said, public: Path) -> None:
    for side in said["result"]["domains"]:
        side["categories"][0] = "x0"
    for path in (public / "graph").glob("*.csv"):
        path.write_text(path.read_text("utf-8").replace("n0,", "x0,"), "utf-8", newline="")


def smaller_change(said: Said, public: Path) -> None:
    said["result"]["exact"]["minimal_change"] = 9


def less_noise_than_needed(said: Said, public: Path) -> None:
    """All figures as if plain noise were enough."""
    smaller_change(said, public)
    scale = said["result"]["scales"][0]
    said["result"] |= {"sensitivity": 9, "scales": [scale * 9 / 16]}


def no_exact_at_all(said: Said, public: Path) -> None:
    said["parameters"]["exact"] = "none"


def fewer_exact(said: Said, public: Path) -> None:
    said["parameters"]["exact_nodes"] = ["n0"]


def unmarked(said: Said, public: Path) -> None:
    said["result"]["cuboids"][1]["exact"] = False


def cells_unmarked(said: Said, public: Path) -> None:
    said["result"]["cuboids"][1]["exact_cells"] = [["n0"]]


def a_smaller_error(said: Said, public: Path) -> None:
    said["result"]["cuboids"][0]["variance"] *= 0.99


def fewer_cells_with_errors(said: Said, public: Path) -> None:
    said["result"]["cuboids"][1]["variances"][0][0] -= 1


def smaller_before(said: Said, public: Path) -> None:
    said["result"]["max_variance"] /= 2


def with_direction(said: Said, public: Path) -> None:
    said["parameters"]["graph"] = "directed"


def another_claim(said: Said, public: Path) -> None:
    said["guarantee"]["claim"] = "All edges are safe."


def pairs_of_another_kind(said: Said, public: Path) -> None:
    said["result"]["cuboids"][0]["pairs"] = "ordered"


def no_pairs(said: Said, public: Path) -> None:
    del said["result"]["cuboids"][0]["pairs"]


def less_budget(said: Said, public: Path) -> None:
    said["parameters"]["epsilon"] = said["guarantee"]["parameters"]["epsilon"] = 0.5


def exact_by_stealth(said: Said, public: Path) -> None:
    said["result"]["exact"] = {"minimal_change": 1}


FORGERIES: tuple[tuple[str, Forgery], ...] = (
    ("all", another_edge),
    ("plain", another_edge),
    ("all", another_degree),
    ("directed", another_number_of_edges),
    ("plain", half_an_edge),
    ("all", an_impossible_graph),
    ("both", an_impossible_directed_graph),
    ("all", ends_in_the_other_order),
    ("directed", ends_in_the_other_order),
    ("all", a_pair_less),
    ("all", other_nodes),
    ("all", smaller_change),
    ("all", less_noise_than_needed),
    ("all", no_exact_at_all),
    ("all", fewer_exact),
    ("all", unmarked),
    ("some", cells_unmarked),
    ("some", a_smaller_error),
    ("directed", a_smaller_error),
    ("some", fewer_cells_with_errors),
    ("some", smaller_before),
    ("plain", with_direction),
    ("all", another_claim),
    ("all", pairs_of_another_kind),
    ("all", no_pairs),
    ("all", less_budget),
    ("plain", exact_by_stealth),
)


@pytest.mark.parametrize(("kind", "forge"), FORGERIES)
def test_a_skilful_forgery_is_found(
    context: AppContext, genuine: Mapping[str, Path], tmp_path: Path, kind: str, forge: Forgery
) -> None:
    method = context.registry.get("dp-graph", "the test")
    check_found(forged(genuine[kind], tmp_path, forge, method), context.registry)


def test_words_of_other_texts_are_not_checked(
    context: AppContext, genuine: Mapping[str, Path], tmp_path: Path
) -> None:
    folder = Path(shutil.copytree(genuine["plain"], tmp_path / "release"))
    said: Said = manifest_of(folder)
    said["guarantee"]["claim"] = "In other words."
    del said["messages"]
    said["texts"]["sha256"] = "0" * 64
    seal_again(folder, said)
    found = verify_release(folder, context.registry, CancelToken(), silent)
    unchecked = [c.claim for c in found.claims if c.status is CheckStatus.NOT_CHECKED]
    assert found.ok
    assert unchecked == ["guarantee", PAGES[0], TEXTS_CLAIM, *PAGES[1:]]


def test_a_file_that_was_changed_or_added_is_named(
    context: AppContext, genuine: Mapping[str, Path], tmp_path: Path
) -> None:
    folder = Path(shutil.copytree(genuine["all"], tmp_path / "release"))
    edit_first(folder / "public", "edges", 1)
    (folder / "public/graph/more.csv").write_text("value\n1\n", "utf-8")
    found = verify_release(folder, context.registry, CancelToken(), silent)
    names = {Path(failure.path).name for failure in found.failures}
    assert names >= {"edges.csv", "more.csv"}


def test_the_command_line_runs_checks_exports_and_answers(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DPDESK_HOME", str(tmp_path / "home"))
    plan, out = write_plan(tmp_path, "plan", **PLANS["all"]), tmp_path / "release"
    assert main(["run", str(plan), "--out", str(out), "--json"]) == 0
    told = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert (told["method"], told["result"]["exact"]) == ("dp-graph", {"minimal_change": 16})
    assert main(["verify", str(out)]) == 0
    assert main(["verify", str(out / "public")]) == 0
    assert main(["risk", str(out), "--json"]) == 0
    assert main(["risk", str(plan)]) == 0
    capsys.readouterr()
    assert main(["export", str(out), "--format", "csv", "--out", str(tmp_path / "all.csv")]) == 0
    rows = rows_of(tmp_path / "all.csv")
    assert rows[0] == ["table", "from", "to", "value"]
    assert [row[0] for row in rows[1:]] == [*["edges"] * 28, *["degrees"] * 8, "number of edges"]
    for document in ("ddi", "sdmx-csv", "csvw"):
        target = tmp_path / document
        assert main(["export", str(out), "--format", document, "--out", str(target)]) == 2
        assert "this release holds a graph" in capsys.readouterr().err
        assert not target.exists()
    assert main(["query", str(out), "--by", "from", "--json"]) == 0
    told = json.loads(capsys.readouterr().out.splitlines()[-1])
    found = {row["labels"]["from"]: (row["value"], row["standard_error"]) for row in told["rows"]}
    assert found == {node: (degree, 0) for node, degree in degrees().items()}
    assert main(["query", str(out), "--by", "sideways"]) == 2


def test_the_window_can_look_at_the_tables(genuine: Mapping[str, Path]) -> None:
    facts = read_release(genuine["all"])
    files = [table.file for table in released_tables(facts)]
    assert files == ["graph/edges.csv", "graph/degrees.csv", "graph/edge-count.csv"]
    shown = preview_table(facts, files[0], CancelToken())
    assert shown.cells == 28
    assert [row[:2] for row in shown.table.rows[:8]] == [
        *[("n0", node) for node in NODES[1:]],
        ("n1", "n2"),
    ]
    assert (shown.unit, shown.exact) == ("edges", "")
    assert [table.words for table in released_tables(facts)] == [
        "edges",
        "degrees",
        "number of edges",
    ]
    assert preview_table(facts, files[1], CancelToken()).exact == "all"


def test_the_window_tells_exact_degrees_from_others(genuine: Mapping[str, Path]) -> None:
    shown = preview_table(read_release(genuine["some"]), "graph/degrees.csv", CancelToken())
    assert shown.exact == "some"
    exact = {row[0] for row in shown.table.rows if row[-1] == 0}
    assert exact == {"n0", "n5"}


def test_the_reviewer_is_asked_about_exact_degrees_and_single_edges(
    context: AppContext, genuine: Mapping[str, Path]
) -> None:
    made = check_release(context, genuine["some"], CancelToken(), silent).checklist
    asked = made.item("exact-tables")
    assert asked.status is ItemStatus.REVIEW
    assert "number of edges and 2 single degrees" in asked.evidence
    assert "minimal change of 6 edges alongside them, which was computed again" in asked.evidence
    plain = check_release(context, genuine["plain"], CancelToken(), silent).checklist
    assert "odds about one edge" in plain.item("privacy-loss").evidence
    left = plain.item("left-out").evidence
    assert (
        "Of 15 rows, 1 name an end that is not a declared node, 1 go from a node to itself," in left
    )
    assert "3 repeat an edge and 0 are beyond the edges per person" in left
    assert "edges, is that of the " in plain.item("error").evidence
    assert "The 8 nodes must have been fixed" in plain.item("domain").evidence
