"""From which texts the pages and sentences of a release are made, told by one fingerprint.

``about.html`` and the guarantee are functions of a manifest, so ``verify`` writes them again and
compares. That says something only where it is done with the same texts: the fingerprint in the
manifest tells, so that a sentence may be worded better without a new version, and releases made
before are neither blamed nor passed by mistake. It depends on nothing but the program.

``python -m dpdesk.app.texts`` prints the part that comes from the code. A build without source
files keeps that line in ``resources/program.sha256``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from hashlib import sha256
from importlib import metadata
from importlib.resources import files
from importlib.resources.abc import Traversable

from dpdesk import __version__
from dpdesk.core.errors import StorageError
from dpdesk.core.language import languages, voice_of
from dpdesk.core.language.catalogue import PAGES, TEXTS, part_of
from dpdesk.core.messages import msg
from dpdesk.core.release import OTHER_WORDS, CheckStatus, ClaimCheck, Manifest, StatedTexts
from dpdesk.core.resources import resource, resource_files
from dpdesk.io.release_folder import MANIFEST

TEXTS_CLAIM = "texts of the program that made it"
_TEXTS_LABEL = "The texts of its pages and sentences are those of this program"
_CODE = ("app", "core", "engine", "io", "report", "verifiers")
_LIBRARIES = ("babel", "jinja2", "markupsafe")
_STORED = "program.sha256"
_PAGES = (".html", ".pdf")
_QUOTES = "it quotes the guarantee, whose words were not compared"


def stated_texts(language: str) -> StatedTexts:
    """What a manifest says of the texts that its release is written with.

    Raises StorageError ``resources.*`` when they cannot be read.
    """
    voice_of(language)
    return StatedTexts(language, texts_fingerprint(language))


def same_texts(manifest: Manifest) -> bool:
    """Whether this program has the texts with which a release was written."""
    stated = manifest.texts
    if stated is None or stated.language not in languages():
        return False
    return stated.sha256 == texts_fingerprint(stated.language)


def texts_check(manifest: Manifest) -> ClaimCheck:
    """Whether the texts that a release names are this program's, which alone can compare them.

    Words may be the same although the texts are others: what is stated of these remains open then.
    """

    def answer(status: CheckStatus, found: str) -> ClaimCheck:
        return ClaimCheck(TEXTS_CLAIM, status, found, MANIFEST, _TEXTS_LABEL)

    try:
        same = same_texts(manifest)
    except StorageError as error:
        return answer(CheckStatus.NOT_CHECKED, error.sentence)
    if not same:
        found = msg(
            "version {version} with texts other than this program's is named, which nothing here "
            "can confirm",
            version=manifest.dpdesk[:60],
        )
        return answer(CheckStatus.NOT_CHECKED, found)
    if manifest.messages is None:
        found = "`messages`, which this program records for its sentences, is missing"
        return answer(CheckStatus.FAILED, found)
    return answer(CheckStatus.CONFIRMED, "they have the fingerprint of this program's texts")


def fairly_judged(manifest: Manifest, checks: Sequence[ClaimCheck]) -> tuple[ClaimCheck, ...]:
    """Checks in which sentences that other texts may have worded do not count as changed."""
    if not any(check.words for check in checks) or same_texts(manifest):
        return tuple(checks)
    return tuple(
        replace(check, status=CheckStatus.NOT_CHECKED, found=OTHER_WORDS, words=False)
        if check.words and check.status is CheckStatus.FAILED
        else check
        for check in checks
    )


def unlike_quoted(checks: Sequence[ClaimCheck], pages: Sequence[ClaimCheck]) -> list[ClaimCheck]:
    """Checks of pages, of which none passes that quotes a guarantee of words not compared."""
    if all(check.found != OTHER_WORDS for check in checks):
        return list(pages)
    return [
        replace(page, status=CheckStatus.NOT_CHECKED, found=_QUOTES)
        if page.path.endswith(_PAGES) and page.status is CheckStatus.CONFIRMED
        else page
        for page in pages
    ]


@cache
def texts_fingerprint(language: str) -> str:
    """SHA-256 of all that decides the words of pages in a language.

    The version, the code that words sentences, the templates, the catalogues of the language, and
    the versions of the libraries that fill the templates and write dates. Line ends and the order
    of files on the disk do not matter.
    """
    catalogues = resource_files(f"translations/{language}", ".po")
    parts = [(f"library {name}", metadata.version(name).encode()) for name in _LIBRARIES]
    parts += [("program", program_fingerprint().encode()), ("version", __version__.encode())]
    parts += _contents(files("dpdesk").joinpath("report"), "report", ".html")
    parts += [
        (entry.name, entry.read_bytes())
        for entry in catalogues
        if part_of(entry.name) in (PAGES, TEXTS)
    ]
    return _hashed(parts)


def program_fingerprint() -> str:
    """The part of the fingerprint that comes from the code.

    StorageError ``resources.missing`` when neither source files nor their code are there.
    """
    package = files("dpdesk")
    parts = [part for name in _CODE for part in _contents(package.joinpath(name), name, ".py")]
    return _hashed(parts) if parts else resource(_STORED).read_text("ascii").strip()


def _contents(folder: Traversable, name: str, suffix: str) -> Iterator[tuple[str, bytes]]:
    """The files below a folder with this ending, by their paths."""
    if not folder.is_dir():
        return
    for entry in folder.iterdir():
        path = f"{name}/{entry.name}"
        if entry.is_dir():
            yield from _contents(entry, path, suffix)
        elif entry.name.endswith(suffix):
            yield path, entry.read_bytes()


def _hashed(parts: Iterable[tuple[str, bytes]]) -> str:
    found = sha256()
    for name, content in sorted(parts):
        text = content.replace(b"\r\n", b"\n")
        found.update(f"{name}\0{len(text)}\0".encode() + text)
    return found.hexdigest()


if __name__ == "__main__":
    print(program_fingerprint())
