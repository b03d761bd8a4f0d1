"""Whatever leaf of manifest or evidence is forged, with all else made to fit, verifying tells.

The source is given, so that nothing may rest on "needs the source". What stays open is listed here
by name: the record of a run, and dates and titles, which only a signature can vouch for.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from dpdesk.app.context import AppContext
from dpdesk.app.running import run_plan
from dpdesk.app.verifying import verify_release
from dpdesk.core.jobs import CancelToken, silent
from tests.helpers import clinic, cubes
from tests.helpers import releases as town
from tests.helpers.leaves import EVIDENCE, MANIFEST, Forgery, forge, forgeries
from tests.helpers.pinned import pin

KINDS = ("k-anonymity", "l-diverted", "dp-cube", "dp-graph")
SAMPLE = 45
OPEN: Mapping[str, tuple[str, ...]] = {
    # By nature: only signatures tell when, under which title and by which version.
    MANIFEST: ("created", "title", "texts", "dpdesk"),
    # The record of a run; and names of files, which may be other ones today.
    EVIDENCE: (
        "created",
        "title",
        "dpdesk",
        "notes",
        "environment",
        "timings",
        "plan_name",
        "result/seconds",
        "source/name",
        # How the file was read is compared as `source, reading`, whatever the plan says of it.
        "plan/source",
        "plan/title",
        # Only the computer of the ledger can tell where it ends, who wrote into it, and its name.
        "budget/ledger",
        "budget/elsewhere",
        "budget/head",
        "budget/record/who",
    ),
}
Made = tuple[Path, Path]


def is_open(forgery: Forgery) -> bool:
    place = "/".join(map(str, forgery.place))
    return any(place == name or place.startswith(f"{name}/") for name in OPEN[forgery.file])


@pytest.fixture(scope="module")
def context(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AppContext]:
    with AppContext.open(tmp_path_factory.mktemp("home")) as opened:
        yield opened


def _town(folder: Path, context: AppContext) -> Made:
    plan = town.write_source(folder)
    return town.release(plan, folder / "release", context).out, folder / town.SOURCE


def _clinic(folder: Path, context: AppContext) -> Made:
    source = clinic.write_source(folder)
    return clinic.release(clinic.write_plan(folder), folder / "release", context).out, source


def _cube(folder: Path, context: AppContext) -> Made:
    source = cubes.write_register(folder, cubes.people())
    plan = cubes.write_plan(source, dimensions=["sex", "age"], domains={"sex": list(cubes.SEX)})
    return cubes.release(context, plan, folder / "release").out, source


def _graph(folder: Path, context: AppContext) -> Made:
    source = folder / "edges.csv"
    source.write_text("from,to\na,b\nb,c\nc,a\n", "utf-8")
    plan = folder / "graph.toml"
    plan.write_text(
        'version = 1\ntitle = "Who knows whom"\n[source]\npath = "edges.csv"\n'
        '[protection]\nmethod = "dp-graph"\nends = ["from", "to"]\n'
        'nodes = ["a", "b", "c", "d"]\nepsilon = 1\n[budget]\npopulation = "members"\n',
        "utf-8",
    )
    pin(plan)
    return run_plan(context, plan, folder / "release", CancelToken(), silent).out, source


MAKERS: Mapping[str, Callable[[Path, AppContext], Made]] = dict(
    zip(KINDS, (_town, _clinic, _cube, _graph), strict=True)
)


@pytest.fixture(scope="module", params=KINDS)
def made(
    request: pytest.FixtureRequest, context: AppContext, tmp_path_factory: pytest.TempPathFactory
) -> Made:
    return MAKERS[request.param](tmp_path_factory.mktemp(request.param), context)


def test_the_genuine_release_verifies_with_its_source(made: Made, context: AppContext) -> None:
    release, source = made
    found = verify_release(
        release, context.registry, CancelToken(), silent, source, context.workspace
    )
    assert found.ok, found.failures
    assert not found.not_checked()


def unseen(made: Made, context: AppContext, chosen: list[Forgery], folder: Path) -> list[str]:
    """Forgeries that verifying with the source passed without a word."""
    release, source = made
    passed = []
    for number, forgery in enumerate(chosen):
        target = forge(release, folder / str(number), forgery, context.registry)
        found = verify_release(
            target, context.registry, CancelToken(), silent, source, context.workspace
        )
        if found.ok and not found.not_checked():
            passed.append(str(forgery))
    return passed


def test_no_forged_leaf_passes_in_silence(made: Made, context: AppContext, tmp_path: Path) -> None:
    everything = [each for each in forgeries(made[0]) if not is_open(each)]
    chosen = random.Random(16).sample(everything, min(SAMPLE, len(everything)))
    assert unseen(made, context, chosen, tmp_path) == []


@pytest.mark.soak
def test_no_forged_leaf_at_all_passes_in_silence(
    made: Made, context: AppContext, tmp_path: Path
) -> None:
    chosen = [each for each in forgeries(made[0]) if not is_open(each)]
    assert unseen(made, context, chosen, tmp_path) == []
