from __future__ import annotations

from dpdesk.cli.printing import columns, one_line, profile_text, risk_text
from dpdesk.core.schema import (
    ColumnProfile,
    ColumnType,
    DataProfile,
    Role,
    RoleSuggestion,
    ValueCount,
)


def test_columns_are_aligned() -> None:
    assert columns([("a", "1"), ("long", "1,000")], right=(1,)) == "a         1\nlong  1,000"


def test_what_cannot_be_printed_does_not_reach_the_terminal() -> None:
    assert one_line("a\x1b[31mb\nc", 20) == "a·[31mb·c"
    assert one_line("abcdef", 4) == "abc…"


def test_a_profile_gives_sizes_shares_and_reasons() -> None:
    column = ColumnProfile(
        "id",
        ColumnType.INTEGER,
        200,
        20,
        180,
        100,
        (ValueCount("7", 3),),
        RoleSuggestion(Role.IDENTIFIER, "50 % of the values are unique."),
    )
    text = profile_text(DataProfile("p.csv", 200, (column,), {"delimiter": ";"}))
    assert "p.csv: 200 rows, 1 column\n" in text
    assert "delimiter ';'" in text
    row = next(line for line in text.splitlines() if line.startswith("id"))
    assert row.split() == ["id", "integer", "10", "%", "180", "50", "%", "7", "identifier"]
    assert "id: 50 % of the values are unique." in text


def test_risk_stands_side_by_side() -> None:
    before = {"rows": 10, "highest_risk": 1.0, "class_sizes": [{"size": "1", "rows": 4}]}
    after = {"rows": 8, "highest_risk": 0.2, "class_sizes": [{"size": "1", "rows": 0}]}
    lines = risk_text({"before": before, "after": after}, {}, {}).splitlines()
    assert lines[0].split() == ["before", "after"]
    assert lines[1].split() == ["rows", "10", "8"]
    assert lines[2].split()[-4:] == ["100", "%", "20", "%"]
    assert lines[-1].split() == ["1", "4", "0"]


def test_risk_of_rows_that_match_by_missing_values_says_that_it_is_of_equal_ones() -> None:
    counted = {"rows": 40, "smallest_class": 7}
    told = "as for someone who knows what is missing"
    for how, said in (("any", True), ("none", False)):
        text = risk_text({}, counted, {"parameters": {"k": 20, "missing_as": how}})
        assert (told in " ".join(text.split())) is said
