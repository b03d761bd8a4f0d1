"""Compiled kernels: one place that says where numba may keep what it compiles.

That is ``cache/kernels`` in the home folder (``DPDESK_CACHE`` names another folder) and, where it
can be written, the program's own folder. Without either, kernels are compiled in every process.
What is kept is known by the texts that it was compiled from, wherever these lie.
Modules that hold kernels import this one, so importing them costs numba's start (about 0.7 s):
callers import them where they use them, not at the top.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import os
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from hashlib import sha256
from importlib.abc import MetaPathFinder
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar, cast

import numba
import numpy as np
from numba.core import caching, config
from numba.core.dispatcher import Dispatcher
from numba.core.types import unliteral

from dpdesk.core.home import default_home

_Function = TypeVar("_Function", bound=Callable[..., Any])


def _named_folder() -> Path | None:
    """The folder that ``DPDESK_CACHE`` names, else ``cache`` in the home folder; made if need be.

    None when it cannot be written: numba would raise.
    """
    named = os.environ.get("DPDESK_CACHE")
    folder = Path(named) if named else default_home() / "cache" / "kernels"
    try:
        if not named:
            folder.parents[1].mkdir(parents=True, exist_ok=True, mode=0o700)
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError:
        return None
    return folder.absolute() if os.access(folder, os.W_OK) else None


def _called(module: str) -> Iterator[str]:
    """Modules of the same package that a module has kernels from, or has whole."""
    for value in list(vars(sys.modules[module]).values()):
        if isinstance(value, Dispatcher):
            yield value.py_func.__module__
        elif isinstance(value, ModuleType) and value.__name__.startswith(module.split(".")[0]):
            yield value.__name__


def _constant(value: object) -> bytes:
    """What a kernel has of a value of its module, for it is compiled into it; empty if nothing."""
    if isinstance(value, np.ndarray) and not value.dtype.hasobject:
        return repr((value.dtype, value.shape)).encode() + value.tobytes()
    if isinstance(value, tuple):
        return b"(" + b",".join(map(_constant, value)) + b")"
    plain = isinstance(value, (bool, int, float, str, np.generic))
    return repr(value).encode() if plain else b""


@functools.cache
def _origin(module: str) -> bytes:
    """SHA-256 of all that a module's kernels are compiled from.

    That is its text and those of other modules whose kernels it calls, with the constants that all
    of them have from elsewhere. numba itself looks at a kernel's own file alone: after an update it
    would go on with what it had compiled into it of other files.
    """
    found, new = {module}, [module]
    while new:
        others = set(_called(new.pop())) - found
        found |= others
        new += others
    digest = sha256()
    for name in sorted(found):
        namespace = vars(sys.modules[name])
        digest.update(Path(namespace["__file__"]).read_bytes())
        for key in sorted(key for key in namespace if not key.startswith("__")):
            digest.update(_constant(namespace[key]))
    return digest.digest()


class _KnownByOrigin:
    """Of a locator of numba: what it finds is known by all that it was compiled from."""

    def __init__(self, function: Callable[..., Any], file: str) -> None:
        super().__init__(function, file)  # type: ignore[call-arg]
        self._origin = _origin(function.__module__)

    def get_source_stamp(self) -> bytes:
        """What must be the same for a kept kernel to be used."""
        return self._origin


class _NamedFolder(_KnownByOrigin, caching.UserProvidedCacheLocator):
    """A folder for each state of a module: copies of the program share it, or do not disturb."""

    def __init__(self, function: Callable[..., Any], file: str) -> None:
        super().__init__(function, file)
        name = f"{function.__module__}-{self._origin.hex()[:16]}"
        self._cache_path = os.path.join(_config.CACHE_DIR, name)


class _ProgramFolder(_KnownByOrigin, caching.InTreeCacheLocator):
    pass


class _InNamedFolder(caching.CompileResultCacheImpl):
    _locator_classes = [_NamedFolder]  # noqa: RUF012 - as in the base class


class _BesideProgram(caching.CompileResultCacheImpl):
    _locator_classes = [_ProgramFolder]  # noqa: RUF012 - as in the base class


class _NamedCache(caching.FunctionCache):
    _impl_class = _InNamedFolder


class _ProgramCache(caching.FunctionCache):
    _impl_class = _BesideProgram


_config: Any = config
if not _config.CACHE_DIR:
    _config.CACHE_DIR = str(_named_folder() or "")


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


class _Caches:
    """The first cache that has a kernel gives it; all of them keep what is compiled.

    The program's own folder is the second one where it can be written, as Python does with its
    compiled files: so a new home folder need not wait for the compiler.
    """

    def __init__(self, caches: Sequence[Any]) -> None:
        self._caches = tuple(caches)
        self.cache_path = str(caches[0].cache_path)

    def load_overload(self, signature: object, context: object) -> Any:
        """What was compiled before, or None."""
        found = (cache.load_overload(signature, context) for cache in self._caches)
        return next((kernel for kernel in found if kernel is not None), None)

    def save_overload(self, signature: object, data: object) -> None:
        """Keep what was compiled."""
        for cache in self._caches:
            cache.save_overload(signature, data)


def caches_of(function: Callable[..., Any]) -> tuple[_ForgivingCache, ...]:
    """The caches that can be written here; only the named one when ``DPDESK_CACHE`` names it."""
    kinds = (_NamedCache,) if os.environ.get("DPDESK_CACHE") else (_NamedCache, _ProgramCache)
    found = []
    for kind in kinds:
        with contextlib.suppress(RuntimeError, OSError):
            found.append(_ForgivingCache(kind(function)))
    return tuple(found)


def _compile_no_literals(compiled: Any) -> None:
    """Have calls from other kernels compile for ``int64``, never once more for a literal 0 or 1.

    A sum that begins with 0 is a literal to numba while it still infers the types of the caller:
    it would compile what the sum is handed to for that as well, with all that this calls.
    """
    template_of = compiled.get_call_template
    plain: Callable[[Any], Any] = unliteral

    def of(arguments: Sequence[Any], named: Mapping[str, Any]) -> Any:
        return template_of(tuple(map(plain, arguments)), {a: plain(b) for a, b in named.items()})

    compiled.get_call_template = of


def kernel(function: _Function) -> _Function:
    """Compile ``function`` on first use; it runs without the GIL and is cached where possible."""
    compiled: Any = numba.njit(nogil=True)(function)
    _compile_no_literals(compiled)
    caches = caches_of(function)
    if caches:
        compiled._cache = _Caches(caches)
    return cast(_Function, compiled)


@kernel
def _same(value: int) -> int:
    return value


_UNUSED = ("scipy", "scipy.linalg", "cffi")


class _Unused(MetaPathFinder):
    """Hides from one thread what numba looks for and no kernel uses."""

    def __init__(self) -> None:
        self._thread = threading.get_ident()

    def find_spec(self, name: str, path: object, target: object = None) -> None:
        """Raise ImportError for what this thread is not to find."""
        if name in _UNUSED and threading.get_ident() == self._thread:
            raise ImportError(name)


def _load_arrays() -> None:
    """Load what numba knows of arrays, without importing SciPy for it (0.2 s of each start).

    numba offers products of matrices in kernels where it finds SciPy, and calls of C where it finds
    cffi, whose parser is dear to load. Kernels here do neither.
    """
    hidden = _Unused()
    sys.meta_path.insert(0, hidden)
    try:
        importlib.import_module("numba.np.arraymath")
        importlib.import_module("numba.core.typing.cffi_utils")
    finally:
        sys.meta_path.remove(hidden)


_load_arrays()


def start() -> None:
    """Start the compiler and load one kernel, so that the first real one need not wait for it."""
    _same(1)
