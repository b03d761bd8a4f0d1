"""The settings of a data cube, read from the parameters of a plan and checked together."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction
from typing import Any

from dpdesk.core.cube_parameters import ALL, AVERAGE, CELLS, COUNT, CUBOID, MAX_DIMENSIONS, SUM
from dpdesk.core.errors import InputError
from dpdesk.core.messages import counted, msg
from dpdesk.core.parameters import Nested, ParameterValue, exact_number, nearest
from dpdesk.core.plain import quoted
from dpdesk.core.schema import Role
from dpdesk.engine.cubes.exact.part import ExactPart
from dpdesk.engine.cubes.lattice import MOST_DIMENSIONS, by_size, mask_of, members
from dpdesk.engine.cubes.parameters import SOURCE_LABELS
from dpdesk.engine.private.declared import DeclaredDomain, declare, made_beside_data
from dpdesk.engine.private.kinds import Measure, Noise
from dpdesk.engine.private.method import PrivateInput
from dpdesk.engine.private.origins import recorded_origins
from dpdesk.engine.private.settings import (
    NOT_SPANNING,
    REPLACE,
    PrivateSettings,
    becomes,
    check_clusters,
    check_named,
    misfit,
    read_budget,
    texts_of,
    ticked,
    weights_of,
)

_GREATEST = Fraction(10) ** 30


class Covered(Enum):
    """Which numbers a stated ± holds for: those released, or those of a step before."""

    RELEASED = "released"
    WITH_NEGATIVES = "before negative numbers are removed"
    LEAST_SQUARES = "made to agree by least squares"


@dataclass(frozen=True)
class CubeSettings(PrivateSettings):
    """All settings with their types; cuboids are masks over ``dimensions`` in plan order.

    ``domains`` and ``outside`` hold what the plan declares, by dimension. ``exact`` are cuboids
    released without noise, ``exact_cells`` single cells of others, by their categories along the
    cuboid's dimensions in plan order; ``part`` is what they come to, once the domain is known.
    ``counted_by`` are the columns whose categories decide which rows count; empty: the dimensions.
    ``labels`` says that the code lists of the source are published for declared categories.
    ``origins`` says where categories come from, as far as the plan knows it.
    """

    dimensions: tuple[str, ...]
    levels: Mapping[str, int]
    domains: Mapping[str, tuple[str, ...]]
    outside: Mapping[str, str]
    published: tuple[int, ...]
    forbidden: frozenset[int]
    planner: str
    theta: Fraction | None
    objective: str
    weights: Mapping[int, Fraction]
    targets: Mapping[int, Fraction]
    residuals: bool
    consistency: str
    nonnegative: bool
    integral: bool
    measures: tuple[Measure, ...]
    exact: tuple[int, ...] = ()
    exact_cells: Mapping[int, tuple[tuple[str, ...], ...]] = field(default_factory=dict)
    part: ExactPart | None = None
    labels: bool = False
    counted_by: tuple[str, ...] = ()
    origins: Mapping[str, str] = field(default_factory=dict)

    @property
    def covered(self) -> Covered:
        """Which numbers the stated ± holds for in 95 of 100 cases or more."""
        if self.nonnegative:
            return Covered.WITH_NEGATIVES
        linear = self.consistency in ("l1", "linf")
        return Covered.LEAST_SQUARES if linear else Covered.RELEASED

    @property
    def extra(self) -> tuple[str, ...]:
        """Columns that decide which rows count and are no dimension of the tables."""
        return tuple(name for name in self.counted_by if name not in self.dimensions)

    @classmethod
    def from_parameters(
        cls, values: Mapping[str, ParameterValue], where: str, most: int = MOST_DIMENSIONS
    ) -> CubeSettings:
        """Read checked parameters; raises InputError ``cube.*`` where they do not go together."""
        dimensions = texts_of(values["dimensions"])
        _check_distinct(dimensions, most, where)
        declared = _counted_by(values["counted_by"], dimensions, where)
        noise, budget = _budget(values, where)
        planner, residuals = _planner(values, noise, where)
        forbidden = _forbidden(values["forbid"], dimensions, where)
        exact, exact_cells = read_exact(values["exact"], dimensions, forbidden, where)
        published = _published(values["publish"], dimensions, forbidden, where)
        weights, targets = _weights_and_targets(values, dimensions, (*published, *exact), where)
        _check_targets(values, planner, targets, where)
        measures = _measures(values["measure"], where)
        _check_together(values, measures, residuals=residuals, where=where)
        return cls(
            dimensions=dimensions,
            levels=_levels(values["levels"], declared, where),
            domains=_domains(values["domains"], declared, where),
            outside=_outside(values["outside"], declared, where),
            published=tuple(sorted({*published, *exact, *exact_cells})),
            forbidden=forbidden,
            planner=planner,
            theta=_positive(values["theta"]),
            objective=str(values["objective"]),
            weights=weights,
            targets=targets,
            residuals=residuals,
            noise=noise,
            budget=budget,
            delta=Fraction(str(values["delta"])),
            replace=values["neighbours"] == REPLACE,
            consistency=str(values["consistency"]),
            nonnegative=values["nonnegative"] is True,
            integral=values["integral"] is True,
            measures=measures,
            rows_per_person=int(str(values["rows_per_person"])),
            exact=exact,
            exact_cells=exact_cells,
            labels=values["labels"] == SOURCE_LABELS,
            counted_by=texts_of(values["counted_by"]),
            origins=recorded_origins(values["origins"], declared, where),
        )


def _weights_and_targets(
    values: Mapping[str, ParameterValue],
    dimensions: tuple[str, ...],
    tables: tuple[int, ...],
    where: str,
) -> Iterator[Mapping[int, Fraction]]:
    """Weight and wanted variance of each table that has one."""
    for key, number in (("weights", "weight"), ("targets", "variance")):
        yield _numbers(values[key], key, number, dimensions, tables, where)


def _planner(values: Mapping[str, ParameterValue], noise: Noise, where: str) -> tuple[str, bool]:
    """The planner, and whether it measures residuals."""
    planner = str(values["planner"])
    if planner == "pmost" and values["theta"] is None:
        sentence = "the planner `pmost` needs `theta`, a variance"
        raise misfit("cube.theta", where, sentence, "theta")
    residuals = planner == "optimal" and values["basis"] == "residuals"
    if residuals and noise is not Noise.GAUSSIAN:
        sentence = "`basis` is residuals, which need Gaussian noise; give `rho`"
        raise misfit("cube.basis", where, sentence, "basis")
    if residuals and values["consistency"] != "l2":
        sentence = "`basis` is residuals, which go only with the consistency l2"
        raise misfit("cube.basis", where, sentence, "consistency")
    return planner, residuals


def _check_targets(
    values: Mapping[str, ParameterValue], planner: str, targets: object, where: str
) -> None:
    if values["objective"] == "targets" and planner == "optimal" and not targets:
        sentence = "the objective is targets, but there are none"
        raise misfit("cube.targets", where, sentence, "targets")


def _positive(value: ParameterValue) -> Fraction | None:
    return value if isinstance(value, Fraction) else None


def declared_of(
    settings: CubeSettings, given: PrivateInput, names: Sequence[str]
) -> DeclaredDomain:
    """These columns as the settings and hierarchies declare them; InputError ``cube.*``."""
    for name in names:
        if name in given.hand_made and name not in settings.domains:
            raise made_beside_data(name, given.where)
    return DeclaredDomain(
        tuple(
            declare(
                name,
                settings.domains.get(name),
                given.hierarchy(name),
                settings.levels.get(name, 0),
                settings.outside.get(name),
                given.where,
            )
            for name in names
        )
    )


def check_columns(
    settings: CubeSettings, columns: Sequence[str], roles: Mapping[str, Role], where: str
) -> None:
    """Check names and roles; raises InputError ``plan.unknown-column``, ``cube.*``."""
    measured = [measure.column for measure in settings.measures if measure.column]
    for name in (*settings.dimensions, *measured):
        check_named(name, columns, "dimensions", where)
    for name in settings.extra:
        check_named(name, columns, "counted_by", where)
    for name in (*settings.dimensions, *settings.extra):
        reason = NOT_SPANNING.get(roles[name])
        if reason is not None:
            sentence = msg(
                "`{name}` {reason} (role {roles}), so it cannot be a dimension",
                name=name,
                reason=reason,
                roles=roles[name].value,
            )
            raise misfit("cube.role", where, sentence, "dimensions")
    for name in measured:
        if name in settings.dimensions or name in settings.extra:
            sentence = msg("`{name}` is a dimension, so it cannot be summed as well", name=name)
            raise misfit("cube.measure", where, sentence, "measure")
    _check_weights(settings, roles, where)
    check_clusters(roles, "cube.role", "cluster", where)


def _check_weights(settings: CubeSettings, roles: Mapping[str, Role], where: str) -> None:
    summed = {measure.column for measure in settings.measures}
    names = [name for name in weights_of(roles) if name not in summed]
    if names:
        raise InputError(
            "cube.weights",
            counted(
                "{where}: {names} has the role weight, but rows are counted: one person with the "
                "weight 300 would need 300 times the noise.",
                "{where}: {names} have the role weight, but rows are counted: one person with the "
                "weight 300 would need 300 times the noise.",
                n=len(names),
                where=where,
                names=ticked(names),
            ),
            hint=msg(
                "Make weights insensitive to count rows; a cube can also sum one (`measure`), "
                "between 0 and the largest weight, which is declared."
            ),
            details={"key": "measure", **becomes(names, Role.INSENSITIVE)},
        )


def _budget(values: Mapping[str, ParameterValue], where: str) -> tuple[Noise, Fraction]:
    noise, (kind, budget) = values["noise"], read_budget(values, "cube.budget", where)
    if noise is not None and noise != kind.value:
        key = "epsilon" if kind is Noise.LAPLACE else "rho"
        sentence = msg(
            "`noise` is {noise}, which does not go with `{key}`, expected {kind}",
            noise=noise,
            key=key,
            kind=kind.value,
        )
        raise misfit("cube.budget", where, sentence, "noise")
    return kind, budget


def _check_residuals(replace: bool, measures: Sequence[Measure], where: str) -> None:
    if replace and any(measure.column for measure in measures):
        sentence = "`basis` is residuals, which go only with counts when a person is replaced"
        raise misfit("cube.basis", where, sentence, "basis")


def _check_together(
    values: Mapping[str, ParameterValue],
    measures: Sequence[Measure],
    *,
    residuals: bool,
    where: str,
) -> None:
    """What does not go with these measures, or with each other."""
    if residuals:
        _check_residuals(values["neighbours"] == REPLACE, measures, where)
    _check_ends(values, measures, where)
    if values["exact"] is not None:
        check_exact(values, [measure.name for measure in measures], where)


def _check_ends(
    values: Mapping[str, ParameterValue], measures: Sequence[Measure], where: str
) -> None:
    """What the last steps, no negative and only whole numbers, go together with."""
    for key in ("nonnegative", "integral"):
        if values[key] is not True:
            continue
        if values["consistency"] == "none" or (
            key == "nonnegative" and values["consistency"] != "l2"
        ):
            sentence = msg("`{key}` needs tables that agree; use the consistency l2", key=key)
            raise misfit("cube.ends", where, sentence, "consistency")
        for measure in measures:
            if measure.kind == AVERAGE or measure.lower < 0 or measure.step.denominator != 1:
                sentence = msg(
                    "`{key}` goes with counts, and with sums of values of 0 or more in whole steps",
                    key=key,
                )
                raise misfit("cube.ends", where, sentence, key)


def _check_distinct(dimensions: tuple[str, ...], most: int, where: str) -> None:
    if not dimensions:
        raise misfit(
            "cube.dimensions", where, "`dimensions` is empty, expected one or more", "dimensions"
        )
    twice = next((name for i, name in enumerate(dimensions) if name in dimensions[:i]), None)
    if twice is not None:
        sentence = msg("`dimensions` names {twice} twice", twice=quoted(twice))
        raise misfit("cube.dimensions", where, sentence, "dimensions")
    if "value" in dimensions:
        sentence = "a dimension is called `value`, the name of the column with the numbers"
        raise misfit("cube.dimensions", where, sentence, "dimensions")
    if len(dimensions) > most:
        sentence = msg(
            "`dimensions` names {dimensions}, expected at most {most_dimensions}",
            dimensions=len(dimensions),
            most_dimensions=most,
        )
        raise misfit("cube.dimensions", where, sentence, "dimensions")


def _counted_by(value: ParameterValue, dimensions: tuple[str, ...], where: str) -> tuple[str, ...]:
    """The columns by which rows count: the dimensions where nothing is said."""
    counted = texts_of(value)
    for number, name in enumerate(counted):
        if name in counted[:number]:
            sentence = msg("`counted_by` names {name} twice", name=quoted(name))
            raise misfit("cube.counted-by", where, sentence, "counted_by")
    lacking = next((name for name in dimensions if counted and name not in counted), None)
    if lacking is not None:
        sentence = msg(
            "`counted_by` does not include {lacking}, which is a dimension", lacking=quoted(lacking)
        )
        raise misfit("cube.counted-by", where, sentence, "counted_by")
    return counted or dimensions


def _known(name: str, dimensions: tuple[str, ...], key: str, where: str) -> None:
    if name not in dimensions:
        near = nearest(name, dimensions)
        raise InputError(
            "cube.unknown-dimension",
            msg(
                "{where}: `{key}` names {name}, which is not a dimension of the cube.",
                where=where,
                key=key,
                name=quoted(name),
            ),
            hint=msg("Did you mean `{near}`?", near=near) if near else "",
            details={"key": key, "nearest": near},
        )


def _levels(value: ParameterValue, dimensions: tuple[str, ...], where: str) -> Mapping[str, int]:
    levels = dict(value) if isinstance(value, tuple) else {}
    for name in levels:
        _known(name, dimensions, "levels", where)
    return levels


def _domains(
    value: ParameterValue, dimensions: tuple[str, ...], where: str
) -> Mapping[str, tuple[str, ...]]:
    plain = value.plain if isinstance(value, Nested) else {}
    declared: dict[str, tuple[str, ...]] = {}
    for name, texts in plain.items() if isinstance(plain, Mapping) else ():
        _known(name, dimensions, "domains", where)
        if not isinstance(texts, tuple) or not all(isinstance(text, str) for text in texts):
            sentence = msg("`domains` gives no list of texts for `{name}`", name=name)
            raise misfit("cube.domain", where, sentence, "domains")
        declared[name] = texts
    if value is not None and not isinstance(plain, Mapping):
        raise misfit("cube.domain", where, "`domains` is not a table of lists", "domains")
    return declared


def _outside(value: ParameterValue, dimensions: tuple[str, ...], where: str) -> Mapping[str, str]:
    plain = value.plain if isinstance(value, Nested) else {}
    if not isinstance(plain, Mapping) or not all(isinstance(text, str) for text in plain.values()):
        raise misfit("cube.outside", where, "`outside` is not a table of texts", "outside")
    for name in plain:
        _known(name, dimensions, "outside", where)
    return {name: str(text) for name, text in plain.items()}


def _published(
    value: ParameterValue, dimensions: tuple[str, ...], forbidden: frozenset[int], where: str
) -> tuple[int, ...]:
    plain = value.plain if isinstance(value, Nested) else ALL
    count = len(dimensions)
    if plain == ALL or isinstance(plain, Mapping):
        most = int(plain[MAX_DIMENSIONS]) if isinstance(plain, Mapping) else count
        masks = tuple(mask for mask in by_size(count, most) if mask not in forbidden)
        if not masks:
            sentence = "`forbid` names every table that would be published"
            raise misfit("cube.forbid", where, sentence, "forbid")
        return masks
    listed = _cuboids(plain, "publish", dimensions, where)
    both = next((mask for mask in listed if mask in forbidden), None)
    if both is not None:
        sentence = msg("`publish` and `forbid` both name {shown}", shown=_shown(both, dimensions))
        raise misfit("cube.forbid", where, sentence, "forbid")
    return listed


def _forbidden(value: ParameterValue, dimensions: tuple[str, ...], where: str) -> frozenset[int]:
    plain = value.plain if isinstance(value, Nested) else ()
    return frozenset(_cuboids(plain, "forbid", dimensions, where))


def _cuboids(plain: object, key: str, dimensions: tuple[str, ...], where: str) -> tuple[int, ...]:
    """Cuboids of a list, ascending; each must be named once."""
    masks: list[int] = []
    for names in plain if isinstance(plain, tuple) else ():
        for name in names:
            _known(name, dimensions, key, where)
        mask = mask_of(dimensions.index(name) for name in names)
        if mask in masks or len(set(names)) < len(names):
            sentence = msg("`{key}` names {shown} twice", key=key, shown=_shown(mask, dimensions))
            raise misfit(f"cube.{key}", where, sentence, key)
        masks.append(mask)
    return tuple(sorted(masks))


def _shown(mask: int, dimensions: tuple[str, ...]) -> str:
    return " × ".join(dimensions[i] for i in members(mask)) or msg("the grand total")


def _numbers(
    value: ParameterValue,
    key: str,
    number: str,
    dimensions: tuple[str, ...],
    published: tuple[int, ...],
    where: str,
) -> Mapping[int, Fraction]:
    """Numbers by cuboid; each must be published and named once."""
    plain = value.plain if isinstance(value, Nested) else ()
    found: dict[int, Fraction] = {}
    for item in plain if isinstance(plain, tuple) else ():
        for name in item["dimensions"]:
            _known(name, dimensions, key, where)
        mask = mask_of(dimensions.index(name) for name in item["dimensions"])
        shown = " × ".join(item["dimensions"]) or msg("the grand total")
        if mask not in published or mask in found:
            what = "names twice" if mask in found else "names"
            why = "" if mask in found else ", which is not published"
            raise misfit("cube.numbers", where, f"`{key}` {what} {shown}{why}", key)
        found[mask] = Fraction(exact_number(item[number]) or 0)
    return found


def _measures(value: ParameterValue, where: str) -> tuple[Measure, ...]:
    plain = value.plain if isinstance(value, Nested) else COUNT
    items = plain if isinstance(plain, tuple) else (plain,)
    measures = tuple(_measure(item) for item in items)
    names = [measure.name for measure in measures]
    for measure in measures:
        if names.count(measure.name) > 1:
            sentence = msg("`measure` asks twice for the {name}", name=measure.name)
            raise misfit("cube.measure", where, sentence, "measure")
        numbers = (abs(measure.lower), abs(measure.upper), measure.step)
        if any(0 < number < 1 / _GREATEST or number > _GREATEST for number in numbers):
            sentence = msg(
                "bounds and step of the {name} are beyond what can be summed, expected "
                "numbers between 10^-30 and 10^30",
                name=measure.name,
            )
            raise misfit("cube.measure", where, sentence, "measure")
    return measures


def _measure(item: object) -> Measure:
    if not isinstance(item, Mapping):
        return Measure(COUNT)
    kind = SUM if SUM in item else AVERAGE
    bounds = [exact_number(item.get(key, 1)) for key in ("lower", "upper", "step")]
    lower, upper, step = (bound if bound is not None else Fraction(1) for bound in bounds)
    return Measure(kind, str(item[kind]), lower, upper, step)


# What a plan asks to be released exactly, read from its key `exact`.


ExactCells = Mapping[int, tuple[tuple[str, ...], ...]]
_MEASURES = (
    "exact tables go only with counts: for sums and averages no one knows how much noise the "
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
