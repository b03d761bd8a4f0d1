"""What was published, as values: the files of a release that answer questions, no source."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from dpdesk.core.jobs import CancelToken

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from dpdesk.core.cuboid import CuboidTable
    from dpdesk.core.manifest import Manifest


@dataclass(frozen=True, eq=False)
class CountedRows:
    """Distinct combinations of some columns of a published table, each with its rows.

    ``texts`` holds the different texts of each column, in code-point order; ``codes``, shape
    (combinations, columns), points into them; ``rows`` has shape (combinations,).
    """

    columns: tuple[str, ...]
    texts: tuple[tuple[str, ...], ...]
    codes: NDArray[np.int32] = field(repr=False)
    rows: NDArray[np.int64] = field(repr=False)


class ReleasedContent(Protocol):
    """The public part of a release whose files are what its manifest says. No source is in reach.

    Whatever cannot be read raises InputError ``release.unreadable``; Cancelled.
    """

    @property
    def manifest(self) -> Manifest:
        """The public manifest."""
        ...

    def cuboid(self, file: str, token: CancelToken) -> CuboidTable:
        """One table of a cube by its ``file``; cells as the domain of the result says."""
        ...

    def columns(self, file: str, token: CancelToken) -> tuple[str, ...]:
        """The columns of a CSV such as ``microdata.csv``."""
        ...

    def counted(self, file: str, columns: Sequence[str], token: CancelToken) -> CountedRows:
        """The rows of such a CSV, counted by the exact texts of some of its columns."""
        ...
