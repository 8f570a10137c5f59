"""Cholesky factor of the matrix of free points, on a card and in float64."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from equimargin.solvers.device.card import Card, DeviceArray
from equimargin.solvers.dual.newton_on_face import FACE_DAMPINGS

MATRICES = 5
"""Matrices of the free points that a Newton attempt has in memory at a time."""
LARGEST_DEVICE_FACE = 38_000
"""Free points above which a factorisation takes seconds even on a data-centre card."""


class CardFactor:
    """Cholesky factor on a card.

    Parameters
    ----------
    card : Card
        Card.
    L : cupy.ndarray of shape (n, n)
        Lower triangle, in C order.
    """

    def __init__(self, card: Card, L: DeviceArray) -> None:
        self.card, self.L = card, L

    def solve(self, v: DeviceArray) -> DeviceArray:
        """Solve L L' x = v.

        Parameters
        ----------
        v : cupy.ndarray of shape (n,)
            Right-hand side.
        """
        # Imported here: only a card has it.
        from cupyx.scipy.linalg import solve_triangular

        # L in C order is L' in the column-major order of the library: no copy is made.
        upper = self.L.T
        y = solve_triangular(upper, v, trans="T", lower=False, check_finite=False)
        return solve_triangular(upper, y, lower=False, check_finite=False)


def factor_on_card(
    card: Card, H: DeviceArray, out_of_time: Callable[[], bool]
) -> CardFactor | None:
    """Return the factor of H + damping I, as `newton_on_face.factor_face` does.

    Parameters
    ----------
    card : Card
        Card.
    H : cupy.ndarray of shape (n, n)
        Positive semidefinite matrix.
    out_of_time : callable
        Returns True if the run must end.
    """
    # Imported here: only a card has it.
    from cupyx import errstate

    size = float(abs(H.diagonal()).mean()) or 1.0
    for damping in FACE_DAMPINGS[H.dtype]:
        A = H.copy(order="C")
        A.reshape(-1)[:: len(H) + 1] += damping * size
        try:
            with errstate(linalg="raise"):
                L = card.cupy.linalg.cholesky(A)
            # A matrix with NaN may have a factor with NaN.
            if math.isfinite(float(L.diagonal().sum())):
                return CardFactor(card, L)
        except np.linalg.LinAlgError:
            pass
        finally:
            del A
        if out_of_time():
            break
    return None


def largest_face(free_bytes: float) -> int:
    """Return the most free points whose matrices have room in the card's memory.

    Parameters
    ----------
    free_bytes : float
        Bytes that are free.
    """
    return min(LARGEST_DEVICE_FACE, math.isqrt(max(int(free_bytes / (8 * MATRICES)), 0)))
