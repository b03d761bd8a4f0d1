"""The evidence pack: a release, how it was checked and who answers for it, in one page."""

from __future__ import annotations

from dataclasses import dataclass

from dpdesk.core.language import voice
from dpdesk.core.release import Guarantee
from dpdesk.report.page_tree import content_of
from dpdesk.report.pages import render
from dpdesk.report.review import CheckLine


@dataclass(frozen=True)
class SignatureLine:
    """An event of the review: when, who by which key, what; why it does not count (empty: does).

    ``said`` is what its signer wrote to it, in their own words.
    """

    time: str
    person: str
    key: str
    what: str
    objection: str = ""
    said: str = ""


@dataclass(frozen=True)
class Opinion:
    """What one reviewer decided of one item."""

    person: str
    decision: str
    comment: str


@dataclass(frozen=True)
class ItemLine:
    """An item of the checklist with the shape and class of its status, and what was decided."""

    icon: str
    style: str
    status: str
    question: str
    evidence: str
    advice: str
    opinions: tuple[Opinion, ...]


@dataclass(frozen=True)
class AttackLine:
    """An attack that was tried: what the attacker knows, and what came of it."""

    attack: str
    knows: str
    found: str


@dataclass(frozen=True)
class PackContent:
    """Everything that a pack is made from; ``report`` is the page of the report, made again.

    Where it is empty, ``report_missing`` says why; ``report_language`` is that of the release.
    ``standing`` says where the review stands, ``faults`` what is wrong with release or review,
    ``unlike`` whether something of the release could not be compared, or failed.
    ``release`` is the SHA-256 of the public manifest, ``software`` that of the bill of materials.
    """

    title: str
    method: str
    created: str
    release: str
    standing: str
    faults: tuple[str, ...]
    unlike: bool
    made: str
    signatures: tuple[SignatureLine, ...]
    votes: tuple[Opinion, ...]
    items: tuple[ItemLine, ...]
    policy: str
    checks: tuple[CheckLine, ...]
    attacks: tuple[AttackLine, ...]
    ledger: tuple[tuple[str, str], ...]
    software: str
    components: tuple[tuple[str, str], ...]
    guarantee: Guarantee
    report: bytes
    report_missing: str
    report_language: str


def render_pack(content: PackContent) -> bytes:
    """The page; see :func:`~dpdesk.report.pages.render`.

    Raises ValueError when the report holds what no report of ours does.
    """
    from babel import Locale
    from markupsafe import Markup

    page, written_in = content.report, content.report_language
    inner = Markup(content_of(page, "report-")) if page else ""  # checked tag by tag there
    named = Locale.parse(written_in).get_display_name(voice().language) or written_in
    values = {"pack": content, "inner": inner, "report_in": named}
    return render("pack.html", {**vars(content), **values})
