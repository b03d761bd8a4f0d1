"""Whether a manifest of a cube describes the release that its settings ask for, and no other.

Settings are read from the public parameters alone. What follows from them (measures, tables,
domains listed in the plan, the category for everything else, shares of the budget) has to stand in
``result`` exactly so; else a reader of ``result`` would be told what nobody checked.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod

from dpdesk.core.cuboid import Domain
from dpdesk.core.messages import msg
from dpdesk.core.release import CheckStatus, ClaimCheck
from dpdesk.core.shapes import as_list, as_table
from dpdesk.verifiers.reading import OTHER, texts

# What the public parameters of a cube ask for, as the verifier reads them.
#
# Nothing of the planner's reading is used, so that a setting that it misreads is found. That a
# parameter is one that the method takes, and that they go together, is checked where plans are
# read.


COUNT = "count"
_KINDS = ("sum", "average")


@dataclass(frozen=True)
class Asked:
    """The release that the settings describe; tables are masks over ``dimensions``.

    ``measures`` are pairs of kind and column, ``extra`` the columns that decide which rows count
    and are no dimensions, ``cells`` the number of single exact cells by table.
    """

    dimensions: tuple[str, ...]
    extra: tuple[str, ...]
    domains: Mapping[str, tuple[str, ...]]
    outside: Mapping[str, str]
    published: tuple[int, ...]
    forbidden: frozenset[int]
    planner: str
    residuals: bool
    nonnegative: bool
    measures: tuple[tuple[str, str], ...]
    exact: frozenset[int]
    cells: Mapping[int, int]

    def mask(self, names: object) -> int:
        """A table by its dimensions; ValueError for an unknown one, or one that comes twice."""
        listed = texts(names)
        if len(set(listed)) < len(listed):
            raise ValueError("a table names a dimension twice")
        return sum(1 << self.dimensions.index(name) for name in listed)

    def measured(self) -> tuple[str, ...]:
        """Names of the measured vectors in order: an average needs a centred sum and the count."""
        found: list[str] = []
        for kind, column in self.measures:
            parts = (
                (msg("centred sum of {column}", column=column), COUNT)
                if kind == "average"
                else ((msg("sum of {column}", column=column),) if column else (COUNT,))
            )
            found += [part for part in parts if part not in found]
        return tuple(found)

    def averages(self) -> tuple[str, ...]:
        """Names of the averages, which are computed from measured vectors."""
        return tuple(
            msg("average of {column}", column=column)
            for kind, column in self.measures
            if kind == "average"
        )


def asked_of(manifest: Mapping[str, object]) -> Asked:
    """The settings in a manifest. Raises ValueError, TypeError, KeyError when malformed."""
    given = as_table(manifest["parameters"])
    names = texts(given["dimensions"])
    if len(set(names)) < len(names):
        raise ValueError("a dimension comes twice")
    listed = as_list(given.get("exact") or [])
    exact = [item for item in listed if not isinstance(item, Mapping)]
    single = [item for item in listed if isinstance(item, Mapping)]
    bare = Asked(
        dimensions=names,
        extra=tuple(name for name in texts(given.get("counted_by")) if name not in names),
        domains={key: texts(value) for key, value in as_table(given.get("domains") or {}).items()},
        outside={key: str(text) for key, text in as_table(given.get("outside") or {}).items()},
        published=(),
        forbidden=frozenset(),
        planner=str(given.get("planner", "bmax")),
        residuals=given.get("planner") == "optimal" and given.get("basis") == "residuals",
        nonnegative=given.get("nonnegative") is True,
        measures=tuple(_read_measures(given.get("measure", COUNT))),
        exact=frozenset(),
        cells={},
    )
    forbidden = frozenset(bare.mask(item) for item in as_list(given.get("forbid") or []))
    whole = frozenset(bare.mask(item) for item in exact)
    cells = {bare.mask(item["cuboid"]): len(item["cells"]) for item in single}
    tables = {*_published(given.get("publish", "all"), bare, forbidden), *whole, *cells}
    return Asked(
        **{
            **vars(bare),
            "published": tuple(sorted(tables)),
            "forbidden": forbidden,
            "exact": whole,
            "cells": cells,
        }
    )


def _published(raw: object, asked: Asked, forbidden: frozenset[int]) -> Sequence[int]:
    """The tables that are asked for by ``publish``."""
    count = len(asked.dimensions)
    most = count
    if isinstance(raw, Mapping):
        most = int(str(raw["max_dimensions"]))
    elif raw != "all":
        return [asked.mask(item) for item in as_list(raw)]
    every = range(1 << count)
    return [mask for mask in every if mask.bit_count() <= most and mask not in forbidden]


def _read_measures(raw: object) -> Iterator[tuple[str, str]]:
    for item in raw if isinstance(raw, list | tuple) else [raw]:
        if item == COUNT:
            yield COUNT, ""
            continue
        plain = as_table(item)
        kind = next(kind for kind in _KINDS if kind in plain)
        yield kind, str(plain[kind])


MANIFEST = "manifest.json"
RESULT_LABEL = "The release is the one that its settings describe"
_SHARE = re.compile(r"[1-9][0-9]{0,399}(/[1-9][0-9]{0,399})?", re.ASCII)
_PER_MEASURE = ("sensitivity", "scales", "max_variance")
_PROVING = ("exact", "optimal")

Result = Mapping[str, object]


def stated_checks(manifest: Mapping[str, object], settings: Asked) -> Iterator[ClaimCheck]:
    """Compare ``result`` with the settings.

    Whatever is malformed raises ValueError, TypeError, KeyError or ArithmeticError.
    """
    result = manifest["result"]
    if not isinstance(result, Mapping):
        raise TypeError("expected a table")
    label = RESULT_LABEL
    for claim, fault_of in _FAULTS.items():
        fault = fault_of(result, settings)
        if fault:
            yield ClaimCheck(claim, CheckStatus.FAILED, fault, MANIFEST, label)
            return
    found = "domains, measures, tables, noise sources and shares are those of the settings"
    yield ClaimCheck("result", CheckStatus.CONFIRMED, found, MANIFEST, label)
    if result["proven"]:
        found = "whether a plan of its kind has less error can be checked only by planning again"
        yield ClaimCheck("proven", CheckStatus.NOT_CHECKABLE, found, MANIFEST)


def nested_fault(stated: object, domains: Mapping[str, tuple[str, ...]]) -> str:
    """Why what a result lists as levels cannot be levels of these domains; empty when it can."""
    if not isinstance(stated, Mapping):
        return "is not a table"
    for name, levels in stated.items():
        if name not in domains or not isinstance(levels, list) or not levels:
            return msg("gives no levels of a dimension at `{name}`", name=str(name)[:60])
        below: tuple[str, ...] | list[str] = domains[name]
        for level in levels:
            if not isinstance(level, list) or len(level) != len(below):
                return msg(
                    "gives `{name}` a level that does not have one label for each category",
                    name=name,
                )
            if not all(isinstance(label, str) for label in level):
                return msg("gives `{name}` a label that is not text", name=name)
            if not 1 < len(set(level)) < len(set(below)):
                return msg("gives `{name}` a level that joins nothing, or everything", name=name)
            if len(set(zip(below, level, strict=True))) != len(set(below)):
                return msg(
                    "gives `{name}` a level that separates what the one below joins", name=name
                )
            below = level
    return ""


def stated_shares(result: Result) -> tuple[Fraction, ...]:
    """The shares of the budget; ValueError when one is no positive fraction."""
    shares = result["shares"]
    if not isinstance(shares, list):
        raise TypeError("expected a list")
    for share in shares:
        if not isinstance(share, str) or not _SHARE.fullmatch(share):
            raise ValueError("a share of the budget is not a positive fraction")
    return tuple(Fraction(share) for share in shares)


def fault_of_domains(result: Result, settings: Asked) -> str:
    """What of the domains and of their levels is not what the settings say; empty when all is."""
    return next(filter(None, (check(result, settings) for check in _OF_DOMAINS)), "")


def _domains(result: Result, settings: Asked) -> str:
    for name, categories in _stated_domains(result).items():
        listed = settings.domains.get(name)
        if listed is not None and listed != categories:
            return msg(
                "the categories of `{name}` are not those that the parameters list", name=name
            )
    return ""


def _outside(result: Result, settings: Asked) -> str:
    expected: dict[str, str] = {}
    for name, categories in _stated_domains(result).items():
        other = next((text for text in categories if text.lower() == OTHER), None)
        target = settings.outside.get(name, other)
        if target is not None and target not in categories:
            return msg(
                (
                    "the parameters send other texts of `{name}` to something that is not one "
                    "of its categories"
                ),
                name=name,
            )
        if target is not None:
            expected[name] = target
    return "" if result["outside"] == expected else "is not what parameters and domains give"


def _counted_by(result: Result, settings: Asked) -> str:
    """The columns beside the dimensions that decide which rows count, and their categories."""
    stated = result.get("counted_by")
    if not settings.extra:
        return "" if stated is None else ("is stated although the parameters name no such column")
    if not isinstance(stated, Mapping) or {*stated} != {"domains", "outside"}:
        return "is not stated, and the parameters name such columns"
    domains = Domain.from_json(stated["domains"])
    if domains.dimensions != settings.extra or not all(domains.categories):
        return "holds columns other than those that the parameters name, or one without categories"
    return _domains(stated, settings) or _outside(stated, settings)


def _rollups(result: Result, settings: Asked) -> str:
    return nested_fault(result.get("rollups", {}), _stated_domains(result))


def _biased(result: Result, settings: Asked) -> str:
    if result["biased"] is not settings.nonnegative:
        return msg(
            "is {result}, and the parameters say {nonnegative}",
            result=str(result["biased"])[:40],
            nonnegative=settings.nonnegative,
        )
    return ""


def _residuals(result: Result, settings: Asked) -> str:
    if result["residuals"] is not settings.residuals:
        return msg(
            "is {result}, and the parameters say {residuals}",
            result=str(result["residuals"])[:40],
            residuals=settings.residuals,
        )
    return ""


def _proven(result: Result, settings: Asked) -> str:
    if not isinstance(result["proven"], bool):
        return "is neither true nor false"
    if result["proven"] and settings.planner not in _PROVING:
        return msg("is true, which the planner `{planner}` never shows", planner=settings.planner)
    return ""


def _measures(result: Result, settings: Asked) -> str:
    expected = list(settings.measured())
    stated = result.get("measures")
    if len(expected) == 1:
        return "" if stated is None else "are listed though there is one alone"
    if not isinstance(stated, list) or [item["measure"] for item in stated] != expected:
        return msg("are not {join}", join=", ".join(expected))
    if any(stated[0][key] != result[key] for key in _PER_MEASURE):
        return "begin with another sensitivity, scale or variance than `result` itself"
    return ""


def _cuboids(result: Result, settings: Asked) -> str:
    names = list(settings.measured())
    several = len(names) > 1
    names += settings.averages()
    expected = [
        ([text for i, text in enumerate(settings.dimensions) if mask >> i & 1], name)
        for name in names
        for mask in settings.published
    ]
    stated = result["cuboids"]
    if not isinstance(stated, list) or len(stated) != len(expected):
        return msg(
            "are not the {expected:,} tables that the parameters ask for", expected=len(expected)
        )
    for item, (dimensions, name) in zip(stated, expected, strict=True):
        if item["dimensions"] != dimensions or item.get("measure") != (name if several else None):
            shown = " × ".join(dimensions) or msg("grand total")
            return msg(
                "are other tables, or in another order, than asked for (at {shown}, {name})",
                shown=shown,
                name=name,
            )
        if not isinstance(item["file"], str) or isinstance(item["cells"], bool):
            return "name a file that is not text, or a number of cells that is none"
    return ""


def _shares(result: Result, settings: Asked) -> str:
    shares, sources = stated_shares(result), result["noise_sources"]
    if not isinstance(sources, list) or len(shares) != len(sources):
        return "are not one for each noise source"
    if sum(shares) > 1:
        return "come to more than the whole budget"
    if settings.planner != "optimal" and len(set(shares)) > 1:
        return msg("differ, which the planner `{planner}` never does", planner=settings.planner)
    return ""


def _sources(result: Result, settings: Asked) -> str:
    stated = result["noise_sources"]
    if not isinstance(stated, list) or not stated:
        return "are none"
    masks = [settings.mask(names) for names in stated]
    if len(set(masks)) < len(masks):
        return "name a table twice"
    noisy = [mask for mask in settings.published if not _is_exact(mask, result, settings)]
    base = 0
    for mask in noisy:
        base |= mask
    expected = {"all": set(noisy), "base": {base}}.get(settings.planner)
    if expected is not None and set(masks) != expected:
        return msg("are not those of the planner `{planner}`", planner=settings.planner)
    if not settings.residuals and not settings.forbidden.isdisjoint(masks):
        return "hold a table that `forbid` names"
    return ""


def _is_exact(mask: int, result: Result, settings: Asked) -> bool:
    """Whether a table follows from those that are released exactly."""
    sizes = [len(texts) for texts in _stated_domains(result).values()]
    full = {
        one
        for one, cells in settings.cells.items()
        if cells == prod(size for i, size in enumerate(sizes) if one >> i & 1)
    }
    kept = sum(1 << i for i, size in enumerate(sizes) if size > 1)
    return any(mask & kept & ~one == 0 for one in {*settings.exact, *full})


def _stated_domains(result: Result) -> dict[str, tuple[str, ...]]:
    listed = result["domains"]
    if not isinstance(listed, list):
        raise TypeError("expected a list")
    return {str(item["dimension"]): tuple(item["categories"]) for item in listed}


_OF_DOMAINS = (_domains, _outside, _rollups)
_FAULTS: Mapping[str, Callable[[Result, Asked], str]] = {
    "domains": _domains,
    "outside": _outside,
    "counted_by": _counted_by,
    "rollups": _rollups,
    "residuals": _residuals,
    "biased": _biased,
    "proven": _proven,
    "measures": _measures,
    "cuboids": _cuboids,
    "noise_sources": _sources,
    "shares": _shares,
}
