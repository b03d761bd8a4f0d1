"""Pages: self-contained, escaped, readable without the program."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest

from dpdesk.app.context import AppContext
from dpdesk.report.page_tree import content_of, parse_page
from dpdesk.report.pages import cell_text, flattened, plain_value, render, visible
from dpdesk.report.words import compared_lines
from tests.helpers import releases as town

VOID = {"meta", "br", "img", "link", "hr", "input"}


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    folder = tmp_path_factory.mktemp("pages")
    with AppContext.open(folder / "home") as context:
        made = town.release(town.write_source(folder / "source"), folder / "out", context).out
        yield {
            path.name: path.read_text("utf-8").replace("\u00a0", " ")
            for path in (made / "public/about.html", made / "internal/report.html")
        }


class Reader(HTMLParser):
    """Collects tags, and checks that they are closed in order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.mark.parametrize("name", ["about.html", "report.html"])
def test_pages_are_well_formed_and_need_nothing_from_outside(
    pages: dict[str, str], name: str
) -> None:
    html = pages[name]
    reader = Reader()
    reader.feed(html)
    assert reader.open == []
    assert ("html", {"lang": "en"}) in reader.tags
    tags = {tag for tag, _ in reader.tags}
    assert not tags & {"script", "link", "img", "iframe", "object", "form"}
    for _, attributes in reader.tags:
        assert not {"src", "srcset", "onload", "onclick", "action"} & set(attributes)
    without_namespace = html.replace("http://www.w3.org/2000/svg", "")
    assert not re.search(r"https?:|url\((?!#)|@import", without_namespace)


@pytest.mark.parametrize("name", ["about.html", "report.html"])
def test_ids_are_unique_and_labels_point_somewhere(pages: dict[str, str], name: str) -> None:
    reader = Reader()
    reader.feed(pages[name])
    ids = [attributes["id"] for _, attributes in reader.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    for _, attributes in reader.tags:
        for target in (attributes.get("aria-labelledby") or "").split():
            assert target in ids


def test_every_picture_has_its_table(pages: dict[str, str]) -> None:
    html = pages["report.html"]
    assert html.count("<svg") >= 2
    assert html.count("<svg") == html.count("The same numbers as a table")


def test_both_pages_say_claim_assumptions_and_limits(pages: dict[str, str]) -> None:
    for html in pages.values():
        for heading in ("Claim", "Assumes", "Does not cover"):
            assert f"<h3>{heading}</h3>" in html
        assert "covers at least 5 rows" in html


def test_the_report_is_marked_internal_and_the_other_is_not(pages: dict[str, str]) -> None:
    assert "INTERNAL" in pages["report.html"]
    assert "INTERNAL" not in pages["about.html"]


def test_the_report_shows_roles_mappings_and_checks(pages: dict[str, str]) -> None:
    html = pages["report.html"]
    assert town.IDENTIFIER in html
    assert "not released" in html
    assert town.SUPPRESSED_TOWN in html  # the reviewer sees what the hierarchy did to it
    assert "✓&nbsp;<span>confirmed</span>" in html


def test_the_page_for_users_describes_the_columns_of_the_file(pages: dict[str, str]) -> None:
    html = pages["about.html"]
    for text in ("age", "town", "illness", "Zqnorthby", "quasi-identifier", "as in the source"):
        assert text in html


def test_a_value_that_a_template_lacks_is_an_error_and_not_a_blank() -> None:
    with pytest.raises(Exception, match="undefined"):
        render("about.html", {"title": "x"})


@pytest.mark.parametrize(
    ("value", "shown"),
    [("", "(empty)"), (" a", "␣a"), ("a ", "a␣"), ("  ", "␣␣"), ("a b", "a b"), ("0", "0")],
)
def test_values_that_cannot_be_seen_are_shown(value: str, shown: str) -> None:
    assert visible(value) == shown


@pytest.mark.parametrize("language", ["en", "de"])
def test_names_turn_no_words_around_them_on_any_page(language: str, tmp_path: Path) -> None:
    source = town.write_source(tmp_path / "source")
    plan, data = source.read_text("utf-8"), (source.parent / town.SOURCE)
    source.write_text(
        f'language = "{language}"\n{plan}'.replace("\nage =", '\n"a\u202ege" =').replace(
            "\ntown =", '\n"מין" ='
        ),
        "utf-8",
    )
    text = data.read_text("utf-8")
    data.write_text(text.replace(",age,town,", ",a\u202ege,מין,", 1), "utf-8")
    with AppContext.open(tmp_path / "home") as context:
        made = town.release(source, tmp_path / "out", context).out
    for page in (made / "public/about.html", made / "internal/report.html"):
        html = page.read_text("utf-8")
        assert "\u202e" not in html
        assert r"a\u202ege" in html
        assert "<bdi>מין</bdi>" in html
        assert parse_page(page.read_bytes()).find("bdi") is not None
        assert f'lang="{language}"' in html
        assert "<bdi>מין</bdi>" in content_of(page.read_bytes(), "x-")


def test_plain_values_read_as_words() -> None:
    assert plain_value([""]) == "(empty)"
    assert plain_value(["", "98"]) == "(empty), 98"
    assert plain_value([]) == "none"
    assert plain_value({"a": [1, 2.5, None], "b": True}) == "a: 1, 2.5, –; b: yes"
    assert plain_value({"a": 1, "b": True}) == "a: 1, b: yes"
    assert plain_value([]) == plain_value({}) == "none"
    assert cell_text(1234567) == "1,234,567"
    assert cell_text(None) == "–"
    assert dict(flattened({"a_b": {"c": 1}})) == {"a b, c": 1}


def test_risk_is_shown_before_and_after_side_by_side(pages: dict[str, str]) -> None:
    html = pages["report.html"]
    assert '<th scope="col" class="n">Before</th><th scope="col" class="n">After</th>' in html
    lines = compared_lines({"before": {"rows": 3, "a": 1}, "after": {"rows": 2, "b": [{"x": 1}]}})
    assert lines == [("rows", "3", "2"), ("a", "1", "–")]


def test_a_page_is_bytes_that_can_be_written(tmp_path: Path) -> None:
    from dpdesk.report.pages import template_environment

    template_environment().get_template("base.html")
    data = render("base.html", {"title": "a\ud800b"})
    (tmp_path / "page.html").write_bytes(data)
    assert b"\r" not in data
