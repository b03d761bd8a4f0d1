"""The keys of a plan's ``[protection]`` for views, and what they say together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations, islice
from math import comb, prod

from dpdesk.core.cube_parameters import (
    SIZE,
    CuboidNumbersParameter,
    CuboidsParameter,
    MarginalsParameter,
)
from dpdesk.core.errors import InputError
from dpdesk.core.messages import msg
from dpdesk.core.parameters import (
    Choice,
    ChoiceParameter,
    IntegerParameter,
    Nested,
    Parameter,
    ParameterValue,
    exact_number,
    parse_parameters,
)
from dpdesk.core.plain import freeze, quoted
from dpdesk.core.release import Guarantee, Manifest
from dpdesk.engine.cubes.guarantee import cube_guarantee
from dpdesk.engine.cubes.parameters import PARAMETERS as CUBE_PARAMETERS
from dpdesk.engine.cubes.settings import CubeSettings
from dpdesk.engine.private.settings import misfit, stated_cluster

Places = tuple[int, ...]
MOST_DIMENSIONS, MOST_IN_VIEW = 200, 16
MOST_MARGINALS, MOST_CELLS, MOST_OF_MARGINAL = 5_000, 1 << 26, 1 << 20
MAX_ENTROPY = "max-entropy"


_SHARED = {parameter.key: parameter for parameter in CUBE_PARAMETERS}
PARAMETERS: tuple[Parameter, ...] = (
    replace(
        _SHARED["dimensions"],
        help="The columns from which marginals can be made; each needs declared categories.",
    ),
    *(_SHARED[key] for key in ("levels", "domains", "origins", "outside")),
    IntegerParameter(
        "view_size",
        "Dimensions of a view",
        "How many dimensions a measured table has; without it, the guide to the error chooses.",
        unit="dimensions",
        minimum=1,
        maximum=MOST_IN_VIEW,
        replaces=("view_cells",),
    ),
    IntegerParameter(
        "view_cells",
        "Cells of a view, at most",
        "For dimensions with different numbers of categories: how large a measured table may be.",
        unit="cells",
        minimum=2,
        maximum=1 << 20,
    ),
    IntegerParameter(
        "cover",
        "Dimensions covered together",
        "How many dimensions are to be together in a view, whichever they are; 2 "
        "unless you know that more is needed.",
        unit="dimensions",
        minimum=1,
        maximum=3,
        default=2,
    ),
    CuboidsParameter(
        "views",
        "Views",
        "The tables that are measured, instead of those that size and cover give.",
    ),
    CuboidNumbersParameter(
        "weights",
        "Analyses that count more",
        "How much the error of an analysis counts, compared with 1 for every two dimensions: its "
        "views get a larger share of the budget.",
    ),
    MarginalsParameter(
        "marginals",
        "Marginals",
        "Tables to publish next to the views; any other can be made later from the release alone.",
    ),
    ChoiceParameter(
        "reconstruct",
        "Make marginals by",
        "How a marginal is made that is in no view.",
        choices=(
            Choice(
                MAX_ENTROPY,
                "Largest entropy",
                "Nothing is assumed but what the views say; usually the least error.",
            ),
            Choice(
                "least-squares",
                "Least squares",
                "The most even table without negative cells that has the sums of the views.",
            ),
        ),
        default=MAX_ENTROPY,
    ),
    *(
        _SHARED[key]
        for key in ("epsilon", "rho", "delta", "noise", "neighbours", "rows_per_person")
    ),
)


@dataclass(frozen=True)
class ViewSettings:
    """The settings; dimensions are places in plan order.

    ``cube`` holds what views share with a cube: dimensions, categories, budget, whom the noise
    hides. ``views`` are those of the plan, empty where they are chosen; ``size`` is then the number
    of dimensions of each, or ``cells`` their cells, or neither (0) where the guide decides.
    ``entropy`` says that marginals are made by largest entropy, not by least squares.
    """

    cube: CubeSettings
    size: int
    cells: int
    cover: int
    views: tuple[Places, ...]
    weights: Mapping[Places, Fraction]
    marginals: tuple[Places, ...]
    entropy: bool

    @classmethod
    def from_parameters(cls, values: Mapping[str, ParameterValue], where: str) -> ViewSettings:
        """Read checked parameters; InputError ``cube.*``, ``views.*`` for what does not fit."""
        plain = {each.key: each.default_value() for each in CUBE_PARAMETERS}
        own = {key: values[key] for key in values if key in plain and key != "weights"}
        nothing: dict[str, ParameterValue] = {"publish": Nested(freeze([])), "weights": None}
        cube = CubeSettings.from_parameters({**plain, **own, **nothing}, where, MOST_DIMENSIONS)
        names = cube.dimensions
        views = _listed(values["views"], "views", names, where)
        size, cells = (int(str(values[key] or 0)) for key in ("view_size", "view_cells"))
        cover = min(int(str(values["cover"])), len(names))
        if size and cells:
            raise misfit(
                "views.size", where, "`view_size` and `view_cells` are both given", "view_cells"
            )
        if views and (size or cells):
            sentence = "`views` are given, so that their size cannot be chosen"
            raise misfit("views.size", where, sentence, "views")
        if size and not views and size < cover:
            sentence = "`view_size` is smaller than `cover`, so that no view covers so many"
            raise misfit("views.size", where, sentence, "view_size")
        return cls(
            cube=replace(cube, nonnegative=True),
            size=min(size, len(names)),
            cells=cells,
            cover=cover,
            views=views,
            weights=_weights(values["weights"], names, where),
            marginals=_marginals(values["marginals"], names, where),
            entropy=values["reconstruct"] == MAX_ENTROPY,
        )

    def names(self, places: Places) -> list[str]:
        """The dimensions at these places."""
        return [self.cube.dimensions[i] for i in places]


def settings_of(manifest: Manifest) -> ViewSettings:
    """The settings in the public parameters of a manifest. Raises InputError, TypeError."""
    values = parse_parameters(PARAMETERS, manifest.parameters, "the manifest")
    return ViewSettings.from_parameters(values, "the manifest")


def guarantee_again(manifest: Manifest) -> Guarantee:
    """The guarantee that the settings of a manifest give. Raises InputError, TypeError."""
    return cube_guarantee(settings_of(manifest).cube, stated_cluster(manifest))


def _places(names: Sequence[str], key: str, dimensions: tuple[str, ...], where: str) -> Places:
    strange = next((name for name in names if name not in dimensions), None)
    if strange is not None:
        sentence = msg(
            "`{key}` names {name}, which is not one of the dimensions",
            key=key,
            name=quoted(strange),
        )
        raise misfit("views.unknown", where, sentence, key)
    if not names or len(set(names)) < len(names):
        shown = " × ".join(names)
        sentence = (
            msg("`{key}` names a dimension twice in {shown}", key=key, shown=shown)
            if names
            else msg("`{key}` has a table without dimensions", key=key)
        )
        raise misfit("views.twice", where, sentence, key)
    return tuple(sorted(map(dimensions.index, names)))


def _listed(
    value: ParameterValue, key: str, dimensions: tuple[str, ...], where: str
) -> tuple[Places, ...]:
    plain = value.plain if isinstance(value, Nested) else ()
    found: list[Places] = []
    for names in plain if isinstance(plain, tuple) else ():
        places = _places(names, key, dimensions, where)
        if places in found:
            shown = " × ".join(dimensions[i] for i in places)
            sentence = msg("`{key}` names {shown} twice", key=key, shown=shown)
            raise misfit("views.twice", where, sentence, key)
        if len(places) > MOST_IN_VIEW and key == "views":
            sentence = msg(
                "a view has {n} dimensions, expected at most {most}",
                n=len(places),
                most=MOST_IN_VIEW,
            )
            raise misfit("views.size", where, sentence, key)
        found.append(places)
    return tuple(found)


def _weights(
    value: ParameterValue, dimensions: tuple[str, ...], where: str
) -> Mapping[Places, Fraction]:
    plain = value.plain if isinstance(value, Nested) else ()
    found: dict[Places, Fraction] = {}
    for item in plain if isinstance(plain, tuple) else ():
        places = _places(item["dimensions"], "weights", dimensions, where)
        found[places] = found.get(places, Fraction(0)) + (exact_number(item["weight"]) or 0)
    return found


def _marginals(
    value: ParameterValue, dimensions: tuple[str, ...], where: str
) -> tuple[Places, ...]:
    plain = value.plain if isinstance(value, Nested) else ()
    if not isinstance(plain, Mapping):
        found = _listed(value, "marginals", dimensions, where)
    else:
        size = int(plain[SIZE])
        if size > len(dimensions):
            sentence = msg(
                "`marginals` asks for {n} dimensions, and there are {most}",
                n=size,
                most=len(dimensions),
            )
            raise misfit("views.marginals", where, sentence, "marginals")
        found = tuple(islice(combinations(range(len(dimensions)), size), MOST_MARGINALS + 1))
        if len(found) > MOST_MARGINALS:
            raise _too_many(comb(len(dimensions), size), where)
    if len(found) > MOST_MARGINALS:
        raise _too_many(len(found), where)
    return found


def _too_many(count: int, where: str) -> InputError:
    return InputError(
        "views.marginals",
        msg(
            "{where}: `marginals` asks for {count:,} tables, expected at most {most:,}.",
            where=where,
            count=count,
            most=MOST_MARGINALS,
        ),
        hint="Publish fewer: any other can be made later from the release with `dpdesk query`.",
        details={"key": "marginals"},
    )


def check_cells(settings: ViewSettings, views: Sequence[Places], shape: Places, where: str) -> None:
    """Refuse tables that are too large; InputError ``views.too-large``."""
    total = sum(prod(shape[i] for i in view) for view in views)
    largest = max((prod(shape[i] for i in each) for each in settings.marginals), default=0)
    for found, most, key in (
        (total, MOST_CELLS, "views"),
        (largest, MOST_OF_MARGINAL, "marginals"),
    ):
        if found > most:
            raise InputError(
                "views.too-large",
                msg(
                    "{where}: `{key}` come to {total:,} cells, expected at most {most:,}.",
                    where=where,
                    key=key,
                    total=found,
                    most=most,
                ),
                hint="Use fewer dimensions, or coarser categories with `levels`.",
                details={"key": key},
            )
