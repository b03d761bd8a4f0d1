"""``dpdesk databases …``: which database servers plans may read from."""

from __future__ import annotations

from argparse import Namespace

from dpdesk.app import databases
from dpdesk.app.context import AppContext
from dpdesk.cli.printing import Outcome
from dpdesk.core.jobs import CancelToken, Report


def confirm(context: AppContext, options: Namespace, token: CancelToken, report: Report) -> Outcome:
    """Confirm a server."""
    host = databases.confirm_host(context, options.host, report)
    text = (
        f"Confirmed: {host}. Plans on this computer may read from it, and it may get your "
        "password; another computer gets it over TLS alone.\n"
    )
    return Outcome(text, {"confirmed": host}, kept=True)


def forget(context: AppContext, options: Namespace, token: CancelToken, report: Report) -> Outcome:
    """Confirm a server no more."""
    host = databases.forget_host(context, options.host, report)
    return Outcome(f"No longer confirmed: {host}.\n", {"forgotten": host}, kept=True)


def show(context: AppContext, options: Namespace, token: CancelToken, report: Report) -> Outcome:
    """List the confirmed servers."""
    hosts = databases.confirmed_hosts(context)
    text = "\n".join(hosts) or "No database server is confirmed on this computer."
    return Outcome(f"{text}\n", {"hosts": list(hosts)})
