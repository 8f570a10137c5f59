"""New instances of the families that are known by their data alone: forms have one optimum, mistakes are refuted, solvers reach it.

    python -m campaigns.nightly_families --seed 1 --examples 1000

Instances are drawn from the families' own strategies. Exit status 1 if a form, a control or a solver does not conform.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from fnmatch import fnmatchcase

from campaigns.shrunk import FOLDER, shrunk
from equimargin.formulations import REGISTRY
from equimargin.formulations.family import FAMILIES, program_families
from equimargin.formulations.formulation import Formulation
from equimargin.formulations.problem import AnyProblem
from equimargin.formulations.program_problem import ProgramProblem
from equimargin.own.instances import check_own_formulation, check_own_solver, refutation, value_complaint
from equimargin.solvers import SOLVERS


def checks(examples: int, seed: int, pattern: str = "*") -> Iterator[tuple[str, Callable[[], object]]]:
    """What is to be checked of the families whose ids fit a pattern with * and ?, by name."""
    shipped = [id for id, family in program_families().items() if family.module.startswith("equimargin.formulations.")]
    families = [id for id in shipped if fnmatchcase(id, pattern)]
    for id, entry in REGISTRY.items():
        if entry.family in families and isinstance(entry, Formulation):
            yield id, lambda entry=entry: check_own_formulation(entry, examples, seed)  # type: ignore[misc]
    for name in SOLVERS:
        if SOLVERS[name].families[0] in families:
            yield name, lambda name=name: check_own_solver(SOLVERS[name], examples, seed)  # type: ignore[misc]


def made_small(id: str, examples: int, seed: int) -> str:
    """The instance that refutes a formulation, made smaller than its strategy draws any, and where it is."""
    family, other = FAMILIES[REGISTRY[id].family], f"{id} has another optimum than the definition"
    found = refutation(id, examples, seed)
    if found is None:
        return "its optimum is that of the definition: its maps are wrong"

    def complaints(problem: AnyProblem) -> list[str]:
        assert isinstance(problem, ProgramProblem)
        entry = REGISTRY[id]
        assert isinstance(entry, Formulation)
        return [other] if value_complaint(entry, problem) else []

    return shrunk(family(found.data), complaints, [other], FOLDER / f"{id}-{seed}.py")


def main(arguments: Sequence[str] | None = None, say: Callable[[str], None] = lambda line: print(line, flush=True)) -> int:
    """Draw, compare, report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--examples", type=int, default=200, help="instances of every form and of every solver")
    parser.add_argument("--family", default="*", metavar="PATTERN", help="only these families, * and ? allowed")
    options = parser.parse_args(arguments)
    started, failures, count = time.perf_counter(), 0, 0
    for name, check in checks(options.examples, options.seed, options.family):
        count += 1
        try:
            refuted = check()
        except AssertionError as wrong:
            failures += 1
            say(f"{name:<32} ! {wrong}")
            if name in REGISTRY and not REGISTRY[name].control:
                say(f"{'':<32}   small: {made_small(name, options.examples, options.seed)}")
        else:
            say(f"{name:<32} {f'refuted: {refuted}' if refuted else 'conforms'}")
    say(
        f"\n{count} checks of {options.examples} instances, {failures} failures, {time.perf_counter() - started:.0f} s, seed {options.seed}"
    )
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
