"""Tables of a database server: its address, what it offers, and the work that begins with one."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from dpdesk.app.auditing import mention
from dpdesk.app.context import AppContext
from dpdesk.core.errors import InputError
from dpdesk.core.jobs import CancelToken, Report
from dpdesk.core.logged import Logged
from dpdesk.core.messages import msg
from dpdesk.core.passwords import holds_password
from dpdesk.core.plan import SourceSpec
from dpdesk.core.source_spec import is_cluster
from dpdesk.io.formats.request import OfferedTable, ReadRequest

__all__ = [
    "Address",
    "OfferedTable",
    "cluster_of",
    "cluster_tables",
    "confirm_host",
    "confirm_typed",
    "confirmed_hosts",
    "forget_host",
    "keep_password",
    "offered_tables",
    "place_of",
]

_PORTS = range(1, 65_536)


@dataclass(frozen=True)
class Address:
    """Where a database is; what is empty is left to PGHOST, PGUSER and the like.

    ``host`` is a name, an address, or the folder of a socket; ``service`` an entry of
    ``pg_service.conf``. A password is no part of it.
    """

    host: str = ""
    port: str = ""
    database: str = ""
    user: str = ""
    service: str = ""

    @property
    def url(self) -> str:
        """The address as a plan has it. Raises InputError ``database.port``."""
        if self.port and not (self.port.isdecimal() and int(self.port) in _PORTS):
            raise InputError(
                "database.port",
                msg("Port: found `{port}`, expected a number from 1 to 65535.", port=self.port),
                hint="Leave it empty for the usual one, 5432.",
            )
        is_folder = self.host.startswith("/")
        user = f"{quote(self.user, safe='')}@" if self.user else ""
        host = "" if is_folder else quote(self.host, safe=":[]")
        if ":" in host and not host.startswith("["):
            host = f"[{host}]"  # an address of IPv6
        port = f":{self.port}" if self.port and host else ""
        more = {
            "host": self.host if is_folder else "",
            "port": self.port if self.port and not host else "",
            "service": self.service,
        }
        query = "&".join(f"{key}={quote(value, safe='/')}" for key, value in more.items() if value)
        found = f"postgresql://{user}{host}{port}/{quote(self.database, safe='')}"
        return f"{found}?{query}" if query else found

    @classmethod
    def of(cls, url: str) -> Address:
        """The parts of an address as a plan has it; nothing of one that cannot be read."""
        from dpdesk.io.formats.databases.hosts import given_parameters

        try:
            given = given_parameters(url)
        except InputError:
            return cls()
        keys = ("port", "dbname", "user", "service")
        place = given.get("hostaddr") or given.get("host", "")
        return cls(place, *(str(given.get(key, "")) for key in keys))


def keep_password(url: str, password: str) -> None:
    """Use a password that was typed until the program ends; it is written nowhere.

    An empty one changes nothing: the one typed before stays in use.
    """
    from dpdesk.io.formats.databases.hosts import keep

    if password:
        keep(url, password)


def confirmed_hosts(context: AppContext) -> tuple[str, ...]:
    """The database servers that were confirmed on this computer. Raises StorageError."""
    from dpdesk.io.formats.databases.hosts import HostList

    return tuple(sorted(HostList(context.home).load()))


def confirm_host(context: AppContext, host: str, report: Report) -> str:
    """Let plans read from a server; the server as it is kept. Logged.

    Raises InputError ``database.host``, StorageError.
    """
    from dpdesk.io.formats.databases.hosts import HostList, parse_host

    name = parse_host(host)
    HostList(context.home).change(context.workspace, add=name)
    mention(context, Logged.CHANGED, name, report, {"what": "database server confirmed"})
    return name


def forget_host(context: AppContext, host: str, report: Report) -> str:
    """Confirm a server no more; the server. Raises InputError ``database.host``, StorageError."""
    from dpdesk.io.formats.databases.hosts import HostList, parse_host

    name = parse_host(host)
    if name not in confirmed_hosts(context):
        raise InputError(
            "database.host", msg("{host} is not a confirmed database server.", host=name)
        )
    HostList(context.home).change(context.workspace, remove=name)
    mention(context, Logged.CHANGED, name, report, {"what": "database server no longer confirmed"})
    return name


def confirm_typed(context: AppContext, url: str, report: Report) -> None:
    """Confirm the servers of an address that a person typed, in order to connect to it.

    Those on this computer are confirmed as well.

    Raises InputError ``database.address``, StorageError.
    """
    from dpdesk.io.formats.databases.hosts import unconfirmed_places

    for host in unconfirmed_places(url):
        confirm_host(context, host, report)


def offered_tables(
    url: str, password: str, token: CancelToken, report: Report
) -> tuple[OfferedTable, ...]:
    """The tables and views that may be read there, with about how many rows.

    The server must be confirmed; see :func:`confirm_typed`. Raises InputError
    ``database.unconfirmed``, ``database.tls``, StorageError ``database.password`` and
    ``database.unreachable``, Cancelled at once.
    """
    from dpdesk.io.formats.databases.hosts import confirmed, password_of, refuse_unconfirmed
    from dpdesk.io.formats.process import read_in_process

    places = confirmed()
    refuse_unconfirmed(url, places)
    known = password or password_of(url)
    request = ReadRequest(url, "", "postgresql", password=known, confirmed=places, listing=True)
    return read_in_process(request, "the database", token, lambda made: None).tables


def cluster_of(typed: str) -> str:
    """The address of a cluster as a plan has it, from what a person typed.

    Raises InputError ``database.cluster``.
    """
    found = typed.strip()
    if holds_password(found):
        raise InputError(
            "database.cluster", msg("Cluster: found a password, expected an address without one.")
        )
    if not is_cluster(found):
        raise InputError(
            "database.cluster",
            msg(
                "Cluster: found `{typed}`, expected `local[*]`, `spark://HOST:PORT`, `yarn` or "
                "`k8s://…`.",
                typed=found,
            ),
        )
    return found


def cluster_tables(
    context: AppContext, cluster: str, token: CancelToken, report: Report
) -> tuple[OfferedTable, ...]:
    """The tables of the catalogue of a cluster of Spark, whose address a person typed.

    Its places are confirmed, as servers are by :func:`confirm_typed`. Raises InputError
    ``engine.missing``, ``engine.java``, StorageError ``engine.unreachable``, Cancelled at once.
    """
    from dpdesk.io.engines.refusals import need_spark
    from dpdesk.io.engines.spark import tables_of, unconfirmed_clusters

    need_spark("Spark")
    for place in unconfirmed_clusters(cluster):
        confirm_host(context, place, report)
    return tables_of(cluster, token, report, context.workspace)


def place_of(source: SourceSpec) -> Path:
    """What the table of a server is called where files have their path."""
    from dpdesk.io.reading import resolve_source

    return resolve_source(source, Path())
