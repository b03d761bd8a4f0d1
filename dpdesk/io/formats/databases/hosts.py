"""Which servers a password may go to, and how.

A plan is a file that may come from anyone, and its address names the host that is connected to. So
nothing is sent to a host on another computer that a person has not confirmed here, and nothing
leaves this computer without TLS. Hosts that the user's own environment names (PGHOST, a service
file) need no confirmation.
"""

from __future__ import annotations

import ipaddress
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpdesk.core.errors import InputError, StorageError

if TYPE_CHECKING:
    from dpdesk.io.safewrite import PartialKeeper

FILE = "database-hosts.json"
PORT = "5432"
_ALLOWED = frozenset(
    {"user", "host", "hostaddr", "port", "dbname", "service", "options", "target_session_attrs"}
    | {"sslmode", "sslrootcert", "connect_timeout", "application_name"}
)
"""What an address in a plan may set. Others could name files of passwords or of session keys."""
_WITH_TLS = ("require", "verify-ca", "verify-full")
_VERIFIED = "verify-full"


class HostList:
    """The hosts that were confirmed on this computer, in a file of the home folder."""

    def __init__(self, home: Path) -> None:
        self._path = home / FILE

    def load(self) -> frozenset[str]:
        """Confirmed hosts as ``host:port``. Raises StorageError ``database-hosts.damaged``."""
        try:
            raw = json.loads(self._path.read_bytes())
            hosts = raw["hosts"]
            if raw["format"] != 1 or not all(isinstance(item, str) for item in hosts):
                raise ValueError("unknown form")  # noqa: TRY301
        except FileNotFoundError:
            return frozenset()
        except (OSError, ValueError, TypeError, KeyError) as error:
            raise StorageError(
                "database-hosts.damaged",
                f"{self._path}: the list of confirmed database servers cannot be read.",
                hint="Remove the file, then confirm the servers again.",
            ) from error
        return frozenset(hosts)

    def change(self, keeper: PartialKeeper, add: str = "", remove: str = "") -> frozenset[str]:
        """Add or remove a host; the hosts afterwards. Raises StorageError."""
        from dpdesk.io.textfile import write_text

        hosts = (self.load() | ({add} if add else set())) - {remove}
        text = json.dumps({"format": 1, "hosts": sorted(hosts)}, indent=1) + "\n"
        write_text(self._path, text, "database-hosts", keeper)
        return hosts


_home: list[Path] = []


def use_home(home: Path | None) -> None:
    """Take the list of this home folder from now on; None: no host is confirmed."""
    _home[:] = [] if home is None else [home]


def unconfirmed(address: str) -> tuple[str, ...]:
    """Hosts on other computers that an address names and that were not confirmed, as host:port.

    Raises InputError ``database.address``, StorageError ``database-hosts.damaged``.
    """
    named = _remote(_given(address))
    if not named:
        return ()
    known = HostList(_home[0]).load() if _home else frozenset()
    return tuple(host for host in named if host not in known)


def refuse_unconfirmed(address: str) -> None:
    """Raise InputError ``database.unconfirmed`` for an address with a host not confirmed here.

    Raises what :func:`unconfirmed` raises.
    """
    for host in unconfirmed(address):
        raise InputError(
            "database.unconfirmed",
            f"The plan reads from the database server {host}, which has not been confirmed on this "
            "computer. Nothing was sent there.",
            hint=f"If you trust it, run `dpdesk databases confirm {host}`, or connect to it once "
            "under File, Open a database.",
            details={"host": host},
        )


def parse_host(text: str) -> str:
    """A host as it is kept, ``host:port``, from what a person types. Raises InputError."""
    name, colon, port = text.strip().rpartition(":")
    if not colon or port.endswith("]") or (":" in name and not name.startswith("[")):
        name, port = text.strip(), PORT
    name = name.strip("[]").lower()
    known_port = port.isdecimal() and int(port) in range(1, 65_536)
    if not name or not known_port or set("/@, ") & set(name):
        raise InputError(
            "database.host",
            f"Found `{text[:100]}`, expected the name of a server, such as db.example.org:5432.",
        )
    return _shown(name, port)


def hosts_of(address: str) -> tuple[str, ...]:
    """The hosts on other computers that an address names. Raises InputError."""
    return _remote(_given(address))


def safe_parameters(address: str) -> dict[str, Any]:
    """What must be added to an address so that no credential leaves this computer without TLS.

    For a host on another computer TLS is demanded and, unless its certificate is verified, a
    password is never sent as it is. Raises InputError ``database.address`` or ``database.tls``.
    """
    given = _given(address)
    effective = {**_defaults(given), **given}
    if not _remote(effective):
        return {}
    mode = str(effective.get("sslmode", ""))
    chosen = "sslmode" in given or "PGSSLMODE" in os.environ
    if chosen and mode not in _WITH_TLS:
        raise InputError(
            "database.tls",
            f"The address asks for sslmode={mode}, with which a password could leave this computer "
            "unprotected; expected one of require, verify-ca, verify-full.",
            hint="Write sslmode=verify-full with the certificate of the server's authority as "
            "sslrootcert.",
        )
    if mode not in _WITH_TLS:
        mode = _WITH_TLS[0]
    return {"sslmode": mode} | ({} if mode == _VERIFIED else {"require_auth": "!password"})


def _given(address: str) -> dict[str, Any]:
    import psycopg
    from psycopg.conninfo import conninfo_to_dict

    try:
        found = conninfo_to_dict(address)
    except psycopg.Error as error:
        reason = " ".join(str(error).split())[:200]
        raise InputError("database.address", f"The address cannot be read: {reason}.") from error
    for key in sorted(found.keys() - _ALLOWED):
        raise InputError(
            "database.address",
            f"The address sets `{key}`, expected none but {', '.join(sorted(_ALLOWED))}.",
        )
    return found


def _defaults(given: Mapping[str, Any]) -> dict[str, str]:
    """What the environment and the service file say."""
    from psycopg import pq

    with _service(given.get("service")):
        found = pq.Conninfo.get_defaults()
    return {one.keyword.decode(): one.val.decode("utf-8", "replace") for one in found if one.val}


@contextmanager
def _service(name: object) -> Iterator[None]:
    """The library reads the service file of the environment's service."""
    before = os.environ.get("PGSERVICE")
    try:
        if name:
            os.environ["PGSERVICE"] = str(name)
        yield
    finally:
        if before is None:
            os.environ.pop("PGSERVICE", None)
        else:
            os.environ["PGSERVICE"] = before


def _remote(parameters: Mapping[str, Any]) -> tuple[str, ...]:
    hosts = str(parameters.get("host") or "").split(",")
    places = str(parameters.get("hostaddr") or "").split(",")
    ports = str(parameters.get("port") or PORT).split(",")
    found = []
    for j in range(max(len(hosts), len(places))):
        place = places[j] if j < len(places) and places[j] else ""
        host = place or (hosts[j] if j < len(hosts) else "")
        port = ports[j] if j < len(ports) and ports[j] else (ports[0] or PORT)
        if not is_local(host):
            found.append(_shown(host.lower(), port))
    return tuple(found)


def is_local(host: str) -> bool:
    """Whether a host is this computer: a socket, ``localhost``, or an address of the loopback."""
    if not host or host.startswith(("/", "@")) or host.lower() in ("localhost", "localhost."):
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def _shown(name: str, port: str) -> str:
    return f"[{name}]:{port}" if ":" in name else f"{name}:{port}"
