"""Fewest nonzero numbers of a variable over all optima of a formulation, proven.

    min |{j : v_j != 0}|   over the optima of   min 1/2 x'Px + q'x  s.t.  A x = b, G x <= h

v is a variable of the formulation. The optima are a polyhedron: with the multipliers z
of any one of them they are the feasible points with P x = P x* and (G x)_i = h_i where
z_i > 0. The equations leave few numbers t free, x = x_0 + N t; of a unique optimum
none. If v >= 0 is a constraint, the minimum is that over the vertices of the polyhedron.
Finding it is NP-hard in general. Linear programs in t find either an
optimum with v_j = 0 for all j of a set, or, by Farkas' lemma, multipliers y with

    sum over j of y_j v_j > 0   at every optimum:

one of these v_j is nonzero at every optimum. So the minimum is the size of the minimum
hitting set of all such sets. Both bounds are proven in rational numbers.

References
----------
O. L. Mangasarian, A simple characterization of solution sets of convex programs,
Operations Research Letters 7 (1988).

G. Codato, M. Fischetti, Combinatorial Benders' cuts for mixed-integer linear
programming, Operations Research 54 (2006).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from equimargin.formulations.numeric.arguments import did_you_mean, positive
from equimargin.formulations.problem.base import AnyProblem
from equimargin.formulations.programs import Program
from equimargin.formulations.programs.rational import Matrix, Vector
from equimargin.proofs.equivalence.stated import SECONDS, stated
from equimargin.solvers.exact.hitting_set import Candidate, Obstruction, fewest
from equimargin.solvers.exact.program import Inconclusive, Infeasible, Optimum, program_optimum
from equimargin.solvers.exact.program.clock import Clock, OutOfTime
from equimargin.solvers.exact.program.solution_set import solution_set

MAX_VARIABLES = 2_000
"""Maximum number of variables of a program, for the elimination of its equations."""


@dataclass(frozen=True, eq=False)
class FewestNonzeros:
    """Fewest nonzero numbers of a variable over all optima, and an optimum that has them.

    Parameters
    ----------
    id : str
        Id of the formulation.
    name : str
        Name of the variable.
    value : Fraction
        Optimum of the formulation, in its own units.
    fewest : int
        Number of nonzeros of `variable`.
    lower : int
        Lower bound on the number of nonzeros at every optimum.
    variable : Vector
        The variable at an optimum with `fewest` nonzeros.
    freedom : int
        Number of numbers that the equations of the optima leave free; 0 if the optimum
        is unique.
    obstructions : tuple[Obstruction, ...]
        Proof of `lower`: places j of the variable, and multipliers y, with sum_j y_j v_j
        > 0 at every optimum.
    reason : str
        Reason why the bounds differ, as a sentence; empty if they are equal.
    """

    id: str
    name: str
    value: Fraction = field(repr=False)
    fewest: int
    lower: int
    variable: Vector = field(repr=False)
    freedom: int
    obstructions: tuple[Obstruction, ...] = field(repr=False)
    reason: str

    @property
    def proven(self) -> bool:
        """True if both bounds are equal."""
        return self.fewest == self.lower

    @property
    def support(self) -> tuple[int, ...]:
        """Places of the nonzeros of `variable`."""
        return tuple(j for j, entry in enumerate(self.variable) if entry)


def fewest_nonzeros(
    id: str, problem: AnyProblem, name: str, seconds: float = 60.0
) -> FewestNonzeros:
    """Return the fewest nonzero numbers of a variable over all optima of a formulation.

    Parameters
    ----------
    id : str
        Id of the formulation, such as "rvm.primal".
    problem : problem of any kind
        Problem of its family.
    name : str
        Name of a variable of the formulation, such as "beta".
    seconds : float, default 60.0
        Time limit in seconds; if it ends the search, fewest and lower are the best known
        bounds.

    Returns
    -------
    FewestNonzeros
        Bounds, with exact proofs.

    Raises
    ------
    KeyError
        If the formulation or the variable is unknown.
    ValueError
        If the formulation rejects the data; if the problem has no optimum, or
        second-order cones, whose optima are no polyhedron, or more than 2,000 variables;
        or if the time limit does not suffice for one optimum.

    Notes
    -----
    A float close to a simple fraction is read as that fraction; every other one as it
    is, those of a Gram matrix among them.

    References
    ----------
    Document T (Yu and Kim), section 5, counts the support vectors of one optimum.
    """
    clock = Clock(positive(seconds, "seconds"))
    try:
        posed = stated(id, problem, "fractions", clock)
        program = posed.program
        if name not in program.columns:
            raise KeyError(
                f"{id} has no variable {name!r}{did_you_mean(name, list(program.columns))}"
            )
        if program.n > MAX_VARIABLES:
            raise ValueError(
                f"{id} has {program.n:,} variables here, and the limit is {MAX_VARIABLES:,}; "
                f"give fewer points or pairs"
            )
        last = clock.left <= SECONDS
        outcome = posed.outcome
        if isinstance(outcome, Inconclusive) and outcome.cause == "time" and last:
            raise OutOfTime(
                f"the time limit of {clock.seconds:.3g} s does not suffice for one exact optimum"
            )
        if not isinstance(outcome, Optimum):
            raise ValueError(f"{id} has no exact optimum here: {outcome.reason}")
        optima = _Optima(program, outcome, program.columns[name], clock)
    except OutOfTime as reason:
        raise ValueError(str(reason)) from None
    found = fewest(optima.start, len(optima.v), optima.avoid, clock, optima.constants)
    return FewestNonzeros(
        id,
        name,
        program.stated(outcome.value),
        len(found.best.elements),
        found.lower,
        found.best.point,
        optima.freedom,
        found.obstructions,
        found.reason,
    )


class _Optima:
    """Optima of a program as a polyhedron in the numbers t that their equations leave free.

    Parameters
    ----------
    program : Program
        Program without second-order cones.
    outcome : Optimum
        Any one optimum.
    columns : slice
        Places of the variable v in x.
    clock : Clock
        Time limit.

    Attributes
    ----------
    v : list[Affine]
        The numbers of v as functions of t.
    freedom : int
        Length of t.
    start : Candidate[Vector]
        v at the given optimum.
    """

    def __init__(self, program: Program, outcome: Optimum, columns: slice, clock: Clock) -> None:
        # A row with z > 0 is tight at every optimum; the others stay inequalities.
        rows = list(zip(program.G.rows, program.h, outcome.z, strict=True))
        equations = [
            *zip(program.A.rows, program.b, strict=True),
            *zip(program.P.rows, program.P.times(outcome.x), strict=True),
            *((row, end) for row, end, z in rows if z > 0),
        ]
        solutions = solution_set(
            Matrix(tuple(row for row, _ in equations), program.n),
            [end for _, end in equations],
            clock,
        )
        self.start = _candidate(outcome.x[columns])
        self.v, self.freedom = solutions.lines[columns], solutions.freedom
        self._nonnegative = {
            j - columns.start
            for row, end, _ in rows
            if len(row) == 1 and end == 0
            for j, entry in row.items()
            if entry < 0 and columns.start <= j < columns.stop
        }
        left = [(solutions.inserted(row), end) for row, end, z in rows if z == 0]
        left = [(line, end) for line, end in left if line.slope]
        self._G = Matrix(tuple(line.slope for line, _ in left), self.freedom)
        self._h = tuple(end - line.constant for line, end in left)

    @property
    def constants(self) -> list[Obstruction]:
        """Obstruction for each v_j that the equations determine and that is not 0."""
        return [
            Obstruction((j,), (1 / line.constant,))
            for j, line in enumerate(self.v)
            if not line.slope and line.constant
        ]

    def avoid(self, left: Sequence[int], clock: Clock) -> Obstruction | Candidate[Vector]:
        """Return an optimum with v_j = 0 for some j, or an obstruction among them.

        Parameters
        ----------
        left : Sequence[int]
            Places j of v, without those of `constants`.
        clock : Clock
            Time limit.
        """
        zeros, n = [j for j in left if self.v[j].slope], self.freedom
        if not zeros:
            return self.start
        # v_j <= 0 is enough where v_j >= 0 is a constraint, and the multiplier of v_j <= 0
        # is then nonnegative.
        below = [j for j in zeros if j in self._nonnegative]
        equal = [j for j in zeros if j not in self._nonnegative]
        program = Program(
            Matrix(({},) * n, n),
            (Fraction(0),) * n,
            Matrix(tuple(self.v[j].slope for j in equal), n),
            tuple(-self.v[j].constant for j in equal),
            Matrix((*self._G.rows, *(self.v[j].slope for j in below)), n),
            (*self._h, *(-self.v[j].constant for j in below)),
        )
        result = program_optimum(program, max(clock.left, 1e-3))
        if isinstance(result, Optimum):
            return _candidate(tuple(line.at(result.x) for line in self.v))
        if not isinstance(result, Infeasible):
            if isinstance(result, Inconclusive) and result.cause == "time":
                raise OutOfTime(
                    f"the time limit of {clock.seconds:.3g} s does not suffice for an optimum "
                    f"with more zeros, or a proof that there is none"
                )
            raise OutOfTime(f"no optimum with more zeros was found: {result.reason}")
        # y'v >= -(b'y + h'z) > 0 at every optimum, because A'y = -G'z.
        multipliers = (*result.y, *result.z[len(self._h) :])
        terms = [(j, y) for j, y in zip((*equal, *below), multipliers, strict=True) if y]
        return Obstruction(tuple(j for j, _ in terms), tuple(y for _, y in terms))


def _candidate(v: Vector) -> Candidate[Vector]:
    return Candidate(tuple(j for j, entry in enumerate(v) if entry), v)
