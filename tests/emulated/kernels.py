"""Kernels of the card, compiled as C++ and run on the processor.

`as_c.h` has the threads, barriers and warp functions of CUDA C. A test that uses it is
skipped where there is no C++ compiler.
"""

from __future__ import annotations

import ctypes
import hashlib
import shutil
import subprocess
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from equimargin.solvers.device.card import source
from places import HANG

SHIM = Path(__file__).with_name("as_c.h")
COMPILER = shutil.which("g++") or shutil.which("clang++")
needs_a_compiler = pytest.mark.skipif(COMPILER is None, reason="there is no C++ compiler")
PARAMETERS = {
    "product": "const REAL* X, const REAL* Z, const double* v, double* out, "
    "int n, int q, int d, int per",
    "block": "const REAL* X, const REAL* Z, REAL* out, int n, int q, int d",
    "pair_steps": "const float* K, const int* slots, REAL* G, double* a, const double* lower, "
    "const double* upper, const double* width, const double* ridge, int q, float floor, "
    "const float* all_eps, const int* all_steps, double* out",
    "look": "const int* slots, const double* a, const double* G, const double* z, "
    "const double* lower, const double* upper, const double* width, const double* ridge, "
    "const double* costs, const bool* inside, double* rise, double* fall, bool* free, "
    "double* out, int m",
    "gather": "const double* K, const int* slots, const long long* W, float* blocks, int m, int q",
    "follow": "const double* K, const int* slots, const long long* rows, const double* v, "
    "double* f, int m, int n",
}
"""Parameters of the kernels."""


class EmulatedKernel:
    """Kernel that is called as CuPy's, on arrays of numpy.

    Parameters
    ----------
    file : str
        File of the kernel.
    name : str
        Its function.
    macros : mapping of str to object
        Macros of the file.
    folder : Path
        Folder of the compiled libraries.
    """

    max_dynamic_shared_size_bytes = 0

    def __init__(self, file: str, name: str, macros: Mapping[str, object], folder: Path) -> None:
        self._function = _library(source(file, macros), name, folder).launched

    def __call__(
        self,
        grid: tuple[int, ...],
        threads: tuple[int],
        arguments: tuple[Any, ...],
        shared_mem: int = 0,
    ) -> None:
        # The arrays must live until the call has ended.
        values = [_argument(value) for value in arguments]
        across, down = (*grid, 1)[:2]
        self._function(across, down, threads[0], *values)


def _argument(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        assert value.flags.c_contiguous
        return ctypes.c_void_p(value.ctypes.data)
    return (
        ctypes.c_float(float(value)) if isinstance(value, np.float32) else ctypes.c_int(int(value))
    )


@cache
def _library(text: str, name: str, folder: Path) -> ctypes.CDLL:
    names = ", ".join(declared.split()[-1].lstrip("*") for declared in PARAMETERS[name].split(", "))
    launcher = (
        f'extern "C" void launched(int across, int down, int threads, {PARAMETERS[name]})\n'
        f"{{ launch(across, down, threads, [&] {{ {name}({names}); }}); }}\n"
    )
    whole = f'#include "{SHIM}"\n{text}\n{launcher}'
    file = folder / f"{hashlib.sha256(whole.encode()).hexdigest()[:16]}.cpp"
    file.write_text(whole)
    library = file.with_suffix(".so")
    options = ["-O2", "-std=c++17", "-ffp-contract=off", "-march=native", "-shared", "-fPIC", "-w"]
    assert COMPILER is not None
    subprocess.run([COMPILER, *options, "-o", str(library), str(file)], check=True, timeout=HANG)
    return ctypes.CDLL(str(library))
