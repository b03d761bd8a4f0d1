"""What translators run: find what a language lacks, bring its catalogues up to date, check them.

    python -m tests.tools.translations update de     add new messages, drop those that are gone
    python -m tests.tools.translations check de      what is missing or wrong; exit 1 if anything
    python -m tests.tools.translations lacking de    messages of the program without an entry

``lacking`` writes entries to be filled in and put into one of ``texts-….po``; the kinds of their
placeholders are a guess. How to translate: ``resources/docs/translations.md``.
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import cache
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
    frame_of,
    part_of,
    placeholders,
    trimmed,
)
from dpdesk.core.messages import frame
from tests.tools.messages import Found, page_messages, program_messages, window_messages

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "resources" / "translations"
_WORDS = re.compile(r"[^\W\d_]{2}")
_FIELD = re.compile(r"\{([a-z_][a-z0-9_]*)(?:![rs])?:?([^{}]*)\}")


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
        elif not all(any(_fits(text, one, part) for one in ids) for text in texts):
            yield f"{where} has other placeholders than its translation"
        elif len(ids) == 1 and _edges(ids[0]) != _edges(texts[0]):
            yield f"{where} begins or ends with other blanks than its translation"
    yield from (f"{part}.po: {text[:60]!r} stands there twice" for text in _twice(language, part))
    for found in wanted(part) or ():
        key = found.id if isinstance(found.id, str) else found.id[0]
        if key not in held:
            yield f"{part}.po lacks {key[:60]!r} ({found.file}:{found.line})"


def _twice(language: str, part: str) -> Iterator[str]:
    """Entries that a file has more than once; what reads it takes the last one, and is silent."""
    path = FOLDER / language / f"{part}.po"
    texts = path.read_text("utf-8") if path.is_file() else ""
    found = Counter(
        re.findall(r"^((?:msgctxt .*\n(?:\".*\n)*)?msgid .*\n(?:\".*\n)*)", texts, re.M)
    )
    return (text for text, times in found.items() if times > 1)


def _fits(text: str, english: str, part: str) -> bool:
    """Whether a text has the placeholders of the English one; one of forms may lack some."""
    mine, its = Counter(_fields(text)), Counter(_fields(english))
    return mine <= its if part == FORMS else mine == its


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


@cache
def _said() -> frozenset[tuple[str, ...]]:
    """The frames of all texts in the sources of the program; reading these takes seconds."""
    said: set[tuple[str, ...]] = set()
    for path in (ROOT / "dpdesk").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                with suppress(ValueError):
                    said.add(_unstopped(trimmed(frame(node.value)[0])))
                said.add(_unstopped((node.value.strip(),)))
    return frozenset(said)


def dead(language: str) -> list[str]:
    """Entries of sentences that the program no longer says, by their English texts."""
    said = _said()
    entries = [
        one for path in files_of(language, TEXTS, FORMS) for one in read(language, path.stem)
    ]
    forms = [[one.id] if isinstance(one.id, str) else list(one.id) for one in entries if one.id]
    return [ids[0] for ids in forms if said.isdisjoint(_unstopped(frame_of(each)) for each in ids)]


def _unstopped(key: tuple[str, ...]) -> tuple[str, ...]:
    return (*key[:-1], key[-1].removesuffix("."))


def lacking(language: str) -> list[Found]:
    """Messages of the program that no entry of ``texts….po`` or ``pages.po`` holds."""
    files = [path.read_bytes() for path in files_of(language, PAGES, TEXTS)]
    held = catalogue_from(language, files)

    def is_held(found: Found) -> bool:
        forms = (found.id,) if isinstance(found.id, str) else found.id
        frames = [trimmed(frame(form)[0]) for form in forms]
        if not any(_WORDS.search(part) for part in frames[0]):
            return True
        if len(frames) > 1:
            return tuple(frames) in held.counted
        return frames[0] in held.entries if len(frames[0]) > 1 else frames[0][0] in held.plain

    return [found for found in program_messages(ROOT) if not is_held(found)]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one of the commands; the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.tools.translations")
    parser.add_argument("command", choices=("update", "check", "lacking"))
    parser.add_argument("language")
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
    made = Catalog(charset="utf-8")
    for one in lacking(given.language):
        forms = (one.id,) if isinstance(one.id, str) else one.id
        typed = [_FIELD.sub(_guessed, form.strip()) for form in forms]
        made.add(typed[0] if len(typed) == 1 else typed, "", locations=[(one.file, one.line)])
    write_po(sys.stdout.buffer, made, width=100, omit_header=True)
    return 0


def _guessed(found: re.Match[str]) -> str:
    """A placeholder with the kind that how it is written tells of."""
    name, form = found.groups()
    kind = "int" if form == "," else "number" if form and form[-1] in "gf%" else "name"
    return f"{{{name}:{kind}}}"


if __name__ == "__main__":
    sys.exit(main())
