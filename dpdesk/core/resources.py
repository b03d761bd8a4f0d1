"""The one loader of bundled files: fonts, the sample, templates.

In an installed package the top-level ``resources`` folder lies at ``dpdesk/resources``; in a
checkout it lies beside the package. Both look the same through this module.
"""

from __future__ import annotations

from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from dpdesk.core.errors import StorageError
from dpdesk.core.messages import msg


def resource_root() -> Traversable:
    """The folder of bundled files; StorageError ``resources.missing`` when there is none."""
    package = files("dpdesk")
    installed = package.joinpath("resources")
    if installed.is_dir():
        return installed
    checkout = Path(str(package)).parent / "resources"
    if checkout.is_dir():
        return checkout
    raise StorageError(
        "resources.missing",
        "The files that come with DPDesk are missing from this installation.",
        hint="Install DPDesk again.",
    )


def resource(path: str) -> Traversable:
    """A bundled file or folder by its path below the root, with ``/`` between the parts.

    Raises StorageError ``resources.missing`` when it does not exist.
    """
    found = resource_root().joinpath(*path.split("/"))
    if not (found.is_file() or found.is_dir()):
        raise StorageError(
            "resources.missing",
            msg(
                "The file `{path}` that comes with DPDesk is missing from this installation.",
                path=path,
            ),
            hint="Install DPDesk again.",
        )
    return found


def resource_files(folder: str, suffix: str) -> tuple[Traversable, ...]:
    """Files with this suffix (such as ``".ttf"``) in a bundled folder, by name; () when none."""
    place = resource_root().joinpath(*folder.split("/"))
    if not place.is_dir():
        return ()
    found = [entry for entry in place.iterdir() if entry.name.lower().endswith(suffix)]
    return tuple(sorted(found, key=lambda entry: entry.name))
