"""The nine people of the course text in every granularity: as it shows them, or with less loss."""

from __future__ import annotations

import pytest

from dpdesk.core.errors import RefusedError
from dpdesk.core.hierarchy import Hierarchy
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.core.parameters import parse_parameters
from dpdesk.core.recoding import Recoding, TupleRecoding
from dpdesk.core.schema import Role
from dpdesk.engine.method import MethodInput, Outcome
from dpdesk.engine.methods.k_anonymity.method import KAnonymity
from dpdesk.engine.methods.k_anonymity.settings import PARAMETERS
from tests.helpers.memory_tables import MemorySource, Row

COLUMNS = ("Race", "DOB", "Sex", "ZIP")


def table(text: str) -> list[Row]:
    return sorted(tuple(line.split()) for line in text.strip().splitlines())


PEOPLE = table("""
    asian 64/04/12 F 94142
    asian 64/09/13 F 94141
    asian 64/04/15 F 94139
    asian 63/03/13 M 94139
    asian 63/03/18 M 94139
    black 64/09/27 F 94138
    black 64/09/27 F 94139
    white 64/09/27 F 94139
    white 64/09/27 F 94141
""")
TREES = {
    "Race": Hierarchy.from_rows("Race", [(r, "*") for r in ("asian", "black", "white")]),
    "DOB": Hierarchy.from_rows(
        "DOB", [(d, d[:5], d[:2], "*") for d in sorted({row[1] for row in PEOPLE})]
    ),
    "Sex": Hierarchy.from_rows("Sex", [("F", "*"), ("M", "*")]),
    "ZIP": Hierarchy.from_rows(
        "ZIP", [(z, f"{z[:4]}*", f"{z[:3]}**", "*") for z in sorted({row[3] for row in PEOPLE})]
    ),
}


def released(**keys: object) -> tuple[Outcome, list[Row]]:
    parameters = parse_parameters(PARAMETERS, {"k": 2, **keys}, "test")
    roles = dict.fromkeys(COLUMNS, Role.QUASI_IDENTIFIER)
    source = MemorySource.of(COLUMNS, PEOPLE)
    given = MethodInput(roles, TREES, parameters, source=source)
    found = KAnonymity().decide(given, CancelToken(), silent)
    rows: list[Row] = []
    recoding = found.recoding
    if isinstance(recoding, TupleRecoding):
        places = zip(recoding.target.tolist(), recoding.rows.tolist(), strict=True)
        for target, some in places:
            codes = recoding.targets[target].tolist()
            row = tuple(texts[c] for texts, c in zip(recoding.labels, codes, strict=True))
            rows += [row] * some if target >= 0 else []
    else:
        assert isinstance(recoding, Recoding)
        gone = {
            tuple(texts[c] for texts, c in zip(recoding.labels, codes, strict=True))
            for codes in recoding.suppressed.tolist()
        }
        for person in PEOPLE:
            row = tuple(
                recoding.mapping.get(name, {}).get(value, value)
                for name, value in zip(COLUMNS, person, strict=True)
            )
            rows += [row] if row not in gone else []
    return found, sorted(rows)


def test_columns_generalised_and_a_person_suppressed() -> None:
    """The one of September 1964 among the Asian women leaves."""
    levels = {"Race": 0, "DOB": 1, "Sex": 0, "ZIP": 2}
    found, rows = released(levels=levels, max_suppression=0.12)
    assert found.result["rows_suppressed"] == 1
    shown = ("asian 64/04 F", "asian 63/03 M", "black 64/09 F", "white 64/09 F")
    assert rows == table("\n".join(f"{each} 941**" for each in shown for _ in range(2)))
    with pytest.raises(RefusedError):
        released(levels=levels)


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        (
            {"model": "AG", "max_level": {"Race": 0, "Sex": 0}},
            [
                ("asian 64 F 941**", 3),
                ("asian 63 M 941**", 2),
                ("black 64 F 941**", 2),
                ("white 64 F 941**", 2),
            ],
        ),
        (
            {"model": "AG_CS"},
            [
                ("asian * F *", 3),
                ("asian 63/03 M 9413*", 2),
                ("black 64/09 F 9413*", 2),
                ("white 64/09 F *", 2),
            ],
        ),
        (
            {"model": "CG"},
            [
                ("asian 64 F 941**", 3),
                ("asian 63/03 M 94139", 2),
                ("black 64/09/27 F 9413*", 2),
                ("white 64/09/27 F 941**", 2),
            ],
        ),
        (
            {"model": "AS", "max_level": {"Race": 0}},
            [("asian * F *", 3), ("asian * M *", 2), ("black * F *", 2), ("white * F *", 2)],
        ),
    ],
)
def test_the_least_loss_is_what_the_text_shows(
    keys: dict[str, object], expected: list[tuple[str, int]]
) -> None:
    found, rows = released(**keys)
    assert rows == table("\n".join(line for line, times in expected for _ in range(times)))
    assert found.result["proven_optimal"] is True


def test_fewer_cells_are_suppressed_than_in_the_text() -> None:
    """There fourteen of the 36 cells are ``*``; twelve are enough."""
    found, rows = released(model="CS")
    assert sum(cell == "*" for row in rows for cell in row) == 12
    assert found.result["proven_optimal"] is True


def test_without_generalisation_no_row_can_stay() -> None:
    with pytest.raises(RefusedError):
        released(model="TS", max_suppression=1)
