"""Plug-ins on the command line.

Families of a module are listed, shown and compared in several processes; failures are
reported in sentences.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from equimargin.estimators import MarginClassifier
from equimargin.formulations import linear
from equimargin.formulations.kernels.kernel import Linear
from equimargin.formulations.kernels.registry import KERNELS
from equimargin.own import Kernel, kernel
from places import HANG, ROOT
from schema import faults

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Return a function that runs the program in a folder with brought.py as a plug-in."""
    shutil.copyfile(ROOT / "tests" / "brought.py", tmp_path / "brought.py")
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), os.environ.get("EXTRA_PATH", "")]),
    }

    def command(*arguments: str) -> subprocess.CompletedProcess[str]:
        whole = [sys.executable, "-m", "equimargin", *arguments]
        return subprocess.run(
            whole,
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=HANG,
        )

    return command


@pytest.mark.slow
def test_a_family_of_a_plug_in_is_compared_in_two_processes(run: Run, tmp_path: Path) -> None:
    data = {"X": [[1.0, 0.0], [2.0, 1.0], [0.5, 2.0]], "nu": 0.5}
    (tmp_path / "data.json").write_text(json.dumps(data), encoding="utf-8")
    arguments = (
        "--plugin",
        "brought",
        "--family",
        "test.ocsvm",
        "--jobs",
        "2",
        "--json",
        "out.json",
    )
    found = run("compare", "data.json", *arguments)
    assert found.returncode == 0, found.stdout + found.stderr
    assert "test.ocsvm, read from data.json: X 3 x 2, nu 0.5" in found.stdout
    record = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))
    assert not list(faults(record, "compare"))
    assert record["families"][0]["verdict"] == "agree"
    assert {answer["solver"] for answer in record["answers"]} >= {"CLARABEL", "test.ocsvm.libsvm"}
    with_control = run("compare", "data.json", *arguments, "--include-controls")
    assert with_control.returncode == 0, with_control.stdout + with_control.stderr
    np.savez(
        tmp_path / "data.npz",
        **{name: np.array(value) for name, value in data.items()},  # type: ignore[arg-type]
    )
    assert (
        run(
            "compare",
            "data.npz",
            "--plugin",
            "brought.py",
            "--family",
            "test.ocsvm",
            "--solver",
            "CLARABEL",
        ).returncode
        == 0
    )


NOISY = """
import ctypes, os
os.write(1, b"a banner by a file descriptor\\n")
ctypes.CDLL(None).puts(b"a banner by C, which is flushed at the end")
"""


@pytest.mark.slow
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_nothing_but_the_record_goes_to_standard_output(
    run: Run, tmp_path: Path, jobs: str
) -> None:
    (tmp_path / "noisy.py").write_text(NOISY, encoding="utf-8")
    few = (
        "--plugin",
        "noisy",
        "--family",
        "svm.soft",
        "--formulation",
        "svm.soft.primal",
        "--solver",
        "CLARABEL",
    )
    found = run("compare", "xor", *few, "--jobs", jobs, "--json", "-")
    assert not list(faults(json.loads(found.stdout), "compare"))


PRINTING = """
from brought import ocsvm
from equimargin.own import solver
print("printed at import")
def applies(data):
    print("printed by a requirement")
    return "no data are taken"
@ocsvm.formulation("printing", applies=applies)
def refused(data):
    \"\"\"No problem.\"\"\"
@solver("test.ocsvm.printing", ocsvm, accuracy=1e-6)
def printing(problem):
    \"\"\"No answer, but a word.\"\"\"
    print("printed by a solver")
    raise ValueError("no answer")
"""


@pytest.mark.slow
@pytest.mark.parametrize("file", ["-", "out.json"])
def test_what_a_plug_in_prints_goes_to_standard_error(run: Run, tmp_path: Path, file: str) -> None:
    (tmp_path / "printing.py").write_text(PRINTING, encoding="utf-8")
    few = (
        "--plugin",
        "printing",
        "--family",
        "test.ocsvm",
        "--solver",
        "test.ocsvm.printing",
        "--solver",
        "CLARABEL",
    )
    found = run("compare", "--draw", "1", *few, "--json", file)
    assert not re.search("printed (at|by)", found.stdout)
    assert found.stderr.count("printed at import\n") == 1
    assert "printed by a solver\n" in found.stderr
    assert "printed by a requirement\n" in found.stderr
    record = json.loads(
        found.stdout if file == "-" else (tmp_path / file).read_text(encoding="utf-8")
    )
    assert not list(faults(record, "compare"))


def test_data_are_drawn(run: Run) -> None:
    found = run(
        "compare",
        "--plugin",
        "brought",
        "--family",
        "test.ocsvm",
        "--draw",
        "4",
        "--solver",
        "CLARABEL",
    )
    assert "test.ocsvm, sampled with seed 4: X" in found.stdout
    assert found.returncode == 0, found.stdout + found.stderr


@pytest.mark.slow
def test_lists_say_where_things_come_from(run: Run) -> None:
    assert "[--plugin brought]" in run("list", "families", "--plugin", "brought").stdout
    solvers = run("list", "solvers", "--plugin", "brought").stdout
    assert [
        line
        for line in solvers.splitlines()
        if line.startswith("test.ocsvm.libsvm") and "[--plugin brought]" in line
    ]
    families = run("list", "families").stdout
    assert re.search(r"(?m)^coupling.wlw [^[]*$", families)
    assert re.search(r"(?m)^lasso .*\[bundled, not in the documents\]$", families)
    assert re.search(r"(?m)^svm.soft [^[]*$", families)
    assert "--plugin MODULE loads one" in run("list", "plugins").stdout
    found = re.search(
        r"Data of --draw 1, in the format of a JSON file\n  (.*)\n",
        run("show", "one_class").stdout,
    )
    assert found is not None
    assert json.loads(found[1]).keys() == {"X", "nu"}
    assert "--draw" not in run("show", "test.nothing", "--plugin", "brought").stdout
    shown = run("show", "test.ocsvm.dual", "--plugin", "brought").stdout
    assert "Estimating the Support" in shown
    assert "LaTeX" in shown


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ("list", "families", "--plugin", "nowhere"),
            "the plug-in nowhere cannot be loaded: ModuleNotFoundError",
        ),
        (("list", "families", "--plugin", "nowhere.py"), "the plug-in nowhere.py does not exist"),
        (("list", "families", "--plugin", "broken.py"), "KeyError: 'missing' (broken.py, line 2)"),
        (
            ("list", "families", "--plugin", "brought", "--plugin", "other/brought.py"),
            "rename the file",
        ),
        (("compare", "--family", "test.none", "--draw", "1"), "unknown family 'test.none'"),
        (
            ("compare", "--family", "svm.soft", "--draw", "1"),
            "--draw needs the name of a user-defined family",
        ),
        (
            ("compare", "--plugin", "brought", "--family", "test.nothing", "--draw", "1"),
            "has no data strategy",
        ),
        (
            ("compare", "--plugin", "brought", "--family", "test.ocsvm"),
            "needs data: a file, or --draw SEED",
        ),
        (
            ("compare", "x", "--plugin", "brought", "--family", "test.ocsvm", "--draw", "1"),
            "needs data: a file, or --draw SEED",
        ),
        (
            ("compare", "broken.json", "--plugin", "brought", "--family", "test.ocsvm"),
            "broken.json cannot be read",
        ),
        (
            ("compare", "brought.py", "--plugin", "brought", "--family", "test.ocsvm"),
            "reads no table; give it check=needing(X=matrix, ...), or load=function",
        ),
        (
            ("compare", "--plugin", "brought", "--family", "test.ocsvm", "--draw", "1", "-C", "2"),
            "--cost does not apply to test.ocsvm",
        ),
        (("compare",), "missing argument 'DATA'"),
        (
            ("compare", "broken.json"),
            "broken.json: a JSON file has the data of a user-defined family; name it "
            "with --family ID",
        ),
        (
            ("compare", "broken.json", "--plugin", "brought", "--family", "test.ocsv"),
            "unknown family 'test.ocsv'; did you mean test.ocsvm",
        ),
        (
            ("compare", "broken.json", "--family", "elsewhere"),
            "`equimargin list families` has all, and --plugin MODULE registers more",
        ),
    ],
)
def test_failures_are_sentences(
    run: Run, tmp_path: Path, arguments: tuple[str, ...], said: str
) -> None:
    (tmp_path / "broken.py").write_text("known = {}\nknown['missing']\n", encoding="utf-8")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "brought.py").write_text("", encoding="utf-8")
    (tmp_path / "broken.json").write_text("[1", encoding="utf-8")
    found = run(*arguments)
    assert found.returncode == 2, found.stdout + found.stderr
    assert said in found.stderr
    assert "Traceback" not in found.stderr


@pytest.mark.parametrize(
    "arguments",
    [("compare", "--family", "lasso", "--draw", "1"), ("same", "lasso.primal", "lasso.dual")],
)
def test_drawing_without_hypothesis_says_what_to_install(arguments: tuple[str, ...]) -> None:
    code = (
        "import sys; sys.modules['hypothesis'] = None; from equimargin.cli.app import main; main()"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    command = [sys.executable, "-c", code, *arguments]
    found = subprocess.run(
        command, env=environment, capture_output=True, text=True, encoding="utf-8", timeout=HANG
    )
    assert (found.returncode, found.stdout) == (2, "")
    said = "equimargin: sampling data needs hypothesis: pip install 'equimargin[testing]'\n"
    assert found.stderr == said


PROGRAMS = """
import math
import cvxpy as cp
from equimargin.own import Family

def stated(name, make, **how):
    Family(name).formulation("primal", **how)(make)

x = cp.Variable
stated("own_far", lambda d: (v := x(2, name="v")) is None or \
cp.Problem(cp.Minimize(cp.norm(v - d["a"])), [v >= 1]))
stated("own_nothing", lambda d: (v := x(name="v")) is None or \
cp.Problem(cp.Minimize(v), [v >= 1, v <= d["a"][0]]))
stated("own_endless", lambda d: (v := x(name="v")) is None or \
cp.Problem(cp.Maximize(v), [v >= d["a"][0]]))
stated("own_broken", lambda d: d["b"])
rooted = lambda d: (v := x(name="v")) is None or \
cp.Problem(cp.Minimize(cp.square(v)), [v >= d["a"][1]])
stated("own_rooted", rooted, value=lambda value, d: math.sqrt(float(value)))
"""
"""Families whose data have a = (0, 3)."""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("family", "proved"),
    [
        ("own_far", "the optimum is in [1.0, 1.0000000000000002]"),
        ("own_nothing", "no point is feasible"),
        ("own_endless", "the objective has no lower bound"),
        ("own_rooted", "the optimum is in [9.0, 9.0]"),
    ],
)
def test_the_definition_of_a_family_is_certified(
    run: Run, tmp_path: Path, family: str, proved: str
) -> None:
    """They are a quadratic program, a cone program, and two with rays.

    The checker, which does not know plug-ins, accepts their certificates.
    """
    (tmp_path / "programs.py").write_text(PROGRAMS, encoding="utf-8")
    (tmp_path / "data.json").write_text('{"a": [0, 3]}', encoding="utf-8")
    found = run(
        "compare", "data.json", "--family", family, "--plugin", "programs.py", "--certify", "proofs"
    )
    file = f"proofs/{family}.json"
    assert found.stdout.splitlines()[-1] == f"{family}: certificate {file}"
    checked = run("verify", file)
    assert (checked.returncode, checked.stdout.splitlines()[0]) == (
        0,
        f"{file}: ACCEPTED: program: {proved}",
    )


def test_a_family_without_a_certificate_says_why(run: Run, tmp_path: Path) -> None:
    (tmp_path / "programs.py").write_text(PROGRAMS, encoding="utf-8")
    (tmp_path / "data.json").write_text('{"a": [0, 3]}', encoding="utf-8")
    found = run(
        "compare",
        "data.json",
        "--family",
        "own_broken",
        "--plugin",
        "programs.py",
        "--certify",
        "proofs",
    )
    assert (
        found.stdout.splitlines()[-1]
        == "own_broken: no certificate: its definition cannot be certified: KeyError: 'b'"
    )
    assert list((tmp_path / "proofs").iterdir()) == []


@pytest.mark.slow
def test_what_a_value_map_computes_in_floats_is_not_called_proven(run: Run, tmp_path: Path) -> None:
    """It is not marked as proven on the family's line, in the wide table or the record."""
    (tmp_path / "programs.py").write_text(PROGRAMS, encoding="utf-8")
    (tmp_path / "data.json").write_text('{"a": [0, 3]}', encoding="utf-8")
    arguments = (
        "compare",
        "data.json",
        "--family",
        "own_rooted",
        "--plugin",
        "programs.py",
        "--jobs",
        "2",
        "--json",
        "out.json",
    )
    page, wide = run(*arguments).stdout, run(*arguments, "--wide").stdout
    assert re.search(r"(?m)^own_rooted +optimum 3, \d+ digits not proven \(width", page)
    assert "optimum, not proven, in [2.99999999999, 3.00000000001]" in wide
    said = "The result of the value map in floats is not proven."
    assert said in page
    record = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))
    assert record["families"][0]["note"].endswith(said[1:-1])


KERNEL = '''
from dataclasses import dataclass
from equimargin.formulations import linear, rbf
from equimargin.own import Kernel, kernel

@kernel("both")
@dataclass(frozen=True)
class Both(Kernel):
    """k(x, z) = x.z + exp(-gamma |x - z|^2)."""
    gamma: float = 1.0

    def block(self, X, Z):
        return linear().block(X, Z) + rbf(self.gamma).block(X, Z)

    def diagonal(self, X):
        return linear().diagonal(X) + 1.0

    def rounding(self, X, Z, K, v):
        parts = linear(), rbf(self.gamma)
        return sum(part.rounding(X, Z, part.block(X, Z), v) for part in parts) \
+ 2.0**-52 * self.magnitude(X, Z, K, v)

    def diagonal_bound(self, X):
        return 2 * (linear().diagonal_bound(X) + rbf(self.gamma).diagonal_bound(X))
'''
"""Plug-in that registers a kernel."""


@pytest.mark.slow
def test_a_kernel_of_a_plug_in_is_compared_in_two_processes(run: Run, tmp_path: Path) -> None:
    """It is listed, shown, recorded and followed along its path.

    A certificate is refused, because the checker does not know the kernel.
    """
    (tmp_path / "kernels.py").write_text(KERNEL, encoding="utf-8")
    few = ("--family", "svm.nobias", "--solver", "CLARABEL", "--solver", "coordinate_descent")
    arguments = (
        "compare",
        "xor",
        "--plugin",
        "kernels",
        "--kernel",
        "both",
        "--gamma",
        "0.5",
        *few,
    )
    found = run(*arguments, "--jobs", "2", "--json", "out.json", "--certify", "proofs")
    assert found.returncode == 0, found.stdout + found.stderr
    assert "both kernel (gamma=0.5)" in found.stdout
    assert found.stdout.splitlines()[-1].startswith(
        "svm.nobias: no certificate: a certificate needs a kernel that its checker computes"
    )
    record = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))
    assert record["settings"]["kernel"] == {"name": "both", "gamma": 0.5}
    assert not list(faults(record, "compare"))
    listed = run("list", "kernels", "--plugin", "kernels").stdout
    assert re.search(r"(?m)^both +k\(x, z\) = .*\[--plugin kernels\]$", listed)
    assert "Parameters   gamma = 1" in run("show", "both", "--plugin", "kernels").stdout
    assert run("path", "xor", "--kernel", "both", "--plugin", "kernels").returncode == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--kernel", "bth"), "did you mean both?"),
        (
            ("--kernel", "both", "--coef0", "1"),
            "--coef0 is not for the both kernel, which has --gamma",
        ),
        (
            ("--kernel", "both", "--degree", "3"),
            "--degree is not for the both kernel, which has --gamma",
        ),
    ],
)
def test_wrong_options_of_a_kernel_are_sentences(
    run: Run, tmp_path: Path, arguments: tuple[str, ...], said: str
) -> None:
    (tmp_path / "kernels.py").write_text(KERNEL, encoding="utf-8")
    found = run("compare", "xor", "--plugin", "kernels", *arguments)
    assert (found.returncode, found.stdout, found.stderr.count("\n")) == (2, "", 1)
    assert said in found.stderr


def test_a_kernel_that_cannot_be_one_is_refused() -> None:
    """Every registered kernel is used in computations.

    A built-in kernel with overridden values would be computed as the built-in one.
    """

    @dataclass(frozen=True)
    class Unfinished(Kernel):
        gamma: float

    @dataclass(frozen=True)
    class Wide(Linear):
        gamma: float = 1.0

    methods = ("block", "diagonal", "diagonal_bound", "rounding")
    finished: Any = dataclass(frozen=True)(
        type("Finished", (Kernel,), dict.fromkeys(methods, np.zeros))
    )
    for name, made, said in (
        ("Big", Unfinished, "lower-case letters, digits and underscores"),
        ("rbf", finished, "registered already"),
        ("wide", Wide, "no kernel of the project, as its base"),
        ("number", float, "must be a dataclass with Kernel"),
        ("unfinished", Unfinished, "has no block, diagonal, diagonal_bound, rounding"),
    ):
        with pytest.raises(ValueError, match=said):
            kernel(name)(made)  # type: ignore[type-var]


def test_estimators_take_a_kernel_by_its_name() -> None:
    """The estimator passes the kernel's parameters; the optimum is that of the kernel."""

    @kernel("test_sum")
    @dataclass(frozen=True)
    class Sum(Kernel):
        gamma: float = 1.0

        def block(self, X: Any, Z: Any) -> Any:
            return linear().block(X, Z) * self.gamma

        def diagonal(self, X: Any) -> Any:
            return linear().diagonal(X) * self.gamma

        def rounding(self, X: Any, Z: Any, K: Any, v: Any) -> Any:
            return 2 * self.gamma * linear().rounding(X, Z, K, v) + 2.0**-50 * self.magnitude(
                X, Z, K, v
            )

        def diagonal_bound(self, X: Any) -> Any:
            return 2 * self.gamma * linear().diagonal_bound(X)

    try:
        X = np.random.default_rng(0).normal(size=(20, 2))
        y = np.where(X[:, 0] + 0.3 * X[:, 1] ** 2 > 0, 1, -1)
        by_name = MarginClassifier(C=2.0, kernel="test_sum", gamma=0.25).fit(X, y).objective_bounds_
        doubled = MarginClassifier(C=2.0).fit(0.5 * X, y).objective_bounds_
        assert by_name[0] <= doubled[1]
        assert doubled[0] <= by_name[1]
        with pytest.raises(ValueError, match="test_sum"):
            MarginClassifier(kernel="test_summ").fit(X, y)
    finally:
        del KERNELS["test_sum"]
