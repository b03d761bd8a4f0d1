"""Signing in the background: the key is unlocked there, and forgotten when it has signed."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from dpdesk.app import signing
from dpdesk.app.review import acting
from dpdesk.app.review.values import EventType, Signed, Vote, Wish
from dpdesk.app.types import AppContext
from dpdesk.core.jobs import CancelToken, Report


@dataclass(frozen=True)
class Ask:
    """What is to be signed; ``text`` is a note or a reason."""

    action: EventType
    text: str = ""
    vote: Vote | None = None
    wish: Wish = field(default_factory=Wish)
    copies: tuple[Path, ...] = ()


@dataclass(frozen=True)
class Sign:
    """Unlock a key and sign one event in the review of a folder."""

    context: AppContext
    folder: Path
    key: str
    passphrase: str = field(repr=False)
    ask: Ask

    def __call__(self, token: CancelToken, report: Report) -> Signed:
        """What signing came to."""
        context, folder, ask = self.context, self.folder, self.ask
        signer = signing.unlock(context, self.key, self.passphrase)
        try:
            if ask.action is EventType.SUBMIT:
                return acting.submit(context, folder, signer, ask.wish, token, report)
            if ask.action is EventType.START:
                return acting.start(context, folder, signer, token)
            if ask.action is EventType.BALLOT and ask.vote is not None:
                return acting.cast(context, folder, signer, ask.vote, token)
            if ask.action is EventType.REVEAL:
                return acting.reveal(context, folder, signer, token)
            if ask.action is EventType.RELEASE:
                return acting.release(context, folder, signer, ask.text, token)
            if ask.action is EventType.WITHDRAW:
                return acting.withdraw(context, folder, signer, ask.text, token)
            return acting.merge(context, folder, signer, ask.copies, token)
        finally:
            signer.forget()
