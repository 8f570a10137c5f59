"""Limit of one linear algebra thread, for as long as it is requested."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from threadpoolctl import ThreadpoolController, threadpool_limits

from equimargin.comparison.allowance import Allowance
from equimargin.comparison.job import Job
from equimargin.formulations.problem.construct import classification
from equimargin.proofs import Evidence
from equimargin.solvers.dual import coordinate_descent
from equimargin.solvers.dual.newton_on_face import maximise_on_face
from equimargin.solvers.registry import solve
from equimargin.solvers.threads import one_thread

RANDOM = np.random.default_rng(0)
PROBLEM = classification(
    RANDOM.normal(size=(40, 6)), RANDOM.choice([-1, 1], size=40), C=0.1, bias=False
)
"""Overlapping classes, so that some multipliers end strictly between their bounds."""


@pytest.fixture(autouse=True)
def two() -> Iterator[None]:
    """Set two threads for every library, scipy's own among them."""
    import scipy.linalg  # noqa: F401

    with threadpool_limits(2, user_api="blas"):
        yield


def each() -> dict[str, int]:
    """Return the number of threads of each linear algebra library.

    A library that was loaded with a single thread may be unable to have more.
    """
    return {
        library["filepath"]: library["num_threads"]
        for library in ThreadpoolController().info()
        if library["user_api"] == "blas"
    }


def threads() -> set[int]:
    """Return the numbers of threads of the libraries."""
    return set(each().values())


def test_there_is_one_thread_within_and_as_many_as_before_behind_it() -> None:
    before = each()
    assert 2 in before.values()
    with one_thread():
        with one_thread():
            assert threads() == {1}
        assert threads() == {1}
    assert each() == before


def test_an_answer_of_a_comparison_has_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[set[int]] = []
    before = each()

    def examined(job: Job, allowed: Allowance) -> Evidence:
        seen.append(threads())
        return job.answer("seen")

    monkeypatch.setattr(Job, "_examined", examined)
    Job(PROBLEM, None, "coordinate_descent", 1e-8).run(Allowance(1.0))
    assert each() == before
    assert 2 in before.values()
    assert seen == [{1}]


def test_steps_on_a_face_have_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[set[int]] = []

    def watched(*arguments: Any) -> Any:
        seen.append(threads())
        return maximise_on_face(*arguments)

    monkeypatch.setattr(coordinate_descent, "maximise_on_face", watched)
    solve(PROBLEM, "coordinate_descent", tol=1e-12)
    assert seen
    assert set.union(*seen) == {1}
