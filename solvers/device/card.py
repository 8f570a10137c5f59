"""NVIDIA card of a run: its arrays, its memory and its compiled kernels.

CuPy is imported here only, when a run names a card. Kernels are CUDA C in the files
`*.cu` of this folder. NVRTC compiles them at their first use, and CuPy stores the code
on disk under a digest of source, options and architecture.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

DeviceArray = Any
"""Array of numpy or of CuPy."""
CompiledKernel = Any
"""CuPy's RawKernel: called with a grid, the threads of a block, and the arguments."""
OLDEST_CAPABILITY = 80
"""Smallest compute capability, times 10: that of A100, with minima over a warp."""
OPTIONS = ("-std=c++17",)
"""Options of NVRTC for every kernel."""


class Card:
    """One NVIDIA card, used through CuPy.

    Parameters
    ----------
    device : str
        "cuda", or "cuda:" and the number of the card.

    Attributes
    ----------
    cupy : module
        CuPy, whose functions have numpy's names.

    Raises
    ------
    ValueError
        If CuPy is missing, no card is visible, the number is that of no card, or the card
        is too old.
    """

    def __init__(self, device: str) -> None:
        self.cupy = _import_cupy(device)
        number, count = int(device.partition(":")[2] or 0), _count_cards(self.cupy, device)
        if number >= count:
            raise ValueError(
                f"device={device!r} names no visible card: there are {count}, the last one is "
                f"'cuda:{count - 1}'"
            )
        self.used = self.cupy.cuda.Device(number)
        capability = str(self.used.compute_capability)
        if int(capability) < OLDEST_CAPABILITY:
            raise ValueError(
                f"device={device!r} has compute capability {capability[:-1]}.{capability[-1]}, and "
                f"the kernels need {OLDEST_CAPABILITY // 10}.{OLDEST_CAPABILITY % 10}; leave out "
                f"device to use the processor"
            )

    @property
    def free_bytes(self) -> int:
        """Bytes of the card's memory that a run can use now."""
        free, _ = self.cupy.cuda.runtime.memGetInfo()
        return int(free) + int(self.cupy.get_default_memory_pool().free_bytes())

    def put(self, array: DeviceArray) -> DeviceArray:
        """Return an array of numpy as one of the card, in C order.

        Parameters
        ----------
        array : ndarray
            Array in the computer's memory.
        """
        return self.cupy.asarray(array, order="C")

    def get(self, array: DeviceArray) -> DeviceArray:
        """Return an array of the card as one of numpy.

        Parameters
        ----------
        array : cupy.ndarray
            Array in the card's memory.
        """
        return self.cupy.asnumpy(array)

    def kernel(
        self, file: str, name: str, macros: Mapping[str, object], options: tuple[str, ...] = ()
    ) -> CompiledKernel:
        """Return a compiled kernel.

        Parameters
        ----------
        file : str
            Its file, without the suffix.
        name : str
            Its function.
        macros : mapping of str to object
            Macros that the file expects.
        options : tuple of str
            Further options of NVRTC.
        """
        return _kernel(source(file, macros), name, OPTIONS + options)


def source(file: str, macros: Mapping[str, object]) -> str:
    """Return the CUDA C of a kernel, with its macros defined.

    Parameters
    ----------
    file : str
        File of this folder, without the suffix.
    macros : mapping of str to object
        Names, with parameters if they have any, and texts of the macros.
    """
    text = Path(__file__).with_name(f"{file}.cu").read_text(encoding="utf-8")
    return "".join(f"#define {name} {value}\n" for name, value in macros.items()) + text


@cache
def _kernel(text: str, name: str, options: tuple[str, ...]) -> Any:
    import cupy

    return cupy.RawKernel(text, name, options=options)


def _import_cupy(device: str) -> Any:
    try:
        import cupy
    except ImportError as problem:
        raise ValueError(
            f"device={device!r} needs CuPy, which cannot be imported "
            f"({str(problem).strip().partition(chr(10))[0]}): pip install 'equimargin[gpu]'"
        ) from problem
    return cupy


def _count_cards(cupy: Any, device: str) -> int:
    try:
        count = int(cupy.cuda.runtime.getDeviceCount())
        reason = "the driver lists none"
    except cupy.cuda.runtime.CUDARuntimeError as problem:
        count, reason = 0, str(problem)
    if count == 0:
        raise ValueError(
            f"device={device!r} finds no CUDA card ({reason}); leave out device to use the "
            f"processor"
        )
    return count


def check_memory(needed: float, free: float, device: str) -> None:
    """Raise an error if a run needs more memory than the card has.

    Parameters
    ----------
    needed : float
        Bytes that the run needs.
    free : float
        Bytes that are free.
    device : str
        Name of the device, for the message.

    Raises
    ------
    ValueError
        If `needed` is larger than `free`.
    """
    if needed > free:
        needed_gb, free_gb = np.ceil(needed / 1e8) / 10, np.floor(free / 1e8) / 10
        raise ValueError(
            f"device={device!r} needs {needed_gb:.1f} GB for this problem, and {free_gb:.1f} GB "
            f"are free; take fewer points or features, or leave out device to use the processor"
        )
