"""DPDesk: publish data about people without betraying one of them."""

__version__ = "0.1.0"
