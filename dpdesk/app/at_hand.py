"""The source with which a release is compared: a file, or a table of a server or a cluster."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from dpdesk.core.errors import InputError
from dpdesk.core.jobs import CancelToken, Report
from dpdesk.core.messages import msg
from dpdesk.core.passwords import holds_password
from dpdesk.core.source_spec import SPARK, SourceSpec, is_cluster, source_format, unnamed

if TYPE_CHECKING:
    from dpdesk.core.plan import Plan
    from dpdesk.io.source import FilePrint
    from dpdesk.io.workspace import Workspace

Given: TypeAlias = Path | str
"""A file, or an address of a database server or a cluster."""


def is_address(text: str) -> bool:
    """Whether a text names a server or a cluster, and no file that there is."""
    return "://" in text or (is_cluster(text) and not Path(text).exists())


@dataclass(frozen=True)
class AtHand:
    """Where the source is; of an ``address``, the plan says which table."""

    file: Path
    address: str = ""

    @classmethod
    def of(cls, given: Given) -> AtHand:
        """Raises InputError ``source.missing`` for no file, ``plan.password`` for an address with a
        password.
        """
        if isinstance(given, str):
            if holds_password(given):
                raise InputError(
                    "plan.password",
                    msg("The source: found a password, expected an address without one."),
                    hint="Put the password into the variable PGPASSWORD or into ~/.pgpass.",
                )
            return cls(Path(), given)
        check_file(given)
        return cls(given)

    @property
    def name(self) -> str:
        """How messages call it."""
        return self.address or self.file.name

    def __str__(self) -> str:
        """As it was given."""
        return self.address or str(self.file)

    @property
    def base(self) -> Path:
        """Where other files of the plan are looked for."""
        return Path.cwd() if self.address else self.file.parent

    def spec(self, recorded: SourceSpec) -> SourceSpec:
        """The source of a plan, with what is at hand in the place of its path."""
        return replace(recorded, path=self.address or str(self.file.resolve()))

    def difference(
        self,
        known: FilePrint,
        plan: Plan,
        workspace: Workspace,
        token: CancelToken,
        report: Report,
        *,
        private: bool,
    ) -> str | None:
        """How a table differs from that of a release; None where it does not.

        It is opened as for the release, and an engine adds up its rows where they are. Raises
        what opening a store raises.
        """
        from dpdesk.app.private.pinning import read_pinned
        from dpdesk.io.store import DataStore

        if not plan.source.is_url:
            return msg("the release was made from a file")
        if is_cluster(self.address) != (plan.source.engine == SPARK):
            return msg("the release was made from another kind of source")
        spec, place = self.spec(plan.source), (self.base, workspace, token, report)
        pinned = private and not unnamed(spec, source_format(spec))
        opened = read_pinned(plan, spec, *place) if pinned else DataStore.open(spec, *place)
        with closing(opened) as data:
            return None if data.sha256 == known.sha256 else msg("its rows are different")


def check_file(file: Path) -> None:
    """Raise InputError ``source.missing`` for what is no file."""
    if not file.is_file():
        absent = msg("{source}: there is no such file.", source=file)
        other = msg("{path}: this is not a regular file.", path=file)
        raise InputError("source.missing", other if file.exists() else absent)
