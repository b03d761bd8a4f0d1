"""Pages as PDF, made in a process of its own: setting pages keeps an interpreter busy."""

from __future__ import annotations

from types import TracebackType

from dpdesk.core.aside import Aside, AsideError
from dpdesk.core.errors import StorageError
from dpdesk.core.jobs import CancelToken

_WORKER = "dpdesk.report.pdf.worker:pdf_of"


class Printer:
    """Prints pages, one after another; the process ends with the ``with`` block."""

    def __init__(self) -> None:
        self._aside = Aside(_WORKER)

    def __enter__(self) -> Printer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        self._aside.__exit__(kind, error, trace)

    def warm(self) -> None:
        """Start the process, so that it is ready when there is something to print."""
        self._aside.start()

    def pdf(self, page: bytes, token: CancelToken) -> bytes:
        """The PDF of a page; the same page gives the same bytes.

        Raises Cancelled, and StorageError ``report.not-printed``.
        """
        try:
            made = self._aside.ask(page, token)
        except AsideError as error:
            raise StorageError(
                "report.not-printed",
                f"The report could not be made into a PDF: {error}.",
                hint="Close other programs if memory is short, and try again.",
            ) from error
        assert isinstance(made, bytes)
        return made
