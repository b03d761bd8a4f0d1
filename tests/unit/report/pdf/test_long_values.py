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
