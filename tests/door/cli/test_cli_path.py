"""`equimargin path`: output, files, pictures, refusals and exit status."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from typer.testing import CliRunner

from equimargin.cli.app import app
from equimargin.data import load
from equimargin.formulations import classification, interval, ranking, rbf
from equimargin.selection.along_path import best
from equimargin.solvers import OneNormPath, RegularizationPath, regularization_path, solve
from narrow import as_a
from schema import faults

RUN = CliRunner()


def run(*arguments: str) -> tuple[int, str]:
    """Return the exit status and the complete output of `equimargin path`."""
    result = RUN.invoke(app, ["path", *arguments])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, result.output


def test_a_path_is_summed_up_and_recorded(tmp_path: Path) -> None:
    file = tmp_path / "out.json"
    arguments = (
        "iris",
        "--sample",
        "40",
        "--kernel",
        "rbf",
        "--gamma",
        "0.5",
        "--lambda-min",
        "0.01",
        "--json",
        str(file),
    )
    status, output = run(*arguments)
    assert status == 0, output
    assert "iris: classification, 40 rows, 4 features; rbf kernel (gamma=0.5)" in output
    found = json.loads(file.read_text())
    assert f"{len(found['breakpoints']['lambda']):,} breakpoints" in output
    assert found["stopped"] in output
    assert found["complete"] is True
    assert found["selected"] is None
    lambdas, gaps = np.array(found["breakpoints"]["lambda"]), np.array(found["breakpoints"]["gap"])
    assert (np.diff(lambdas) < 0).all()
    assert lambdas[-1] <= 0.01 or lambdas[-1] == 0
    assert gaps.max() <= 1e-8
    assert (
        len(found["breakpoints"]["margin_set"]) == len(lambdas) == len(found["breakpoints"]["bias"])
    )
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.parametrize(
    ("arguments", "metric"),
    [
        (["diabetes_ranking", "--sample", "30"], "pairwise_accuracy"),
        (["iris", "--sample", "40"], "accuracy"),
        (
            ["diabetes", "--sample", "30", "--scale", "--epsilon", "10", "--kernel", "rbf"],
            "mean_squared_error",
        ),
    ],
)
def test_folds_choose_a_lambda_of_the_path(
    arguments: list[str], metric: str, tmp_path: Path
) -> None:
    file = tmp_path / "out.json"
    status, output = run(
        *arguments, "--validate", "3", "--json", str(file), "--lambda-min", "0.001"
    )
    assert status == 0, output
    chosen = json.loads(file.read_text())["selected"]
    assert chosen["metric"] == metric
    assert (
        f"best {metric} {chosen['score']:.6g} on 3 folds: at lambda = {chosen['lam']:.6g}" in output
    )
    assert chosen["interval"][0] <= chosen["lam"] <= chosen["interval"][1]
    assert chosen["C"] == pytest.approx(1 / chosen["lam"])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "family", "metric"),
    [
        (
            ["diabetes_ranking", "--sample", "20", "--family", "rvm", "--metric", "ndcg@5"],
            "rvm",
            "ndcg@5",
        ),
        (
            ["diabetes_ranking", "--sample", "20", "--family", "rank.onenorm"],
            "rank.onenorm",
            "pairwise_accuracy",
        ),
        (["iris", "--sample", "30", "--family", "svm.onenorm"], "svm.onenorm", "accuracy"),
        (["iris", "--sample", "30", "--family", "svm.nobias"], "svm.nobias", "accuracy"),
        (
            ["diabetes_ranking", "--sample", "20", "--metric", "average_precision"],
            "rank.l1",
            "average_precision",
        ),
    ],
)
def test_any_family_with_the_hinge_has_a_path_and_any_metric_of_its_task_chooses(
    arguments: list[str], family: str, metric: str, tmp_path: Path
) -> None:
    out, saved, drawn, page = (
        tmp_path / f"out.{ending}" for ending in ("json", "npz", "svg", "html")
    )
    files = ("--json", str(out), "--save", str(saved), "--plot", str(drawn), "--html", str(page))
    status, output = run(*arguments, "--validate", "3", *files)
    assert status == 0, output
    assert "The whole path is known" in page.read_text()
    record = json.loads(out.read_text())
    assert record["settings"]["family"] == family
    assert record["selected"]["metric"] == metric
    assert not list(faults(record, "path"))
    assert drawn.read_text().endswith("</svg>\n")
    pieces = "onenorm" in family or family == "rvm"
    assert ("f is constant between breakpoints" in output) == pieces
    path = (OneNormPath if pieces else RegularizationPath).load(saved)
    assert path.problem.family == family
    lam = record["selected"]["lam"]
    assert path.at(lam).interval.relative_width <= 1e-8
    if pieces:
        t = int(np.searchsorted(-np.array(record["breakpoints"]["lambda"]), -lam))
        f = as_a(OneNormPath, path).functions(path.problem.X)[t]
        np.testing.assert_allclose(
            f, path.at(lam).decision_function(path.problem.X), atol=1e-9 * np.abs(f).max()
        )


def test_another_file_is_scaled_as_the_first(tmp_path: Path) -> None:
    """Half of the rows, scaled by themselves, would be other points.

    In other units they are the same.
    """
    data = load("iris")
    rows = np.flatnonzero((data.X[:, 0] > 6) & (np.arange(100) % 2 == 1))
    a, b, file = tmp_path / "a.npz", tmp_path / "b.npz", tmp_path / "out.json"
    found = []
    for unit in (1.0, 2.0**20):
        np.savez(a, X=data.X[::2] * unit, y=data.y[::2])
        np.savez(b, X=data.X[rows] * unit, y=data.y[rows])
        status, output = run(
            str(a), "--scale", "--kernel", "rbf", "--validate", str(b), "--json", str(file)
        )
        assert status == 0, output
        found.append(json.loads(file.read_text())["selected"])
    Z, mean, deviation = data.X[::2], data.X[::2].mean(axis=0), data.X[::2].std(axis=0)
    path = regularization_path(
        classification((Z - mean) / deviation, data.y[::2], kernel=rbf(0.25))
    )
    wanted = best(path, (data.X[rows] - mean) / deviation, data.y[rows])
    for chosen in found:
        assert chosen["score"] == wanted.score
        assert chosen["interval"] == pytest.approx(wanted.interval, rel=1e-6)


def csv_of(header: str, columns: list[NDArray[Any]]) -> str:
    return (
        "\n".join(
            [
                header,
                *(
                    ",".join(map(str, row))
                    for row in zip(*(column.tolist() for column in columns), strict=True)
                ),
            ]
        )
        + "\n"
    )


def test_columns_of_another_file_go_by_their_names_and_its_classes_are_those_of_the_first(
    tmp_path: Path,
) -> None:
    rng = np.random.default_rng(1)
    (a, b), y = rng.normal(size=(2, 24)), rng.integers(1, 3, 24)
    a += y
    training, other, file = tmp_path / "a.csv", tmp_path / "b.csv", tmp_path / "out.json"
    training.write_text(csv_of("a,b,y", [a[:14], b[:14], y[:14]]))
    scores = []
    for text in (
        csv_of("a,b,y", [a[14:], b[14:], y[14:]]),
        csv_of("b,a,y", [b[14:], a[14:], y[14:]]),
    ):
        other.write_text(text)
        status, output = run(str(training), "--validate", str(other), "--json", str(file))
        assert status == 0, output
        scores.append(json.loads(file.read_text())["selected"])
    assert scores[0] == scores[1]
    path = regularization_path(
        classification(np.stack([a, b], axis=1)[:14], np.where(y == 2, 1, -1)[:14])
    )
    assert (
        scores[0]["score"]
        == best(path, np.stack([a, b], axis=1)[14:], np.where(y == 2, 1, -1)[14:]).score
    )
    # The training rows have this class, too.
    other.write_text(csv_of("a,b,y", [a[14:], b[14:], np.full(10, 2)]))
    status, output = run(str(training), "--validate", str(other))
    assert status == 0, output
    for text, words in (
        (csv_of("a,q,y", [a, b, y]), "'a', 'q' and those of a.csv 'a', 'b'"),
        (csv_of("a,b,y", [a, b, y + 1]), "2.0, 3.0 and not 1.0, 2.0"),
        (csv_of("a,b,c,y", [a, b, a, y]), "3 features and a.csv 2"),
    ):
        other.write_text(text)
        status, output = run(str(training), "--validate", str(other))
        assert (status, "Traceback" in output) == (2, False)
        assert words in output


def test_svmlight_leaves_out_zeros_and_has_no_columns_to_name(tmp_path: Path) -> None:
    rows = np.array([[0.5, 1.0, 2.0], [1.5, -1.0, 0.0], [2.5, 1.0, 0.0], [0.1, 2.0, 1.0]])
    y, file = np.array([2, 1, 2, 1]), tmp_path / "out.json"
    training, table, short = tmp_path / "a.svm", tmp_path / "a.csv", tmp_path / "b.svm"
    training.write_text(
        "".join(f"{t} qid:1 1:{r[0]} 2:{r[1]} 3:{r[2]}\n" for t, r in zip(y, rows, strict=True))
    )
    table.write_text(csv_of("group,rel,a,b,c", [np.ones(4, int), y, *rows.T]))
    short.write_text("2 qid:1 1:0.4 2:1\n1 qid:1 1:0.7 2:-3\n")
    names = ["--query", "group", "--target", "rel"]
    for arguments in ([str(training)], [str(table), *names]):
        status, output = run(*arguments, "--validate", str(short), "--json", str(file))
        assert status == 0, output
        chosen = json.loads(file.read_text())["selected"]
        path = regularization_path(ranking(rows, y))
        assert chosen["score"] == best(path, np.array([[0.4, 1, 0], [0.7, -3, 0]]), [2, 1]).score
    short.write_text("2 qid:1 0:0.4 1:0.4 2:1\n1 qid:1 1:0.7 2:-3\n")
    status, output = run(str(training), "--validate", str(short))
    assert status == 2
    assert "counted from 0 and those of a.svm from 1" in output
    training.write_text(
        "".join(f"{t} qid:1 0:{r[0]} 1:{r[1]} 2:{r[2]}\n" for t, r in zip(y, rows, strict=True))
    )
    # The file has no feature 0; its features count from 0, as in the training rows.
    short.write_text("2 qid:1 1:1\n1 qid:1 1:-3\n")
    status, output = run(str(training), "--validate", str(short), "--json", str(file))
    assert status == 0, output
    assert (
        json.loads(file.read_text())["selected"]["score"]
        == best(path, np.array([[0, 1, 0], [0, -3, 0]]), [2, 1]).score
    )


def test_sparse_rows_are_validated_on_dense_ones(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    a, b = tmp_path / "a.txt", tmp_path / "b.txt"
    a.write_text(
        "".join(
            f"{i % 3} qid:{i % 2} {1 + i % 40}:{rng.normal():.3f} 50:{i % 5}.5\n" for i in range(24)
        )
    )
    b.write_text(
        "".join(
            f"{i % 3} qid:{i % 2} "
            + " ".join(f"{j}:{rng.normal():.3f}" for j in range(1, 51))
            + "\n"
            for i in range(12)
        )
    )
    for scale in ([], ["--scale"]):
        for one, other in ((a, b), (b, a)):
            status, output = run(str(one), "--validate", str(other), *scale)
            assert status == 0, output
            assert f"on {other}: at lambda" in output


def test_the_saved_path_answers_at_any_lambda(tmp_path: Path) -> None:
    file = tmp_path / "path.npz"
    status, output = run(
        "diabetes_ranking", "--sample", "25", "--kernel", "rbf", "--gamma", "1", "--save", str(file)
    )
    assert status == 0, output
    path = RegularizationPath.load(file)
    data = load("diabetes_ranking").sampled(25, 0)
    for lam in (3.0, 0.4, 0.02):
        other = solve(ranking(data.X, data.y, data.qid, 1 / lam, rbf(1.0)), tol=1e-9).interval
        found = interval(path.problem.with_cost(1 / lam), path.at(lam).point)
        assert max(found.lower, other.lower) <= min(found.upper, other.upper)


@pytest.mark.parametrize("ending", [".png", ".svg"])
def test_drawings_are_whole(ending: str, tmp_path: Path) -> None:
    file = tmp_path / f"path{ending}"
    status, output = run(
        "diabetes_ranking",
        "--sample",
        "20",
        "--validate",
        "2",
        "--plot",
        str(file),
        "--lambda-min",
        "0.01",
    )
    assert status == 0, output
    content = file.read_bytes()
    assert content.startswith({".png": b"\x89PNG", ".svg": b"<?xml"}[ending])
    if ending == ".svg":
        assert content.rstrip().endswith(b"</svg>")
        assert b"margin set" in content
    if ending == ".png":
        width, height = struct.unpack(">II", content[16:24])
        assert width > height > 800
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_a_path_of_one_breakpoint_is_drawn_as_points(kernel: str, tmp_path: Path) -> None:
    from matplotlib.image import imread

    file = tmp_path / "path.png"
    status, output = run("iris", "--kernel", kernel, "--lambda-min", "1e9", "--plot", str(file))
    assert status == 0, output
    assert "1 breakpoint from" in output
    picture = imread(file)[..., :3]
    # The legend at the right is excluded.
    coloured = np.ptp(picture[:, : int(0.8 * picture.shape[1])], axis=2) > 0.2
    assert coloured[: len(coloured) // 2].sum() > 20
    assert coloured[len(coloured) // 2 :].sum() > 20


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments",
    [
        ["iris", "--sample", "30", "--kernel", "rbf"],
        ["wine_ranking", "--sample", "14", "--kernel", "polynomial", "--scale"],
        ["breast_cancer", "--sample", "20", "--scale"],
        ["diabetes", "--sample", "140", "--kernel", "rbf", "--max-events", "40"],
        ["xor", "--kernel", "rbf", "--gamma", "1", "--lambda-min", "1e3"],
    ],
)
def test_every_kind_of_path_can_be_drawn(arguments: list[str], tmp_path: Path) -> None:
    status, output = run(*arguments, "--plot", str(tmp_path / "path.png"))
    assert status in (0, 4), output
    assert (tmp_path / "path.png").stat().st_size > 10_000


def test_a_path_that_ends_early_says_so_and_is_still_written(tmp_path: Path) -> None:
    file = tmp_path / "out.json"
    status, output = run("iris", "--sample", "30", "--max-events", "4", "--json", str(file))
    assert status == 4, output
    assert "4 breakpoints" in output
    found = json.loads(file.read_text())
    assert found["complete"] is False
    assert len(found["breakpoints"]["lambda"]) == 4


def test_folds_that_end_early_say_what_they_did_not_judge() -> None:
    status, output = run(
        "diabetes", "--sample", "16", "--seed", "11", "--max-events", "18", "--validate", "2"
    )
    assert status == 0, output
    assert "17 breakpoints" in output
    assert "no lambda below" in output
    assert "in 1 of 2 folds the limit of events ended the path early; the best is above" in output


@pytest.mark.parametrize("events", ["1", "20", "50"])
def test_folds_choose_no_lambda_that_a_path_which_ends_early_has_not(
    events: str, tmp_path: Path
) -> None:
    file = tmp_path / "out.json"
    status, output = run(
        "diabetes_ranking",
        "--sample",
        "30",
        "--max-events",
        events,
        "--validate",
        "3",
        "--json",
        str(file),
    )
    assert status == 4, output
    found = json.loads(file.read_text())
    assert found["selected"]["interval"][0] >= found["breakpoints"]["lambda"][-1]


def test_a_constant_has_nothing_to_choose_and_is_still_written(tmp_path: Path) -> None:
    data, other = tmp_path / "one.csv", tmp_path / "other.csv"
    X = np.random.default_rng(0).normal(size=(2, 12))
    data.write_text(csv_of("a,b,y", [*X, np.ones(12)]))
    other.write_text(csv_of("a,b,y", [*X, X[0]]))
    for source in ("3", str(other)):
        file, save, plot = tmp_path / "out.json", tmp_path / "path.npz", tmp_path / "path.png"
        arguments = (
            "--validate",
            source,
            "--json",
            str(file),
            "--save",
            str(save),
            "--plot",
            str(plot),
        )
        status, output = run(str(data), "--task", "regression", *arguments)
        assert status == 0, output
        assert (
            "1 breakpoint from lambda = 0 to 0, where f is the same constant at every lambda"
            in output
        )
        assert "nothing to choose: " in output
        assert "nothing to draw: " in output
        assert json.loads(file.read_text())["selected"] is None
        assert len(RegularizationPath.load(save)) == 1
        assert not plot.exists()
        file.unlink()
        save.unlink()


def test_a_fold_without_a_breakpoint_leaves_the_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def late(*_: object, **__: object) -> Any:
        return regularization_path(problem, time_limit=1e-9)

    data = load("breast_cancer").scaled()
    problem = classification(data.X, data.y, kernel=rbf(1.0))
    monkeypatch.setattr("equimargin.selection.grids.regularization_path", late)
    status, output = run("iris", "--validate", "2", "--json", str(tmp_path / "out.json"))
    assert status == 4, output
    assert "nothing to choose: the path has no breakpoint" in output
    assert json.loads((tmp_path / "out.json").read_text())["complete"] is True


def test_a_path_without_a_breakpoint_is_nothing(tmp_path: Path) -> None:
    status, output = run(
        "breast_cancer",
        "--scale",
        "--kernel",
        "rbf",
        "--time-limit",
        "1e-9",
        "--validate",
        "3",
        "--save",
        str(tmp_path / "path.npz"),
    )
    assert status == 3, output
    assert "no breakpoint" in output
    assert not list(tmp_path.iterdir())


def test_a_gap_that_is_too_large_is_told_by_the_exit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("equimargin.solvers.path.result.OPTIMAL_GAP", -1.0)
    assert run("xor", "--kernel", "rbf")[0] == 1


def test_nothing_is_left_of_what_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "path.svg"
    file.write_text("as it was")

    def half(path: object, part: Path, *_: object) -> None:
        part.write_text("half of it")
        raise OSError("the disk is full")

    monkeypatch.setattr("equimargin.draw.path_plot.draw", half)
    status, output = run("xor", "--kernel", "rbf", "--plot", str(file))
    assert status == 2
    assert "the disk is full" in output
    assert (list(tmp_path.iterdir()), file.read_text()) == ([file], "as it was")


def test_no_pairs_is_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "flat.txt"
    path.write_text("1 qid:1 1:0.5\n1 qid:1 1:0.7\n2 qid:2 1:0.1\n")
    status, output = run(str(path))
    assert status == 0
    assert output.endswith("nothing to rank.\n")
    files = tmp_path / "a.json", tmp_path / "a.npz"
    status, output = run(str(path), "--json", str(files[0]), "--save", str(files[1]))
    assert status == 0
    assert f"nothing to rank. {files[0]} and {files[1]} are not written." in output
    assert not any(file.exists() for file in files)


def test_epsilon_is_recorded_where_it_means_something(tmp_path: Path) -> None:
    file = tmp_path / "out.json"
    for name, wanted in (("xor", None), ("diabetes", 0.25)):
        status, output = run(name, "--sample", "12", "--epsilon", "0.25", "--json", str(file))
        assert status == 0, output
        assert json.loads(file.read_text())["settings"]["epsilon"] == wanted


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nowhere.txt"], ["nowhere.txt", "no such file"]),
        (["xor", "--kernel", "foo"], ["--kernel", "foo"]),
        (["xor", "--kernel", "sigmoid"], ["not positive semidefinite"]),
        (["xor", "--lambda-min", "-1"], ["lambda_min"]),
        (["xor", "--lambda-min", "nan"], ["lambda_min"]),
        (["xor", "--max-events", "0"], ["--max-events"]),
        (["xor", "--time-limit", "0"], ["--time-limit"]),
        (["xor", "--plot", "path.txt"], ["path.txt", ".svg, .png or .pdf"]),
        (["xor", "--save", "path.csv"], ["path.csv", ".npz"]),
        (["xor", "--save", "no/such/folder/x.npz"], ["no/such/folder", "does not exist"]),
        (
            ["xor", "--plot", "a.svg", "--save", "same.npz", "--json", "./same.npz"],
            ["same.npz is named for two outputs"],
        ),
        (["xor", "--validate", "-3"], ["folds must be a whole number"]),
        (["xor", "--validate", "2.5"], ["folds must be a whole number"]),
        (["xor", "--validate", "inf"], ["folds must be a whole number"]),
        (["xor", "--validate", "1"], ["at least 2; put"]),
        (["xor", "--validate", "9"], ["2 points of the smallest class, too few for 9 folds"]),
        (["iris", "--validate", "breast_cancer"], ["30 features", "iris 4"]),
        (["iris", "--validate", "nowhere.txt"], ["nowhere.txt"]),
        (["diabetes", "--epsilon", "-1"], ["epsilon"]),
        (["xor", "--sample", "1"], ["one class"]),
        (
            ["xor", "--family", "svm.onenor"],
            ["unknown family 'svm.onenor'", "did you mean svm.onenorm", "svm.nobias"],
        ),
        (["xor", "--family", "svm.l2"], ["a classification with the hinge has no family 'svm.l2'"]),
        (
            ["diabetes", "--family", "rvm"],
            ["a regression with the hinge has no family 'rvm'; choose svr.l1; one-norm"],
        ),
        (
            ["iris", "--validate", "3", "--metric", "ndcg"],
            ["'ndcg' does not apply to a svm.soft problem", "accuracy"],
        ),
    ],
)
def test_bad_arguments_are_one_sentence(arguments: list[str], words: list[str]) -> None:
    status, output = run(*arguments)
    assert status == 2, output
    assert "Traceback" not in output
    for word in words:
        assert word in output


def test_the_interval_of_any_lambda_meets_that_of_a_solver() -> None:
    data = load("diabetes_ranking").sampled(30, 1)
    problem = ranking(data.X, data.y, kernel=rbf(2.0))
    path = regularization_path(problem)
    for lam in np.geomspace(path.lambdas[0], 1e-3, 5)[1:-1].tolist():
        found, other = path.at(lam).interval, solve(problem.with_cost(1 / lam), tol=1e-9).interval
        assert max(found.lower, other.lower) <= min(found.upper, other.upper)
        assert found.relative_width <= 1e-8


@pytest.mark.parametrize(
    ("events", "expected", "said"),
    [(100, 0, "the best is above"), (3, 4, "the best is at this end")],
)
def test_a_fold_that_ends_early_counts_where_it_touches_the_choice(
    events: int, expected: int, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One of five folds ends after the given number of breakpoints.

    It ends far below the best lambda, or above all good ones.
    """
    from equimargin import selection

    calls = 0

    def ends_early(
        problem: Any, lambda_min: float, max_events: int | None, time_limit: float | None
    ) -> RegularizationPath:
        nonlocal calls
        calls += 1
        return as_a(
            RegularizationPath,
            regularization_path(
                problem, lambda_min, events if calls == 2 else max_events, time_limit
            ),
        )

    monkeypatch.setattr(selection.grids, "regularization_path", ends_early)
    status, output = run(
        "breast_cancer", "--sample", "80", "--scale", "--validate", "5", "--lambda-min", "1e-3"
    )
    assert calls == 5
    assert "in 1 of 5 folds the limit of events ended the path early" in output
    assert said in output
    assert status == expected, output
