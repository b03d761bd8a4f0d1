"""Households of the sample: who lives together, how old they are, and how they are married."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from draws import Draws
from tables import OLDEST

FEMALE, MALE = 0, 1


@dataclass
class Person:
    """One person while being made; ``place`` is head, partner, child, parent or sharer."""

    age: int
    sex: int
    marital: str
    place: str
    education: int = 0
    studying: bool = False
    birthplace: str = ""
    health: int = 0
    condition: str = ""
    occupation: str = ""
    income: int = 0

    @property
    def adult(self) -> bool:
        """18 years or older."""
        return self.age >= 18


def make_household(kind: str, draws: Draws) -> list[Person]:
    """The members of a household of this kind, the head first."""
    return _MAKERS[kind](draws)


def _alone(low: int, high: int, marital: dict[str, int], draws: Draws) -> list[Person]:
    age = draws.between(low, high)
    sex = FEMALE if draws.percent(46) else MALE
    return [Person(age, sex, draws.choice(tuple(marital), tuple(marital.values())), "head")]


def _old_alone(draws: Draws) -> list[Person]:
    age = _old_age(draws)
    sex = FEMALE if draws.percent(min(90, 58 + age - 65)) else MALE
    weights = (9, 15, 60 + age - 65) if sex == FEMALE else (14, 24, 40 + age - 65)
    return [Person(age, sex, draws.choice(("single", "divorced", "widowed"), weights), "head")]


def _old_age(draws: Draws) -> int:
    # The smaller of two draws: fewer people at every further year.
    return 65 + min(draws.below(OLDEST - 64), draws.below(OLDEST - 64))


def _pair(age: int, draws: Draws) -> list[Person]:
    first = FEMALE if draws.percent(38) else MALE
    second = first if draws.percent(3) else 1 - first
    gap = draws.between(-3, 4) + draws.between(-2, 3)
    other = min(OLDEST, max(18, age - gap if first == MALE else age + gap))
    married = draws.percent(max(12, min(94, 3 * (min(age, other) - 16))))
    marital = "married" if married else "partnership"
    return [Person(age, first, marital, "head"), Person(other, second, marital, "partner")]


def _couple(low: int, high: int, draws: Draws) -> list[Person]:
    return _pair(draws.between(low, high), draws)


def _old_couple(draws: Draws) -> list[Person]:
    return _pair(min(94, _old_age(draws)), draws)


def _children(youngest_parent: int, draws: Draws) -> list[Person]:
    wanted = 1 + draws.index((38, 43, 14, 5))
    age = draws.between(0, max(0, min(24, youngest_parent - 20)))
    ages = []
    for _ in range(wanted):
        # A parent was between 18 and 45 years old at the birth.
        if youngest_parent - 45 <= age <= youngest_parent - 18 and age >= 0:
            ages.append(age)
        age -= draws.choice((1, 2, 3, 4, 0), (15, 42, 25, 16, 2))
    sexes = [MALE if draws.below(205) < 105 else FEMALE for _ in ages]
    return [Person(age, sex, "single", "child") for age, sex in zip(ages, sexes, strict=True)]


def _family(draws: Draws) -> list[Person]:
    parents = _pair(draws.between(26, 52) + draws.below(11), draws)
    return parents + _children(min(person.age for person in parents), draws)


def _one_parent(draws: Draws) -> list[Person]:
    age = draws.between(24, 50) + draws.below(11)
    sex = FEMALE if draws.percent(84) else MALE
    marital = draws.choice(("single", "divorced", "widowed"), (30, 60, 10))
    return [Person(age, sex, marital, "head"), *_children(age, draws)]


def _three_generations(draws: Draws) -> list[Person]:
    family = _family(draws)
    age = min(OLDEST, family[0].age + draws.between(21, 36))
    sex = FEMALE if draws.percent(72) else MALE
    marital = draws.choice(("widowed", "divorced", "single"), (84, 12, 4))
    return [*family, Person(age, sex, marital, "parent")]


def _sharers(draws: Draws) -> list[Person]:
    count = 2 + draws.index((45, 32, 16, 7))
    return [
        Person(
            draws.between(18, 24) + draws.below(7),
            draws.below(2),
            "single",
            "head" if number == 0 else "sharer",
        )
        for number in range(count)
    ]


_MAKERS: dict[str, Callable[[Draws], list[Person]]] = {
    "young alone": lambda draws: _alone(20, 34, {"single": 94, "divorced": 6}, draws),
    "adult alone": lambda draws: _alone(
        35, 64, {"single": 50, "divorced": 42, "widowed": 8}, draws
    ),
    "old alone": _old_alone,
    "young couple": lambda draws: _couple(20, 34, draws),
    "couple": lambda draws: _couple(35, 64, draws),
    "old couple": _old_couple,
    "family": _family,
    "one parent": _one_parent,
    "three generations": _three_generations,
    "sharers": _sharers,
}
