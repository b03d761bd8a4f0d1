"""Where declared categories or nodes come from, as plans record it."""

from __future__ import annotations

TYPED, FROM_FILE, FROM_CODES, FROM_DATA = "typed", "file", "code-list", "data"
ORIGINS = (TYPED, FROM_FILE, FROM_CODES, FROM_DATA)
