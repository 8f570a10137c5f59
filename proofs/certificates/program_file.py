"""Programs of model files, and of certificates of format 2, in floats."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.programs.model_file import OptimisationModel, read_model, read_text
from equimargin.formulations.programs.standard_form import StandardForm
from equimargin.proofs import checker


def read_program_file(path: Path) -> OptimisationModel:
    """Return the program of a model file or of a certificate of format 2.

    Parameters
    ----------
    path : Path
        File of `read_model`; or a JSON object with the keys `schema` and `problem` of a
        certificate of format 2, whose other keys are not read. Its variables are x0,
        x1, ..., and its rows, those of A and then those of G, are r0, r1, ...

    Raises
    ------
    ValueError
        As in `read_model`, or if the object states no program, or a number is outside
        the float64 range.
    OSError
        If the file cannot be opened.
    """
    if not path.name.lower().removesuffix(".gz").endswith(".json"):
        return read_model(path)
    content = read_text(path).encode()
    try:
        given = checker.read_file(content)
        schema = given.get("schema") if isinstance(given, dict) else None
        if schema != checker.PROGRAM_SCHEMA:
            raise ValueError(f"its schema is not {checker.PROGRAM_SCHEMA}")
        return _model(checker.read_program(given.get("problem")))
    # A number outside the float64 range is an ArithmeticError, deep nesting a RecursionError.
    except (ArithmeticError, ValueError, RecursionError) as reason:
        raise ValueError(
            f"{path} states no program in float64: {reason}; give a certificate of format 2, or a "
            f"JSON object with its keys schema and problem"
        ) from None


def _model(given: checker.ConicProgram) -> OptimisationModel:
    """Return a program in floats.

    Raises
    ------
    ValueError
        If it has no variables.
    OverflowError
        If a number is outside the float64 range.
    """
    n = len(given.q.steps)
    if n == 0:
        raise ValueError("it has no variables")
    floats, free = _Floats(), np.full(n, np.inf)
    b = floats.vector(*given.b)
    form = StandardForm(
        floats.matrix(given.P, n),
        floats.vector(*given.q),
        sparse.vstack([floats.matrix(given.A, n), floats.matrix(given.G, n)]),
        np.concatenate([b, floats.vector(*given.h)]),
        len(b),
        given.inequalities,
        tuple(given.cones),
        -free,
        free,
        float(floats.vector([given.c.numerator], given.c.denominator)[0]),
        tuple(f"x{j}" for j in range(n)),
    )
    rows = len(form.h)
    return OptimisationModel(
        form.tidied(),
        False,
        tuple(f"r{i}" for i in range(rows)),
        np.arange(rows),
        np.full(rows, -1),
        f"the program is that of the file{', rounded to doubles' * floats.rounded}",
    )


@dataclass
class _Floats:
    """Conversion to the nearest floats.

    Parameters
    ----------
    rounded : bool
        True if a number has been rounded.
    """

    rounded: bool = False

    def vector(self, steps: Sequence[int], unit: int) -> Array:
        """Return steps / unit."""
        values = [step / unit for step in steps]
        ratios = (value.as_integer_ratio() for value in values)
        pairs = zip(ratios, steps, strict=True)
        self.rounded |= any(p * unit != step * q for (p, q), step in pairs)
        return np.array(values, dtype=np.float64)

    def matrix(self, M: checker.SparseIntegers, width: int) -> Any:
        """Return a matrix as a sparse array."""
        values = self.vector([step for row in M.rows for _, step in row], M.unit)
        columns = np.array([j for row in M.rows for j, _ in row], dtype=np.int64)
        starts = np.cumsum([0, *map(len, M.rows)])
        return sparse.csr_array((values, columns, starts), shape=(len(M.rows), width))
