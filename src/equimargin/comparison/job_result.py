"""Result of a job: evidence, indices and cost."""

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
    """Evidence of a job, and its seconds without compiling or loading compiled functions.

    Parameters
    ----------
    which, place : int
        Indices of the family, and of the job within the family.
    evidence : Evidence
        Evidence of the answer.
    cpu, wall : float, default 0.0
        CPU seconds and wall seconds.
    compiling : float, default 0.0
        Estimated seconds of compilation.
    """

    which: int
    place: int
    evidence: Evidence
    cpu: float = 0.0
    wall: float = 0.0
    compiling: float = 0.0


def run_job(which: int, place: int, job: Job, allowed: Allowance | Refusal | str) -> JobResult:
    """Run a job, and measure its cost.

    Compilation is assumed to take the same share of CPU time as of wall time.

    Parameters
    ----------
    which, place : int
        Indices of the family, and of the job within the family.
    job : Job
        Job to run.
    allowed : Allowance, Refusal or str
        Limits, or the reason to skip the job.
    """
    before, foreseen = clocks(), seconds_foreseen()
    evidence = job.answer(allowed)
    cpu, wall, compiling = (after - at for at, after in zip(before, clocks(), strict=True))
    at_work = max(wall - compiling, 0.0)
    return JobResult(
        which,
        place,
        evidence,
        cpu * at_work / wall if wall else cpu,
        at_work,
        seconds_foreseen() - foreseen,
    )


def clocks() -> tuple[float, float, float]:
    """Return CPU seconds, wall seconds and seconds of compilation.

    CPU seconds include ended child processes.
    """
    return (
        time.process_time() + sum(os.times()[2:4]),
        time.perf_counter(),
        measure_compile_seconds(),
    )
