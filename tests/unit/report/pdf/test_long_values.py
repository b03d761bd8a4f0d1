"""Values of a size that no page has room for: cut on paper, and the rest of the page is there."""

from __future__ import annotations

import io

import pypdf
import pytest

from dpdesk.report.pdf.document import pdf_of

PAGE = (
    "<!doctype html><html lang='en'><head><title>T</title></head><body><main><h1>T</h1>"
    "<p>{0}</p><table><tbody><tr><td>{0}</td><td>3</td></tr></tbody></table><p>the end</p>"
    "</main></body></html>"
)


@pytest.mark.parametrize("value", ["x" * 1_000_000, "word " * 200_000, "ä" * 1_000_000])
def test_a_text_of_a_megabyte_is_cut_on_paper(value: str) -> None:
    made = pdf_of(PAGE.format(value).encode())
    text = "".join(page.extract_text() for page in pypdf.PdfReader(io.BytesIO(made)).pages)
    assert "the end" in text
    assert "…" in text
    assert len(text) < 120_000


@pytest.mark.parametrize("words", [1, 700, 800, 3000])
def test_a_claim_of_any_length_goes_on_on_the_next_sheets(words: int) -> None:
    """As that of a plan with hundreds of quasi-identifiers, all of which it names."""
    claim = f"<p class='claim'>{'column ' * words}</p><p>the end</p>"
    page = PAGE.format("").replace("<p></p>", claim)
    made = pypdf.PdfReader(io.BytesIO(pdf_of(page.encode())))
    text = "".join(each.extract_text() for each in made.pages)
    assert text.count("column") == words
    assert text.count("the end") == 2
    assert len(made.pages) >= words // 700


def test_a_word_without_end_is_cut_wherever_it_stands() -> None:
    long = f"only sex and {'y' * 40_000} of a person"
    made = pdf_of(PAGE.format(long).replace("<p>", "<p class='claim'>").encode())
    text = "".join(page.extract_text() for page in pypdf.PdfReader(io.BytesIO(made)).pages)
    assert text.count("y") < 3_000
    assert "of a person" in text
