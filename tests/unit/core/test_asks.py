"""What a method asks for before there is anything to show."""

from __future__ import annotations

from dpdesk.core.asks import Ask, columns_to_publish, open_question
from dpdesk.core.language import listening, speaking
from dpdesk.core.language.speaker import voice
from dpdesk.core.parameters import Condition

ENDS = Ask(("ends",), "Two columns are needed.", least=2)
NODES = Ask(("nodes",), "Give {column} a hierarchy file.", by_file="ends")
THETA = Ask(("theta",), "Which error?", applies=Condition("planner", ("pmost",)))
TABLE = Ask(("rows", "columns"), "Nothing is in the table.")


def test_a_list_is_given_when_it_has_enough_entries() -> None:
    for ends in (None, [], ["from"], ("from",)):
        assert ENDS.sentence({"ends": ends}, {}) == ENDS.text
    assert ENDS.sentence({"ends": ["from", "to"]}, {}) == ""


def test_one_of_several_keys_is_enough_and_a_number_may_be_nothing() -> None:
    assert TABLE.sentence({"rows": [], "columns": ["sex"]}, {}) == ""
    assert TABLE.sentence({"rows": []}, {}) == TABLE.text
    assert Ask(("epsilon",), "How much?").sentence({"epsilon": 0}, {}) == ""


def test_what_does_not_apply_is_not_asked() -> None:
    assert THETA.sentence({}, {}) == ""
    assert THETA.sentence({"planner": "pmost"}, {}) == "Which error?"
    assert THETA.sentence({"planner": "pmost", "theta": 3}, {}) == ""


def test_a_hierarchy_of_the_named_column_answers_and_the_column_is_named() -> None:
    given = {"ends": ["from {x}", "to"]}
    assert NODES.sentence(given, {}) == "Give `from {x}` a hierarchy file."
    assert NODES.sentence(given, {"from {x}"}) == ""
    assert NODES.sentence({**given, "nodes": ["a"]}, {}) == ""


def test_the_first_open_question_is_asked() -> None:
    asks = (ENDS, NODES)
    assert open_question(asks, {}, {}) == (ENDS.text, "ends")
    assert open_question(asks, {"ends": ["a", "b"]}, {}) == (
        "Give `a` a hierarchy file.",
        "nodes",
    )
    assert open_question(asks, {"ends": ["a", "b"]}, {"a"}) is None


def test_the_field_of_columns_is_named_in_german() -> None:
    with speaking("de"), listening() as english:
        said = voice().say(columns_to_publish("dimensions", "Dimensions").text)
    assert "„Dimensionen“" in said
    assert english == []
