"""Products and squared distances of a few rows of features and a panel of columns.

    rows_by_panel:       E[j, k]  =  sum_t x_t z_t
    distances_by_panel:  E[j, k]  =  sum_t (x_t - z_t)^2

x is left[rows[first + j]], j = 0 .. ROWS - 1, and z is panel[:, k]. Kernel machines with
many features spend their time in these loops. All sums of some columns stay in vector
registers until they are done. The loops are written in LLVM's intermediate language, with
vectors as wide as the processor's registers: in a loop over single numbers the compiler
keeps the sums in memory, which costs half of the speed. The code runs on any processor,
because LLVM splits vectors that are too wide.

Source: K. Goto, R. A. van de Geijn, Anatomy of high-performance matrix multiplication,
ACM TOMS 34 (2008).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import binding, ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

ROWS = 6
"""Rows of a product.

The sums of a product occupy 6 x 4 of 32 vector registers, or 6 x 2 of 16.
"""
_INDEX = ir.IntType(64)
Factors = Callable[[Any, Any, Any], tuple[Any, Any]]
"""Function of the builder, a row's feature and those of the columns."""


def _registers() -> tuple[int, int]:
    """Return the bytes of a vector register of this processor, and registers per row."""
    features = binding.get_host_cpu_features()
    if features.get("avx512f"):
        return 64, 4
    return (32, 2) if features.get("avx") else (16, 4 if features.get("neon") else 2)


def _sums_by_panel(factors: Factors) -> Any:
    """Return an intrinsic that sums products of two factors over all features.

    The intrinsic is called with (left, rows, first, panel, E):

    left : array-like of shape (m, e)
        Features, e > 0.
    rows : array-like of shape (r,)
        Points.
    first : int
        Position of the first point in `rows`; the last point replaces missing ones.
    panel : array-like of shape (e, c)
        Features of the columns.
    E : array-like of shape (ROWS, c)
        Sums; c is a multiple of the numbers in four vector registers.

    All arrays must be C-contiguous: for others the caller does not compile. A product
    may be added to its sum without being rounded, and no other operation is changed.

    Parameters
    ----------
    factors : callable
        Returns the two factors for a feature of a row and of the columns.
    """

    def sums(context: Any, left: Any, rows: Any, first: Any, panel: Any, E: Any) -> Any:
        if any(array.layout != "C" for array in (left, rows, panel, E)):
            return None

        def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            features, points, columns, products = (
                context.make_array(signature.args[k])(context, builder, arguments[k])
                for k in (0, 1, 3, 4)
            )
            depth, count, width = (
                builder.extract_value(array.shape, k)
                for array, k in ((features, 1), (points, 0), (columns, 1))
            )
            starts, last = [], builder.sub(count, _INDEX(1))
            for j in range(ROWS):
                wanted = builder.add(arguments[2], _INDEX(j))
                place = builder.select(builder.icmp_signed("<", wanted, last), wanted, last)
                point = builder.load(builder.gep(points.data, [place]))
                starts.append(builder.gep(features.data, [builder.mul(point, depth)]))
            number = context.get_value_type(signature.args[0].dtype)
            size, vectors = _registers()
            vector = ir.VectorType(number, size // context.get_abi_sizeof(number))
            step = _INDEX(vectors * vector.count)
            with cgutils.for_range_slice(builder, _INDEX(0), width, step, _INDEX) as (start, _):
                sums = _sums(
                    builder,
                    vector,
                    vectors,
                    starts,
                    builder.gep(columns.data, [start]),
                    width,
                    depth,
                    factors,
                )
                for j, row in enumerate(sums):
                    target = builder.gep(
                        products.data, [builder.add(start, builder.mul(_INDEX(j), width))]
                    )
                    for v, total in enumerate(row):
                        builder.store(
                            total,
                            _vector_at(builder, target, v, vector),
                            align=context.get_abi_sizeof(number),
                        )
            return context.get_dummy_value()

        return types.void(left, rows, first, panel, E), build

    return intrinsic(sums)


def _feature_and_column(builder: Any, feature: Any, column: Any) -> tuple[Any, Any]:
    return feature, column


def _difference_twice(builder: Any, feature: Any, column: Any) -> tuple[Any, Any]:
    difference = builder.fsub(feature, column)
    return difference, difference


rows_by_panel, distances_by_panel = (
    _sums_by_panel(_feature_and_column),
    _sums_by_panel(_difference_twice),
)


def _sums(
    builder: Any,
    vector: Any,
    vectors: int,
    starts: list[Any],
    columns: Any,
    width: Any,
    depth: Any,
    factors: Factors,
) -> list[list[Any]]:
    """Return the sums over all features, a list for every row.

    Parameters
    ----------
    vector : Any
        Type of a register.
    vectors : int
        Registers of a row.
    starts : list[Any]
        Pointers to the first feature of every row.
    columns : Any
        Pointer to the first feature of the columns.
    width : Any
        Distance from one feature of a column to its next, in numbers.
    depth : Any
        Number of features.
    factors : callable
        Factors of a term.
    """
    before, loop, after = (
        builder.block,
        builder.append_basic_block("features"),
        builder.append_basic_block("summed"),
    )
    builder.branch(loop)
    builder.position_at_end(loop)
    at = builder.phi(_INDEX)
    at.add_incoming(_INDEX(0), before)
    sums = [[builder.phi(vector) for _ in range(vectors)] for _ in starts]
    here = builder.gep(columns, [builder.mul(at, width)])
    size = 4 if isinstance(vector.element, ir.FloatType) else 8
    others = [
        builder.load(_vector_at(builder, here, v, vector), align=size) for v in range(vectors)
    ]
    for start, row in zip(starts, sums, strict=True):
        feature = _repeated(builder, builder.load(builder.gep(start, [at])), vector)
        for total, other in zip(row, others, strict=True):
            product = builder.fmul(*factors(builder, feature, other), flags=("contract",))
            total.add_incoming(ir.Constant(vector, [0.0] * vector.count), before)
            total.add_incoming(builder.fadd(product, total, flags=("contract",)), loop)
    following = builder.add(at, _INDEX(1))
    at.add_incoming(following, loop)
    builder.cbranch(builder.icmp_unsigned("<", following, depth), loop, after)
    builder.position_at_end(after)
    return [[total.incomings[1][0] for total in row] for row in sums]


def _vector_at(builder: Any, pointer: Any, v: int, vector: Any) -> Any:
    """Return a pointer to the v-th vector after the number at `pointer`."""
    return builder.bitcast(builder.gep(pointer, [_INDEX(v * vector.count)]), vector.as_pointer())


def _repeated(builder: Any, number: Any, vector: Any) -> Any:
    """Return the vector with all entries equal to a number."""
    undefined, index = ir.Constant(vector, ir.Undefined), ir.IntType(32)
    places = ir.Constant(ir.VectorType(index, vector.count), [0] * vector.count)
    return builder.shuffle_vector(
        builder.insert_element(undefined, number, index(0)), undefined, places
    )
