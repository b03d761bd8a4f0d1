"""One more noisy table of a cube: what it would bring and cost, and buying it.

A release is never changed. A purchase is a release of its own, with noise of its own, that names
the manifests of those before it; readers combine them. It is paid for in the ledger like any other.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

from dpdesk.app.manifests import manifest_hash
from dpdesk.app.prepared import PreparedTables
from dpdesk.app.querying import open_listed, told
from dpdesk.app.running import write_release
from dpdesk.app.shops import Shop, check_same_source
from dpdesk.core.capabilities import Use
from dpdesk.core.errors import InputError
from dpdesk.core.jobs import CancelToken, Note, Report, silent
from dpdesk.core.messages import msg
from dpdesk.core.plan import Plan, Protection
from dpdesk.core.release import NO_MANIFEST

if TYPE_CHECKING:
    from dpdesk.app.context import AppContext
    from dpdesk.core.release import ReleaseSummary
    from dpdesk.engine.cubes.olap.combined import CombinedReleases
    from dpdesk.engine.cubes.olap.cube import ReleasedCube
    from dpdesk.engine.cubes.olap.grids import SumReader
    from dpdesk.engine.cubes.olap.purchase import Accuracy, Comparison


@dataclass(frozen=True)
class TableRequest:
    """A table that is wanted: its dimensions (none: the grand total), and the budget for it.

    The budget is a key of a plan and an amount.
    """

    dimensions: tuple[str, ...]
    budget: tuple[str, Fraction]


@dataclass(frozen=True)
class Offer:
    """What a purchase would bring and cost; nothing was spent for it.

    ``spent`` and ``after`` are the budget of the population before and after in words, ``limit``
    and ``left`` its limit and what would be left of it (empty where there is none). ``refusal``
    says why the ledger would not pay, empty when it would. ``answering`` are the released tables
    that have the dimensions together, the smallest of each release. ``notes`` is what the ledger
    has to say to the person who decides: of exact numbers of earlier releases, say, for which
    the noise is not made.
    """

    dimensions: tuple[str, ...]
    cells: int
    cost: str
    compared: tuple[Comparison, ...]
    spent: str
    after: str
    left: str
    refusal: str
    limit: str = ""
    population: str = ""
    answering: tuple[tuple[str, ...], ...] = ()
    notes: tuple[Note, ...] = ()

    @property
    def worth_it(self) -> bool:
        """Whether the table would tell noticeably more than is known now."""
        first = self.compared[0]
        now = first.now
        return now is None or first.together.half_width <= _HARDLY * now.half_width

    def sentence(self) -> str:
        """The decision in one or two sentences."""
        first = self.compared[0]
        bought = msg(
            "a new one costs {cost} and has ± {half_width:,.4g}",
            cost=self.cost,
            half_width=first.alone.half_width,
        )
        together = msg("± {half_width:,.4g} together", half_width=first.together.half_width)
        if first.now is None:
            return msg("No release has this table yet; {bought} in each cell.", bought=bought)
        known = msg(
            "From what is released each cell has ± {half_width:,.4g}",
            half_width=first.now.half_width,
        )
        if not self.worth_it:
            return msg(
                "{known}; {bought} alone, {together}: hardly any better, so not worth buying.",
                known=known,
                bought=bought,
                together=together,
            )
        return msg(
            "{known}; {bought} alone, {together}.", known=known, bought=bought, together=together
        )

    def as_json(self) -> dict[str, object]:
        """Plain values."""
        return {
            "dimensions": list(self.dimensions),
            "cells": self.cells,
            "cost": self.cost,
            "accuracy": [_compared_json(each) for each in self.compared],
            "spent": self.spent,
            "after": self.after,
            "left": self.left,
            "refusal": self.refusal,
            "sentence": self.sentence(),
            "notes": [note.sentence for note in self.notes],
        }


_HARDLY = 0.98
_LONGEST_NAME = 100


def make_offer(
    context: AppContext,
    shop: Shop,
    wish: TableRequest,
    releases: Sequence[Path],
    token: CancelToken,
    report: Report,
    reader: SumReader | None = None,
) -> Offer:
    """What a table would bring and cost; nothing is spent.

    Of the data only that is looked at whether they are ones on which something was spent before.

    ``reader`` are the releases where they were opened before: then no file of them is read again.

    Raises InputError ``buy.*``, ``query.combine``, and what preparing a plan raises; RefusedError
    ``release.not-intact``, ``buy.other-source``; StorageError when the ledger cannot be used;
    Cancelled.
    """
    if reader is None:
        with _prepared(context, shop, wish, releases, token, report) as (prepared, known):
            return _offer(context, prepared, known, token)
    check_sold(context, shop.plan, shop.where)
    known = _as_combined(reader, releases)
    plan = _plan_for(context, shop.plan, wish, (), shop.where)
    with shop.prepare(context, plan, token, report) as prepared:
        return _offer(context, prepared, known, token)


def _as_combined(reader: SumReader, releases: Sequence[Path]) -> CombinedReleases:
    from dpdesk.engine.cubes.olap.combined import CombinedReleases, combine
    from dpdesk.engine.cubes.olap.grids import OneRelease

    if isinstance(reader, OneRelease):
        _check_noisy(reader.cube, releases[0])
        return combine([(reader.cube, reader.content)])
    if not isinstance(reader, CombinedReleases):
        raise TypeError("neither a release nor several")
    for part, folder in zip(reader.parts, releases, strict=True):
        _check_noisy(part.cube, folder)
    return reader


def buy(
    context: AppContext,
    shop: Shop,
    wish: TableRequest,
    releases: Sequence[Path],
    out: Path,
    token: CancelToken,
    report: Report,
) -> tuple[Offer, ReleaseSummary]:
    """Pay for a table, draw its noise, and write it as a release of its own to ``out``.

    Raises what :func:`make_offer` and :func:`write_release` raise; the debit is on the disk
    before any noise exists.
    """
    from dpdesk.io.release_folder import check_out

    check_out(out)
    ready = _prepared(context, shop, wish, releases, token, report, spending=True)
    with ready as (prepared, known):
        offer = _offer(context, prepared, known, token)
        return offer, write_release(context, prepared, out, token, report)


def described(context: AppContext, shop: Shop, name: str, token: CancelToken) -> ReleasedCube:
    """The table of one dimension as it would be released: its categories, levels and measures.

    Raises InputError ``buy.*`` and what preparing a plan raises, Cancelled.
    """
    wish = TableRequest((name,), (shop.budget_key, Fraction(1)))
    plan = _plan_for(context, shop.plan, wish, (), shop.where)
    with shop.prepare(context, plan, token, silent) as prepared:
        return _offered(prepared)


@contextmanager
def _prepared(
    context: AppContext,
    shop: Shop,
    wish: TableRequest,
    releases: Sequence[Path],
    token: CancelToken,
    report: Report,
    *,
    spending: bool = False,
) -> Iterator[tuple[PreparedTables, CombinedReleases | None]]:
    known, hashes = _known(context, releases, token)
    plan = _plan_for(context, shop.plan, wish, hashes, shop.where)
    with shop.prepare(context, plan, token, report, spending=spending) as prepared:
        check_same_source(prepared.data, releases)
        yield prepared, known


def place_beside(release: Path, dimensions: Sequence[str]) -> Path:
    """A free folder beside a release for a table of these dimensions, named after both."""
    table = "-".join(re.sub(r"[^\w.]+", "_", name) for name in dimensions) or "total"
    stem, number = f"{release.name}-{table}"[:_LONGEST_NAME], 1
    place = release.with_name(stem)
    while place.exists():
        number += 1
        place = release.with_name(f"{stem}-{number}")
    return place


def _known(
    context: AppContext, releases: Sequence[Path], token: CancelToken
) -> tuple[CombinedReleases | None, tuple[str, ...]]:
    """The releases read as one, and the hashes of their manifests."""
    from dpdesk.engine.cubes.olap.combined import combine
    from dpdesk.engine.cubes.olap.cube import ReleasedCube

    found, hashes = [], []
    for folder in releases:
        content = open_listed(context, folder, token)
        hashes.append(manifest_hash(content.manifest))
        if not context.registry.about(content.manifest.method).allows(Use.BOUGHT):
            raise InputError(
                "buy.no-cube", msg("{folder}: the release is not a cube of tables.", folder=folder)
            )
        with told(folder):
            cube = ReleasedCube.from_manifest(content.manifest)
        _check_noisy(cube, folder)
        found.append((cube, content))
    check_apart(releases, hashes)
    return (combine(found) if found else None), tuple(hashes)


def _check_noisy(cube: ReleasedCube, folder: Path) -> None:
    """Refuse a table beside exact ones, whose own noise would be averaged away with them."""
    if cube.exact or cube.pins:
        raise InputError(
            "buy.exact",
            msg(
                "{folder}: some numbers of the release are exact, and noise that was not made "
                "alongside them protects too little, so no single table is sold alongside it.",
                folder=folder,
            ),
            hint="Release all tables of such a cube together.",
        )


def check_apart(releases: Sequence[Path], hashes: Sequence[str]) -> None:
    """Raise InputError ``query.twice`` when a release is named twice: it is one measurement."""
    for number, each in enumerate(hashes):
        if each in hashes[:number]:
            raise InputError(
                "query.twice",
                msg(
                    "{releases}: the same release is named twice, which adds no information.",
                    releases=releases[number],
                ),
            )


def check_sold(context: AppContext, plan: Plan, where: str) -> None:
    """Raise InputError ``buy.no-cube`` unless the method says that its tables can be bought."""
    method = plan.protection.method
    if not context.registry.about(method).allows(Use.BOUGHT):
        raise InputError(
            "buy.no-cube",
            msg(
                "{where}: tables of the method `{method}` are not sold one by one.",
                where=where,
                method=method,
            ),
        )


def _plan_for(
    context: AppContext, plan: Plan, wish: TableRequest, follows: Sequence[str], where: str
) -> Plan:
    """The plan of the purchase: one table, one noise source, the names of those before it."""
    from dpdesk.engine.cubes.olap.purchase import one_table

    check_sold(context, plan, where)
    parameters = plan.protection.parameters
    if parameters.get("exact"):
        raise InputError(
            "buy.exact",
            msg(
                "{where}: `exact` names tables without noise; single tables alongside these "
                "are not offered.",
                where=where,
            ),
            hint="Release all tables of such a cube together.",
        )
    dimensions = parameters.get("dimensions")
    known = list(dimensions) if isinstance(dimensions, list | tuple) else []
    for name in wish.dimensions:
        if name not in known:
            raise InputError(
                "buy.dimension",
                msg("{where}: `dimensions` does not name `{name}`.", where=where, name=name),
            )
    ordered = [name for name in known if name in wish.dimensions]
    key, amount = wish.budget
    protection = one_table(parameters, ordered, (key, amount), follows)
    table = " × ".join(ordered) or msg("grand total")
    title = msg("{file}: {note}", file=plan.title, note=table) if plan.title else table
    return replace(plan, protection=Protection(plan.protection.method, protection), title=title)


def _offered(prepared: PreparedTables) -> ReleasedCube:
    """The cube that the release of a design would hold."""
    from dpdesk.core.parameters import effective_parameters
    from dpdesk.engine.cubes.olap.cube import ReleasedCube

    parameters = prepared.method.parameters
    public = effective_parameters(parameters, prepared.given.parameters, parameters)
    stated = replace(NO_MANIFEST, parameters=public, result=prepared.design.result)
    return ReleasedCube.from_manifest(stated)


def _offer(
    context: AppContext,
    prepared: PreparedTables,
    known: CombinedReleases | None,
    token: CancelToken,
) -> Offer:
    from dpdesk.app.ledgers import debit_request, open_ledger
    from dpdesk.engine.cubes.lattice import cells
    from dpdesk.engine.cubes.olap.purchase import compare, fits

    design, offered = prepared.design, _offered(prepared)
    if known is not None:
        fits(offered, known)
    desk = open_ledger(context, prepared.base, prepared.plan.budget)
    seen = desk.preview(debit_request(desk, prepared, prepared.design.charge, token))
    table = offered.published[-1]
    names = offered.names(table)
    return Offer(
        names,
        cells(table, offered.shape),
        str(design.charge.cost),
        compare(offered, known),
        str(seen.spent),
        str(seen.after),
        "" if seen.left is None else str(seen.left),
        "" if seen.refusal is None else seen.refusal.sentence,
        "" if seen.limit is None else str(seen.limit),
        desk.population,
        () if known is None else known.answering(names),
        seen.notes,
    )


def _compared_json(compared: Comparison) -> dict[str, object]:
    def plain(accuracy: Accuracy | None) -> dict[str, float] | None:
        return None if accuracy is None else asdict(accuracy)

    return {
        "measure": compared.name,
        "released": plain(compared.now),
        "bought": plain(compared.alone),
        "together": plain(compared.together),
    }
