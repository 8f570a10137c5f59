"""Statements of a source by line, as names of changed places.

They do not depend on the number or layout of a line.
"""

from __future__ import annotations

import ast


def statements_by_line(text: str) -> dict[int, str]:
    """Return the innermost statement of every line, or the header of a compound one.

    Parameters
    ----------
    text : str
        Source of a program.
    """
    lines = text.splitlines()
    statements = {number: line.strip() for number, line in enumerate(lines, 1)}
    # Outer statements come first.
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.stmt):
            body = getattr(node, "body", None)
            last = max(node.lineno, body[0].lineno - 1) if body else node.end_lineno or node.lineno
            whole = " ".join(" ".join(lines[node.lineno - 1 : last]).split())
            statements.update(dict.fromkeys(range(node.lineno, last + 1), whole))
    return statements
