"""Many ways to one optimum, and one that is wrong
=================================================

Two formulations are solved by three backends each and by the specialised solvers, and a
misprint by one backend. All report an optimum; the picture has the distance of each
value from the proven optimum.

Run it: ``python examples/first_steps/ways_to_one_optimum.py [--svg FILE]``. The command
makes the picture in the tutorial.
"""

import sys
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt

from equimargin import compare
from equimargin.data import load
from equimargin.formulations import classification

AGREE_TOL = 1e-6
"""Relative distance from the optimum up to which an answer agrees.

An answer is what one solver or backend returns for one formulation.
"""
SMALLEST = 1e-14
"""Smallest relative distance in the picture, close to the precision of float64."""

data = load("iris")
result = compare(
    classification(data.X, data.y, C=1.0),
    formulations=["svm.soft.primal", "svm.soft.dual*"],
    include_controls=True,
)
answers: list[dict[str, Any]] = [
    answer for answer in result.to_dict()["answers"] if answer["claim"] is not None
]
print(f"{'answer':34s}{'says':10s}{'referee':12s}{'off by':>8s}")
for answer in answers:
    name = f"{answer['formulation'] or 'solver'} by {answer['solver']}"
    print(
        f"{name.replace('svm.soft.', ''):34s}{answer['status']:10s}{answer['agreement']:12s}"
        f"{answer['claim']:8.0e}"
    )

# %%
# Each answer at its distance from the proven optimum. The backends solve the misprinted
# dual as accurately as the others; it is the dual of another problem.
answers.sort(key=lambda answer: -answer["claim"])
figure, axes = plt.subplots(figsize=(7, 3.3))
labels: list[str] = []
for at, answer in enumerate(answers):
    agrees = answer["agreement"] == "agrees"
    color, mark = ("#1b7a43", "o") if agrees else ("#b3282d", "X")
    distance = max(answer["claim"], SMALLEST)
    axes.plot([SMALLEST / 3, distance], [at, at], color=color, linewidth=1, alpha=0.5)
    axes.plot(distance, at, mark, color=color, markersize=6)
    formulation = (answer["formulation"] or "").removeprefix("svm.soft.")
    labels.append(f"{formulation} by {answer['solver']}" if formulation else answer["solver"])
axes.set_yticks(range(len(answers)), labels, fontsize=8)
axes.axvline(AGREE_TOL, color="gray", linestyle="dashed", linewidth=1)
axes.text(
    AGREE_TOL,
    len(answers) - 0.3,
    "agree   disagree",
    fontsize=8,
    color="gray",
    ha="center",
    va="center",
)
axes.set(
    xscale="log",
    xlim=(SMALLEST / 3, 3),
    ylim=(-0.6, len(answers) + 0.2),
    xlabel="distance from the proven optimum, relative",
)
axes.set_title("All say: optimal. Which of them are?", fontsize=10)
figure.tight_layout()
if "--svg" in sys.argv:
    plt.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "equimargin"})
    figure.savefig(Path(sys.argv[sys.argv.index("--svg") + 1]), metadata={"Date": None})
plt.show()
