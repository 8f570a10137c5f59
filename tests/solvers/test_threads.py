"""One thread of linear algebra, for as long as it is asked for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from threadpoolctl import ThreadpoolController, threadpool_limits

from equimargin.compare import Allowance, Job
from equimargin.formulations.problem import classification
from equimargin.proofs import Evidence
from equimargin.solvers.dual import coordinate_descent
from equimargin.solvers.dual.newton_on_face import climb
from equimargin.solvers.registry import solve
from equimargin.solvers.solution import Status
from equimargin.solvers.threads import one_thread

RANDOM = np.random.default_rng(0)
PROBLEM = classification(RANDOM.normal(size=(40, 6)), RANDOM.choice([-1, 1], size=40), C=0.1, bias=False)
"""Of overlapping classes, so that some multipliers end strictly between their bounds."""


@pytest.fixture(autouse=True)
def two() -> Iterator[None]:
    """Two threads for every library, scipy's own among them."""
    import scipy.linalg  # noqa: F401

    with threadpool_limits(2, user_api="blas"):
        yield


def threads() -> set[int]:
    """How many threads each library of linear algebra has."""
    return {each["num_threads"] for each in ThreadpoolController().info() if each["user_api"] == "blas"}


def test_there_is_one_thread_within_and_as_many_as_before_behind_it() -> None:
    with one_thread():
        with one_thread():
            assert threads() == {1}
        assert threads() == {1}
    assert threads() == {2}


def test_an_answer_of_a_comparison_has_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[set[int]] = []

    def examined(job: Job, allowed: Allowance) -> Evidence:
        seen.append(threads())
        return job.skipped(Status.UNSUPPORTED, "seen")

    monkeypatch.setattr(Job, "_examined", examined)
    Job(PROBLEM, None, "coordinate_descent", 1e-8).run(Allowance(1.0))
    assert threads() == {2}
    assert seen == [{1}]


def test_steps_on_a_face_have_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[set[int]] = []

    def watched(*arguments: Any) -> Any:
        seen.append(threads())
        return climb(*arguments)

    monkeypatch.setattr(coordinate_descent, "climb", watched)
    solve(PROBLEM, "coordinate_descent", tol=1e-12)
    assert seen
    assert set.union(*seen) == {1}
