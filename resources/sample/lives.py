"""Lives of the sample's people: birthplace, schooling, health, work and income, in this order.

Each step depends on the ones before, on age and sex, and on where and with whom a person lives.
"""

from __future__ import annotations

from collections.abc import Sequence

from draws import Draws
from households import FEMALE, Person
from tables import (
    BIRTHPLACE_WEIGHTS,
    BIRTHPLACES,
    CONDITIONS,
    CONDITIONS_BY_AGE,
    EDUCATION_BY_COHORT,
    EDUCATION_FROM_AGE,
    KINDS,
    OCCUPATIONS,
    REFERENCE_YEAR,
    District,
)

_PAY_BY_SCHOOLING = (86, 89, 93, 100, 102, 112, 122, 134)
_PAY_BY_KIND = {"city": 109, "town": 100, "country": 92}
_PAY = {occupation.name: occupation.pay for occupation in OCCUPATIONS}
_UPPER_SECONDARY, _BACHELOR = 3, 5


def live(members: Sequence[Person], district: District, draws: Draws) -> None:
    """Fill in the lives of the members of one household."""
    for person in members:
        _be_born(person, members[0], district, draws)
        _learn(person, members[0], district, draws)
        _fare(person, draws)
    small_children = any(person.age < 6 for person in members)
    for person in members:
        _work(person, small_children, district, draws)
        person.income = _income(person, district, draws)


def _be_born(person: Person, head: Person, district: District, draws: Draws) -> None:
    if person is not head and draws.percent(55):
        person.birthplace = head.birthplace
    else:
        person.birthplace = draws.choice(BIRTHPLACES, BIRTHPLACE_WEIGHTS[district.kind])
    if person.place == "child" and person.birthplace.endswith("country") and draws.percent(70):
        person.birthplace = "same region"


def _learn(person: Person, head: Person, district: District, draws: Draws) -> None:
    goal = _schooling_goal(person, head, district, draws)
    reached = goal
    while person.age < EDUCATION_FROM_AGE[reached]:
        reached -= 1
    if person.age >= 18:
        # Nobody stays on the way between two levels that do not build on each other.
        reached = goal if reached == goal else min(reached, _UPPER_SECONDARY)
        if goal > _BACHELOR and person.age >= EDUCATION_FROM_AGE[_BACHELOR] and reached < goal:
            reached = _BACHELOR
    person.education = reached
    person.studying = person.adult and reached < goal


def _schooling_goal(person: Person, head: Person, district: District, draws: Draws) -> int:
    born = REFERENCE_YEAR - person.age
    weights = next(given for start, given in reversed(EDUCATION_BY_COHORT) if born >= start)
    tuned = list(weights)
    for level in range(_BACHELOR, len(tuned)):
        tuned[level] *= {"city": 7, "town": 4, "country": 3}[district.kind]
        # Women caught up, then went ahead.
        tuned[level] *= (3 if born < 1960 else 6) if person.sex == FEMALE else 5
    for level in range(_BACHELOR):
        tuned[level] *= 4 * 5
    if person is not head and draws.percent(38):
        return max(head.education, 2)
    return draws.index(tuned)


def _fare(person: Person, draws: Draws) -> None:
    burden = draws.below(61) + draws.below(61) + person.age * 6 // 10
    if person.adult:
        burden += (12, 10, 7, 0, 0, -7, -9, -10)[person.education]
    person.health = sum(burden >= limit for limit in (70, 104, 130, 150))
    weights = next(given for oldest, given in CONDITIONS_BY_AGE if person.age <= oldest)
    tuned = [weights[0] * (12, 8, 4, 2, 1)[person.health]]
    tuned += [weight * (2, 4, 8, 12, 14)[person.health] for weight in weights[1:]]
    if person.sex == FEMALE:
        tuned[CONDITIONS.index("depression")] *= 2
        tuned[CONDITIONS.index("arthritis")] *= 2
    person.condition = draws.choice(CONDITIONS, tuned)


def _work(person: Person, small_children: bool, district: District, draws: Draws) -> None:
    outside = _outside_work(person, small_children, district, draws)
    person.occupation = outside or _occupation(person, district, draws)


def _outside_work(
    person: Person, small_children: bool, district: District, draws: Draws
) -> str | None:
    age, schooling = person.age, _schooling_class(person)
    if age < 18:
        return "child" if age < 6 else "pupil" if age < 17 or draws.percent(80) else None
    retirement = 100 if age > 76 else 93 if age > 66 else 70 if age > 64 else 28 if age > 59 else 0
    at_home = 4 if person.sex == FEMALE else 1
    if small_children and person.place in ("head", "partner"):
        at_home = 26 if person.sex == FEMALE else 3
    elif person.sex == FEMALE and age >= 50:
        at_home = 15
    chances = (
        ("student", 82 if person.studying else 0),
        ("retired", retirement),
        ("unable to work", (0, 1, 4, 22, 55)[person.health]),
        ("at home", at_home),
        ("unemployed", (9, 7, 5, 4, 3)[schooling] + (3 if district.region == "Iron Valley" else 0)),
    )
    return next((name for name, chance in chances if draws.percent(chance)), None)


def _schooling_class(person: Person) -> int:
    return (0, 0, 0, 1, 2, 3, 4, 4)[person.education]


def _occupation(person: Person, district: District, draws: Draws) -> str:
    schooling, kind = _schooling_class(person), KINDS.index(district.kind)
    weights = []
    for occupation in OCCUPATIONS:
        weight = occupation.schooling[schooling] * occupation.sex[person.sex]
        weight *= occupation.kind[kind] * 4
        if occupation.group == "managers":
            weight = weight * min(person.age, 50) // 50
        if occupation.name == "metal worker" and district.region == "Iron Valley":
            weight *= 4
        weights.append(weight)
    return draws.choice(OCCUPATIONS, weights).name


def _income(person: Person, district: District, draws: Draws) -> int:
    """Yearly income in hundreds."""
    if person.age < 16:
        return 0
    schooling = person.education
    if person.occupation not in _PAY:
        low, high = {
            "pupil": (0, 12),
            "student": (15, 95),
            "retired": (105 + 14 * schooling, 190 + 34 * schooling),
            "at home": (0, 70),
            "unemployed": (80, 150),
            "unable to work": (95, 170),
        }[person.occupation]
        amount = draws.between(low, high)
        return amount * 88 // 100 if person.sex == FEMALE else amount
    pay = _PAY[person.occupation] * _PAY_BY_SCHOOLING[schooling] * _PAY_BY_KIND[district.kind]
    pay = pay * (62 + 2 * (min(person.age, 46) - 18)) // 1_000_000 + 1
    pay = pay * (92 if person.sex == FEMALE else 100) // 100
    if draws.percent(36 if person.sex == FEMALE else 8):
        pay = pay * draws.between(40, 75) // 100
    if draws.percent(3):
        pay = pay * draws.between(140, 280) // 100
    return pay * draws.between(78, 126) * draws.between(84, 118) // 10_000
