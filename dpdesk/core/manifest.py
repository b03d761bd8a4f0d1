"""``public/manifest.json`` as a value: what a release states to everyone.

It is read once where a release is opened. ``parameters``, ``result`` and the parameters of the
guarantee are the method's own, and stay plain here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Self

from dpdesk.core.guarantee import Guarantee
from dpdesk.core.messages import read_again, table_of
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

    ``messages`` say of its sentences what they are made of; earlier versions have none.

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
    messages: Mapping[str, object] | None = field(default=None, repr=False)

    @classmethod
    def from_json(cls, raw: Mapping[str, object]) -> Self:
        """The manifest, whose sentences are messages again. Raises ShapeError."""
        found = super().from_json(raw)
        said = read_again({"stated": _sentences(found.guarantee)}, found.messages)["stated"]
        assert isinstance(said, tuple)
        claim, assumes, not_covered = said
        guarantee = replace(
            found.guarantee, claim=claim, assumes=assumes, does_not_cover=not_covered
        )
        return replace(found, guarantee=guarantee)

    def with_messages(self) -> Self:
        """The manifest with what its sentences are made of."""
        return replace(self, messages=table_of(_sentences(self.guarantee)))


def celled_columns(manifest: Manifest) -> tuple[str, ...]:
    """The quasi-identifiers of a k-anonymous release that has no level for each of them.

    Each of their cells shows what its own class needed.
    """
    stated = manifest.guarantee.parameters
    names = stated.get("quasi_identifiers")
    if "k" not in stated or "node" in manifest.result or not isinstance(names, list | tuple):
        return ()
    return tuple(map(str, names))


def _sentences(stated: Guarantee) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    return stated.claim, stated.assumes, stated.does_not_cover


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
