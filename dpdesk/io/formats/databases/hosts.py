"""Which servers a password may go to, and how.

A plan is a file that may come from anyone, and its address names the place that is connected to. So
nothing is sent to another computer that a person has not confirmed here, and nothing leaves this
computer without TLS. Places that the user's own environment names (PGHOST, a service file) need no
confirmation. Which place an address means in this environment is computed as libpq does it:
``hostaddr`` goes before ``host``, what the address sets before what a service file sets, and that
before the environment.

On this computer any user may listen on a port, or make a socket in a folder for all. A place here
that a plan names and no one confirmed may sign the user in without a password (`trust`, `peer`), or
by SCRAM, and by nothing else:

- never by the password as it is, which is what the listener wants;
- never by MD5: the answer depends on nothing but the password and four bytes that the listener
  chooses, so it can be looked up in a table made beforehand, and what is found signs in for ever;
- not by GSSAPI, SSPI or OAuth, whose tickets can be passed on, and whose forms libpq adds to.

SCRAM sends an answer to numbers of both sides that serves once. It does not show that the listener
is the server: one that passes on all messages can use this one session, and a weak password can be
tried against the answer. Only the confirmation of the place excludes that.
"""

from __future__ import annotations

import ipaddress
import json
import os
import re
import socket
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpdesk.core.errors import InputError, StorageError
from dpdesk.core.messages import msg
from dpdesk.core.passwords import holds_password
from dpdesk.core.shapes import read_json
from dpdesk.core.systems import open_plain

if TYPE_CHECKING:
    from dpdesk.io.safewrite import PartialKeeper


FILE = "database-hosts.json"
PORT = "5432"
_ALLOWED = frozenset(
    {"user", "host", "hostaddr", "port", "dbname", "service", "options", "target_session_attrs"}
    | {"sslmode", "sslrootcert", "connect_timeout", "application_name"}
)
"""What an address in a plan may set. Others could name files of passwords or of session keys."""
_NAMES_A_KEY = "invalid URI query parameter"
"""What libpq says of a setting that it does not know, before the name of the setting."""
_PLACE = ("host", "hostaddr", "port")
"""The parts of an address that say where it leads."""
_MOST_PLACES = 8
"""How many servers an address may list; each may be waited for."""
_WITH_TLS = ("require", "verify-ca", "verify-full")
_VERIFIED = "verify-full"
_LEAST_LIBPQ = 160_000
"""The first version that knows `require_auth`."""
_OAUTH_LIBPQ = 180_000
_PROOFS = ("none", "scram-sha-256")
"""How a place on this computer that was not confirmed may sign the user in."""
_NO_PASSWORD = (*_PROOFS, "gss", "sspi")
"""How a place elsewhere may whose certificate was not verified: who stands between may choose the
four bytes of MD5 as well."""


@dataclass(frozen=True)
class Place:
    """Where a connection leads: ``name`` is ``host:port``, or ``/folder:port`` of a socket."""

    name: str
    local: bool


class HostList:
    """The hosts that were confirmed on this computer, in a file of the home folder."""

    def __init__(self, home: Path) -> None:
        self._path = home / FILE

    def load(self) -> frozenset[str]:
        """Confirmed hosts as ``host:port``. Raises StorageError ``database-hosts.damaged``."""
        try:
            with open_plain(self._path) as file:
                raw = read_json(file.read())
            hosts = raw["hosts"]
            if raw["format"] != 1 or not all(isinstance(item, str) for item in hosts):
                raise ValueError("unknown form")  # noqa: TRY301
        except FileNotFoundError:
            return frozenset()
        except (OSError, ValueError, TypeError, KeyError) as error:
            raise StorageError(
                "database-hosts.damaged",
                msg(
                    "{path}: the list of confirmed database servers cannot be read.",
                    path=self._path,
                ),
                hint="Remove the file, then confirm the servers again.",
            ) from error
        return frozenset(hosts)

    def change(self, keeper: PartialKeeper, add: str = "", remove: str = "") -> frozenset[str]:
        """Add or remove a host; the hosts afterwards. Raises StorageError."""
        from dpdesk.io.safewrite import write_text

        hosts = (self.load() | ({add} if add else set())) - {remove}
        text = json.dumps({"format": 1, "hosts": sorted(hosts)}, indent=1) + "\n"
        write_text(self._path, text, "database-hosts", keeper)
        return hosts


_home: list[Path] = []


def use_home(home: Path) -> None:
    """Take the list of this home folder from now on; before, no host is confirmed."""
    _home[:] = [home]


def leave_home(home: Path) -> None:
    """Take the list of this home folder no more: no host is confirmed, if it is in use."""
    if _home == [home]:
        _home.clear()


def confirmed() -> frozenset[str]:
    """The places that were confirmed here. Raises StorageError ``database-hosts.damaged``."""
    return HostList(_home[0]).load() if _home else frozenset()


def unconfirmed_places(address: str) -> tuple[str, ...]:
    """Places that an address names and that were not confirmed: ``host:port``, ``/folder:port``.

    Those on this computer are among them. Raises InputError ``database.address``, StorageError
    ``database-hosts.damaged``.
    """
    known, named = confirmed(), named_places(address)
    return tuple(place.name for place in named if place.name not in known)


def refuse_unconfirmed(address: str, known: Collection[str]) -> None:
    """Raise InputError ``database.unconfirmed`` for a place elsewhere that is not among ``known``.

    Raises InputError ``database.address``.
    """
    for place in named_places(address):
        if not place.local and place.name not in known:
            raise InputError(
                "database.unconfirmed",
                msg(
                    "The plan reads from the database server {host}, which has not been "
                    "confirmed on this computer. Nothing was sent there.",
                    host=place.name,
                ),
                hint=msg(
                    "If you trust it, run `dpdesk databases confirm {host}`, or connect to "
                    "it once under File, Open a database.",
                    host=place.name,
                ),
                details={"host": place.name},
            )


def parse_host(text: str) -> str:
    """A place as it is kept, from what a person types: ``host:port`` or ``/folder:port``.

    Raises InputError ``database.host``.
    """
    typed = text.strip()
    name, colon, port = typed.rpartition(":")
    socketed = typed.startswith(_SOCKETS)
    bare = ":" in name and not name.startswith("[")  # an address of IPv6
    if not port.isdecimal() if socketed else not colon or port.endswith("]") or bare:
        name, port = typed, PORT
    if not socketed:
        name = name.strip("[]").lower()
    known_port = port.isdecimal() and int(port) in range(1, 65_536)
    odd = set("," if socketed else ", /@") & set(name)
    if holds_password(typed) or "@" in typed:
        raise InputError(
            "database.host",
            "Found a user or a password, expected only the name of a server, such as "
            "db.example.org:5432.",
            hint="Put the password into the variable PGPASSWORD or into ~/.pgpass.",
        )
    if not name or not known_port or odd or not name.isprintable() or _is_foreign(name):
        raise InputError(
            "database.host",
            msg(
                "Found `{text}`, expected the name of a server, such as db.example.org:5432.",
                text=text[:100],
            ),
        )
    return _shown(name, port)


def named_places(address: str) -> tuple[Place, ...]:
    """The places that an address names; none where it leaves them to the user's own settings.

    Raises InputError ``database.address``.
    """
    given = given_parameters(address)
    return _places({**_defaults(given), **given}) if _names_a_place(given) else ()


def safe_parameters(address: str, known: Collection[str] = ()) -> dict[str, Any]:
    """What must be added to an address so that no credential goes where it must not.

    ``known`` are the places that were confirmed. For a place on another computer TLS is demanded
    and, unless its certificate is verified by an authority that the user trusts, a password is
    never sent as it is; a place here that the address names must be confirmed for it.

    Raises InputError ``database.address``, ``database.unconfirmed`` or ``database.tls``.
    """
    refuse_unconfirmed(address, known)
    given = given_parameters(address)
    effective = {**_defaults(given), **given}
    asked = str(effective.get("require_auth", ""))
    places = _places(effective)
    found: dict[str, Any] = {}
    if not all(place.local for place in places):
        found["sslmode"] = mode = _tls_mode(given, effective)
        # An authority that the plan brings along says nothing of the server.
        if mode != _VERIFIED or given.get("sslrootcert", "system") != "system":
            found["require_auth"] = _narrowed(asked, _without_password())
    if _names_a_place(given) and any(place.name not in known for place in places if place.local):
        found |= {"require_auth": _narrowed(asked, _PROOFS), "gssdelegation": "0"}
        # Encryption by GSSAPI begins with a ticket before any method is asked for.
        found["gssencmode"] = "disable"
    return found


def place_parameters(address: str) -> dict[str, Any]:
    """Where an address leads, as :func:`named_places` takes it, to be given to psycopg as well.

    psycopg does not see what a service of the environment sets, and would look up the host of the
    address where libpq takes ``hostaddr`` from there. Raises InputError ``database.address``.
    """
    given = given_parameters(address)
    effective = {**_defaults(given), **given}
    return {key: effective[key] for key in _PLACE if effective.get(key)}


def _tls_mode(given: Mapping[str, Any], effective: Mapping[str, Any]) -> str:
    mode = str(effective.get("sslmode", ""))
    chosen = "sslmode" in given or "PGSSLMODE" in os.environ
    if chosen and mode not in _WITH_TLS:
        raise InputError(
            "database.tls",
            msg(
                "The address asks for sslmode={mode}, with which a password could leave this "
                "computer unprotected; expected one of require, verify-ca, verify-full.",
                mode=mode,
            ),
            hint="Write sslmode=verify-full with the certificate of the server's authority as "
            "sslrootcert.",
        )
    return mode if mode in _WITH_TLS else _WITH_TLS[0]


def _without_password() -> tuple[str, ...]:
    from psycopg import pq

    return _NO_PASSWORD + (("oauth",) if pq.version() >= _OAUTH_LIBPQ else ())


def _narrowed(asked: str, allowed: tuple[str, ...]) -> str:
    """The methods of ``allowed`` that the user's own `require_auth` lets through as well."""
    items = [item.strip() for item in asked.split(",") if item.strip()]
    if items and items[0].startswith("!"):
        left = [method for method in allowed if f"!{method}" not in items]
    else:
        left = [method for method in allowed if not items or method in items]
    return ",".join(left) or "scram-sha-256"


def given_parameters(address: str) -> dict[str, Any]:
    """What an address sets, as libpq reads it. Raises InputError ``database.address``."""
    import psycopg
    from psycopg.conninfo import conninfo_to_dict

    if holds_password(address):
        raise InputError(
            "database.address",
            "The address holds a password, expected one without.",
            hint="Put the password into the variable PGPASSWORD or into ~/.pgpass.",
        )
    try:
        found = conninfo_to_dict(address)
    except psycopg.Error as error:
        reason = " ".join(str(error).split())
        if _NAMES_A_KEY not in reason:
            # What it quotes may hold a password, or be one.
            reason = re.sub('"[^"]*"?', "…", reason.partition(': "')[0].replace('"="', "="))
        raise InputError(
            "database.address", msg("The address cannot be read: {reason}.", reason=reason[:200])
        ) from None
    for key in sorted(found.keys() - _ALLOWED):
        raise InputError(
            "database.address",
            msg(
                "The address sets `{key}`, expected only {keys}.",
                key=key,
                keys=", ".join(sorted(_ALLOWED)),
            ),
        )
    _check_given(found)
    return found


def _check_given(given: Mapping[str, Any]) -> None:
    from psycopg import pq

    reason = ""
    if pq.version() < _LEAST_LIBPQ:
        reason = msg("libpq {version} is too old, expected 16 or later", version=pq.version())
    elif not all(str(value).isprintable() for value in given.values()):
        reason = "it holds a character that cannot be printed"
    elif foreign := next((one for one in _listed(given, "host") if _is_foreign(one)), ""):
        reason = msg(
            "the name of the server, {host}, holds letters that no name in the network has",
            host=foreign,
        )
    elif any(one.startswith("@") for one in _listed(given, "host")):
        # libpq knows them, but psycopg looks the name up in the network.
        reason = "it names a socket without a file (`@`), which is not supported"
    elif (count := max(len(_listed(given, key)) for key in _PLACE)) > _MOST_PLACES:
        reason = msg(
            "it names {count} servers, expected at most {most_places}",
            count=count,
            most_places=_MOST_PLACES,
        )
    elif given.get("service") and _names_a_place(given):
        reason = "it names a service and a host, address or port, expected one of them"
    elif (
        given.get("sslrootcert", "system") != "system" and not Path(given["sslrootcert"]).is_file()
    ):
        reason = msg(
            "`sslrootcert` names the file {given}, which does not exist", given=given["sslrootcert"]
        )
    if reason:
        raise InputError(
            "database.address", msg("The address cannot be read: {reason}.", reason=reason)
        )


def _is_foreign(host: str) -> bool:
    """Whether a name is none of the network, and may look like one that is known."""
    return not host.isascii() and not host.startswith(_SOCKETS)


def _listed(parameters: Mapping[str, Any], key: str) -> list[str]:
    return str(parameters.get(key) or "").split(",")


def _names_a_place(given: Mapping[str, Any]) -> bool:
    return not given.keys().isdisjoint(_PLACE)


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


def _places(parameters: Mapping[str, Any]) -> tuple[Place, ...]:
    """Every place that libpq may try with these parameters."""
    hosts, addresses = _listed(parameters, "host"), _listed(parameters, "hostaddr")
    ports = str(parameters.get("port") or PORT).split(",")
    found = []
    for j in range(max(len(hosts), len(addresses))):
        address = addresses[j] if j < len(addresses) else ""
        host = address or (hosts[j] if j < len(hosts) else "") or _usual_host()
        port = (ports[0] if len(ports) == 1 else ports[j] if j < len(ports) else "").strip()
        name = host if host.startswith(_SOCKETS) else host.lower()
        found.append(Place(_shown(name, port or PORT), is_local(host)))
    return tuple(dict.fromkeys(found))


_SOCKETS = "/"
"""What the path of a socket begins with."""


@cache
def _usual_host() -> str:
    """Where libpq looks for a server when nothing names one: the folder that it was built with."""
    from psycopg import pq

    tried = pq.PGconn.connect_start(b"host='' hostaddr='' port=1")
    try:
        return tried.host.decode("utf-8", "replace")
    finally:
        tried.finish()


def is_local(host: str) -> bool:
    """Whether a host is this computer: a socket, ``localhost``, or an address of the loopback.

    What looks like an address but is none for libpq (``[127.0.0.1]``, ``127.1``) is a name that is
    looked up in the network, and so elsewhere.
    """
    if host.startswith(_SOCKETS):
        return True
    try:
        if host.lower() != "localhost":
            return ipaddress.ip_address(host).is_loopback
        meant = {found[4][0] for found in socket.getaddrinfo(host, None)}
        return all(ipaddress.ip_address(address).is_loopback for address in meant)
    except (OSError, ValueError):
        return False


def _shown(name: str, port: str) -> str:
    socketed = name.startswith(_SOCKETS)
    return f"[{name}]:{port}" if ":" in name and not socketed else f"{name}:{port}"


# Passwords of database servers that a person typed, for as long as the program runs.
#
# They are needed again whenever the table is read again (another way of reading, a release, an
# undo), and must not be written anywhere. So they are kept in the memory of this process alone,
# and handed to the reading process through its pipe, never by an argument or an environment.


_kept: dict[str, str] = {}


def keep(address: str, password: str) -> None:
    """Use this password for an address from now on."""
    _kept[address] = password


def password_of(address: str) -> str | None:
    """The password that was typed for an address; None when there was none."""
    return _kept.get(address)
