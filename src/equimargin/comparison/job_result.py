"""The result of a job: the evidence, its place, and what it has cost."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass

from equimargin.comparison.allowance import Allowance
from equimargin.comparison.job import Job
from equimargin.formulations.numeric.jit import measure_compile_seconds, seconds_foreseen
from equimargin.formulations.problem.refusal import Refusal
from equimargin.proofs import Evidence


@dataclass(frozen=True)
class JobResult:
    """The evidence of a job, and its seconds without compiling or loading kernels.

    Attributes
    ----------
    which, place : int
        The family, and the place of the job among those of the family.
    evidence : Evidence
        What it shows.
    cpu, wall : float
        CPU seconds and wall seconds.
    compiling : float
        Seconds foreseen for the kernels that were compiled.
    """

    which: int
    place: int
    evidence: Evidence
    cpu: float = 0.0
    wall: float = 0.0
    compiling: float = 0.0


def run_job(which: int, place: int, job: Job, allowed: Allowance | Refusal | str) -> JobResult:
    """Answer a job, and measure its cost.

    Compiling has as large a share of the CPU time as of the time on the wall.

    Parameters
    ----------
    which, place : int
        The family, and the place of the job among those of the family.
    job : Job
        The job.
    allowed : Allowance | Refusal | str
        Allowance or Refusal or str Limits, or the reason why it is not run.
    """
    before, foreseen = clocks(), seconds_foreseen()
    found = job.answer(allowed)
    cpu, wall, compiling = (after - at for at, after in zip(before, clocks(), strict=True))
    at_work = max(wall - compiling, 0.0)
    return JobResult(
        which,
        place,
        found,
        cpu * at_work / wall if wall else cpu,
        at_work,
        seconds_foreseen() - foreseen,
    )


def clocks() -> tuple[float, float, float]:
    """Return CPU seconds with those of ended child processes, wall seconds, and seconds of compiling."""
    return (
        time.process_time() + sum(os.times()[2:4]),
        time.perf_counter(),
        measure_compile_seconds(),
    )
