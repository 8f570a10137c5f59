"""Packages of the distribution, found by their folders.

pyproject.toml can find packages only where the folder has the import name, and the folder
`solvers`, for example, is imported as `equimargin.solvers`.
"""

from setuptools import find_packages, setup

FLOORS = ("formulations", "solvers", "proofs")
"""Folders beside `src` that are packages of equimargin; links to them are not built."""

linked = [
    pattern for floor in FLOORS for pattern in (f"equimargin.{floor}", f"equimargin.{floor}.*")
]
rooms = [name for floor in FLOORS for name in find_packages(".", include=[floor, f"{floor}.*"])]
setup(packages=[*find_packages("src", exclude=linked), *(f"equimargin.{name}" for name in rooms)])
