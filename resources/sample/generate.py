"""Make the bundled sample: a synthetic population in households, with its hierarchies.

Run ``python resources/sample/generate.py`` (``--out DIR`` to write elsewhere). Nobody in it is or
was a person: every value is drawn from the weights in ``tables.py``. The seed is fixed and all
arithmetic is in whole numbers, so the files come out byte for byte the same everywhere.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, timedelta
from pathlib import Path

from draws import Draws
from households import FEMALE, Person, make_household
from lives import live
from tables import (
    BIRTHPLACES,
    DISTRICTS,
    EDUCATION,
    EDUCATION_GROUP,
    HEALTH,
    HOUSEHOLDS,
    KINDS,
    MARITAL,
    MARITAL_GROUP,
    NOT_WORKING,
    OCCUPATIONS,
    OLDEST,
    POSTCODES_PER_DISTRICT,
    REFERENCE_MONTH_DAY,
    REFERENCE_YEAR,
    District,
)

SEED = 20_240_630
PERSONS = 20_500
COLUMNS = (
    "person_id", "household_id", "birth_date", "age", "sex", "district", "postcode", "birthplace",
    "marital_status", "household_size", "education", "occupation", "income", "health", "condition",
    "weight",
)  # fmt: skip
_WEIGHTS = {"Coast": 44, "Midlands": 49, "Highlands": 55}


def population(draws: Draws) -> Iterator[tuple[str, ...]]:
    """Rows of the sample, household by household, until there are enough persons."""
    made = household = 0
    while made < PERSONS:
        household += 1
        district = draws.choice(DISTRICTS, [district.size for district in DISTRICTS])
        kind = KINDS.index(district.kind)
        weights = [by_kind[kind] for by_kind in HOUSEHOLDS.values()]
        members = make_household(draws.choice(tuple(HOUSEHOLDS), weights), draws)
        live(members, district, draws)
        postcode = f"{district.postcode}{draws.below(POSTCODES_PER_DISTRICT[district.kind]):02d}"
        for person in members:
            size = str(len(members))
            yield _row(made, f"{household:05d}", person, district, postcode, size, draws)
            made += 1


def _row(
    number: int,
    household: str,
    person: Person,
    district: District,
    postcode: str,
    size: str,
    draws: Draws,
) -> tuple[str, ...]:
    reference = date(REFERENCE_YEAR - person.age, *REFERENCE_MONTH_DAY)
    born = reference - timedelta(days=draws.below(365))
    # Multiplying by an odd number that 5 does not divide permutes the eight-digit numbers.
    identity = f"{(number * 48_271_009 + 31_415_927) % 100_000_000:08d}"
    rich = person.income > 500
    return (
        identity,
        household,
        born.isoformat(),
        str(person.age),
        "female" if person.sex == FEMALE else "male",
        district.name,
        postcode,
        person.birthplace,
        person.marital,
        size,
        "" if draws.per_mille(4) else EDUCATION[person.education],
        "" if draws.per_mille(6) else person.occupation,
        ""
        if person.age >= 16 and draws.per_mille(70 if rich else 30)
        else str(person.income * 100),
        "" if draws.per_mille(6) else HEALTH[person.health],
        person.condition,
        str(_WEIGHTS[district.zone] + draws.between(-6, 6)),
    )


def hierarchies() -> dict[str, list[tuple[str, ...]]]:
    """The hierarchies, by column: one row per value, from the value itself up to ``*``."""
    postcodes = [
        f"{district.postcode}{number:02d}"
        for district in DISTRICTS
        for number in range(POSTCODES_PER_DISTRICT[district.kind])
    ]
    work: list[tuple[str, ...]] = [(o.name, o.group, o.broad, "*") for o in OCCUPATIONS]
    outside: list[tuple[str, ...]] = [
        (name, group, "not working", "*") for name, group in NOT_WORKING.items()
    ]
    return {
        "age": [_age_row(age) for age in range(OLDEST + 1)],
        "sex": [("female", "*"), ("male", "*")],
        "district": [(d.name, d.region, d.zone, "*") for d in DISTRICTS],
        "postcode": [
            (code, f"{code[:3]}*", f"{code[:2]}**", f"{code[:1]}***", "****") for code in postcodes
        ],
        "birthplace": [
            (place, "abroad" if place.endswith("country") else "in the country", "*")
            for place in BIRTHPLACES
        ],
        "marital_status": [(status, MARITAL_GROUP[status], "*") for status in MARITAL],
        "household_size": [_size_row(size) for size in range(1, 11)],
        "education": [(level, EDUCATION_GROUP[level], "*") for level in EDUCATION],
        "occupation": work + outside,
    }


def _age_row(age: int) -> tuple[str, ...]:
    def band(width: int, top: int) -> str:
        low = age // width * width
        return f"{top}+" if age >= top else f"{low}-{low + width - 1}"

    return (str(age), band(5, 85), band(10, 80), band(20, 80), "*")


def _size_row(size: int) -> tuple[str, ...]:
    fine = str(size) if size <= 2 else "3-4" if size <= 4 else "5+"
    return (str(size), fine, "1-2" if size <= 2 else "3+", "*")


def _write(path: Path, rows: Iterable[Sequence[str]], delimiter: str) -> None:
    text = "".join(f"{delimiter.join(row)}\n" for row in rows)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode("utf-8"))


def main() -> None:
    """Write ``population.csv`` and the folder ``hierarchies``."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--out", type=Path, default=Path(__file__).parent, metavar="DIR")
    out: Path = parser.parse_args().out
    _write(out / "population.csv", [COLUMNS, *population(Draws(SEED))], ",")
    for column, rows in hierarchies().items():
        _write(out / "hierarchies" / f"{column}.csv", rows, ";")


if __name__ == "__main__":
    main()
