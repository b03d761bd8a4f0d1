"""What the printing process does; see :mod:`dpdesk.core.subprocesses`.

Fonts are read when the process starts, while the asker is still busy with something else.
"""

from __future__ import annotations

from dpdesk.report.pdf.document import pdf_of
from dpdesk.report.pdf.faces import covered

__all__ = ["pdf_of"]

covered()
