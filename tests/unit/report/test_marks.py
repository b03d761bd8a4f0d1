"""What is code in a sentence, and where no line may break."""

from __future__ import annotations

import pytest
from markupsafe import Markup, escape

from dpdesk.core.charts import format_figure
from dpdesk.core.language import Untranslated
from dpdesk.report.pages import isolated, marked, tied, tied_text


def test_names_in_backticks_are_code_and_escaped() -> None:
    assert marked("`a<b` and `c`.") == Markup("<code>a&lt;b</code> and <code>c</code>.")
    assert escape(marked("`a`")) == "<code>a</code>"  # nobody escapes it again


def test_a_sentence_without_pairs_stays_as_it_is() -> None:
    assert marked("a ` alone") == "a ` alone"
    assert escape(marked("a < b")) == "a &lt; b"
    assert marked("``") == "``"


def test_a_sentence_that_a_language_lacks_says_so_with_its_code() -> None:
    assert marked(Untranslated("see `x`")) == Markup('<span lang="en">see <code>x</code></span>')


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("30.44 % of 5 rows", "30.44~% of 5~rows"),
        ("± 38 Personen (ε = 1)", "±~38~Personen (ε~=~1)"),
        ("7 rowsets, 5 %s", "7 rowsets, 5 %s"),
        ("dimension = 3 and k = 3", "dimension = 3 and k~=~3"),
    ],
)
def test_a_number_stays_with_its_unit(text: str, shown: str) -> None:
    assert tied_text(text) == shown.replace("~", "\u00a0")


def test_tags_styles_code_and_values_keep_their_blanks() -> None:
    kept = (
        '<style>a { b: 5 % }</style><p title="5 %"><code>5 %</code>'
        '<span class="value">5 %</span></p>'
    )
    assert tied(kept) == kept
    assert tied("<p>5 %</p>") == "<p>5\u00a0%</p>"


@pytest.mark.parametrize(
    ("share", "shown"),
    [
        (0.0, "0 %"),
        (0.00004, "<0.01 %"),
        (0.3344, "33.44 %"),
        (0.99996, ">99.99 %"),
        (1.0, "100 %"),
    ],
)
def test_a_share_is_nothing_or_all_only_where_it_is(share: float, shown: str) -> None:
    assert format_figure(share, "share") == shown


@pytest.mark.parametrize(
    ("number", "shown"),
    [
        (0.0, "0"),
        (0.00012345, "0.00012"),
        (0.000001, "0.0000010"),
        (9.99e-7, "<0.000001"),
        (3e-40, "<0.000001"),
        (-3e-40, ">-0.000001"),
        (1234567.8, "1,234,568"),
    ],
)
def test_a_number_next_to_nothing_is_said_to_be_less_than_a_millionth(
    number: float, shown: str
) -> None:
    assert format_figure(number, "number") == shown


def test_a_share_that_falls_by_next_to_nothing_is_not_none() -> None:
    assert format_figure(-0.00001, "share") == ">-0.01 %"


def test_what_turns_the_direction_of_others_is_written_as_its_number() -> None:
    page = '<title>a\u202eb</title><p title="x\u2067y">\u202etxt \u2066 5</p><text>\u202d</text>'
    shown = r'<title>a\u202eb</title><p title="x\u2067y">\u202etxt \u2066 5</p><text>\u202d</text>'
    assert isolated(page) == shown
    assert (
        isolated("<p>a\x1b[2Kb\x00\u200b\ufeff\x9b</p>")
        == r"<p>a\u001b[2Kb\u0000\u200b\ufeff\u009b</p>"
    )
    marks = "<p>a\u200eb \u200f c</p>"  # these turn nothing but themselves
    assert isolated(marks) == marks


def test_words_from_right_to_left_stand_apart_from_numbers_beside_them() -> None:
    page = (
        '<title>גיל 5</title><p class="גיל">גיל, מין אחר 5: (סוג)</p>'
        "<svg><title>גיל</title><text>גיל</text></svg><code>גיל</code> עמר"
    )
    once = (
        '<title>גיל 5</title><p class="גיל"><bdi>גיל</bdi>, <bdi>מין אחר</bdi> 5: '
        "(<bdi>סוג</bdi>)</p>"
        "<svg><title>גיל</title><text>גיל</text></svg><code><bdi>גיל</bdi></code> <bdi>עמר</bdi>"
    )
    assert isolated(page) == once
    assert isolated(once) == once
    assert isolated("<p>Größe 5</p>") == "<p>Größe 5</p>"
