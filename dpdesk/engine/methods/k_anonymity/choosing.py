"""Which of many counted nodes the settings choose, and what to say when they choose none."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.errors import InputError, RefusedError
from dpdesk.core.frequency import FrequencyTable
from dpdesk.core.hierarchy import Hierarchy
from dpdesk.core.messages import joined, listed, msg
from dpdesk.core.systems import memory
from dpdesk.engine.methods.k_anonymity.charts import levels_text, rows_text, share_text
from dpdesk.engine.methods.k_anonymity.settings import OPTIMAL, Settings
from dpdesk.engine.methods.k_anonymity.statistics import EvaluatedNodes

_SHARE_STEPS = 10_000


def choose(nodes: EvaluatedNodes, settings: Settings, allowed: int) -> int | None:
    """Position of the node that the search of ``settings`` takes among ``nodes``, or None.

    Over the whole lattice this is the node that the search itself finds.
    """
    if settings.algorithm == OPTIMAL:
        return nodes.best(settings.objective, settings.k, allowed)
    return _lowest(nodes, settings, allowed)


def _lowest(nodes: EvaluatedNodes, settings: Settings, allowed: int) -> int | None:
    """Samarati: the preferred feasible node of least height, ties as in the search."""
    k = settings.k
    found = np.flatnonzero(nodes.feasible(k, allowed))
    if not len(found):
        return None
    heights = nodes.levels[found].sum(axis=1, dtype=np.int64)
    found = found[heights == heights.min()]
    levels = nodes.levels[found].astype(np.int64)
    classes, suppressed = nodes.classes(k)[found], nodes.suppressed(k)[found]
    preferred = {
        "minimum-absolute-distance": np.zeros(len(found), np.int64),
        "minimum-relative-distance": _relative_steps(levels, nodes.problem.heights),
        "maximum-distribution": -classes,
        "minimum-suppression": suppressed,
    }[settings.prefer]
    order = np.lexsort((*levels.T[::-1], suppressed, -classes, preferred))
    return int(found[order[0]])


def _relative_steps(levels: NDArray[np.int64], heights: Sequence[int]) -> NDArray[np.int64]:
    """Sum of level/height per node, as integers over one common denominator."""
    common = math.lcm(*(height for height in heights if height), 1)
    weights = np.array([common // height if height else 0 for height in heights], dtype=np.int64)
    return levels @ weights


def node_by_hand(
    settings: Settings, attributes: Sequence[str], hierarchies: Sequence[Hierarchy], where: str
) -> tuple[int, ...] | None:
    """The levels that the settings name, in attribute order; None when a search is to choose.

    Raises InputError ``k-anonymity.levels`` for a missing level or one above the hierarchy's top;
    the sentence starts with ``where``.
    """
    if settings.model == "TS":
        return (0,) * len(attributes)
    if settings.levels is None:
        return None
    for name, hierarchy in zip(attributes, hierarchies, strict=True):
        level = settings.levels.get(name)
        if level is None or level > hierarchy.height:
            found = "missing" if level is None else f"{level}"
            raise InputError(
                "k-anonymity.levels",
                msg(
                    "{where}, levels: the level of `{name}` is {found}, expected 0 to {height}, "
                    "the levels of its hierarchy.",
                    where=where,
                    name=name,
                    found=found,
                    height=hierarchy.height,
                ),
                details={"key": "levels", "attribute": name},
            )
    return tuple(settings.levels[name] for name in attributes)


def table_too_small(settings: Settings, rows: int, source: str) -> RefusedError | None:
    """The refusal of a k that no grouping of ``rows`` can reach, or None."""
    if settings.k <= rows:
        return None
    return RefusedError(
        "k-anonymity.table-too-small",
        msg(
            "k = {k} is larger than the table: {source} has {rows}.",
            k=settings.k,
            source=source,
            rows=rows_text(rows),
        ),
        hint=msg("Choose a k of {rows:,} or less.", rows=rows) if rows >= 2 else "",
        details={"k": settings.k, "rows": rows},
    )


def check_memory(counted: FrequencyTable, source: str) -> None:
    """Refuse a search that would need more memory than this computer has, where that is known.

    A tuple takes four bytes per attribute in the codes of the source and again in those of the
    hierarchies, and eight for each of its counts, keys, costs and places while they are sorted
    (see :mod:`.packing`); as much again is for the tables of nodes. Measured on 27.6 million tuples
    of nine attributes: 168 bytes for each until the search begins, some 300 while it runs.

    Raises RefusedError ``k-anonymity.too-many-tuples``.
    """
    tuples, names = len(counted.counts), counted.attributes
    words = 1 + sum(max(len(domain) - 1, 1).bit_length() for domain in counted.domains) // 63
    needed = 2 * tuples * (8 * len(names) + 8 * (2 * words + 9))
    there = memory()
    if not there or needed <= there:
        return
    sizes = sorted(zip(map(len, counted.domains), names, strict=True), reverse=True)
    raise RefusedError(
        "k-anonymity.too-many-tuples",
        msg(
            "{tuples:,} of the {rows} of {source} differ in their quasi-identifiers: a search for "
            "levels would need some {needed:,} GB of memory; this computer has {memory:,} GB.",
            tuples=tuples,
            rows=rows_text(int(counted.counts.sum())),
            source=source,
            needed=-(-needed // 10**9),
            memory=there // 10**9,
        ),
        hint=msg(
            "Make one of the quasi-identifiers with the most values an identifier, which is "
            "removed, or replace it by a coarser column: {names}.",
            names=listed(
                [msg("“{name}” ({n:,} values)", name=name, n=size) for size, name in sizes[:3]]
            ),
        ),
        details={"tuples": tuples, "needed": needed, "memory": there},
    )


def requirements_not_met(settings: Settings, rows: int) -> RefusedError:
    """The refusal where no levels give k and all that is required of sensitive columns.

    Or k, where missing values and households are counted as the plan asks.
    """
    allowed, keys = settings.allowed(rows), settings.besides
    if not settings.required:
        return RefusedError(
            "k-anonymity.infeasible",
            msg(
                "No levels were found that give k = {k:,} with {keys}; {allowed} of {rows} may be "
                "suppressed.",
                k=settings.k,
                keys=listed([f"`{key}`" for key in keys.values()]),
                allowed=rows_text(allowed),
                rows=rows_text(rows),
            ),
            hint="Allow more suppressed rows, or choose a smaller k.",
            details={"key": next(iter(keys), "k"), "k": settings.k, "allowed": allowed},
        )
    names = listed(list(dict.fromkeys(each.attribute for each in settings.required)))
    return RefusedError(
        "k-anonymity.infeasible",
        msg(
            "No levels were found that give k = {k:,} and what is required of {names}; {allowed} "
            "of {rows} may be suppressed.",
            k=settings.k,
            names=names,
            allowed=rows_text(allowed),
            rows=rows_text(rows),
        ),
        hint="Allow more suppressed rows, or require less.",
        details={"key": "require", "k": settings.k, "allowed": allowed},
    )


def never_met(settings: Settings) -> RefusedError:
    """The refusal where not even all rows as one class pass what is required."""
    names = listed(list(dict.fromkeys(each.attribute for each in settings.required)))
    return RefusedError(
        "k-anonymity.infeasible",
        msg(
            "All rows together do not meet what is required of {names}, so no classes of them can.",
            names=names,
        ),
        hint="Require less.",
        details={"key": "require", "k": settings.k},
    )


@dataclass(frozen=True)
class Shortfall:
    """Why no release comes out: at ``levels`` k asks for more suppression than is allowed.

    ``levels`` are those chosen by hand, or those of the node that suppresses fewest rows.
    ``largest_k`` is the largest k that these levels reach within the limit.
    """

    k: int
    rows: int
    allowed: int
    attributes: tuple[str, ...]
    levels: tuple[int, ...]
    suppressed: int
    largest_k: int
    by_hand: bool
    generalises: bool = True

    @classmethod
    def of(
        cls,
        settings: Settings,
        attributes: tuple[str, ...],
        levels: tuple[int, ...],
        sizes: NDArray[np.int64],
    ) -> Shortfall:
        """From the sizes of all classes at ``levels``, of which there is at least one."""
        rows = int(sizes.sum())
        allowed = settings.allowed(rows)
        ascending = np.sort(sizes)
        # Classes before the first whose rows, added up, exceed the limit can be suppressed.
        place = int(np.searchsorted(np.cumsum(ascending), allowed, side="right"))
        return cls(
            k=settings.k,
            rows=rows,
            allowed=allowed,
            attributes=attributes,
            levels=levels,
            suppressed=int(sizes[sizes < settings.k].sum()),
            largest_k=int(ascending[min(place, len(ascending) - 1)]),
            by_hand=settings.levels is not None,
            generalises=settings.model != "TS",
        )

    @property
    def sentence(self) -> str:
        """What is wrong, in one sentence."""
        counts = {
            "lost": rows_text(self.suppressed),
            "rows": rows_text(self.rows),
            "allowed": rows_text(self.allowed),
        }
        if not self.generalises and self.suppressed < self.rows:
            return msg(
                "k = {k:,} is not reached: {lost} of {rows} would have to be suppressed; {allowed} "
                "are allowed.",
                k=self.k,
                **counts,
            )
        where = levels_text(self.attributes, self.levels)
        if self.suppressed == self.rows:
            return msg(
                "k = {k:,} is not reached: at {where} every class is smaller than k.",
                k=self.k,
                where=where,
            )
        if self.by_hand:
            return msg(
                "k = {k:,} is not reached: the levels chosen by hand need {lost} of {rows} "
                "suppressed; {allowed} are allowed.",
                k=self.k,
                **counts,
            )
        return msg(
            "k = {k:,} is not reached: at least {lost} of {rows} would have to be suppressed (at "
            "{where}); {allowed} are allowed.",
            k=self.k,
            where=where,
            **counts,
        )

    @property
    def remedy(self) -> dict[str, object] | None:
        """Plan keys of the nearest setting that works: more suppression, else a smaller k."""
        if self.suppressed < self.rows:
            return {"max_suppression": self.share}
        return {"k": self.largest_k} if self.largest_k >= 2 else None

    @property
    def share(self) -> float:
        """The smallest share, in hundredths of a percent, that allows the suppression."""
        steps = -(-self.suppressed * _SHARE_STEPS // self.rows)
        return steps / _SHARE_STEPS

    @property
    def remedy_label(self) -> str:
        """Words for the button of :attr:`remedy`."""
        remedy = self.remedy
        if remedy is None:
            return ""
        if "k" in remedy:
            return msg("Set k to {k:,}", k=self.largest_k)
        return msg("Allow {share} suppressed rows", share=share_text(self.share))

    def error(self) -> RefusedError:
        """The refusal of a run."""
        ways = []
        if self.suppressed < self.rows:
            ways.append(msg("allow max_suppression = {share}", share=self.share))
        if self.largest_k >= 2:
            ways.append(msg("set k = {largest_k}", largest_k=self.largest_k))
        higher = "choose higher levels" if self.generalises else "choose a model that generalises"
        return RefusedError(
            "k-anonymity.infeasible",
            self.sentence,
            hint=msg("What helps: {ways}.", ways=joined(ways, " or ") or higher),
            details={"k": self.k, "suppressed": self.suppressed, "allowed": self.allowed},
        )
