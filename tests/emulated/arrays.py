"""Arrays with CuPy's rules on a processor, for tests of code that runs on a card.

A `StrictArray` refuses what CuPy refuses: operations with arrays of numpy, implicit
conversion to numpy, and functions of numpy that CuPy does not have. `StrictCard` has
the interface of `Card`; its kernels are those of the card, compiled as C++.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.lib.mixins import NDArrayOperatorsMixin
from scipy.linalg import solve_triangular

from emulated.kernels import EmulatedKernel
from equimargin.solvers.device import method

FUNCTIONS = {
    *("argpartition", "argsort", "clip", "concatenate", "count_nonzero", "flatnonzero"),
    *("ones_like", "sort", "sum", "where", "zeros_like"),
}
"""Functions of numpy on which the method depends; a test finds them in CuPy."""
METHODS = {"astype", "any", "copy", "diagonal", "max", "mean", "min", "ravel", "reshape", "sum"}
"""Methods of arrays on which the method depends; a test finds them in CuPy."""


class StrictArray(NDArrayOperatorsMixin):
    """Array that behaves as CuPy's.

    Parameters
    ----------
    array : ndarray
        Its numbers.
    """

    def __init__(self, array: Any) -> None:
        self.array = np.asarray(array)

    def __array__(self, *_: object, **__: object) -> Any:
        raise TypeError("implicit conversion to numpy: CuPy allows only asnumpy")

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        assert method == "__call__", f"CuPy has no {ufunc.__name__}.{method}"
        assert "where" not in kwargs, "CuPy's functions have no where"
        if "out" in kwargs:
            kwargs["out"] = tuple(_inner(each) for each in kwargs["out"])
        return _outer(ufunc(*map(_inner, inputs), **kwargs))

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        assert function.__name__ in FUNCTIONS, f"add {function.__name__} to FUNCTIONS"
        return _outer(function(*_inner(args), **_inner(kwargs)))

    def __getattr__(self, name: str) -> Any:
        assert name in METHODS, f"add {name} to METHODS"

        def method(*args: Any, **kwargs: Any) -> Any:
            return _outer(getattr(self.array, name)(*_inner(args), **_inner(kwargs)))

        return method

    def __getitem__(self, index: Any) -> Any:
        return _outer(self.array[_inner(index)])

    def __setitem__(self, index: Any, value: Any) -> None:
        self.array[_inner(index)] = _inner(value)

    def __len__(self) -> int:
        return len(self.array)

    def __float__(self) -> float:
        return float(self.array)

    def __int__(self) -> int:
        return int(self.array)

    def __bool__(self) -> bool:
        return bool(self.array)

    @property
    def dtype(self) -> Any:
        """Type of the entries."""
        return self.array.dtype

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape."""
        return self.array.shape

    @property
    def T(self) -> StrictArray:
        """Transpose."""
        return StrictArray(self.array.T)


def _inner(value: Any) -> Any:
    if isinstance(value, StrictArray):
        return value.array
    if isinstance(value, tuple | list):
        return type(value)(map(_inner, value))
    if isinstance(value, dict):
        return {name: _inner(each) for name, each in value.items()}
    assert not isinstance(value, np.ndarray), "CuPy does not mix its arrays with numpy's"
    return value


def _outer(value: Any) -> Any:
    return StrictArray(value) if isinstance(value, np.ndarray | np.generic) else value


class StrictKernel:
    """Kernel as C++ that takes strict arrays.

    Parameters
    ----------
    kernel : EmulatedKernel
        Kernel on arrays of numpy.
    """

    max_dynamic_shared_size_bytes = 0

    def __init__(self, kernel: EmulatedKernel) -> None:
        self._kernel = kernel

    def __call__(self, grid: Any, threads: Any, arguments: Any, shared_mem: int = 0) -> None:
        self._kernel(grid, threads, tuple(map(_inner, arguments)), shared_mem)


class StrictCard:
    """Card of strict arrays, with its kernels as C++.

    Parameters
    ----------
    folder : Path
        Folder of the compiled kernels.
    free_bytes : float
        Bytes of its memory.
    """

    used = nullcontext()

    def __init__(self, folder: Path, free_bytes: float = 1e12) -> None:
        self.folder, self.free_bytes = folder, free_bytes
        self.cupy = SimpleNamespace(
            empty=lambda shape, dtype=np.float64: StrictArray(np.full(shape, np.nan, dtype)),
            zeros=lambda shape, dtype=np.float64: StrictArray(np.zeros(shape, dtype)),
            ascontiguousarray=lambda v: StrictArray(np.ascontiguousarray(v.array)),
            linalg=SimpleNamespace(cholesky=lambda A: StrictArray(np.linalg.cholesky(A.array))),
        )

    def put(self, array: Any) -> StrictArray:
        """Return an array of numpy as a strict one."""
        assert isinstance(array, np.ndarray)
        return StrictArray(array.copy())

    def get(self, array: Any) -> Any:
        """Return a strict array as one of numpy."""
        assert isinstance(array, StrictArray)
        return array.array.copy()

    def kernel(
        self, file: str, name: str, macros: Mapping[str, object], options: tuple[str, ...] = ()
    ) -> StrictKernel:
        """Return a kernel, compiled as C++."""
        return StrictKernel(EmulatedKernel(file, name, macros, self.folder))


@contextmanager
def emulated_card(folder: Path, patch: pytest.MonkeyPatch, **options: Any) -> Iterator[None]:
    """Make device="cuda" a card whose kernels run as C++, while entered.

    Parameters
    ----------
    folder : Path
        Folder of the compiled kernels.
    patch : pytest.MonkeyPatch
        Patches of the test.
    **options
        Arguments of `StrictCard`.
    """
    with patch.context() as within:
        within.setattr(method, "Card", lambda device: StrictCard(folder, **options))
        for name, module in strict_cupyx().items():
            within.setitem(sys.modules, name, module)
        yield


def strict_cupyx() -> dict[str, Any]:
    """Return the modules of cupyx from which the method imports, with strict arrays."""

    def solved(A: StrictArray, v: StrictArray, **options: Any) -> StrictArray:
        trans = {"T": 1, "N": 0}[options.pop("trans", "N")]
        return StrictArray(solve_triangular(_inner(A), _inner(v), trans=trans, **options))

    return {
        "cupyx": SimpleNamespace(errstate=lambda linalg: nullcontext()),
        "cupyx.scipy": SimpleNamespace(),
        "cupyx.scipy.linalg": SimpleNamespace(solve_triangular=solved),
    }
