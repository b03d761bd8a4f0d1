"""How many entries files of the home folder hold, noted outside of it, next to the witness.

A file that was deleted, or put back from an old copy with the home folder, holds fewer than noted.
"""

from __future__ import annotations

import os

from dpdesk.core.errors import StorageError
from dpdesk.core.messages import msg
from dpdesk.project.ledger.witness import Witness


class Noted:
    """The note of one file: ``name`` in the text file ``notes``, a line for each time it grew."""

    def __init__(self, notes: str, name: str) -> None:
        self._witness, self._name = Witness.here(), name
        self.path = self._witness.path.parent / notes

    def count(self) -> int:
        """How many entries there must be."""
        try:
            lines = self.path.read_text("ascii", "replace").splitlines()
        except OSError:
            return 0
        found = [line.split() for line in lines]
        counts = [line[1] for line in found if len(line) == 2 and line[0] == self._name]
        return max((int(count) for count in counts if count.isdigit()), default=0)

    def tell(self, count: int, code: str, hint: str) -> None:
        """Note how many there are; StorageError ``code`` where a place that was named fails."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            handle = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            with os.fdopen(handle, "ab") as stream:
                stream.write(f"{self._name} {count}\n".encode("ascii"))
                stream.flush()
                os.fsync(stream.fileno())
        except OSError as error:
            if not self._witness.named:
                return
            reason = error.strerror or type(error).__name__
            sentence = msg("{path}: cannot be written ({reason}).", path=self.path, reason=reason)
            raise StorageError(code, sentence, hint=hint) from error
