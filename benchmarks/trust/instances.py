"""Problems of the leaderboard: data sets of two classes or more, two costs and losses.

All seeds are fixed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.datasets import (
    load_breast_cancer,
    load_digits,
    load_iris,
    load_wine,
    make_classification,
)
from sklearn.preprocessing import StandardScaler
from table import DATA as SHARED

Array = NDArray[np.float64]
COSTS = (1.0, 100.0)
"""C of each data set: a usual one, and one at which solvers are slow."""
PROBLEMS = ("linear hinge", "linear squared_hinge", "rbf hinge", "rbf hinge pairs")
"""The kinds of problem; the last is for more than two classes."""
MAX_KERNEL_POINTS = 10_000
"""Largest number of points of a problem with a kernel."""


@dataclass(frozen=True)
class Instance:
    """A problem: a data set by its name, the kind of problem ("linear hinge", ...) and C."""

    data: str
    problem: str
    C: float

    @property
    def name(self) -> str:
        """Readable name."""
        return f"{self.data}, {self.problem.replace('_', ' ')}, C = {self.C:g}"

    @property
    def kernel(self) -> str:
        """The kernel's name, "linear" or "rbf"."""
        return self.problem.split()[0]

    @property
    def loss(self) -> str:
        """The loss, "hinge" or "squared_hinge"."""
        return self.problem.split()[1]

    def read(self) -> tuple[Any, Array]:
        """Return X (n, d) and y (n,), in {-1, 1} for two classes.

        Linear problems have a last column of ones in place of a bias.
        """
        X, y = data(self.data)
        return X if self.kernel == "rbf" else with_ones(X), y


def pairs(y: Array) -> Iterator[tuple[NDArray[np.intp], Array]]:
    """Yield the rows and the signs of every pair of classes; 1 is the larger label."""
    for first, second in combinations(np.unique(y), 2):
        rows = np.flatnonzero((y == first) | (y == second))
        yield rows, signs(y[rows] == second)


def with_ones(X: Any) -> Any:
    """Return X (n, d) with a last column of ones."""
    ones = np.ones((X.shape[0], 1))
    return sparse.hstack([X, ones], format="csr") if sparse.issparse(X) else np.hstack([X, ones])


def takes_kernel(X: Any) -> bool:
    """Return True if data are dense and few enough for a kernel."""
    return not sparse.issparse(X) and X.shape[0] <= MAX_KERNEL_POINTS


def gamma(X: Any) -> float:
    """Return gamma of the RBF kernel, 1 / (d x variance of all entries of X).

    scikit-learn calls it "scale".
    """
    return float(1.0 / (X.shape[1] * X.var()))


def signs(positive: Any) -> Array:
    """Return 1 where a condition is true, and -1 elsewhere."""
    return np.where(np.asarray(positive), 1.0, -1.0)


def bundled(
    load: Callable[..., Any], positive: Callable[[Any], Any], scaled: bool = True
) -> tuple[Any, Array]:
    """Return a data set of scikit-learn."""
    X, y = load(return_X_y=True)
    return StandardScaler().fit_transform(X) if scaled else X, signs(positive(y))


def labelled(load: Callable[..., Any]) -> tuple[Any, Array]:
    """Return a data set of scikit-learn with all its classes."""
    X, y = load(return_X_y=True)
    return StandardScaler().fit_transform(X), y.astype(float)


def clusters(n: int, d: int, noise: float = 0.05, classes: int = 2) -> tuple[Any, Array]:
    """Return standardised normal clusters with some labels flipped."""
    X, y = make_classification(
        n,
        d,
        n_informative=max(d // 2, 2),
        n_classes=classes,
        class_sep=1,
        flip_y=noise,
        random_state=0,
    )
    return StandardScaler().fit_transform(X), signs(y == 1) if classes == 2 else y.astype(float)


def census() -> tuple[Any, Array]:
    """Return 16,281 points of 6 features of the shape of adult's test set.

    Ages, years, hours, and capital gains and losses that are mostly 0; a sixth of the
    labels are noise.
    """
    rng, n = np.random.default_rng(0), 16_281
    age = np.clip(np.round(17 + rng.gamma(2.2, 10, n)), 17, 90)
    weight = np.round(np.exp(rng.normal(12, 0.55, n)))
    years = rng.choice(
        [9, 10, 13, 14, 11, 7, 12, 6], n, p=[0.34, 0.23, 0.17, 0.06, 0.05, 0.05, 0.05, 0.05]
    )
    usual = rng.random(n) < 0.47
    hours = np.where(usual, 40, np.clip(np.round(rng.normal(40, 14, n)), 1, 99))
    gain = np.where(rng.random(n) < 0.083, np.round(np.exp(rng.normal(8.6, 1.2, n))), 0)
    loss = np.where(rng.random(n) < 0.047, np.round(rng.normal(1870, 350, n)), 0)
    score = 0.45 * (years - 10) + 0.09 * (np.minimum(age, 55) - 38) - 0.001 * (age - 48) ** 2
    score += 0.045 * (hours - 40) + 4e-4 * gain + 8e-4 * loss + rng.logistic(size=n)
    X = np.column_stack([age, weight, years, gain, loss, hours])
    return StandardScaler().fit_transform(X), signs(score > 1.9)


def cover(n: int) -> tuple[Any, Array]:
    """Return n points of the shape of covtype: 10 numbers, one of 4 areas, one of 40 soils.

    The classes overlap: about 15 % of the points are on the wrong side at best.
    """
    rng = np.random.default_rng(0)
    areas, soils = rng.integers(0, 4, n), rng.integers(0, 40, n)
    centres, tilt = rng.normal(size=(40, 10)), rng.normal(size=(4, 10))
    Z = centres[soils] + rng.normal(size=(n, 10))
    score = np.sin(2 * Z[:, 0]) + Z[:, 1] * Z[:, 2] + (tilt[areas] * Z).sum(axis=1) / 2
    score += rng.logistic(size=n)
    X = np.hstack([Z, np.eye(4)[areas], np.eye(40)[soils]])
    return StandardScaler().fit_transform(X), signs(score > np.median(score))


def images(n: int) -> tuple[Any, Array]:
    """Return n points of 784 features like grey images of ten kinds, even against odd.

    Smooth maps of 24 hidden numbers with noise; 3 % of the labels are flipped.
    """
    rng = np.random.default_rng(0)
    kinds = rng.integers(0, 10, n)
    hidden = 0.8 * rng.normal(size=(10, 24))[kinds] + rng.normal(size=(n, 24))
    X = np.tanh(hidden @ rng.normal(size=(24, 784)) / 3) + 0.3 * rng.normal(size=(n, 784))
    flipped = rng.random(n) < 0.03
    return StandardScaler().fit_transform(X), signs((kinds % 2 == 0) ^ flipped)


def mixed_scales() -> tuple[Any, Array]:
    """Return 270 points of 13 features of mixed scales, with a noisy linear truth.

    Sizes span four powers of ten.
    """
    rng = np.random.default_rng(0)
    X = rng.normal(size=(270, 13)) * 10.0 ** rng.uniform(-2, 2, 13)
    score = (X / X.std(axis=0)) @ rng.normal(size=13)
    return X, signs(score + rng.normal(size=270) * score.std() > 0)


def wide() -> tuple[Any, Array]:
    """Return 300 points of 2,000 features that separate."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2000))
    return X, signs(X[:, :50].sum(axis=1) + 5 * rng.normal(size=300) > 0)


def words() -> tuple[Any, Array]:
    """Return 5,000 texts of 20,000 words, about 40 a text."""
    return texts(5000, 20_000, 40, 1.3)


def texts(n: int, d: int, length: int, power: float) -> tuple[Any, Array]:
    """Return texts with word frequencies like those of a language, rows of length 1.

    Parameters
    ----------
    n : int
        Number of texts.
    d : int
        Number of words.
    length : int
        Words of a text, some of them equal.
    power : float
        Exponent of Zipf's law.
    """
    rng = np.random.default_rng(0)
    columns = np.minimum(rng.zipf(power, size=n * length) - 1, d - 1)
    X = sparse.csr_matrix(
        (np.ones(n * length), (np.repeat(np.arange(n), length), columns)), shape=(n, d)
    )
    X.sum_duplicates()
    X.data = np.log1p(X.data)
    X = sparse.csr_matrix(
        sparse.diags(1 / np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())) @ X
    )
    score = X @ rng.normal(size=d)
    return X, signs(score + 0.5 * score.std() * rng.normal(size=n) > 0)


def table(file: str) -> tuple[Any, Array]:
    """Return a CSV file of public data whose last column is the class."""
    rows = np.genfromtxt(SHARED / file, delimiter=",", skip_header=1)
    return StandardScaler().fit_transform(rows[:, :-1]), signs(rows[:, -1] == 1)


DATA: dict[str, Callable[[], tuple[Any, Array]]] = {
    "wine": lambda: bundled(load_wine, lambda y: y == 1),
    "mixture": lambda: table("esl-mixture.csv"),
    "mixed scales": mixed_scales,
    "breast cancer": lambda: bundled(load_breast_cancer, lambda y: y == 1),
    "breast cancer, raw": lambda: bundled(load_breast_cancer, lambda y: y == 1, scaled=False),
    "pima": lambda: table("pima.csv"),
    "digits, even": lambda: bundled(load_digits, lambda y: y % 2 == 0),
    "wide 300 x 2000": wide,
    "noisy 2000 x 20": lambda: clusters(2000, 20, 0.3),
    "clusters 10000 x 20": lambda: clusters(10_000, 20),
    "clusters 20000 x 100": lambda: clusters(20_000, 100),
    "words 5000 x 20000": words,
    "iris": lambda: labelled(load_iris),
    "wine, 3 classes": lambda: labelled(load_wine),
    "digits, 10 classes": lambda: labelled(load_digits),
    "clusters 5000 x 20, 6 classes": lambda: clusters(5000, 20, classes=6),
}
"""Readers and samplers of the data sets, the small ones first."""
FILES = {"mixture": "esl-mixture.csv", "pima": "pima.csv"}
"""Data sets that are files of the folder of public data."""


@cache
def data(name: str) -> tuple[Any, Array]:
    """Return X (n, d) and y (n,) of a data set, in {-1, 1} for two classes."""
    return DATA[name]()


def present() -> list[str]:
    """Return the data sets that are present."""
    return [name for name in DATA if name not in FILES or (SHARED / FILES[name]).is_file()]


def kinds_of(X: Any, y: Array) -> tuple[str, ...]:
    """Return the kinds of problem of a data set."""
    if len(np.unique(y)) > 2:
        return PROBLEMS[3:]
    return PROBLEMS[:3] if takes_kernel(X) else PROBLEMS[:2]


def instances(chosen: str = "", quick: bool = False) -> Iterator[Instance]:
    """Yield all problems whose name contains a text.

    If quick, only those of the first four data sets at C = 1.
    """
    for name in present()[: 4 if quick else None]:
        for problem in kinds_of(*data(name)):
            for C in COSTS[: 1 if quick else None]:
                instance = Instance(name, problem, C)
                if chosen in instance.name:
                    yield instance
