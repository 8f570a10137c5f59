"""Which formulations have equal optima, and how a solution of one becomes a solution of another."""

from __future__ import annotations
