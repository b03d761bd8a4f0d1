"""Releases of cubes that somebody forged with skill: every hash, page and seal fits."""

from __future__ import annotations

import copy
import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from dpdesk.app.context import AppContext
from dpdesk.app.private.pages import public_page
from dpdesk.app.verifying import verify_release
from dpdesk.core.jobs import CancelToken, silent
from tests.helpers.cubes import people, release, write_plan, write_register
from tests.helpers.forging import manifest_of, seal_again

PLANS: dict[str, dict[str, Any]] = {
    "counts": {},
    "several": {"measure": ["count", {"sum": "pay", "lower": -10, "upper": 500}]},
    "average": {"measure": {"average": "pay", "lower": 0, "upper": 500}},
    "all": {"planner": "all"},
    "none": {"consistency": "none"},
    "residuals": {"planner": "optimal", "rho": 0.1, "basis": "residuals"},
}

Said = dict[str, Any]
Forgery = Callable[[Said, Path], None]


@pytest.fixture(scope="module")
def context(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AppContext]:
    with AppContext.open(tmp_path_factory.mktemp("home")) as opened:
        yield opened


@pytest.fixture(scope="module")
def genuine(context: AppContext, tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Path]:
    source = write_register(tmp_path_factory.mktemp("data"), people())
    return {
        name: release(context, write_plan(source, f"{name}.toml", **keys), source.parent / name).out
        for name, keys in PLANS.items()
    }


def rename_categories(said: Said, public: Path) -> None:
    said["result"]["domains"][0]["categories"] = ["x", "y"]
    for path in (public / "cuboids").glob("*-sex*.csv"):
        text = path.read_text("utf-8")
        path.write_text(text.replace("f,", "x,").replace("m,", "y,"), "utf-8", newline="")


def other_outside(said: Said, public: Path) -> None:
    said["result"]["outside"] = {"sex": "f"}


def small_shares(said: Said, public: Path) -> None:
    said["result"]["shares"] = ["1/1000"] * len(said["result"]["shares"])


def no_shares(said: Said, public: Path) -> None:
    del said["result"]["shares"]


def proven(said: Said, public: Path) -> None:
    said["result"]["proven"] = True


def biased(said: Said, public: Path) -> None:
    said["result"]["biased"] = not said["result"]["biased"]


def residuals(said: Said, public: Path) -> None:
    said["result"]["residuals"] = not said["result"]["residuals"]


def a_negative_scale(said: Said, public: Path) -> None:
    said["result"]["scales"][0] *= -1


def a_source_twice(said: Said, public: Path) -> None:
    for key in ("noise_sources", "scales", "shares"):
        said["result"][key] = said["result"][key] * 2


def a_table_less(said: Said, public: Path) -> None:
    (public / said["result"]["cuboids"].pop()["file"]).unlink()


def a_table_twice(said: Said, public: Path) -> None:
    entry = copy.deepcopy(said["result"]["cuboids"][1])
    rows = (public / entry["file"]).read_text("utf-8").splitlines()
    rows[1] = f"{rows[1].split(',')[0]},12345"
    entry["file"] = "cuboids/1-copy.csv"
    (public / entry["file"]).write_text("\n".join([*rows, ""]), "utf-8", newline="")
    said["result"]["cuboids"].insert(0, entry)


def a_measure_that_is_not_there(said: Said, public: Path) -> None:
    for entry in said["result"]["cuboids"]:
        entry |= {"measure": "count", "variance": 0.001}


def no_measures(said: Said, public: Path) -> None:
    said["result"]["measures"] = []


def another_name_for_a_sum(said: Said, public: Path) -> None:
    for entry in [*said["result"]["measures"], *said["result"]["cuboids"]]:
        if entry["measure"] != "count":
            entry["measure"] = "total"


def other_scales_above(said: Said, public: Path) -> None:
    said["result"]["scales"] = [0.1] * len(said["result"]["scales"])


def exact_averages(said: Said, public: Path) -> None:
    for entry in said["result"]["cuboids"]:
        if entry["measure"].startswith("average"):
            entry["variance"] = 1.0


def an_average_less(said: Said, public: Path) -> None:
    entry = said["result"]["cuboids"].pop()
    assert entry["measure"].startswith("average")
    (public / entry["file"]).unlink()


def elsewhere(said: Said, public: Path) -> None:
    entry = said["result"]["cuboids"][0]
    shutil.move(public / entry["file"], public.parent.parent / "elsewhere.csv")
    entry["file"] = "../../elsewhere.csv"


def an_absolute_path(said: Said, public: Path) -> None:
    entry = said["result"]["cuboids"][0]
    moved = public.parent.parent / "absolute.csv"
    shutil.move(public / entry["file"], moved)
    entry["file"] = str(moved)


def a_detour(said: Said, public: Path) -> None:
    said["result"]["cuboids"][0]["file"] = "cuboids/../cuboids/0.csv"


def a_name_too_long(said: Said, public: Path) -> None:
    said["result"]["cuboids"][0]["file"] = f"cuboids/{'a' * 5000}.csv"


def the_page_as_a_table(said: Said, public: Path) -> None:
    said["result"]["cuboids"][0]["file"] = "about.html"


def a_header_without_end(said: Said, public: Path) -> None:
    (public / "cuboids/0.csv").write_bytes(b"v" * 300_000 + b"\n1\n")


def no_number_of_cells(said: Said, public: Path) -> None:
    said["result"]["cuboids"][0]["cells"] = True


def truth_for_a_number(said: Said, public: Path) -> None:
    said["guarantee"]["parameters"]["epsilon"] = True


def half_a_person(said: Said, public: Path) -> None:
    (public / "cuboids/0.csv").write_bytes(b"value\n12.5\n")


def sixty_dimensions(said: Said, public: Path) -> None:
    names = [f"d{i}" for i in range(60)]
    shutil.rmtree(public / "cuboids")
    (public / "cuboids").mkdir()
    text = ",".join([*names, "value"]) + "\n" + "a," * 60 + "3\n"
    (public / "cuboids/0.csv").write_text(text, "utf-8", newline="")
    said["parameters"] |= {
        "dimensions": names,
        "levels": {},
        "publish": [names],
        "domains": {name: ["a"] for name in names},
    }
    said["result"] |= {
        "domains": [{"dimension": name, "categories": ["a"]} for name in names],
        "noise_sources": [names],
        "scales": [1.0],
        "shares": ["1"],
        "max_variance": 2.0,
        "cuboids": [{"dimensions": names, "cells": 1, "variance": 1.0, "file": "cuboids/0.csv"}],
    }


FORGERIES: tuple[tuple[str, Forgery], ...] = (
    ("counts", rename_categories),
    ("counts", other_outside),
    ("counts", small_shares),
    ("counts", no_shares),
    ("counts", proven),
    ("counts", residuals),
    ("counts", biased),
    ("residuals", residuals),
    ("counts", a_negative_scale),
    ("counts", a_source_twice),
    ("counts", a_table_less),
    ("counts", a_table_twice),
    ("counts", a_measure_that_is_not_there),
    ("counts", no_measures),
    ("several", another_name_for_a_sum),
    ("several", other_scales_above),
    ("average", exact_averages),
    ("average", an_average_less),
    ("counts", elsewhere),
    ("counts", an_absolute_path),
    ("counts", a_detour),
    ("counts", a_name_too_long),
    ("counts", the_page_as_a_table),
    ("counts", a_header_without_end),
    ("counts", no_number_of_cells),
    ("counts", truth_for_a_number),
    ("none", half_a_person),
    ("counts", sixty_dimensions),
)


@pytest.mark.parametrize(("kind", "forge"), FORGERIES)
def test_a_skilful_forgery_is_found_in_the_release_and_in_its_public_part_alone(
    context: AppContext, genuine: Mapping[str, Path], tmp_path: Path, kind: str, forge: Forgery
) -> None:
    folder = Path(shutil.copytree(genuine[kind], tmp_path / "made" / "release"))
    said: Said = manifest_of(folder)
    forge(said, folder / "public")
    (folder / "public/about.html").write_bytes(
        public_page(said, context.registry.get("dp-cube", "the test"))
    )
    seal_again(folder, said)
    for place in (folder, folder / "public"):
        found = verify_release(place, context.registry, CancelToken(), silent)
        assert not found.ok
        assert all(failure.path and failure.reason for failure in found.failures)


def test_the_forger_changes_nothing_by_sealing_again(
    context: AppContext, genuine: Mapping[str, Path], tmp_path: Path
) -> None:
    for kind, made in genuine.items():
        folder = Path(shutil.copytree(made, tmp_path / kind))
        seal_again(folder, manifest_of(folder))
        found = verify_release(folder, context.registry, CancelToken(), silent)
        assert found.ok, (kind, found.failures)


def test_a_claim_that_this_version_does_not_know_is_said_to_be_unknown(
    context: AppContext, genuine: Mapping[str, Path], tmp_path: Path
) -> None:
    folder = Path(shutil.copytree(genuine["counts"], tmp_path / "release"))
    said: Said = manifest_of(folder)
    said["result"]["certified"] = "by somebody"
    said["result"]["cuboids"][0]["exact"] = True
    seal_again(folder, said)
    found = verify_release(folder, context.registry, CancelToken(), silent)
    unknown = [c.claim for c in found.claims if c.found == "this version does not know this claim"]
    assert unknown == ["result, certified", "result, cuboids, exact"]
