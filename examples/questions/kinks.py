"""Derivatives of an SVM at a kink
=================================

Frameworks of automatic differentiation differentiate the operations of a program. At a
kink, where the function has no derivative, the result depends on how the program was
written. The optimal f of a support vector machine can have a kink where a row reaches
its margin or a multiplier its bound. There it has two one-sided derivatives, which
`exact_sensitivity` computes in rational numbers.

Run it: ``python examples/questions/kinks.py``.
"""

import numpy as np

from equimargin.formulations import classification, polynomial
from equimargin.solvers.exact.sensitivity import Cost, Feature, exact_sensitivity

X = np.array([[-1.0, -1.0], [-1.0, 1.0], [1.0, -1.0], [1.0, 1.0]])
y = np.array([-1.0, 1.0, 1.0, -1.0])
kernel = polynomial(2, 1.0, 1.0)

# %%
# The four points of XOR: up to C = 1/8 all multipliers are C, beyond they are 1/8. So f
# at the second point, whose label is 1, is 8C up to C = 1/8, and then constant at 1.
for C in (0.0625, 0.125, 1.0):
    found = exact_sensitivity(classification(X, y, C, kernel), Cost())
    print(
        f"C = {C:6}: f grows by {found.f[1].left} to the left, by {found.f[1].right} to the "
        f"right; a kink: {found.kink}"
    )

# %%
# A program for a framework of automatic differentiation makes projected gradient steps
# on the dual, with min(v, C) in every step. The framework applies the chain rule. At a
# tie, v = C, min has no derivative. For v `jax.numpy.minimum` and `torch.minimum` use
# 1/2, `torch.clamp` uses 1, and `where(v < C, v, C)` uses 0; the rest is for C.
H = y[:, None] * kernel.block(X, X) * y
TIES = {"torch.clamp(v, max=C)": 1.0, "jax.numpy.minimum(v, C)": 0.5, "where(v < C, v, C)": 0.0}


def unrolled(C: float, share: float) -> tuple[float, float]:
    """Return f at the second point and its derivative in C.

    `share` is the part of the derivative of min(v, C) that v gets at a tie.
    """
    alpha, slope = np.zeros(4), np.zeros(4)
    for _ in range(100):
        v, dv = alpha + (1 - H @ alpha) / 8, slope - H @ slope / 8
        of_v = np.where(v < C, 1.0, np.where(v > C, 0.0, share))
        alpha, slope = np.minimum(v, C), of_v * dv + (1 - of_v)
    return float(H[1] @ alpha), float(H[1] @ slope)


print(f"{'':26s}" + "".join(f"{f'C = {C}':>12s}" for C in (0.0625, 0.125, 1.0)))
for name, share in TIES.items():
    print(f"{name:26s}" + "".join(f"{unrolled(C, share)[1]:12.1f}" for C in (0.0625, 0.125, 1.0)))

# %%
# Away from the kink all agree with the exact derivatives. At the kink the three
# programs of one function give three derivatives: the one to the right, the one to the
# left, and 4, which f has nowhere.
#
# The optimal value is smoother than f: its derivatives in C (the sum of losses) and in a
# feature have no jump here.
for parameter in (Cost(), Feature(0, 1)):
    found = exact_sensitivity(classification(X, y, 0.125, kernel), parameter)
    print(
        f"{parameter}: the value {found.value.left} | {found.value.right}, f at the points", end=""
    )
    print("".join(f"  {sides.left} | {sides.right}" for sides in found.f))
