"""Methods whose checks say less than their releases state, or what only the program can say."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

import pytest

from dpdesk.app.checklists import check_release
from dpdesk.app.context import AppContext
from dpdesk.app.exporting import export_release
from dpdesk.app.running import run_plan
from dpdesk.app.verifying import verify_release
from dpdesk.core.capabilities import Capabilities, Content, Protection, RowOrder, Spending
from dpdesk.core.errors import RefusedError
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.core.release import (
    MADE_AGAIN,
    ROWS_COMPARED,
    CheckStatus,
    ClaimCheck,
    Manifest,
    PublishedTable,
)
from dpdesk.engine.method import GUARANTEE, Method
from dpdesk.engine.methods.registered import default_registry
from dpdesk.engine.registry import Registry
from dpdesk.project.review.votes import ItemStatus
from tests.contract.toys import ROWS, Rows, Tables, refused, write_plan

_SAYS = CheckStatus.CONFIRMED


class Brief(Rows):
    """Rows whose check makes one claim, or a few."""

    capabilities: ClassVar[Capabilities] = ROWS
    said: ClassVar[tuple[tuple[str, CheckStatus], ...]] = (("everything", _SAYS),)

    def verify(
        self, manifest: Manifest, published: PublishedTable, token: CancelToken
    ) -> tuple[ClaimCheck, ...]:
        return tuple(ClaimCheck(*each, "it is so", "microdata.csv") for each in self.said)


class ByNature(Brief):
    """A guarantee that nobody could check, they say."""

    said = (("values of it", CheckStatus.NOT_CHECKABLE), ("rows_out", _SAYS))


class LeftOut(Brief):
    """All but the number of rows."""

    said = (("values of it", _SAYS),)


class Unnamed(Rows):
    """Checks of all, and no word on which is about what."""

    capabilities: ClassVar[Capabilities] = ROWS
    checked_by: ClassVar[Mapping[str, str]] = {}


class Again(Brief):
    """The table made again, by the method itself."""

    said = (("values of it", _SAYS), ("rows_out", _SAYS), (MADE_AGAIN, _SAYS))


class Compared(Brief):
    """Drawn rows compared with their source, of a method that draws none."""

    said = (("values of it", _SAYS), ("rows_out", _SAYS), (ROWS_COMPARED, _SAYS))


class Silent(Tables):
    """Tables with noise of which nothing is checked but that there are some."""

    def verify(self, *given: object) -> tuple[ClaimCheck, ...]:
        return (ClaimCheck("everything", _SAYS, "it is so"),)

    def verify_declared(self, *given: object) -> list[ClaimCheck]:
        return []


@pytest.fixture
def office(private_home: Path) -> Iterator[AppContext]:
    with AppContext.open(private_home) as opened:
        yield opened


def made(method: Method, kind: str, folder: Path, office: AppContext) -> tuple[AppContext, Path]:
    """A release by a method under the name of the toy that it stands for."""
    context = replace(office, registry=Registry((*default_registry(), method)))
    plan = write_plan(folder, kind)
    return context, run_plan(context, plan, folder / "out", CancelToken(), silent).out


@pytest.mark.parametrize(
    ("method", "kind", "unsaid"),
    [
        (Brief, "rows", {GUARANTEE, "result, rows_out"}),
        (ByNature, "rows", {GUARANTEE}),
        (LeftOut, "rows", {"result, rows_out"}),
        (Unnamed, "rows", {GUARANTEE, "result, rows_out"}),
        (Silent, "tables", {GUARANTEE, "result, scales", "result, cuboids"}),
    ],
)
def test_what_no_check_is_about_was_not_checked(
    method: Callable[[], Method], kind: str, unsaid: set[str], tmp_path: Path, office: AppContext
) -> None:
    context, out = made(method(), kind, tmp_path, office)
    token, registry = CancelToken(), context.registry
    for source in (None, tmp_path / "people.csv") if kind == "rows" else (None,):
        found = verify_release(out, registry, token, silent, source, context.workspace)
        assert found.failures == ()
        assert unsaid <= {check.claim for check in found.not_checked()}
    item = check_release(context, out, token, silent).checklist.item("verified")
    assert item.status is ItemStatus.FAIL
    target, place = tmp_path / "out.csv", context.workspace
    code = refused(
        lambda: export_release(out, "parquet", target, place, token, silent, registry=registry)
    )
    assert code == "export.not-compared"
    assert not target.exists()


@pytest.mark.parametrize("method", [Again, Compared])
def test_what_the_program_alone_can_say_no_method_says(
    method: Callable[[], Method], tmp_path: Path, office: AppContext
) -> None:
    with pytest.raises(RefusedError, match="not a claim that the method could check"):
        made(method(), "rows", tmp_path, office)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("protection", [Protection.DRAWN, Protection.NOISE])
def test_rows_that_are_not_drawn_protect_by_nothing_that_is(protection: Protection) -> None:
    lying = Brief()
    vars(lying)["capabilities"] = Capabilities(
        Content.ROWS, protection, Spending.NOTHING, RowOrder.SORTED
    )
    with pytest.raises(ValueError, match="protects otherwise"):
        Registry((lying,))


@pytest.mark.parametrize("method", list(default_registry()), ids=lambda method: method.id)
def test_each_part_of_a_result_names_its_check(method: Method) -> None:
    paths = [field.path.split(".") for field in method.public_fields if not field.withdrawn]
    keys = {path[1].removesuffix("[]").removesuffix("[]") for path in paths if path[0] == "result"}
    assert {GUARANTEE, *keys} <= set(method.checked_by)
