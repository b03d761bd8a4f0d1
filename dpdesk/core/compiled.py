"""Compiled kernels: one place that says where numba may keep what it compiles.

Modules that hold kernels import this one, so importing them costs numba's start (about 0.7 s):
callers import them where they use them, not at the top.
"""

from __future__ import annotations

import contextlib
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


class _ForgivingCache:
    """A cache of numba that a full disk or a damaged file only makes slower."""

    def __init__(self, cache: Any) -> None:
        self._cache = cache

    def __getattr__(self, name: str) -> Any:
        return getattr(self._cache, name)

    def load_overload(self, signature: object, context: object) -> Any:
        """What was compiled before, or None; a damaged cache is emptied."""
        try:
            return self._cache.load_overload(signature, context)
        except Exception:  # noqa: BLE001 - whatever unpickling raises
            with contextlib.suppress(OSError):
                self._cache.flush()
            return None

    def save_overload(self, signature: object, data: object) -> None:
        """Keep what was compiled, if the disk lets us."""
        with contextlib.suppress(OSError):
            self._cache.save_overload(signature, data)


def kernel(function: _Function) -> _Function:
    """Compile ``function`` on first use; it runs without the GIL and is cached where possible."""
    compiled: Any = numba.njit(nogil=True)(function)
    if _CACHE:
        with contextlib.suppress(RuntimeError):  # the folder cannot be written after all
            compiled.enable_caching()
            compiled._cache = _ForgivingCache(compiled._cache)
    return cast(_Function, compiled)


@kernel
def _same(value: int) -> int:
    return value


def start() -> None:
    """Start the compiler and load one kernel, so that the first real one need not wait for it."""
    _same(1)
