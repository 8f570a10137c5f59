"""Labels of an ordinal regression: numbers in their order, words in the order given.

Other labels are refused in a sentence.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from equimargin.cli.app import app
from equimargin.data import DataError, load
from equimargin.estimators import OrdinalClassifier

RUN = CliRunner()
ROWS = "size,price,grade\n1,2,fair\n2,2.5,good\n3,1,poor\n4,2,good\n5,4,fair\n2,1,poor\n"


@pytest.fixture
def words(tmp_path: Path) -> Path:
    path = tmp_path / "grades.csv"
    path.write_text(ROWS)
    return path


def test_words_have_the_order_that_is_given(words: Path) -> None:
    data = load(words, levels=["poor", "fair", "good"])
    assert (data.task, data.classes, data.y.tolist()) == (
        "ordinal",
        ("poor", "fair", "good"),
        [1, 2, 0, 2, 1, 0],
    )
    assert "target `grade` (the last column, poor < fair < good)" in data.describe()


def test_numbers_ascend_or_have_the_order_that_is_given(tmp_path: Path) -> None:
    path = tmp_path / "stars.csv"
    path.write_text("x,y\n1,5\n2,1\n3,3\n4,1\n")
    assert load(path, task="ordinal").y.tolist() == [2, 0, 1, 0]
    turned = load(path, levels=[5, 3, 1])
    assert (turned.y.tolist(), turned.classes) == ([0, 2, 1, 2], (5.0, 3.0, 1.0))


@dataclass(frozen=True)
class Column:
    """Column of a data frame; one with categories is an ordered Categorical as pandas has it."""

    values: list[Any]
    categories: tuple[Any, ...] = ()

    @property
    def dtype(self) -> SimpleNamespace:
        return SimpleNamespace(ordered=bool(self.categories), categories=self.categories)

    def to_numpy(self) -> Any:
        return np.array(self.values, dtype=object)


class Frame(dict[str, Column]):
    """Minimal data frame of such columns."""

    shape = (4, 2)

    @property
    def columns(self) -> list[str]:
        return list(self)


ORDERED = Column(["fair", "good", "poor", "good"], ("awful", "poor", "fair", "good"))
NUMBERS = Column([1.5, 2, 0, 3])


def test_an_ordered_target_has_its_own_order_unless_another_is_given() -> None:
    frame = Frame(x=NUMBERS, y=ORDERED)
    data = load(frame, task="ordinal")
    assert (data.classes, data.y.tolist()) == (("poor", "fair", "good"), [1, 2, 0, 2])
    assert load(frame, levels=["good", "fair", "poor"]).y.tolist() == [1, 0, 2, 0]
    falling = load(Frame(x=NUMBERS, y=Column([3, 1, 2, 1], (4, 3, 2, 1))), task="ordinal")
    assert (falling.classes, falling.y.tolist()) == ((3.0, 2.0, 1.0), [0, 2, 1, 2])


def test_codes_of_an_ordered_feature_have_its_order() -> None:
    data = load(Frame(x=ORDERED, y=NUMBERS), task="regression", categorical="codes")
    assert data.X.ravel().tolist() == [1, 2, 0, 2]
    assert data.origin.categories == {"x": ("poor", "fair", "good")}
    again = load(Frame(x=Column(["poor", "good"] * 2), y=NUMBERS), like=data)
    assert again.X.ravel().tolist() == [0, 2, 0, 2]


def test_further_rows_have_the_levels_of_the_first_ones(words: Path, tmp_path: Path) -> None:
    known = load(words, levels=["poor", "fair", "good"])
    more = tmp_path / "more.csv"
    more.write_text("size,price,grade\n1,2,good\n")
    assert load(more, like=known).y.tolist() == [2]
    more.write_text("size,price,grade\n1,2,superb\n")
    with pytest.raises(
        DataError, match="the label 'superb' is none of the levels 'poor', 'fair', 'good'"
    ):
        load(more, like=known)


@pytest.mark.parametrize(
    ("levels", "said"),
    [
        (
            None,
            "words .* have no order of their own; name them from the lowest to the highest "
            r".*\(levels=\['fair', 'good', 'poor'\]\)",
        ),
        (
            ["poor", "good"],
            "the labels are 'fair', 'good', 'poor', and the levels 'poor', 'good'; name "
            "every label once",
        ),
        (["poor", "fair", "fair", "good"], "name every label once"),
    ],
)
def test_another_order_is_refused(words: Path, levels: list[str] | None, said: str) -> None:
    with pytest.raises(DataError, match=said):
        load(words, task="ordinal", levels=levels)


def test_levels_are_those_of_an_ordinal_regression_of_two_levels_or_more(
    words: Path, tmp_path: Path
) -> None:
    with pytest.raises(
        DataError, match="levels are those of an ordinal regression, and the task is ranking"
    ):
        load(words, task="ranking", levels=["poor"])
    path = tmp_path / "one.csv"
    path.write_text("x,y\n1,5\n2,5\n")
    with pytest.raises(
        DataError,
        match=r"all rows have the level 5\.0; an ordinal regression takes two levels or more",
    ):
        load(path, task="ordinal")


@pytest.mark.slow
def test_a_file_of_levels_is_compared(words: Path) -> None:
    result = RUN.invoke(app, ["compare", str(words), "--levels", "poor, fair, good", "-C", "2"])
    assert result.exit_code == 0, result.output
    assert "3 families: 3 agree" in result.output
    assert "threshold_newton" in result.output
    alone = RUN.invoke(
        app, ["compare", str(words), "--levels", "poor,fair,good", "--loss", "squared_hinge"]
    )
    assert (alone.exit_code, "1 family: 1 agree" in alone.output) == (0, True)


def test_a_hard_margin_is_that_of_the_hard_family(words: Path) -> None:
    result = RUN.invoke(
        app,
        ["compare", str(words), "--levels", "poor,fair,good", "-C", "inf", "--include-controls"],
    )
    assert "ord.hard" in result.output
    assert "ord.implicit" not in result.output


def test_what_these_families_do_not_have_is_refused(words: Path) -> None:
    options = ["compare", str(words), "--levels", "poor,fair,good"]
    result = RUN.invoke(app, [*options, "--family", "svm.soft"])
    assert (result.exit_code, "svm.soft" in result.output) == (2, True), result.output
    result = RUN.invoke(app, [*options, "--kernel", "sigmoid"])
    assert (result.exit_code, "2 families: 2 undecided" in result.output) == (3, True), (
        result.output
    )


def test_kernels_and_weights_are_compared(words: Path) -> None:
    """The optimum is that of `OrdinalClassifier` with the same kernel and weights."""
    options = ["compare", str(words), "--levels", "poor,fair,good", "--weight", "price"]
    said = RUN.invoke(
        app,
        [*options, "--kernel", "rbf", "--gamma", "0.5", "--loss", "squared_hinge", "--json", "-"],
    )
    assert said.exit_code == 0, said.output
    (family,) = json.loads(said.stdout)["families"]
    data = load(words, levels=["poor", "fair", "good"], weight="price")
    fitted = OrdinalClassifier(kernel="rbf", gamma=0.5, tol=1e-10).fit(
        data.X, data.y, sample_weight=data.weight
    )
    lower, upper = fitted.objective_bounds_
    assert family["lower"] <= upper * (1 + 1e-9)
    assert family["upper"] >= lower * (1 - 1e-9)
    page = RUN.invoke(
        app,
        [*options, "--kernel", "rbf", "--gamma", "auto", "--formulation", "ord.implicit_l2.primal"],
    )
    assert "rbf kernel (gamma=1), C=1" in " ".join(page.output.split())


def test_a_path_is_of_no_ordinal_regression(words: Path) -> None:
    result = RUN.invoke(app, ["path", str(words), "--task", "ordinal"])
    assert (
        result.exit_code,
        "'ordinal' is not one of classification, regression, ranking" in result.output,
    ) == (2, True)


def test_a_sample_may_miss_a_level(words: Path) -> None:
    data = load(words, levels=["poor", "fair", "good"]).sampled(4, 0)
    assert len(data.y) == 4
    assert np.isin(data.y, [0, 1, 2]).all()
