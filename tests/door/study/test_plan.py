"""Plans: contents of a TOML file, its answers, and the messages of refusals."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from equimargin.formulations.kernels.registry import PARAMETERS
from equimargin.study.grid import AnswerSpec, grid
from equimargin.study.plan import KERNEL, PlanError, read_plan
from schema import plan_faults

Written = Callable[[str], Path]
XOR = '[[data]]\nsource = "xor"\n'


@pytest.fixture
def written(tmp_path: Path) -> Written:
    """Return a function that writes a plan and returns its file."""

    def write(text: str) -> Path:
        file = tmp_path / "plan.toml"
        file.write_text(text, encoding="utf-8")
        return file

    return write


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "there is no [[data]]"),
        ("[grid]\nC = [", "is no TOML file: "),
        ('[[data]]\nsource = "xor"\n[gird]\nC = 1', "there is no table 'gird'; did you mean grid?"),
        ('[data]\nsource = "xor"', "data must be written [[data]], one table for each"),
        ("[[data]]\nscale = true", "[[data]] 1 has no source"),
        (
            f'{XOR}[[data]]\nsource = "iris"\nsamples = 3',
            "[[data]] 2: there is no key 'samples'; did you mean sample",
        ),
        (
            '[[data]]\nsource = "xor"\nsample = 0',
            "[[data]] 1: sample must be a whole number of rows from 1 to 4294967295, not 0",
        ),
        (
            '[[data]]\nsource = "xor"\nscale = "yes"',
            "[[data]] 1: scale must be true or false, not 'yes'",
        ),
        (
            '[[data]]\nsource = "xor"\ntask = "ordinal"',
            "task must be one of classification, regression, ranking",
        ),
        ('[[data]]\nsource = "xor"\nmissing = "zero"', "missing must be one of drop, mean"),
        ('[[data]]\nsource = "xor"\ndrop = [1]', "drop must be a text"),
        (
            f"{XOR}[grid]\nC = [1, -1]",
            "[grid]: C must be a positive number, or inf for hard margins",
        ),
        (
            f"{XOR}[grid]\nC = 1{'0' * 400}",
            "[grid]: C must be a positive number, or inf for hard margins",
        ),
        (
            f"{XOR}[grid]\nseed = 1{'0' * 30}",
            "[grid]: seed must be a whole number from 0 to 4294967295",
        ),
        (f"{XOR}[grid]\nC = 1{'0' * 5000}", "is no TOML file"),
        (f"{XOR}[grid]\nC = []", "[grid]: C must be a value or a list of them"),
        (f"{XOR}[grid]\nC = true", "[grid]: C must be a positive number"),
        (f"{XOR}[grid]\nseed = 0.5", "[grid]: seed must be a whole number"),
        (
            f"{XOR}[study]\ntime_limit = nan",
            "[study]: time_limit must be a positive, finite number",
        ),
        (f'{XOR}[study]\nname = ""', "[study]: name must be a text"),
        (f"study = 3\n{XOR}", "[study] must be a table"),
        (f"{XOR}[[kernel]]\ngamma = 1", "[[kernel]] 1 has no name"),
        (
            f'{XOR}[[kernel]]\nname = "rbff"',
            "[[kernel]] 1: name: there is no kernel 'rbff'; did you mean rbf?",
        ),
        (
            f'{XOR}[[kernel]]\nname = "linear"\ngamma = 1',
            "[[kernel]] 1: the kernel linear: there is no parameter 'gamma'; known: none",
        ),
        (
            f'{XOR}[[kernel]]\nname = "rbf"\ndegree = 3',
            "[[kernel]] 1: the kernel rbf: there is no parameter 'degree'; known: gamma",
        ),
        (
            f'{XOR}[[kernel]]\nname = "rbf"\ngamma = [1, 0]',
            '[[kernel]] 1: gamma must be a positive, finite number, "scale" or "auto", not 0',
        ),
    ],
)
def test_what_is_refused_is_said_with_file_table_and_key(
    written: Written, text: str, sentence: str
) -> None:
    file = written(text)
    with pytest.raises(PlanError) as refused:
        read_plan(file)
    assert str(refused.value).startswith(str(file))
    assert sentence in str(refused.value)
    assert "\n" not in str(refused.value)
    if "is no TOML file" not in sentence:
        assert [*plan_faults(tomllib.loads(text))]


MANY = "\n".join(f"{key} = {[*range(1, 401)]}" for key in ("gamma", "degree", "coef0"))
"""Three lists that make 64 million kernels."""


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("a = " + "[" * 5_000, "is no TOML file: maximum recursion depth"),
        (f'{XOR}[[kernel]]\nname = "polynomial"\n{MANY}', "makes 64,000,000 kernels"),
    ],
)
def test_a_short_file_takes_neither_the_stack_nor_the_memory(
    written: Written, text: str, sentence: str
) -> None:
    with pytest.raises(PlanError, match=sentence):
        read_plan(written(text))


def test_a_file_that_is_no_text_or_is_not_there(tmp_path: Path) -> None:
    (tmp_path / "plan.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(PlanError, match="not in UTF-8"):
        read_plan(tmp_path / "plan.toml")
    with pytest.raises(PlanError, match="cannot be read: No such file"):
        read_plan(tmp_path / "other.toml")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (f'{XOR}[grid]\nfamily = "svm.sof"', r"plan.toml: \[grid\]: unknown family 'svm.sof'; did"),
        (f'{XOR}[grid]\nsolver = "smoo"', r"plan.toml: \[grid\]: unknown solver 'smoo'"),
        (
            f'{XOR}[[data]]\nsource = "diabetes"\n[grid]\nfamily = ["rank.l1", "rank.*"]',
            r"\[grid\]: no data have the family rank.l1 or rank.\*, as xor is a classification "
            r"\(svm.soft, .*\) and diabetes is a regression \(svr.l1, svr.l2\); name a ",
        ),
        (
            f'{XOR}[grid]\nfamily = "svm.soft"\nsolver = "nu_svc.smo"',
            "no family, formulation and solver of",
        ),
        ('[[data]]\nsource = "nowhere.csv"', "data .*nowhere.csv"),
        (
            '[[data]]\nsource = "xor"\nepsilon = 0.5',
            "plan.toml: data xor: epsilon is of a regression, and the task is classification",
        ),
        (
            f"{XOR}{XOR}",
            r"plan.toml: \[\[data\]\] 2, xor, has the rows of xor, .*; leave one of the two out",
        ),
        (
            '[[data]]\nsource = "iris"\nsample = 1',
            "data iris, seed 0, kernel linear, C = 1: all its rows are of one class",
        ),
        (
            '[[data]]\nsource = "xor"\nscale = true\n[[kernel]]\nname = "precomputed"',
            "do not apply to a precomputed kernel",
        ),
        (f'{XOR}[[kernel]]\nname = "precomputed"', "data xor, kernel precomputed, C = 1: "),
        (f'{XOR}[study]\nplugins = "no_such_module_here"', "no_such_module_here"),
    ],
)
def test_a_plan_without_answers_is_refused(written: Written, text: str, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        grid(read_plan(written(text)))


def test_every_combination_that_makes_sense_is_asked_for_once(written: Written) -> None:
    plan = f"""
        [grid]
        C = [0.1, 1, 0.1]
        seed = [0, 1]
        family = "svm.soft"
        solver = ["smo", "CLARABEL"]
        {XOR}
        [[data]]
        source = "iris"
        sample = 20
        [[kernel]]
        name = "linear"
        [[kernel]]
        name = "rbf"
        gamma = [0.5, 1.0]
    """
    asked = grid(read_plan(written(plan)))
    declared = {each.formulation for each in asked if each.solver == "CLARABEL"}
    ways = 1 + len(declared)
    assert {each.formulation for each in asked if each.solver == "smo"} == {None}
    assert {each.seed for each in asked if each.data.source == "xor"} == {None}
    assert {each.seed for each in asked if each.data.source == "iris"} == {0, 1}
    assert len(asked) == len({each.key for each in asked}) == (1 + 2) * 3 * 2 * ways
    assert {str(each.kernel) for each in asked} == {"linear", "rbf(gamma=0.5)", "rbf(gamma=1)"}


def test_gamma_by_a_word_depends_on_the_data_as_in_scikit_learn(written: Written) -> None:
    grid_of = '[grid]\nfamily = "svm.soft"\nsolver = "smo"\n'
    kernel = '[[kernel]]\nname = "rbf"\n'
    named = grid(read_plan(written(f'{grid_of}{XOR}{kernel}gamma = ["auto", "scale", 2]')))
    (by_default,) = grid(read_plan(written(f"{grid_of}{XOR}{kernel}")))
    assert [str(each.kernel) for each in named] == [
        "rbf(gamma=auto)",
        "rbf(gamma=scale)",
        "rbf(gamma=2)",
    ]
    assert [each.key == by_default.key for each in named] == [False, True, False]
    assert [AnswerSpec.from_json(each.to_json()).key for each in named] == [
        each.key for each in named
    ]


def test_kernels_that_differ_in_the_eighth_digit_have_different_names(written: Written) -> None:
    plan = f'{XOR}[[kernel]]\nname = "rbf"\ngamma = [1.2345671e-5, 1.2345672e-5, 3.0]'
    assert [str(kernel) for kernel in read_plan(written(plan)).kernels] == [
        "rbf(gamma=1.2345671e-05)",
        "rbf(gamma=1.2345672e-05)",
        "rbf(gamma=3)",
    ]


def test_hard_margins_have_families_of_their_own(written: Written) -> None:
    asked = grid(
        read_plan(
            written('[[data]]\nsource = "xor"\n[grid]\nC = inf\n[[kernel]]\nname = "polynomial"\n')
        )
    )
    assert {each.family for each in asked} == {"svm.hard", "svm.nobias_hard"}


def test_an_answer_is_known_again_by_its_numbers_and_not_by_its_file(
    written: Written, tmp_path: Path
) -> None:
    rows = "a,b,label\n0,1,1\n1,0,-1\n2,2,1\n"
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "rows.csv").write_text(rows)
    ((first, *_), (second, *_)) = (
        grid(
            read_plan(
                written(f'[[data]]\nsource = "{folder}/rows.csv"\n[grid]\nfamily = "svm.soft"')
            )
        )
        for folder in ("one", "two")
    )
    assert first.key == second.key
    (tmp_path / "two" / "rows.csv").write_text(rows.replace("2,2", "2,3"))
    (changed, *_) = grid(
        read_plan(written('[[data]]\nsource = "two/rows.csv"\n[grid]\nfamily = "svm.soft"'))
    )
    assert changed.key != first.key


def test_an_answer_survives_its_text(written: Written) -> None:
    plan = (
        '[[data]]\nsource = "iris"\nsample = 9\ndrop = "none"\n[[kernel]]\nname = '
        '"rbf"\n[grid]\nC = inf'
    )
    plan = plan.replace('drop = "none"\n', "")
    for asked in grid(read_plan(written(plan))):
        again = AnswerSpec.from_json(asked.to_json())
        assert again.key == asked.key
        assert again == asked
    assert np.isinf(asked.C)


def test_a_kernel_of_a_plan_has_the_parameters_that_kernels_have() -> None:
    assert {*KERNEL} == {"name", *PARAMETERS}
