"""Protect: choose a method, try its settings live, keep the good ones."""

from dpdesk.ui.panels.protect.panel import ProtectPanel

__all__ = ["ProtectPanel"]
