"""Pages as PDF, made in a process of its own: setting pages keeps an interpreter busy."""

from __future__ import annotations

from dpdesk.core.closing import Closing
from dpdesk.core.errors import StorageError
from dpdesk.core.jobs import CancelToken
from dpdesk.core.messages import msg
from dpdesk.core.subprocesses import Subprocess, SubprocessError

_WORKER = "dpdesk.report.pdf.document:pdf_of"


class Printer(Closing):
    """Prints pages, one after another; the process ends with the ``with`` block."""

    def __init__(self) -> None:
        self._aside = Subprocess(_WORKER)

    def close(self) -> None:
        """End the process."""
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
