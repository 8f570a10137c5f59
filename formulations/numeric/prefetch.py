"""A hint to the processor that an entry of an array will be read soon, for compiled loops that visit rows in random order.

In random order every row comes from a place that the processor cannot guess. Asked for
a few rows ahead, it arrives in time.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numba.np.arrayobj import make_array

from equimargin.formulations.numeric.jit import in_numpy

READ, KEPT, DATA = 0, 3, 1
"""LLVM's arguments of a hint: it is for reading, into the nearest cache, of data."""


def _hint(context: Any, a: Any, k: Any) -> Any:
    """Fetch the line of the cache with a[k], of a one-dimensional contiguous array; an address outside of the array does no harm."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array = make_array(signature.args[0])(context, builder, arguments[0])  # type: ignore[no-untyped-call]
        address = builder.bitcast(builder.gep(array.data, [arguments[1]]), cgutils.voidptr_t)
        number = ir.IntType(32)
        form = ir.FunctionType(ir.VoidType(), [cgutils.voidptr_t, number, number, number])
        hint = builder.module.declare_intrinsic("llvm.prefetch", [cgutils.voidptr_t], form)
        builder.call(
            hint, [address, *(ir.Constant(number, option) for option in (READ, KEPT, DATA))]
        )
        return context.get_dummy_value()

    return types.void(a, k), build


prefetch: Any = in_numpy(lambda a, k: None)(intrinsic(_hint))
