"""Answers of a plan: data x seeds x kernels x C x families x formulations and solvers.

Each has a unique key, a digest of all that the answer depends on: the numbers of the
data, not their file; the request, not the plan. So an existing answer is recognised
even if the plan has changed, and changed data get new answers.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from hashlib import sha256
from itertools import product
from typing import Any

import numpy as np

from equimargin.comparison.choice import Choice, matching
from equimargin.data import Data, load
from equimargin.formulations import FAMILIES, Problem
from equimargin.formulations.kernels.registry import kernel_class, named_kernel
from equimargin.formulations.numeric.arguments import one_of_these
from equimargin.option_text import format_in_plan, write_options
from equimargin.own.plugins import installed
from equimargin.own.plugins import load as load_plugin
from equimargin.problems import make_problems_from_data
from equimargin.study.plan import EPSILON, DataPlan, KernelPlan, Plan, PlanError

KEY_DIGITS = 32
"""Number of hexadecimal digits of a key: 128 bits, so that no two keys are equal."""


@dataclass(frozen=True)
class AnswerSpec:
    """One requested answer of a study.

    Parameters
    ----------
    data : DataPlan
        Source and options of the data.
    digest : str
        Digest of the numbers of the data.
    task : str
        Learning task.
    seed : int or None
        Seed of the sample; None without one.
    kernel : KernelPlan
        Kernel.
    C : float
        Cost per unit of loss.
    family : str
        Family of the problem.
    formulation : str or None
        Formulation; None for a specialised solver.
    solver : str
        Backend or specialised solver.
    tol, time_limit : float
        Tolerance, and time limit in seconds, of the answer.
    plugins : tuple of str
        Modules that a process loads first, of installed packages and of the plan.
    """

    data: DataPlan
    digest: str
    task: str
    seed: int | None
    kernel: KernelPlan
    C: float
    family: str
    formulation: str | None
    solver: str
    tol: float
    time_limit: float
    plugins: tuple[str, ...] = ()

    @property
    def epsilon(self) -> float | None:
        """Half width of the tube of a regression, None for other tasks."""
        if self.task != "regression":
            return None
        return EPSILON if self.data.epsilon is None else self.data.epsilon

    @property
    def terms(self) -> dict[str, Any]:
        """All terms that the answer depends on, by name."""
        of_regression = {"epsilon": self.epsilon} if self.task == "regression" else {}
        kernel = {
            "kernel": self.kernel.name,
            "given": {**kernel_class(self.kernel.name).sklearn_defaults, **self.kernel.given},
        }
        names = (
            "digest",
            "task",
            "seed",
            "C",
            "family",
            "formulation",
            "solver",
            "tol",
            "time_limit",
        )
        fields = {name: getattr(self, name) for name in names}
        return {
            "sample": self.data.sample,
            "scale": self.data.scale,
            **of_regression,
            **kernel,
            **fields,
        }

    @property
    def key(self) -> str:
        """Unique name of the answer."""
        return sha256(json.dumps(self.terms, sort_keys=True).encode()).hexdigest()[:KEY_DIGITS]

    def to_json(self) -> str:
        """Return all fields as JSON."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> AnswerSpec:
        """Read the JSON of `to_json`.

        Parameters
        ----------
        text : str
            JSON.
        """
        read = json.loads(text)
        data, kernel, plugins = (
            DataPlan(**read.pop("data")),
            KernelPlan(**read.pop("kernel")),
            tuple(read.pop("plugins")),
        )
        return cls(data=data, kernel=kernel, plugins=plugins, **read)


@write_options(format_in_plan)
def loaded(plan: DataPlan) -> Data:
    """Load all rows of a data set, without sampling or scaling.

    Parameters
    ----------
    plan : DataPlan
        Data set.

    Raises
    ------
    ValueError
        If they have three classes or more.
    """
    data = load(plan.source, task=plan.task, **plan.how)
    if data.has_many_classes:
        raise ValueError(
            f"{data.name} has {len(data.classes or ())} classes, and a study takes two; keep two "
            f"of them, or run `equimargin compare`"
        )
    return data


def digest_data(data: Data) -> str:
    """Return a digest of all numbers of the data.

    Parameters
    ----------
    data : Data
        Features, targets, queries and weights.
    """
    X: Any = data.X
    parts = (
        [X]
        if isinstance(X, np.ndarray)
        else [X.data, X.indices.astype(np.int64), X.indptr.astype(np.int64)]
    )
    digest = sha256(f"{data.task} {X.shape}".encode())
    for name, values in zip(
        "XIPyqw", [*parts, *[None] * (3 - len(parts)), data.y, data.qid, data.weight], strict=True
    ):
        if values is not None:
            digest.update(f"\n{name} {values.dtype} {values.shape} ".encode())
            digest.update(np.ascontiguousarray(values).tobytes())
    return digest.hexdigest()[:KEY_DIGITS]


@write_options(format_in_plan)
def make_problems_from_plan(
    data: Data, plan: DataPlan, seed: int | None, kernel: KernelPlan, C: float
) -> list[Problem]:
    """Make the problems of all families of the data's task, on the sampled rows.

    Parameters
    ----------
    data : Data
        All rows.
    plan : DataPlan
        Sampling and scaling.
    seed : int or None
        Seed of the sample.
    kernel : KernelPlan
        Kernel.
    C : float
        Cost per unit of loss.

    Returns
    -------
    list of Problem
        One problem per family.

    Raises
    ------
    ValueError
        If data, kernel or cost are invalid, or all rows are of one class.
    """
    rows = data if plan.sample is None or seed is None else data.sampled(plan.sample, seed)
    if rows.task == "classification" and len(set(rows.y.tolist())) < 2:
        advice = "sample more rows, or by other seeds"
        raise ValueError(
            f"all its rows are of one class, and one class cannot be classified; {advice}"
        )
    rows = rows.scaled() if plan.scale else rows
    built = named_kernel(kernel.name, rows.X, rows.weight, kernel.given)
    if built.given and (plan.scale or plan.sample is not None):
        raise ValueError(
            "scale and sample do not apply to a precomputed kernel, whose Gram matrix is used "
            "unchanged; leave them out"
        )
    epsilon = EPSILON if plan.epsilon is None else plan.epsilon
    # Problems of three classes or more, of which some are not canonical, are refused above.
    problems = make_problems_from_data(rows, C, built, epsilon)
    return [problem for problem in problems if isinstance(problem, Problem)]


def grid(plan: Plan) -> list[AnswerSpec]:
    """Return the answers that a plan requests, those of one problem consecutively.

    Parameters
    ----------
    plan : Plan
        Plan.

    Raises
    ------
    PlanError
        If data, kernels or costs are invalid, data are named twice, a name has no
        match, or there is no answer at all.
    """
    for plugin in plan.plugins:
        load_plugin(plugin)
    try:
        families = matching(plan.families, sorted(FAMILIES), "family")
        choice = Choice.of(plan.request.formulations, plan.request.wanted)
    except ValueError as reason:
        raise PlanError(f"{plan.where}: [grid]: {reason}") from None
    answers: dict[str, AnswerSpec] = {}
    known: dict[str, dict[str, None]] = {}
    for number, data in enumerate(plan.data, 1):
        for asked in _of_data(plan, data, set(families), choice, known):
            first = answers.setdefault(asked.key, asked)
            if first.data is not data:
                same = (
                    f"[[data]] {number}, {data.source}, has the rows of {first.data.source}, "
                    f"and is sampled and scaled in the same way"
                )
                raise PlanError(f"{plan.where}: {same}; leave one of the two out")
    if not answers:
        if set(families).isdisjoint(id for ids in known.values() for id in ids):
            tasks = " and ".join(f"{data} ({', '.join(ids)})" for data, ids in known.items())
            raise PlanError(
                f"{plan.where}: [grid]: no data have the family {one_of_these(plan.families)}, "
                f"as {tasks}; name a family of these"
            )
        advice = "leave one of the three out to see more"
        raise PlanError(
            f"{plan.where}: no family, formulation and solver of [grid] belong together; {advice}"
        )
    return list(answers.values())


def _of_data(
    plan: Plan,
    data: DataPlan,
    families: set[str],
    choice: Choice,
    known: dict[str, dict[str, None]],
) -> Iterator[AnswerSpec]:
    """Yield the answers on one data set, and add its task and families to the known ones."""
    where = f"{plan.where}: data {data.source}"
    try:
        rows = loaded(data)
    except ValueError as reason:
        raise PlanError(f"{where}: {reason}") from None
    if data.epsilon is not None and rows.task != "regression":
        raise PlanError(
            f"{where}: epsilon is of a regression, and the task is {rows.task}; leave it out"
        )
    digest, plugins = digest_data(rows), (*installed(), *plan.plugins)
    # Without sampling the seed has no effect, so only one answer is requested.
    seeds = plan.seeds if data.sample is not None and data.sample < len(rows.y) else (None,)
    for seed, kernel, C in product(seeds, plan.kernels, plan.costs):
        try:
            problems = make_problems_from_plan(rows, data, seed, kernel, C)
        except ValueError as reason:
            drawn = "" if seed is None else f", seed {seed}"
            raise PlanError(f"{where}{drawn}, kernel {kernel}, C = {C:g}: {reason}") from None
        ids = dict.fromkeys(problem.family for problem in problems)
        known.setdefault(f"{data.source} is a {rows.task}", {}).update(ids)
        for problem in problems:
            if problem.family in families:
                for job in choice.jobs(problem, plan.request.tol):
                    answer = (
                        problem.family,
                        job.formulation,
                        job.solver,
                        plan.request.tol,
                        plan.request.time_limit,
                        plugins,
                    )
                    yield AnswerSpec(data, digest, rows.task, seed, kernel, C, *answer)
