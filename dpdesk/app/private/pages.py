"""The public page of a cube or graph and its tables, read back."""

from __future__ import annotations

from pathlib import Path

from dpdesk.core.capabilities import Content
from dpdesk.core.cuboid import CuboidTable, Domain, listed_tables
from dpdesk.core.jobs import CancelToken
from dpdesk.core.labels import NO_BOOK, Codebook
from dpdesk.core.language import ENGLISH, speaking
from dpdesk.core.messages import msg
from dpdesk.core.release import Manifest
from dpdesk.engine.method import Method
from dpdesk.io.csvgrammar import UnreadableTableError
from dpdesk.io.cuboid_files import read_listed


def public_page(
    manifest: Manifest,
    method: Method,
    language: str = ENGLISH,
    book: Codebook = NO_BOOK,
) -> bytes:
    """The bytes of ``about.html`` in a language.

    They depend on the manifest without ``files``, and on the published labels of the dimensions.
    """
    from dpdesk.report import choices, cubes, graphs, itemsets

    with speaking(language):
        if method.capabilities.content is Content.ITEMSETS:
            return itemsets.render_about(manifest, method)
        if method.capabilities.content is Content.CHOICES:
            return choices.render_about(manifest, method)
        if method.capabilities.content is Content.GRAPH:
            return graphs.render_about(manifest, method)
        return cubes.render_about(manifest, method, book)


def read_tables(manifest: Manifest, public: Path, token: CancelToken) -> dict[str, CuboidTable]:
    """All tables that the result of a manifest lists, by file, checked cell by cell.

    Raises UnreadableTableError with the file's name in front; OSError; TypeError, KeyError and
    ValueError for a manifest of another form; Cancelled.
    """
    domain = Domain.from_json(manifest.result["domains"])
    found: dict[str, CuboidTable] = {}
    for item in listed_tables(manifest.result):
        token.check()
        file = str(item["file"])
        try:
            found[file] = read_listed(public / file, domain, item, token)
        except UnreadableTableError as error:
            raise UnreadableTableError(
                msg("{file}: {note}", file=file, note=error.sentence)
            ) from error
    return found
