"""Any convex quadratic, linear or second-order cone program, in rational numbers."""

from equimargin.formulations.programs.compiled import program_of
from equimargin.formulations.programs.program import Program
from equimargin.formulations.programs.read import program_from_arrays
from equimargin.formulations.programs.reading import Reading, read

__all__ = ["Program", "Reading", "program_from_arrays", "program_of", "read"]
