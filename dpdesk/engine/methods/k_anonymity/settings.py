"""The settings of k-anonymity: what a plan may say, and how it is read."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from types import MappingProxyType

from dpdesk.core.errors import InputError
from dpdesk.core.messages import msg
from dpdesk.core.parameters import (
    Choice,
    ChoiceParameter,
    Condition,
    FlagParameter,
    IntegerParameter,
    LevelsParameter,
    Nested,
    NumberTableParameter,
    Parameter,
    ParameterValue,
    ShareParameter,
    numbers_of,
)
from dpdesk.core.plain import number_text
from dpdesk.core.schema import Role
from dpdesk.engine.methods.k_anonymity.further_settings import (
    DROP,
    FURTHER_PARAMETERS,
    IGNORE,
    LEVELLED,
    SEARCHED,
    WHOLE,
    apart,
    bad_table,
    check_households,
    check_limits,
    check_population,
    delta_of,
    k_map_of,
    listed_names,
)
from dpdesk.engine.methods.k_anonymity.required import (
    REQUIRED,
    Requirement,
    RequireParameter,
    requirements_of,
)

OPTIMAL = "optimal"
SAMARATI = "samarati"
INCOGNITO, GENETIC = "incognito", "genetic"
MONDRIAN, K_OPTIMIZE, TOP_DOWN = "mondrian", "k-optimize", "top-down"
CELLED = (MONDRIAN, K_OPTIMIZE, TOP_DOWN, "AG_CS", "CG", "CS", "AS")
"""Algorithms and models that give every tuple values of its own, and no column a level."""
ALONE = (
    "importance",
    "min_level",
    "max_level",
    "missing_as",
    "households",
    "population",
    "k_map",
    "delta_min",
    "delta_max",
    "max_suppression_of",
    "max_cells",
)
"""Settings that apply to releases with one level for each column, or to some others."""
BY_CLASS = (
    *("households", "population", "k_map", "delta_min", "delta_max"),
    "max_suppression_of",
)
"""Those of them that ask something of classes, at whatever levels."""
PREFERENCES = ("importance", "min_level", "max_level")
"""Those that every way of generalising takes; but cuts of ordered values no importance."""
CELL_LIMITS = ("max_suppression_of", "max_cells")
"""Those that limit which cells become ``*``, where single cells do."""
CATEGORY, ANY, NONE = "category", "any", "none"
"""What a missing value counts as."""
_MOST_IMPORTANT = 1_000
UNLESS_ROWS = Condition("model", ("AG_TS", "AG", "AG_CS", "CG", "CS", "AS"))
"""Models that change values; the other one leaves rows out and nothing else."""
LEAVES_OUT = Condition("algorithm", (OPTIMAL, SAMARATI, INCOGNITO, GENETIC, K_OPTIMIZE))
"""Searches that may leave rows out; groups of rows and top-down keep all of them."""


_K = IntegerParameter(
    key="k",
    label="k, the smallest class",
    help="Every combination of quasi-identifiers that is released covers at least this many rows.",
    unit="rows",
    required=True,
    minimum=2,
    suggested=5,
)
_MAX_SUPPRESSION = ShareParameter(
    key="max_suppression",
    label="Rows suppressed, at most",
    help="Share of the rows that may be left out so that the others keep more detail.",
    default=Fraction(0),
    suggested=Fraction(2, 100),
    applies=Condition("model", ("AG_TS", "TS")),
    offered=(LEAVES_OUT,),
)
_MODEL = ChoiceParameter(
    key="model",
    label="Model",
    help="What is generalised and what is left out to reach k.",
    offered=(SEARCHED,),
    choices=(
        Choice(
            "AG_TS",
            "Whole columns generalised, rows suppressed",
            "Each quasi-identifier is released at one level; rows in small classes are left out.",
        ),
        Choice(
            "AG",
            "Whole columns generalised, no row suppressed",
            "Each quasi-identifier is released at one level, high enough for every row.",
        ),
        Choice(
            "AG_CS",
            "Whole columns generalised, single cells suppressed",
            "Each quasi-identifier is released at one level, and cells of rare rows become *; no "
            "row is lost.",
        ),
        Choice(
            "CG",
            "Cells generalised one by one",
            "Each row is generalised as far as its own class needs; no row and no column is lost.",
        ),
        Choice(
            "CS",
            "Single cells suppressed",
            "Cells stay as they are or become *; no row and no column is lost.",
        ),
        Choice(
            "TS",
            "Rows suppressed, nothing generalised",
            "Rows whose combination is shared by fewer than k rows are left out; the "
            "others stay exact.",
        ),
        Choice(
            "AS",
            "Whole columns suppressed",
            "Quasi-identifiers stay as they are, or every row shows * for them.",
        ),
    ),
    default="AG_TS",
)
_ALGORITHM = ChoiceParameter(
    key="algorithm",
    label="Search",
    help="How the levels of the quasi-identifiers are chosen.",
    offered=(Condition("model", ("AG_TS", "AG")),),
    choices=(
        Choice(
            OPTIMAL,
            "Optimal: the least loss of all combinations of levels",
            "Takes the best combination of levels by the objective, with a proof that no other is "
            "better; in extremely large lattices it takes the best one found and says so.",
        ),
        Choice(
            SAMARATI,
            "Samarati: the fewest generalisation steps",
            "Takes the lowest height at which k is reached, then the preferred solution.",
        ),
        Choice(
            INCOGNITO,
            "Incognito: all minimal generalisations",
            "Finds every combination of levels that reaches k while none below it does, from "
            "small sets of columns up, then takes the preferred one.",
        ),
        Choice(
            GENETIC,
            "Genetic: for very large lattices",
            "Breeds good combinations of levels, without a proof; states a bound that no "
            "combination can improve on.",
        ),
        Choice(
            MONDRIAN,
            "Mondrian: cut the rows into small groups",
            "Cuts the rows in two, again and again, while both parts keep k rows. Each group "
            "shows what its rows share, so a column is coarse only where rows are rare; suits "
            "many columns and large tables. Fast, but not claimed to be the best.",
        ),
        Choice(
            TOP_DOWN,
            "Top-down: specialise values while k holds",
            "Starts with everything at the top of its hierarchy and goes down value by value "
            "where most detail is regained; a value is shown in the same way in all rows. Fast, a "
            "heuristic.",
        ),
        Choice(
            K_OPTIMIZE,
            "k-Optimize: cut ordered values into intervals",
            "Cuts the values of each column into intervals, the same in all rows, for the least "
            "discernibility; states how far from the optimum it can be at most. For few, ordered "
            "columns.",
        ),
    ),
    default=OPTIMAL,
)
_OBJECTIVE = ChoiceParameter(
    key="objective",
    label="Objective",
    help="What the optimal and the genetic search minimise.",
    applies=Condition("algorithm", (OPTIMAL, GENETIC)),
    offered=(Condition("model", ("AG_TS", "AG", "AS")),),
    choices=(
        Choice(
            "loss",
            "Loss: detail lost per cell",
            "Mean over cells of the share of the other values that each released value covers.",
        ),
        Choice(
            "discernibility",
            "Discernibility: rows that look alike",
            "Sum of the squared class sizes, plus the whole table for each suppressed row.",
        ),
        Choice(
            "average-class-size",
            "Average class size, in multiples of k",
            "Rows per class, divided by k.",
        ),
        Choice(
            "precision",
            "Precision: generalisation steps taken",
            "Mean over cells of the level reached, as a share of the hierarchy's height.",
        ),
        Choice(
            "entropy",
            "Entropy: information lost, in bits",
            "Bits needed to guess the original values back from the released ones.",
        ),
    ),
    default="loss",
)
_PREFER = ChoiceParameter(
    key="prefer",
    label="Preference",
    help="Which of the solutions found by the searches of Samarati and Incognito is taken.",
    applies=Condition("algorithm", (SAMARATI, INCOGNITO)),
    choices=(
        Choice("minimum-absolute-distance", "Fewest steps in all"),
        Choice("minimum-relative-distance", "Fewest steps, each as a share of its height"),
        Choice("maximum-distribution", "Most classes"),
        Choice("minimum-suppression", "Fewest suppressed rows"),
    ),
    default="minimum-absolute-distance",
)
_LEVELS = LevelsParameter(
    key="levels",
    label="Levels chosen by hand",
    help="Release exactly these levels, one for each quasi-identifier, instead of searching.",
    replaces=(*("algorithm", "objective", "prefer", "strict", "values", "importance"),),
)

_STRICT = FlagParameter(
    key="strict",
    label="Equal rows stay together",
    help="Rows that were equal get equal values, and no two groups overlap; without it, rows at a "
    "cut are divided evenly, which gives smaller groups.",
    applies=Condition("algorithm", (MONDRIAN,)),
    default=True,
)
_LOCAL = FlagParameter(
    key="local",
    label="Recode suppressed rows separately",
    help="Rows that would be suppressed get levels of their own, again and again, until fewer than "
    "k are left: far fewer rows are lost, and rare rows are coarser than the others.",
    applies=Condition("model", ("AG_TS",)),
    offered=(Condition("algorithm", (OPTIMAL, SAMARATI)),),
)
_CONDITION = ChoiceParameter(
    key="condition",
    label="What is required of cells",
    help="How rows that are generalised one by one hide among others. Every release of this "
    "version has k equal rows in each class, which meets each of these conditions.",
    applies=Condition("model", ("CG",)),
    choices=(
        Choice("matching", "Each original has k rows in perfect matchings"),
        Choice("covering", "Each original and each released row has k of the other kind"),
        Choice("equal", "k equal rows"),
    ),
    default="matching",
)
_VALUES = ChoiceParameter(
    key="values",
    label="Released values",
    help="How a group shows what its rows share; without a choice k-Optimize shows ranges, "
    "Mondrian labels.",
    applies=Condition("algorithm", (MONDRIAN, K_OPTIMIZE)),
    choices=(
        Choice("nodes", "Labels of the hierarchy", "The lowest label that covers all its values."),
        Choice(
            "ranges",
            "Ranges",
            "Numbers as [20, 35], both ends included; texts without a hierarchy as a list in "
            "braces.",
        ),
    ),
)

_IMPORTANCE = NumberTableParameter(
    key="importance",
    label="Importance of columns",
    help="How much the detail of a quasi-identifier counts; 1 where nothing is given.",
    role=Role.QUASI_IDENTIFIER,
    usual="1",
    applies=Condition("algorithm", (OPTIMAL, GENETIC, MONDRIAN, TOP_DOWN)),
    offered=(UNLESS_ROWS,),
)
_MIN_LEVEL = NumberTableParameter(
    key="min_level",
    label="Lowest levels",
    help="Levels below which a quasi-identifier is not released.",
    role=Role.QUASI_IDENTIFIER,
    usual="no limit",
    offered=(UNLESS_ROWS,),
    whole=True,
)
_MAX_LEVEL = NumberTableParameter(
    key="max_level",
    label="Highest levels",
    help="Levels above which a quasi-identifier is not released; 0 for one that must stay as it "
    "is.",
    role=Role.QUASI_IDENTIFIER,
    usual="no limit",
    offered=(UNLESS_ROWS,),
    whole=True,
)
_REQUIRE = RequireParameter(
    key="require",
    label="Required of sensitive columns",
    help="What every released class must fulfil for a sensitive column in addition to having k "
    "rows: l-diversity, t-closeness, (alpha,k) or beta-likeness. A class that fails is "
    "suppressed as a whole.",
    records=REQUIRED,
)

_MISSING_AS = ChoiceParameter(
    key="missing_as",
    label="Missing values",
    help="What a missing quasi-identifier counts as below the top of its hierarchy.",
    applies=Condition("model", ("AG_TS", "AG")),
    offered=LEVELLED,
    choices=(
        Choice(
            CATEGORY,
            "A value like any other",
            "Rows in which the same quasi-identifiers are missing look alike.",
        ),
        Choice(
            ANY,
            "It matches anything",
            "A row needs k rows, itself among them, that agree with it wherever neither is "
            "missing: far fewer rows are lost, and a weaker promise is made.",
        ),
        Choice(
            NONE,
            "It matches nothing",
            "Rows with a missing value are left out, unless its column is at the top.",
        ),
    ),
    default=CATEGORY,
)
PARAMETERS: tuple[Parameter, ...] = (
    _K,
    _MAX_SUPPRESSION,
    _MODEL,
    _ALGORITHM,
    _OBJECTIVE,
    _PREFER,
    _STRICT,
    _VALUES,
    _LOCAL,
    _CONDITION,
    _LEVELS,
    _IMPORTANCE,
    _MIN_LEVEL,
    _MAX_LEVEL,
    _REQUIRE,
    _MISSING_AS,
    *FURTHER_PARAMETERS,
)


def gives_cells(model: object, algorithm: object, *, local: bool, by_hand: bool) -> bool:
    """Whether tuples get values of their own; ``by_hand`` levels are those of all rows."""
    if model != "AG_TS":
        return model in CELLED
    return local or (algorithm in CELLED and not by_hand)


@dataclass(frozen=True)
class Settings:
    """The checked parameters under their own names; ``levels`` is None when a search decides."""

    k: int
    max_suppression: Fraction
    algorithm: str
    objective: str
    prefer: str
    levels: Mapping[str, int] | None
    strict: bool = True
    values: str = "nodes"
    required: tuple[Requirement, ...] = ()
    model: str = "AG_TS"
    local: bool = False
    condition: str = "matching"
    importance: Mapping[str, Fraction] = field(default_factory=dict)
    least: Mapping[str, int] = field(default_factory=dict)
    most: Mapping[str, int] = field(default_factory=dict)
    missing_as: str = CATEGORY
    whole_households: bool = False
    household_id: str = DROP
    population: str = ""
    k_map: int = 0
    k_map_is_k: bool = False
    delta: tuple[Fraction, Fraction] | None = None
    suppression_of: Mapping[str, Fraction] = field(default_factory=dict)
    cells_of: Mapping[str, Fraction] = field(default_factory=dict)

    @property
    def handling(self) -> str:
        """What becomes of the column of households; empty where none is asked for."""
        return self.household_id if self.whole_households else ""

    @property
    def besides(self) -> dict[str, str]:
        """What classes must be like besides having k rows, as a plan writes it, by key."""
        found = {}
        if self.missing_as != CATEGORY:
            found["missing_as"] = f'missing_as = "{self.missing_as}"'
        if self.whole_households:
            found["households"] = f'households = "{WHOLE}"'
        for key, limits in zip(CELL_LIMITS, (self.suppression_of, self.cells_of), strict=True):
            shares = [f"{name} = {number_text(n)}" for name, n in limits.items()]
            if shares:
                found[key] = f"{key} = {{ {', '.join(shares)} }}"
        if self.k_map:
            found["k_map"] = f"k_map = {self.k_map}"
        if self.delta is not None:
            low, high = map(number_text, self.delta)
            found["delta_max"] = f"delta_min = {low}, delta_max = {high}"
        return found

    @property
    def celled(self) -> bool:
        """Whether tuples get values of their own, so that no column has one level."""
        return gives_cells(self.model, self.algorithm, local=self.local, by_hand=bool(self.levels))

    @property
    def divides(self) -> bool:
        """Whether rows that are equal may get different values."""
        relaxed = self.algorithm == MONDRIAN and not self.strict and self.levels is None
        return self.model in ("AG_CS", "CG", "CS") or (relaxed and self.model == "AG_TS")

    @classmethod
    def from_parameters(cls, parameters: Mapping[str, ParameterValue]) -> Settings:
        """Settings from what :func:`~dpdesk.core.parameters.parse_parameters` returned.

        TypeError when a value has a type that parsing cannot give.
        """
        k, share = parameters["k"], parameters["max_suppression"]
        if not isinstance(k, int) or not isinstance(share, int | Fraction):
            raise TypeError("k and max_suppression must have been parsed")
        levels = parameters.get("levels")
        return cls(
            k=int(k),
            max_suppression=Fraction(share),
            algorithm=str(parameters["algorithm"]),
            objective=str(parameters["objective"]),
            prefer=str(parameters["prefer"]),
            levels=MappingProxyType(dict(levels)) if isinstance(levels, tuple) else None,
            strict=parameters.get("strict") is not False,
            values=_values(parameters),
            required=requirements_of(parameters.get("require")),
            model=str(parameters.get("model", "AG_TS")),
            local=parameters.get("local") is True and parameters.get("model", "AG_TS") == "AG_TS",
            condition=str(parameters.get("condition", "matching")),
            importance=numbers_of(parameters.get("importance")),
            least={n: int(v) for n, v in numbers_of(parameters.get("min_level")).items()},
            most={n: int(v) for n, v in numbers_of(parameters.get("max_level")).items()},
            missing_as=str(parameters.get("missing_as", CATEGORY)),
            whole_households=parameters.get("households") == WHOLE,
            household_id=str(parameters.get("household_id") or DROP),
            population=str(parameters.get("population") or ""),
            k_map=k_map_of(parameters, int(k)),
            k_map_is_k=parameters.get("k_map") is None and k_map_of(parameters, int(k)) > 0,
            delta=delta_of(parameters),
            suppression_of=numbers_of(parameters.get("max_suppression_of")),
            cells_of=numbers_of(parameters.get("max_cells")),
        )

    def allowed(self, rows: int) -> int:
        """Rows that may be suppressed of ``rows``: floor(share · N), exactly; 0 in other models."""
        if self.model not in ("AG_TS", "TS"):
            return 0
        return int(self.max_suppression * rows)


def check_settings(
    columns: Sequence[str],
    roles: Mapping[str, Role],
    parameters: Mapping[str, ParameterValue],
    where: str,
) -> None:
    """Check roles and levels against each other, before any data are read.

    Raises InputError ``k-anonymity.no-quasi-identifier``, ``k-anonymity.require`` or
    ``k-anonymity.levels``; the sentences start with ``where``.
    """
    quasi = [name for name in columns if roles.get(name) is Role.QUASI_IDENTIFIER]
    if not quasi:
        raise InputError(
            "k-anonymity.no-quasi-identifier",
            msg("{where}: no column is a quasi-identifier, expected at least one.", where=where),
            hint="Give the role quasi-identifier to what others may know of a person, "
            "such as age, sex and region.",
        )
    settings = Settings.from_parameters(parameters)
    _check_required(settings.required, columns, roles, where)
    _check_celled(settings, parameters, where)
    _check_tables(settings, quasi, where)
    _check_missing(settings, roles, where)
    check_households(settings, roles, where)
    check_population(settings, parameters, where)
    check_limits(settings, columns, quasi, where)
    levels = settings.levels
    if levels is None:
        return
    for name in levels:
        if name not in quasi:
            raise InputError(
                "k-anonymity.levels",
                msg(
                    "{where}, levels: `{name}` is not a quasi-identifier, expected a level for "
                    "each of {listed}.",
                    where=where,
                    name=name,
                    listed=listed_names(quasi),
                ),
                details={"key": "levels", "attribute": name},
            )
    for name in quasi:
        if name not in levels:
            raise InputError(
                "k-anonymity.levels",
                msg(
                    "{where}, levels: the level of `{name}` is missing, expected one for each "
                    "quasi-identifier.",
                    where=where,
                    name=name,
                ),
                details={"key": "levels", "attribute": name},
            )
        level, least, most = levels[name], settings.least.get(name, 0), settings.most.get(name)
        found = msg("at level {level}", level=level)
        if level < least:
            expected = msg("at least {least}, its `min_level`", least=least)
            raise bad_table(where, "levels", name, found, expected)
        if most is not None and level > most:
            expected = msg("at most {most}, its `max_level`", most=most)
            raise bad_table(where, "levels", name, found, expected)


def _check_tables(settings: Settings, quasi: Sequence[str], where: str) -> None:
    """Importance and limits of levels are of quasi-identifiers, and make sense together."""
    tables: dict[str, Mapping[str, Fraction | int]] = {
        "importance": dict(settings.importance),
        "min_level": dict(settings.least),
        "max_level": dict(settings.most),
    }
    for key, table in tables.items():
        for name in table:
            if name not in quasi:
                raise bad_table(
                    where,
                    key,
                    name,
                    "not a quasi-identifier",
                    msg("one of {listed}", listed=listed_names(quasi)),
                )
    for name, weight in settings.importance.items():
        if weight > _MOST_IMPORTANT or weight.denominator > _MOST_IMPORTANT:
            raise bad_table(
                where, "importance", name, number_text(weight), "at most 1,000, with three decimals"
            )
    if quasi and all(settings.importance.get(name, Fraction(1)) == 0 for name in quasi):
        raise bad_table(where, "importance", quasi[0], "0", "a number above 0 for some column")
    for name, least in settings.least.items():
        if least > settings.most.get(name, least):
            expected = msg("at most {most}, its `max_level`", most=settings.most[name])
            raise bad_table(where, "min_level", name, str(least), expected)


def bounds_of(
    settings: Settings, attributes: Sequence[str], heights: Sequence[int], where: str
) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
    """The least and greatest levels of all attributes; None where none is limited.

    Raises InputError ``k-anonymity.columns`` for a level that a hierarchy does not have.
    """
    if not settings.least and not settings.most:
        return None
    for key, table in (("min_level", settings.least), ("max_level", settings.most)):
        for name, height in zip(attributes, heights, strict=True):
            if table.get(name, 0) > height:
                expected = msg("0 to {height}, the levels of its hierarchy", height=height)
                raise bad_table(where, key, name, str(table[name]), expected)
    low = tuple(settings.least.get(name, 0) for name in attributes)
    pairs = zip(attributes, heights, strict=True)
    return low, tuple(settings.most.get(name, height) for name, height in pairs)


def weights_of(settings: Settings, attributes: Sequence[str]) -> tuple[int, ...]:
    """The importance of all attributes as whole numbers; empty where all count alike."""
    given = [settings.importance.get(name, Fraction(1)) for name in attributes]
    if len(set(given)) == 1:
        return ()
    common = math.lcm(*(weight.denominator for weight in given))
    whole = [int(weight * common) for weight in given]
    shared = math.gcd(*whole)
    return tuple(weight // shared for weight in whole)


def _check_required(
    required: Sequence[Requirement], columns: Sequence[str], roles: Mapping[str, Role], where: str
) -> None:
    for each in required:
        if each.attribute in columns and roles.get(each.attribute) is Role.SENSITIVE:
            continue
        sensitive = [name for name in columns if roles.get(name) is Role.SENSITIVE]
        raise InputError(
            "k-anonymity.require",
            msg(
                "{where}, require: `{name}` is not a sensitive column, expected one of {listed}.",
                where=where,
                name=each.attribute,
                listed=listed_names(sensitive) or "none, as the plan has no sensitive column",
            ),
            hint="Give the column the role sensitive.",
            details={"key": "require", "attribute": each.attribute},
        )


_HOUSEHOLDS = (
    "Members of a household who get values of their own end up in different classes, so k rows of "
    "a class need not be k households. Choose a search that gives each column one level."
)


_ROWS_ALONE = (
    "Its objective counts the rows that look alike, not the detail of columns, so weights change "
    "nothing. Leave out `importance`, or choose a search that weighs detail, such as Mondrian."
)


def _check_celled(settings: Settings, parameters: Mapping[str, ParameterValue], where: str) -> None:
    """Refuse what this version does not decide together."""
    if settings.model != "AG_TS" and settings.algorithm in CELLED:
        raise apart(where, "algorithm", f'model = "{settings.model}"')
    for key, usual in (("algorithm", OPTIMAL), ("objective", "loss")):
        if settings.model in ("AG_CS", "CG", "CS") and parameters.get(key) != usual:
            raise apart(where, key, f'model = "{settings.model}"')
    if settings.population and settings.celled:
        _check_matched(settings, where)
    defaults = (None, False, (), Nested(()), CATEGORY, IGNORE, "")
    for key in ALONE:
        value = parameters.get(key)
        if key in BY_CLASS and settings.model == "TS":
            continue
        if _taken(key, settings):
            continue
        if value not in defaults and (settings.celled or settings.model == "TS"):
            kind = "local = true" if settings.local else f'model = "{settings.model}"'
            kind = f'algorithm = "{settings.algorithm}"' if settings.algorithm in CELLED else kind
            cut = key == "importance" and settings.algorithm == K_OPTIMIZE
            raise apart(
                where, key, kind, _ROWS_ALONE if cut else _HOUSEHOLDS if key == "households" else ""
            )
    if settings.cells_of and settings.model not in ("AG_CS", "CS"):
        raise apart(where, "max_cells", f'model = "{settings.model}"')
    searched = settings.algorithm in (OPTIMAL, SAMARATI)
    if settings.local and not searched:
        raise apart(where, "local", f'algorithm = "{settings.algorithm}"')
    if settings.model == "AS" and not searched:
        raise apart(where, "algorithm", 'model = "AS"')
    if settings.levels is not None and settings.model not in ("AG_TS", "AG"):
        raise apart(where, "levels", f'model = "{settings.model}"')


def _taken(key: str, settings: Settings) -> bool:
    """Whether a way of generalising without one level for each column takes a setting."""
    if not settings.celled:
        return False
    if key in CELL_LIMITS:
        return settings.model in ("AG_CS", "CS")
    if key in ("population", "k_map"):
        return True
    return key in PREFERENCES and (settings.algorithm != K_OPTIMIZE or key != "importance")


def _check_matched(settings: Settings, where: str) -> None:
    """Cells are compared with a population where they show labels of hierarchies, and are not cut
    at the median, where a side may match too few rows of it whatever its own rows are.
    """
    groups = settings.algorithm == MONDRIAN and settings.model == "AG_TS" and not settings.local
    labels = (
        "Rows of the population are found by the labels of hierarchies; ranges end at values that "
        "occur in the data. Choose Mondrian with nodes, or the top-down search."
    )
    if settings.algorithm == K_OPTIMIZE:
        raise apart(where, "population", f'algorithm = "{K_OPTIMIZE}"', labels)
    if groups and not settings.strict:
        hint = (
            "Half of the rows on either side may match too few rows of the population. Choose "
            "`strict = true`."
        )
        raise apart(where, "population", "strict = false", hint)
    if groups and settings.values == "ranges":
        raise apart(where, "population", 'values = "ranges"', labels)


def _check_missing(settings: Settings, roles: Mapping[str, Role], where: str) -> None:
    """Refuse what is not decided together with missing values that match anything."""
    if settings.missing_as != ANY:
        return
    if settings.levels is None and settings.algorithm != OPTIMAL:
        raise apart(where, "missing_as", f'algorithm = "{settings.algorithm}"')
    if settings.required:
        raise apart(where, "missing_as", "require")
    if Role.PSEUDONYM in roles.values():
        raise apart(where, "missing_as", 'role = "pseudonym"')


def _values(parameters: Mapping[str, ParameterValue]) -> str:
    """How groups show what they share: intervals of k-Optimize as ranges, others as labels."""
    usual = "ranges" if parameters["algorithm"] == K_OPTIMIZE else "nodes"
    return str(parameters.get("values") or usual)
