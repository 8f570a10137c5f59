"""Evidence that detects a misprint
================================

An equation with a wrong sign may still have the right optimum. The errata engine
changes the text of a problem's function, one change at a time: it drops a divisor,
flips a sign, leaves out a constraint. For each misprint it compares the exact answers
of both problems on small instances: the optimum, the predictions (here the variables)
and the multipliers. A misprint that changes none of them is the same problem.

On the command line: ``equimargin same FAMILY --mutants``, with ``--plugin FILE`` for a
family of yours. Run this example: ``python examples/formulations/evidence_of_misprints.py``.
"""

from collections import Counter
from typing import Any

import cvxpy as cp
import numpy as np
from hypothesis import strategies as st

from equimargin.equivalence import mutants
from equimargin.own import Family

number = st.integers(-2, 2)
data = st.builds(
    lambda entries, y: {"X": np.reshape(entries, (2, 2)) + 0.0, "y": np.array(y) + 0.0},
    st.lists(number, min_size=4, max_size=4),
    st.lists(number, min_size=2, max_size=2),
)
fit = Family("nonnegative_fit", data=data)


# %%
# The family: least squares with nonnegative coefficients, and its dual.


@fit.formulation("primal")
def primal(d: dict[str, Any]) -> cp.Problem:
    """min 1/2 |Xw - y|^2 s.t. w >= 0."""
    w = cp.Variable(2, "w")
    return cp.Problem(cp.Minimize(cp.sum_squares(d["X"] @ w - d["y"]) / 2), [w >= 0])


@fit.formulation("dual")
def dual(d: dict[str, Any]) -> cp.Problem:
    """max -y'u - 1/2 |u|^2 s.t. X'u >= 0."""
    u = cp.Variable(2, "u")
    return cp.Problem(
        cp.Maximize(-(d["y"] @ u) - cp.sum_squares(u) / 2), [(d["X"].T @ u >= 0).set_label("sign")]
    )


# %%
# Every misprint, and the evidence that detects it.
found = list(mutants("nonnegative_fit", examples=60))
for mutant in found:
    print(f"{mutant.problem:24} {mutant.verdict:36} {mutant.misprint.name}")
print(Counter(mutant.verdict for mutant in found).most_common())

# %%
# Three misprints leave the optimum as it is, and a proof says so. Exchanged terms under a
# square change nothing. With 2Xw the coefficients are halved, and only the answer shows
# it; with 2X'u >= 0 only the multipliers, which are the coefficients of the primal.
for mutant in found:
    if mutant.same is not None and mutant.is_proven_equal:
        print(f"{mutant.problem}: {mutant.misprint.name}: {mutant.same.reasons[0]}")
