"""Families that read a table, against cvxpy problems in a space of the kernel."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from typer.testing import CliRunner

from equimargin.cli.app import app
from equimargin.cli.options.families import _parameter
from equimargin.data import load
from equimargin.data.words import DataError
from equimargin.formulations import FAMILIES, Kernel, linear, polynomial, precomputed, rbf, sigmoid
from equimargin.formulations.declarations.checks import matrix, needing, share, targets, vector
from equimargin.own import Family
from equimargin.own.tables import data_from_table, task_of_table

Array = Any
RUNNER = CliRunner()
M = 14
KERNELS = {"linear": linear(), "rbf": rbf(0.5), "polynomial": polynomial(2, 1.0, 1.0)}


def run(*arguments: str, sent: str | None = None) -> tuple[int, str]:
    """Return the exit status and the output of a command, on one line."""
    result = RUNNER.invoke(app, arguments, input=sent)
    return result.exit_code, " ".join(result.output.split())


def table(folder: Path, kind: str) -> tuple[Path, Array, Array]:
    """Write a table, and return it with its features and its target, counted from 0."""
    rng = np.random.default_rng(len(kind))
    X = rng.normal(size=(M, 2)).round(2)
    score = X @ [1.0, 0.5] + rng.normal(size=M) / 2
    labels: Any = {
        "classes": np.where(score > 0, "yes", "no"),
        "levels": 3 + 2 * np.digitize(score, np.quantile(score, [0.35, 0.7])),
        "numbers": score.round(2),
    }[kind]
    lines = [f"{a:g},{b:g},{label}" for (a, b), label in zip(X, labels.tolist(), strict=True)]
    file = folder / f"{kind}.csv"
    file.write_text("a,b,label\n" + "\n".join(lines) + "\n")
    counted = labels if kind == "numbers" else np.unique(labels, return_inverse=True)[1]
    return file, X, counted


class Machine:
    """Function of the kernel's space at the points, with half its squared norm."""

    def __init__(self, K: Array) -> None:
        values, vectors = np.linalg.eigh(K)
        kept = values > 1e-12 * values.max()
        g = cp.Variable(int(kept.sum()))
        self.f, self.half = vectors[:, kept] * np.sqrt(values[kept]) @ g, cp.sum_squares(g) / 2


def optimum(objective: Any, *constraints: Any) -> float:
    """Return the minimum."""
    problem = cp.Problem(cp.Minimize(objective), list(constraints))
    problem.solve(solver=cp.CLARABEL, tol_gap_abs=1e-8, tol_gap_rel=1e-8, tol_feas=1e-8)
    return float(problem.value)


def svm_general(K: Array, y: Array, C: float, sigma: float, tau: float) -> float:
    """Document W, with F(u) = u^tau and xi^sigma, here sigma = 1 and tau = 2."""
    machine, b, xi = Machine(K), cp.Variable(), cp.Variable(M, nonneg=True)
    assert (sigma, tau) == (1, 2)
    margins = cp.multiply(2 * y - 1, machine.f + b) >= 1 - xi
    return optimum(machine.half + C * cp.square(cp.sum(xi)), margins)


def nu_svc(K: Array, y: Array, nu: float) -> float:
    """Schoelkopf 2000, (46)-(49)."""
    machine, b, rho = Machine(K), cp.Variable(), cp.Variable(nonneg=True)
    xi = cp.Variable(M, nonneg=True)
    margins = cp.multiply(2 * y - 1, machine.f + b) >= rho - xi
    return optimum(machine.half - nu * rho + cp.sum(xi) / M, margins)


def nu_svr(K: Array, y: Array, nu: float, C: float) -> float:
    """Schoelkopf 2000, (29)-(32)."""
    machine, b, epsilon = Machine(K), cp.Variable(), cp.Variable(nonneg=True)
    above, below = cp.Variable(M, nonneg=True), cp.Variable(M, nonneg=True)
    f = machine.f + b
    loss = nu * epsilon + cp.sum(above + below) / M
    return optimum(machine.half + C * loss, y - f <= epsilon + above, f - y <= epsilon + below)


def one_class(K: Array, y: Array, nu: float) -> float:
    """Schoelkopf 2001, (3)-(4)."""
    machine, rho, xi = Machine(K), cp.Variable(), cp.Variable(M, nonneg=True)
    return optimum(machine.half + cp.sum(xi) / (nu * M) - rho, machine.f >= rho - xi)


def ls_svm(K: Array, y: Array, C: float) -> float:
    """Suykens 1999, (8)-(10)."""
    machine, b = Machine(K), cp.Variable()
    errors = 1 - cp.multiply(2 * y - 1, machine.f + b)
    return optimum(machine.half + C / 2 * cp.sum_squares(errors))


def crammer_singer(K: Array, y: Array, C: float) -> float:
    """Crammer 2001, (7)."""
    machines, xi = [Machine(K) for _ in range(3)], cp.Variable(M)
    margins = [
        machines[y[i]].f[i] - machines[r].f[i] >= float(r != y[i]) - xi[i]
        for i in range(M)
        for r in range(3)
    ]
    return optimum(sum(machine.half for machine in machines) + C * cp.sum(xi), *margins)


def ord_explicit(K: Array, y: Array, C: float) -> float:
    """Chu 2005, section 2: thresholds in order, of neighbouring levels alone."""
    machine, b = Machine(K), cp.Variable(2)
    losses = [cp.pos(1 + machine.f[i] - b[y[i]]) for i in range(M) if y[i] < 2]
    losses += [cp.pos(1 - machine.f[i] + b[y[i] - 1]) for i in range(M) if y[i] > 0]
    return optimum(machine.half + C * sum(losses), b[0] <= b[1])


def ord_sum(K: Array, y: Array, C: float) -> float:
    """Shashua 2003, section 3, with 1/2 |w|^2 in place of |w| <= 1."""
    machine, a, b = Machine(K), cp.Variable(2), cp.Variable(2)
    losses = [cp.pos(machine.f[i] - a[y[i]]) for i in range(M) if y[i] < 2]
    losses += [cp.pos(b[y[i] - 1] - machine.f[i]) for i in range(M) if y[i] > 0]
    order = [a <= b, b[0] <= a[1]]
    return optimum(machine.half + cp.sum(a - b) + C * sum(losses), *order)


OF_KERNELS: dict[str, tuple[Callable[..., float], str, dict[str, float]]] = {
    "svm.general": (svm_general, "classes", {"C": 2.0, "sigma": 1.0, "tau": 2.0}),
    "nu_svc": (nu_svc, "classes", {"nu": 0.4}),
    "nu_svr": (nu_svr, "numbers", {"nu": 0.5, "C": 3.0}),
    "one_class": (one_class, "numbers", {"nu": 0.5}),
    "ls_svm": (ls_svm, "classes", {"C": 2.0}),
    "crammer_singer": (crammer_singer, "levels", {"C": 2.0}),
    "ord.explicit": (ord_explicit, "levels", {"C": 2.0}),
    "ord.sum": (ord_sum, "levels", {"C": 3.0}),
}


def definition(family: str, data: dict[str, Any]) -> float:
    """Return the optimum of a family's definition at data."""
    problem = FAMILIES[family](data)
    declared = problem.definition.make_problem(problem.data)
    declared.solve(solver=cp.CLARABEL, tol_gap_abs=1e-8, tol_gap_rel=1e-8, tol_feas=1e-8)
    return float(declared.value)


def read(family: str, file: Path, kernel: Kernel | None, **parameters: Any) -> dict[str, Any]:
    """Return the data of a family from a table."""
    rows = load(file, task=task_of_table(FAMILIES[family]))
    return data_from_table(FAMILIES[family], rows, kernel, parameters)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("family", OF_KERNELS)
def test_a_table_and_a_kernel_make_the_printed_problem(
    family: str, kernel: str, tmp_path: Path
) -> None:
    made, kind, parameters = OF_KERNELS[family]
    file, X, y = table(tmp_path, kind)
    K = KERNELS[kernel].block(X, X)
    value = made((K + K.T) / 2, y, **parameters)
    data = read(family, file, KERNELS[kernel], **parameters)
    assert definition(family, data) == pytest.approx(value, rel=1e-6, abs=1e-6)


def test_families_without_a_kernel_read_tables(tmp_path: Path) -> None:
    file, X, y = table(tmp_path, "numbers")
    w, b = cp.Variable(2), cp.Variable()
    squares = cp.sum_squares(X @ w - y) / 2
    expected: dict[str, tuple[float, dict[str, Any]]] = {
        "lasso": (optimum(squares + 0.5 * cp.norm1(w)), {"penalty": 0.5}),
        "group_lasso": (
            optimum(squares + 0.5 * cp.norm1(w)),
            {"penalty": 0.5, "groups": np.array([1.0, 2.0])},
        ),
        "quantile": (
            optimum(
                cp.sum(0.25 * cp.pos(y - X @ w - b) + 0.75 * cp.neg(y - X @ w - b)) / M
                + 0.1 * cp.norm1(w)
            ),
            {"tau": 0.25, "penalty": 0.1},
        ),
    }
    for family, (value, parameters) in expected.items():
        data = read(family, file, None, **parameters)
        assert definition(family, data) == pytest.approx(value, rel=1e-6, abs=1e-6), family
    file, X, y = table(tmp_path, "classes")
    hinge = cp.sum(cp.pos(1 - cp.multiply(2 * y - 1, X @ w + b)))
    data = read("one_norm_svm", file, None, C=2.0)
    value = optimum(cp.norm1(w) + 2.0 * hinge)
    assert definition("one_norm_svm", data) == pytest.approx(value, rel=1e-6)
    squares = cp.sum_squares(cp.pos(1 - cp.multiply(2 * y - 1, X @ w)))
    data = read("one_norm_svm_l2", file, None, C=2.0)
    assert definition("one_norm_svm_l2", data) == pytest.approx(
        optimum(cp.norm1(w) + 2.0 * squares), rel=1e-6
    )


def test_a_family_of_one_array_reads_the_whole_table(tmp_path: Path) -> None:
    r = np.array([[0.0, 0.75, 0.5], [0.25, 0.0, 0.625], [0.5, 0.375, 0.0]])
    file = tmp_path / "r.csv"
    np.savetxt(file, r, delimiter=",", header="a,b,c", comments="")
    assert np.array_equal(read("coupling.wlw", file, None)["r"], r)
    trimmed = Family("trimmed", check=needing(a=vector, share=share))
    file.write_text("loss\n1\n2.5\n4\n")
    rows = load(file, task=task_of_table(trimmed))
    data = data_from_table(trimmed, rows, parameters={"share": 0.5})
    assert (data["a"].tolist(), data["share"]) == ([1.0, 2.5, 4.0], 0.5)


def test_weights_are_those_of_the_table(tmp_path: Path) -> None:
    file, _, _ = table(tmp_path, "levels")
    lines = file.read_text().splitlines()
    weights = np.resize([1.0, 2.0, 0.5], M)
    rows = [f"{line},{w:g}" for line, w in zip(lines[1:], weights, strict=True)]
    file.write_text("\n".join([lines[0] + ",sample_weight", *rows]) + "\n")
    data = read("ord.sum", file, rbf(0.5), C=3.0)
    assert np.array_equal(data["weights"], weights)
    with pytest.raises(ValueError, match=r"crammer_singer has no weights; leave them out"):
        read("crammer_singer", file, None, C=1.0)


def test_unsuitable_tables_and_parameters_are_refused(tmp_path: Path) -> None:
    file, _, _ = table(tmp_path, "classes")
    for message, family, kernel, parameters in (
        ("nu_svc needs nu; give --parameter nu=VALUE", "nu_svc", None, {}),
        ("nu_svc has no parameter mu", "nu_svc", None, {"mu": 1.0}),
        ("one_norm_svm has no kernel", "one_norm_svm", rbf(1.0), {"C": 1.0}),
        ("not positive semidefinite", "ls_svm", sigmoid(5.0, -3.0), {"C": 1.0}),
    ):
        with pytest.raises(ValueError, match=message):
            read(family, file, kernel, **parameters)
    with pytest.raises(ValueError, match="ls_svm reads classification rows"):
        data_from_table(FAMILIES["ls_svm"], load(file, task="unsupervised"))
    with pytest.raises(ValueError, match="mine does not name its data, and reads no table"):
        task_of_table(Family("mine", check=lambda data: None))
    with pytest.raises(DataError, match="unsupervised rows have no target"):
        load(file, task="unsupervised", target="label")


def test_a_given_matrix_is_the_kernel(tmp_path: Path) -> None:
    _, X, y = table(tmp_path, "classes")
    K, file = rbf(0.5).block(X, X), tmp_path / "gram.csv"
    K = (K + K.T) / 2
    table_of = np.column_stack([K, y])
    names = ",".join([*(f"k{i}" for i in range(M)), "label"])
    np.savetxt(file, table_of, delimiter=",", header=names, comments="", fmt="%.17g")
    data = read("nu_svc", file, precomputed(), nu=0.4)
    assert definition("nu_svc", data) == pytest.approx(nu_svc(K, y, 0.4), rel=1e-6, abs=1e-8)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--family", "ls_svm", "-C", "2", "--kernel", "rbf"], "rbf kernel"),
        (["--family", "nu_svc", "--parameter", "nu=0.4", "--drop", "a"], "1 feature"),
        (["--family", "nu_svc", "--parameter", "nu=0.4"], "y is 0 or 1, for -1 or +1"),
        (["--family", "one_class", "--parameter", "nu=1"], "dropped: label"),
        (["--family", "crammer_singer", "--kernel", "rbf"], "(no is -1, yes is +1)"),
        (["--family", "nu_svc", "--family", "ls_svm", "--parameter", "nu=0.5"], "2 agree"),
        (["--family", "one_norm_svm"], "names; C=1, y is 0 or 1, for -1 or +1 "),
    ],
)
def test_the_command_line_compares_families_on_a_table(
    arguments: list[str], said: str, tmp_path: Path
) -> None:
    file, _, _ = table(tmp_path, "classes")
    status, output = run("compare", str(file), *arguments, "--solver", "CLARABEL")
    assert status == 0, output
    assert said in output


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--family", "nu_svc"], "nu_svc needs nu"),
        (["--family", "nu_svc", "--parameter", "mu=1"], "has no such parameter"),
        (["--family", "nu_svc", "--parameter", "nu"], "a parameter is a name and numbers"),
        (["--family", "nu_svc", "-C", "2"], "--cost does not apply to nu_svc"),
        (["--family", "nu_svc", "--loss", "hinge"], "--loss does not apply to nu_svc"),
        (["--family", "nu_svc", "--task", "regression"], "reads its rows as classification"),
        (["--family", "nu_svc", "--levels", "no,yes"], "nu_svc has no levels"),
        (["--parameter", "nu=1"], "parameters are those of a family that is named in full"),
        (["--family", "nu_svc", "--parameter", "nu=1", "--parameter", "nu=0.5"], "leave one of"),
        (["--family", "ls_svm", "--parameter", "C=1", "-C", "2"], "--cost gives C, too"),
        (["--family", "ls_svm", "--parameter", "C=1", "--lambda", "2"], "--lambda gives C, too"),
        (
            ["--family", "nu_svc", "--family", "svm.*"],
            "--family svm.*: nu_svc is not compared together with families of a task",
        ),
        (["--family", "svm.onenorm", "-C", "inf"], "one-norm families have no hard margin"),
        (["--family", "svm.onenorm", "--bias", "penalized"], "have no penalised bias"),
    ],
)
def test_options_that_a_family_does_not_have_are_refused(
    arguments: list[str], said: str, tmp_path: Path
) -> None:
    file, _, _ = table(tmp_path, "classes")
    status, output = run("compare", str(file), *arguments)
    assert status == 2
    assert said in output


def test_a_parameter_without_data_is_no_fault() -> None:
    status, output = run("compare", "--family", "nu_svc", "--parameter", "nu=0.5")
    assert status == 2
    assert "the family nu_svc needs data: a file, or --draw SEED" in output


def test_three_classes_are_those_of_no_family_of_two(tmp_path: Path) -> None:
    file, _, y = table(tmp_path, "levels")
    with pytest.raises(ValueError, match=r"nu_svc has 2 classes, and the target of .* has 3; keep"):
        read("nu_svc", file, None, nu=0.4)
    words = file.read_text()
    for label, word in (("3", "red"), ("5", "blue"), ("7", "green")):
        words = words.replace(f",{label}\n", f",{word}\n")
    file.write_text(words)
    data = read("crammer_singer", file, None, C=1.0)
    assert data["y"].tolist() == [[2, 0, 1][level] for level in y]


def test_three_classes_with_another_family_or_a_kernel(tmp_path: Path) -> None:
    file, X, y = table(tmp_path, "levels")
    named = ("compare", str(file), "--task", "classification", "--kernel", "rbf")
    status, output = run(*named, "--family", "crammer_singer", "--family", "svm.soft")
    assert status == 2
    assert "--family crammer_singer: a classification has no such family; choose svm" in output
    assert output.endswith(
        "crammer_singer is left out: it has the hinge, a linear kernel, finite C, no bias and no "
        "weights"
    )
    K = rbf(0.5).block(X, X)
    value = crammer_singer((K + K.T) / 2, y, 1.0)
    alone = ("--gamma", "0.5", "--family", "crammer_singer", "--solver", "CLARABEL")
    status, output = run(*named, *alone)
    assert status == 0, output
    shown = output.split("optimum ")[1].split(",")[0]
    assert float(shown) == pytest.approx(value, rel=1e-6)


def test_standard_input_is_read_once(tmp_path: Path) -> None:
    classes, levels = (table(tmp_path, kind)[0].read_text() for kind in ("classes", "levels"))
    solver = ("--solver", "CLARABEL")
    of_two = ("--family", "nu_svc", "--parameter", "nu=0.5")
    for arguments, sent in (
        ((*of_two, "--family", "ls_svm"), classes),
        (("--family", "crammer_singer"), levels),
        (("--family", "coupling.wlw"), levels.replace("label", "class")),
    ):
        words = sent.replace(",3\n", ",a\n").replace(",5\n", ",b\n").replace(",7\n", ",c\n")
        status, output = run("compare", "-", *arguments, *solver, sent=words)
        assert status == 0, output
    status, output = run("compare", "-", *of_two, "--family", "one_class", *solver, sent=classes)
    assert status == 2
    assert "nu_svc and one_class read a table in different ways" in output


def test_parameters_are_read_as_in_a_json_file() -> None:
    read_as = [_parameter(f"k={text}")[1] for text in ("3", "3.0", "1e2", "1,2", "1,", "0.5,2")]
    assert [(type(value), np.asarray(value).dtype.kind) for value in read_as] == [
        (int, "i"),
        (float, "f"),
        (float, "f"),
        (np.ndarray, "i"),
        (np.ndarray, "i"),
        (np.ndarray, "f"),
    ]
    assert read_as[4].tolist() == [1]
    for text in ("k=,", "k=1,,2", "k=", "k", "=1"):
        with pytest.raises(ValueError, match="a parameter is a name and numbers"):
            _parameter(text)


def test_missing_roles_and_matrices_of_one_column(tmp_path: Path) -> None:
    file, X, _ = table(tmp_path, "numbers")
    for message, check in (
        ("mine needs weights; name them", needing(X=matrix, y=targets, weights=vector)),
        ("mine needs preferences; name them", needing(X=matrix, pairs=matrix)),
        ("mine needs queries; name them", needing(X=matrix, y=targets, qid=targets)),
    ):
        family = Family("mine", check=check)
        with pytest.raises(ValueError, match=message):
            data_from_table(family, load(file, task=task_of_table(family)))
    family = Family("mine", check=needing(A=matrix))
    rows = load(file, task="unsupervised", drop=["a", "label"])
    assert np.array_equal(data_from_table(family, rows)["A"], X[:, 1:])
