"""Where a database is, and who asks: the fields of a connection."""

from __future__ import annotations

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QFormLayout, QFrame, QLabel, QLineEdit, QWidget

from dpdesk.app.databases import Address
from dpdesk.ui.people.parts import button, note, secret_field
from dpdesk.ui.theme import SPACE, set_look
from dpdesk.ui.widgets import column


class ConnectionForm(QFrame):
    """``connectAsked()`` when the tables are wanted, ``edited()`` when it is another database."""

    connectAsked = Signal()
    edited = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        set_look(self, "card")
        outer = column(self, margin=SPACE.l, gap=SPACE.s)
        self._layout = QFormLayout()
        self._layout.setVerticalSpacing(SPACE.s)
        self._layout.setRowWrapPolicy(QFormLayout.RowWrapPolicy.WrapLongRows)
        self._layout.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        outer.addLayout(self._layout)
        self._build_fields()
        outer.addWidget(
            note(
                self.tr(
                    "The password is kept in memory until the program ends, and written nowhere, "
                    "not into plans either. Left empty, it comes from PGPASSWORD or ~/.pgpass. "
                    "Connecting confirms the server for plans on this computer, which may send "
                    "your password there; to another computer nothing is sent without TLS."
                )
            )
        )
        tip = self.tr("Try the connection, and list the tables that you may read (Enter)")
        self.connect_button = button(self.tr("&Connect and list the tables"), tip, "primary")
        self.connect_button.clicked.connect(self.connectAsked)
        outer.addWidget(self.connect_button)

    def _build_fields(self) -> None:
        self.host = self._field(
            self.tr("&Host"),
            self.tr("Name or address of the server, or the folder of its socket"),
            self.tr("this computer, or PGHOST"),
        )
        self.port = self._field(
            self.tr("&Port"), self.tr("The number on which the server listens"), "5432"
        )
        self.database = self._field(
            self.tr("&Database"),
            self.tr("The name of the database on the server"),
            self.tr("that of the user, or PGDATABASE"),
        )
        self.user = self._field(
            self.tr("&User"),
            self.tr("The name by which the server knows you"),
            self.tr("your name here, or PGUSER"),
        )
        self.service = self._field(
            self.tr("&Service"),
            self.tr("An entry of pg_service.conf, which can stand for all the others"),
            self.tr("none, or PGSERVICE"),
        )
        self.password = secret_field()
        self._put(
            self.tr("Pass&word"),
            self.password,
            self.tr("Kept in memory until the program ends; written nowhere"),
        )

    def _field(self, words: str, tip: str, default: str) -> QLineEdit:
        field = QLineEdit()
        field.setPlaceholderText(default)
        self._put(words, field, tip)
        return field

    def _put(self, words: str, field: QLineEdit, tip: str) -> None:
        field.setToolTip(tip)
        field.setAccessibleName(words.replace("&", ""))
        field.textEdited.connect(self.edited)
        field.returnPressed.connect(self._on_return)
        label = QLabel(words)
        label.setBuddy(field)
        self._layout.addRow(label, field)

    def address(self) -> Address:
        """What the fields say."""
        return Address(
            *(
                field.text().strip()
                for field in (self.host, self.port, self.database, self.user, self.service)
            )
        )

    def set_address(self, address: Address) -> None:
        """Fill the fields; the password is asked for anew."""
        self.host.setText(address.host)
        self.port.setText(address.port)
        self.database.setText(address.database)
        self.user.setText(address.user)
        self.service.setText(address.service)
        self.password.clear()

    @Slot()
    def _on_return(self) -> None:
        self.connect_button.click()
