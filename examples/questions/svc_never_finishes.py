"""An SVC that never finishes
==========================

scikit-learn's issue 30353: an SVC of one feature, with a polynomial kernel of degree 4
and C = 100, does not come to an end.

Run it: ``python examples/questions/svc_never_finishes.py [--full]``, which allows ten
times as many iterations. The settings are those of the issue. Its data, an attachment,
are not here, and so it is not known that they hang for the same reason: these are
drawn, one feature of deviation 1, and the same feature of deviation 10, which hangs.
The objective of each model, at one iteration limit after another, is compared with the
proven optimum. Of scikit-learn 1.9.1 this says:

* at deviation 1 it ends after a few hundred iterations, at the optimum; at deviation 10
  it has not ended after 100,000,000;
* meanwhile the objective does not creep towards the optimum: it jumps up and down, and
  is tens to tens of thousands of times as large;
* the optimum exists, and another solver of the same kind, `smo` of this project, comes
  to it, and proves it, in less than a second.

The reason is the scale. The entries of a kernel (gamma x z)^4 grow with the eighth
power of the feature: C = 100 at deviation 10 is the problem of C = 100 x 10^8 at
deviation 1, an almost hard margin, of data that cannot be separated. The
cure is to scale the feature and to choose C anew. `max_iter` ends the wait and not the
error. A newer LIBSVM succeeds, says the issue. On these data it ends without success:
LIBSVM 3.37 gives up after 10,000,000 iterations at deviation 10, with a warning. The
value of the dual that it prints there, 30184, is above the optimum of 6336, which no
value of the dual can be.
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
    """Return the model's objective over the proven optimum, by iteration limit.

    The limits grow until the model ends by itself.
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
