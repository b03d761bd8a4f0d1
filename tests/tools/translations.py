"""What translators run: find what a language lacks, bring its catalogues up to date, check them.

    python -m tests.tools.translations update de     add new messages, drop those that are gone
    python -m tests.tools.translations check de      what is missing or wrong; exit 1 if anything
    python -m tests.tools.translations candidates de [PART] [--po]
                                                     sentences of the program without an entry

``candidates`` reads the sentences that the program makes out of its sources, as templates whose
kinds of placeholders are a guess; PART is one of its classes (see :data:`CLASSES`). With ``--po``
it writes entries to be filled in and put into ``texts.po``. How to translate:
``resources/docs/translations.md``.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from io import BytesIO
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.pofile import read_po, write_po

from dpdesk.core.language.catalogue import (
    FORMS,
    PAGES,
    TEXTS,
    WINDOW,
    catalogue_from,
    part_of,
)
from dpdesk.core.language.speaker import Voice
from dpdesk.core.language.templates import placeholders
from tests.tools.messages import CLASSES, Found, candidates, page_messages, window_messages

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "resources" / "translations"


def read(language: str, part: str) -> Catalog:
    """A catalogue of the checkout; empty when there is none."""
    path = FOLDER / language / f"{part}.po"
    if not path.is_file():
        return Catalog(locale=language, charset="utf-8")
    with path.open("rb") as file:
        return read_po(file, locale=language)


def files_of(language: str, *parts: str) -> list[Path]:
    """The files of some parts of a language."""
    found = sorted((FOLDER / language).glob("*.po"))
    return [path for path in found if part_of(path.name) in parts]


def wanted(part: str) -> list[Found] | None:
    """The messages that a part must hold; None for one that no source lists in full."""
    return {PAGES: page_messages, WINDOW: window_messages}.get(part, lambda _: None)(ROOT)


def updated(language: str, part: str) -> Catalog:
    """The catalogue with all messages that it must hold, and no other one."""
    old, messages = read(language, part), wanted(part)
    if messages is None:
        return old
    new = Catalog(locale=language, charset="utf-8", header_comment=old.header_comment)
    for found in messages:
        key = found.id if isinstance(found.id, str) else found.id[0]
        known = old.get(key)
        text = known.string if known is not None and known.id == found.id else ""
        new.add(found.id, text or "", locations=[(found.file, found.line)])
    return new


def write(catalogue: Catalog, language: str, part: str) -> Path:
    """Write a catalogue into the checkout, in order of its messages."""
    out = BytesIO()
    write_po(out, catalogue, width=100, omit_header=True)
    path = FOLDER / language / f"{part}.po"
    path.parent.mkdir(parents=True, exist_ok=True)
    head = _HEAD.format(language=language, forms=catalogue.plural_forms)
    path.write_text(head + out.getvalue().decode(), encoding="utf-8")
    return path


_HEAD = """\
msgid ""
msgstr ""
"Project-Id-Version: DPDesk\\n"
"Content-Type: text/plain; charset=UTF-8\\n"
"Content-Transfer-Encoding: 8bit\\n"
"Language: {language}\\n"
"Plural-Forms: {forms}\\n"

"""


def faults(language: str, part: str) -> Iterator[str]:
    """What is wrong with a file, such as ``pages`` or ``texts-io``."""
    held = read(language, part)
    for message in held:
        if not message.id:
            continue
        ids = [message.id] if isinstance(message.id, str) else list(message.id)
        texts = [message.string] if isinstance(message.string, str) else list(message.string)
        where = f"{part}.po: {ids[0][:60]!r}"
        if message.fuzzy:
            yield f"{where} is fuzzy"
        if not all(texts):
            yield f"{where} is not translated"
        elif any(_fields(text) not in [_fields(one) for one in ids] for text in texts):
            yield f"{where} has other placeholders than its translation"
        elif len(ids) == 1 and _edges(ids[0]) != _edges(texts[0]):
            yield f"{where} begins or ends with other blanks than its translation"
    for found in wanted(part) or ():
        key = found.id if isinstance(found.id, str) else found.id[0]
        if key not in held:
            yield f"{part}.po lacks {key[:60]!r} ({found.file}:{found.line})"


def _fields(text: str) -> list[str]:
    import string

    typed = placeholders(text)
    if typed:
        return sorted(f"{name}:{kind}" for name, kind in typed)
    try:
        return sorted(name or "" for _, name, _, _ in string.Formatter().parse(text) if name)
    except ValueError:
        return []


def _edges(text: str) -> tuple[str, str]:
    return text[: len(text) - len(text.lstrip())], text[len(text.rstrip()) :]


def lacking(language: str, part: str | None = None) -> list[Found]:
    """Sentences of the program that no entry of ``texts.po`` or ``pages.po`` holds."""
    held = catalogue_from(
        language, [path.read_bytes() for path in files_of(language, PAGES, TEXTS)]
    )
    speaker = Voice(held)
    return [
        found
        for found in candidates(ROOT, part)
        if isinstance(found.id, str)
        and found.id not in held.plain
        and speaker.known(found.example) is None
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one of the commands; the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.tools.translations")
    parser.add_argument("command", choices=("update", "check", "candidates"))
    parser.add_argument("language")
    parser.add_argument("part", nargs="?", choices=tuple(CLASSES))
    parser.add_argument("--po", action="store_true")
    given = parser.parse_args(arguments)
    if given.command == "update":
        for part in (PAGES, WINDOW):
            print(write(updated(given.language, part), given.language, part))
        return 0
    if given.command == "check":
        found = [
            fault
            for path in files_of(given.language, PAGES, TEXTS, WINDOW, FORMS)
            for fault in faults(given.language, path.stem)
        ]
        print("\n".join(found) or "Nothing is missing.")
        return 1 if found else 0
    _print_candidates(lacking(given.language, given.part), po=given.po)
    return 0


def _print_candidates(found: Sequence[Found], *, po: bool) -> None:
    if po:
        made = Catalog(charset="utf-8")
        for one in found:
            made.add(one.id, "", locations=[(one.file, one.line)])
        write_po(sys.stdout.buffer, made, width=100, omit_header=True)
        return
    for one in found:
        print(f"{one.kind:10} {one.file}:{one.line}: {one.id}")
    counts = {kind: sum(one.kind == kind for one in found) for kind in CLASSES}
    print("; ".join(f"{kind}: {count}" for kind, count in counts.items()))


if __name__ == "__main__":
    sys.exit(main())
