"""Forms made from parameter specifications alone; no method is known here by name."""

from dpdesk.ui.forms.form import ParameterForm

__all__ = ["ParameterForm"]
