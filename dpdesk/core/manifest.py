"""``public/manifest.json`` as a value: what a release states to everyone.

It is read once where a release is opened. ``parameters``, ``result`` and the parameters of the
guarantee are the method's own, and stay plain here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from dpdesk.core.guarantee import Guarantee
from dpdesk.core.shapes import Shape


@dataclass(frozen=True)
class ListedFile(Shape):
    """A public file as the manifest lists it."""

    sha256: str
    bytes: int


@dataclass(frozen=True)
class StatedTexts(Shape):
    """From which texts the sentences of a release are made: their language and a fingerprint."""

    language: str
    sha256: str


@dataclass(frozen=True, kw_only=True)
class Manifest(Shape):
    """A manifest; ``texts`` are None in releases of the first versions.

    ``files`` are all other public files, by their paths; none are listed yet while a release is
    made.
    """

    format: int
    dpdesk: str
    created: str
    title: str
    method: str
    parameters: Mapping[str, object] = field(repr=False)
    guarantee: Guarantee = field(repr=False)
    result: Mapping[str, object] = field(repr=False)
    commitment: str = field(repr=False)
    files: Mapping[str, ListedFile] = field(repr=False)
    texts: StatedTexts | None = field(default=None, repr=False)


NO_MANIFEST = Manifest(
    format=0,
    dpdesk="",
    created="",
    title="",
    method="",
    parameters={},
    guarantee=Guarantee("", {}, "", (), ()),
    result={},
    commitment="",
    files={},
)
"""What a release states whose manifest cannot be read."""
