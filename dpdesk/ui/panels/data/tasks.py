"""Work of the data panel for background threads: plain callables, no Qt."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from dpdesk.app import describing, opening
from dpdesk.app.describing import Distribution, LinesAround
from dpdesk.app.types import DataProfile, DataStore, SourcePreview
from dpdesk.core.jobs import CancelToken, Report
from dpdesk.core.plan import SourceSpec


@dataclass(frozen=True)
class Spreads:
    """Distributions by column, and the profile that they belong to."""

    profile: DataProfile
    columns: Mapping[str, Distribution]


@dataclass(frozen=True)
class CountSpreads:
    """Count how the values of every column are spread."""

    data: DataStore
    profile: DataProfile

    def __call__(self, token: CancelToken, report: Report) -> Spreads:
        """All distributions."""
        found: dict[str, Distribution] = {}
        for column in self.profile.columns:
            token.check()
            found[column.name] = describing.distribution(self.data, column, token)
        return Spreads(self.profile, found)


@dataclass(frozen=True)
class Previewed:
    """The head of a file, and the way of reading it that was asked for."""

    source: SourceSpec
    preview: SourcePreview = field(repr=False)


@dataclass(frozen=True)
class Preview:
    """Read the head of a file."""

    source: SourceSpec
    base: Path

    def __call__(self, token: CancelToken, report: Report) -> Previewed:
        """The head."""
        return Previewed(self.source, opening.preview(self.source, self.base, token))


@dataclass(frozen=True)
class ShowLines:
    """Read the lines around the one that a problem names."""

    source: SourceSpec
    base: Path
    line: int
    encoding: str

    def __call__(self, token: CancelToken, report: Report) -> LinesAround:
        """The lines."""
        return describing.lines_around(self.source, self.base, self.line, self.encoding, token)
