"""Many machines at once on a device: SMO in lock-step, on common points.

Machines differ in their labels, costs and weights: a grid of costs, folds, pairs of
classes. K is computed once, and stored. In a round, every machine

    checks    its true gap if the estimate is small, and may leave,
    chooses   a working set if points outside violate optimality,
    steps     on pairs of its set, each machine on a multiprocessor of its own,
    follows   by G <- G + K[:, W] change,
    looks     at its slopes and its estimated gap,

each in one launch for all, except for the check, and for Newton steps on the free
points. Decisions are those of `dual/smo.py`. A machine starts at 0, and no number of
its run depends on the others: it has the same bits alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from equimargin.formulations.numeric.arrays import Index
from equimargin.formulations.problem.margin import MarginProblem
from equimargin.solvers.device.batch import CardBatch, MachineBatch
from equimargin.solvers.device.card import Card, DeviceArray
from equimargin.solvers.dual.smo import Descent, SmoIterate
from equimargin.solvers.dual.smo_problem import PointProblem, ProblemScaling, SeparablePart
from equimargin.solvers.progress import DualConvergenceMonitor
from equimargin.solvers.solution import Limits, Solution, Status
from equimargin.solvers.threads import one_thread


@dataclass(frozen=True)
class MachineRun:
    """One machine in its run.

    Parameters
    ----------
    place : int
        Place of its solution.
    slot : int
        Row of the batch.
    descent : Descent
        State of the run.
    progress : DualConvergenceMonitor
        Convergence monitor.
    """

    place: int
    slot: int
    descent: Descent
    progress: DualConvergenceMonitor


def running(machines: Sequence[MachineRun]) -> list[MachineRun]:
    """Return the machines whose runs have no status yet.

    Parameters
    ----------
    machines : sequence of MachineRun
        Machines.
    """
    return [machine for machine in machines if machine.progress.status is None]


def solve_together(
    card: Card | None, problems: Sequence[MarginProblem], limits: Limits
) -> list[Solution] | None:
    """Solve problems of the same points and kernel; return None if K has no room.

    Machines that leave make room for those that wait, if the memory is too small for
    all.

    Parameters
    ----------
    card : Card or None
        Card; None for the host.
    problems : sequence of MarginProblem
        Problems that the device supports, with one kernel and the same points.
    limits : Limits
        Limits of every run; the clock of a run goes on while the others take steps.
    """
    if not problems:
        return []
    with one_thread():
        batch = _make_batch(card, problems)
        found = {} if batch is None else dict(_run(batch, problems, limits))
    return [found[place] for place in sorted(found)] or None


def _make_batch(card: Card | None, problems: Sequence[MarginProblem]) -> MachineBatch | None:
    """Return a batch for some problems; None if the card has no memory for K."""
    gram, n = problems[0].gram, len(problems)
    if card is None:
        return MachineBatch(gram, gram.mean_diagonal, n)
    try:
        return CardBatch.fitting(card, gram, gram.mean_diagonal, n)
    except MemoryError:
        return None


def _run(
    batch: MachineBatch, problems: Sequence[MarginProblem], limits: Limits
) -> Iterator[tuple[int, Solution]]:
    """Yield the place and the solution of every problem, as they end."""
    waiting, slots = list(enumerate(problems))[::-1], list(range(batch.slots))[::-1]
    live: list[MachineRun] = []
    while waiting or live:
        while waiting and slots:
            live.append(_begin(batch, slots.pop(), *waiting.pop(), limits))
        try:
            _advance(batch, live)
        except MemoryError as problem:
            for machine in running(live):
                machine.progress.end(Status.TOO_LARGE, f"memory ran out ({problem})")
        for machine in live:
            if machine.progress.status is not None:
                slots.append(machine.slot)
                yield machine.place, machine.progress.solution()
        live = running(live)


def _advance(batch: MachineBatch, live: Sequence[MachineRun]) -> None:
    """Run one round of all machines; some end at its first check."""
    for machine in live:
        machine.descent.check(machine.progress)
    left = running(live)
    if left:
        _pair_rounds(batch, left)
    for machine in left:
        machine.descent.newton_round(machine.progress)


def _begin(
    batch: MachineBatch, slot: int, place: int, problem: MarginProblem, limits: Limits
) -> MachineRun:
    """Return a machine at a = 0."""
    points = batch.enter(slot, PointProblem.of(problem, ProblemScaling.of(problem)))
    at = SmoIterate(batch.a[slot], batch.G[slot], 0.0)
    descent = Descent.placed_at(points, at, points.working, limits)
    return MachineRun(place, slot, descent, descent.monitor(limits))


def _pair_rounds(batch: MachineBatch, live: Sequence[MachineRun]) -> None:
    """Take a round of pair steps of every machine."""
    work = batch.choose(
        [machine.slot for machine in live], [machine.descent.look for machine in live]
    )
    for machine, done in zip(live, work, strict=True):
        machine.descent.effort.work += done
    for tiles in (batch.single, batch.exact):
        group = [machine for machine in live if machine.descent.working.tiles is tiles]
        if group:
            _step(batch, group)


def _step(batch: MachineBatch, group: Sequence[MachineRun]) -> None:
    """Take a round of pair steps of machines with gradients of one precision."""
    descents, q = [machine.descent for machine in group], batch.q
    before = [descent.look for descent in descents]
    rows: DeviceArray = batch.placed(np.array([machine.slot for machine in group], dtype=np.int32))
    W = batch.W[rows]
    places, levels = (rows[:, None], W), np.array([[look.level] for look in before])
    a, sides = batch.a[places], batch.sides(rows, W)
    G = (batch.G[places] - batch.placed(levels)).astype(descents[0].working.tiles.dtype)
    taken = _take_pair_steps(batch, group, rows, G, a, sides)
    change = a - batch.a[places]
    batch.a[places] = a
    batch.follow(rows, W, change, batch.G)
    outside_work = int(batch.costs.outside_entry * q * batch.m)
    looks = batch.look([machine.slot for machine in group])
    for descent, look, old, count in zip(descents, looks, before, taken, strict=True):
        descent.look = look
        descent.aim.note(look, descent.problem.most_dual)
        descent.note_pair_steps(int(count), q, outside_work, old)


def _take_pair_steps(
    batch: MachineBatch,
    group: Sequence[MachineRun],
    rows: DeviceArray,
    G: DeviceArray,
    a: DeviceArray,
    sides: SeparablePart,
) -> Index:
    """Take the pair steps of a round, on G and a in place; return their numbers, (n,)."""
    q, ends = batch.q, np.array([machine.descent.target(batch.q) for machine in group])
    eps, left = ends[:, 0], ends[:, 1].astype(np.int64)
    taken, pending = np.zeros_like(left), np.ones_like(left)
    while True:
        at_once = [
            machine.descent.steps_at_once(q, int(room), machine.progress)
            for machine, room in zip(group, left - taken, strict=True)
        ]
        steps = pending * np.array(at_once)
        if not steps.any():
            return taken
        counts, violation = batch.pair_steps(rows, G, a, sides, eps, steps).T
        done = counts.astype(np.int64)
        taken += done
        pending *= (violation > eps) & (done == steps)
        for machine, count in zip(group, done, strict=True):
            machine.descent.effort.steps += int(count)
