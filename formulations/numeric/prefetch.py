"""Prefetch instruction for compiled loops that visit rows in random order.

In random order the processor cannot predict the place of the next row. Requested a few
rows ahead, the row arrives in time.
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
"""Arguments of LLVM's prefetch: for reading, into the nearest cache, of data."""


def _hint(context: Any, a: Any, k: Any) -> Any:
    """Fetch the cache line of a[k], for a one-dimensional contiguous array.

    An address outside of the array does no harm.
    """

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array = make_array(signature.args[0])(  # type: ignore[no-untyped-call]
            context, builder, arguments[0]
        )
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
