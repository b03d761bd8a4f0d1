"""The made-up country of the sample: places, schooling, work, and how they depend on each other.

All numbers are whole-number weights, so that the same population comes out on every machine.
"""

from __future__ import annotations

from dataclasses import dataclass

REFERENCE_YEAR = 2024
REFERENCE_MONTH_DAY = (6, 30)
OLDEST = 100


@dataclass(frozen=True)
class District:
    """A district; ``kind`` is city, town or country, ``size`` its weight of households."""

    name: str
    region: str
    zone: str
    kind: str
    size: int
    postcode: str


_REGIONS = {
    ("Capital Area", "Coast"): (
        ("Old Quarter", "city", 52),
        ("Eastgate", "city", 74),
        ("Westgate", "city", 66),
        ("Riverside", "city", 58),
    ),
    ("North Coast", "Coast"): (
        ("Herringby", "town", 34),
        ("Graycliff", "country", 20),
        ("Lowsand", "country", 16),
    ),
    ("South Coast", "Coast"): (
        ("Port Amber", "city", 60),
        ("Sunbay", "town", 38),
        ("Reedmouth", "country", 18),
    ),
    ("Islands", "Coast"): (("Inner Isles", "town", 14), ("Outer Isles", "country", 8)),
    ("River Plain", "Midlands"): (
        ("Millbend", "city", 56),
        ("Wideford", "town", 40),
        ("Greenlea", "country", 24),
    ),
    ("Lake Country", "Midlands"): (
        ("Fernlake", "town", 36),
        ("Deepmere", "country", 18),
        ("Swanholm", "country", 14),
    ),
    ("Iron Valley", "Highlands"): (
        ("Forgeton", "city", 48),
        ("Stonebrook", "town", 32),
        ("Coaldale", "town", 28),
    ),
    ("High Moor", "Highlands"): (("Heathend", "town", 20), ("Windmoor", "country", 10)),
    ("Border Hills", "Highlands"): (
        ("Tollgate", "town", 22),
        ("Larchhill", "country", 12),
        ("Passfoot", "country", 8),
    ),
}

DISTRICTS = tuple(
    District(name, region, zone, kind, size, f"{area}{number}")
    for area, ((region, zone), districts) in enumerate(_REGIONS.items(), start=1)
    for number, (name, kind, size) in enumerate(districts, start=1)
)
POSTCODES_PER_DISTRICT = {"city": 24, "town": 14, "country": 8}

# Kinds of household, with weights by kind of district (city, town, country).
HOUSEHOLDS = {
    "young alone": (13, 6, 3),
    "adult alone": (16, 12, 10),
    "old alone": (11, 14, 16),
    "young couple": (7, 5, 4),
    "couple": (12, 16, 19),
    "old couple": (11, 15, 19),
    "family": (19, 24, 25),
    "one parent": (6, 7, 5),
    "three generations": (2, 2, 4),
    "sharers": (4, 2, 1),
}
KINDS = ("city", "town", "country")

BIRTHPLACES = ("same region", "other region", "nearby country", "far country")
BIRTHPLACE_WEIGHTS = {"city": (48, 28, 12, 12), "town": (68, 22, 6, 4), "country": (80, 15, 4, 1)}

EDUCATION = (
    "none",
    "primary",
    "lower second.",
    "upper second.",
    "vocational",
    "bachelor",
    "master",
    "doctorate",
)
EDUCATION_GROUP = {
    "none": "basic",
    "primary": "basic",
    "lower second.": "basic",
    "upper second.": "secondary",
    "vocational": "secondary",
    "bachelor": "degree",
    "master": "degree",
    "doctorate": "degree",
}
# Highest schooling of adults by year of birth (from), for the levels above.
EDUCATION_BY_COHORT = (
    (1900, (4, 30, 34, 10, 16, 4, 2, 1)),
    (1945, (2, 14, 32, 16, 24, 8, 4, 1)),
    (1960, (1, 6, 22, 20, 28, 13, 8, 2)),
    (1975, (1, 3, 13, 22, 26, 19, 13, 3)),
    (1990, (1, 2, 9, 26, 21, 25, 14, 2)),
)
# The youngest age at which a level can have been completed.
EDUCATION_FROM_AGE = (0, 11, 15, 18, 19, 21, 23, 27)


@dataclass(frozen=True)
class Occupation:
    """A kind of work: weights by schooling, sex (female, male) and district, and its yearly pay."""

    name: str
    group: str
    broad: str
    schooling: tuple[int, int, int, int, int]
    sex: tuple[int, int]
    kind: tuple[int, int, int]
    pay: int


# Schooling of an occupation: lower second. or less, upper second., vocational, bachelor, master up.
OCCUPATIONS = (
    Occupation("director", "managers", "office", (1, 3, 3, 9, 14), (2, 4), (4, 3, 2), 640),
    Occupation("shop manager", "managers", "office", (2, 6, 6, 5, 2), (3, 4), (3, 4, 3), 430),
    Occupation("engineer", "professionals", "office", (0, 1, 3, 14, 22), (1, 4), (5, 4, 2), 520),
    Occupation("teacher", "professionals", "office", (0, 1, 1, 18, 22), (5, 2), (3, 4, 4), 400),
    Occupation("doctor", "professionals", "office", (0, 0, 0, 1, 14), (3, 3), (4, 3, 2), 700),
    Occupation("lawyer", "professionals", "office", (0, 0, 0, 1, 10), (3, 3), (5, 2, 1), 610),
    Occupation(
        "IT specialist", "professionals", "office", (0, 4, 4, 14, 10), (1, 4), (6, 3, 2), 530
    ),
    Occupation("nurse", "technicians", "office", (0, 3, 12, 12, 3), (8, 1), (3, 4, 3), 340),
    Occupation("technician", "technicians", "office", (1, 7, 12, 6, 2), (1, 3), (3, 4, 3), 370),
    Occupation("accountant", "technicians", "office", (0, 6, 6, 10, 6), (4, 3), (4, 3, 2), 390),
    Occupation("clerk", "clerks", "office", (5, 18, 10, 8, 2), (5, 2), (4, 4, 3), 290),
    Occupation("post and desk", "clerks", "office", (6, 10, 5, 2, 1), (4, 3), (3, 3, 3), 260),
    Occupation("sales", "services", "services", (16, 18, 10, 4, 1), (4, 2), (4, 4, 3), 235),
    Occupation("cook or waiter", "services", "services", (13, 10, 8, 1, 1), (3, 3), (5, 3, 3), 205),
    Occupation("care worker", "services", "services", (11, 9, 10, 2, 1), (8, 1), (3, 4, 4), 230),
    Occupation("guard or police", "services", "services", (4, 9, 5, 3, 1), (1, 4), (4, 3, 2), 320),
    Occupation("farmer", "farming", "manual", (10, 5, 8, 2, 1), (1, 3), (0, 3, 22), 230),
    Occupation("forest or sea", "farming", "manual", (6, 2, 4, 0, 0), (0, 4), (0, 1, 9), 225),
    Occupation("builder", "trades", "manual", (14, 5, 16, 1, 0), (0, 6), (3, 4, 4), 290),
    Occupation("metal worker", "trades", "manual", (7, 4, 13, 1, 0), (0, 6), (2, 5, 3), 310),
    Occupation("food or textile", "trades", "manual", (8, 4, 7, 0, 0), (3, 2), (2, 3, 3), 235),
    Occupation("machine operator", "operators", "manual", (15, 5, 9, 1, 0), (1, 4), (2, 5, 3), 270),
    Occupation("driver", "operators", "manual", (12, 5, 7, 1, 0), (1, 8), (4, 4, 4), 265),
    Occupation("cleaner", "helpers", "manual", (18, 3, 3, 0, 0), (6, 1), (4, 3, 3), 180),
    Occupation("labourer", "helpers", "manual", (14, 3, 4, 0, 0), (1, 5), (3, 3, 4), 210),
)
NOT_WORKING = {
    "child": "in education",
    "pupil": "in education",
    "student": "in education",
    "retired": "not at work",
    "at home": "not at work",
    "unemployed": "not at work",
    "unable to work": "not at work",
}

HEALTH = ("very good", "good", "fair", "bad", "very bad")
CONDITIONS = (
    "none",
    "asthma",
    "hypertension",
    "diabetes",
    "heart disease",
    "arthritis",
    "depression",
    "cancer",
)
# Weights of the conditions at ages up to 17, 39, 59, 74 and above; ill health multiplies them.
CONDITIONS_BY_AGE = (
    (17, (900, 70, 1, 4, 1, 1, 12, 1)),
    (39, (800, 60, 25, 12, 4, 10, 60, 4)),
    (59, (620, 45, 120, 55, 25, 60, 60, 15)),
    (74, (360, 40, 220, 110, 80, 130, 45, 40)),
    (OLDEST, (230, 40, 250, 120, 150, 190, 50, 60)),
)

MARITAL = ("single", "married", "partnership", "divorced", "widowed")
MARITAL_GROUP = {
    "single": "never married",
    "married": "with spouse",
    "partnership": "with spouse",
    "divorced": "formerly married",
    "widowed": "formerly married",
}
