"""Fixtures for all tests: no display, a private home, and the real data where it is."""

from __future__ import annotations

import gc
import os
import re
import signal
import sys
import tempfile
from collections.abc import Iterator
from hashlib import sha256
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

import platformdirs
import pytest
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from PySide6.QtWidgets import QApplication

    from dpdesk.core.jobs import CancelToken
    from tests.helpers.waiting import PatientBot

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
# Started with nohup or in the background, the tests and all their processes would ignore signals
# that some tests send.
if hasattr(signal, "SIGHUP"):
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
# Every test has a home of its own, but need not compile the kernels anew for that; nor need a new
# checkout, for what is kept is known by the texts that it was compiled from.
os.environ.setdefault("DPDESK_CACHE", platformdirs.user_cache_dir("dpdesk-tests"))
CACHE = Path(__file__).parents[1] / ".pytest_cache"
# Where Python may not write next to the sources, each of the hundreds of processes that tests start
# would compile all that it loads anew, and pytest the tests: a third of what they cost.
if sys.dont_write_bytecode:
    sys.dont_write_bytecode = False
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.pycache_prefix = os.environ["PYTHONPYCACHEPREFIX"] = str(CACHE / "bytecode")
# Nor does what is installed here change what is tested, but where a test asks for it.
os.environ["DPDESK_4TI2"] = str(Path(__file__).parent / "no-such-program")

# The witness of ledgers lies outside of every DPDESK_HOME; that of the user is left alone, also by
# what runs before or outside of a test.
WITNESS = tempfile.TemporaryDirectory(prefix="dpdesk-witness-")
os.environ["DPDESK_WITNESS"] = str(Path(WITNESS.name) / "witness.jsonl")

# How hypothesis searches: `ci` tries the same examples each time, so that a red run is never luck;
# `developing` and `fuzz` (with the long tests) look for new ones. None has a deadline: how long an
# example takes says how busy the machine is.
settings.register_profile("developing", deadline=None)
settings.register_profile("quick", max_examples=20, deadline=None)
# Nor is it a busy machine: there making examples may be slow, which says nothing of the program.
settings.register_profile(
    "ci",
    deadline=None,
    derandomize=True,
    database=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("fuzz", max_examples=2_000, deadline=None, print_blob=True)
settings.load_profile(os.environ.get("DPDESK_HYPOTHESIS") or "developing")


_NUMBERS = count()


@pytest.fixture(scope="session")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where each test has its folders.

    pytest would look at all that there are to number the next one: of thousands of tests, that
    took as long as hundreds.
    """
    return tmp_path_factory.mktemp("tests")


@pytest.fixture
def tmp_path(request: pytest.FixtureRequest, folders: Path) -> Path:
    """A folder of the test's own."""
    name = re.sub(r"\W", "_", request.node.name)[:30]
    made = folders / f"{name}{next(_NUMBERS)}"
    made.mkdir(mode=0o700)
    return made


def _use_home(home: Path, patch: pytest.MonkeyPatch) -> Path:
    """Make it DPDESK_HOME, with the witness that knows its ledgers next to it."""
    patch.setenv("DPDESK_HOME", str(home))
    patch.setenv("DPDESK_WITNESS", str(home.with_name(f"{home.name}-witness.jsonl")))
    return home


@pytest.fixture(scope="module")
def module_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """One DPDESK_HOME and one witness of ledgers for what several tests of a module spend.

    A fixture of a module that spends a budget must use it: the witness of a single test would not
    know the ledger, and stop the next debit.
    """
    with pytest.MonkeyPatch.context() as patch:
        yield _use_home(tmp_path_factory.mktemp("home"), patch)


@pytest.fixture(autouse=True)
def private_home(
    request: pytest.FixtureRequest,
    folders: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Path:
    """Every test has its own DPDESK_HOME and its own witness of ledgers, or its module's.

    So nothing of the user is read or written.
    """
    if "module_home" in request.fixturenames:
        return _use_home(request.getfixturevalue("module_home"), monkeypatch)
    home = folders / f"home{next(_NUMBERS)}"
    home.mkdir(mode=0o700)
    return _use_home(home, monkeypatch)


@pytest.fixture(scope="module", autouse=True)
def cheap_keys(request: pytest.FixtureRequest) -> Iterator[None]:
    """Keys are opened without the cost that guesses at their passphrases have.

    It is a quarter of a second for each signature. Modules whose keys other processes open, or that
    are about the cost, are marked ``costly_keys``.
    """
    from dpdesk.project.review import keys

    cheap = keys.Argon2Cost(time=1, lanes=1, kib=8)
    with pytest.MonkeyPatch.context() as patch:
        if request.node.get_closest_marker("costly_keys") is None:
            patch.setattr(keys, "COST", cheap)
            patch.setattr(keys, "LEAST_COST", cheap)
        yield


@pytest.fixture(scope="module", autouse=True)
def cheap_prints(request: pytest.FixtureRequest) -> Iterator[None]:
    """Nothing is set on pages in modules marked ``cheap_prints``: half of what a release costs.

    Such modules neither look into a PDF nor start programs that print. In place of a PDF lies what
    only this page gives, so that a print of another page is noticed there too.
    """
    if request.node.get_closest_marker("cheap_prints") is None:
        yield
        return
    from dpdesk.report.printing import PRINTER

    def stand_in(page: bytes, token: CancelToken) -> bytes:
        token.check()
        return b"%PDF-1.7\n%" + sha256(page).hexdigest().encode() + b"\n%%EOF\n"

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(PRINTER, "warm", lambda: None)
        patch.setattr(PRINTER, "pdf", stand_in)
        yield


@pytest.fixture(scope="session", autouse=True)
def forked_readers() -> Iterator[None]:
    """Processes that read foreign formats are forked from one that has loaded the libraries."""
    if not sys.platform.startswith("linux"):
        yield
        return
    from dpdesk.io.formats import process
    from tests.helpers.forked_readers import started

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(process, "_started", started)
        yield


@pytest.fixture(scope="session", autouse=True)
def kept_databases() -> Iterator[None]:
    """Databases in memory are emptied and used again, instead of being made anew."""
    import duckdb

    from tests.helpers.kept_databases import KeptDatabases

    kept = KeptDatabases()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(duckdb, "connect", kept.connect)
        yield
    kept.close()


@pytest.fixture
def qtbot(qapp: QApplication, request: pytest.FixtureRequest) -> PatientBot:
    """The toolkit's bot, with the patience of all tests."""
    from tests.helpers.waiting import PatientBot

    return PatientBot(request)


WINDOW_TESTS = frozenset(("ui", "e2e"))
FULL_EVERY = 100


class _Collector:
    """Garbage collection in the main thread, as the window's own process has it.

    A collection that starts in a worker thread may destroy objects of the toolkit there: it then
    waits for the interpreter with a lock of the toolkit in its hand, and the main thread for that
    lock with the interpreter in its own.
    """

    def __init__(self) -> None:
        self._tests = 0

    def before(self, window: bool) -> None:
        if window:
            gc.disable()
        elif self._tests:
            gc.collect()
            gc.enable()
            self._tests = 0

    def after(self, window: bool) -> None:
        if window:
            self._tests += 1
            gc.disable()
            gc.collect(1 if self._tests % FULL_EVERY else 2)


_COLLECTOR = _Collector()


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    """What modules and collected tests hold stays to the end: no collection looks at it again."""
    gc.collect()
    gc.freeze()


def pytest_unconfigure() -> None:
    """Let go of everything: libraries report what is left when the process ends."""
    gc.unfreeze()


@pytest.fixture(autouse=True)
def collected_in_the_main_thread(request: pytest.FixtureRequest) -> Iterator[None]:
    """Keep worker threads of a test with a window from collecting garbage."""
    window = not WINDOW_TESTS.isdisjoint(request.path.relative_to(Path(__file__).parent).parts)
    _COLLECTOR.before(window)
    yield
    _COLLECTOR.after(window)


@pytest.fixture(scope="session")
def real_data() -> Iterator[Path]:
    """The folder of real data, or a skip that says how to name it."""
    folder = os.environ.get("DPDESK_TEST_DATA")
    if not folder or not Path(folder).is_dir():
        pytest.skip("DPDESK_TEST_DATA does not name the folder of real data")
    return Path(folder)
