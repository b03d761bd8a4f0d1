"""Entries of the audit log, and the check of its chain, as texts."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from dpdesk.app.auditing import AuditCheck, AuditEntry, AuditView
from dpdesk.ui.words.numbers import grouped
from dpdesk.ui.words.spoken import said

translate = QCoreApplication.translate


def headings() -> tuple[str, ...]:
    """Headings of the list."""
    return (
        translate("Audit", "Entry"),
        translate("Audit", "Time (UTC)"),
        translate("Audit", "Who"),
        translate("Audit", "Did"),
        translate("Audit", "With what"),
    )


def row_of(entry: AuditEntry) -> tuple[int, str, str, str, str]:
    """A line of the list."""
    return (entry.n, time_words(entry.time), entry.who, deed(entry), entry.subject)


def time_words(text: str) -> str:
    """A time as the log has it, without what all of them share."""
    return text.replace("T", " ").removesuffix("+00:00")


def deed(entry: AuditEntry) -> str:
    """What was done: ``decided (ballot)``."""
    event = entry.facts.get("event")
    word = action_word(entry.action)
    return f"{word} ({event})" if isinstance(event, str) and event else word


def action_word(action: str) -> str:
    """An action in words; one that this version does not know, as it is written."""
    words = {
        "opened": translate("Audit", "opened"),
        "ran": translate("Audit", "ran"),
        "released": translate("Audit", "released"),
        "viewed": translate("Audit", "viewed"),
        "decided": translate("Audit", "decided"),
        "exported": translate("Audit", "exported"),
        "changed": translate("Audit", "changed"),
    }
    return words.get(action, action)


def _fact_word(name: str) -> str:
    words = {
        "sha256": translate("Audit", "SHA-256 of the data"),
        "source": translate("Audit", "SHA-256 of the data"),
        "manifest_sha256": translate("Audit", "SHA-256 of the release's manifest"),
        "release": translate("Audit", "SHA-256 of the release's manifest"),
        "out": translate("Audit", "Written to"),
        "format": translate("Audit", "Format"),
        "command": translate("Audit", "Command"),
        "event": translate("Audit", "Event of the review"),
        "id": translate("Audit", "Id of the event"),
        "person": translate("Audit", "Signed by"),
        "key": translate("Audit", "Fingerprint of the key"),
        "written": translate("Audit", "Anything written"),
        "from": translate("Audit", "From"),
        "what": translate("Audit", "What"),
        "reason": translate("Audit", "Reason"),
    }
    return words.get(name, name)


def entry_words(entry: AuditEntry) -> str:
    """All of an entry, one thing a line."""
    text = translate("Audit", "Entry {n}, {time} UTC: {who} {deed} {subject}")
    lines = [
        text.format(
            n=grouped(entry.n),
            time=time_words(entry.time),
            who=entry.who,
            deed=deed(entry),
            subject=entry.subject,
        )
    ]
    text = translate("Audit", "{what}: {value}")
    for name, value in entry.facts.items():
        lines.append(text.format(what=_fact_word(name), value=_value(value)))
    first = translate("Audit", "none: it is the first one")
    lines.append(text.format(what=translate("Audit", "Hash of this entry"), value=entry.hash))
    before = translate("Audit", "Hash of the entry before it")
    lines.append(text.format(what=before, value=entry.previous or first))
    return "\n".join(lines)


def _value(value: object) -> str:
    if isinstance(value, bool):
        return translate("Audit", "yes") if value else translate("Audit", "no")
    if isinstance(value, int):
        return grouped(value)
    return str(value)


def answer_words(view: AuditView) -> str:
    """One sentence about the log."""
    if view.newest is None:
        return translate(
            "Audit", "Nothing is entered yet: the log begins with the next thing that is done."
        )
    newest = view.newest
    last = translate("Audit", "the last one at {time} UTC: {who} {deed} {subject}.").format(
        time=time_words(newest.time), who=newest.who, deed=deed(newest), subject=newest.subject
    )
    if view.total == 1:
        return translate("Audit", "1 entry, {last}").format(last=last)
    return translate("Audit", "{n} entries, {last}").format(n=grouped(view.total), last=last)


def found_words(view: AuditView) -> str:
    """How many entries a search finds; empty when nothing is searched for."""
    if not (view.search.words or view.search.action):
        return ""
    if view.count == 0:
        return translate("Audit", "No entry is found: search for fewer words.")
    text = translate("Audit", "{n} of {total} entries are found.")
    return text.format(n=grouped(view.count), total=grouped(view.total))


def check_words(check: AuditCheck, advice: str) -> tuple[str, str]:
    """What the check has shown: a look (``ok``, ``caution``, ``fail``) and a plain answer."""
    if check.fault is not None:
        text = translate("Audit", "✕ Broken at entry {n}: {reason}. {advice}")
        return "fail", text.format(
            n=grouped(check.fault.n), reason=said(check.fault.reason), advice=said(advice)
        )
    if check.entries == 0:
        return "ok", translate("Audit", "✓ Intact: there is nothing in it yet.")
    text = translate("Audit", "✓ Intact: the only entry is as it was written.")
    if check.entries > 1:
        text = translate(
            "Audit", "✓ Intact: all {n} entries are as they were written, each after the other."
        ).format(n=grouped(check.entries))
    if not check.notes:
        return "ok", text
    odd = translate("Audit", "△ {note}").format(note=said(check.notes[0]))
    if len(check.notes) > 1:
        more = translate("Audit", "{n} times in all.").format(n=grouped(len(check.notes)))
        odd = f"{odd} {more}"
    return "caution", f"{text} {odd}"
