"""What the public parameters of a cube ask for, as the verifier reads them.

Nothing of the planner's reading is used, so that a setting that it misreads is found. That a
parameter is one that the method takes, and that they go together, is checked where plans are read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from dpdesk.core.messages import msg
from dpdesk.core.shapes import as_list, as_table
from dpdesk.verifiers.reading import texts

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
        measures=tuple(_measures(given.get("measure", COUNT))),
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


def _measures(raw: object) -> Iterator[tuple[str, str]]:
    for item in raw if isinstance(raw, list | tuple) else [raw]:
        if item == COUNT:
            yield COUNT, ""
            continue
        plain = as_table(item)
        kind = next(kind for kind in _KINDS if kind in plain)
        yield kind, str(plain[kind])
