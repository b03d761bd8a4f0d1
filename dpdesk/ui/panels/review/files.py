"""The files of a release: what leaves, what stays, how large each is and what it is for."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QCoreApplication

from dpdesk.app.types import ReleaseFacts
from dpdesk.core.jobs import CancelToken, Report
from dpdesk.ui.words.numbers import grouped, marked

MOST_FILES = 200
translate = QCoreApplication.translate


@dataclass(frozen=True)
class FileLine:
    """A file of a release; ``size`` in bytes, None when it cannot be read."""

    name: str
    size: int | None
    sentence: str


@dataclass(frozen=True)
class FileLists:
    """The two parts; ``internal`` is None when that part is not at hand."""

    release: Path
    public: tuple[FileLine, ...]
    internal: tuple[FileLine, ...] | None


@dataclass(frozen=True)
class ListFiles:
    """Work for a background thread: look at both folders."""

    release: Path
    facts: ReleaseFacts

    def __call__(self, token: CancelToken, report: Report) -> FileLists:
        """The lists; a folder that cannot be read has none."""
        internal = None if self.facts.internal is None else _lines(self.facts.internal, token)
        return FileLists(self.release, _lines(self.facts.public, token), internal)


def _lines(folder: Path, token: CancelToken) -> tuple[FileLine, ...]:
    found: list[FileLine] = []
    try:
        for path in sorted(folder.rglob("*")):
            token.check()
            if len(found) < MOST_FILES and not path.is_dir():
                name = path.relative_to(folder).as_posix()
                found.append(FileLine(name, _size(path), purpose(name)))
    except OSError:
        return tuple(found)
    return tuple(found)


def _size(path: Path) -> int | None:
    try:
        return path.lstat().st_size
    except OSError:
        return None


def purpose(name: str) -> str:
    """What a file is for, in one sentence."""
    texts = {
        "manifest.json": translate(
            "Review", "What the release is and guarantees, and the hash of each public file."
        ),
        "microdata.csv": translate("Review", "The protected table: the data that people get."),
        "variables.json": translate("Review", "Labels of the columns and of their codes."),
        "microdata.csv-metadata.json": translate(
            "Review", "The same, for programs that know CSV on the Web."
        ),
        "about.html": translate("Review", "For users of the data: what was done, how to use it."),
        "evidence.json": translate("Review", "Plan, facts about the raw data, risk and loss."),
        "report.html": translate("Review", "For the reviewer: risk before and after, charts."),
        "report.pdf": translate("Review", "The same report, for paper and archives."),
        "seal.json": translate("Review", "Hashes that show whether a file was changed."),
    }
    if name.startswith("cuboids/") and name.endswith(".csv"):
        return translate("Review", "A table with noise: every declared cell, and its value.")
    return texts.get(name, translate("Review", "No file that this version of DPDesk writes."))


def size_text(size: int | None) -> str:
    """A size for people: ``403 B``, ``13.2 kB``, ``1.41 MB``."""
    if size is None:
        return "–"
    if size < 1_000:
        return f"{size} B"
    value = float(size)
    for unit in ("kB", "MB", "GB", "TB"):
        value /= 1_000
        if value < 999.5 or unit == "TB":
            return marked(f"{value:.3g}" if value < 999.5 else f"{value:,.0f}") + f" {unit}"
    return f"{grouped(size)} B"
