"""The price of a surrogate loss in a ranking
==========================================

A ranking SVM minimises slacks in place of the number of misordered pairs, whose
minimisation is NP-hard. Both are known exactly here: the pairs that the optimum
misorders at every C of the regularisation path, and the least number of any function.
Their difference is the *surrogate regret*.

Run it: ``PYTHONPATH=examples python examples/questions/surrogate_regret.py``.
"""

import matplotlib.pyplot as plt
import numpy as np

from equimargin.draw.regret_plot import cost_range, regret_panel
from equimargin.formulations import ranking
from equimargin.proofs import surrogate_regret
from equimargin.solvers import exact_path, regularization_path
from ledger.measures.along import precision_at

random = np.random.default_rng(4)
X = random.normal(size=(16, 2)).round(1)
y = np.digitize(X @ [1.0, 0.6] + 0.5 * random.normal(size=16), [-0.5, 0.5])
# One document has the highest relevance and the features of a very bad one.
X[0], y[0] = [-4.0, -4.0], 2

problem = ranking(X, y)
path = exact_path(problem)
curve = surrogate_regret(path)
print(f"{problem.p} pairs, {len(path.breakpoints)} breakpoints of the exact path")
print(f"least number of any f: {curve.fewest.least}, proven by {len(curve.search.rays)} rays")

# %%
# The numbers change at few C, all of them rational. A line has the numbers from one
# such C to the next: the regret, the average precision, where relevant is y >= 2, and
# the lower bound that the encyclopedia page on Ranking SVM gives.
high = 2 * max(*path.breakpoints, *curve.steps)
print(f"{'from C':>10s} {'pairs':>6s} {'regret':>7s} {'precision':>10s} {'bound':>6s}")
for C, after, end in zip(curve.steps, curve.after_steps, [*curve.steps[1:], high], strict=True):
    middle = (C + end) / 2
    found = precision_at(curve, middle, threshold=2)
    print(
        f"{float(C):10.5f} {after.least:6d} {curve.regret(middle).least:7d} "
        f"{float(found.least):10.3f} {found.bound:6.3f}"
    )

# %%
# A path in floats is faster, and proves the same numbers except near their changes and
# at ties: its gap, computed in rational numbers, bounds the error of every margin.
wide = surrogate_regret(regularization_path(problem))
known = [
    (float(after.least == after.most), float(end - C))
    for C, after, end in zip(wide.steps, wide.after_steps, wide.steps[1:], strict=False)
]
share = sum(same * length for same, length in known) / sum(length for _, length in known)
print(f"in floats: exact on {share:.0%} of the C up to the last change")

# %%
# Above, the pairs; below, average precision and its bound.
figure, (above, below) = plt.subplots(2, 1, figsize=(8, 6), sharex=True, layout="constrained")
regret_panel(above, curve)
costs = np.geomspace(*cost_range(curve), 300)
along = [precision_at(curve, C, threshold=2) for C in costs]
below.plot(costs, [float(at.least) for at in along], color="#1b5e8c", label="average precision")
below.plot(costs, [at.bound for at in along], color="#b3282d", ls="--", label="its lower bound")
below.set(xlabel="C", ylabel="y >= 2 is relevant", ylim=(0, 1.02))
below.legend(frameon=False, fontsize=8)
plt.show()
