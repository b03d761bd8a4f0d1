"""Names of the files of a cube."""

from __future__ import annotations

from collections.abc import Sequence

from dpdesk.core.cube_parameters import COUNT
from dpdesk.engine.cubes.lattice import members
from dpdesk.engine.cubes.settings import CubeSettings
from dpdesk.engine.private.kinds import Measure

FOLDER = "cuboids"
_SAFE = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")
_LONGEST = 120


def cuboid_file(settings: CubeSettings, mask: int, measure: Measure) -> str:
    """Path of a cuboid's CSV in the public part, such as ``cuboids/2-age-sex.csv``.

    The number of dimensions comes first; of other characters than letters, digits and ``_`` the
    UTF-8 bytes are percent-encoded. Names that would be long, or that differ from another one in
    upper and lower case alone, give way to the number of the cuboid.
    """
    stem = table_stem(settings.dimensions, mask, f"cuboid-{mask}")
    if measure.kind == COUNT and len(settings.measures) == 1:
        return f"{FOLDER}/{stem}.csv"
    tail = encoded(measure.name.replace(" ", "_"))
    if len(tail) > _LONGEST:
        tail = f"measure_{[m.name for m in settings.measures].index(measure.name)}"
    return f"{FOLDER}/{stem}.{tail}.csv"


def table_stem(dimensions: Sequence[str], mask: int, number: str) -> str:
    """The name of a table by its dimensions, or by its ``number``, without folder and ending."""
    names = [dimensions[i] for i in members(mask)]
    folded = [name.casefold() for name in dimensions]
    stem = "-".join([str(len(names)), *(encoded(name) for name in names)])
    unique = len(set(folded)) == len(folded)
    return stem if unique and len(stem) <= _LONGEST else f"{len(names)}-{number}"


def encoded(name: str) -> str:
    """A name with unsafe characters percent-encoded."""
    return "".join(
        char if char in _SAFE else "".join(f"%{byte:02X}" for byte in char.encode("utf-8"))
        for char in name
    )
