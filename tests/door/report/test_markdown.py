"""Tables in Markdown: a reader sees the texts of the cells, whatever they are."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token
from typer.testing import CliRunner

from equimargin.cli.app import app
from equimargin.formulations.markdown import escaped, markdown_table
from equimargin.report.answers import COLUMNS
from equimargin.report.view import OVERVIEW

READER = MarkdownIt("commonmark").enable("table").enable("strikethrough")
RUN = CliRunner()
CELLS = st.text(
    st.one_of(
        st.sampled_from("\\`*_[]<>|~$&#!(){}-+.@%= \nab1"),
        st.characters(exclude_categories=("Cc", "Cs"), exclude_characters="\ufeff"),
    ),
    max_size=12,
)
"""Texts, most of whose characters have a meaning in Markdown."""


def shown(token: Token) -> str:
    """Return the text of a paragraph or cell as a reader sees it."""
    assert all(child.type in ("text", "text_special") for child in token.children or ()), token
    return "".join(child.content for child in token.children or ())


def tables(text: str) -> list[list[list[str]]]:
    """Return the cells of all tables of a text, row by row."""
    found: list[list[list[str]]] = []
    inside = False
    for token in READER.parse(text):
        inside = (inside or token.type == "table_open") and token.type != "table_close"
        if token.type == "table_open":
            found.append([])
        elif token.type == "tr_open":
            found[-1].append([])
        elif inside and token.type == "inline":
            found[-1][-1].append(shown(token))
    return found


@given(rows=st.lists(st.tuples(CELLS, CELLS), max_size=3))
def test_a_reader_sees_the_texts_of_the_cells(rows: list[tuple[str, str]]) -> None:
    (table,) = tables(markdown_table(("a|b", "*c*"), rows, words=("a|b",)))
    assert table == [
        ["a|b", "*c*"],
        *([" ".join(cell.split()) for cell in row] for row in rows),
    ]


@given(text=CELLS.filter(str.strip))
@example(text="# of rows")
@example(text="> a")
@example(text="+ a")
@example(text="- a")
@example(text="---")
@example(text="1. a")
@example(text="12) a")
def test_a_reader_sees_a_sentence(text: str) -> None:
    _, inline, _ = READER.parse(escaped(text))
    assert shown(inline) == " ".join(text.split())


def test_no_issue_and_no_user_is_referred_to() -> None:
    assert escaped("@user and #12, -1.5") == r"\@user and \#12, -1.5"


def test_names_are_not_escaped_and_figures_stand_on_the_right() -> None:
    assert markdown_table(("solver", "CPU s"), [("column_generation", "0.5")], ("solver",)) == (
        "| solver | CPU s |\n| --- | ---: |\n| column_generation | 0.5 |\n"
    )


def printed(*arguments: str) -> list[list[list[str]]]:
    """Return the tables that a command writes to standard output by --markdown."""
    result = RUN.invoke(app, [*arguments, "--markdown", "-"])
    assert result.exit_code in (0, 4), result.output
    return tables(result.stdout)


@pytest.mark.parametrize("subject", [(), ("families",), ("links",), ("kernels",)])
def test_list_writes_the_lines_that_it_prints(subject: Sequence[str]) -> None:
    (table,) = printed("list", *subject)
    lines = RUN.invoke(app, ["list", *subject]).output.splitlines()
    assert len(table) == len(lines) + 1
    for (name, text), line in zip(table[1:], lines, strict=True):
        assert " ".join(line.split()) == f"{name} {text}".strip()


def test_compare_writes_families_and_answers(tmp_path: Path) -> None:
    chosen = ("compare", "xor", "--kernel", "rbf", "--family", "svm.soft", "--solver", "smo")
    families, answers = printed(*chosen)
    assert families[0] == list(OVERVIEW)
    assert families[1][0] == "svm.soft"
    assert answers[0] == ["family", *COLUMNS]
    assert {row[0] for row in answers[1:]} == {"svm.soft"}
    file = tmp_path / "answers.md"
    result = RUN.invoke(app, [*chosen, "--markdown", str(file)])
    assert result.exit_code == 4
    assert "--explain" in result.stdout
    written = file.read_text(encoding="utf-8")
    assert [len(table) for table in tables(written)] == [len(families), len(answers)]
    assert written.startswith("The answers of svm.soft")
