"""A ranking, from a file to the verdict
=======================================

A table has documents of twelve queries with relevances. A ranking SVM compares the
documents of one query with each other, and penalises pairs in the wrong order.

Run it: ``python examples/first_steps/ranking_from_file.py``. In a terminal:
``equimargin compare documents.csv``; the column `qid` makes it a ranking.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from equimargin import compare
from equimargin.data import load
from equimargin.formulations import ranking
from equimargin.metrics import ndcg, pairwise_accuracy
from equimargin.solvers import solve

random = np.random.default_rng(1)
features = random.normal(size=(120, 4))
relevance = np.digitize(
    features[:, 0] - 0.6 * features[:, 1] + 0.7 * random.normal(size=120), [-0.5, 0.5, 1.5]
)
lines = [
    f"{i // 10},{relevance[i]}," + ",".join(f"{value:.3f}" for value in row)
    for i, row in enumerate(features)
]
file = Path(tempfile.mkdtemp()) / "documents.csv"
file.write_text("\n".join(["qid,relevance,title,body,age,length", *lines, ""]))

data = load(file)
assert data.qid is not None
problem = ranking(data.X, data.y, data.qid, C=0.1, loss="squared_hinge")
print(f"{problem.p} pairs within {len(set(data.qid))} queries")

# %%
# The squared hinge of all pairs (`rank.l2`). For backends every pair is a constraint;
# the specialised solvers sum over pairs without listing them.
print(compare(problem))

# %%
# Quality of the scores, query by query: the share of pairs in the right order, and NDCG
# at 5.
solution = solve(problem, tol=1e-10)
f = solution.decision_function(data.X)
accuracy, gain = pairwise_accuracy(data.y, f, data.qid), ndcg(data.y, f, data.qid, k=5)
figure, axes = plt.subplots(figsize=(5.4, 3.2))
at = np.arange(len(accuracy.values))
axes.bar(
    at - 0.2, accuracy.values, width=0.4, label=f"pairs in order, {accuracy.mean:.3f} on average"
)
axes.bar(at + 0.2, gain.values, width=0.4, label=f"NDCG@5, {gain.mean:.3f} on average", hatch="//")
axes.set(xlabel="query", ylim=(0, 1.3), xticks=at)
axes.legend(fontsize=8, loc="upper center", ncols=1)
figure.tight_layout()
plt.show()
