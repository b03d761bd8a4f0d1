"""Compiled kernels: one place that says where numba may keep what it compiles.

Modules that hold kernels import this one, so importing them costs numba's start (about 0.7 s):
callers import them where they use them, not at the top.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

_Function = TypeVar("_Function", bound=Callable[..., Any])


def _cache_folder() -> Path:
    home = os.environ.get("DPDESK_CACHE")
    if home:
        return Path(home)
    import platformdirs

    return Path(platformdirs.user_cache_dir("dpdesk", appauthor=False)) / "kernels"


def _prepare_cache() -> bool:
    """Name the cache folder before numba is imported; False when none is writable.

    Without a writable folder numba's cache would raise, so kernels are then compiled afresh.
    """
    if "NUMBA_CACHE_DIR" in os.environ:
        return True
    folder = _cache_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError:
        return False
    if not os.access(folder, os.W_OK):
        return False
    os.environ["NUMBA_CACHE_DIR"] = str(folder)
    return True


_CACHE = _prepare_cache()

import numba  # noqa: E402 - the cache folder must be named first


def kernel(function: _Function) -> _Function:
    """Compile ``function`` on first use; it runs without the GIL and is cached where possible."""
    return cast(_Function, numba.njit(cache=_CACHE, nogil=True)(function))


@kernel
def _same(value: int) -> int:
    return value


def start() -> None:
    """Start the compiler and load one kernel, so that the first real one need not wait for it."""
    _same(1)
