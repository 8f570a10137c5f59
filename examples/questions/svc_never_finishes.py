"""An SVC that never finishes
==========================

scikit-learn's issue 30353: an SVC of one feature, with a polynomial kernel of degree 4
and C = 100, does not terminate.

Run it: ``python examples/questions/svc_never_finishes.py [--full]``; ``--full`` allows
ten times as many iterations. The settings are those of the issue. Its data, an
attachment, are not included, and may hang for another reason. The data here are random:
one feature of standard deviation 1, and the feature times 10, which hangs. The
objective of each model, at one iteration limit after another, is compared with the
proven optimum. With scikit-learn 1.9.1:

* at deviation 1 the SVC terminates after a few hundred iterations, at the optimum; at
  deviation 10 it has not terminated after 100,000,000;
* meanwhile its objective does not converge: it increases and decreases, at tens to tens
  of thousands of times the optimum;
* the optimum exists, and another solver of the same kind, `smo` of this project, finds
  and proves it in less than a second.

The reason is the scale. The entries of a kernel (gamma x z)^4 increase with the eighth
power of the feature: C = 100 at deviation 10 is the problem of C = 100 x 10^8 at
deviation 1, an almost hard margin for data that cannot be separated. The solution is to
scale the feature and to choose C again. `max_iter` limits the time, but the model is
still wrong. According to the issue a newer LIBSVM succeeds. On these data LIBSVM 3.37
fails: at deviation 10 it stops after 10,000,000 iterations with a warning. It prints a
dual value of 30184 there, but no dual value can exceed the optimum of 6336.
"""

import sys
import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

from equimargin.formulations import classification, polynomial
from equimargin.solvers import solve

C, GAMMA, WEIGHT = 100.0, 0.9597420397825849, {-1: 1.04884106, 1: 0.95550528}
ITERATIONS = (100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000) + (
    (100_000_000,) if "--full" in sys.argv else ()
)


def drawn(deviation: float) -> tuple[np.ndarray, np.ndarray]:
    """Draw one feature of 200 samples, with noisy labels of its distance from 0."""
    random = np.random.default_rng(0)
    x = random.normal(size=200)
    return deviation * x, np.where(np.abs(x) + 0.3 * random.normal(size=200) > 0.7, 1, -1)


def progress(deviation: float) -> list[float]:
    """Return the model's objective over the proven optimum, for each iteration limit.

    The limits increase until the model terminates before its limit.
    """
    x, y = drawn(deviation)
    weight = np.where(y > 0, WEIGHT[1], WEIGHT[-1])
    problem = classification(x[:, None], y, C, polynomial(4, GAMMA, 0.0), sample_weight=weight)
    optimum = solve(problem)
    print(
        f"deviation {deviation:g}: optimum proven in [{optimum.lower:.8g}, "
        f"{optimum.upper:.8g}]; {optimum.reason}"
    )
    found: list[float] = []
    for most in ITERATIONS:
        model = SVC(
            C=C,
            kernel="poly",
            degree=4,
            gamma=GAMMA,
            tol=0.01,
            cache_size=1000,
            class_weight=WEIGHT,
            max_iter=most,
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(x[:, None], y)
        feature = GAMMA**2 * x**4  # the whole feature space of this kernel: f(x) = w gamma^2 x^4
        w = float(model.dual_coef_[0] @ feature[model.support_])
        primal = problem.primal(w * feature, w * w, float(model.intercept_[0]))
        found.append(primal / optimum.upper)
        end = "" if model.fit_status_ else ", where it ended by itself"
        print(
            f"  SVC after {int(model.n_iter_[0]):11,} iterations: {primal:.6g}, "
            f"{found[-1] - 1:.1e} above the optimum{end}"
        )
        if not model.fit_status_:
            break
    return found


def main() -> None:
    """Solve both deviations, and draw a picture."""
    figure, axes = plt.subplots(figsize=(5.4, 3.4))
    for deviation, mark in ((1.0, "o"), (10.0, "s")):
        found = progress(deviation)
        axes.loglog(ITERATIONS[: len(found)], found, marker=mark, label=f"{deviation:g}")
    axes.axhline(1.0, color="black", linewidth=0.8, linestyle="--")
    axes.set(xlabel="iterations that SVC may take", ylabel="objective over the proven optimum")
    axes.legend(title="deviation of the feature", fontsize=8)
    figure.tight_layout()
    plt.show()


if __name__ == "__main__":
    main()
