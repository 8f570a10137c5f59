"""Solutions: prediction, one-line printing, saving and loading.

Files that are no solutions are refused by a message.
"""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from equimargin.formulations import (
    MarginProblem,
    Problem,
    classification,
    interval,
    one_norm_ranking,
    polynomial,
    precomputed,
    ranking,
    ranking_from_pairs,
    ranking_vector_machine,
    rbf,
    regression,
    sigmoid,
)
from equimargin.formulations.kernels import kernel
from equimargin.formulations.rows.listed import Signed
from equimargin.formulations.rows.pair_multipliers import PairMultipliers
from equimargin.solvers import Limits, Solution, regularization_path, solve
from equimargin.solvers.dual.variable_margin import solve_variable_margin
from narrow import as_a
from places import HANG, ROOT

RNG = np.random.default_rng(0)
X = RNG.normal(size=(24, 3))
Y = np.digitize(X[:, 0] + RNG.normal(size=24), [-0.5, 0.5]).astype(float)
SIGNS = np.where(Y > 0, 1.0, -1.0)
QUERIES = np.repeat([0, 1], 12)
K = X @ X.T
PROBLEMS: dict[str, Problem] = {
    "classification": classification(X, SIGNS, 2.0, rbf(0.3), sample_weight=np.linspace(0, 2, 24)),
    "penalized": classification(sparse.csr_array(X), SIGNS, 2.0, bias="penalized"),
    "hard": classification(X, np.where(X[:, 0] > 0, 1.0, -1.0), np.inf),
    "precomputed": classification((K + K.T) / 2, SIGNS, loss="squared_hinge", kernel=precomputed()),
    "sigmoid": classification(X, SIGNS, kernel=sigmoid(0.1)),
    "regression": regression(X, Y, 0.5, 0.2, polynomial(2)),
    "ranking": ranking(X, Y, QUERIES, per_query="mean"),
    "squared ranking": ranking(X, Y, QUERIES, loss="squared_hinge", kernel=rbf(1.0)),
    "pairs": ranking_from_pairs(X, [[0, 1], [1, 2], [5, 3]]),
    "one norm": one_norm_ranking(X, Y, QUERIES),
    "points": ranking_vector_machine(X, Y, QUERIES, kernel=rbf(1.0)),
}


@pytest.mark.parametrize("name", PROBLEMS)
def test_a_solution_is_the_same_after_a_file(name: str, tmp_path: Path) -> None:
    found = solve(PROBLEMS[name])
    found.save(tmp_path / "solution.npz")
    again = Solution.load(tmp_path / "solution.npz")
    new = K[:5] if name == "precomputed" else X[:5]
    np.testing.assert_array_equal(again.decision_function(new), found.decision_function(new))
    assert (again.interval.lower, again.interval.upper) == (found.lower, found.upper)
    assert repr(again) == repr(found)
    assert (again.problem.family, again.problem.kernel, again.reason) == (
        found.problem.family,
        found.problem.kernel,
        found.reason,
    )


@pytest.mark.parametrize(
    ("kernel_of_file", "shift"),
    [(precomputed(), 0.0), (rbf(1.0), 100.0)],
    ids=["indefinite", "no matrix"],
)
def test_a_file_cannot_claim_that_a_matrix_is_positive_semidefinite(
    tmp_path: Path, kernel_of_file: Any, shift: float
) -> None:
    file = tmp_path / "solution.npz"
    solve(
        classification((K + K.T) / 2 - 2 * np.eye(24), SIGNS, kernel=kernel_of_file), tol=1e-3
    ).save(file)
    with np.load(file) as archive:
        arrays = dict(archive)
    words = json.loads(str(arrays.pop("about"))) | {"shift": shift}
    np.savez(file, about=np.array(json.dumps(words)), **arrays)
    with pytest.raises(
        ValueError, match=r"its shift .* does not make its kernel matrix positive semidefinite"
    ):
        Solution.load(file)


def test_a_file_cannot_hold_an_asymmetric_gram_matrix(tmp_path: Path) -> None:
    file = tmp_path / "solution.npz"
    solve(PROBLEMS["precomputed"]).save(file)
    with np.load(io.BytesIO(file.read_bytes())) as archive:
        arrays = dict(archive)
    # The lower triangle, which is factorised, stays that of a semidefinite matrix.
    arrays["X"][0, 1] += 100.0
    np.savez(file, **arrays)
    with pytest.raises(ValueError, match="its Gram matrix must be square, symmetric and dense"):
        Solution.load(file)


def test_duplicate_entries_of_a_file_are_summed(tmp_path: Path) -> None:
    file = tmp_path / "solution.npz"
    found = solve(PROBLEMS["penalized"])
    found.save(file)
    with np.load(io.BytesIO(file.read_bytes())) as archive:
        arrays = dict(archive)
    half = arrays["X_data"][:1] / 2
    arrays["X_data"] = np.concatenate([half, half, arrays["X_data"][1:]])
    arrays["X_indices"] = np.concatenate([arrays["X_indices"][:1], arrays["X_indices"]])
    arrays["X_indptr"][1:] += 1
    np.savez(file, **arrays)
    np.testing.assert_array_equal(Solution.load(file).problem.X.toarray(), X)
    assert Solution.load(file).problem.X.nnz == found.problem.X.nnz


def test_a_kernel_that_no_file_can_name_is_refused_before_anything_is_written(
    tmp_path: Path,
) -> None:
    class RBF(kernel.RBF):
        """Different kernel of equal name."""

    found = solve(classification(X, SIGNS, kernel=RBF(0.3)))
    with pytest.raises(
        ValueError,
        match=r"RBF\(gamma=0.3\) cannot be written to a file, which supports only Linear, Poly",
    ):
        found.save(tmp_path / "solution.npz")
    assert not list(tmp_path.iterdir())


def test_a_table_keeps_its_columns_and_pairs_that_were_not_stored_are_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = solve(ranking(X, Y, loss="squared_hinge"), "newton")
    assert not isinstance(found.dual, np.ndarray)
    found = replace(found, problem=replace(found.problem, feature_names=("a", "b", "c")))
    found.save(tmp_path / "solution.npz")
    again = Solution.load(tmp_path / "solution.npz")
    assert again.problem.feature_names == ("a", "b", "c")
    np.testing.assert_array_equal(
        as_a(np.ndarray, again.dual), as_a(PairMultipliers, found.dual).to_array()
    )
    assert again.lower == pytest.approx(found.lower, rel=1e-9)
    assert again.upper == pytest.approx(found.upper, rel=1e-12)
    # 173 pairs are now too many to store, and to recover.
    for module in ("solvers.solution", "formulations.bounds.multipliers_from_f"):
        monkeypatch.setattr(f"equimargin.{module}.LISTED_PAIRS", 100)
    found.save(tmp_path / "solution.npz")
    without = Solution.load(tmp_path / "solution.npz")
    assert without.dual is None
    assert without.lower == -np.inf
    assert without.upper == again.upper


def test_predictions_are_labels_targets_or_scores() -> None:
    labels = solve(PROBLEMS["classification"]).predict(X)
    assert set(labels) == {-1.0, 1.0}
    assert (labels == SIGNS)[6:].mean() > 0.7
    nothing = solve(classification(X, SIGNS, bias=False, sample_weight=np.zeros(24)))
    # Here f = 0.
    assert (nothing.predict(X) == 1.0).all()
    for name in ("regression", "ranking"):
        found = solve(PROBLEMS[name])
        np.testing.assert_array_equal(found.predict(X), found.decision_function(X))


def test_problems_and_solutions_are_one_line() -> None:
    assert (
        repr(PROBLEMS["classification"])
        == "<MarginProblem svm.soft: 24 rows of 24 points with 3 features, RBF(gamma=0.3), C=2>"
    )
    assert (
        repr(PROBLEMS["precomputed"])
        == "<MarginProblem svm.l2: 24 rows of 24 points, Precomputed(), C=1>"
    )
    assert repr(PROBLEMS["one norm"]).startswith("<OneNormProblem rank.onenorm: ")
    found = solve(PROBLEMS["penalized"], "coordinate_descent")
    assert repr(found).endswith(f" s; of {PROBLEMS['penalized']!r}>")
    assert re.match(
        "<Solution by coordinate_descent: optimal after [1-9][0-9,]* iterations, ", repr(found)
    )
    assert repr(replace(found, iterations=None, seconds=0.5)).startswith(
        "<Solution by coordinate_descent: optimal after 0.5 s; of "
    )
    for problem in PROBLEMS.values():
        assert "\n" not in repr(problem)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            {"about": {"format": "equimargin solution 0"}},
            "its format is not 'equimargin solution 1'",
        ),
        ({"about": {"status": "wonderful"}}, "'wonderful' is not a valid Status"),
        ({"about": {"C": -1}}, "its C must be a positive number, not -1"),
        ({"about": {"loss": "log"}}, "its loss 'log' is unknown"),
        (
            {"about": {"over": "queries"}},
            "its variables, rows and costs do not form a one-norm problem",
        ),
        (
            {"point_alpha": np.zeros(3)},
            r"the point's alpha must be a multiplier for each row, of shape \(24,\), and is "
            r"of shape \(3,\)",
        ),
        ({"point_alpha": np.full(24, np.nan)}, "the point's alpha must be finite numbers"),
        ({"point_x": np.zeros(24)}, "a point of a svm.soft problem has no x"),
        ({"y": np.arange(24.0)}, "its rows 'Signed' are unknown, or their labels do not fit"),
        ({"target": np.array(np.nan)}, "its rows 'Signed' are unknown, or their labels do not fit"),
        (
            {"about": {"over": "rows"}, "target": np.array(2.0)},
            "its variables, rows and costs do not form a one-norm problem",
        ),
    ],
)
def test_a_file_that_is_no_solution_is_refused(
    tmp_path: Path, change: dict[str, Any], words: str
) -> None:
    file = tmp_path / "solution.npz"
    solve(PROBLEMS["classification"]).save(file)
    with np.load(io.BytesIO(file.read_bytes())) as archive:
        arrays = {name: archive[name] for name in archive.files}
    about = json.loads(str(arrays["about"])) | change.pop("about", {})
    np.savez(file, **arrays | change | {"about": np.array(json.dumps(about))})
    with pytest.raises(ValueError, match=f"solution.npz is no solution: {words}"):
        Solution.load(file)


def test_a_file_keeps_the_margin_of_a_problem_whose_margin_is_a_variable(tmp_path: Path) -> None:
    file = tmp_path / "solution.npz"
    found = solve_variable_margin(classification(X, SIGNS, kernel=rbf(1.0)), 0.4, Limits())
    found.save(file)
    again = type(found).load(file)
    assert as_a(Signed, again.problem.rows).target == found.rho != 1.0
    assert again.interval == interval(found.problem, found.point)


def test_a_file_keeps_the_multipliers_of_many_listed_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("equimargin.solvers.solution.LISTED_PAIRS", 10)
    assert Solution.load(saved(tmp_path)).point.has_multipliers


def test_what_is_no_file_of_ours_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        Solution.load(tmp_path / "nowhere.npz")
    (tmp_path / "text.npz").write_text("text")
    with pytest.raises(ValueError, match="is no solution"):
        Solution.load(tmp_path / "text.npz")
    np.savez(tmp_path / "arrays.npz", X=X)
    with pytest.raises(ValueError, match="is no solution: 'about' is missing"):
        Solution.load(tmp_path / "arrays.npz")


def saved(folder: Path) -> Path:
    """Return the file of a solution."""
    file = folder / "solution.npz"
    solve(PROBLEMS["classification"]).save(file)
    return file


def test_every_refusal_names_the_file_and_says_what_to_do(tmp_path: Path) -> None:
    file = saved(tmp_path)
    content = file.read_bytes()
    part = "it is no NPZ archive, or only a part of one"
    for damaged, wrong in (
        (content[: len(content) // 2], part),
        (b"", part),
        (b"text", part),
        (content[:500] + bytes(200) + content[700:], ""),
    ):
        file.write_bytes(damaged)
        with pytest.raises(
            ValueError,
            match=rf"solution.npz is no solution: {wrong}.*; give a file that save\(\) wrote",
        ):
            Solution.load(file)
    regularization_path(as_a(MarginProblem, PROBLEMS["classification"])).save(tmp_path / "path.npz")
    with pytest.raises(
        ValueError,
        match=r"path.npz is no solution: its format is not 'equimargin solution 1'; give a file",
    ):
        Solution.load(tmp_path / "path.npz")
    with pytest.raises(
        FileNotFoundError,
        match=r"nowhere.npz cannot be read: No such file .*; give the path of a solution",
    ):
        Solution.load(tmp_path / "nowhere.npz")
    with pytest.raises(
        IsADirectoryError, match="cannot be read: Is a directory; give the path of a solution"
    ):
        Solution.load(tmp_path)
    with pytest.raises(
        FileNotFoundError,
        match=r"missing/solution.npz cannot be written: No such file .*; name a file in a folder "
        r"that exists",
    ):
        solve(PROBLEMS["classification"]).save(tmp_path / "missing" / "solution.npz")


def test_want_of_memory_is_no_fault_of_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def exhausted(*_: object) -> None:
        raise MemoryError

    file = saved(tmp_path)
    monkeypatch.setattr("equimargin.solvers.solution.unpacked", exhausted)
    with pytest.raises(MemoryError):
        Solution.load(file)


def test_a_file_is_written_whole_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def half(out: Any, **_: object) -> None:
        out.write(b"half of it")
        raise OSError("the disk is full")

    file = saved(tmp_path)
    before = file.read_bytes()
    monkeypatch.setattr(np, "savez_compressed", half)
    with pytest.raises(OSError, match="the disk is full"):
        solve(PROBLEMS["regression"]).save(file)
    assert (list(tmp_path.iterdir()), file.read_bytes()) == ([file], before)


SAVING = """
import sys
from equimargin.solvers import Solution
found = Solution.load(sys.argv[1])
for _ in range(80):
    found.save(sys.argv[2])
"""


def test_two_processes_that_save_to_one_file_leave_it_whole(tmp_path: Path) -> None:
    source, target = saved(tmp_path), tmp_path / "target.npz"
    wanted = repr(Solution.load(source))
    Solution.load(source).save(target)
    command = [sys.executable, "-c", SAVING, str(source), str(target)]
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    writers = [
        subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    while any(writer.poll() is None for writer in writers):
        assert repr(Solution.load(target)) == wanted
    assert [(writer.communicate(timeout=HANG)[1], writer.returncode) for writer in writers] == [
        ("", 0),
        ("", 0),
    ]
    assert repr(Solution.load(target)) == wanted
    assert sorted(tmp_path.iterdir()) == sorted([source, target])


def test_save_follows_no_link_that_was_laid_in_its_way(tmp_path: Path) -> None:
    folder, victim = tmp_path / "folder", tmp_path / "victim.npz"
    folder.mkdir()
    victim.write_text("somebody else's", encoding="utf-8")
    for name in (".out.part.npz", ".equimargin-.npz", ".out.npz"):
        (folder / name).symlink_to(victim)
    solve(PROBLEMS["classification"]).save(folder / "out.npz")
    assert victim.read_text(encoding="utf-8") == "somebody else's"


@pytest.mark.parametrize("mode", [0o600, 0o644])
def test_save_keeps_the_permissions_of_the_file_that_it_replaces(tmp_path: Path, mode: int) -> None:
    file = saved(tmp_path)
    file.chmod(mode)
    Solution.load(file).save(file)
    assert file.stat().st_mode & 0o777 == mode


def test_a_link_stays_a_link_and_a_pipe_is_written_to(tmp_path: Path) -> None:
    link, found = tmp_path / "link.npz", solve(PROBLEMS["classification"])
    link.symlink_to(saved(tmp_path))
    found.save(link)
    assert link.is_symlink()
    assert repr(Solution.load(tmp_path / "solution.npz")) == repr(found)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with ThreadPoolExecutor() as pool:
        read = pool.submit(pipe.read_bytes)
        found.save(pipe)
    (tmp_path / "read.npz").write_bytes(read.result(HANG))
    assert pipe.is_fifo()
    assert repr(Solution.load(tmp_path / "read.npz")) == repr(found)
