"""Pages as PDF: complete, the same every time, and safe with any text."""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pypdf import PdfReader
from reportlab.platypus import Paragraph

from dpdesk.app.context import AppContext
from dpdesk.report.page_tree import Node, parse_page
from dpdesk.report.pdf.document import pdf_of
from dpdesk.report.pdf.flow import Drawing, Glyphs, marked_up, points, table
from tests.helpers import releases as town


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[bytes]:
    folder = tmp_path_factory.mktemp("printed")
    with AppContext.open(folder / "home") as context:
        made = town.release(town.write_source(folder / "source"), folder / "out", context).out
        yield (made / "internal/report.html").read_bytes()


def small_page(content: str) -> bytes:
    head = '<html lang="en"><head><title>A title</title></head><body><main>'
    return f"{head}{content}</main></body></html>".encode()


def read(pdf: bytes) -> PdfReader:
    return PdfReader(BytesIO(pdf))


def text_of(pdf: bytes) -> str:
    return " ".join(page.extract_text() for page in read(pdf).pages)


def squeezed(text: str) -> str:
    """Without white space: where lines break is a matter of paper."""
    return "".join(text.split()).replace("\u00a0", "")


def texts(node: Node) -> Iterator[str]:
    for child in node.elements():
        if child.tag in ("p", "li", "td", "th", "h1", "h2", "h3", "dt", "dd", "summary", "text"):
            yield child.text()
        elif child.tag != "title":
            yield from texts(child)


def test_every_text_of_the_report_is_printed(page: bytes) -> None:
    printed = squeezed(text_of(pdf_of(page)))
    main = parse_page(page).find("main")
    assert main is not None
    wanted = [squeezed(text) for text in texts(main)]
    assert len(wanted) > 100
    assert [text for text in wanted if len(text) < 60 and text not in printed] == []


def test_the_same_page_gives_the_same_bytes(page: bytes) -> None:
    assert pdf_of(page) == pdf_of(page)


def test_headings_are_the_outline_and_every_page_has_its_number_and_warning(page: bytes) -> None:
    pdf = read(pdf_of(page))
    titles = [entry.title for entry in pdf.outline if not isinstance(entry, list)]
    main = parse_page(page).find("main")
    assert main is not None
    assert titles[1:] == [heading.text() for heading in main.all("h2")]
    for number, sheet in enumerate(pdf.pages, start=1):
        assert f"{number} / {len(pdf.pages)}" in sheet.extract_text()
        assert "INTERNAL" in sheet.extract_text()
    assert pdf.metadata is not None
    assert str(pdf.metadata.title).startswith("Internal report")


@settings(max_examples=25, deadline=None)
@given(st.text(max_size=300), st.text(alphabet="ab<&>\u200b語", max_size=3000))
def test_any_text_can_be_printed(words: str, long: str) -> None:
    from markupsafe import escape

    cells = (
        f"<table><tbody><tr><th>{escape(long)}</th><td>{escape(words)}</td></tr></tbody></table>"
    )
    made = pdf_of(small_page(f"<h2>{escape(words)}</h2><p>{escape(long)}</p>{cells}"))
    assert len(read(made).pages) >= 1


def test_characters_that_the_fonts_lack_are_counted_and_said() -> None:
    made = text_of(pdf_of(small_page("<p>語語 and Łódź ε ≤ ℓ′ ✓ △</p>")))
    assert "2 characters of names and values are not in the fonts" in made
    assert "Łódź ε ≤ ℓ′ ✓ △" in made


def test_a_chart_with_an_unknown_element_is_refused() -> None:
    svg = '<figure><figcaption><strong>Why?</strong>So.</figcaption><svg viewBox="0 0 9 9">'
    with pytest.raises(ValueError, match="<ellipse>"):
        pdf_of(small_page(f"{svg}<ellipse></ellipse></svg></figure>"))


def test_pages_that_do_not_close_what_they_open_are_refused() -> None:
    with pytest.raises(ValueError, match="closes"):
        parse_page(b"<p><b>text</p>")
    with pytest.raises(ValueError, match="is not closed"):
        parse_page(b"<p>text")


def test_corners_of_paths() -> None:
    assert list(points("M1,2l3,-1 -3,-1z")) == [("M", (1, 2)), ("L", (4, 1)), ("L", (1, 0))]
    assert list(points("M0,5H7V1.5")) == [("M", (0, 5)), ("L", (7, 5)), ("L", (7, 1.5))]
    assert list(points("M-1,7 L7,-1 M0,1h6")) == [
        ("M", (-1, 7)),
        ("L", (7, -1)),
        ("M", (0, 1)),
        ("L", (6, 1)),
    ]


def test_a_drawing_is_as_wide_as_the_text_and_keeps_its_shape() -> None:
    svg = Node("svg", {"viewbox": "0 0 720 360"})
    assert Drawing(svg, 480).wrap(1000, 1000) == (480, 240)


def test_tables_take_the_room_they_need_and_no_more() -> None:
    def cells(*values: str) -> str:
        return "<tr>" + "".join(f"<td>{value}</td>" for value in values) + "</tr>"

    def widths(*rows: str) -> list[float]:
        tree = parse_page(f"<table><tbody>{''.join(rows)}</tbody></table>".encode())
        made = table(tree, 400, Glyphs())
        assert made is not None
        assert isinstance(made._cellvalues[0][0], Paragraph)
        return list(made._colWidths)

    assert sum(widths(cells("a", "b"))) < 100
    wide = widths(cells("short", "word " * 200))
    assert sum(wide) == pytest.approx(400)
    assert wide[1] > wide[0]
    assert sum(widths(cells(*["x" * 60] * 9))) == pytest.approx(400)


def test_a_table_without_rows_is_left_out() -> None:
    assert table(parse_page(b"<table><tbody></tbody></table>"), 400, Glyphs()) is None


def test_printing_is_done_by_a_process_of_its_own(page: bytes, tmp_path: Path) -> None:
    from dpdesk.core.jobs import CancelToken
    from dpdesk.report.printing import Printer

    other = small_page("<h2>Żółw</h2><p>Another page, in <code>other</code> letters: Ωλ</p>")
    printer = Printer()
    printer.warm()
    for each in (page, other, page):  # it keeps nothing of the page before
        assert printer.pdf(each, CancelToken()) == pdf_of(each)
    printer.close()


def text_lines(markup: str) -> list[str]:
    page = f'<!DOCTYPE html>\n<html lang="de"><head><title>t</title></head><body><main>{markup}'
    whole = pdf_of(f"{page}</main></body></html>".encode())
    text = "\n".join(each.extract_text() for each in PdfReader(BytesIO(whole)).pages)
    return [line.strip() for line in text.splitlines()]


def test_no_number_with_thin_spaces_is_broken_in_a_narrow_column() -> None:
    markup = (
        "<table><thead><tr><th>a</th></tr></thead>"
        "<tbody><tr><td>17\u202f920\u202f925</td></tr></tbody></table>"
    )
    assert "17 920 925" in text_lines(markup)


def test_letters_of_a_wide_table_shrink_before_a_word_is_broken() -> None:
    words = ["Wahrscheinlichkeit", "Standardabweichung", "Randtabellenfehler"] * 2
    head = "".join(f"<th>{word}</th>" for word in words)
    cells = "<td>1</td>" * len(words)
    markup = f"<table><thead><tr>{head}</tr></thead><tbody><tr>{cells}</tr></tbody></table>"
    found = text_lines(markup)
    assert [found.count(word) for word in words] == [2] * len(words)


def test_names_in_code_and_the_blanks_before_units_are_set_in_mono_and_kept() -> None:
    glyphs = Glyphs()
    content = parse_page(small_page("<p>In <code>a b</code> 30.44\u00a0% of all</p>")).find("p")
    assert content is not None
    words = marked_up(content.children, glyphs)
    assert '<font face="DejaVuSansMono">a b</font>' in words
    assert "30.44\u00a0% of" in words


def test_a_heading_stays_with_the_first_rows_of_its_table() -> None:
    rows = "".join(f"<tr><td>row {n}</td></tr>" for n in range(30))
    listed = f"<table><thead><tr><th>Head</th></tr></thead><tbody>{rows}</tbody></table>"
    for lines in range(40, 54):  # so that the heading comes near the foot of the first page
        before = "<p>words</p>" * lines
        printed = read(pdf_of(small_page(f"{before}<h2>Of rows</h2><p>These are:</p>{listed}")))
        first = next(p.extract_text() for p in printed.pages if "Of rows" in p.extract_text())
        assert "These are:" in first
        assert "row 2" in first


def test_a_row_is_broken_only_where_no_page_could_hold_it() -> None:
    for lines in range(40, 50):
        cells = "<tr><td>{}</td><td>" + "many words " * 30 + "</td></tr>"
        rows = "".join(cells.format(n) for n in range(8))
        content = f"{'<p>words</p>' * lines}<table><tbody>{rows}</tbody></table>"
        for printed in read(pdf_of(small_page(content))).pages:
            assert printed.extract_text().count("many") % 30 == 0
    tall = f"<table><tbody><tr><td>{'many words ' * 4000}</td></tr></tbody></table>"
    assert len(read(pdf_of(small_page(tall))).pages) > 2


def test_no_last_row_stands_alone_on_a_sheet() -> None:
    for count in range(35, 60):
        rows = "".join(f"<tr><td>row {n}</td></tr>" for n in range(count))
        head = "<thead><tr><th>Head</th></tr></thead>"
        listed = f"<table>{head}<tbody>{rows}</tbody></table>"
        for printed in read(pdf_of(small_page(listed))).pages:
            assert printed.extract_text().count("row ") >= 3


def test_figures_on_cards_shrink_before_they_are_broken() -> None:
    card = "<div><dt>Largest error</dt><dd>±\u00a0132,521\u00a0Einheiten</dd></div>"
    printed = text_of(pdf_of(small_page(f"<dl>{card * 4}</dl>"))).replace("\u00a0", " ")
    assert printed.count("± 132,521 Einheiten") == 4


def test_a_page_inside_another_begins_on_a_new_sheet() -> None:
    inner = "<header><h1>Two</h1></header>"
    printed = read(pdf_of(small_page(f"<header><h1>One</h1></header><p>x</p>{inner}")))
    assert ["One" in p.extract_text() for p in printed.pages] == [True, False]


def test_a_document_says_its_title_and_its_language() -> None:
    root = read(pdf_of(small_page("<p>x</p>")))
    assert root.metadata is not None
    assert root.metadata.title == "A title"
    catalog = root.trailer["/Root"].get_object()
    assert catalog["/Lang"] == "en"
    assert catalog["/ViewerPreferences"]["/DisplayDocTitle"]
