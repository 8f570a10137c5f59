"""Families with one trait, for the tests of that trait."""

from __future__ import annotations

from equimargin.formulations.declarations.family import FAMILIES
from equimargin.testing import CANONICAL, get_task

ONE_BIAS = tuple(id for id in CANONICAL if get_task(id) != "ordinal")
"""Canonical families with one bias or none."""
OF_THE_CERTIFICATE = tuple(id for id in ONE_BIAS if "delta" not in FAMILIES[id].settings)
"""Families of schema 1, which supports the hinge and the squared hinge, and one bias."""
