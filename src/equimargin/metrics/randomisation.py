"""Paired randomisation test of two rankings of the same queries.

If the two rankings do not differ, each query's two values may be exchanged, which
changes the sign of their difference. The statistic is the difference of the means:

    t = sum_q weight_q (a_q - b_q) / sum_q weight_q,
    p = (1 + |{samples : |t of random signs| >= |t|}|) / (1 + samples)

References
----------
M. D. Smucker, J. Allan, B. Carterette, A comparison of statistical significance tests
for information retrieval evaluation, CIKM (2007). B. Phipson, G. K. Smyth, Permutation
p-values should never be zero, Statistical Applications in Genetics and Molecular Biology
9 (2010), for the 1 in p.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from equimargin.formulations.numeric.arguments import check_count, check_number, format_value
from equimargin.formulations.numeric.arrays import Array
from equimargin.metrics.per_query import PerQuery

MAX_SIGNS: Final = 2**22
"""Number of random signs in memory at a time."""


@dataclass(frozen=True, eq=False)
class RandomisationTest:
    """Result of `randomisation_test`.

    Parameters
    ----------
    difference : float
        Mean of a minus mean of b over the compared queries.
    p_value : float
        Two-sided p-value, (1 + count) / (1 + samples).
    count : int
        Number of samples whose difference is at least as large in absolute value.
    samples, seed : int
        Number of random signs of every query, and their seed.
    queries : int
        Number of compared queries.
    excluded : ndarray
        Names of the queries in which a metric is undefined.
    """

    difference: float
    p_value: float
    count: int
    samples: int
    seed: int
    queries: int
    excluded: NDArray[Any]

    def __str__(self) -> str:
        names = ", ".join(map(str, self.excluded.tolist()[:12]))
        rest = f"; undefined in {len(self.excluded)} more: {names}" if len(self.excluded) else ""
        return (
            f"difference {self.difference:+.4f} over {self.queries} queries, two-sided "
            f"p = (1 + {self.count}) / (1 + {self.samples}) = {self.p_value:.4g}{rest}"
        )


def randomisation_test(
    a: PerQuery, b: PerQuery, samples: int = 9_999, seed: int = 0
) -> RandomisationTest:
    """Return the paired randomisation test of two rankings by a metric.

    Parameters
    ----------
    a, b : PerQuery
        Values of one metric for two rankings of the same queries.
    samples : int
        Number of samples; the least possible p-value is 1 / (1 + samples).
    seed : int
        Seed of the samples.

    Returns
    -------
    RandomisationTest
        Difference of the means, with its two-sided p-value.

    Raises
    ------
    ValueError
        If the queries or their weights differ, no query is defined for both, `samples`
        is below 1, or `seed` is no whole number of at least 0.

    Examples
    --------
    >>> from equimargin.metrics import reciprocal_rank
    >>> y, qid = [1, 0] * 5, [q for q in range(5) for _ in range(2)]
    >>> a, b = (reciprocal_rank(y, f, qid) for f in ([2, 1] * 5, [1, 2] * 4 + [2, 1]))
    >>> found = randomisation_test(a, b, samples=99_999)
    >>> found.difference, round(found.p_value, 2)  # over all signs: 1 / 8
    (0.4, 0.13)
    """
    samples = check_count(samples, "samples")
    check_number(seed, "seed", "at least 0 and whole", lambda s: s >= 0 and s.is_integer())
    seed = int(seed)
    _check_queries(a, b)
    used = (a.weight > 0) & (b.weight > 0)
    weight = a.weight[used]
    if not used.any():
        raise ValueError(
            "the metric is undefined in every query for one of the rankings; use another "
            "metric, or a value for queries without a relevant document (no_relevant)"
        )
    if not np.array_equal(weight, b.weight[used]):
        raise ValueError(
            "a and b have queries of different weights; compute both from the same relevances"
        )
    differences = a.total[used] - b.total[used]
    count = _count_extreme(differences, samples, seed)
    return RandomisationTest(
        float(differences.sum() / weight.sum()),
        (1 + count) / (1 + samples),
        count,
        samples,
        seed,
        int(used.sum()),
        a.query[~used],
    )


def _check_queries(a: PerQuery, b: PerQuery) -> None:
    for value, name in ((a, "a"), (b, "b")):
        if not isinstance(value, PerQuery):
            raise ValueError(
                f"{name} must be a PerQuery, such as ndcg(y, f, qid), not {format_value(value)}"
            )
    if not np.array_equal(a.query, b.query):
        only = sorted(set(a.query.tolist()) ^ set(b.query.tolist()), key=str)
        raise ValueError(
            f"the queries of a and b differ: {only[:5]} are in one of them alone; score both "
            f"rankings on the same queries"
        )


def _count_extreme(differences: Array, samples: int, seed: int) -> int:
    """Count the random signs of differences with a sum at least as large in size."""
    random = np.random.default_rng(seed)
    # Sums that are equal in real numbers count as equal: both may differ by rounding.
    rounding = 4 * np.finfo(float).eps * len(differences) * np.abs(differences).sum()
    least, count = abs(float(differences.sum())) - rounding, 0
    block = max(1, MAX_SIGNS // len(differences))
    for start in range(0, samples, block):
        signs = random.integers(0, 2, (min(block, samples - start), len(differences)), np.int8)
        sums = (2.0 * signs - 1.0) @ differences
        count += int((np.abs(sums) >= least).sum())
    return count
