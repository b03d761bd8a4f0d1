"""A page of the report as a PDF document: A4, numbered, with an outline."""

from __future__ import annotations

from io import BytesIO

from reportlab.lib.pagesizes import A4
from reportlab.lib.units import mm
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import BaseDocTemplate, Flowable, Frame, PageTemplate, Paragraph

from dpdesk.core.language import ENGLISH, languages, voice_of
from dpdesk.core.shown import LONGEST_TEXT, LONGEST_VALUE, with_short_words
from dpdesk.report.page_tree import Node, parse_page
from dpdesk.report.pdf.flow import (
    BOLD,
    HAIRLINE,
    MUTED,
    PLAIN,
    Flow,
    Heading,
    covered,
    kept_together,
    style,
    width_of,
)

_MARGIN, _HEAD, _FOOT = 18 * mm, 20 * mm, 18 * mm
_LEVELS = {"title": 0, "h2": 0, "h3": 1}
_SIZE = 7.5
_LONGEST = LONGEST_TEXT + 100
"""A text that the page has cut, with the words that say so."""


def pdf_of(page: bytes) -> bytes:
    """The PDF of a page that :func:`dpdesk.report.pages.render` made.

    The same page gives the same bytes. What the page shows on demand is printed; of a text of more
    than 50,000 characters its beginning. ValueError for a page with something that cannot be
    printed.
    """
    root = parse_page(page)
    main, title = root.find("main"), root.find("title")
    if main is None or title is None:
        raise ValueError("the page has no title or no content")
    _cut_long(main)
    language = next((n.attributes.get("lang", "") for n in root.all("html")), "")
    width = A4[0] - 2 * _MARGIN
    flow = Flow(width)
    blocks = kept_together(flow.of(main), width)
    if flow.glyphs.lacking:
        blocks.append(_note(flow.glyphs.lacking, language))
    badge = next((n.text() for n in main.all("span") if "badge" in n.classes), "")
    return _built(blocks, title.text(), badge, language)


def _cut_long(node: Node) -> None:
    """Cut values of so many characters that laying them out on paper would take for ever."""
    for j, child in enumerate(node.children):
        if isinstance(child, Node):
            _cut_long(child)
        elif len(child) > LONGEST_VALUE:
            cut = f"{child[:_LONGEST]}…" if len(child) > _LONGEST else child
            node.children[j] = with_short_words(cut)


def _note(lacking: int, language: str) -> Flowable:
    words = voice_of(language if language in languages() else ENGLISH).text(
        "{n} characters of names and values are not in the fonts of this document and "
        "are drawn as {sign}; the HTML page shows them.",
        n=lacking,
        sign="\ufffd",
    )
    return Paragraph(words, style("small"))


def _built(blocks: list[Flowable], title: str, badge: str, language: str) -> bytes:
    out = BytesIO()
    document = _Document(out, title, badge, language)
    document.build(blocks, canvasmaker=document.canvas)
    return out.getvalue()


class _Document(BaseDocTemplate):  # type: ignore[misc]
    """Frames, head and foot of every page, and the outline."""

    def __init__(self, out: BytesIO, title: str, badge: str, language: str) -> None:
        super().__init__(
            out,
            pagesize=A4,
            title=title,
            author="DPDesk",
            creator="DPDesk",
            lang=language,
            subject=badge or title,
        )
        width, height = A4
        frame = Frame(
            _MARGIN, _FOOT, width - 2 * _MARGIN, height - _FOOT - _HEAD,
            leftPadding=0, rightPadding=0, topPadding=0, bottomPadding=0,
        )  # fmt: skip
        self.addPageTemplates([PageTemplate("page", [frame])])
        self._words = (title, badge)
        self._entries = 0

    def canvas(self, *given: object, **named: object) -> _Numbered:
        """The canvas of this document; its bytes depend on nothing but the page."""
        made = _Numbered(*given, **(named | {"invariant": 1}))
        made.words = self._words
        made.setViewerPreference("DisplayDocTitle", "true")
        made.showOutline()
        return made

    def afterFlowable(self, flowable: Flowable) -> None:
        """Put headings into the outline."""
        if not isinstance(flowable, Heading):
            return
        self._entries += 1
        key = f"heading-{self._entries}"
        self.canv.bookmarkPage(key)
        level = _LEVELS[flowable.style.name]
        self.canv.addOutlineEntry(flowable.entry, key, level, closed=level == 0)


class _Numbered(Canvas):  # type: ignore[misc]
    """Draws head and foot when the number of pages is known."""

    words: tuple[str, str]

    def __init__(self, *given: object, **named: object) -> None:
        super().__init__(*given, **named)
        self._pages: list[dict[str, object]] = []

    def showPage(self) -> None:
        """Keep the page open until the end."""
        self._pages.append(dict(self.__dict__))
        self._startPage()

    def save(self) -> None:
        """Draw head and foot of all pages, and finish."""
        for number, page in enumerate(self._pages, start=1):
            self.__dict__.update(page)
            self._draw_frame(number, len(self._pages))
            super().showPage()
        super().save()

    def _draw_frame(self, number: int, pages: int) -> None:
        title, badge = self.words
        width, height = A4
        self.saveState()
        self.setFillColor(MUTED)
        self.setFont(PLAIN, _SIZE)
        room = width - 2 * _MARGIN - (width_of(badge, _SIZE, BOLD) + 12 if badge else 0)
        self.drawString(_MARGIN, height - 13 * mm, _cut(title, room))
        of = f"{number} / {pages}"
        self.drawRightString(width - _MARGIN, 10 * mm, of)
        if badge:
            self.setFont(BOLD, _SIZE)
            self.drawRightString(width - _MARGIN, height - 13 * mm, badge)
        self.setStrokeColor(HAIRLINE)
        self.line(_MARGIN, height - 15 * mm, width - _MARGIN, height - 15 * mm)
        self.restoreState()


def _cut(text: str, room: float) -> str:
    """The text as far as there is room for it."""
    if width_of(text, _SIZE) <= room:
        return text
    while text and width_of(f"{text}…", _SIZE) > room:
        text = text[:-1]
    return f"{text}…"


# What the printing process does; see :mod:`dpdesk.core.subprocesses`.
#
# Fonts are read when the process starts, while the asker is still busy with something else.


__all__ = ["pdf_of"]

covered()
