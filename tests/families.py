"""Families with one trait, for the tests that are about it."""

from __future__ import annotations

from equimargin.formulations.declarations.family import FAMILIES
from equimargin.testing import CANONICAL, get_task

ONE_BIAS = tuple(id for id in CANONICAL if get_task(id) != "ordinal")
"""The canonical families with one bias or none."""
OF_THE_CERTIFICATE = tuple(id for id in ONE_BIAS if "delta" not in FAMILIES[id].settings)
"""Those of schema 1, which knows the hinge and the squared hinge, and one bias."""
