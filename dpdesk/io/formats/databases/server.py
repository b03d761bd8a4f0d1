"""The connection to a PostgreSQL server, and the tables that it offers.

User and password come from where every client of PostgreSQL finds them (PGUSER, PGPASSWORD,
~/.pgpass, service files), or a person typed the password; errors never repeat it.
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from queue import Empty, Queue
from typing import Any

from dpdesk.core.errors import DpdeskError, InputError, StorageError
from dpdesk.core.messages import msg
from dpdesk.io.formats.databases.hosts import (
    given_parameters,
    named_places,
    place_parameters,
    safe_parameters,
)
from dpdesk.io.formats.request import OfferedTable, ReadRequest

CONNECTING = 10
"""Seconds after which a place is given up where no connection is made."""
SIGNING_IN = 60.0
"""Seconds after which a sign-in is given up, over all addresses that are tried."""
_ENDING = 0.3
"""Seconds that a server has to end a statement that is no longer needed."""
ANSWERING = 30.0
"""Seconds after which a server is given up that does not take the settings."""
_SETTINGS = (
    "SET default_transaction_read_only = on",
    "SET client_encoding = 'UTF8'",
    "SET datestyle = 'ISO, YMD'",
    "SET timezone = 'UTC'",
    "SET intervalstyle = 'postgres'",
    "SET extra_float_digits = 1",
    "SET standard_conforming_strings = on",
    # A statement ends soon after the program that asked for it; older servers have none.
    "SELECT set_config(name, '1000', false) FROM pg_settings "
    "WHERE name = 'client_connection_check_interval'",
    # An error instead of a table without the rows that a policy hides; older servers have none.
    "SELECT set_config(name, 'off', false) FROM pg_settings WHERE name = 'row_security'",
)
_TABLES = """
SELECT n.nspname, c.relname, c.relkind IN ('v', 'm'),
       CASE WHEN c.relkind IN ('r', 'm') AND c.reltuples >= 0 THEN c.reltuples::bigint END,
       n.nspname = ANY (current_schemas(false)) AND pg_table_is_visible(c.oid)
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT c.relispartition
  AND n.nspname <> 'information_schema' AND n.nspname !~ '^pg_'
  AND has_schema_privilege(n.oid, 'USAGE') AND has_table_privilege(c.oid, 'SELECT')
ORDER BY 5 DESC, 1, 2
"""
_ABOUT_PASSWORD = ("password authentication failed", "no password supplied")

_ABOUT_CERTIFICATE = (
    *("certificate verify failed", "signature failure"),
    *("server certificate for", "root certificate file"),
)


def server_name(address: str) -> str:
    """What errors call a server: its host and its database, never its user.

    Raises InputError ``database.address``.
    """
    given = given_parameters(address)
    if given.get("service"):
        return msg("service {given}", given=given["service"])
    host = given.get("hostaddr") or given.get("host") or ""
    where = "this computer" if not host or host.startswith("/") else host
    return msg("{where}, database {get}", where=where, get=given.get("dbname", ""))


def connect(request: ReadRequest) -> Any:
    """A connection that can only read; a server that does not answer is given up.

    Raises StorageError ``database.password`` or ``database.unreachable``, InputError
    ``source.query``, ``database.address``, ``database.unconfirmed``, ``database.tls``.
    """
    import psycopg

    name = server_name(request.path)
    more = place_parameters(request.path) | safe_parameters(request.path, request.confirmed)
    if request.password is not None:
        more["password"] = request.password
    try:
        con = _signed_in(request.path, more)
    except (psycopg.Error, ValueError) as error:
        raise _not_signed_in(name, request, error) from error
    try:
        with _hung_up_after(ANSWERING, con):
            for setting in _SETTINGS:
                con.execute(setting)
    except psycopg.Error as error:
        con.close()
        raise told(name, error) from error
    return con


def _signed_in(address: str, more: Mapping[str, Any]) -> Any:
    """The connection of psycopg. Raises psycopg.Error, after :data:`SIGNING_IN` at the latest.

    A server says how often SCRAM hashes the password, which libpq does to the end: 2,147,483,647
    times take more than an hour, in which no other time limit is looked at.
    """
    import psycopg

    answer: Queue[Any] = Queue()

    def try_it() -> None:
        try:
            answer.put(
                psycopg.connect(
                    address,
                    connect_timeout=CONNECTING,
                    application_name="dpdesk",
                    autocommit=True,
                    **more,
                )
            )
        except Exception as error:  # noqa: BLE001 - raised below, where it is waited for
            answer.put(error)

    threading.Thread(target=try_it, daemon=True).start()
    try:
        found = answer.get(timeout=SIGNING_IN)
    except Empty:
        raise psycopg.OperationalError(
            msg("no sign-in within {signing_in:.0f} seconds", signing_in=SIGNING_IN)
        ) from None
    if isinstance(found, Exception):
        raise found
    return found


@contextmanager
def _hung_up_after(seconds: float, con: Any) -> Iterator[None]:
    """End a connection whose server does not answer in time; what waits for it then fails."""
    timer = threading.Timer(seconds, _hang_up, (con,))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()


def _hang_up(con: Any) -> None:
    """Shut the line of a connection, from any thread; what waits for its server then fails."""
    import psycopg

    with suppress(OSError, psycopg.Error):
        line = socket.socket(fileno=con.fileno())
        try:
            line.shutdown(socket.SHUT_RDWR)
        finally:
            line.detach()


def stop(con: Any) -> None:
    """Have a server stop what it does for a connection, which is of no use afterwards.

    It is asked to, and when it does not answer soon the line is shut; nothing here waits for it.
    """
    import psycopg

    def ask() -> None:
        with suppress(OSError, psycopg.Error):
            con.cancel()

    for work, delay in ((ask, 0.0), (partial(_hang_up, con), _ENDING)):
        timer = threading.Timer(delay, work)
        timer.daemon = True
        timer.start()


def _not_signed_in(name: str, request: ReadRequest, error: Exception) -> DpdeskError:
    """What a server asked for and did not get, or what else went wrong on connecting."""
    text = str(error)
    if "authentication method requirement" not in text:
        return told(name, error)
    cleartext = "cleartext password" in text
    places = [one for one in named_places(request.path) if one.name not in request.confirmed]
    if not places:
        return InputError(
            "database.tls",
            msg(
                "The server ({name}) asked for a cleartext password, which is sent only to "
                "servers whose certificate was verified. The password was not sent.",
                name=name,
            )
            if cleartext
            else msg(
                "The server ({name}) asked for a way of signing in that is not allowed "
                "here. Nothing secret was sent.",
                name=name,
            ),
            hint="Set sslmode=verify-full in the address, with an authority that this computer "
            "trusts, or have the server ask for SCRAM.",
        )
    listed = ", ".join(place.name for place in places)
    command = "; ".join(msg("dpdesk databases confirm {name}", name=place.name) for place in places)
    return InputError(
        "database.unconfirmed",
        msg(
            "The server at {places} on this computer asked for a cleartext password, which is "
            "sent only to confirmed servers. The password was not sent.",
            places=listed,
        )
        if cleartext
        else msg(
            "The server at {places} on this computer asked for a way of signing in that "
            "only confirmed servers get. Nothing secret was sent.",
            places=listed,
        ),
        hint=msg(
            "If you trust it, confirm it with `{command}`, or connect to it once under "
            "File, Open a database.",
            command=command,
        ),
        details={"host": places[0].name},
    )


def tables_of(request: ReadRequest) -> tuple[OfferedTable, ...]:
    """The tables and views that may be read, those that need no schema first.

    Raises what :func:`connect` raises.
    """
    import psycopg

    con = connect(request)
    try:
        found = con.execute(_TABLES).fetchall()
    except psycopg.Error as error:
        raise told(server_name(request.path), error) from error
    finally:
        con.close()
    return tuple(
        OfferedTable(".".join(quoted_part(part) for part in (() if near else (schema,)) + (name,)),
                     bool(view), None if rows is None else int(rows))
        for schema, name, view, rows, near in found
    )  # fmt: skip


def quoted_part(part: str) -> str:
    """A name in quotes where it holds a point or a quote, as :func:`name_parts` reads it."""
    return '"' + part.replace('"', '""') + '"' if set(part) & set('."') else part


def name_parts(table: str) -> tuple[str, ...]:
    """The schema and the name of ``schema.table``; a part with a point stands in double quotes."""
    parts, quoted, at = [""], False, 0
    while at < len(table):
        sign = table[at]
        if sign == '"' and quoted and table[at + 1 : at + 2] == '"':
            parts[-1] += sign
            at += 1
        elif sign == '"' and (quoted or not parts[-1]):
            quoted = not quoted
        elif sign == "." and not quoted:
            parts.append("")
        else:
            parts[-1] += sign
        at += 1
    return tuple(parts)


def need_utf8(name: str, encoding: str) -> None:
    """Raise InputError ``source.encoding`` for a database that keeps texts in another encoding."""
    if encoding != "UTF8":
        raise InputError(
            "source.encoding",
            msg(
                "{name}: the database keeps texts in the encoding {encoding}, expected UTF8 for a "
                "method with noise, and for work inside PostgreSQL.",
                name=name,
                encoding=encoding or "?",
            ),
            hint="Copy the table to a database that was created with ENCODING 'UTF8'.",
        )


def _about_tls(name: str, text: str) -> InputError | None:
    """The error for a server without TLS, or with a certificate that is not its own."""
    if "server does not support SSL" in text:
        return InputError(
            "database.tls",
            msg(
                "{name}: the server offers no TLS, without which nothing secret is sent to "
                "another computer. The password was not sent.",
                name=name,
            ),
            hint="Ask those who run the server to switch TLS on.",
        )
    if not any(words in text for words in _ABOUT_CERTIFICATE):
        return None
    return InputError(
        "database.tls",
        msg(
            "{name}: the certificate of the server could not be verified ({text}). The password "
            "was not sent.",
            name=name,
            text=text.rpartition("failed: ")[2],
        ),
        hint="Check the name in the address, and the authority in `sslrootcert` or in "
        "~/.postgresql/root.crt.",
    )


_CHECK_SOURCE = msg("Check `table` or `query` under [source].")
_CHECK_QUERY = msg("Check `query` under [source].")
_REFUSED = {
    "42P01": (msg("the table does not exist"), _CHECK_SOURCE),
    "3F000": (msg("the schema does not exist"), _CHECK_SOURCE),
    "42703": (msg("the column does not exist"), _CHECK_QUERY),
    "42601": (msg("it does not understand the query"), _CHECK_QUERY),
    "42883": (msg("it has no such function or comparison"), _CHECK_QUERY),
    "42501": (msg("this user may not read it"), msg("Ask for the right to read it.")),
    "57014": (
        msg("it was stopped, or took longer than the server allows"),
        msg("Ask those who run the server for more time, or read a smaller table."),
    ),
    "22": (
        msg("a value cannot be computed or converted"),
        msg("Correct the value, or what the view or `query` does with it."),
    ),
    "40": (msg("other programs were using the table"), msg("Try again.")),
    "53": (
        msg("the server has no room or memory left"),
        msg("Try again later, or ask those who run the server."),
    ),
    "54": (
        msg("a value or the query is too large for the server"),
        msg("Read fewer columns, or shorter values."),
    ),
}
"""By the code of an error of PostgreSQL, or its first two signs: what is wrong, what to do."""


def _refused(name: str, error: Exception, text: str) -> InputError | None:
    """What a server refused, by the code of its error; its own words stand behind ours."""
    code = getattr(error, "sqlstate", None) or ""
    known = _REFUSED.get(code) or _REFUSED.get(code[:2])
    if known is None:
        return None
    sentence = msg(
        "{name}: the database refused to read: {why} ({text}).",
        name=name,
        why=known[0],
        text=text,
    )
    return InputError("source.query", sentence, hint=known[1])


def told(name: str, error: Exception) -> DpdeskError:
    """What a server said, in our words."""
    import psycopg

    # Without the piece of the statement that the server shows, which is not the user's.
    primary = error.diag.message_primary if isinstance(error, psycopg.Error) else None
    text = " ".join((primary or str(error)).split())[:200].rstrip(".")
    if any(words in text for words in _ABOUT_PASSWORD):
        missing = _ABOUT_PASSWORD[1] in text
        return StorageError(
            "database.password",
            msg("{name}: the server asked for a password and was given none.", name=name)
            if missing
            else msg("{name}: the server does not accept this user and password.", name=name),
            hint="Enter it in the window (Open a database), or set PGPASSWORD or ~/.pgpass.",
        )
    if "row-level security" in text:
        return InputError(
            "source.rows-hidden",
            msg(
                "{name}: the server hides rows of the table from this user ({text}).",
                name=name,
                text=text,
            ),
            hint="Ask for a user account that may see all rows, or for a view of the rows "
            "that you may use.",
        )
    if refused := _refused(name, error, text):
        return refused
    if isinstance(error, psycopg.OperationalError) and (found := _about_tls(name, text)):
        return found
    if isinstance(error, psycopg.OperationalError):
        return StorageError(
            "database.unreachable",
            msg("{name}: the database cannot be reached: {text}.", name=name, text=text),
            hint="Check the address, and PGUSER, PGPASSWORD or ~/.pgpass.",
        )
    return InputError(
        "source.query",
        msg("{name}: the database refused to read: {text}.", name=name, text=text),
        hint="Check `table` or `query` under [source].",
    )
