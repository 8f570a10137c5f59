"""The packages of the distribution, found by their folders."""

from setuptools import find_packages, setup

FLOORS = ("formulations", "solvers", "proofs")
"""Folders beside `src` that are packages of equimargin; links to them are not built."""

linked = [
    pattern for floor in FLOORS for pattern in (f"equimargin.{floor}", f"equimargin.{floor}.*")
]
rooms = [name for floor in FLOORS for name in find_packages(".", include=[floor, f"{floor}.*"])]
setup(packages=[*find_packages("src", exclude=linked), *(f"equimargin.{name}" for name in rooms)])
