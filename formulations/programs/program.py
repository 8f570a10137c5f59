"""Convex programs in standard form with exact data, and bounds that points prove.

    min 1/2 x'Px + q'x + c   s.t.   A x = b,   h - Gx in K
    K = R+^k x second-order cones {(t, v) : |v| <= t}

Weak duality, which needs a positive semidefinite P: for all x, y and z in K with P x +
q + A'y + G'z = 0, and all feasible x',

    -1/2 x'Px - b'y - h'z + c  <=  optimum  <=  1/2 x''Px' + q'x' + c.

Every test of membership is one of rational numbers: |v| <= t is t >= 0 and v'v <= t^2.

References
----------
S. Boyd, L. Vandenberghe, Convex Optimization, chapter 5.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import accumulate, pairwise

from equimargin.formulations.programs.rational import Matrix, Vector, dot, negative
from equimargin.formulations.programs.reading import Reading


@dataclass(frozen=True, eq=False)
class Program:
    """Program min 1/2 x'Px + q'x + c  s.t.  A x = b,  h - Gx in K, in rational numbers.

    Parameters
    ----------
    P : Matrix of shape (n, n)
        Symmetric matrix.
    q : vector of shape (n,)
        Linear term.
    A : Matrix of shape (m, n)
        Matrix of the equations.
    b : vector of shape (m,)
        Right-hand side of the equations.
    G : Matrix of shape (r, n)
        Matrix of the inequalities.
    h : vector of shape (r,)
        Right-hand side of the inequalities.
    c : Fraction
        Constant, in units of the objective.
    cones : tuple of int
        Numbers of rows (t, v) of the second-order cones |v| <= t, which are the last
        rows of G; the rows before them are inequalities.
    maximised : bool
        True if the problem was stated as the maximisation of minus this objective.
    columns : mapping of str to slice
        Places of the stated problem's variables in x, by name.
    rows : mapping of str to slice
        Places of the stated problem's constraints among the rows of A and then G, by
        name; a constraint that cvxpy writes by auxiliary variables has its last rows.
    reading : Reading
        Interpretation of the floats, a key of READINGS.

    Raises
    ------
    ValueError
        If a matrix has another size, an entry is 0 or beyond the columns, P is not
        symmetric, or cones do not fit G.
    """

    P: Matrix
    q: Vector
    A: Matrix
    b: Vector
    G: Matrix
    h: Vector
    c: Fraction = Fraction(0)
    cones: tuple[int, ...] = ()
    maximised: bool = False
    columns: Mapping[str, slice] = field(default_factory=dict)
    rows: Mapping[str, slice] = field(default_factory=dict)
    reading: Reading = "exact"

    def __post_init__(self) -> None:
        for name, M, height in (
            ("P", self.P, self.n),
            ("A", self.A, len(self.b)),
            ("G", self.G, len(self.h)),
        ):
            if (M.height, M.width) != (height, self.n):
                raise ValueError(
                    f"{name} is {M.height} x {M.width}, and {height} x {self.n} was expected"
                )
            if not all(0 <= j < M.width and v != 0 for row in M.rows for j, v in row.items()):
                raise ValueError(
                    f"a row of {name} has an entry outside its columns or a zero; "
                    f"give nonzero entries only"
                )
        if not self.P.symmetric:
            raise ValueError("P is not symmetric: give (P + P') / 2, which has the same x'Px")
        # `inequalities` is negative if the cones have more rows than G.
        if any(size < 1 for size in self.cones) or self.inequalities < 0:
            raise ValueError(
                f"cones of {list(self.cones)} rows do not fit G, which has {len(self.h)} rows"
            )

    @property
    def n(self) -> int:
        """Number of variables."""
        return len(self.q)

    @property
    def inequalities(self) -> int:
        """Number of rows of G that are inequalities; they come first."""
        return len(self.h) - sum(self.cones)

    @property
    def blocks(self) -> Iterator[slice]:
        """Slices of the rows of each second-order cone."""
        return (
            slice(*ends) for ends in pairwise(accumulate(self.cones, initial=self.inequalities))
        )

    def stated(self, value: Fraction) -> Fraction:
        """Convert a value of this objective to the stated problem's objective.

        The stated problem may be a maximisation.

        Parameters
        ----------
        value : Fraction
            Value of this objective.
        """
        return -value if self.maximised else value

    def objective(self, x: Sequence[Fraction]) -> Fraction:
        """Return 1/2 x'Px + q'x + c.

        Parameters
        ----------
        x : sequence of Fraction
            Point, of length n.
        """
        return dot(x, self.P.times(x)) / 2 + dot(self.q, x) + self.c

    def dual_objective(
        self, x: Sequence[Fraction], y: Sequence[Fraction], z: Sequence[Fraction]
    ) -> Fraction:
        """Return -1/2 x'Px - b'y - h'z + c.

        Parameters
        ----------
        x : sequence of Fraction
            Point, of length n.
        y : sequence of Fraction
            Multipliers of the equations.
        z : sequence of Fraction
            Multipliers of the inequalities.
        """
        return -dot(x, self.P.times(x)) / 2 - dot(self.b, y) - dot(self.h, z) + self.c

    def slack(self, x: Sequence[Fraction]) -> list[Fraction]:
        """Return h - Gx.

        Parameters
        ----------
        x : sequence of Fraction
            Point, of length n.
        """
        return [end - v for end, v in zip(self.h, self.G.times(x), strict=True)]

    def residual(
        self, x: Sequence[Fraction], y: Sequence[Fraction], z: Sequence[Fraction]
    ) -> list[Fraction]:
        """Return P x + q + A'y + G'z.

        Parameters
        ----------
        x : sequence of Fraction
            Point, of length n.
        y : sequence of Fraction
            Multipliers of the equations.
        z : sequence of Fraction
            Multipliers of the inequalities.
        """
        return [
            a + b + v for a, b, v in zip(self.P.times(x), self.q, self._pull(y, z), strict=True)
        ]

    def in_cone(self, v: Sequence[Fraction]) -> bool:
        """Return True if v is in K, which is its own dual cone.

        Parameters
        ----------
        v : sequence of Fraction
            Vector, of length r.
        """
        if any(entry < 0 for entry in v[: self.inequalities]):
            return False
        return all(
            v[rows][0] >= 0 and dot(v[rows][1:], v[rows][1:]) <= v[rows][0] ** 2
            for rows in self.blocks
        )

    def is_feasible(self, x: Sequence[Fraction]) -> bool:
        """Return True if A x = b and h - Gx in K.

        The optimum is then at most the objective at x.

        Parameters
        ----------
        x : sequence of Fraction
            Point, of length n.
        """
        return self.A.times(x) == list(self.b) and self.in_cone(self.slack(x))

    def is_dual_feasible(
        self, x: Sequence[Fraction], y: Sequence[Fraction], z: Sequence[Fraction]
    ) -> bool:
        """Return True if P x + q + A'y + G'z = 0 and z in K.

        The optimum is then at least the dual objective there, if P is semidefinite.

        Parameters
        ----------
        x : sequence of Fraction
            Point, of length n.
        y : sequence of Fraction
            Multipliers of the equations.
        z : sequence of Fraction
            Multipliers of the inequalities.
        """
        return self.in_cone(z) and not any(self.residual(x, y, z))

    def is_optimal(
        self, x: Sequence[Fraction], y: Sequence[Fraction], z: Sequence[Fraction]
    ) -> bool:
        """Return True if primal and dual point are feasible with equal objectives.

        x is then optimal, if P is semidefinite.

        Parameters
        ----------
        x : sequence of Fraction
            Point, of length n.
        y : sequence of Fraction
            Multipliers of the equations.
        z : sequence of Fraction
            Multipliers of the inequalities.
        """
        return (
            self.is_feasible(x)
            and self.is_dual_feasible(x, y, z)
            and self.objective(x) == self.dual_objective(x, y, z)
        )

    def is_farkas_ray(self, y: Sequence[Fraction], z: Sequence[Fraction]) -> bool:
        """Return True if A'y + G'z = 0, z in K and b'y + h'z < 0: no point is feasible.

        Parameters
        ----------
        y : sequence of Fraction
            Multipliers of the equations.
        z : sequence of Fraction
            Multipliers of the inequalities.
        """
        return dot(self.b, y) + dot(self.h, z) < 0 and self.in_cone(z) and not any(self._pull(y, z))

    def is_recession_ray(self, d: Sequence[Fraction]) -> bool:
        """Return True if P d = 0, A d = 0, -G d in K and q'd < 0.

        The objective is then unbounded below, if a point is feasible.

        Parameters
        ----------
        d : sequence of Fraction
            Direction, of length n.
        """
        flat = not any(self.P.times(d)) and not any(self.A.times(d))
        return flat and dot(self.q, d) < 0 and self.in_cone(negative(self.G.times(d)))

    def _pull(self, y: Sequence[Fraction], z: Sequence[Fraction]) -> list[Fraction]:
        """Return A'y + G'z."""
        return [
            a + b
            for a, b in zip(self.A.transposed.times(y), self.G.transposed.times(z), strict=True)
        ]
