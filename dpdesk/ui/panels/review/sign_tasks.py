"""Signing in the background: the key is unlocked there, and forgotten when it has signed."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from dpdesk.app import signing
from dpdesk.app.review import acting, locking, protocols
from dpdesk.app.review.values import ActionRequest, EventType, Signed, Signer, Vote
from dpdesk.app.types import AppContext
from dpdesk.core.jobs import CancelToken, Report
from dpdesk.ui.panels.review.review_status import Action, Beside


@dataclass(frozen=True)
class Ask:
    """What is to be signed; ``text`` is a note or a reason.

    ``other`` is the release that replaces this one, or the file for a protocol; ``out`` the file
    into which the review is written when its folder cannot be written to.
    """

    action: Action
    text: str = ""
    vote: Vote | None = None
    wish: ActionRequest = field(default_factory=ActionRequest)
    copies: tuple[Path, ...] = ()
    other: Path | None = None
    out: Path | None = None


@dataclass(frozen=True)
class Locked:
    """A protocol that was locked: its id and its file."""

    id: str
    path: Path


@dataclass(frozen=True)
class Sign:
    """Unlock a key and sign one event in the review of a folder, or a protocol."""

    context: AppContext
    folder: Path
    key: str
    passphrase: str = field(repr=False)
    ask: Ask

    def __call__(self, token: CancelToken, report: Report) -> Signed | Locked:
        """What signing came to."""
        signer = signing.unlock(self.context, self.key, self.passphrase)
        try:
            if self.ask.action is Beside.LOCK:
                return self._lock(signer, token, report)
            return self._sign(signer, token, report)
        finally:
            signer.forget()

    def _sign(self, signer: Signer, token: CancelToken, report: Report) -> Signed:
        context, folder, ask, out = self.context, self.folder, self.ask, self.ask.out
        if ask.action is EventType.SUBMIT:
            return acting.submit(context, folder, signer, ask.wish, token, report, out)
        if ask.action is EventType.START:
            return acting.start(context, folder, signer, token, out)
        if ask.action is EventType.BALLOT and ask.vote is not None:
            return acting.cast(context, folder, signer, ask.vote, token, out)
        if ask.action is EventType.REVEAL:
            return acting.reveal(context, folder, signer, token, out)
        if ask.action is EventType.RELEASE:
            return acting.release(context, folder, signer, ask.text, token, out)
        if ask.action is EventType.WITHDRAW:
            return acting.withdraw(context, folder, signer, ask.text, token, out)
        if ask.action is EventType.SUPERSEDE and ask.other is not None:
            return acting.supersede(context, folder, signer, ask.other, ask.text, token, out)
        return acting.merge(context, folder, signer, ask.copies, token, out)

    def _lock(self, signer: Signer, token: CancelToken, report: Report) -> Locked:
        if self.ask.other is None:
            raise ValueError("a protocol is written to a file")
        out = self.ask.other
        made = locking.lock_protocol(self.context, self.folder, signer, out, token, report)
        return Locked(made.id, out)


@dataclass(frozen=True)
class TakeProtocol:
    """Keep a protocol from a file, so that releases that apply it can be compared."""

    context: AppContext
    path: Path

    def __call__(self, token: CancelToken, report: Report) -> str:
        """The id of the protocol."""
        return protocols.take_protocol(self.context, self.path).id
