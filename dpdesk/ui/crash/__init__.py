"""What happens when something goes wrong that nobody expected."""

from dpdesk.ui.crash.reporter import CrashReporter, Fault

__all__ = ["CrashReporter", "Fault"]
