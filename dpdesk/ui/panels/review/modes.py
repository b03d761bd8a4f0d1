"""The two modes of a release in words: what each means, which protocol, and by whom."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from dpdesk.app.review.values import Mode, ProtocolFacts, ReviewPicture
from dpdesk.ui.panels.review.deciding import SHAPES

translate = QCoreApplication.translate


def mode_words(mode: Mode) -> str:
    """What a mode means, in a sentence or two."""
    if mode is Mode.APPLY:
        return translate(
            "Review",
            "It has to be made exactly as the protocol says: only source and title may differ, and "
            "the checklist tells whether more does. The reviewers judge these data, not the way.",
        )
    return translate(
        "Review",
        "Every setting is open to review. Once it is approved, the way it was made can be locked "
        "and applied to later data.",
    )


def protocol_words(facts: ProtocolFacts) -> str:
    """Which protocol it is, who locked it and when, and what the signature is worth here."""
    text = translate(
        "Review", "“{title}”, locked by {person} on {date}, protocol {id}; signed {worth}."
    )
    shapes = "✓" if facts.trusted else "△"
    words = text.format(
        title=facts.title or translate("Review", "Without a title"),
        person=facts.person,
        date=f"{facts.made:%Y-%m-%d}",
        id=facts.id[:16],
        worth=facts.signature,
    )
    return f"{shapes} {words}"


def lacks_protocol(picture: ReviewPicture | None) -> bool:
    """Whether the submission applies a protocol that is not on this computer."""
    current = None if picture is None else picture.state.current
    applies = current is not None and current.payload.mode is Mode.APPLY
    return applies and picture is not None and picture.protocol is None


def mode_lines(picture: ReviewPicture) -> tuple[str, ...]:
    """How a submitted release came about, in lines; none before it is submitted."""
    current = picture.state.current
    if current is None:
        return ()
    mode = current.payload.mode
    if mode is Mode.DEVELOP:
        head = translate("Review", "It develops a protocol.")
        return (f"{head} {mode_words(mode)}",)
    head = translate("Review", "It applies a locked protocol.")
    lines = [f"{head} {mode_words(mode)}"]
    if picture.protocol is not None:
        lines.append(protocol_words(picture.protocol))
    else:
        text = translate(
            "Review",
            "△ The protocol {id} is not on this computer, so it cannot be compared here: ask its "
            "maker for the file.",
        )
        lines.append(text.format(id=(current.payload.protocol_sha256 or "")[:16]))
    items = picture.checked.checklist.items
    lines += [f"{SHAPES[one.status]} {one.evidence}" for one in items if one.id == "mode"]
    return tuple(lines)
