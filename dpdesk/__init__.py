"""DPDesk: publish data about people without betraying one of them.

The use-cases of the window and of the command line, for Python code; see
``resources/docs/python.md``. Nothing heavy is imported before it is used.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dpdesk.core.errors import Cancelled as Cancelled
    from dpdesk.core.errors import DpdeskError as DpdeskError
    from dpdesk.core.errors import InputError as InputError
    from dpdesk.core.errors import RefusedError as RefusedError
    from dpdesk.core.errors import StorageError as StorageError
    from dpdesk.core.jobs import CancelToken as CancelToken
    from dpdesk.python.api import check as check
    from dpdesk.python.api import export as export
    from dpdesk.python.api import inspect as inspect
    from dpdesk.python.api import open_release as open_release
    from dpdesk.python.api import pin as pin
    from dpdesk.python.api import query as query
    from dpdesk.python.api import risk as risk
    from dpdesk.python.api import run as run
    from dpdesk.python.api import trial as trial
    from dpdesk.python.api import verify as verify
    from dpdesk.python.plans import Attribute as Attribute
    from dpdesk.python.plans import Plan as Plan
    from dpdesk.python.plans import Source as Source
    from dpdesk.python.releases import Release as Release
    from dpdesk.python.releases import Verification as Verification

__version__ = "0.1.0"

_FOUND_IN = {
    "core.errors": ("Cancelled", "DpdeskError", "InputError", "RefusedError", "StorageError"),
    "core.jobs": ("CancelToken",),
    "python.api": (
        *("check", "export", "inspect", "open_release", "pin", "query", "risk", "run"),
        *("trial", "verify"),
    ),
    "python.plans": ("Attribute", "Plan", "Source"),
    "python.releases": ("Release", "Verification"),
}
_MODULES = {name: module for module, names in _FOUND_IN.items() for name in names}


def __getattr__(name: str) -> Any:
    """A name of the Python interface, imported when it is asked for (PEP 562)."""
    module = _MODULES.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    found = getattr(import_module(f"{__name__}.{module}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULES})
