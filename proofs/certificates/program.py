"""Portable certificates of any convex program, in rational numbers.

A certificate has the standard form of the program, and points that prove bounds of the
optimum. The document is JSON, schema equimargin-certificate/2, described in
`certificate.md`; `checker.py` checks it without this package. A certificate is returned
only after the checker has accepted it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from math import inf
from typing import Any

from equimargin.formulations.declarations.formulation import REGISTRY, formulation_data
from equimargin.formulations.declarations.program_problem import ProgramProblem
from equimargin.formulations.problem.base import AnyProblem
from equimargin.formulations.problem.margin import MarginProblem
from equimargin.formulations.programs.program import Program
from equimargin.formulations.programs.rational import Matrix
from equimargin.proofs import checker
from equimargin.proofs.certificates.writing import document, number
from equimargin.proofs.enclosure.interval import Enclosure
from equimargin.proofs.program.proven_optimum import optimum, proven_optimum
from equimargin.solvers.exact.program.optimum import Infeasible, Optimum, UnboundedProgram

Numbers = Sequence[Fraction]
"""Vector."""


def program_certificate(
    program: Program, answer: Optimum | Infeasible | UnboundedProgram | Enclosure
) -> dict[str, Any]:
    """Return the certificate of a program's optimum, as plain values.

    Parameters
    ----------
    program : Program
        Solved program, in standard form. The certificate states the minimisation with
        unchanged rational numbers. It says neither if the problem was declared as a
        maximisation nor how floats were interpreted.
    answer : Optimum or Infeasible or UnboundedProgram or Enclosure
        Result of `program_optimum`, or of `enclosure`. If `enclosure` has added a box to
        the program, the program with the box is certified.

    Raises
    ------
    ValueError
        If the enclosure is of another program, the answer proves nothing, or the
        checker rejects the certificate, for example for a singular P of many variables
        and a high rank; the message has the reason.
    """
    exact, lower, upper, primal, dual = _sides(answer)
    stated = state(_enclosed(program, answer) if isinstance(answer, Enclosure) else program)
    points = {"primal": _points(primal), "dual": _points(dual)}
    made = document(
        checker.PROGRAM_SCHEMA,
        "exact" if exact else "proven",
        {"lower": _claimed(lower), "upper": _claimed(upper)},
        checker.semidefiniteness_of_program(checker.read_program(stated).P),
        stated,
        points,
    )
    checker.check(json.dumps(made).encode())
    return made


def certificate_of_definition(problem: AnyProblem) -> dict[str, Any]:
    """Return the certificate of the first formulation of a problem's family.

    The formulation is certified as a minimisation.

    Parameters
    ----------
    problem : AnyProblem
        Problem of a user-defined family, with its data, or a canonical problem. The
        certificate does not contain the formulation's value map.

    Raises
    ------
    ValueError
        If the formulation is no convex quadratic, linear or second-order cone program,
        or as in `program_certificate`.
    """
    # Without explicit features the formulation uses a rounded factor of the Gram
    # matrix: its program has another optimum.
    if isinstance(problem, MarginProblem) and problem.explicit is None:
        raise ValueError(
            f"a certificate of a program needs explicit features, and the "
            f"{problem.kernel.name} kernel has none"
        )
    try:
        if isinstance(problem, ProgramProblem):
            program, known = problem.program(problem.definition.id), optimum(problem)
        else:
            definition = next(
                entry for entry in REGISTRY.values() if entry.family == problem.family
            )
            program = definition.program(formulation_data(problem))
            known = proven_optimum(program, lambda value: value)
    except Exception as failure:
        # A user-defined function may fail in any way.
        raise ValueError(
            f"its definition cannot be certified: {type(failure).__name__}: {failure}"
        ) from failure
    if known.proof is None:
        raise ValueError("nothing is proven about its definition")
    return program_certificate(program, known.proof)


def state(program: Program) -> dict[str, Any]:
    """Return the program as a certificate states it.

    Matrices have their nonzero entries, P those on and below the diagonal.

    Parameters
    ----------
    program : Program
        Program in standard form.
    """
    return {
        "P": [[i, j, v] for i, j, v in _entries(program.P) if i >= j],
        "q": _list(program.q),
        "c": number(program.c),
        "A": list(map(list, _entries(program.A))),
        "b": _list(program.b),
        "G": list(map(list, _entries(program.G))),
        "h": _list(program.h),
        "cones": list(program.cones),
    }


def _enclosed(program: Program, answer: Enclosure) -> Program:
    """Return the program of an enclosure: `program`, or `program` with a box.

    Raise a ValueError if the enclosure is of another program.
    """
    own = answer.program
    added = 2 * own.n if answer.lower_by == "box" else 0
    without_box = replace(own, G=own.G.part(range(added, own.G.height)), h=own.h[added:])
    if state(without_box) != state(program):
        raise ValueError("the enclosure is of another program; pass the program of the enclosure")
    return own


def _sides(
    answer: Optimum | Infeasible | UnboundedProgram | Enclosure,
) -> tuple[
    bool,
    Fraction | float,
    Fraction | float,
    Mapping[str, Numbers] | None,
    Mapping[str, Numbers] | None,
]:
    """Return True if an answer is exact, lower and upper bound, primal and dual point."""
    if isinstance(answer, Optimum):
        return (
            True,
            answer.value,
            answer.value,
            {"x": answer.x},
            {"x": answer.x, "y": answer.y, "z": answer.z},
        )
    if isinstance(answer, Infeasible):
        return True, inf, inf, None, {"y": answer.y, "z": answer.z}
    if isinstance(answer, UnboundedProgram):
        return True, -inf, -inf, {"x": answer.x, "d": answer.ray}, None
    dual = None if answer.dual is None else dict(zip("xyz", answer.dual, strict=True))
    boxed = answer.lower_by == "box"
    primal = (
        None
        if answer.primal is None or (boxed and not answer.program.is_feasible(answer.primal))
        else {"x": answer.primal}
    )
    return (
        answer.lower == answer.upper,
        answer.lower,
        inf if primal is None else answer.upper,
        primal,
        dual,
    )


def _points(side: Mapping[str, Numbers] | None) -> dict[str, list[int | str]] | None:
    return None if side is None else {name: _list(numbers) for name, numbers in side.items()}


def _entries(M: Matrix) -> list[tuple[int, int, int | str]]:
    return [(i, j, number(v)) for i, row in enumerate(M.rows) for j, v in sorted(row.items())]


def _list(numbers: Numbers) -> list[int | str]:
    return [number(v) for v in numbers]


def _claimed(bound: Fraction | float) -> int | str:
    return number(bound) if isinstance(bound, Fraction) else str(bound)
