"""Kernels of the card: compiled by NVRTC where it is installed, and run as C++."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from emulated.kernels import EmulatedKernel, needs_a_compiler
from equimargin.formulations import Kernel, linear, polynomial, rbf
from equimargin.formulations.kernels.exponential import Exponential
from equimargin.formulations.numeric.arrays import Array
from equimargin.solvers.device.batch import LOOK_THREADS
from equimargin.solvers.device.card import OPTIONS, source
from equimargin.solvers.device.multiplier import OPTIONS_OF_PROOFS, proof_macros
from equimargin.solvers.device.pairs import THREADS, pair_macros
from equimargin.solvers.device.products import formula, int32, macros, split_rows
from equimargin.solvers.dual.smo_problem import SeparablePart
from equimargin.solvers.dual.working_set import pair_steps

KERNELS = [rbf(0.05), rbf(1e4), linear(), polynomial(3, 0.1, 0.5), Exponential(0.3)]
PRECISIONS = [np.float32, np.float64]
RNG = np.random.default_rng(5)
X = RNG.normal(size=(150, 19)) + 3.0
ROWS = RNG.permutation(150)[:140]
V = RNG.normal(size=140)


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the compiled kernels."""
    return tmp_path_factory.mktemp("kernels")


def nvrtc() -> Any:
    """Return CuPy's interface of NVRTC, which needs no card; skip the test without it."""
    pytest.importorskip("cupy")
    from cupy_backends.cuda.libs import nvrtc

    try:
        nvrtc.getVersion()
    except Exception as missing:  # CuPy raises an error of its own for a missing library.
        pytest.skip(f"NVRTC is missing: {missing}")
    return nvrtc


def compiled(text: str, options: tuple[str, ...], virtual: bool = False) -> bytes:
    """Return the code of a kernel for an H100, or its PTX; fail with the compiler's message."""
    compiler = nvrtc()
    program = compiler.createProgram(text, "kernel.cu", (), ())
    try:
        kind = "compute" if virtual else "sm"
        compiler.compileProgram(program, (*OPTIONS, f"--gpu-architecture={kind}_90", *options))
    except compiler.NVRTCError:
        pytest.fail(compiler.getProgramLog(program))
    if virtual:
        text = compiler.getPTX(program)
        return text if isinstance(text, bytes) else text.encode()
    return bytes(compiler.getCUBIN(program))


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_products_compile(kernel: Kernel, precision: Any) -> None:
    found = formula(kernel, X, 1.5)
    text = source("product", macros(precision, found.join, found.value))
    code = compiled(text, ())
    assert b"product" in code
    assert b"block" in code


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("points", THREADS)
def test_pair_steps_compile(points: int, precision: Any) -> None:
    threads = THREADS[points]
    text = source("pairs", pair_macros(threads, points // threads, precision))
    assert b"pair_steps" in compiled(text, ())


def test_parts_of_a_round_compile() -> None:
    code = compiled(source("lockstep", {"THREADS": LOOK_THREADS}), ())
    assert all(name in code for name in (b"look", b"gather", b"follow"))


def test_product_of_proofs_has_only_operations_of_ieee_754() -> None:
    text = source("product", proof_macros(rbf(0.3)))
    code = compiled(text, OPTIONS_OF_PROOFS, virtual=True).decode()
    operations = set(re.findall(r"\t([a-z0-9]+(?:\.[a-z0-9]+)*\.f(?:16|32|64))\s", code))
    rounded = {name for name in operations if name.split(".")[0] in {"add", "sub", "mul", "fma"}}
    # Without ".rn" an addition may be fused with a product, and its rounding is not known.
    assert rounded == {"add.rn.f64", "sub.rn.f64", "mul.rn.f64", "fma.rn.f64"}
    assert not [name for name in operations if "approx" in name or name.endswith(("f16", "f32"))]
    assert "ex2" not in code
    assert "wmma" not in code
    assert "mma.sync" not in code


def entries(kernel: Kernel, unit: float) -> Array:
    """Return K at ROWS / unit, in float64 by differences where the kernel has distances."""
    if isinstance(kernel, type(rbf())):
        squares = ((X[:, None] - X[None, ROWS]) ** 2).sum(axis=2)
        return np.asarray(np.exp(-kernel.gamma * squares) / unit)
    return np.asarray(kernel.block(X, X[ROWS]) / unit)


@needs_a_compiler
@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_blocks_and_products_are_those_of_the_kernel(
    kernel: Kernel, precision: Any, folder: Path
) -> None:
    unit = 1.0 if isinstance(kernel, type(rbf()) | Exponential) else 1.5
    found = formula(kernel, X, unit)
    left = found.left.astype(precision)
    Z = left[ROWS]
    if found.exchanged:
        Z[:, -2:] = Z[:, :-3:-1].copy()
    (n, e), q, side = left.shape, len(ROWS), 128 if precision == np.float32 else 64
    given = macros(precision, found.join, found.value)
    K = np.empty((n, q), precision)
    block = EmulatedKernel("product", "block", given, folder)
    block((-(-n // side), -(-q // side)), (256,), (left, Z, K, *int32(n, q, e)))
    (tiles, parts), per = split_rows(n, q, side)
    out = np.empty((parts, n))
    product = EmulatedKernel("product", "product", given, folder)
    product((tiles, parts), (256,), (left, Z, V, out, *int32(n, q, e, per)))
    expected = entries(kernel, unit)
    error = (2e-5 if precision == np.float32 else 1e-13) * np.abs(expected).max()
    assert np.abs(K - expected).max() <= error
    assert np.abs(out.sum(axis=0) - expected @ V).max() <= 3 * error * np.sqrt(q)


@needs_a_compiler
def test_large_powers_are_finite_in_float32(folder: Path) -> None:
    kernel = polynomial(7, 1e4, 1.0)
    expected = kernel.block(X, X)
    unit = float(expected.diagonal().mean())
    assert unit > float(np.finfo(np.float32).max)
    found = formula(kernel, X, unit)
    left, K = found.left.astype(np.float32), np.empty((150, 150), np.float32)
    given = macros(np.float32, found.join, found.value)
    EmulatedKernel("product", "block", given, folder)(
        (2, 2), (256,), (left, left, K, *int32(150, 150, 19))
    )
    assert np.abs(K - expected / unit).max() <= 2e-5 * expected.max() / unit


@pytest.mark.parametrize(("n", "q"), [(1, 1), (100, 5000), (10_000, 3000), (10**6, 177_000)])
@pytest.mark.parametrize("side", [64, 128])
def test_parts_have_every_row_once(n: int, q: int, side: int) -> None:
    (tiles, parts), per = split_rows(n, q, side)
    assert (tiles - 1) * side < n <= tiles * side
    assert per % side == 0
    assert (parts - 1) * per < q <= parts * per


def pair_problem(name: str, m: int, precision: Any) -> tuple[Any, Any, Array, SeparablePart]:
    """Return K, gradient, variables and separable part of m points at the start of a run."""
    K = rbf(0.05).block(X[:m], X[:m]).astype(np.float32)
    z = np.where(RNG.random(m) < 0.5, 1.0, -1.0)
    top = np.full(m, np.inf if name == "squared hinge" else 2.0)
    lower, upper = np.where(z > 0, 0.0, -top), np.where(z > 0, top, 0.0)
    width = np.zeros(m)
    if name == "tube":
        lower, upper, width, z = -top, top, np.full(m, 0.1), RNG.normal(size=m)
    curvature = RNG.uniform(0.1, 1.0, (2, m)) if name == "squared hinge" else np.zeros((2, m))
    sides = SeparablePart(lower, upper, width, curvature)
    return K, (-z).astype(precision), np.zeros(m), sides


def pair_arguments(
    K: Any, G: Any, a: Array, sides: SeparablePart, eps: float, steps: int, out: Array
) -> tuple[Any, ...]:
    """Return the arguments of the kernel of pair steps for one machine."""
    limits = np.array([eps], np.float32), np.array([steps], np.int32)
    numbers = *int32(len(a)), np.float32(1e-10)
    return (K, np.zeros(1, np.int32), G, a, *sides, *numbers, *limits, out)


@needs_a_compiler
@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("name", ["hinge", "squared hinge", "tube"])
def test_pair_steps_reach_the_optimum_of_the_set(name: str, precision: Any, folder: Path) -> None:
    m, eps = 90, 1e-3
    K, G, a, sides = pair_problem(name, m, precision)
    z, out = -G.astype(np.float64), np.zeros(2)
    kernel = EmulatedKernel("pairs", "pair_steps", pair_macros(32, 3, precision), folder)
    kernel((1,), (32,), pair_arguments(K, G, a, sides, eps, 5000, out))
    assert out[0] < 5000
    assert out[1] <= eps
    assert abs(a.sum()) <= 1e-12 * np.abs(a).sum()
    assert ((sides.lower <= a) & (a <= sides.upper)).all()
    gradient = K.astype(np.float64) @ a - z
    assert np.abs(G - gradient).max() <= 1e-4
    # One-sided slopes, recomputed: none violates optimality by more than eps.
    above, below = sides.width + sides.ridge[1] * a, sides.ridge[0] * a - sides.width
    rise = (gradient + np.where(a >= 0, above, below))[a < sides.upper].min()
    fall = (gradient + np.where(a > 0, above, below))[a > sides.lower].max()
    assert fall - rise <= eps + 2e-4


@needs_a_compiler
@pytest.mark.parametrize("precision", PRECISIONS)
def test_one_pair_step_is_that_of_the_processor(precision: Any, folder: Path) -> None:
    m = 60
    K, _, a, sides = pair_problem("squared hinge", m, precision)
    # Distinct slopes: no tie decides.
    G = RNG.normal(size=m).astype(precision)
    mine, theirs, out = (a.copy(), G.copy()), (a.copy(), G.copy()), np.zeros(2)
    kernel = EmulatedKernel("pairs", "pair_steps", pair_macros(32, 2, precision), folder)
    kernel((1,), (32,), pair_arguments(K, mine[1], mine[0], sides, 1e-3, 3, out))
    steps, violation = pair_steps(K, theirs[1], theirs[0], sides, 1e-10, 1e-3, 3)
    assert out[0] == steps
    assert out[1] == pytest.approx(violation, rel=1e-5)
    assert mine[0] == pytest.approx(theirs[0], rel=1e-5, abs=1e-9)
    assert mine[1] == pytest.approx(theirs[1], rel=1e-4, abs=1e-6)


@needs_a_compiler
@pytest.mark.parametrize("gradient", [1e31, np.inf, np.nan])
def test_places_without_a_point_take_no_step(gradient: float, folder: Path) -> None:
    # 40 points of 32 threads with two places each: 24 places have no point. Their slopes are
    # the least here, and the numbers behind the arrays would allow a step.
    K, bound = np.zeros((64, 40), np.float32), np.full(64, 1e32)
    np.fill_diagonal(K, 1.0)
    G, a, out = np.full(40, gradient), RNG.uniform(-1, 1, 40), np.zeros(2)
    sides = SeparablePart(-bound[:40], bound[:40], np.zeros(64)[:40], np.zeros((2, 40)))
    before = a.copy()
    kernel = EmulatedKernel("pairs", "pair_steps", pair_macros(32, 2, np.float64), folder)
    kernel((1,), (32,), pair_arguments(K, G, a, sides, 1e-3, 100, out))
    assert out[0] == 0
    assert np.array_equal(a, before)
