"""Requirements of sensitive columns as a plan gives them: ``[[protection.require]]``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from dpdesk.core.errors import InputError
from dpdesk.core.messages import listed, msg
from dpdesk.core.parameters import (
    Among,
    Choice,
    ChoiceParameter,
    ColumnParameter,
    Condition,
    DecimalParameter,
    Nested,
    ParameterValue,
    Records,
    StructuredParameter,
    Variant,
    exact_number,
    plain_number,
    unknown_key,
)
from dpdesk.core.plain import freeze, number_text, show

DIVERSITY, CLOSENESS, SHARE, LIKENESS = "l-diversity", "t-closeness", "alpha-k", "beta-likeness"

VARIANTS: Mapping[str, tuple[str, ...]] = {
    DIVERSITY: ("distinct", "entropy", "recursive"),
    CLOSENESS: ("equal", "ordered", "hierarchical"),
    SHARE: (),
    LIKENESS: ("basic", "enhanced"),
}
"""The variants of each model; the first is the default."""

BOUNDS: Mapping[str, str] = {DIVERSITY: "l", CLOSENESS: "t", SHARE: "alpha", LIKENESS: "beta"}
"""The key that holds the limit of each model."""

_MOST_L = 1_000_000


@dataclass(frozen=True)
class Requirement:
    """One requirement: ``bound`` is its l, t, alpha or beta; ``c`` that of recursive diversity."""

    model: str
    attribute: str
    variant: str
    bound: Fraction
    c: Fraction = Fraction(0)

    @property
    def relative(self) -> bool:
        """Whether a class is measured against all rows that are kept."""
        return self.model in (CLOSENESS, LIKENESS)

    @property
    def monotone(self) -> bool:
        """Whether fewer rows are never removed further down the lattice, with suppression too.

        Proven for distinct diversity alone: a class with l values keeps them when it grows.
        """
        return self.model == DIVERSITY and self.variant == "distinct"

    def as_plain(self) -> dict[str, object]:
        """The keys of the plan, all of them, as JSON values."""
        found: dict[str, object] = {"model": self.model, "attribute": self.attribute}
        if self.variant:
            found["variant"] = self.variant
        found[BOUNDS[self.model]] = plain_number(self.bound)
        if self.variant == "recursive":
            found["c"] = plain_number(self.c)
        return found


_ATTRIBUTE = ColumnParameter(
    "attribute",
    "Sensitive column",
    "The column that the requirement is about",
    required=True,
    among=Among.SENSITIVE,
)


def _variant(model: str, *choices: tuple[str, str]) -> ChoiceParameter:
    offered = zip(VARIANTS[model], choices, strict=True)
    return ChoiceParameter(
        "variant",
        "How it is measured",
        "What the number limits",
        choices=tuple(Choice(value, label, help) for value, (label, help) in offered),
        default=VARIANTS[model][0],
    )


def _limit(model: str, help: str) -> DecimalParameter:
    key = BOUNDS[model]
    label = {"l": "ℓ", "t": "t", "alpha": "α", "beta": "β"}[key]
    return DecimalParameter(key, label, help, required=True)


REQUIRED = Records(
    (
        Variant(
            "ℓ-diversity: several values",
            (
                _ATTRIBUTE,
                _variant(
                    DIVERSITY,
                    ("Distinct values", "Every class holds at least ℓ different values."),
                    ("Entropy", "The values of a class are as mixed as ℓ equally frequent ones."),
                    ("Recursive", "The most frequent value does not outweigh the rarer ones."),
                ),
                _limit(DIVERSITY, "Values that every class shows at least"),
                DecimalParameter(
                    "c",
                    "c",
                    "The most frequent value has fewer than c times the rows of the rarer ones",
                    required=True,
                    applies=Condition("variant", ("recursive",)),
                ),
            ),
            {"model": DIVERSITY},
        ),
        Variant(
            "t-closeness: values as in all rows",
            (
                _ATTRIBUTE,
                _variant(
                    CLOSENESS,
                    ("All values equally far apart", "For values without an order."),
                    ("By their order", "Neighbouring values are close to each other."),
                    ("By their hierarchy", "Values of one group are close to each other."),
                ),
                _limit(CLOSENESS, "Largest distance of a class from all rows, from 0 to 1"),
            ),
            {"model": CLOSENESS},
        ),
        Variant(
            "(α,k): no value too frequent",
            (_ATTRIBUTE, _limit(SHARE, "Largest share of one value in a class, up to 1")),
            {"model": SHARE},
        ),
        Variant(
            "β-likeness: little to be gained",
            (
                _ATTRIBUTE,
                _variant(
                    LIKENESS,
                    ("Basic", "The same limit for every value."),
                    ("Enhanced", "A stricter limit for frequent values."),
                ),
                _limit(LIKENESS, "By how many times its share a value may be more frequent"),
            ),
            {"model": LIKENESS},
        ),
    ),
    "Requirement",
    more=("Add a requirement", "Every class must meet all of them"),
    remove=("Remove this requirement", "Require only the others"),
    least=0,
    alone=False,
)


@dataclass(frozen=True)
class RequireParameter(StructuredParameter):
    """A list of requirements, each a table of its keys.

    As text there is one in each line: ``income: l-diversity recursive l=3 c=2``.
    """

    def parse(self, raw: object, where: str) -> ParameterValue:
        """See :meth:`Parameter.parse`; InputError names the requirement by its number."""
        items = [raw] if isinstance(raw, Mapping) else raw
        if not isinstance(items, list | tuple):
            raise self.invalid(where, raw)
        found: list[object] = []
        for number, item in enumerate(items, start=1):
            if not isinstance(item, Mapping):
                raise self.invalid(where, raw)
            place = msg("{where}: `require` {number}", where=where, number=number)
            found.append(_read(item, place).as_plain())
        return Nested(freeze(found)) if found else None

    def as_text(self, value: ParameterValue) -> str:
        """See :meth:`Parameter.as_text`."""
        return "\n".join(map(_line_of, requirements_of(value)))

    def range_text(self) -> str:
        """See :meth:`Parameter.range_text`."""
        return 'a list of tables such as { model = "l-diversity", attribute = "income", l = 3 }'


def _line_of(each: Requirement) -> str:
    variant = f" {each.variant}" if each.variant else ""
    c = f" c={number_text(each.c)}" if each.variant == "recursive" else ""
    bound = f"{BOUNDS[each.model]}={number_text(each.bound)}"
    return f"{each.attribute}: {each.model}{variant} {bound}{c}"


def stated(
    required: Sequence[Requirement], hierarchies: Mapping[str, object], decimal: str = "."
) -> list[dict[str, object]]:
    """The requirements as a guarantee states them: ``order`` says what ordered distances follow.

    Where these are the values, ``decimal`` is the mark by which they are numbers, if no point.
    """
    found = []
    for each in required:
        order = "hierarchy" if each.attribute in hierarchies else "values"
        ordered = {"order": order} if each.variant == "ordered" else {}
        if ordered and order == "values" and decimal != ".":
            ordered["decimal"] = decimal
        found.append(each.as_plain() | ordered)
    return found


def requirements_of(value: ParameterValue) -> tuple[Requirement, ...]:
    """The requirements of a parsed parameter."""
    plain = value.plain if isinstance(value, Nested) else ()
    items = plain if isinstance(plain, list | tuple) else ()
    return tuple(_read(item, "require") for item in items if isinstance(item, Mapping))


def _read(item: Mapping[str, object], where: str) -> Requirement:
    model = _choice(item, "model", tuple(BOUNDS), where)
    attribute = item.get("attribute")
    if not isinstance(attribute, str) or not attribute:
        raise _bad(where, "attribute", attribute, "the name of a sensitive column")
    variants = VARIANTS[model]
    variant = _choice(item, "variant", variants, where) if variants else ""
    key = BOUNDS[model]
    known = ["model", "attribute", key, *(["variant"] if variants else [])]
    known += ["c"] if variant == "recursive" else []
    for name in item:
        if name not in known:
            raise unknown_key(str(name), known, where)
    bound = _bound(item.get(key), model, variant, where)
    c = Fraction(0)
    if variant == "recursive":
        c = _number(item.get("c"), "c", where, "a number above 0")
        if c <= 0:
            raise _bad(where, "c", item.get("c"), "a number above 0")
    return Requirement(model, attribute, variant, bound, c)


def _bound(raw: object, model: str, variant: str, where: str) -> Fraction:
    key = BOUNDS[model]
    if model == DIVERSITY:
        whole = variant != "entropy"
        wanted = "a whole number of 1 or more" if whole else "a number of 1 or more"
        bound = _number(raw, key, where, wanted)
        if not 1 <= bound <= _MOST_L or bound.denominator > (1 if whole else _MOST_L):
            raise _bad(where, key, raw, wanted)
        return bound
    wanted = "a number above 0" if model == LIKENESS else "a share from 0 to 1"
    wanted = "a share above 0, at most 1" if model == SHARE else wanted
    bound = _number(raw, key, where, wanted)
    if bound < 0 or (bound == 0 and model != CLOSENESS) or (bound > 1 and model != LIKENESS):
        raise _bad(where, key, raw, wanted)
    return bound


def _choice(item: Mapping[str, object], key: str, known: Sequence[str], where: str) -> str:
    raw = item.get(key, known[0] if key == "variant" else None)
    if not isinstance(raw, str) or raw not in known:
        names = ", ".join(f"`{name}`" for name in known)
        raise _bad(where, key, raw, msg("one of {listed}", listed=names))
    return raw


def _number(raw: object, key: str, where: str, wanted: str) -> Fraction:
    number = None if isinstance(raw, str) else exact_number(raw)
    # What is kept is the number as JSON writes it: it must be the very number.
    if number is None or exact_number(plain_number(number)) != number:
        raise _bad(where, key, raw, wanted)
    return number


def _bad(where: str, key: str, raw: object, wanted: str) -> InputError:
    return InputError(
        "parameter.invalid",
        msg(
            "{where}: `{key}` is {found}, expected {expected}.",
            where=where,
            key=key,
            found="missing" if raw is None else show(raw),
            expected=wanted,
        ),
        details={"key": "require"},
    )


def required_claim(each: Mapping[str, object]) -> str:
    """What a requirement, as a guarantee states it, says of every class."""
    name, variant = str(each["attribute"]), str(each.get("variant", ""))
    bound = _shown(each[BOUNDS[str(each["model"])]])
    if each["model"] == SHARE:
        return msg(
            "No value of {name} is held by more than the share {bound} of the rows of such a "
            "combination.",
            name=name,
            bound=bound,
        )
    if each["model"] == CLOSENESS:
        return _closeness_claim(name, bound, variant, str(each.get("order", "")))
    if each["model"] == LIKENESS:
        return _likeness_claim(name, bound, enhanced=variant == "enhanced")
    if variant == "distinct":
        return msg(
            "Every such combination holds at least {bound} different values of {name}.",
            bound=bound,
            name=name,
        )
    if variant == "entropy":
        return msg(
            "In every such combination the entropy of {name} is at least that of {bound} equally "
            "frequent values.",
            bound=bound,
            name=name,
        )
    return msg(
        "In every such combination the most frequent value of {name} has fewer than {c} times as "
        "many rows as all its values from the one in place {bound} by frequency on.",
        name=name,
        c=_shown(each["c"]),
        bound=bound,
    )


def _shown(value: object) -> str:
    number = exact_number(value)
    return str(value) if number is None else number_text(number)


def _closeness_claim(name: str, bound: str, variant: str, order: str) -> str:
    if variant == "equal":
        far = "every two values being equally far apart"
    elif variant == "hierarchical":
        far = "values being as far apart as their hierarchy has it"
    elif order == "hierarchy":
        far = "values being as far apart as their places in the order of their hierarchy"
    else:
        far = "values being as far apart as their places in the order of the released values"
    return msg(
        "In every such combination the distribution of {name} is at most {bound} from that of all "
        "released rows (earth mover's distance, {far}).",
        name=name,
        bound=bound,
        far=far,
    )


def _likeness_claim(name: str, bound: str, *, enhanced: bool) -> str:
    if enhanced:
        return msg(
            "In every such combination the share of each value of {name} exceeds its share among "
            "all released rows by at most {bound} times that share, and by at most as many times "
            "as the natural logarithm of 1 over that share.",
            name=name,
            bound=bound,
        )
    return msg(
        "In every such combination the share of each value of {name} exceeds its share among all "
        "released rows by at most {bound} times that share.",
        name=name,
        bound=bound,
    )


def required_limits(required: Sequence[Mapping[str, object]]) -> tuple[str, ...]:
    """What requirements, as a guarantee states them, do not cover."""
    names = list(dict.fromkeys(str(each["attribute"]) for each in required))
    if not names:
        return ()
    return (
        msg(
            "More knowledge about {names}: the requirements on classes bound what is learned by "
            "someone who knows no more than the released distribution; anyone who can rule out "
            "values for a person, or counts similar values as one, may learn more.",
            names=listed(names),
        ),
    )
