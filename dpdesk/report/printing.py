"""Pages as PDF, made in a process of its own: setting pages keeps an interpreter busy."""

from __future__ import annotations

from dpdesk.core.errors import StorageError
from dpdesk.core.jobs import CancelToken
from dpdesk.core.messages import msg
from dpdesk.core.subprocesses import KeptSubprocess, SubprocessError

_TARGET = "dpdesk.report.pdf.document:pdf_of"


class Printer:
    """Prints pages, one after another, in one process that stays warm between them.

    Loading what sets pages takes three times as long as setting a report. The process keeps nothing
    of a page; it is started by :meth:`warm` or the first page, and ends with the program.
    """

    def __init__(self, target: str = _TARGET) -> None:
        self._aside = KeptSubprocess(target)

    def close(self) -> None:
        """End the process; the next page starts another."""
        self._aside.close()

    def warm(self) -> None:
        """Start the process, so that it is ready when there is something to print."""
        self._aside.start()

    def pdf(self, page: bytes, token: CancelToken) -> bytes:
        """The PDF of a page; the same page gives the same bytes.

        Raises Cancelled, and StorageError ``report.not-printed``.
        """
        try:
            made = self._aside.ask(page, token)
        except SubprocessError as error:
            raise StorageError(
                "report.not-printed",
                msg("The report could not be made into a PDF: {error}.", error=error),
                hint="Close other programs if memory is short, and try again.",
            ) from error
        assert isinstance(made, bytes)
        return made


PRINTER = Printer()
"""The printer of this program."""
