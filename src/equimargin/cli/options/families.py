"""Problems of user-defined families, from a table, a file of their own data, or a seed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import typer

from equimargin.cli.options.posing import (
    OF_CLASSES,
    ComparisonInput,
    ProblemFields,
    in_words,
    kernel_record,
    make_kernel,
)
from equimargin.cli.options.reading import ReadFields, loaded
from equimargin.cli.output.files import printed_apart

if TYPE_CHECKING:
    from equimargin.formulations import Family, ProgramProblem

OF_ROWS = [
    each.name
    for request in (ProblemFields, ReadFields)
    for each in fields(request)
    if each.name != "family"
]
"""Names of the options on rows of features and the problems of these rows.

Families do not have them where a file holds their own data.
"""
OF_TASKS = ("loss", "per_query", "bias")
"""Options that only the families of a task have."""
OF_TABLES = {"cost": "C", "lambda_": "C", "epsilon": "epsilon", "delta": "delta"}
"""Options of the parameters of families on tables, and the names of these parameters."""


def brought(
    context: typer.Context,
    data: str | None,
    reading: ReadFields,
    posing: ProblemFields,
    draw: int | None,
) -> ComparisonInput | None:
    """Make the problems of user-defined families, or return None.

    With --draw the families are those that match the patterns, otherwise those that are
    named in full.

    Parameters
    ----------
    context : typer.Context
        Context of the command.
    data : str or None
        File of data; None if it is missing.
    reading : ReadFields
        Options on the rows of a table.
    posing : ProblemFields
        Options on the problems, with the names or patterns of families.
    draw : int or None
        Seed of the data; None to read a file.

    Returns
    -------
    ComparisonInput or None
        Problems with their records; None if no such family is named.

    Raises
    ------
    ValueError
        If there is no such family, if both or neither of a file and a seed are given,
        or if the family lacks an option.
    """
    patterns = posing.family
    # Without a pattern or a seed only a JSON file concerns a user-defined family.
    if patterns is None and draw is None:
        if data is not None and data.endswith(".json"):
            raise ValueError(
                f"{data}: a JSON file has the data of a user-defined family; name it with "
                f"--family ID"
            )
        return None
    from equimargin.own.data import list_family_names, load_problem, match_families

    _check_names(patterns or [])
    families = match_families(patterns or [])
    named = [
        pattern
        for pattern in patterns or []
        if any(pattern.lower() == family.id.lower() for family in families)
    ]
    if draw is None and (not named or len(named) < len(patterns or [])):
        return None
    of_classes = draw is None and {family.id for family in families} <= OF_CLASSES
    # They are also posed on a classification into three classes or more.
    if of_classes and _has_many_classes(data, reading, posing):
        return None
    if not families:
        raise ValueError(
            f"--draw needs the name of a user-defined family (--family ID); known: "
            f"{list_family_names()}"
        )
    sources = {name: context.get_parameter_source(name) for name in OF_ROWS}
    given = [
        name
        for name, source in sources.items()
        if source is not None and source.name == "COMMANDLINE"
    ]
    if draw is None and data is not None and not data.endswith((".json", ".npz")):
        tables = [family for family in families if family.load is None]
        if len(tables) == len(families):
            return _of_tables(families, data, reading, posing, given)
    if given:
        raise ValueError(
            f"{_option_name(given[0])} does not apply to {families[0].id}, whose data "
            f"determine the problem; leave it out"
        )
    with printed_apart():
        pairs = [load_problem(family, data, draw) for family in families]
    title = "; ".join(line for _, line in pairs)
    record = {
        "name": data or f"seed {draw}",
        "task": None,
        "rows": None,
        "features": None,
        "pairs_or_rows": None,
        "read_as": title,
    }
    settings = {"task": None, "kernel": None, "scale": False, "sample": None, "seed": draw or 0}
    return ComparisonInput([problem for problem, _ in pairs], title, record, settings)


def _has_many_classes(source: str | None, reading: ReadFields, posing: ProblemFields) -> bool:
    """Return True if a table is a classification into three classes or more."""
    if source is None or source.endswith((".json", ".npz")):
        return False
    try:
        return loaded(source, reading, posing.task, posing.kernel).has_many_classes
    except ValueError:
        # The message comes when the family reads the table, in its own words.
        return False


def _of_tables(
    families: Sequence[Family[ProgramProblem]],
    source: str,
    reading: ReadFields,
    posing: ProblemFields,
    given: Sequence[str],
) -> ComparisonInput:
    """Make the problems of families whose check names their data, for the rows of a table.

    Raises
    ------
    ValueError
        If a given option is none of a family's, and as in `data_from_table`.
    """
    from equimargin.own.tables import data_from_table, task_of_table

    _check_options(families, posing, given)
    named = _parameters(families, posing.parameter or [])
    problems: list[ProgramProblem] = []
    titles: list[str] = []
    for family in families:
        task = task_of_table(family)
        rows = loaded(source, reading, task, posing.kernel, posing.levels)
        rows = rows.scaled() if reading.scale else rows
        kernel = make_kernel(posing, rows)
        own = {"C": posing.C, "epsilon": posing.epsilon, "delta": posing.delta} | named
        parameters = {
            name: value for name, value in own.items() if name in family.parts and value is not None
        }
        problems.append(family(data_from_table(family, rows, kernel, parameters)))
        values = "".join(f", {name}={_in_short(value)}" for name, value in parameters.items())
        titles.append(f"{family.id}: {rows.describe()}; {in_words(kernel)}{values}")
    m, d = rows.X.shape
    record = {
        "name": rows.name,
        "task": rows.task,
        "rows": m,
        "features": d,
        "pairs_or_rows": m,
        "read_as": "; ".join(titles),
    }
    settings = {"task": rows.task, "kernel": kernel_record(kernel), "scale": reading.scale}
    settings |= {"sample": reading.sample, "seed": reading.seed, "parameters": posing.parameter}
    return ComparisonInput(problems, "; ".join(titles), record, settings)


def _check_options(
    families: Sequence[Family[ProgramProblem]], posing: ProblemFields, given: Sequence[str]
) -> None:
    """Refuse given options that none of the families has."""
    from equimargin.own.tables import task_of_table

    tasks = {family.id: task_of_table(family) for family in families}
    for id, task in tasks.items():
        if posing.task not in (None, task):
            raise ValueError(
                f"--task {posing.task}: {id} reads its rows as {task}; leave --task out"
            )
    if posing.levels is not None and "ordinal" not in tasks.values():
        raise ValueError(f"--levels: {families[0].id} has no levels; leave it out")
    # An option is refused only if no family has it; the others are unaffected.
    known = {name for family in families for name in family.parts}
    for option in given:
        needed = OF_TABLES.get(option)
        if option in OF_TASKS or (needed is not None and needed not in known):
            raise ValueError(
                f"{_option_name(option)} does not apply to {families[0].id}, whose data are "
                f"{', '.join(families[0].parts)}; leave it out"
            )


def _parameters(families: Sequence[Family[ProgramProblem]], texts: Sequence[str]) -> dict[str, Any]:
    """Return the parameters by name; refuse those that no family has."""
    from equimargin.formulations.numeric.arguments import did_you_mean

    named = dict(map(_parameter, texts))
    known = [name for family in families for name in family.parts]
    unknown = [name for name in named if name not in known]
    if unknown:
        raise ValueError(
            f"--parameter {unknown[0]}: {families[0].id} has no such parameter"
            f"{did_you_mean(unknown[0], known)}; its data are {', '.join(families[0].parts)}"
        )
    return named


def _option_name(field: str) -> str:
    """Return the option of a field as it is typed."""
    return f"--{field.rstrip('_').replace('_', '-')}"


def _parameter(text: str) -> tuple[str, Any]:
    """Return the name and the value of NAME=VALUE; a list of numbers is an array."""
    import numpy as np

    name, separator, value = text.partition("=")
    try:
        numbers = [float(part) for part in value.split(",")]
    except ValueError:
        separator = ""
    if not (separator and name):
        raise ValueError(
            f"--parameter {text}: a parameter is a name and numbers, such as nu=0.5 or groups=1,1,2"
        )
    return name, numbers[0] if len(numbers) == 1 else np.array(numbers)


def _in_short(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else f"{len(value)} numbers"


def _check_names(patterns: Sequence[str]) -> None:
    """Refuse an unknown family name before any data are read."""
    from equimargin.formulations import FAMILIES
    from equimargin.formulations.numeric.arguments import did_you_mean

    known = tuple(FAMILIES)
    for name in patterns:
        if not set("*?[") & set(name) and name.lower() not in {id.lower() for id in known}:
            near = (
                did_you_mean(name, known)
                or "; `equimargin list families` has all, and --plugin MODULE registers more"
            )
            raise ValueError(f"unknown family {name!r}{near}")
