"""The keys of a plan's ``[protection]`` for private choices, and the settings read from them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import floor

from dpdesk.core.budget import amount
from dpdesk.core.messages import msg
from dpdesk.core.parameters import (
    ColumnParameter,
    DecimalParameter,
    Nested,
    NestedParameter,
    Parameter,
    ParameterValue,
    Records,
    TextListParameter,
    Variant,
    bounds,
    exact_number,
    in_order,
)
from dpdesk.core.plain import number_text
from dpdesk.core.schema import Role
from dpdesk.core.table_parameters import TypedParameter
from dpdesk.engine.private.kinds import Noise
from dpdesk.engine.private.origins import ORIGINS_PARAMETER, recorded_origins
from dpdesk.engine.private.settings import (
    NOT_SPANNING,
    REPLACE,
    PrivateSettings,
    check_clusters,
    check_each_counts_once,
    check_named,
    epsilon_parameter,
    misfit,
    neighbours_parameter,
    rows_parameter,
    texts_of,
)

MODE, QUANTILE = "mode", "quantile"
MOST_CANDIDATES = 1_000_000
MOST_GROUPS = 100_000
MOST_CHOICES = 20
_EXACT_IN_FLOAT = 10**15
_LEAST_RATE = Fraction(1, 10**12)
_HALF = Fraction(1, 2)
_GRID = ("lower", "upper", "step")


def is_choices(raw: object) -> bool:
    """One choice, or a list of different ones: a quantile of a column on a grid, or a mode."""
    if not isinstance(raw, list | tuple):
        return _is_choice(raw)
    return 0 < len(raw) <= MOST_CHOICES and all(map(_is_choice, raw))


def _is_choice(raw: object) -> bool:
    if not isinstance(raw, Mapping):
        return False
    if set(raw) == {MODE}:
        return _is_name(raw[MODE])
    if not {QUANTILE, "of", "lower", "upper"} <= set(raw) <= {QUANTILE, "of", *_GRID}:
        return False
    if any(isinstance(raw.get(key), str) for key in (QUANTILE, *_GRID)):
        return False  # a quoted number is a slip
    share, step = exact_number(raw[QUANTILE]), exact_number(raw.get("step", 1))
    lower, upper = exact_number(raw["lower"]), exact_number(raw["upper"])
    if share is None or step is None or lower is None or upper is None:
        return False
    return _is_name(raw["of"]) and 0 < share < 1 and lower < upper and step > 0


def _is_name(raw: object) -> bool:
    return isinstance(raw, str) and bool(raw)


def _sound(record: Mapping[str, object]) -> str:
    share = exact_number(record.get(QUANTILE))
    if share is not None and not 0 < share < 1:
        return "A quantile must be between 0 and 1, such as 0.9."
    return in_order(record)


_FROM_ONE = "Step from one value to the next"
_SHARE = "Share of the rows below it: 0.5 for the median, 0.9 for nine in ten"

_OF = ColumnParameter("of", "Column", "Column from which it is chosen", required=True)
_BOUNDS = bounds("Smallest value that can be chosen", "Largest value that can be chosen", _FROM_ONE)
CHOICES = Records(
    (
        Variant("Median of a column", (_OF, *_BOUNDS), {QUANTILE: 0.5}, check=in_order),
        Variant(
            "Another quantile of a column",
            (DecimalParameter(QUANTILE, "Quantile", _SHARE, required=True), _OF, *_BOUNDS),
            check=_sound,
        ),
        Variant(
            "Most frequent value",
            (ColumnParameter(MODE, "Column", "Column from which it is chosen", required=True),),
        ),
    ),
    "What is chosen for each group",
    more=(
        ("Choose something else as well"),
        "Another quantile or most frequent value; ε is shared equally",
    ),
    remove=("Do not choose this", "Choose only the others"),
)

PARAMETERS: tuple[Parameter, ...] = (
    TextListParameter(
        "groups",
        "Groups",
        "Columns by whose categories rows are grouped; for each combination there is a choice. "
        "None: one choice for all rows.",
    ),
    NestedParameter(
        "domains",
        "Declared categories",
        "The categories of groups and of values to choose from. To be declared without looking at "
        "the data. Rows with any other value go to the category `other` where there is one, and "
        "are left out otherwise.",
        example='{ region = ["north", "south"] }',
    ),
    ORIGINS_PARAMETER,
    TypedParameter(
        "choose",
        "What is chosen",
        "A quantile of a column, on a grid from lower to upper, or the most frequent value of a "
        "column; a list of several shares ε equally. Candidates are the grid or the declared "
        "categories, never what occurs in the data.",
        required=True,
        fits=is_choices,
        records=CHOICES,
        shape='{ quantile = 0.5, of = "income", lower = 0, upper = 100000, step = 100 }, '
        '{ mode = "occupation" }, or a list of those',
    ),
    replace(
        epsilon_parameter(
            "One person more or less makes no output more likely by a factor of more than e^ε.",
        ),
        replaces=(),
    ),
    neighbours_parameter(),
    rows_parameter(
        "Rows per person, at most",
        "Rows of one person that the choices hide together, in all groups. With a cluster column, "
        "further rows of a person are left out; without one, the plan vouches for it.",
    ),
)


@dataclass(frozen=True)
class Wanted:
    """One thing to choose for each group: a quantile of ``column`` from ``lower`` in steps, or,
    where ``quantile`` is None, its most frequent category.
    """

    column: str
    quantile: Fraction | None = None
    lower: Fraction = Fraction(0)
    upper: Fraction = Fraction(1)
    step: Fraction = Fraction(1)

    @property
    def name(self) -> str:
        """What it is called in answers and facts."""
        if self.quantile is None:
            return msg("most frequent {column}", column=self.column)
        if self.quantile == _HALF:
            return msg("median of {column}", column=self.column)
        share = number_text(self.quantile)
        return msg("quantile {share} of {column}", share=share, column=self.column)

    @classmethod
    def stated(cls, line: Mapping[str, object]) -> Wanted:
        """What a line of ``choices`` in a result says of it; its grid is among the settings."""
        share = line.get(QUANTILE)
        return cls(str(line["column"]), None if share is None else exact_number(share))

    @property
    def steps(self) -> int:
        """How many candidates a grid has."""
        return floor((self.upper - self.lower) / self.step) + 1

    def value(self, place: int) -> Fraction:
        """A candidate of the grid."""
        return self.lower + place * self.step

    def place(self, text: str) -> int | None:
        """The candidate next to a number that is moved within the bounds; None for other texts."""
        from dpdesk.engine.hierarchies.intervals import parse_number

        number = parse_number(text)
        if number is None:
            return None
        return max(0, min(self.steps - 1, floor((number - self.lower) / self.step + _HALF)))


@dataclass(frozen=True)
class ChoiceSettings(PrivateSettings):
    """All settings with their types; ``domains`` are the listed categories by column.

    ``origins`` says where categories come from, as far as the plan knows it.
    """

    groups: tuple[str, ...]
    domains: Mapping[str, tuple[str, ...]]
    wanted: tuple[Wanted, ...]
    origins: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def from_parameters(cls, values: Mapping[str, ParameterValue], where: str) -> ChoiceSettings:
        """Read checked parameters; InputError ``choice.*`` where they do not go together."""
        groups = texts_of(values["groups"])
        if len(set(groups)) < len(groups):
            raise misfit("choice.groups", where, "`groups` names a column twice", "groups")
        if values["epsilon"] is None:
            raise misfit("choice.budget", where, "`epsilon` is missing", "epsilon")
        wanted = _wanted(values["choose"], groups, where)
        known = (*groups, *_modes(wanted))
        settings = cls(
            groups=groups,
            domains=_domains(values["domains"], known, where),
            wanted=wanted,
            origins=recorded_origins(values["origins"], known, where),
            noise=Noise.LAPLACE,
            budget=amount(values["epsilon"], "epsilon"),
            delta=Fraction(0),
            replace=values["neighbours"] == REPLACE,
            rows_per_person=int(str(values["rows_per_person"])),
        )
        if min(map(settings.rate, wanted)) < _LEAST_RATE:
            sentence = "`epsilon` is so small that chance alone would choose"
            raise misfit("choice.budget", where, sentence, "epsilon")
        return settings

    @property
    def declared(self) -> tuple[str, ...]:
        """The columns with categories."""
        return (*self.groups, *_modes(self.wanted))

    @property
    def share(self) -> Fraction:
        """The part of ε that each choice costs."""
        return Fraction(1, len(self.wanted))

    def width(self, wanted: Wanted) -> Fraction:
        """By how much a person changes the difference of two candidates' utilities, at most, over
        all groups in sum; see :mod:`dpdesk.engine.methods.dp_choice.design`.
        """
        if wanted.quantile is None:
            one = Fraction(2 if self.replace else 1)
        else:
            one = 2 * max(wanted.quantile, 1 - wanted.quantile)
            if self.replace:
                one = 2 * one if self.groups else Fraction(2)
        return self.rows_per_person * one

    def rate(self, wanted: Wanted) -> Fraction:
        """A candidate is chosen with probability ∝ exp(rate * utility)."""
        return self.share * self.budget / self.width(wanted)


def _modes(wanted: Sequence[Wanted]) -> tuple[str, ...]:
    """The columns whose most frequent category is chosen."""
    return tuple(each.column for each in wanted if each.quantile is None)


def _wanted(raw: ParameterValue, groups: Sequence[str], where: str) -> tuple[Wanted, ...]:
    plain = raw.plain if isinstance(raw, Nested) else ()
    found = tuple(map(_one, plain if isinstance(plain, tuple) else (plain,)))
    names = [each.name for each in found]
    for each in found:
        if each.column in groups:
            sentence = msg("`{name}` is chosen from, and one of `groups` as well", name=each.column)
            raise misfit("choice.choose", where, sentence, "choose")
        if names.count(each.name) > 1:
            sentence = msg("`choose` asks for the same twice (column `{name}`)", name=each.column)
            raise misfit("choice.choose", where, sentence, "choose")
        _check_grid(each, where)
    return found


def _one(raw: object) -> Wanted:
    given = raw if isinstance(raw, Mapping) else {}
    if MODE in given:
        return Wanted(str(given[MODE]))
    numbers = {key: exact_number(given.get(key, 1)) for key in (QUANTILE, *_GRID)}
    return Wanted(
        str(given["of"]), **{key: number or Fraction(0) for key, number in numbers.items()}
    )


def _check_grid(wanted: Wanted, where: str) -> None:
    if wanted.quantile is None:
        return
    name, count = wanted.column, wanted.steps
    if wanted.value(count - 1) != wanted.upper:
        sentence = msg(
            "the grid of `{name}` does not end at `upper`: use another `step`", name=name
        )
        raise misfit("choice.grid", where, sentence, "choose")
    if count > MOST_CANDIDATES:
        sentence = msg(
            "the grid of `{name}` has {count:,} values, at most {most:,}",
            name=name,
            count=count,
            most=MOST_CANDIDATES,
        )
        raise misfit("choice.grid", where, sentence, "choose")
    shift = 1
    while any((each * shift).denominator > 1 for each in (wanted.lower, wanted.step)):
        shift *= 10
    if max(abs(wanted.lower), abs(wanted.upper)) * shift > _EXACT_IN_FLOAT:
        sentence = msg("the grid of `{name}` has numbers of more than 15 digits", name=name)
        raise misfit("choice.grid", where, sentence, "choose")


def _domains(raw: ParameterValue, known: Collection[str], where: str) -> dict[str, tuple[str, ...]]:
    plain = raw.plain if isinstance(raw, Nested) else {}
    found: dict[str, tuple[str, ...]] = {}
    for name, listed in plain.items() if isinstance(plain, Mapping) else ():
        if name not in known:
            sentence = msg(
                "`domains` names `{name}`, which is neither one of `groups` nor the column of a "
                "most frequent value",
                name=name,
            )
            raise misfit("choice.domain", where, sentence, "domains")
        if not isinstance(listed, tuple) or not all(isinstance(text, str) for text in listed):
            sentence = msg("`domains` gives `{name}` something that is not a list", name=name)
            raise misfit("choice.domain", where, sentence, "domains")
        found[name] = listed
    return found


def check_columns(
    settings: ChoiceSettings, columns: Sequence[str], roles: Mapping[str, Role], where: str
) -> None:
    """Check names and roles; raises InputError ``plan.unknown-column``, ``choice.role``."""
    places = [(name, "groups") for name in settings.groups]
    for name, key in (*places, *((each.column, "choose") for each in settings.wanted)):
        check_named(name, columns, key, where)
        reason = NOT_SPANNING.get(roles[name])
        if reason is not None:
            sentence = msg(
                "`{name}` {reason}, so nothing is chosen by it", name=name, reason=reason
            )
            raise misfit("choice.role", where, sentence, key)
    check_each_counts_once(roles, "choice.role", where, "groups")
    check_clusters(roles, "choice.role", "groups", where)
