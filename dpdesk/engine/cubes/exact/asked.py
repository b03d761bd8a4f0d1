"""What a plan asks to be released exactly, read from its key `exact`."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from typing import Any

from dpdesk.core.cube_parameters import CELLS, COUNT, CUBOID
from dpdesk.core.errors import InputError
from dpdesk.core.messages import msg
from dpdesk.core.parameters import Nested, ParameterValue, nearest
from dpdesk.core.plain import quoted
from dpdesk.engine.cubes.lattice import mask_of

ExactCells = Mapping[int, tuple[tuple[str, ...], ...]]
_MEASURES = (
    "exact tables go with counts alone: for sums and averages no one knows how much noise the "
    "others need alongside them"
)
_CONSISTENCY = "exact tables go with the consistency l2, or with none"
_ENDS = "`{key}` is not offered alongside exact tables, which such a step would change"


def read_exact(
    value: ParameterValue, dimensions: Sequence[str], forbidden: Container[int], where: str
) -> tuple[tuple[int, ...], ExactCells]:
    """Masks of exact cuboids, and single cells by mask. Raises InputError ``cube.exact``."""
    masks: list[int] = []
    single: dict[int, list[tuple[str, ...]]] = {}
    for item in _items(value):
        names: Sequence[str] = item[CUBOID] if isinstance(item, Mapping) else item
        mask = _mask(names, dimensions, where)
        if mask in masks or mask in single:
            shown = " × ".join(names) or msg("the grand total")
            raise _error(msg("`exact` names {shown} twice", shown=shown), where)
        if mask in forbidden:
            shown = " × ".join(names) or msg("the grand total")
            raise _error(msg("`exact` names {shown}, which `forbid` forbids", shown=shown), where)
        if not isinstance(item, Mapping):
            masks.append(mask)
            continue
        order = sorted(range(len(names)), key=lambda place: dimensions.index(names[place]))
        cells = [tuple(cell[place] for place in order) for cell in item[CELLS]]
        twice = next((cell for i, cell in enumerate(cells) if cell in cells[:i]), None)
        if twice is not None:
            raise _error(
                msg("`exact` names the cell {join} twice", join=" × ".join(map(quoted, twice))),
                where,
            )
        single[mask] = cells
    found = {mask: tuple(cells) for mask, cells in sorted(single.items())}
    return tuple(sorted(masks)), found


def check_exact(values: Mapping[str, ParameterValue], measures: Sequence[str], where: str) -> None:
    """What exact tables do not go together with. Raises InputError ``cube.exact``."""
    if any(name != COUNT for name in measures):
        raise _error(_MEASURES, where, "measure")
    if values["consistency"] not in ("l2", "none"):
        raise _error(_CONSISTENCY, where, "consistency")
    for key in ("nonnegative", "integral"):
        if values[key] is True:
            raise _error(msg(_ENDS, key=key), where, key)


def _items(value: ParameterValue) -> Sequence[Any]:
    plain = value.plain if isinstance(value, Nested) else ()
    return plain if isinstance(plain, tuple) else ()


def _mask(names: Sequence[str], dimensions: Sequence[str], where: str) -> int:
    for place, name in enumerate(names):
        if name not in dimensions:
            near = nearest(name, dimensions)
            raise InputError(
                "cube.unknown-dimension",
                msg(
                    "{where}: `exact` names {name}, which is not a dimension of the cube.",
                    where=where,
                    name=quoted(name),
                ),
                hint=msg("Did you mean `{near}`?", near=near) if near else "",
                details={"key": "exact", "nearest": near},
            )
        if name in names[:place]:
            raise _error(msg("`exact` names {name} twice in one table", name=quoted(name)), where)
    return mask_of(dimensions.index(name) for name in names)


def _error(sentence: str, where: str, key: str = "exact") -> InputError:
    return InputError(
        "cube.exact", msg("{path}: {reason}.", path=where, reason=sentence), details={"key": key}
    )
