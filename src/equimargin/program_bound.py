"""Proven interval of the optimum of any convex program, from any solver's answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from equimargin.formulations.bounds.intervals import MOST_DIGITS
from equimargin.formulations.markdown import markdown_table, markdown_text
from equimargin.formulations.notebook import notebook_html
from equimargin.formulations.numeric.arguments import positive
from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.numeric.decimals import format_lower, format_upper
from equimargin.formulations.programs.compiled import compile_form, name_columns
from equimargin.formulations.programs.model_file import OptimisationModel
from equimargin.formulations.programs.standard_form import StandardForm, stated_constraints
from equimargin.proofs.certificates.program import program_certificate
from equimargin.proofs.certificates.program_file import read_program_file
from equimargin.proofs.outward import FormInterval, form_interval
from equimargin.proofs.outward.interval import WIDTH
from equimargin.proofs.outward.rational import exact_enclosure
from equimargin.solvers.backends.form import solve_form

DEFAULT_SOLVER = "CLARABEL"
"""Solver of the points and multipliers that are not passed."""
Values = ArrayLike | Mapping[str, float]
"""Numbers in the order of the model, or by name."""


@dataclass(frozen=True, eq=False)
class ProgramBound:
    """Proven interval of the optimum of a convex program.

    Parameters
    ----------
    name : str
        Name of the program.
    lower, upper : float
        Ends of the interval of the stated objective, -inf and inf if not proven.
    lower_by, upper_by : str
        Ways that proved the ends.
    width : float
        Difference of the ends, relative to the larger of their sizes.
    convex : str
        Argument that the program is convex.
    taken : str
        Reading of the numbers, which is not proven.
    objective : float or None
        Objective of the passed point, or of the values of a cvxpy problem's variables;
        None without either.
    violation : float or None
        Largest violation of a row or a bound by that point; None without one.
    """

    name: str
    lower: float
    upper: float
    lower_by: str
    upper_by: str
    width: float
    convex: str
    taken: str
    objective: float | None = None
    violation: float | None = None
    proof: FormInterval = field(repr=False, kw_only=True)

    @property
    def figures(self) -> dict[str, str]:
        """Ends and relative width as text, rounded outward, and the ways, by name."""
        ways = " and ".join(sorted({self.lower_by, self.upper_by} - {"nothing"}))
        return {
            "lower": format_lower(self.lower, MOST_DIGITS),
            "upper": format_upper(self.upper, MOST_DIGITS),
            "relative width": format_upper(self.width, 2),
            "proven by": ways,
        }

    @property
    def statement(self) -> str:
        """Sentence with the interval and its relative width, rounded outward, and the ways."""
        lower, upper, width, ways = self.figures.values()
        cut = (
            "the time limit ended the proof; raise `seconds`, `--time-limit` of the command"
            if self.proof.out_of_time
            else ""
        )
        advice = (
            cut or "`equimargin explain` seeks a proof that the program is infeasible or unbounded"
        )
        if not ways and cut:
            return f"{self.name}: neither end of an interval is proven; {cut}"
        if not ways:
            return (
                f"{self.name}: the answer proves neither end of an interval; pass another answer, "
                f"or name another solver; {advice}"
            )
        if np.isinf(self.lower) or np.isinf(self.upper):
            known = f"at most {upper}" if np.isinf(self.lower) else f"at least {lower}"
            return (
                f"{self.name}: only one end is proven, the optimum is {known}, by {ways}; "
                f"{advice}; {self.taken}"
            )
        return (
            f"{self.name}: the optimum is in [{lower}, {upper}], relative width {width}, proven by "
            f"{ways}; {cut and f'{cut}; '}{self.taken}"
        )

    @property
    def answer(self) -> str:
        """Sentence on the point of `objective`; empty text if `objective` is None."""
        if self.objective is None or self.violation is None:
            return ""
        far = max(abs(self.objective - self.lower), abs(self.objective - self.upper))
        distance = (
            f"at most {format_upper(far, 2)} from the optimum"
            if np.isfinite(far)
            else "of which no distance from the optimum is proven"
        )
        return (
            f"the passed point has the objective {self.objective!r}, {distance}, and violates "
            f"constraints by at most {format_upper(self.violation, 2)}"
        )

    def __str__(self) -> str:
        return "\n".join(filter(None, (self.statement, self.answer)))

    def _repr_html_(self) -> str:
        """Return the interval as a sentence and a table, and the point, for a notebook."""
        return notebook_html(
            self.statement, self.figures.items(), notes=filter(None, [self.answer])
        )

    def record(self) -> dict[str, Any]:
        """Return the figures as plain values, infinite ends as text."""
        keys = ("name", "lower", "upper", "lower_by", "upper_by", "width", "convex", "taken")
        figures = {key: getattr(self, key) for key in (*keys, "objective", "violation")}
        return {
            key: str(v) if isinstance(v, float) and not np.isfinite(v) else v
            for key, v in figures.items()
        }

    def to_markdown(self) -> str:
        """Return the interval as a sentence and a table, and the point, as Markdown text."""
        names, row = ("program", *self.figures), (self.name, *self.figures.values())
        table = markdown_table(names, [row], words=("program", "proven by"))
        return markdown_text(self.statement, filter(None, [self.answer]), table)

    def certificate(self, seconds: float = 60.0) -> dict[str, Any]:
        """Return a certificate of format 2, which `equimargin verify` checks.

        It states the program as a minimisation in rational numbers, and points of
        rational numbers, which are sought near those of the interval; its interval may
        be another one.

        Parameters
        ----------
        seconds : float, default 60.0
            Time limit of the search in seconds.

        Raises
        ------
        ValueError
            If no point in rational numbers is found in time, or the checker rejects it.
        """
        found = exact_enclosure(self.proof.form, self.proof.x, self.proof.z, seconds)
        if found.dual is None and found.primal is None:
            raise ValueError(
                f"no point in rational numbers proves an end within {seconds:g} s; raise the limit"
            )
        return program_certificate(found.program, found)


def bound(
    problem: Any,
    x: Values | None = None,
    y: Values | None = None,
    *,
    solver: str | None = None,
    width: float = WIDTH,
    seconds: float = 60.0,
) -> ProgramBound:
    """Return a proven interval of the optimum of a convex program.

    Parameters
    ----------
    problem : cvxpy.Problem, str or Path
        Linear, quadratic or second-order cone program, or its MPS, QPS or LP file, or a
        certificate of format 2 in a `.json` file, whose program is read.
    x : array-like of shape (n,), or mapping of str to float, optional
        Point of a file, whose objective is compared with the optimum. Without it, a
        solver's point only leads to the interval, and the result's `objective` and
        `violation` are None. A solved cvxpy problem has its own point.
    y : array-like of shape (m,), or mapping of str to float, optional
        Prices of a file's rows, of either sign convention; by default the solver's.
    solver : str, optional
        Solver of what is not passed, any that `equimargin list solvers` has as
        installed; CLARABEL by default.
    width : float, default 1e-9
        Relative width at which no further way is tried.
    seconds : float, default 60.0
        Time limit in seconds, of the solver and again of the proof; a step of the proof
        that has begun is finished.

    Returns
    -------
    ProgramBound
        Interval; wide or infinite if the answer is bad, and never false.

    Raises
    ------
    ValueError
        If the file is not read, the program is not proven to be convex or has integer
        variables, x or y do not fit it, the solver has no answer, or width or seconds is
        not positive.
    OSError
        If the file cannot be opened.
    """
    positive(width, "width")
    positive(seconds, "seconds")
    if isinstance(problem, str | Path):
        path = Path(problem)
        return _bound_of_model(read_program_file(path), path.name, x, y, solver, width, seconds)
    if x is not None or y is not None:
        raise ValueError(
            "x and y are those of a model file; a cvxpy problem has its own values: solve it "
            "before, or assign to its variables"
        )
    form, columns, _ = compile_form(problem)
    form = name_columns(form.tidied(), problem, columns)
    found = form_interval(
        form, *solve_form(form, solver or DEFAULT_SOLVER, seconds), width=width, seconds=seconds
    )
    maximised = problem.objective.NAME == "maximize"
    taken = "the program is cvxpy's standard form in doubles"
    return make_bound("the problem", found, maximised, taken, *_own_answer(problem))


def _bound_of_model(
    model: OptimisationModel,
    name: str,
    x: Values | None,
    y: Values | None,
    solver: str | None,
    width: float,
    seconds: float,
) -> ProgramBound:
    """Return the interval of a model, from a passed answer or a solver's."""
    form, sign = model.form, -1.0 if model.maximised else 1.0
    given = None if x is None else values_in_order(x, model.columns, "x", "variables")
    prices = None if y is None else values_in_order(y, model.rows, "y", "rows")
    point, z = (
        (given, np.zeros(len(form.h)))
        if given is not None and prices is not None
        else solve_form(form, solver or DEFAULT_SOLVER, seconds)
    )
    point = point if given is None else given
    z = z if prices is None else _natural(model, point, prices)
    found = form_interval(form, point, z, width=width, seconds=seconds)
    if given is None:
        return make_bound(name, found, model.maximised, model.taken)
    objective = sign * form.objective(given)
    off = _violation(form, given)
    return make_bound(name, found, model.maximised, model.taken, objective, off)


def make_bound(
    name: str,
    found: FormInterval,
    maximised: bool,
    taken: str,
    objective: float | None = None,
    violation: float | None = None,
) -> ProgramBound:
    """Return the interval of the stated objective.

    Parameters
    ----------
    name : str
        Name of the program.
    found : FormInterval
        Interval of the program as a minimisation.
    maximised : bool
        True if the stated objective is maximised.
    taken : str
        Reading of the numbers.
    objective, violation : float, optional
        Figures of the passed point.
    """
    ends = (found.lower, found.lower_by), (found.upper, found.upper_by)
    # Adding 0 removes the sign of a 0.
    (low, low_by), (high, high_by) = (
        ((0.0 - found.upper, found.upper_by), (0.0 - found.lower, found.lower_by))
        if maximised
        else ends
    )
    return ProgramBound(
        name,
        low + 0.0,
        high + 0.0,
        low_by,
        high_by,
        found.width,
        found.convex,
        taken,
        objective,
        violation,
        proof=found,
    )


def values_in_order(values: Values, names: tuple[str, ...], argument: str, noun: str) -> Array:
    """Return numbers in the order of the model.

    Parameters
    ----------
    values : array-like or mapping of str to float
        Numbers, of which a mapping may leave out zeros.
    names : tuple of str
        Names in the order of the model.
    argument, noun : str
        Words for messages: the argument, and what the names are.

    Raises
    ------
    ValueError
        If a name is unknown, a number is missing or not finite.
    """
    if isinstance(values, Mapping):
        known = set(names)
        unknown = next((name for name in values if name not in known), None)
        if unknown is not None:
            raise ValueError(
                f"{argument} names {unknown!r}, which is none of the {noun} of the model; the file "
                f"may be of another model"
            )
        # Solution files leave out zeros.
        values = [float(values.get(name, 0.0)) for name in names]
    numbers = np.ravel(np.asarray(values, dtype=np.float64))
    if len(numbers) != len(names):
        raise ValueError(
            f"{argument} has {len(numbers)} numbers, and the model {len(names)} {noun}; pass one "
            f"for each, in the order of the file, or by name"
        )
    wrong = next(iter(np.flatnonzero(~np.isfinite(numbers))), None)
    if wrong is not None:
        raise ValueError(
            f"{argument} has a number that is not finite, {numbers[wrong]} for {names[wrong]}; "
            f"give finite numbers"
        )
    return numbers


def _natural(model: OptimisationModel, x: Array, y: Array) -> Array:
    """Return the multipliers of prices y or -y, whichever fit the point better."""
    form = model.form

    def mismatch(z: Array) -> float:
        r = form.P @ x + form.q + form.G.T @ z
        inside = (x - form.lower > 1e-6) & (form.upper - x > 1e-6)
        return float(np.abs(r[inside]).sum() + np.abs(z * (form.h - form.G @ x)).sum())

    return min((model.multipliers(y), model.multipliers(-y)), key=mismatch)


def _own_answer(problem: Any) -> tuple[float | None, float | None]:
    """Return the objective and violation of a cvxpy problem's values; None if one lacks."""
    if any(variable.value is None for variable in problem.variables()):
        return None, None
    stated = stated_constraints(problem).values()
    worst = (np.max(constraint.violation(), initial=0.0) for constraint in stated)
    return float(problem.objective.value), float(max(worst, default=0.0))


def _violation(form: StandardForm, x: Array) -> float:
    slack = form.h - form.G @ x
    rows = np.abs(slack - form.on_cone(slack))
    boxes = np.maximum(form.lower - x, x - form.upper)
    return float(max(rows.max(initial=0.0), boxes.max(initial=0.0)))
