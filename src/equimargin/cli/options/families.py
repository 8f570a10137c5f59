"""Problems of user-defined families, from a table, a file of their own data, or a seed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import typer

from equimargin.cli.options.posing import (
    COUPLING,
    ComparisonInput,
    ProblemFields,
    in_words,
    kernel_record,
    make_kernel,
    rows_record,
)
from equimargin.cli.options.reading import ReadFields, loaded
from equimargin.cli.output.files import printed_apart

if TYPE_CHECKING:
    from equimargin.data import Data
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
ALSO_OF_TASKS = {"ord.explicit", "crammer_singer", COUPLING}
"""User-defined families that are among the families of a task, too."""


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
    from equimargin.own.data import list_family_names, match_families

    patterns = patterns or []
    check_names(patterns)
    families = match_families(patterns)
    if draw is None and not _are_only(families, patterns):
        return None
    if not families:
        raise ValueError(
            f"--draw needs the name of a user-defined family (--family ID); known: "
            f"{list_family_names()}"
        )
    if (data is None) == (draw is None):
        raise ValueError(f"the family {families[0].id} needs data: a file, or --draw SEED")
    # The pairs of classes of a classification have a coupling, too.
    if data is not None and families[0].id == COUPLING and _has_many_classes(data, reading, posing):
        return None
    sources = {name: context.get_parameter_source(name) for name in OF_ROWS}
    given = [name for name, source in sources.items() if source and source.name == "COMMANDLINE"]
    # A family with a function for its files reads no table.
    reads_tables = all(family.load is None for family in families)
    if data is not None and not data.endswith((".json", ".npz")) and reads_tables:
        return _of_tables(families, data, reading, posing, given)
    if given:
        raise ValueError(
            f"{_option_name(given[0])} does not apply to {families[0].id}, whose data "
            f"determine the problem; leave it out"
        )
    return _of_own_data(families, data, draw)


def _of_own_data(
    families: Sequence[Family[ProgramProblem]], data: str | None, draw: int | None
) -> ComparisonInput:
    """Make the problems of families for a file of their own data, or for a seed."""
    from equimargin.own.data import load_problem

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


def _are_only(families: Sequence[Family[ProgramProblem]], patterns: Sequence[str]) -> bool:
    """Return True if user-defined families are named in full, and no others.

    Raises
    ------
    ValueError
        If there are other names and patterns in addition to them.
    """
    ids = {family.id.lower() for family in families}
    others = [pattern for pattern in patterns if pattern.lower() not in ids]
    apart = [family.id for family in families if family.id.lower() in map(str.lower, patterns)]
    if others and not set(apart) <= ALSO_OF_TASKS:
        raise ValueError(
            f"--family {others[0]}: {apart[0]} is not compared together with families of a task; "
            f"leave one of the two out"
        )
    return bool(apart) and not others


def _has_many_classes(source: str, reading: ReadFields, posing: ProblemFields) -> bool:
    """Return True if a table is a classification into three classes or more."""
    if source.endswith((".json", ".npz")):
        return False
    # Standard input is read once; it is taken as a classification.
    if source == "-":
        return True
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
    from equimargin.own.tables import data_from_table, has_kernel, task_of_table

    _check_options(families, posing, given)
    named = _parameters(families, posing, given)
    tables = _tables(families, source, reading, posing)
    problems: list[ProgramProblem] = []
    titles: list[str] = []
    for family in families:
        rows = tables[task_of_table(family)]
        kernel = make_kernel(posing, rows)
        parameters = {name: value for name, value in named.items() if name in family.parts}
        problems.append(family(data_from_table(family, rows, kernel, parameters)))
        settled = [in_words(kernel)] if has_kernel(family) else []
        settled += [f"{name}={_in_short(value)}" for name, value in parameters.items()]
        # A family counts two classes from 0, too, and the rows say which is -1 and +1.
        counted = rows.task == "classification" and not rows.has_many_classes
        settled += ["y is 0 or 1, for -1 or +1"] if counted else []
        titles.append(f"{family.id}: {rows.describe()}{'; ' * bool(settled)}{', '.join(settled)}")
    settings = {"task": rows.task, "kernel": kernel_record(kernel), "scale": reading.scale}
    settings |= {"sample": reading.sample, "seed": reading.seed, "parameters": posing.parameter}
    title = "; ".join(titles)
    return ComparisonInput(problems, title, rows_record(rows, title), settings)


def _tables(
    families: Sequence[Family[ProgramProblem]],
    source: str,
    reading: ReadFields,
    posing: ProblemFields,
) -> dict[str, Data]:
    """Load the rows for each task of the families, scaled if requested.

    Raises
    ------
    ValueError
        If standard input would be read for two tasks.
    """
    from equimargin.own.tables import task_of_table

    first_of = {task_of_table(family): family.id for family in reversed(families)}
    if source == "-" and len(first_of) > 1:
        raise ValueError(
            f"standard input is read once, and {' and '.join(sorted(first_of.values()))} read a "
            f"table in different ways; name a file, or one family"
        )
    tables = {
        task: loaded(source, reading, task, posing.kernel, posing.levels) for task in first_of
    }
    return {task: rows.scaled() if reading.scale else rows for task, rows in tables.items()}


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


def _parameters(
    families: Sequence[Family[ProgramProblem]], posing: ProblemFields, given: Sequence[str]
) -> dict[str, Any]:
    """Return the parameters by name, those of options included.

    Raises
    ------
    ValueError
        If no family has a named parameter, or one is given twice.
    """
    from equimargin.formulations.numeric.arguments import did_you_mean

    named: dict[str, Any] = {}
    known = [name for family in families for name in family.parts]
    options = {OF_TABLES[option]: _option_name(option) for option in given if option in OF_TABLES}
    for text in posing.parameter or []:
        name, value = _parameter(text)
        if name not in known:
            raise ValueError(
                f"--parameter {name}: {families[0].id} has no such parameter"
                f"{did_you_mean(name, known)}; its data are {', '.join(families[0].parts)}"
            )
        if name in named or name in options:
            other = options.get(name, "another --parameter")
            raise ValueError(
                f"--parameter {text}: {other} gives {name}, too; leave one of the two out"
            )
        named[name] = value
    # Values of `named` go before defaults of options.
    of_options = {"C": posing.C, "epsilon": posing.epsilon, "delta": posing.delta}
    return {name: value for name, value in of_options.items() if value is not None} | named


def _option_name(field: str) -> str:
    """Return the option of a field as it is typed."""
    return f"--{field.rstrip('_').replace('_', '-')}"


def _parameter(text: str) -> tuple[str, Any]:
    """Return the name and the value of NAME=VALUE; numbers with commas are an array."""
    import numpy as np

    name, separator, value = text.partition("=")
    parts = value.split(",")
    # As in Python, a last comma makes an array of one number: groups=1,
    is_array = len(parts) > 1
    try:
        numbers = [_number(part) for part in (parts[:-1] if is_array and not parts[-1] else parts)]
    except ValueError:
        numbers = []
    if not (separator and name and numbers):
        raise ValueError(
            f"--parameter {text}: a parameter is a name and numbers, such as nu=0.5 or groups=1,1,2"
        )
    return name, np.array(numbers) if is_array else numbers[0]


def _number(text: str) -> int | float:
    """Return a number as a JSON file has it: an integer without a point or exponent."""
    try:
        return int(text)
    except ValueError:
        return float(text)


def _in_short(value: Any) -> str:
    return f"{value:g}" if isinstance(value, int | float) else f"{len(value)} numbers"


def check_names(patterns: Sequence[str]) -> None:
    """Refuse a name or pattern of no family at all, before any data are read.

    Parameters
    ----------
    patterns : sequence of str
        Names, or patterns with * and ?.

    Raises
    ------
    ValueError
        If one matches no family.
    """
    from equimargin.formulations import FAMILIES
    from equimargin.formulations.numeric.arguments import did_you_mean, matches_any

    for pattern in patterns:
        if not any(matches_any(id, [pattern]) for id in FAMILIES):
            near = (
                did_you_mean(pattern, list(FAMILIES))
                or "; `equimargin list families` has all, and --plugin MODULE registers more"
            )
            raise ValueError(f"unknown family {pattern!r}{near}")
