"""A cube from the plan to the verified folder, and what somebody may do to it in between."""

from __future__ import annotations

import csv
import errno
import json
import shutil
from collections.abc import Callable, Iterator, Sequence
from math import prod
from pathlib import Path
from typing import Any

import pytest

from dpdesk.app import running
from dpdesk.app.context import AppContext
from dpdesk.app.exporting import export_release
from dpdesk.app.verifying import verify_release
from dpdesk.core.errors import Cancelled, DpdeskError, RefusedError, StorageError
from dpdesk.core.jobs import CancelToken, Event, Note, silent
from dpdesk.core.language import catalogue, read_catalogue, voice_of
from dpdesk.core.release import VerifyReport
from dpdesk.engine.methods.dp_cube.design import CubeDesign
from dpdesk.io.store import DataStore
from tests.helpers.cubes import AGES, REGION, SEX, people, release, write_plan, write_register
from tests.helpers.forging import manifest_of, seal_again

pytestmark = pytest.mark.cheap_prints

PLANS: dict[str, dict[str, Any]] = {
    "bmax": {},
    "all": {"planner": "all"},
    "base": {"planner": "base"},
    "pmost": {"planner": "pmost", "theta": 40},
    "exact": {"planner": "exact"},
    "optimal": {"planner": "optimal", "objective": "total"},
    "optimal, rho": {"planner": "optimal", "rho": 0.1, "objective": "average"},
    "weighted": {
        "planner": "optimal",
        "weights": [{"dimensions": ["sex"], "weight": 3}],
    },
    "targets": {
        "planner": "optimal",
        "objective": "targets",
        "targets": [{"dimensions": ["sex", "age"], "variance": 40}],
    },
    "residuals": {"planner": "optimal", "rho": 0.1, "basis": "residuals"},
    "rho": {"rho": 0.05},
    "rho, replaced": {"rho": 0.05, "neighbours": "replace", "rows_per_person": 2},
    "l1": {"consistency": "l1"},
    "linf": {"consistency": "linf", "rho": 0.1},
    "total alone": {"publish": [[]], "consistency": "l1"},
    "nonnegative": {"nonnegative": True, "epsilon": 0.1},
    "integral": {"integral": True},
    "both": {"nonnegative": True, "integral": True, "rho": 0.01},
    "both, sum": {
        "nonnegative": True,
        "integral": True,
        "measure": {"sum": "pay", "lower": 0, "upper": 500, "step": 5},
    },
    "none": {"consistency": "none"},
    "replace": {"neighbours": "replace"},
    "three rows": {"rows_per_person": 3},
    "chosen": {"publish": [["sex"], ["region", "age"], []]},
    "pairs": {"publish": {"max_dimensions": 2}},
    "exact tables": {"exact": [["sex", "region"], ["age"]]},
    "exact, base": {"exact": [["sex"], ["region"]], "planner": "base", "consistency": "none"},
    "exact, three": {"exact": [["sex"], ["region"], ["age"]], "rho": 0.5},
    "exact, optimal": {
        "exact": [["sex", "region"], ["sex", "age"]],
        "rho": 0.1,
        "planner": "optimal",
        "basis": "residuals",
    },
    "exact cells": {
        "exact": [["sex"], {"cuboid": ["age", "region"], "cells": [["<30", "north"]]}],
    },
    "exact cells, none": {
        "exact": [{"cuboid": ["region"], "cells": [["north"], ["south"]]}],
        "consistency": "none",
    },
    "exact cells, replace": {
        "exact": [
            {"cuboid": ["region"], "cells": [["north"], ["south"]]},
            {"cuboid": ["sex", "age"], "cells": [["f", "<30"]]},
        ],
        "neighbours": "replace",
        "rho": 0.2,
        "planner": "optimal",
        "basis": "residuals",
    },
    "exact, replace": {"exact": [[]], "neighbours": "replace", "rows_per_person": 2},
    "sum": {"measure": {"sum": "pay", "lower": 0, "upper": 500, "step": 5}},
    "average": {"measure": {"average": "pay", "lower": 0, "upper": 500}},
    "sum and average": {
        "measure": [
            {"sum": "pay", "lower": 0, "upper": 500, "step": 5},
            {"average": "pay", "lower": 0, "upper": 500},
        ]
    },
    "several": {"measure": ["count", {"sum": "pay", "lower": -10, "upper": 500}]},
}


@pytest.fixture(scope="module")
def context(module_home: Path) -> Iterator[AppContext]:
    with AppContext.open(module_home) as opened:
        yield opened


@pytest.fixture
def fresh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[AppContext]:
    """A home with a witness of its own, where nothing was paid about these people yet."""
    home = tmp_path / "home"
    monkeypatch.setenv("DPDESK_HOME", str(home))
    monkeypatch.setenv("DPDESK_WITNESS", str(tmp_path / "witness.jsonl"))
    with AppContext.open(home) as opened:
        yield opened


@pytest.fixture(scope="module")
def register(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_register(tmp_path_factory.mktemp("data"), people())


@pytest.fixture(scope="module")
def genuine(context: AppContext, register: Path) -> Path:
    plan = write_plan(register, "genuine.toml")
    return release(context, plan, register.parent / "genuine").out


@pytest.fixture
def copy(genuine: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(genuine, tmp_path / "release"))


@pytest.fixture
def verify(context: AppContext) -> Callable[[Path], VerifyReport]:
    def run(path: Path) -> VerifyReport:
        return verify_release(path, context.registry, CancelToken(), silent)

    return run


def manifest(folder: Path) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((folder / "public" / "manifest.json").read_text("utf-8"))
    return loaded


def rows_of(path: Path) -> list[list[str]]:
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.reader(stream))


@pytest.mark.parametrize("name", PLANS)
def test_a_release_of_each_kind_is_whole_and_verifies(
    name: str,
    context: AppContext,
    register: Path,
    tmp_path: Path,
    verify: Callable[[Path], VerifyReport],
) -> None:
    plan = write_plan(register, f"{name}.toml", **PLANS[name])
    out = release(context, plan, tmp_path / "out").out
    found = verify(out)
    assert found.ok, found.failures
    domains = {"sex": SEX, "region": REGION, "age": AGES}
    for item in manifest(out)["result"]["cuboids"]:
        header, *rows = rows_of(out / "public" / item["file"])
        assert header == [*item["dimensions"], "value"]
        assert len(rows) == item["cells"] == prod(len(domains[d]) for d in item["dimensions"])
        assert [row[:-1] for row in rows] == cells([domains[d] for d in item["dimensions"]])


def cells(categories: Sequence[Sequence[str]]) -> list[list[str]]:
    found: list[list[str]] = [[]]
    for values in categories:
        found = [[*row, value] for row in found for value in values]
    return found


def test_everything_public_but_the_values_is_the_same_whatever_the_data_hold(
    context: AppContext, tmp_path: Path
) -> None:
    seen = []
    for name, rows in (
        ("many", people(500)),
        ("no one inside", [("p", "?", "", "", "")] * 3),
        ("one", people(1, seed=9)),
    ):
        source = write_register(tmp_path / name, rows)
        out = release(context, write_plan(source), tmp_path / name / "out").out
        said = manifest(out)
        values = {path.relative_to(out) for path in (out / "public").rglob("*.csv")}
        assert len(said.pop("commitment")) == 64
        files = said.pop("files")
        page = (out / "public" / "about.html").read_bytes()
        assert files.keys() == {path.relative_to("public").as_posix() for path in values} | {
            "about.html"
        }
        seen.append((said, page, values))
    assert seen[0] == seen[1] == seen[2]


def test_commitments_to_the_same_data_differ_and_the_guarantee_says_what_they_cost(
    context: AppContext, register: Path, genuine: Path, tmp_path: Path
) -> None:
    again = release(context, write_plan(register, "genuine.toml"), tmp_path / "again").out
    keys = {
        json.loads((folder / "internal/evidence.json").read_text("utf-8"))["commitment_key"]
        for folder in (genuine, again)
    }
    first, second = manifest(genuine), manifest(again)
    assert len(keys) == len({first["commitment"], second["commitment"]}) == 2
    assert first["guarantee"] == second["guarantee"]
    computational = "against an adversary who breaks these nothing is promised"
    assert any(computational in sentence for sentence in first["guarantee"]["assumes"])


def test_no_value_from_outside_the_domain_reaches_the_public_part(
    genuine: Path, register: Path
) -> None:
    assert b"zqisland" in register.read_bytes()
    for path in (genuine / "public").rglob("*"):
        assert path.is_dir() or b"zqisland" not in path.read_bytes()
    inside = json.loads((genuine / "internal" / "evidence.json").read_text("utf-8"))
    counting = inside["result"]["counting"]["count"]
    assert counting["rows_left_out"] > 0
    assert set(counting["rows_with_values_outside_the_domain"]) == {"sex", "region", "age"}


def test_values_outside_the_domain_go_to_the_declared_category(genuine: Path) -> None:
    assert manifest(genuine)["result"]["outside"] == {"region": "other"}


def test_a_limit_that_is_reached_stops_the_run_before_any_noise(
    fresh: AppContext, register: Path, tmp_path: Path
) -> None:
    budget = "limit = 1.2\n"
    plan = write_plan(register, "limited.toml", budget, epsilon=0.7)
    plan.write_text(plan.read_text("utf-8").replace('"register"', '"limited"'), "utf-8")
    release(fresh, plan, tmp_path / "first")
    with pytest.raises(RefusedError) as caught:
        release(fresh, plan, tmp_path / "second")
    assert caught.value.code == "ledger.exhausted"
    assert not (tmp_path / "second").exists()


def test_a_run_that_fails_after_the_debit_stays_spent_and_leaves_nothing(
    fresh: AppContext, register: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = write_plan(register, "failing.toml", "limit = 1.0")
    plan.write_text(plan.read_text("utf-8").replace('"register"', '"failing"'), "utf-8")

    def fail(*args: object) -> None:
        raise RuntimeError("the disk failed")

    with monkeypatch.context() as patch:
        patch.setattr(running, "public_files", fail)
        with pytest.raises(RuntimeError):
            release(fresh, plan, tmp_path / "out")
    assert not (tmp_path / "out").exists()
    with pytest.raises(RefusedError) as caught:
        release(fresh, plan, tmp_path / "again")
    assert caught.value.code == "ledger.exhausted"


STAYS = (
    "The budget ε = 0.7 of the population “ending” stays spent, although nothing was released; a "
    "new run debits it once more."
)


@pytest.mark.parametrize(
    ("failure", "code"),
    [
        (OSError(errno.ENOSPC, "no space"), "storage.disk-full"),
        (StorageError("storage.failed", "The disk failed.", hint="Try another."), "storage.failed"),
        (RefusedError("release.check-failed", "It does not hold."), "release.check-failed"),
        (Cancelled(), "cancelled"),
        (MemoryError(), ""),
    ],
    ids=["full disk", "failed disk", "failed check", "cancelled", "no memory"],
)
def test_whatever_ends_a_run_after_the_debit_says_what_stays_spent(
    failure: BaseException,
    code: str,
    fresh: AppContext,
    register: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plan = write_plan(register, f"ending-{code}.toml", epsilon=0.7)
    plan.write_text(plan.read_text("utf-8").replace('"register"', '"ending"'), "utf-8")
    told: list[Event] = []

    def fail(*args: object) -> None:
        raise failure

    def run() -> None:
        running.run_plan(fresh, plan, tmp_path / "out", CancelToken(), told.append)

    monkeypatch.setattr(running, "public_files", fail)
    with pytest.raises(type(failure) if code != "storage.disk-full" else StorageError) as caught:
        run()
    said = [note.sentence for note in told if isinstance(note, Note)]
    if isinstance(caught.value, DpdeskError):
        assert caught.value.code == code
        assert caught.value.hint.endswith(STAYS)
        assert STAYS not in said
    else:
        assert STAYS in said
    assert not fresh.unreleased


def test_a_run_that_fails_before_the_debit_speaks_of_none(
    fresh: AppContext, register: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = write_plan(register, "early.toml")

    def fail(*args: object) -> None:
        raise StorageError("storage.failed", "The disk failed.")

    monkeypatch.setattr("dpdesk.app.ledgers.LedgerDesk.debit", fail)
    with pytest.raises(StorageError) as caught:
        release(fresh, plan, tmp_path / "out")
    assert not caught.value.hint


def test_texts_that_cannot_be_read_are_told_before_anything_is_paid(
    fresh: AppContext, register: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = write_plan(register, "german.toml", "limit = 1.0")
    text = plan.read_text("utf-8").replace('"register"', '"german"')
    plan.write_text(text.replace("version = 1", 'version = 1\nlanguage = "de"'), "utf-8")
    (tmp_path / "pages.po").write_bytes(b"\xff nothing of the kind")
    read_catalogue.cache_clear()
    voice_of.cache_clear()
    with monkeypatch.context() as patch:
        patch.setattr(catalogue, "resource_files", lambda *_: (tmp_path / "pages.po",))
        with pytest.raises(StorageError, match="translations to `de`"):
            release(fresh, plan, tmp_path / "out")
    read_catalogue.cache_clear()
    voice_of.cache_clear()
    assert release(fresh, plan, tmp_path / "again").out.is_dir()


PUBLIC_STEPS = ("process", "_write_public")
KNOWN_OF_THE_SOURCE = {"sha256"}
"""What the public part may ask of the store of the raw table: the hash, for the commitment."""


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """(step, attribute) for whatever is asked of the store of the raw table, in order."""
    found: list[tuple[str, str]] = []
    steps = ["before"]
    plain = DataStore.__getattribute__

    def asked(self: DataStore, name: str) -> Any:
        found.append((steps[-1], name))
        return plain(self, name)

    def following(owner: type, name: str) -> None:
        original = getattr(owner, name)

        def step(self: Any, *args: Any) -> Any:
            steps.append(name)
            try:
                return original(self, *args)
            finally:
                steps.append(f"after {name}")

        monkeypatch.setattr(owner, name, step)

    following(CubeDesign, "measure")
    following(CubeDesign, "process")
    following(running._Tables, "_write_public")
    monkeypatch.setattr(DataStore, "__getattribute__", asked)
    return found


def after_measuring(looks: list[tuple[str, str]]) -> set[str]:
    """What was asked of the raw table while the public part came to be."""
    return {name for step, name in looks if step in PUBLIC_STEPS}


def test_nothing_looks_at_the_data_after_the_noise_was_drawn(
    context: AppContext, register: Path, tmp_path: Path, looks: list[tuple[str, str]]
) -> None:
    release(context, write_plan(register, "looks.toml"), tmp_path / "out")
    # Before the debit the ledger asks whether the same people were measured under another name.
    counted = [step for step, name in looks if name == "frequency_table"]
    assert counted == ["before", "measure"]
    assert after_measuring(looks) <= KNOWN_OF_THE_SOURCE
    later = {name for step, name in looks if step.startswith("after") and step != "after measure"}
    assert not later & {"page", "profile", "value_counts", "histogram", "write_recoded"}


def test_processing_that_looks_at_the_data_is_noticed(
    context: AppContext, register: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> None:  # fmt: skip
    measure, process, kept = CubeDesign.measure, CubeDesign.process, []

    def keeping(self: CubeDesign, source: Any, *args: Any) -> Any:
        kept.append(source)
        return measure(self, source, *args)

    def peeping(self: CubeDesign, *args: Any) -> Any:
        kept[0].frequency_table(("sex",), CancelToken())
        return process(self, *args)

    monkeypatch.setattr(CubeDesign, "measure", keeping)
    monkeypatch.setattr(CubeDesign, "process", peeping)
    looks: list[tuple[str, str]] = request.getfixturevalue("looks")
    release(context, write_plan(register, "peeps.toml"), tmp_path / "out")
    assert "frequency_table" in after_measuring(looks)


def forge(folder: Path, file: str, change: Callable[[str], str]) -> None:
    """Change a public file and make hashes and seal fit again, as a skilled forger would."""
    path = folder / "public" / file
    text = path.read_text("utf-8")
    changed = change(text)
    assert changed != text
    path.write_text(changed, "utf-8", newline="")
    seal_again(folder, manifest_of(folder))


def last_value(text: str) -> str:
    lines = text.splitlines()
    start, comma, value = lines[-1].rpartition(",")
    return "\n".join([*lines[:-1], f"{start}{comma}{float(value) + 7.5:.15g}"]) + "\n"


@pytest.mark.parametrize(
    ("file", "change", "says"),
    [
        ("cuboids/2-sex-age.csv", last_value, "differ by"),
        ("cuboids/0.csv", last_value, "differ by"),
        ("cuboids/1-sex.csv", lambda text: text.replace("f,", "x,"), "another category"),
        ("cuboids/1-sex.csv", lambda text: "".join(text.splitlines(True)[:-1]), "cells"),
        ("cuboids/1-sex.csv", lambda text: text.replace("sex,", "Sex,"), "columns"),
        ("cuboids/1-sex.csv", lambda text: text[:-1] + "0\n", ""),
    ],
)
def test_a_forged_table_is_found_though_all_hashes_fit(
    copy: Path,
    verify: Callable[[Path], VerifyReport],
    file: str,
    change: Callable[[str], str],
    says: str,
) -> None:
    forge(copy, file, change)
    found = verify(copy)
    assert not found.ok
    assert any(says in failure.reason for failure in found.failures), found.failures


def halve_scales(said: dict[str, Any]) -> None:
    said["result"]["scales"] = [scale / 2 for scale in said["result"]["scales"]]


def smaller_epsilon(said: dict[str, Any]) -> None:
    said["parameters"]["epsilon"] = 0.5


def smaller_error(said: dict[str, Any]) -> None:
    said["result"]["cuboids"][0]["variance"] /= 2


def another_promise(said: dict[str, Any]) -> None:
    said["guarantee"]["claim"] = "No one can learn anything."


def a_source_less(said: dict[str, Any]) -> None:
    for key in ("noise_sources", "scales", "shares"):
        said["result"][key] = said["result"][key][:-1]


@pytest.mark.parametrize(
    "change", [halve_scales, smaller_epsilon, smaller_error, another_promise, a_source_less]
)
def test_a_manifest_that_promises_too_much_is_found_though_it_is_sealed(
    copy: Path, verify: Callable[[Path], VerifyReport], change: Callable[[dict[str, Any]], None]
) -> None:
    said = manifest(copy)
    change(said)
    seal_again(copy, said)
    found = verify(copy)
    assert not found.ok
    assert any("manifest.json" in failure.path for failure in found.failures)


@pytest.mark.parametrize("name", ["cuboids/extra.csv", "microdata.csv", "cuboids/sub"])
def test_what_does_not_belong_into_the_public_part_is_named(
    copy: Path, verify: Callable[[Path], VerifyReport], name: str
) -> None:
    path = copy / "public" / name
    if name.endswith("sub"):
        path.mkdir()
    else:
        path.write_text("value\n1\n", "utf-8")
    found = verify(copy)
    assert [failure.path for failure in found.failures] == [f"public/{name}"]


def test_a_missing_table_is_named(copy: Path, verify: Callable[[Path], VerifyReport]) -> None:
    (copy / "public" / "cuboids" / "1-age.csv").unlink()
    found = verify(copy)
    assert any("1-age.csv" in failure.path for failure in found.failures)


def test_the_public_part_alone_verifies(copy: Path, verify: Callable[[Path], VerifyReport]) -> None:
    found = verify(copy / "public")
    assert found.ok
    assert not found.sealed


def test_an_export_holds_all_tables_below_each_other(
    genuine: Path, context: AppContext, tmp_path: Path
) -> None:
    out = tmp_path / "all.csv"
    export_release(genuine, "csv", out, context.workspace, CancelToken(), silent)
    header, *rows = rows_of(out)
    assert header == ["table", "sex", "region", "age", "value"]
    listed = manifest(genuine)["result"]["cuboids"]
    assert len(rows) == sum(item["cells"] for item in listed)
    for item in listed:
        name = " × ".join(item["dimensions"]) or "grand total"
        values = [row[-1] for row in rows if row[0] == name]
        assert values == [row[-1] for row in rows_of(genuine / "public" / item["file"])[1:]]


@pytest.mark.parametrize("file_format", ["parquet", "xlsx"])
def test_other_formats_are_written_from_the_same_rows(
    genuine: Path, context: AppContext, tmp_path: Path, file_format: str
) -> None:
    out = tmp_path / f"all.{file_format}"
    export_release(genuine, file_format, out, context.workspace, CancelToken(), silent)
    assert out.stat().st_size > 0
