"""Convex quadratic, linear and second-order cone programs in rational numbers."""

from equimargin.formulations.programs.compiled import compile_program
from equimargin.formulations.programs.from_arrays import program_from_arrays
from equimargin.formulations.programs.program import Program
from equimargin.formulations.programs.reading import Reading, read

__all__ = ["Program", "Reading", "compile_program", "program_from_arrays", "read"]
