"""A method that nobody has heard of: each room treats it by what it says, and fails where it does
not say.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

import pytest

from dpdesk.app.checklists import CheckedRelease, ItemStatus, check_release
from dpdesk.app.context import AppContext
from dpdesk.app.running import run_plan
from dpdesk.app.verifying import verify_release
from dpdesk.core.capabilities import UNKNOWN, Capabilities, Content, Protection, RowOrder, Spending
from dpdesk.core.errors import RefusedError
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.engine.methods.registered import default_registry
from dpdesk.engine.registry import Registry
from tests.contract.toy import CommonValues

SAYING = Capabilities(Content.ROWS, Protection.CLASSES, Spending.NOTHING, RowOrder.SORTED)


class Saying(CommonValues):
    """The toy, which says everything."""

    id: ClassVar[str] = "saying"
    capabilities: ClassVar[Capabilities] = SAYING


class Silent(CommonValues):
    """The toy, which says nothing."""

    id: ClassVar[str] = "silent"
    capabilities: ClassVar[Capabilities] = UNKNOWN


class HalfSilent(CommonValues):
    """The toy, which says all but how it protects."""

    id: ClassVar[str] = "half-silent"
    capabilities: ClassVar[Capabilities] = replace(SAYING, protection=None)


@pytest.fixture(scope="module")
def context(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AppContext]:
    methods = (*default_registry(), Saying(), Silent(), HalfSilent())
    with AppContext.open(tmp_path_factory.mktemp("home")) as opened:
        yield replace(opened, registry=Registry(methods))


def people() -> list[tuple[str, str]]:
    draw = random.Random(5)
    return [(str(20 + draw.randrange(40)), f"town {draw.randrange(20)}") for _ in range(300)]


def released(context: AppContext, folder: Path, method: str) -> Path:
    lines = ["age,town,illness", *(f"{age},{town},none" for age, town in people())]
    (folder / "people.csv").write_text("\n".join(lines) + "\n", "utf-8")
    plan = folder / "plan.toml"
    plan.write_text(
        'version = 1\n[source]\npath = "people.csv"\n[attributes]\n'
        'age = { role = "quasi-identifier" }\ntown = { role = "quasi-identifier" }\n'
        f'[protection]\nmethod = "{method}"\nleast = 1\n',
        "utf-8",
    )
    return run_plan(context, plan, folder / "release", CancelToken(), silent).out


def checked(context: AppContext, release: Path) -> CheckedRelease:
    return check_release(context, release, CancelToken(), silent)


@pytest.mark.parametrize("method", ["saying", "half-silent"])
def test_people_who_are_alone_are_counted_on_the_quasi_identifiers_of_the_plan(
    context: AppContext, tmp_path: Path, method: str
) -> None:
    release = released(context, tmp_path, method)
    assert verify_release(release, context.registry, CancelToken(), silent).ok
    alone = sum(count == 1 for count in Counter(people()).values())
    assert alone
    found = checked(context, release).checklist.item("uniques")
    assert found.status is ItemStatus.FAIL
    assert f"{alone} of 300 rows" in found.evidence


def test_what_a_method_leaves_out_fails_the_checklist(context: AppContext, tmp_path: Path) -> None:
    found = checked(context, released(context, tmp_path, "half-silent")).checklist
    assert found.item("known-method").status is ItemStatus.FAIL
    assert "how it protects" in found.item("known-method").evidence


def test_rows_in_an_order_that_nobody_stated_do_not_verify(
    context: AppContext, tmp_path: Path
) -> None:
    try:
        release = released(context, tmp_path, "silent")
    except RefusedError:
        return
    found = verify_release(release, context.registry, CancelToken(), silent)
    assert not found.ok
    assert "does not say in which order" in found.failures[0].reason
    assert checked(context, release).checklist.item("verified").status is ItemStatus.FAIL


def test_every_method_of_this_version_says_all_of_itself() -> None:
    assert [m.id for m in default_registry() if m.capabilities.unsaid] == []
