"""Spark as an engine: on this computer or on a cluster, by its ordinary configuration.

One session serves all tables of a cluster while the program runs, since starting one takes seconds.
A table is one of its catalogue, or Parquet under a path that the cluster sees.
"""

from __future__ import annotations

import atexit
import os
import re
import shutil
import socket
import subprocess
import threading
import warnings
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, wait
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias
from uuid import uuid4

from dpdesk.core.errors import DpdeskError, InputError, StorageError
from dpdesk.core.jobs import CancelToken, Report, StepStarted
from dpdesk.core.messages import msg
from dpdesk.core.source_spec import SourceSpec
from dpdesk.io.engines.refusals import need_spark, no_session
from dpdesk.io.engines.statements import FILLED, RAW_SOURCE, SOURCE
from dpdesk.io.formats.columns import check_names, no_text
from dpdesk.io.formats.databases.hosts import confirmed, is_local, parse_host
from dpdesk.io.formats.request import OfferedTable
from dpdesk.io.parquetload import as_text
from dpdesk.io.workspace import Workspace

if TYPE_CHECKING:
    import pyarrow as pa

START = "Start Spark"
_SETTINGS = {
    # As texts of other sources are: moments in UTC, no words of the plan replaced.
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.variable.substitute": "false",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
}
_USUAL = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.maxResultSize": "0",
}
"""What holds unless the configuration of Spark says otherwise."""
_MEMORY, _APP = "4g", "dpdesk"
_TEXTS = re.compile(
    r"(string|char|varchar|boolean|tinyint|smallint|int|bigint|float|double|decimal|date|"
    r"timestamp(_ntz)?)(\(.*\)| collate .*)?"
)
"""The types whose values have a text, in Spark's words."""
_PORT, _CONNECTING = "7077", 10.0
_LOOK_UP = 0.1
"""Seconds between two looks whether the work that waits was cancelled."""
Asked: TypeAlias = tuple[str, Path]
_starts: dict[Asked, Future[Any]] = {}
_asking, _starting = threading.Lock(), threading.Lock()


class SparkEngine:
    """A table of a Spark cluster; see :class:`Engine`.

    Without a ``workspace`` no session is started. Raises InputError ``engine.missing``,
    ``engine.java``, ``engine.closed``, ``source.table``, ``source.query``; StorageError
    ``engine.unreachable``; Cancelled.
    """

    name = "Spark"

    def __init__(
        self,
        spec: SourceSpec,
        path: Path,
        token: CancelToken,
        report: Report,
        workspace: Workspace | None,
    ) -> None:
        need_spark(self.name)
        if spec.table is None:
            raise InputError(
                "source.table",
                msg("{name}: expected a `table` under [source].", name=path.name),
                hint="Name a table of the catalogue, or the path of Parquet data that the cluster "
                "sees.",
            )
        self._name, self._table = path.name, spec.table
        self._session = _session(spec.path, token, report, workspace)
        with self._told(token):
            found = self._read()
            self.columns = tuple(found.columns)
            kinds = [(field.name, field.dataType.simpleString()) for field in found.schema.fields]
        check_names(list(self.columns), self._name)
        for name, kind in kinds:
            if _TEXTS.fullmatch(kind) is None:
                raise no_text(self._name, name, kind)
        self._view = f"dpdesk_{uuid4().hex}"
        # Names may hold any sign, so columns go by their places.
        found.toDF(*(f"x{j}" for j in range(len(kinds)))).createOrReplaceTempView(self._view)

    def _read(self) -> Any:
        if "/" in self._table:
            return self._session.read.parquet(self._table)
        return self._session.table(self._table)

    def base(self, places: Sequence[int], *, filled: bool, prints: bool) -> Mapping[str, str]:
        """See :meth:`Engine.base`."""
        tables = {RAW_SOURCE: f"SELECT * FROM {self._view}"}
        some = " OR ".join(f"{_key(place)} RLIKE '{FILLED}'" for place in range(len(self.columns)))
        where = f" WHERE {some}" if filled else ""
        if not prints:
            listed = ", ".join(
                f"x{place} AS v{place}, {_key(place)} AS k{place}" for place in places
            )
            return tables | {SOURCE: f"SELECT {listed} FROM {RAW_SOURCE}{where}"}
        row = ", ".join(f"length({_key(place)}), ':', {_key(place)}" for place in places) or "''"
        halves = ", ".join(
            f"CAST(conv(substr(m, {start}, 15), 16, 10) AS BIGINT) AS h{half}"
            for half, start in enumerate((1, 16))
        )
        first = _key(places[0]) if places else "'x'"
        empty = f"CASE WHEN {first} RLIKE '{FILLED}' THEN 0 ELSE 1 END"
        rows = f"SELECT md5(concat({row})) AS m, {empty} AS e FROM {RAW_SOURCE}{where}"
        return tables | {SOURCE: f"SELECT {halves}, e FROM ({rows})"}

    def compiled(self, expression: Any) -> Any:
        """See :meth:`Engine.compiled`."""
        from ibis.backends.sql.compilers import PySparkCompiler

        return PySparkCompiler().to_sqlglot(expression)

    def sql(self, tree: Any) -> str:
        """See :meth:`Engine.sql`."""
        from ibis.backends.sql.compilers import PySparkCompiler

        return str(tree.sql(dialect=PySparkCompiler.dialect))

    def fetch(self, sql: str, target: Path, token: CancelToken, report: Report) -> None:
        """See :meth:`Engine.fetch`; a cancel stops what the cluster does for it."""
        from pyarrow import parquet

        found = self.answer(sql, token)
        os.close(os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        parquet.write_table(found, target)

    def answer(self, sql: str, token: CancelToken) -> pa.Table:
        """As :meth:`fetch`, in memory."""
        tag, context = f"dpdesk-{uuid4().hex}", self._session.sparkContext
        with self._told(token), token.on_cancel(lambda: context.cancelJobsWithTag(tag)):
            context.addJobTag(tag)
            try:
                found = self._session.sql(sql).toArrow()
            finally:
                context.removeJobTag(tag)
        token.check()
        return found.rename_columns([f"c{j}" for j in range(found.num_columns)])

    def text_sql(self, name: str, kind: str) -> str:
        """See :meth:`Engine.text_sql`: as of a Parquet file."""
        return as_text(name, kind)

    def close(self) -> None:
        """Forget the view of the table; the session stays."""
        self._session.catalog.dropTempView(self._view)

    def _told(self, token: CancelToken) -> AbstractContextManager[None]:
        return _telling(self._name, self._table, token)


@contextmanager
def _telling(name: str, table: str, token: CancelToken) -> Iterator[None]:
    """Say in our words what Spark says."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the library, on settings and threads
            yield
    except DpdeskError:
        raise
    except Exception as error:
        token.check()
        raise told(name, table, error) from error


def _key(place: int) -> str:
    """The text of a column; null is the empty text, as it is when rows are read."""
    return f"coalesce(CAST(x{place} AS STRING), '')"


def told(name: str, table: str, error: Exception) -> DpdeskError:
    """What Spark said, as one sentence."""
    text = " ".join(str(error).split())
    short = text[:200].rstrip(".")
    if "TABLE_OR_VIEW_NOT_FOUND" in text or "PATH_NOT_FOUND" in text:
        return InputError(
            "source.query",
            msg("{name}: Spark knows no table or path `{table}`.", name=name, table=table),
            hint="Name a table of the catalogue, or the path of Parquet data that the cluster "
            "sees.",
        )
    words = ("AccessControlException", "AccessDenied", "Permission denied", "INSUFFICIENT_PERM")
    if any(word in text for word in words):
        return InputError(
            "source.query",
            msg("{name}: Spark may not read the table ({text}).", name=name, text=short),
            hint="Ask for the right to read it.",
        )
    if "JAVA_GATEWAY_EXITED" in text:
        return _no_java(name)
    gone = ("Connection refused", "py4j", "SparkContext was shut down", "stopped SparkContext",
            "All masters are unresponsive", "Could not parse Master", "Job aborted")  # fmt: skip
    if any(word in text for word in gone) or isinstance(error, OSError):
        return StorageError(
            "engine.unreachable",
            msg("{name}: the work in Spark broke off: {text}.", name=name, text=short),
            hint="Check that the cluster runs and has room, and look at its log.",
        )
    return InputError(
        "source.query",
        msg("{name}: Spark refused to read: {text}.", name=name, text=short),
        hint="Check `table` under [source].",
    )


def _no_java(name: str) -> InputError:
    return InputError(
        "engine.java",
        msg("{name}: Spark needs Java 17 or later, which was not found.", name=name),
        hint="Install it (on Debian: openjdk-17-jre-headless), or set JAVA_HOME.",
    )


def _session(master: str, token: CancelToken, report: Report, workspace: Workspace | None) -> Any:
    """The session for a cluster, started where there is none yet.

    Starting it cannot be stopped: who does not wait for it any more leaves it to the next one.
    """
    home = os.environ.get("JAVA_HOME")
    if not (shutil.which("java") or (home and Path(home, "bin", "java").exists())):
        raise _no_java(master)
    _refuse_unconfirmed(master)
    with _asking:
        asked, known = _known(master, workspace)
        if known is None:
            if workspace is None:
                raise no_session(master)
            report(StepStarted(START, 1, 1))
            known = _starts[asked] = Future()
            given = known, master, workspace.new_path(".spark")
            threading.Thread(target=_start, args=given, daemon=True).start()
    while not wait([known], _LOOK_UP).done:
        token.check()
    try:
        return known.result()
    except DpdeskError:
        raise
    except Exception as error:
        raise told(master, "", error) from error


def _known(master: str, workspace: Workspace | None) -> tuple[Asked, Future[Any] | None]:
    """The session that serves a cluster, or is being started; None where there is none."""
    folder = workspace.folder if workspace is not None else Path()
    for asked, found in _starts.items():
        if asked != (master, folder) and not (workspace is None and asked[0] == master):
            continue
        broken = found.done() and (found.exception() is not None or _is_over(found.result()))
        if not broken:
            return asked, found
    return (master, folder), None


def _is_over(session: Any) -> bool:
    return bool(session.sparkContext._jsc is None or session.sparkContext._jsc.sc().isStopped())


def _start(promised: Future[Any], master: str, private: Path) -> None:
    """Start a session; a process can be connected to one cluster only."""
    try:
        _refuse_silent(master)
        with _starting:
            _stop(but=promised)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                promised.set_result(_started(master, private))
    except BaseException as error:  # noqa: BLE001 - raised where it is waited for
        promised.set_exception(error)


def _refuse_silent(master: str) -> None:
    """Raise StorageError ``engine.unreachable`` where no master of a stand-alone cluster answers.

    Spark itself would try for a minute.
    """
    if not master.startswith("spark://"):
        return
    for host, port in _places(master):
        with suppress(OSError), socket.create_connection((host, int(port or _PORT)), _CONNECTING):
            return
    raise StorageError(
        "engine.unreachable",
        msg("{name}: no cluster of Spark answers there.", name=master),
        hint="Check the address, and that the cluster runs.",
    )


def _started(master: str, private: Path) -> Any:
    """A session whose files on this computer lie in the private folder."""
    from pyspark import SparkConf, SparkContext
    from pyspark.java_gateway import launch_gateway
    from pyspark.sql import SparkSession

    os.environ.setdefault("SPARK_DRIVER_MEMORY", _MEMORY)
    if SparkContext._gateway is None:
        first = SparkConf(loadDefaults=False).setMaster(master).setAppName(_APP)
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        gateway: Any = launch_gateway
        SparkContext._ensure_initialized(gateway=gateway(first, quiet))
        atexit.register(stop)
    private.mkdir(mode=0o700)
    conf = SparkConf().setMaster(master).setAppName(_APP).setAll([*_SETTINGS.items()])
    conf.set("spark.local.dir", str(private))
    # Spark makes this folder, by itself in whatever folder the program was started from.
    usual = _USUAL | {"spark.sql.warehouse.dir": str(private / "warehouse")}
    for key, value in usual.items():
        conf.setIfMissing(key, value)
    session = SparkSession.builder.config(conf=conf).getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    return session


def stop() -> None:
    """End the session; its process ends with the program."""
    with _starting:
        _stop()


def _stop(but: Future[Any] | None = None) -> None:
    """End what was started before."""
    with _asking:
        gone = [asked for asked, found in _starts.items() if found is not but and found.done()]
        ended = [_starts.pop(asked) for asked in gone]
    for found in ended:
        with warnings.catch_warnings(), suppress(Exception):
            warnings.simplefilter("ignore")
            found.result().stop()


def unconfirmed_clusters(master: str) -> tuple[str, ...]:
    """The places of a cluster elsewhere that no one confirmed, as the address names them.

    A plan may come from anybody; what it names gets statements, and what the user's configuration
    of Spark sends along.
    """
    if "://" not in master:
        return ()
    known = confirmed()
    return tuple(
        place
        for place, (host, _) in zip(_named(master), _places(master), strict=True)
        if not (is_local(host) or place in known or parse_host(place) in known)
    )


def _named(master: str) -> list[str]:
    return master.rpartition("://")[2].partition("/")[0].split(",")


def _places(master: str) -> list[tuple[str, str]]:
    """Host and port of each place that the address of a cluster names."""
    found = []
    for place in _named(master):
        host, _, port = place.rpartition(":")
        found.append(((host or place).strip("[]"), port if host else ""))
    return found


def _refuse_unconfirmed(master: str) -> None:
    """Raise InputError ``database.unconfirmed`` for a cluster elsewhere that no one confirmed."""
    for place in unconfirmed_clusters(master):
        raise InputError(
            "database.unconfirmed",
            msg("The cluster at {place} was not confirmed; nothing was sent there.", place=place),
            hint=msg(
                "If you trust it, confirm it with `dpdesk databases confirm {place}`.", place=place
            ),
            details={"host": place},
        )


def tables_of(
    master: str, token: CancelToken, report: Report, workspace: Workspace
) -> tuple[OfferedTable, ...]:
    """The tables and views of the catalogue of a cluster; those of its present database first.

    Raises as :class:`SparkEngine` does.
    """
    need_spark(SparkEngine.name)
    session = _session(master, token, report, workspace)
    found = []
    with _telling(master, "", token):
        catalog = session.catalog
        present = catalog.currentDatabase()
        names = {one.name for one in catalog.listDatabases()}
        for name in sorted(names, key=lambda one: (one != present, one)):
            token.check()
            for table in catalog.listTables(name):
                if not table.isTemporary:
                    full = table.name if name == present else f"{name}.{table.name}"
                    found.append(OfferedTable(full, table.tableType == "VIEW", None))
    return tuple(found)
