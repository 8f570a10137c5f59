"""Families with a common property, for tests."""

from __future__ import annotations

from equimargin.formulations.declarations.family import FAMILIES
from equimargin.testing import CANONICAL, get_task

ONE_BIAS = tuple(id for id in CANONICAL if get_task(id) != "ordinal")
"""Canonical families with one bias or none."""
OF_THE_CERTIFICATE = tuple(id for id in ONE_BIAS if "delta" not in FAMILIES[id].settings)
"""Families of certificate schema 1: hinge or squared hinge, and one bias at most."""
