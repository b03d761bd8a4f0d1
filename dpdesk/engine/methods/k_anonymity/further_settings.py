"""Settings of households, of a population, and of how many rows of a value may leave."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from dpdesk.core.errors import InputError
from dpdesk.core.messages import msg
from dpdesk.core.parameters import (
    Choice,
    ChoiceParameter,
    Condition,
    IntegerParameter,
    NumberTableParameter,
    Parameter,
    ParameterValue,
    ShareParameter,
    TextParameter,
)
from dpdesk.core.plain import number_text
from dpdesk.core.pseudonyms import Linkage
from dpdesk.core.schema import Role

if TYPE_CHECKING:
    from dpdesk.engine.methods.k_anonymity.settings import Settings

_CATEGORY = "category"
IGNORE, WHOLE = "ignore", "whole"
"""How households are treated."""
SEARCHED = Condition("algorithm", ("optimal", "samarati", "incognito", "genetic"))
"""Searches that give each column one level."""
LEVELLED = (SEARCHED, Condition("local", ("False",)))
"""Where each column has one level in all rows."""
MATCHED = (
    Condition("algorithm", ("optimal", "samarati", "incognito", "genetic", "mondrian", "top-down")),
    Condition("strict", ("True",)),
    Condition("values", ("", "nodes")),
)
"""Where cells show labels of hierarchies, of equal rows alike."""
DROP, PSEUDONYM, KEEP = "drop", "pseudonym", "keep"
"""What becomes of the column that names households."""

_SUPPRESSION_OF = NumberTableParameter(
    key="max_suppression_of",
    label="Rows suppressed of each value, at most",
    help="Share of the rows of each value of a column that may be left out, so that no group loses "
    "more than others; where single cells are suppressed, of its cells.",
    usual="no limit",
    share=True,
    applies=Condition("model", ("AG_TS", "TS", "AG_CS", "CS")),
    offered=LEVELLED,
)
_MAX_CELLS = NumberTableParameter(
    key="max_cells",
    label="Cells suppressed of each column, at most",
    help="Share of the cells of a quasi-identifier that may become *; 0 for one that must not be "
    "touched.",
    role=Role.QUASI_IDENTIFIER,
    usual="no limit",
    share=True,
    applies=Condition("model", ("AG_CS", "CS")),
)
_HOUSEHOLDS = ChoiceParameter(
    key="households",
    label="Households",
    help="Whether rows that share a household are treated together. The column with the role "
    "cluster says which do, or an identifier that is kept as a pseudonym of groups.",
    applies=Condition("model", ("AG_TS", "AG", "TS")),
    offered=LEVELLED,
    choices=(
        Choice(
            IGNORE, "Each row by itself", ("k counts rows, whichever household they belong to.")
        ),
        Choice(
            WHOLE,
            "Whole households",
            "k counts households: every combination covers rows of at least k of them, and a "
            "household is released with all its rows or not at all.",
        ),
    ),
    default=IGNORE,
)
_HOUSEHOLD_ID = ChoiceParameter(
    key="household_id",
    label="The column of households",
    help="What becomes of the column that names households.",
    applies=Condition("households", (WHOLE,)),
    choices=(
        Choice(DROP, "Left out", "The release does not show which rows are of one household."),
        Choice(
            PSEUDONYM,
            "Replaced by a pseudonym",
            "Rows of a household can be joined: someone who knows all its members may find it.",
        ),
        Choice(
            KEEP,
            "Kept as it is",
            "Rows of a household can be joined, and anyone who knows its number in "
            "the source can find it.",
        ),
    ),
    default=DROP,
)

_POPULATION = TextParameter(
    key="population",
    label="Population file",
    help="A file with a row for each person of the population from which the data are a sample, "
    "with the same quasi-identifiers. Each released combination must match rows of it.",
    offered=MATCHED,
    public=False,
    file=True,
)
_K_MAP = IntegerParameter(
    key="k_map",
    label="Rows of the population, at least",
    help="Rows of the population file that each released combination matches; k where neither this "
    "nor a share is given.",
    unit="rows",
    minimum=2,
    offered=MATCHED,
)
_DELTA_MIN = ShareParameter(
    key="delta_min",
    label="Share of the population in the data, at least",
    help="For each combination that the population has, the share of its rows that is released; "
    "above 0 nothing may be suppressed.",
    applies=Condition("model", ("AG_TS", "AG", "TS")),
    offered=LEVELLED,
)
_DELTA_MAX = ShareParameter(
    key="delta_max",
    label="Share of the population in the data, at most",
    help="For each combination, the share of the rows of the population that is released: how "
    "sure others can be that a person is in the data.",
    applies=Condition("model", ("AG_TS", "AG", "TS")),
    offered=LEVELLED,
)

FURTHER_PARAMETERS: tuple[Parameter, ...] = (
    _SUPPRESSION_OF,
    _MAX_CELLS,
    _HOUSEHOLDS,
    _HOUSEHOLD_ID,
    _POPULATION,
    _K_MAP,
    _DELTA_MIN,
    _DELTA_MAX,
)


def k_map_of(parameters: Mapping[str, ParameterValue], k: int) -> int:
    """Rows of a population that a class must match; k where nothing else is asked of it."""
    asked = parameters.get("k_map")
    if not parameters.get("population"):
        return 0
    if isinstance(asked, int):
        return asked
    return 0 if delta_of(parameters) else k


def delta_of(parameters: Mapping[str, ParameterValue]) -> tuple[Fraction, Fraction] | None:
    """The least and the greatest share of a population; None where no share is asked for."""
    low, high = parameters.get("delta_min"), parameters.get("delta_max")
    if not parameters.get("population") or (low is None and high is None):
        return None
    found = [Fraction(each) if isinstance(each, int | Fraction) else None for each in (low, high)]
    return found[0] or Fraction(0), Fraction(1) if found[1] is None else found[1]


def check_population(
    settings: Settings, parameters: Mapping[str, ParameterValue], where: str
) -> None:
    """What is asked of a population needs one, and makes sense together."""
    keys = [key for key in ("k_map", "delta_min", "delta_max") if parameters.get(key) is not None]
    if not settings.population:
        for key in keys:
            raise InputError(
                "k-anonymity.population",
                msg(
                    "{where}: `{key}` is given without a population, expected `population` with "
                    "the name of a file.",
                    where=where,
                    key=key,
                ),
                details={"key": key},
            )
        return
    if settings.missing_as != _CATEGORY:
        raise apart(where, "population", "missing_as")
    if settings.delta is None:
        return
    if settings.whole_households:
        raise apart(where, keys[-1], "households")
    low, high = settings.delta
    if low > high:
        raise InputError(
            "k-anonymity.population",
            msg(
                "{where}: `delta_min` is {low}, expected at most {high}, the `delta_max`.",
                where=where,
                low=number_text(low),
                high=number_text(high),
            ),
            details={"key": "delta_min"},
        )


def check_limits(
    settings: Settings, columns: Sequence[str], quasi: Sequence[str], where: str
) -> None:
    """Limits on suppression are shares, of columns that there are."""
    limits = [("max_suppression_of", name, n) for name, n in settings.suppression_of.items()]
    limits += [("max_cells", name, n) for name, n in settings.cells_of.items()]
    for key, name, share in limits:
        if name not in columns:
            raise bad_table(where, key, name, "not a column of the data", "a column")
        if share > 1:
            raise bad_table(where, key, name, number_text(share), "a share from 0 to 1")
        if settings.whole_households and name not in quasi:
            expected = msg("one of {quasi} together with `households`", quasi=listed_names(quasi))
            raise bad_table(where, key, name, "not a quasi-identifier", expected)
        if settings.model in ("AG_CS", "CS") and name not in quasi:
            expected = msg("one of {listed}", listed=listed_names(quasi))
            raise bad_table(where, key, name, "not a quasi-identifier", expected)


def check_households(settings: Settings, roles: Mapping[str, Role], where: str) -> None:
    """Households have a column, and are not decided together with what counts rows one by one."""
    if not settings.whole_households:
        return
    household_column(roles, {}, settings.household_id, where)
    if settings.required:
        raise apart(where, "households", "require")
    if settings.missing_as != _CATEGORY:
        raise apart(where, "households", "missing_as")


def household_column(
    roles: Mapping[str, Role], linkages: Mapping[str, Linkage], handling: str, where: str
) -> str:
    """The column that names households: the cluster, or an identifier kept as a pseudonym.

    Raises InputError ``k-anonymity.households`` where there is none, or several.
    """
    if handling == PSEUDONYM:
        found = [name for name, role in roles.items() if role is Role.PSEUDONYM]
        found = [name for name in found if name not in linkages or linkages[name].groups]
        expected = 'one identifier with `pseudonym = { key = "…", of = "group" }`'
    else:
        found = [name for name, role in roles.items() if role is Role.CLUSTER]
        expected = "one column with the role cluster"
    if len(found) == 1:
        return found[0]
    listed = ", ".join(f"`{name}`" for name in found) or "none"
    raise InputError(
        "k-anonymity.households",
        msg(
            "{where}: the columns that name households are {listed}, expected {expected}.",
            where=where,
            listed=listed,
            expected=expected,
        ),
        hint="`households` needs to know which rows belong together.",
        details={"key": "households"},
    )


def released_roles(roles: Mapping[str, Role], handling: str) -> dict[str, Role]:
    """The roles of columns where the one that names households is left out; else as they are."""
    if handling != DROP:
        return dict(roles)
    return {name: Role.IDENTIFIER if role is Role.CLUSTER else role for name, role in roles.items()}


def bad_table(where: str, key: str, name: str, found: str, expected: str) -> InputError:
    """The refusal of an entry of a table of columns."""
    return InputError(
        "k-anonymity.columns",
        msg(
            "{where}, {key}: `{name}` is {found}, expected {expected}.",
            where=where,
            key=key,
            name=name,
            found=found,
            expected=expected,
        ),
        details={"key": key, "attribute": name},
    )


def apart(where: str, key: str, kind: str, hint: str = "") -> InputError:
    """The refusal of what this version does not decide together; ``hint`` may say why."""
    return InputError(
        "k-anonymity.together",
        msg(
            "{where}: `{key}` cannot be used together with `{kind}` in this version.",
            where=where,
            key=key,
            kind=kind,
        ),
        hint=hint or msg("Leave out `{key}`, or choose another way of generalising.", key=key),
        details={"key": key},
    )


def listed_names(names: Sequence[str]) -> str:
    """Names of columns in a sentence."""
    return ", ".join(f"`{name}`" for name in names)
