"""Ask a release questions, from its public files alone."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from dpdesk.core.capabilities import Use
from dpdesk.core.errors import InputError, RefusedError
from dpdesk.core.jobs import CancelToken, Report, StepStarted
from dpdesk.core.query import Answer, Askable, Query
from dpdesk.engine.querying import QueryableMethod

if TYPE_CHECKING:
    from dpdesk.app.context import AppContext
    from dpdesk.core.released import ReleasedContent

_MALFORMED = (ValueError, TypeError, KeyError, IndexError, AttributeError, ArithmeticError)


@dataclass(frozen=True)
class AskedRelease:
    """A release that answers questions: its folder, title and method, what can be asked."""

    folder: Path
    title: str
    method: str
    askable: Askable


@dataclass(frozen=True)
class OpenRelease:
    """A release whose files were found intact, ready for questions; it reaches no source.

    ``compared``: with the source at hand, its answers can be compared with the truth.
    """

    about: AskedRelease
    content: ReleasedContent
    method: QueryableMethod
    compared: bool = False

    def ask(self, query: Query, token: CancelToken, report: Report) -> Answer:
        """The answer; InputError ``query.*``, RefusedError ``query.refused``, Cancelled."""
        with told(self.about.folder):
            return self.method.answer(query, self.content, token, report)


def open_release(
    context: AppContext, folder: Path, token: CancelToken, report: Report
) -> OpenRelease:
    """Check the files of a release (or of its public part alone) and open it for questions.

    Raises InputError ``release.missing``, ``release.unreadable``; RefusedError
    ``release.not-intact``, ``query.no-answers`` when its method answers none; Cancelled.
    """
    from dpdesk.io.release_content import ReleaseContent

    report(StepStarted("Check the files", 1, 2))
    content = ReleaseContent.open(folder, context.registry.about, token)
    report(StepStarted("Answer from the release", 2, 2))
    name = str(content.manifest["method"])
    method = context.registry.get(name, str(folder))
    if not method.capabilities.allows(Use.ASKED) or not isinstance(method, QueryableMethod):
        raise RefusedError(
            "query.no-answers", f"{folder}: releases of the method `{name}` answer no queries."
        )
    with told(folder):
        askable = method.askable(content, token)
    about = AskedRelease(folder, str(content.manifest["title"]), name, askable)
    return OpenRelease(about, content, method, method.capabilities.allows(Use.COMPARED))


@contextmanager
def told(folder: Path) -> Iterator[None]:
    """What a malformed manifest raises in the block, as an error that names the release."""
    try:
        yield
    except _MALFORMED as error:
        kind = type(error).__name__
        raise InputError(
            "release.unreadable",
            f"{folder}: the claims of the manifest cannot be read ({kind}).",
            hint="`dpdesk verify` tells what is wrong with it.",
        ) from error
