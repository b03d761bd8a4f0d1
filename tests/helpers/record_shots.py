"""Pictures of the windows beside the main one: audit log, people and keys, another file.

Each in light, dark and at twice the text size. Run ``python -m tests.helpers.record_shots FOLDER
[PLAN OTHER-FILE]`` from the checkout; no display is needed. Looking at the pictures is the test.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtWidgets import QApplication, QWidget

from dpdesk.app import signing
from dpdesk.app.context import AppContext
from dpdesk.ui.jobs import JobHub
from dpdesk.ui.theme import ThemeManager
from dpdesk.ui.windows.audit import AuditWindow
from dpdesk.ui.windows.fitting import FitWindow
from dpdesk.ui.windows.people import KEYS, TRUST, PeopleWindow
from dpdesk.ui.workbench import Workbench
from tests.helpers.asking import ScriptedAsker
from tests.helpers.audit_logs import fill, tamper
from tests.helpers.events import settle, wait_until
from tests.helpers.fits import misfits
from tests.helpers.reviewing import BEN, CLARA

LOOKS = ((1100, 700, "light", 100), (1100, 700, "dark", 100), (1500, 1000, "light", 200))


class Studio:
    """Takes a picture of a window for each size and theme."""

    def __init__(self, application: QApplication, folder: Path) -> None:
        self.hub = JobHub()
        self.theme = ThemeManager(application, "light", 100)
        self.theme.apply()
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def ready(self) -> None:
        """Wait until nothing is being done."""
        wait_until(lambda: not self.hub.busy)
        settle()

    def shoot(self, window: QWidget, name: str) -> None:
        """A picture for each size and theme."""
        for width, height, mode, percent in LOOKS:
            self.theme.set_mode(mode)
            self.theme.set_text_size(percent)
            window.show()
            settle()
            window.resize(width, height)
            settle()
            self.ready()
            window.grab().save(str(self._folder / f"{name}-{mode}-{percent}.png"))
            for misfit in misfits(window):
                print(f"{name}-{mode}-{percent}: {misfit}")


def shoot_audit(studio: Studio, home: Path) -> None:
    """The audit log: empty, whole, broken."""
    with AppContext.open(home / "audit") as context:
        window = AuditWindow(context, studio.hub, studio.theme, ScriptedAsker())
        window.present()
        studio.ready()
        studio.shoot(window, "audit-empty")
        path = fill(context.home, 60)
        window.refresh()
        studio.ready()
        studio.shoot(window, "audit-whole")
        tamper(path, "UPDATE audit SET who = 'eve@pc' WHERE n = 31")
        window.page.search.setText("ben 2026-01-01")
        window.refresh()
        studio.ready()
        studio.shoot(window, "audit-broken")
        path.write_bytes(b"no log at all" * 100)
        window.refresh()
        studio.ready()
        studio.shoot(window, "audit-damaged")
        window.close()


def shoot_people(studio: Studio, home: Path) -> None:
    """People and keys: own keys, trusted people."""
    with AppContext.open(home / "people") as context:
        signing.make_key(context, "Anna Weber", "four words without sense")
        for name, one in (("ben", BEN), ("clara", CLARA)):
            card = home / f"{name}.json"
            card.write_bytes(one.card.to_bytes())
            signing.trust_card(context, card)
        signing.revoke_key(context, CLARA.fingerprint, "left the agency", retired=True)
        asker = ScriptedAsker()
        window = PeopleWindow(context, studio.hub, studio.theme, asker)
        window.present()
        studio.ready()
        studio.shoot(window, "people-keys")
        window.keys.open_change.click()
        window.keys.change_form.refuse_old("The passphrase is not that of this key.")
        studio.shoot(window, "people-passphrase")
        window.turn(TRUST)
        studio.shoot(window, "people-trust")
        signing.make_key(context, "ben", "four words without sense")
        signing.write_card(context, "ben", home / "second.json")
        window.trust.show_card(home / "second.json", signing.look_at_card(home / "second.json"))
        studio.shoot(window, "people-second-key")
        window.trust.close_forms()
        asker.answer = home / "second.json"
        window.trust.asked.emit("export")
        studio.shoot(window, "people-replace")
        window.band.clear()
        (context.home / "trust.json").write_text("{", "utf-8")
        (context.home / "keys" / f"{'ab' * 32}.json").write_text("{}", "utf-8")
        window.refresh()
        studio.ready()
        studio.shoot(window, "people-damaged-list")
        window.turn(KEYS)
        window.keys.grid.selectRow(0)
        studio.shoot(window, "people-damaged-key")
        window.close()


def shoot_fit(studio: Studio, home: Path, plan: Path, other: Path) -> None:
    """A plan checked against another file."""
    with AppContext.open(home / "fit") as context:
        bench = Workbench(context, studio.hub)
        bench.open_path(plan)
        wait_until(lambda: bench.profile is not None)
        window = FitWindow(bench, studio.theme, ScriptedAsker())
        window.look_at(other)
        studio.ready()
        studio.shoot(window, "fit")
        items = window.held.report.items if window.held is not None else ()
        for row, item in enumerate(items):
            if item.code in ("column.missing", "column.new"):
                window.page.grid.selectRow(row)
                studio.shoot(window, f"fit-{item.code}-{row}")
        window.close()
        bench.close()


def main(folder: Path, home: Path) -> None:
    """Write all pictures."""
    application = QApplication.instance() or QApplication([])
    assert isinstance(application, QApplication)
    studio = Studio(application, folder)
    home.mkdir(parents=True, exist_ok=True)
    shoot_audit(studio, home)
    shoot_people(studio, home)
    if len(sys.argv) > 3:
        shoot_fit(studio, home, Path(sys.argv[2]), Path(sys.argv[3]))
    studio.hub.close()
    studio.ready()


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[1]) / "homes")
