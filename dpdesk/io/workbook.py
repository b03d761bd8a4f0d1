"""Excel books that are written to a file: what the disk refuses is an OSError like any other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any


class _Stream:
    """The file of a book; what is written after a failure, or after its end, is passed over.

    The archive in it is closed once more when memory is freed, and would complain on stderr then.
    """

    def __init__(self, path: Path) -> None:
        self._file = path.open("xb", buffering=0)
        self._at = 0
        self._over = False

    def write(self, data: bytes) -> int:
        """Write all of it. Raises OSError, once."""
        left = memoryview(data)
        while len(left) and not self._over:
            try:
                left = left[self._file.write(left) :]
            except OSError:
                self._over = True
                raise
        self._at += len(data)
        return len(data)

    def seek(self, offset: int) -> int:
        """Go to a place from the beginning."""
        self._at = offset if self._over else self._file.seek(offset)
        return self._at

    def tell(self) -> int:
        """Where the next byte goes, or would go."""
        return self._at

    def flush(self) -> None:
        """Nothing is held back."""

    def end(self) -> None:
        """Close the file."""
        self._over = True
        self._file.close()


@contextmanager
def new_workbook(path: Path, options: Mapping[str, object]) -> Iterator[Any]:
    """A book of ``xlsxwriter``, written to the new file ``path`` when the block ends well.

    Raises OSError when the disk refuses.
    """
    from xlsxwriter import Workbook
    from xlsxwriter.exceptions import FileCreateError

    stream = _Stream(path)
    try:
        book = Workbook(stream, dict(options))
        try:
            yield book
            book.close()
        except FileCreateError as error:  # what the library makes of an OSError
            raise error.args[0] from None
        finally:
            _abandon(book)
    finally:
        stream.end()


def _abandon(book: Any) -> None:
    """Close the scratch files of a book that is not finished; the library has no call for it."""
    for sheet in book.worksheets():
        scratch = getattr(sheet, "row_data_fh", None)
        if scratch is not None:
            scratch.close()
    book.fileclosed = True
