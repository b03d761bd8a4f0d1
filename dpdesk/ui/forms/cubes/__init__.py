"""The form of differentially private tables: fields that know columns, hierarchies, categories."""

from dpdesk.ui.forms.cubes.form import CubeForm

__all__ = ["CubeForm"]
