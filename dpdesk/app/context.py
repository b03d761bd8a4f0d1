"""What every use-case needs: the private workspace and the list of methods."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from dpdesk.core.closing import Closing

if TYPE_CHECKING:
    from dpdesk.engine.registry import Registry
    from dpdesk.io.workspace import Workspace


@dataclass(frozen=True)
class AppContext(Closing):
    """One running program: its home folder, its private workspace, its methods.

    Open it once per process and close it at the end; closing removes every temporary file.
    """

    home: Path
    workspace: Workspace
    registry: Registry
    verified: dict[str, tuple[str, ...]] = field(default_factory=dict, init=False, compare=False)
    """Manifests, by their hash, whose public files bear out what they claim, as this process found;
    and sentences on what had to be left unchecked."""
    unreleased: dict[int, list[str]] = field(default_factory=dict, init=False, compare=False)
    """What was debited by runs that go on, by thread, a sentence each: it stays spent whatever
    ends them."""

    @classmethod
    def open(cls, home: Path | None = None) -> AppContext:
        """Open the workspace below ``home`` (None: the folder that DPDESK_HOME names).

        Raises StorageError when the folder cannot be made or is not private.
        """
        from dpdesk.core.graver import use_tool
        from dpdesk.engine.methods.registered import default_registry
        from dpdesk.io.formats.databases.hosts import use_home
        from dpdesk.io.four_ti_two import FourTiTwo
        from dpdesk.io.workspace import Workspace

        workspace = Workspace.open(home)
        use_tool(workspace, FourTiTwo(workspace))
        use_home(workspace.home)
        return cls(workspace.home, workspace, default_registry())

    def close(self) -> None:
        """Remove everything temporary that this process made."""
        from dpdesk.core.graver import use_tool
        from dpdesk.io.formats.databases.hosts import leave_home

        use_tool(self.workspace, None)
        leave_home(self.home)
        self.workspace.close()
