"""Equivalence proofs for all values of the parameters of two problems.

cvxpy compiles a problem that follows the rules of disciplined parametrised programming
(DPP) once: all its numbers are affine in the entries of its parameters. The numbers
are therefore polynomials in these entries, and an equivalence proof whose steps all
apply to these polynomials holds for all values of the parameters at which one of the
two problems is feasible. A parameter that is declared nonnegative is replaced by the
square of an indeterminate: lambda |w|^2, for instance, is then convex for all values.
If no such proof is found, one is sought whose steps may also divide by such
indeterminates and scale by them: it holds where these parameters are above 0.

The steps are found at values of the indeterminates that are primes over 64. A number of
a step is assumed to be a product of powers of the indeterminates times a number without
these primes, so that its prime factors determine the powers. A wrong guess is harmless,
because the complete proof is verified afterwards.

References
----------
A. Agrawal, B. Amos, S. Barratt, S. Boyd, S. Diamond, J. Z. Kolter, Differentiable
Convex Optimization Layers (2019), section 4.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.programs import Reading, read
from equimargin.formulations.programs.extras import flint
from equimargin.formulations.programs.standard_form import REDUCING_ATTRIBUTES
from equimargin.proofs.equivalence.stated import StatedProgram
from equimargin.proofs.equivalence.steps.form import Form, Numbers, fraction, rational, zeros
from equimargin.proofs.equivalence.steps.moves import Twin
from equimargin.proofs.equivalence.steps.quotients import DIVIDING, NotANumber, Quotient, divisor
from equimargin.proofs.equivalence.steps.reason import Reason, find_reason
from equimargin.solvers.exact.program.clock import Clock

LARGEST = 60
"""Maximum size of the parameters, in entries.

Polynomials in more of them take long to multiply.
"""
COMPILED = 1e-9
"""Tolerance, relative and absolute, between the polynomials and the program of cvxpy.

They are compared at the present values of the parameters.
"""


@dataclass(frozen=True, eq=False)
class ForAllData:
    """Equivalence proof for all values of the parameters of two built problems.

    A function may branch and build other problems at other data; the proof does not
    cover those.

    Parameters
    ----------
    reason : Reason
        Proof whose numbers are quotients of polynomials in the parameters.
    here : Reason
        The proof at the present values of the parameters.
    names : tuple of str
        Names of the parameters.
    above_zero : tuple of str
        Names of the parameters that must be above 0.
    first, second : Form
        Programs in the parameters.
    """

    reason: Reason
    here: Reason
    names: tuple[str, ...]
    above_zero: tuple[str, ...]
    first: Form
    second: Form


def reason_for_all_data(
    first: StatedProgram, second: StatedProgram, clock: Clock
) -> ForAllData | None:
    """Return an equivalence proof for all values of the parameters of two problems, or None.

    Parameters
    ----------
    first, second : StatedProgram
        cvxpy problems without value maps; parameters of equal name are the same one.
    clock : Clock
        Time limit.

    Raises
    ------
    OutOfTime
        If the time is up.
    """
    parameters = _shared(first, second)
    if parameters is None or first.value is not None or second.value is not None:
        return None
    signed = tuple(name for name, parameter in parameters.items() if parameter.is_nonneg())
    question = _Question(first, second, parameters, clock)
    reason = question.answer(())
    return question.answer(signed) if reason is None and signed else reason


@dataclass(frozen=True, eq=False)
class _Question:
    """Search for a proof: two problems, their parameters by name, and the time limit."""

    first: StatedProgram
    second: StatedProgram
    parameters: dict[str, Any]
    clock: Clock

    def answer(self, above_zero: tuple[str, ...]) -> ForAllData | None:
        """Return a proof that holds if the parameters `above_zero` are above 0, or None."""
        entries = list(_entries(self.parameters))
        names = tuple(
            f"{DIVIDING if name in above_zero else 'p'}{k}" for k, (name, _) in enumerate(entries)
        )
        gens = dict(
            zip(entries, flint.fmpq_mpoly_ctx.get(names, flint.Ordering.lex).gens(), strict=True)
        )
        sides = self.first, self.second
        forms = [_polynomials(stated, gens) for stated in sides]
        if not all(
            _compiles_to(form, stated, gens) for form, stated in zip(forms, sides, strict=True)
        ):
            return None
        squares = [
            gen * gen if self.parameters[name].is_nonneg() else gen
            for (name, _), gen in gens.items()
        ]
        in_unknowns = [_at(form, squares) for form in forms]
        # The proof is found at primes over 64. Its numbers are then interpreted as
        # products of powers of the indeterminates.
        primes = _primes(len(gens))
        one, other = (
            _at(form, [flint.fmpq(prime, 64) for prime in primes]) for form in in_unknowns
        )
        unknowns = list(zip(primes, gens.values(), strict=True))
        twins = [
            Twin(_each(form, _quotient), partial(_in_unknowns, unknowns=unknowns))
            for form in in_unknowns
        ]
        reason = find_reason(
            one,
            other,
            self.first.opposite != self.second.opposite,
            self.clock,
            twins=(twins[0], twins[1]),
        )
        return None if reason is None else self._verified(reason, twins[0], twins[1], above_zero)

    def _verified(
        self, at_primes: Reason, first: Twin, second: Twin, above_zero: tuple[str, ...]
    ) -> ForAllData | None:
        """Return the proof if it holds in the parameters and at their present values."""
        try:
            general = at_primes.mapped(first.number)
            here = general.mapped(partial(_at_present, present=self._present()))
            holds = general.holds(first.form, second.form) and here.holds(
                self.first.form, self.second.form
            )
        except ValueError:
            return None
        return (
            ForAllData(general, here, tuple(self.parameters), above_zero, first.form, second.form)
            if holds
            else None
        )

    def _present(self) -> list[tuple[Any, bool]]:
        """Return the value of every entry, and True if the indeterminate is its square root."""
        values = []
        for name, k in _entries(self.parameters):
            value = float(np.asarray(self.parameters[name].value).ravel(order="F")[k])
            values.append(
                (rational(read(value, self.first.reading)), self.parameters[name].is_nonneg())
            )
        return values


def _in_unknowns(v: Any, unknowns: list[tuple[int, Any]]) -> Any:
    """Return a number found at the values p / 64 as a product of powers of indeterminates."""
    rest, top, bottom = v, unknowns[0][1] ** 0, unknowns[0][1] ** 0
    for prime, gen in unknowns:
        power = _power(int(v.p), prime) - _power(int(v.q), prime)
        rest = rest * flint.fmpq(64, prime) ** power
        top, bottom = (top * gen**power, bottom) if power > 0 else (top, bottom * gen**-power)
    if top == 1 and bottom == 1:
        return v
    return Quotient(top * rest, top**0) / Quotient(bottom, top**0)


def _power(v: int, prime: int) -> int:
    """Return the multiplicity of the prime in a number other than 0."""
    power = 0
    while v and v % prime == 0:
        v, power = v // prime, power + 1
    return power


def _at_present(v: Any, present: list[tuple[Any, bool]]) -> Any:
    """Return a quotient at the present values of the parameters.

    Raise NotANumber if the result is no rational number.
    """
    if not isinstance(v, Quotient):
        return v
    total = flint.fmpq(0)
    for powers, factor in v.terms():
        term = factor
        for power, (value, squared) in zip(powers, present, strict=True):
            if (squared and power % 2) or (power < 0 and value == 0):
                raise NotANumber(f"{v} is no rational number here")
            term = term * value ** (power // 2 if squared else power)
        total += term
    return total


def _quotient(v: Any) -> Any:
    """Return a polynomial as a quotient, or as a number if it is constant."""
    return (
        v
        if isinstance(v, flint.fmpq)
        else divisor(Quotient(v, v**0))
        if v.is_constant()
        else Quotient(v, v**0)
    )


def _shared(first: StatedProgram, second: StatedProgram) -> dict[str, Any] | None:
    """Return the parameters of both by name; None if no proof for all values is possible."""
    shared: dict[str, Any] = {}
    for stated in (first, second):
        # A function that reads a value may build another problem at another value.
        if stated.values_read or not stated.problem.is_dpp():
            return None
        for parameter in stated.problem.parameters():
            other = shared.setdefault(parameter.name(), parameter)
            reduced = any(parameter.attributes[attribute] for attribute in REDUCING_ATTRIBUTES)
            if (
                reduced
                or other.shape != parameter.shape
                or not np.array_equal(other.value, parameter.value)
            ):
                return None
    return (
        shared
        if shared and sum(parameter.size for parameter in shared.values()) <= LARGEST
        else None
    )


def _entries(parameters: dict[str, Any]) -> Iterator[tuple[str, int]]:
    """Return the entries of parameters, by name and index, column by column."""
    return ((name, k) for name, parameter in parameters.items() for k in range(parameter.size))


def _polynomials(stated: StatedProgram, gens: dict[tuple[str, int], Any]) -> Form:
    """Return the form of a problem in polynomials of the entries of its parameters."""
    data, _, _ = stated.problem.get_problem_data("CLARABEL", solver_opts={})
    compiled, equations = data["param_prob"], data["dims"].zero
    own = {
        parameter.name(): parameter
        for parameter in stated.problem.parameters()
        if parameter.id in compiled.id_to_param
    }
    form = _coefficient(compiled, equations, None, 0, stated.reading)
    for (name, k), gen in gens.items():
        if name in own:
            part = _coefficient(compiled, equations, own[name], k, stated.reading)
            form = _plus(form, part, gen)
    return form


def _plus(form: Form, part: Form, gen: Any) -> Form:
    """Return form + part * gen."""
    by = zeros(1)
    by[0] = gen
    pairs = zip(_numbers(form), _numbers(part), strict=True)
    return Form(
        *(one + other * (by if isinstance(other, np.ndarray) else gen) for one, other in pairs)
    )


def _coefficient(compiled: Any, equations: int, parameter: Any, k: int, reading: Reading) -> Form:
    """Return the coefficient of entry k of a parameter in cvxpy's affine map.

    If `parameter` is None, return the value of the map at 0.
    """
    values = {id: np.zeros(own.shape) for id, own in compiled.id_to_param.items()}
    if parameter is not None:
        values[parameter.id][np.unravel_index(k, parameter.shape, order="F")] = 1.0
    linear = compiled.P is None
    *quadratic, q, d, A, b = compiled.apply_parameters(
        values, zero_offset=parameter is not None, quad_obj=not linear
    )
    P = np.zeros((len(q), len(q))) if linear else quadratic[0]
    H, M, ends = (
        _read(v.toarray() if hasattr(v, "toarray") else np.asarray(v), reading) for v in (P, -A, b)
    )
    H = (H + H.T) / flint.fmpq(2)
    g, constant = _read(np.asarray(q), reading), rational(read(float(d), reading))
    return Form(H, g, constant, M[:equations], ends[:equations], M[equations:], ends[equations:])


def _read(values: Array, reading: Reading) -> Numbers:
    numbers = zeros(*values.shape)
    numbers.ravel()[:] = [rational(read(float(v), reading)) for v in values.ravel().tolist()]
    return numbers


def _compiles_to(form: Form, stated: StatedProgram, gens: dict[tuple[str, int], Any]) -> bool:
    """Return True if the polynomials have the values of the program that cvxpy compiles.

    Both are taken at the present values of the parameters.
    """
    own = {
        parameter.name(): np.asarray(parameter.value).ravel(order="F")
        for parameter in stated.problem.parameters()
    }
    present = [
        rational(read(float(own[name][k]), stated.reading)) if name in own else flint.fmpq(0)
        for name, k in gens
    ]
    here, there = _at(form, present), stated.form
    if here.shape != there.shape:
        return False
    pairs = zip(_numbers(here), _numbers(there), strict=True)
    return all(np.allclose(_floats(a), _floats(b), rtol=COMPILED, atol=COMPILED) for a, b in pairs)


def _at(form: Form, values: list[Any]) -> Form:
    """Return the form with values, numbers or polynomials, in place of the parameters."""
    polynomials = bool(values) and not isinstance(values[0], flint.fmpq)

    def at(v: Any) -> Any:
        return v if isinstance(v, flint.fmpq) else v.compose(*values) if polynomials else v(*values)

    return _each(form, at)


def _each(form: Form, number: Callable[[Any], Any]) -> Form:
    """Return the form with mapped numbers."""

    def numbers(part: Any) -> Any:
        if not isinstance(part, np.ndarray):
            return number(part)
        mapped = zeros(*part.shape)
        mapped.ravel()[:] = [number(v) for v in part.ravel().tolist()]
        return mapped

    return Form(*(numbers(part) for part in _numbers(form)))


def _numbers(form: Form) -> tuple[Any, ...]:
    return form.H, form.g, form.constant, form.E, form.e, form.F, form.f


def _floats(part: Any) -> Array:
    return np.array([float(fraction(v)) for v in np.ravel(part)])


def _primes(count: int) -> list[int]:
    """Return the first primes above 100, which are rarely factors of a problem's numbers."""
    primes: list[int] = []
    candidate = 101
    while len(primes) < count:
        if all(candidate % prime for prime in range(2, int(candidate**0.5) + 1)):
            primes.append(candidate)
        candidate += 2
    return primes
